"""Fetch one tree out of a git repository with the git program, and write its files into an empty folder.

The repository is as untrusted as an archive: nothing is checked out, so no hook, filter, attribute or submodule of it ever acts;
blobs are read from the object store and written by hand. Only the address's own protocol is spoken.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
from dataclasses import dataclass
from typing import TYPE_CHECKING

from market.client.limits import GIT_TIMEOUT_SECONDS, MAX_ARCHIVE_BYTES, MAX_GIT_FILES
from market.disk.failures import disk_failures
from market.errors import InvalidInput, NotFound, Unavailable, Untrusted

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from market.client.git_address import GitAddress

EXECUTABLE, LINK, SUBMODULE = "100755", "120000", "160000"
LFS_POINTER = b"version https://git-lfs.github.com/spec/"
MAX_SHOWN_CHARACTERS = 300

_OPTIONS = (
    *("-c", "core.hooksPath=/dev/null"),
    *("-c", "core.fsmonitor=false"),
    *("-c", "fetch.fsckObjects=true"),
    *("-c", "submodule.recurse=false"),
    *("-c", "fetch.recurseSubmodules=false"),
    *("-c", "gc.auto=0"),
)


@dataclass(frozen=True, slots=True)
class _Entry:
    mode: str
    blob: str
    size: int
    path: str


def fetch_git(address: GitAddress, folder: Path, environ: Mapping[str, str] | None = None) -> str:
    """Write the tree of an address into an empty folder and return the commit that it is of.

    Raises `NotFound` where there is no such ref or folder (nothing else is taken in its place), `Unavailable` where git isn't
    installed or the repository can't be reached, and `Untrusted` or `InvalidInput` for a tree that can't be written.
    """
    git = _Git(address, os.environ if environ is None else environ)
    with (
        disk_failures("write a temporary folder for", str(address)),
        tempfile.TemporaryDirectory(prefix="market-git-") as store,
    ):
        git.run(store, "init", "--quiet", "--bare", "--template=", ".")
        commit = _fetch_commit(git, store, address)
        entries = _list_tree(git, store, address, commit)
        contents = _read_blobs(git, store, entries)
        _write(entries, contents, folder)
    return commit


class _Git:
    """Runs git for one address, in an environment in which only this address's protocol exists."""

    def __init__(self, address: GitAddress, environ: Mapping[str, str]) -> None:
        self._program = shutil.which("git", path=environ.get("PATH", os.defpath)) or ""
        if not self._program:
            raise Unavailable("git isn't installed here", hint="install git, or download an archive and install that")
        # Variables such as GIT_DIR or GIT_SSH_COMMAND would lead it elsewhere; proxies and certificates stay.
        self._environ = {key: value for key, value in environ.items() if not key.startswith("GIT_")} | {
            "GIT_ALLOW_PROTOCOL": address.protocol,
            "GIT_TERMINAL_PROMPT": "0",
            "GIT_OPTIONAL_LOCKS": "0",
            "LC_ALL": "C",
        }
        self._address = address

    def run(self, store: str, *arguments: str, data: bytes = b"") -> bytes:
        """Return what git prints; raises `Unavailable` with its own words where it fails."""
        process = subprocess.Popen(
            [self._program, *_OPTIONS, *arguments],
            cwd=store,
            env=self._environ,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        try:
            out, err = process.communicate(data, timeout=GIT_TIMEOUT_SECONDS)
        except BaseException as error:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            if isinstance(error, subprocess.TimeoutExpired):
                raise Unavailable(
                    f"{self._address.url} took too long", why=f"git ran for {GIT_TIMEOUT_SECONDS:g} s"
                ) from None
            raise
        if process.returncode:
            said = err.decode("utf-8", "replace").strip()[-MAX_SHOWN_CHARACTERS:]
            raise Unavailable(
                f"git can't read {self._address.url}", why=said, hint="check the address and your access to it"
            )
        return out


def _fetch_commit(git: _Git, store: str, address: GitAddress) -> str:
    fetch = ("fetch", "--quiet", "--no-tags", "--no-recurse-submodules", "--no-auto-maintenance")
    wanted = address.ref or "HEAD"
    try:
        git.run(store, *fetch, "--depth=1", "--", address.url, wanted)
    except Unavailable as error:
        if not address.is_exact:
            raise _no_ref(address, error) from None
        # Some servers give commits only by the branches and tags that hold them.
        git.run(store, *fetch, "--", address.url, "+refs/heads/*:refs/heads/*", "+refs/tags/*:refs/tags/*")
        return _resolve(git, store, address, address.ref)
    commit = _resolve(git, store, address, "FETCH_HEAD")
    if address.is_exact and commit != address.ref:
        raise Untrusted(f"{address.url} answers with the commit {commit}", why=f"asked for was {address.ref}")
    return commit


def _resolve(git: _Git, store: str, address: GitAddress, name: str) -> str:
    try:
        return git.run(store, "rev-parse", "--verify", "--quiet", f"{name}^{{commit}}").decode().strip()
    except Unavailable as error:
        raise _no_ref(address, error) from None


def _no_ref(address: GitAddress, error: Unavailable) -> NotFound | Unavailable:
    if "couldn't find remote ref" in error.why or not error.why:
        return NotFound(
            f"{address.url} has no {address.ref or 'default branch'}",
            why="no other one is taken in its place",
            hint="name a branch, a tag or a commit behind @",
        )
    return error


def _list_tree(git: _Git, store: str, address: GitAddress, commit: str) -> list[_Entry]:
    tree = f"{commit}:{address.subdirectory}" if address.subdirectory else commit
    try:
        listed = git.run(store, "ls-tree", "-r", "-z", "-l", "--full-tree", "--end-of-options", tree)
    except Unavailable:
        raise NotFound(
            f"{address.url} has no folder {address.subdirectory} at {commit[:12]}", hint="check #subdirectory="
        ) from None
    rows = [row for row in listed.split(b"\0") if row]
    if len(rows) > MAX_GIT_FILES:
        raise InvalidInput(
            f"{address} has {len(rows)} files",
            why=f"the limit is {MAX_GIT_FILES}",
            hint="name a folder: #subdirectory=PATH",
        )
    entries = [_parse_row(row) for row in rows]
    total = sum(entry.size for entry in entries)
    if total > MAX_ARCHIVE_BYTES:
        raise InvalidInput(
            f"{address} has {total} bytes",
            why=f"the limit is {MAX_ARCHIVE_BYTES}",
            hint="name a folder: #subdirectory=PATH",
        )
    return entries


def _parse_row(row: bytes) -> _Entry:
    facts, _, raw = row.partition(b"\t")
    mode, _, blob, size = facts.decode().split()
    try:
        path = raw.decode()
    except UnicodeDecodeError:
        raise InvalidInput(f"the file name {raw[:80]!r} is not UTF-8", hint="rename it") from None
    if mode == SUBMODULE:
        raise InvalidInput(
            f"{path} is a submodule, and those aren't fetched", hint="name a folder without one: #subdirectory=PATH"
        )
    if any(part in ("", ".", "..") or part.lower() == ".git" for part in path.split("/")):
        raise Untrusted(f"the repository holds a file at {path[:200]!r}", why="this leads out of its own folder")
    return _Entry(mode, blob, int(size), path)


def _read_blobs(git: _Git, store: str, entries: Iterable[_Entry]) -> dict[str, bytes]:
    wanted = list(dict.fromkeys(entry.blob for entry in entries))
    out = git.run(store, "cat-file", "--batch", data="".join(f"{blob}\n" for blob in wanted).encode())
    contents, start = {}, 0
    for blob in wanted:
        end = out.index(b"\n", start)
        size = int(out[start:end].split()[2])
        contents[blob] = out[end + 1 : end + 1 + size]
        start = end + size + 2
    return contents


def _write(entries: list[_Entry], contents: Mapping[str, bytes], folder: Path) -> None:
    """Write files first and links last, so that no file is ever written through a link of the same tree."""
    for entry in sorted(entries, key=lambda one: one.mode == LINK):
        target, content = folder / entry.path, contents[entry.blob]
        if content.startswith(LFS_POINTER) and len(content) < 1024:
            raise InvalidInput(
                f"{entry.path} is kept in Git LFS, which isn't fetched", hint="install from a clone, or from an archive"
            )
        target.parent.mkdir(parents=True, exist_ok=True)
        if entry.mode == LINK:
            target.symlink_to(os.fsdecode(content))
            continue
        with target.open("xb") as out:
            out.write(content)
        target.chmod(0o755 if entry.mode == EXECUTABLE else 0o644)
