from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING, cast

import pytest

from market.errors import Conflict, NotFound, Unavailable
from market.installer.listing import list_installed
from market.installer.plan import Action
from market.installer.receipt import load_receipt
from market.installer.root import Root, open_root
from market.installer.transaction import Arrival, install_packs, lock_root, uninstall_packs
from market.trust.verify import VerifiedPack
from tests.installer.builders import NOW, an_arrival, check_at_rest, install, read_tree, version_of

if TYPE_CHECKING:
    from pathlib import Path

    from market.installer.plan import Change


def uninstall(root: Root, *names: str) -> tuple[Change, ...]:
    with lock_root(root, timeout_seconds=5) as locked:
        return uninstall_packs(locked, names, NOW)


def test_an_install_puts_the_tree_and_then_its_receipt(root: Root) -> None:
    arrival = an_arrival()
    (change,) = install(root, arrival)
    assert (change.name, change.action, change.old_version, change.new_version) == (
        "echo-args",
        Action.INSTALLED,
        "",
        "1.0.0",
    )
    receipt = load_receipt(root, "echo-args")
    assert receipt is not None
    assert (receipt.tree_digest, receipt.publisher, receipt.installed_at) == (arrival.verified.tree_digest, "acme", NOW)
    check_at_rest(root)


def test_modes_and_times_are_normal_whatever_the_umask(root: Root) -> None:
    before = os.umask(0o077)
    try:
        install(root, an_arrival())
    finally:
        os.umask(before)
    tree = root.tree("echo-args")
    modes = {path: stat.S_IMODE((tree / path).stat().st_mode) for path in (".", "run.sh", "skill.json", "notes")}
    assert modes == {".": 0o755, "run.sh": 0o755, "skill.json": 0o644, "notes": 0o755}
    assert (tree / "run.sh").stat().st_mtime == NOW.timestamp()
    assert stat.S_IMODE(root.state.stat().st_mode) == 0o700


def test_the_actions_follow_the_versions(root: Root) -> None:
    versions = ["1.0.0", "1.0.0", "2.0.0", "1.5.0"]
    actions = [install(root, an_arrival(version=version))[0].action for version in versions]
    assert actions == [Action.INSTALLED, Action.UNCHANGED, Action.UPGRADED, Action.DOWNGRADED]
    assert version_of(root, "echo-args") == "1.5.0"
    check_at_rest(root)


def test_an_unchanged_tree_is_not_touched(root: Root) -> None:
    install(root, an_arrival())
    before = root.tree("echo-args").stat(), root.receipt("echo-args").stat()
    install(root, an_arrival())
    assert (root.tree("echo-args").stat(), root.receipt("echo-args").stat()) == before


def test_a_tree_that_somebody_deleted_is_put_back(root: Root) -> None:
    install(root, an_arrival())
    os.rename(root.tree("echo-args"), root.path / ".away")
    assert install(root, an_arrival())[0].action is Action.REINSTALLED
    assert version_of(root, "echo-args") == "1.0.0"


def test_several_packs_come_in_the_order_asked_and_go_together(root: Root) -> None:
    changes = install(root, an_arrival("b-pack"), an_arrival("a-pack"))
    assert [change.name for change in changes] == ["b-pack", "a-pack"]
    assert [one.name for one in list_installed(root)] == ["a-pack", "b-pack"]
    assert [change.action for change in uninstall(root, "a-pack", "B_Pack")] == [Action.REMOVED] * 2
    assert list_installed(root) == ()
    check_at_rest(root)


def test_one_refused_pack_stops_all(root: Root) -> None:
    root.tree("b-pack").mkdir()
    with pytest.raises(Conflict):
        install(root, an_arrival("a-pack"), an_arrival("b-pack"))
    assert list_installed(root) == ()
    assert not root.tree("a-pack").exists()


@pytest.mark.parametrize("kind", ["folder", "file", "link", "dangling"])
def test_what_market_did_not_install_is_never_overwritten(root: Root, tmp_path: Path, kind: str) -> None:
    mine = root.tree("echo-args")
    if kind == "folder":
        mine.mkdir()
        (mine / "work.txt").write_text("mine")
    elif kind == "file":
        mine.write_text("mine")
    else:
        mine.symlink_to(tmp_path if kind == "link" else tmp_path / "nowhere")
    with pytest.raises(Conflict, match="didn't install it"):
        install(root, an_arrival(), overwrite_edits=True)
    assert os.path.lexists(mine)
    assert os.listdir(root.staging) == os.listdir(root.retired) == []
    with pytest.raises((NotFound, Conflict)):
        uninstall(root, "echo-args")
    assert os.path.lexists(mine)


def test_edits_stop_an_upgrade_and_are_named(root: Root) -> None:
    install(root, an_arrival())
    (root.tree("echo-args") / "skill.json").write_text("{}")
    (root.tree("echo-args") / "mine.txt").write_text("mine")
    (root.tree("echo-args") / "empty").mkdir()
    (root.tree("echo-args") / "run.sh").unlink()
    before = read_tree(root.tree("echo-args"))
    with pytest.raises(Conflict) as caught:
        install(root, an_arrival(version="2.0.0"))
    assert caught.value.details == {"changed": ["skill.json"], "added": ["empty/", "mine.txt"], "missing": ["run.sh"]}
    assert read_tree(root.tree("echo-args")) == before


def test_confirmed_edits_are_replaced_and_kept(root: Root) -> None:
    install(root, an_arrival())
    (root.tree("echo-args") / "mine.txt").write_text("mine")
    (change,) = install(root, an_arrival(version="2.0.0"), overwrite_edits=True)
    assert version_of(root, "echo-args") == "2.0.0"
    assert os.listdir(root.backups) == [os.path.basename(change.backup)]
    with open(f"{change.backup}/mine.txt") as kept:
        assert kept.read() == "mine"
    check_at_rest(root)


def test_an_uninstall_keeps_edits_too(root: Root) -> None:
    install(root, an_arrival())
    (root.tree("echo-args") / "mine.txt").write_text("mine")
    (change,) = uninstall(root, "echo-args")
    with open(f"{change.backup}/mine.txt") as kept:
        assert kept.read() == "mine"
    check_at_rest(root)


def test_another_publisher_needs_a_word(root: Root) -> None:
    install(root, an_arrival(publisher="acme"))
    with pytest.raises(Conflict, match=r"acme.*mallory"):
        install(root, an_arrival(version="2.0.0", publisher="mallory"))
    assert version_of(root, "echo-args") == "1.0.0"
    install(root, an_arrival(version="2.0.0", publisher="mallory"), accept_publisher=True)
    assert version_of(root, "echo-args") == "2.0.0"


def test_a_broken_receipt_is_said_and_can_be_overcome(root: Root) -> None:
    install(root, an_arrival(), an_arrival("other"))
    root.receipt("echo-args").write_text("{")
    assert [(one.name, one.state) for one in list_installed(root)] == [("echo-args", "broken"), ("other", "intact")]
    with pytest.raises(Conflict, match="edited"):
        install(root, an_arrival())
    (change,) = install(root, an_arrival(), overwrite_edits=True)
    assert (change.action, bool(change.backup)) == (Action.REINSTALLED, True)
    check_at_rest(root)


def test_what_is_not_installed_can_not_be_uninstalled(root: Root) -> None:
    install(root, an_arrival())
    with pytest.raises(NotFound, match="nothing"):
        uninstall(root, "echo-args", "nothing")
    assert version_of(root, "echo-args") == "1.0.0"


def test_one_name_twice_is_refused(root: Root) -> None:
    with pytest.raises(Conflict, match="twice"):
        install(root, an_arrival(version="1.0.0"), an_arrival(version="2.0.0"))


def test_only_a_verified_pack_is_installed(root: Root) -> None:
    arrival = an_arrival()
    pack = arrival.verified
    with pytest.raises(TypeError):
        VerifiedPack(object(), pack.pack, pack.version, pack.record, pack.source, pack.archive, pack.archive_digest, ())
    look_alike = type(
        "VerifiedPack", (), {name: getattr(pack, name) for name in (*VerifiedPack.__slots__, "name", "tree_digest")}
    )()
    with pytest.raises(TypeError):
        install(root, Arrival(cast("VerifiedPack", look_alike), "acme", arrival.origin))
    assert list_installed(root) == ()


def test_a_locked_root_is_of_no_use_after_its_block(root: Root) -> None:
    with lock_root(root) as locked:
        pass
    with pytest.raises(RuntimeError):
        install_packs(locked, [an_arrival()], NOW)


def test_a_held_lock_names_its_holder(root: Root) -> None:
    with lock_root(root), pytest.raises(Unavailable, match=str(os.getpid())), lock_root(root, timeout_seconds=0):
        pass


def test_a_root_that_is_missing_or_a_file_is_said(tmp_path: Path) -> None:
    with pytest.raises(NotFound):
        open_root(tmp_path / "nowhere", create=False)
    (tmp_path / "file").touch()
    with pytest.raises(Exception, match="not a directory"):
        open_root(tmp_path / "file", create=True)
