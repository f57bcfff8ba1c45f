"""File systems as they are: full, read-only, forbidden, in layers. What this machine doesn't let us mount is skipped."""

from __future__ import annotations

import os
import subprocess
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from market.errors import Refused, Unavailable
from market.installer.listing import list_installed
from market.installer.root import Root, open_root
from market.installer.transaction import lock_root, uninstall_packs
from tests.installer.builders import NOW, an_arrival, check_at_rest, install, version_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

NOBODY = 65534


@contextmanager
def mounted(place: Path, *arguments: str) -> Iterator[Path]:
    place.mkdir(exist_ok=True)
    made = subprocess.run(["mount", *arguments, str(place)], capture_output=True, text=True, check=False)
    if made.returncode != 0:
        pytest.skip(f"can't mount here: {made.stderr.strip()}")
    try:
        yield place
    finally:
        subprocess.run(["umount", "--lazy", str(place)], check=True)


@pytest.mark.parametrize("limit", ["size=256k", "nr_inodes=40"])
def test_a_full_disk_leaves_the_old_version_and_room_to_go_on(tmp_path: Path, limit: str) -> None:
    with mounted(tmp_path / "small", "-t", "tmpfs", "-o", limit, "none") as small:
        root = open_root(small / "root", create=True)
        install(root, an_arrival())
        large = {f"part{number}.bin": os.urandom(16_000) for number in range(40)}
        with pytest.raises(Unavailable, match="can't install into") as caught:
            install(root, an_arrival(version="2.0.0", extra=large), an_arrival("another"))
        assert "full" in caught.value.why
        check_at_rest(root)
        assert version_of(root, "echo-args") == "1.0.0"
        install(root, an_arrival(version="1.1.0"))
        with lock_root(root) as locked:
            uninstall_packs(locked, ["echo-args"], NOW)
        check_at_rest(root)


def test_a_read_only_root_is_refused_and_read(tmp_path: Path) -> None:
    place = tmp_path / "disk"
    with mounted(place, "-t", "tmpfs", "none"):
        root = open_root(place / "root", create=True)
        install(root, an_arrival())
        subprocess.run(["mount", "-o", "remount,ro", str(place)], check=True)
        with pytest.raises(Refused):
            install(root, an_arrival(version="2.0.0"))
        assert [one.state for one in list_installed(root)] == ["intact"]


@contextmanager
def as_nobody() -> Iterator[None]:
    if os.geteuid() != 0:
        pytest.skip("only the superuser can become somebody else")
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)


def test_a_root_of_somebody_else_is_refused_and_read(memory_path: Path) -> None:
    memory_path.chmod(0o755)
    root = open_root(memory_path / "root", create=True)
    with as_nobody(), pytest.raises(Refused, match="root"), lock_root(root):
        pass
    assert os.listdir(root.path) == []


def test_trees_that_their_owner_locked_away_are_still_deleted(memory_path: Path) -> None:
    memory_path.chmod(0o777)
    with as_nobody():
        root = open_root(memory_path / "root", create=True)
        install(root, an_arrival())
        hidden = root.tree("echo-args") / "notes"
        hidden.chmod(0o000)
        root.tree("echo-args").chmod(0o500)
        install(root, an_arrival(version="2.0.0"), overwrite_edits=True)
        assert version_of(root, "echo-args") == "2.0.0"


def test_trees_of_a_lower_layer_are_upgraded_and_removed(tmp_path: Path) -> None:
    with mounted(tmp_path / "memory", "-t", "tmpfs", "none") as memory:
        baked = open_root(memory / "lower" / "root", create=True)
        install(baked, an_arrival("first"), an_arrival("second"), an_arrival("third"))
        for folder in ("upper", "work"):
            (memory / folder).mkdir()
        layers = f"lowerdir={memory}/lower,upperdir={memory}/upper,workdir={memory}/work"
        with mounted(tmp_path / "merged", "-t", "overlay", "-o", layers, "none") as merged:
            root = Root(merged / "root")
            with pytest.raises(OSError, match="cross-device"):
                os.rename(root.tree("third"), root.path / "renamed")
            install(root, an_arrival("first", "2.0.0"), an_arrival("second", "2.0.0"))
            with lock_root(root) as locked:
                uninstall_packs(locked, ["third"], NOW)
            assert [version_of(root, name) for name in ("first", "second", "third")] == ["2.0.0", "2.0.0", None]
            check_at_rest(root)
            install(root, an_arrival("first", "3.0.0"))
            check_at_rest(root)
