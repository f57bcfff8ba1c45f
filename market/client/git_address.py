"""Addresses of packs in git: `git+https://host/repository@ref#subdirectory=path`. Pure; fetching is `git.py`'s."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from market.client.origins import is_loopback
from market.errors import InvalidInput, Refused

SCHEMES = ("git+https://", "git+http://", "git+file://")
SUBDIRECTORY = "subdirectory="
EXAMPLE = "git+https://host.example/repository@v1.2.0#subdirectory=skills/my-pack"

# A name of a branch or tag, or a commit. Neither an option (-x) nor a refspec (+a:b), nor what git forbids in names anyway.
_REF = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_./-]{0,199}")
_COMMIT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class GitAddress:
    """A repository's URL, what of it (empty for its default branch), and the folder in it (empty for the top)."""

    url: str
    ref: str = ""
    subdirectory: str = ""

    def __str__(self) -> str:
        ref = f"@{self.ref}" if self.ref else ""
        return f"git+{self.url}{ref}{f'#{SUBDIRECTORY}{self.subdirectory}' if self.subdirectory else ''}"

    @property
    def is_exact(self) -> bool:
        """Whether the ref is a commit, so that it means the same tree for ever."""
        return _COMMIT.fullmatch(self.ref) is not None

    @property
    def protocol(self) -> str:
        """The one protocol that git may speak for it."""
        return self.url.partition("://")[0]

    @property
    def name(self) -> str:
        """What a folder of this tree would be called."""
        last = (self.subdirectory or self.url).rstrip("/").rpartition("/")[2]
        return last.removesuffix(".git") or "pack"

    def at(self, commit: str) -> GitAddress:
        """Return the address of one commit."""
        return replace(self, ref=commit)


def is_git(text: str) -> bool:
    """Whether an argument is an address in git.

    >>> is_git("git+https://host.example/x"), is_git("https://host.example/x.zip")
    (True, False)
    """
    return text.lower().startswith("git+")


def parse_git_address(text: str) -> GitAddress:
    """Parse an address; raises `InvalidInput` or `Refused` with what to write.

    >>> str(parse_git_address("git+https://host.example/tools.git@v1#subdirectory=a/b/"))
    'git+https://host.example/tools.git@v1#subdirectory=a/b'
    """
    if not text.startswith(SCHEMES):
        scheme = text.partition("://")[0][:40]
        raise InvalidInput(
            f"git addresses that start with {scheme!r} aren't fetched",
            why="git speaks other protocols through programs that an address could name",
            hint=f"write {', '.join(SCHEMES)}; or clone it yourself and install the folder",
        )
    bare, _, fragment = text.removeprefix("git+").partition("#")
    host, slash, path = bare.partition("://")[2].partition("/")
    if "@" in host:
        raise Refused(
            "a git address with a user or token in it is not fetched",
            why="it would be written into receipts and lock files",
            hint="let git's credential helper know the token, and leave it out of the address",
        )
    path, _, ref = path.partition("@")
    url = f"{bare.partition('://')[0]}://{host}{slash}{path}"
    if not slash or not path or any(character.isspace() or not character.isprintable() for character in bare):
        raise _bad(text, "it names no repository")
    if bare.startswith("http://") and not is_loopback(url):
        raise Refused(f"{url} is not fetched", why="whoever is on the way may change it", hint="use git+https://")
    if ("@" in bare and not ref) or (
        ref and (not _REF.fullmatch(ref) or ".." in ref or ref.endswith((".lock", "/", ".")))
    ):
        raise _bad(text, f"{ref!r} is no branch, tag or commit")
    return GitAddress(url, ref, _parse_subdirectory(text, fragment))


def _parse_subdirectory(text: str, fragment: str) -> str:
    if not fragment:
        return ""
    folder = fragment.removeprefix(SUBDIRECTORY).strip("/")
    parts = folder.split("/")
    if (
        not fragment.startswith(SUBDIRECTORY)
        or any(part in ("", ".", "..") for part in parts)
        or ":" in folder
        or "\0" in folder
    ):
        raise _bad(text, f"what stands behind # is no {SUBDIRECTORY}PATH")
    return folder


def _bad(text: str, why: str) -> InvalidInput:
    return InvalidInput(f"{text[:200]!r} is not an address in git", why=why, hint=f"for example {EXAMPLE}")
