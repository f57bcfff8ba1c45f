from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from market.errors import Conflict, NotFound, Refused
from market.installer.accept import Acceptance, accept_edits
from market.installer.dependencies import DependencyTerms
from market.installer.receipt import load_receipt
from market.installer.rollback import rollback_packs
from market.installer.transaction import lock_root
from market.installer.tree_state import TreeState, read_unit
from tests.installer.builders import NOW, an_arrival, check_at_rest, install, version_of

if TYPE_CHECKING:
    from market.installer.root import Root


def accept(root: Root, name: str = "echo-args") -> Acceptance:
    with lock_root(root) as locked:
        return accept_edits(locked, name, NOW)


def edit(root: Root) -> None:
    tree = root.tree("echo-args")
    (tree / "run.sh").write_text("#!/bin/sh\necho '{}'\n")
    (tree / "mine.txt").write_text("mine")
    (tree / "notes/version.txt").unlink()
    os.rmdir(tree / "notes")


def test_accepted_edits_are_what_is_installed_from_then_on(root: Root) -> None:
    released = an_arrival().verified.tree_digest
    install(root, an_arrival())
    edit(root)
    accepted = accept(root)
    assert accepted.files == ("mine.txt", "notes/version.txt", "run.sh")
    with read_unit(root, "echo-args", thorough=True) as reading:
        assert (reading.state, reading.edited_files) == (TreeState.INTACT, ())
    receipt = load_receipt(root, "echo-args")
    assert receipt is not None
    assert (receipt.tree_digest, receipt.release_digest) == (accepted.new_digest, released)
    assert receipt.accepted is not None and receipt.accepted.at == NOW
    check_at_rest(root)
    assert accept(root) == Acceptance("echo-args", (), accepted.new_digest, accepted.new_digest)


def test_accepted_edits_are_not_replaced_without_a_word_and_then_kept(root: Root) -> None:
    install(root, an_arrival())
    (root.tree("echo-args") / "mine.txt").write_text("mine")
    accept(root)
    for arrival in (an_arrival(), an_arrival(version="2.0.0")):
        with pytest.raises(Conflict, match="edited after its install") as caught:
            install(root, arrival)
        assert caught.value.why == "its edits were accepted"
    (change,) = install(root, an_arrival(version="2.0.0"), overwrite_edits=True)
    assert (Path(change.backup) / "mine.txt").read_text() == "mine"
    with lock_root(root) as locked:
        rollback_packs(locked, ["echo-args"], NOW, dependencies=DependencyTerms())
    assert version_of(root, "echo-args") == "1.0.0"
    check_at_rest(root)


def test_accepting_wakes_the_hosts_that_watch_the_root(root: Root) -> None:
    install(root, an_arrival())
    tree = root.tree("echo-args")
    (tree / "run.sh").write_text("#!/bin/sh\n")
    os.utime(tree, (1, 1))
    accept(root)
    assert tree.stat().st_mtime > 1


def test_what_can_not_be_accepted(root: Root) -> None:
    with pytest.raises(NotFound):
        accept(root)
    root.tree("dropped").mkdir()
    with pytest.raises(NotFound, match="didn't install it"):
        accept(root, "dropped")
    install(root, an_arrival())
    os.rename(root.tree("echo-args") / "run.sh", root.tree("echo-args") / "real.sh")
    (root.tree("echo-args") / "run.sh").symlink_to("real.sh")
    before = root.receipt("echo-args").read_bytes()
    with pytest.raises(Refused, match="can't be accepted") as caught:
        accept(root)
    assert "run.sh" in caught.value.why and root.receipt("echo-args").read_bytes() == before
    root.receipt("echo-args").write_text("{")
    with pytest.raises(Conflict):
        accept(root)


def test_one_version_with_another_tree_is_refused_and_both_digests_are_named(root: Root) -> None:
    first, other = an_arrival(), an_arrival(extra={"more.txt": b"x"})
    install(root, first)
    with pytest.raises(Conflict, match=r"echo-args 1\.0\.0 is installed with another tree") as caught:
        install(root, other)
    assert first.verified.tree_digest in caught.value.why and other.verified.tree_digest in caught.value.why
    assert not (root.tree("echo-args") / "more.txt").exists()
    install(root, other, overwrite_edits=True)
    assert (root.tree("echo-args") / "more.txt").exists()
    check_at_rest(root)


def test_a_folder_is_work_in_progress_and_may_come_again_under_its_version(root: Root) -> None:
    install(root, an_arrival(kind="folder"))
    assert install(root, an_arrival(extra={"more.txt": b"x"}, kind="folder"))[0].action == "reinstalled"
    with pytest.raises(Conflict, match="another tree"):
        install(root, an_arrival())
