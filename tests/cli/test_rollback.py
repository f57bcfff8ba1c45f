"""rollback, and what an install says of going back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from market.errors import Unavailable
from tests.cli.test_installing import publish

if TYPE_CHECKING:
    from tests.cli.shell import Shell


def test_rollback_needs_no_network_and_says_from_what_to_what(shell: Shell) -> None:
    publish(shell)
    shell("install", "my-pack")
    publish(shell, "2.0.0")
    shell("upgrade")
    shell.index.refuse_next = Unavailable("the index can't be reached")
    before = shell.everything()
    assert "would have: rolled back my-pack 1.0.0 (was 2.0.0)" in shell("rollback", "--dry-run").out
    assert shell.everything() == before
    ran = shell("rollback", "My_Pack")
    assert f"rolled back my-pack 1.0.0 (was 2.0.0) in {shell.root}" in ran.out and "no running host" in ran.out
    assert (shell.root / "my-pack" / "notes.txt").read_text() == "1.0.0"
    document = shell("rollback", "--json").json
    assert [(row["action"], row["version"]) for row in document["items"]] == [("rolled-back", "2.0.0")]
    assert shell.index.refuse_next is not None


def test_a_rollback_to_what_is_not_kept_says_what_is(shell: Shell) -> None:
    shell("rollback", "--root", ".", expect=3)
    assert shell.everything() == {}
    publish(shell)
    shell("install", "my-pack")
    error = shell("rollback", "my-pack", "--json", expect=3).error
    assert "nothing before it" in error["why"] and "market install" in error["hint"]
    publish(shell, "2.0.0")
    shell("install", "my-pack")
    assert "kept is 1.0.0" in shell("rollback", "my-pack", "--to", "1.5", expect=3).err
    shell("rollback", "--to", "1.0.0", expect=2)
    shell("rollback", "nothing", expect=3)
    assert "my-pack 1.0.0" in shell("rollback", "my-pack", "--to", "1.0").out


def test_an_older_release_that_is_pinned_by_the_requirement_says_downgraded(shell: Shell) -> None:
    for version in ("1.0.0", "2.0.0"):
        publish(shell, version)
    shell("install", "my-pack")
    assert "downgraded my-pack 1.0.0 (was 2.0.0)" in shell("install", "my-pack@1.0.0").out


def test_an_edited_pack_is_not_rolled_back_over_unless_forced(shell: Shell) -> None:
    publish(shell)
    shell("install", "my-pack")
    publish(shell, "2.0.0")
    shell("upgrade")
    (shell.root / "my-pack" / "notes.txt").write_text("mine")
    assert "notes.txt" in shell("rollback", "my-pack", expect=4).err
    assert "kept in" in shell("rollback", "my-pack", "--force").out


def test_the_lock_file_goes_back_too_if_it_describes_the_root(shell: Shell) -> None:
    publish(shell)
    shell("install", "my-pack", "--lock")
    lock = shell.folder / "market.lock"
    before = lock.read_text()
    publish(shell, "2.0.0")
    shell("upgrade")
    assert 'version = "2.0.0"' in lock.read_text()
    shell("rollback", "--dry-run")
    assert 'version = "2.0.0"' in lock.read_text()
    assert "wrote market.lock" in shell("rollback").err
    assert lock.read_text() == before
    assert "unchanged" in shell("install", "--locked").out
    shell("install", "my-pack", "--root", "other")
    shell("install", "my-pack@1.0.0", "--root", "other")
    assert "my-pack 2.0.0" in shell("rollback", "--root", "other").out
    assert lock.read_text() == before
