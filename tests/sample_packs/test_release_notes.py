"""Commits of a real repository become grouped notes; a hostile repository runs nothing."""

from __future__ import annotations

import os
import shutil
import subprocess
from typing import TYPE_CHECKING, Any

import pytest

from market.model import OutcomeKind

if TYPE_CHECKING:
    from pathlib import Path

    from tests.sample_packs.conftest import Runner

pytestmark = [pytest.mark.flow, pytest.mark.skipif(shutil.which("git") is None, reason="needs git")]

COMMITS = (
    "feat(api): list packs by publisher (#12)",
    "fix: survive an empty index\n\nCloses #7 and #101.",
    "Add a --json flag",
    "refactor!: drop Python 3.10\n\nBREAKING CHANGE: Python 3.11 is needed.\nUpgrade first.\n\nReviewed-by: Ben",
    "chore: bump ruff",
    "Polish the front page",
)


def git(repository: Path, *arguments: str) -> str:
    environment = {
        **{key: value for key, value in os.environ.items() if not key.startswith("GIT_")},
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
        **{f"GIT_{who}_{what}": value for who in ("AUTHOR", "COMMITTER") for what, value in (("NAME", "Ada"), ("EMAIL", "ada@example.org"))},
    }
    return subprocess.run(["git", "-C", str(repository), *arguments], env=environment, check=True, capture_output=True, text=True).stdout


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    path = tmp_path / "repository"
    path.mkdir()
    git(path, "init", "-q", "-b", "main")
    git(path, "commit", "-q", "--allow-empty", "-m", "feat: begin")
    git(path, "tag", "v1")
    for message in COMMITS:
        git(path, "commit", "-q", "--allow-empty", "-m", message)
    return path


def test_commits_since_the_last_tag_are_grouped(repository: Path, run: Runner) -> None:
    notes = run("release-notes", "release_notes", repository=str(repository))
    assert (notes["from"], notes["to"], notes["commits"], notes["contributors"]) == ("v1", "HEAD", 6, ["Ada"])
    found = {group["title"]: [entry["text"] for entry in group["entries"]] for group in notes["groups"]}
    assert found == {
        "Breaking changes": ["drop Python 3.10"],
        "Features": ["Add a --json flag", "list packs by publisher (#12)"],
        "Fixes": ["survive an empty index"],
        "Internal": ["bump ruff"],
        "Other changes": ["Polish the front page"],
    }


def test_entries_know_scope_issues_and_what_breaks(repository: Path, run: Runner) -> None:
    groups = run("release-notes", "release_notes", repository=str(repository))["groups"]
    entries = {entry["text"]: entry for group in groups for entry in group["entries"]}
    assert entries["list packs by publisher (#12)"]["scope"] == "api"
    assert entries["survive an empty index"]["issues"] == ["#7", "#101"]
    assert entries["drop Python 3.10"]["breaking_note"] == "Python 3.11 is needed. Upgrade first."


def test_the_markdown_can_be_pasted(repository: Path, run: Runner) -> None:
    markdown = run("release-notes", "release_notes", repository=str(repository), title="Version 2")["markdown"]
    assert markdown.startswith("# Version 2\n\n## Breaking changes\n\n- drop Python 3.10 (")
    assert "- **api**: list packs by publisher (#12) (" in markdown


def test_a_range_can_be_named_and_may_be_empty(repository: Path, run: Runner) -> None:
    assert run("release-notes", "release_notes", repository=str(repository), **{"from": "HEAD~2", "to": "main"})["commits"] == 2
    empty = run("release-notes", "release_notes", repository=str(repository), **{"from": "HEAD"})
    assert (empty["commits"], empty["groups"]) == (0, [])


def test_without_a_tag_everything_is_taken(repository: Path, run: Runner) -> None:
    git(repository, "tag", "-d", "v1")
    assert run("release-notes", "release_notes", repository=str(repository))["commits"] == 7


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"repository": "relative"}, "must be an absolute path"),
        ({"repository": "/no/such"}, "there is no directory /no/such"),
        ({"repository": "/proc"}, "not a git repository"),
        ({"from": "v9"}, "'v9' is no commit, branch or tag"),
        ({"to": "--output=stolen"}, "is no commit, branch or tag"),
        ({"from": 3}, "`from` must be a text"),
    ],
)
def test_bad_arguments_get_a_sentence(repository: Path, run: Runner, changes: dict[str, Any], sentence: str) -> None:
    outcome = run.outcome("release-notes", "release_notes", {"repository": str(repository), **changes})
    assert (outcome.kind, outcome.exit_code) == (OutcomeKind.FAILED, 2)
    assert sentence in outcome.error
    assert "Traceback" not in outcome.error


def sign_badly(repository: Path) -> None:
    """Give the newest commit a signature, so that showing it would start the configured program."""
    head, body = git(repository, "cat-file", "commit", "HEAD").split("\n\n", 1)
    signature = "gpgsig -----BEGIN PGP SIGNATURE-----\n \n AAAA\n -----END PGP SIGNATURE-----"
    (repository / "signed").write_text(f"{head}\n{signature}\n\n{body}")
    git(repository, "update-ref", "HEAD", git(repository, "hash-object", "-w", "-t", "commit", "signed").strip())


def test_a_repositorys_configuration_runs_nothing(repository: Path, tmp_path: Path, run: Runner) -> None:
    trap = tmp_path / "trap.sh"
    trap.write_text(f"#!/bin/sh\ntouch {tmp_path}/sprung\nexit 1\n")
    trap.chmod(0o755)
    for key in ("core.fsmonitor", "core.pager", "pager.log", "gpg.program", "core.sshCommand", "diff.external"):
        git(repository, "config", key, str(trap))
    git(repository, "config", "log.showSignature", "true")
    sign_badly(repository)
    assert run("release-notes", "release_notes", repository=str(repository))["commits"] == 6
    assert not (tmp_path / "sprung").exists()
    git(repository, "log")
    assert (tmp_path / "sprung").exists(), "the trap must work, or this test proves nothing"
