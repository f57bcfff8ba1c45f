"""publish of wheels and sdists, yank, unyank."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.index.wheels import a_wheel, an_sdist, wheel_name

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.shell import Shell

SDIST = "text_tools-1.0.0.tar.gz"


@pytest.fixture
def dist(shell: Shell) -> Path:
    folder = shell.folder / "dist"
    folder.mkdir()
    (folder / wheel_name()).write_bytes(a_wheel())
    return folder


def test_wheel_is_published_under_its_own_identity(shell: Shell, dist: Path) -> None:
    ran = shell("publish", f"dist/{wheel_name()}", "--json")
    (item,) = ran.json["items"]
    assert (item["name"], item["version"], item["status"], item["size"]) == (
        "text-tools",
        "1.0.0",
        "published",
        len(a_wheel()),
    )
    assert item["tree_digest"].startswith("sha256:")
    assert "unchanged: text_tools-1.0.0" in shell("publish", f"dist/{wheel_name()}").out
    release = shell.index.releases["text-tools"]["1"]
    assert (release.archive, release.filename) == (a_wheel(), wheel_name())


def test_wheels_and_folders_go_together_and_none_where_one_is_bad(shell: Shell, dist: Path) -> None:
    shell.pack("my-pack")
    bad = dist / wheel_name(version="2.0.0")
    bad.write_bytes(a_wheel(version="2.0.0", group=""))
    said = shell("publish", "my-pack", f"dist/{wheel_name()}", f"dist/{bad.name}", expect=2).err
    assert "entry point" in said and f"error: {bad.name}: text-tools is not a good pack" in said
    assert shell.index.releases == {}
    shell("publish", "my-pack", f"dist/{wheel_name()}")
    assert set(shell.index.releases) == {"my-pack", "text-tools"}


def test_dry_run_checks_and_sends_nothing(shell: Shell, dist: Path) -> None:
    ran = shell("publish", f"dist/{wheel_name()}", "--dry-run")
    assert "would publish text_tools-1.0.0-py3-none-any.whl" in ran.out
    assert shell.index.requests == []


def test_damaged_wheel_is_untrusted(shell: Shell, dist: Path) -> None:
    (dist / wheel_name()).write_bytes(a_wheel(record=b""))
    said = shell("publish", f"dist/{wheel_name()}", expect=5).err
    assert said.startswith(f"error: {wheel_name()}: the archive is refused: ") and "is not in RECORD" in said
    assert "\n  why:" not in said  # each problem gives it


def test_wheel_says_its_own_version(shell: Shell, dist: Path) -> None:
    assert "says its own" in shell("publish", f"dist/{wheel_name()}", "--version", "2.0", expect=2).err


def test_sdist_goes_by_its_name(shell: Shell, dist: Path) -> None:
    (dist / SDIST).write_bytes(an_sdist())
    assert f"would publish {SDIST}" in shell("publish", f"dist/{SDIST}", "--dry-run").out
    (dist / "odd.tar.gz").write_bytes(b"")
    assert "not an sdist" in shell("publish", "dist/odd.tar.gz", expect=2).err


def test_yank_and_back(shell: Shell, dist: Path) -> None:
    shell("publish", f"dist/{wheel_name()}")
    ran = shell("yank", "Text_Tools@1.0.0", "--reason", "loses files", "--json")
    assert {key: ran.json[key] for key in ("name", "version", "state", "yanked_reason", "changed")} == {
        "name": "text-tools", "version": "1.0.0", "state": "yanked", "yanked_reason": "loses files", "changed": True,
    }  # fmt: skip
    assert "was already yanked" in shell("yank", "text-tools@1.0.0", "--reason", "loses files").out
    assert shell.index.releases["text-tools"]["1"].state == "yanked"
    assert "is live" in shell("unyank", "text-tools@1.0.0").out


@pytest.mark.parametrize(
    ("release", "code"), [("text-tools", 2), ("text-tools@beta", 2), ("text-tools>=1", 2), ("nope@1.0", 3)]
)
def test_yank_needs_one_release(shell: Shell, release: str, code: int) -> None:
    shell("yank", release, expect=code)


def test_show_names_the_file(shell: Shell, dist: Path) -> None:
    shell("publish", f"dist/{wheel_name()}")
    assert "wheel:" in shell("show", "text-tools").out
