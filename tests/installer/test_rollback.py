from __future__ import annotations

import errno
import io
import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import market.installer.recover as recover_module
from market.disk.keep import keep_link
from market.errors import Conflict, NotFound, Unavailable, Untrusted
from market.installer.archives import EARLIER_RELEASES_KEPT
from market.installer.dependencies import DependencyTerms
from market.installer.plan import Action
from market.installer.receipt import Origin, load_receipt
from market.installer.rollback import find_last_changed, rollback_packs
from market.installer.root import open_root
from market.installer.transaction import Arrival, lock_root, uninstall_packs
from market.pack.inspect import Given
from market.trust.verify import verify_archive
from tests.installer.builders import NOW, an_arrival, check_at_rest, install, version_of

if TYPE_CHECKING:
    from market.installer.intent import Intent
    from market.installer.plan import Change
    from market.installer.root import Root


def rollback(root: Root, *names: str, version: str = "", overwrite_edits: bool = False) -> tuple[Change, ...]:
    with lock_root(root, timeout_seconds=5) as locked:
        return rollback_packs(locked, names, NOW, version=version, overwrite_edits=overwrite_edits, dependencies=DependencyTerms())


def _bytes_of(arrival: Arrival) -> bytes:
    arrival.verified.archive.seek(0)
    return arrival.verified.archive.read()


def kept_versions(root: Root, name: str = "echo-args") -> list[str]:
    """The versions whose archives are kept, read from the archives themselves; the receipt must name the same."""
    receipt = load_receipt(root, name)
    assert receipt is not None
    named = [receipt.archive_digest, *(row.archive_digest for row in receipt.earlier)]
    assert sorted(os.listdir(root.archives)) == sorted(root.archive(digest).name for digest in named)
    return [
        verify_archive(io.BytesIO(root.archive(digest).read_bytes()), Given(name, "1"))
        .source.read("notes/version.txt")
        .decode()
        for digest in named
    ]


def test_a_rollback_brings_back_the_release_before_and_a_second_one_undoes_it(root: Root) -> None:
    first = an_arrival(publisher="acme")
    install(root, first)
    install(root, an_arrival(version="2.0.0", publisher="mallory"), accept_publisher=True)
    (change,) = rollback(root, "echo-args")
    assert (change.action, change.old_version, change.new_version) == (Action.ROLLED_BACK, "2.0.0", "1.0.0")
    receipt = load_receipt(root, "echo-args")
    assert receipt is not None
    assert (receipt.publisher, receipt.origin, receipt.tree_digest) == (
        "acme",
        first.origin,
        first.verified.tree_digest,
    )
    assert version_of(root, "echo-args") == "1.0.0"
    check_at_rest(root)
    assert rollback(root, "echo-args")[0].new_version == "2.0.0"
    assert kept_versions(root) == ["2.0.0", "1.0.0"]
    check_at_rest(root)


def test_no_more_archives_are_kept_than_the_limit_and_a_version_may_be_named(root: Root) -> None:
    versions = [f"{number}.0.0" for number in range(1, EARLIER_RELEASES_KEPT + 4)]
    for version in versions:
        install(root, an_arrival(version=version))
    assert kept_versions(root) == versions[::-1][: EARLIER_RELEASES_KEPT + 1]
    oldest = versions[-EARLIER_RELEASES_KEPT - 1]
    rollback(root, "echo-args", version=oldest)
    assert version_of(root, "echo-args") == oldest
    assert len(kept_versions(root)) == EARLIER_RELEASES_KEPT + 1
    with pytest.raises(NotFound, match=r"version 1\.0\.0 .* is kept") as caught:
        rollback(root, "echo-args", version="1.0.0")
    assert versions[-1] in caught.value.why and "market install echo-args@1.0.0" in caught.value.hint


def test_without_names_the_packs_of_the_last_transaction_are_meant(root: Root) -> None:
    assert find_last_changed(root) == ()
    install(root, an_arrival("first"), an_arrival("second"), an_arrival("third"))
    install(root, an_arrival("first", "2.0.0"), an_arrival("third", "2.0.0"))
    assert find_last_changed(root) == ("first", "third")
    rollback(root, *find_last_changed(root))
    assert [version_of(root, name) for name in ("first", "second", "third")] == ["1.0.0"] * 3


def test_one_pack_without_an_earlier_release_stops_all(root: Root) -> None:
    install(root, an_arrival("first"), an_arrival("second"))
    install(root, an_arrival("first", "2.0.0"))
    with pytest.raises(NotFound, match="no earlier release of second"):
        rollback(root, "first", "second")
    with pytest.raises(NotFound, match="not installed"):
        rollback(root, "third")
    assert version_of(root, "first") == "2.0.0"


def test_edits_stop_a_rollback_unless_confirmed_and_are_kept(root: Root) -> None:
    install(root, an_arrival())
    install(root, an_arrival(version="2.0.0"))
    (root.tree("echo-args") / "mine.txt").write_text("mine")
    with pytest.raises(Conflict, match="edited"):
        rollback(root, "echo-args")
    (change,) = rollback(root, "echo-args", overwrite_edits=True)
    assert (Path(change.backup) / "mine.txt").read_text() == "mine"
    check_at_rest(root)


@pytest.mark.parametrize("fate", ["gone", "spoilt", "another"])
def test_a_kept_archive_that_is_not_what_it_was_changes_nothing(root: Root, fate: str) -> None:
    old = an_arrival()
    install(root, old)
    install(root, an_arrival(version="2.0.0"))
    place = root.archive(old.verified.archive_digest)
    if fate == "gone":
        place.unlink()
    elif fate == "spoilt":
        place.write_bytes(place.read_bytes()[:-1] + b"x")
    else:
        shutil.copy(root.archive(an_arrival(version="2.0.0").verified.archive_digest), place)
    with pytest.raises(Untrusted, match=r"kept archive of echo-args 1\.0\.0"):
        rollback(root, "echo-args")
    assert version_of(root, "echo-args") == "2.0.0"
    check_at_rest(root)
    install(root, old)
    assert kept_versions(root) == ["1.0.0", "2.0.0"]


def test_an_uninstall_forgets_and_one_archive_under_two_names_stays_for_the_other(root: Root) -> None:
    archive = io.BytesIO(_bytes_of(an_arrival()))
    same = [
        Arrival(verify_archive(archive, Given(name, "1.0.0")), "", Origin("archive", "/x.zip"))
        for name in ("one", "two")
    ]
    install(root, *same)
    assert len(os.listdir(root.archives)) == 1
    with lock_root(root) as locked:
        uninstall_packs(locked, ["one"], NOW)
    assert len(os.listdir(root.archives)) == 1
    with lock_root(root) as locked:
        uninstall_packs(locked, ["two"], NOW)
    assert os.listdir(root.archives) == []


def test_an_archive_of_the_download_cache_is_linked_and_one_from_elsewhere_is_copied(tmp_path: Path) -> None:
    root = open_root(tmp_path / "root", create=True)
    for kind in ("index", "archive"):
        cached = tmp_path / f"{kind}.zip"
        cached.write_bytes(_bytes_of(an_arrival(kind)))
        with cached.open("rb") as stream:
            verified = verify_archive(stream, Given(kind, "1.0.0"))
            install(root, Arrival(verified, "", Origin(kind, "/x")))
            kept = root.archive(verified.archive_digest)
        assert (kept.stat().st_ino == cached.stat().st_ino) == (kind == "index")
        assert kept.read_bytes() == cached.read_bytes()


def test_a_file_without_a_name_is_not_linked(tmp_path: Path) -> None:
    assert not keep_link(io.BytesIO(b"x"), tmp_path / "kept")
    with (tmp_path / "file").open("w+b") as stream:
        os.unlink(tmp_path / "file")
        assert not keep_link(stream, tmp_path / "kept")
    assert os.listdir(tmp_path) == []


def test_an_uninstall_that_fails_at_its_end_gives_back_the_archives_that_it_forgot(
    root: Root, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(root, an_arrival())
    install(root, an_arrival(version="2.0.0"))

    def fail(root: Root, intent: Intent) -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    with monkeypatch.context() as patch:
        patch.setattr(recover_module, "drop_intent", fail)
        with lock_root(root) as locked, pytest.raises(Unavailable, match="uninstall"):
            uninstall_packs(locked, ["echo-args"], NOW)
    assert kept_versions(root) == ["2.0.0", "1.0.0"]
    assert rollback(root, "echo-args")[0].new_version == "1.0.0"
    check_at_rest(root)
