"""Trees out of git, good and hostile. The repositories are real, made with git's own plumbing."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING

import pytest

from market.client.git import fetch_git
from market.client.git_address import GitAddress, parse_git_address
from market.errors import InvalidInput, MarketError, NotFound, Refused, Unavailable, Untrusted

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.flow

COMMIT = "0123456789abcdef0123456789abcdef01234567"


def git(folder: Path, *arguments: str, data: bytes = b"") -> str:
    settings = ["-c", "user.name=a", "-c", "user.email=a@b.example", "-c", "protocol.file.allow=always"]
    environ = {"PATH": os.environ["PATH"], "HOME": str(folder)}
    done = subprocess.run(
        ["git", *settings, *arguments], cwd=folder, env=environ, input=data, capture_output=True, check=True
    )
    return done.stdout.decode().strip()


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = tmp_path / "repository"
    (folder / "packs" / "one").mkdir(parents=True)
    git(folder, "init", "-q", "-b", "main", ".")
    (folder / "packs" / "one" / "run.sh").write_text("#!/bin/sh\n")
    (folder / "packs" / "one" / "run.sh").chmod(0o755)
    (folder / "packs" / "one" / "notes.txt").write_text("first")
    commit(folder)
    git(folder, "tag", "v1")
    (folder / "packs" / "one" / "notes.txt").write_text("second")
    commit(folder)
    return folder


def commit(folder: Path) -> str:
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "x")
    return git(folder, "rev-parse", "HEAD")


def fetch(repository: Path, into: Path, ref: str = "", subdirectory: str = "packs/one", **environ: str) -> str:
    into.mkdir()
    address = GitAddress(f"file://{repository}", ref, subdirectory)
    return fetch_git(address, into, {"PATH": os.environ["PATH"], "HOME": str(into.parent), **environ})


@pytest.mark.parametrize(
    ("text", "url", "ref", "subdirectory"),
    [
        ("git+https://h.example/a/b.git", "https://h.example/a/b.git", "", ""),
        ("git+https://h.example/a/b@v1.2", "https://h.example/a/b", "v1.2", ""),
        ("git+https://h.example:8443/a@feature/x#subdirectory=p/q/", "https://h.example:8443/a", "feature/x", "p/q"),
        (f"git+file:///srv/a@{COMMIT}", "file:///srv/a", COMMIT, ""),
        ("git+http://127.0.0.1:3000/a", "http://127.0.0.1:3000/a", "", ""),
    ],
)
def test_addresses(text: str, url: str, ref: str, subdirectory: str) -> None:
    address = parse_git_address(text)
    assert (address.url, address.ref, address.subdirectory) == (url, ref, subdirectory)
    assert str(address) == text.rstrip("/")
    assert address.is_exact == (ref == COMMIT)


@pytest.mark.parametrize(
    "text",
    [
        "git+ssh://h.example/a",
        "git+ext::sh -c id",
        "git+git://h.example/a",
        "git+-u/evil",
        "git+https://",
        "git+https://h.example",
        "git+https://h.example/",
        "git+https://user:secret@h.example/a",
        "git+http://h.example/a",
        "git+https://h.example/a@",
        "git+https://h.example/a@--upload-pack=x",
        "git+https://h.example/a@+refs/heads/a:b",
        "git+https://h.example/a@x..y",
        "git+https://h.example/a@x y",
        "git+https://h.example/a#egg=x",
        "git+https://h.example/a#subdirectory=../b",
        "git+https://h.example/a#subdirectory=/",
        "git+https://h.example/a\nb",
    ],
)
def test_what_is_no_address_or_not_a_safe_one(text: str) -> None:
    with pytest.raises((InvalidInput, Refused)) as caught:
        parse_git_address(text)
    assert caught.value.hint and "secret" not in str(caught.value.hint)


def test_a_branch_a_tag_and_a_commit(repository: Path, tmp_path: Path) -> None:
    first, head = git(repository, "rev-parse", "v1"), git(repository, "rev-parse", "HEAD")
    for number, (ref, expected, notes) in enumerate(
        [("", head, "second"), ("main", head, "second"), ("v1", first, "first"), (first, first, "first")]
    ):
        into = tmp_path / str(number)
        assert fetch(repository, into, ref) == expected
        assert (into / "notes.txt").read_text() == notes
        assert [(into / name).stat().st_mode & 0o777 for name in ("run.sh", "notes.txt")] == [0o755, 0o644]
        assert sorted(path.name for path in into.iterdir()) == ["notes.txt", "run.sh"]


@pytest.mark.parametrize(
    ("ref", "subdirectory"), [("no-such", ""), ("0" * 40, ""), ("main", "packs/two"), ("main", "packs/one/notes.txt")]
)
def test_what_is_not_there_is_never_replaced_by_something_else(
    repository: Path, tmp_path: Path, ref: str, subdirectory: str
) -> None:
    with pytest.raises((NotFound, Unavailable)):
        fetch(repository, tmp_path / "into", ref, subdirectory)
    assert list((tmp_path / "into").iterdir()) == []


def test_no_repository_and_no_git(tmp_path: Path) -> None:
    with pytest.raises(Unavailable, match="git can't read"):
        fetch(tmp_path / "nothing", tmp_path / "a")
    with pytest.raises(Unavailable, match="git isn't installed"):
        fetch_git(GitAddress("file:///x"), tmp_path / "a", {"PATH": "/nonexistent"})


def test_variables_that_would_lead_git_elsewhere_do_nothing(repository: Path, tmp_path: Path) -> None:
    touched, into = tmp_path / "touched", tmp_path / "into"
    fetch(repository, into, GIT_DIR="/nonexistent", GIT_ALLOW_PROTOCOL="ext", GIT_SSH_COMMAND=f"touch {touched}")
    assert (into / "notes.txt").exists() and not touched.exists()


def test_hooks_attributes_and_filters_of_a_repository_do_nothing(repository: Path, tmp_path: Path) -> None:
    marker = tmp_path / "ran"
    (repository / "packs" / "one" / ".gitattributes").write_text(
        "notes.txt export-ignore filter=evil\n* text eol=crlf ident\n"
    )
    (repository / "packs" / "one" / "notes.txt").write_text("$Id$\nline\n")
    commit(repository)
    for name in ("post-checkout", "post-merge", "reference-transaction", "fsmonitor-watchman"):
        hook = repository / ".git" / "hooks" / name
        hook.write_text(f"#!/bin/sh\ntouch {marker}\n")
        hook.chmod(0o755)
    (tmp_path / ".gitconfig").write_text(
        f'[filter "evil"]\nsmudge = touch {marker}\n[core]\nhooksPath = {repository}/.git/hooks\n'
    )
    fetch(repository, tmp_path / "into")
    assert (tmp_path / "into" / "notes.txt").read_text() == "$Id$\nline\n"
    assert not marker.exists()


def test_submodules_and_large_files_elsewhere_are_refused(repository: Path, tmp_path: Path) -> None:
    git(repository, "update-index", "--add", "--cacheinfo", f"160000,{COMMIT},packs/one/sub")
    git(repository, "commit", "-q", "-m", "x")
    with pytest.raises(InvalidInput, match="sub is a submodule"):
        fetch(repository, tmp_path / "a")
    git(repository, "rm", "-q", "--cached", "packs/one/sub")
    (repository / "packs" / "one" / "notes.txt").write_text(
        "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n"
    )
    commit(repository)
    with pytest.raises(InvalidInput, match="kept in Git LFS"):
        fetch(repository, tmp_path / "b")


@pytest.mark.parametrize("name", ["..", ".git", ".GIT", "."])
def test_a_tree_that_would_write_outside_is_refused(repository: Path, tmp_path: Path, name: str) -> None:
    blob = git(repository, "hash-object", "-w", "--stdin", data=b"evil")
    inner = git(repository, "mktree", data=f"100644 blob {blob}\tescaped\n".encode())
    raw = f"40000 {name}\0".encode() + bytes.fromhex(inner)
    tree = git(repository, "hash-object", "-t", "tree", "-w", "--literally", "--stdin", data=raw)
    made = git(repository, "commit-tree", tree, "-m", "x")
    git(repository, "update-ref", "refs/heads/evil", made)
    with pytest.raises(MarketError) as caught:
        fetch(repository, tmp_path / "into", "evil", "")
    assert isinstance(caught.value, Untrusted | Unavailable)
    assert not (tmp_path / "escaped").exists() and list((tmp_path / "into").iterdir()) == []


def test_links_are_written_as_links_and_last(repository: Path, tmp_path: Path) -> None:
    (repository / "packs" / "one" / "a-link").symlink_to("../../../outside")
    commit(repository)
    fetch(repository, tmp_path / "into")
    assert (tmp_path / "into" / "a-link").is_symlink()
