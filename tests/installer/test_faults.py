"""Every call to the kernel fails once, fails from there on, or is the last thing that the process does.

The fast layer looks at every STRIDE-th call, the flows at each one.
"""

from __future__ import annotations

import errno
import itertools
import os
import shutil
from typing import TYPE_CHECKING

import pytest

from market.errors import MarketError
from market.installer.listing import list_installed
from market.installer.root import Root, open_root
from market.installer.transaction import lock_root, uninstall_packs
from market.installer.tree_state import TreeState
from tests.installer.builders import NOW, an_arrival, check_at_rest, install, version_of
from tests.installer.faulty_disk import (
    FaultyDisk,
    die,
    fail_with,
    faulty_calls,
    run_until_death,
    with_unmovable,
    without_renameat2,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

FOR_EVER = 1_000_000
STRIDE = 13

FIRST, SECOND, THIRD = an_arrival("first", "1.0.0"), an_arrival("second", "1.0.0"), an_arrival("third", "1.0.0")
FIRST_2, SECOND_2 = an_arrival("first", "2.0.0"), an_arrival("second", "2.0.0")

OLD = {"first": "1.0.0", "second": "1.0.0", "third": None}
UPGRADED = {"first": "2.0.0", "second": "2.0.0", "third": "1.0.0"}
REMOVED = {"first": None, "second": None, "third": None}


def upgrade(root: Root) -> None:
    install(root, FIRST_2, SECOND_2, THIRD)


def remove(root: Root) -> None:
    with lock_root(root) as locked:
        uninstall_packs(locked, ["first", "second"], NOW)


def state_of(root: Root) -> dict[str, str | None]:
    return {name: version_of(root, name) for name in OLD}


def check_readable_before_recovery(root: Root, new: dict[str, str | None]) -> None:
    """Readers that can't recover see whole trees, and through the intent the receipts that belong to them."""
    versions = state_of(root)
    assert all(version in (OLD[name], new[name]) for name, version in versions.items())
    read = {one.name: one for one in list_installed(root, thorough=True)}
    assert {one.state for one in read.values()} <= {TreeState.INTACT}
    assert {name: one.receipt.version.text for name, one in read.items() if one.receipt} == {
        name: version for name, version in versions.items() if version
    }


STEPS = pytest.mark.parametrize("step", [STRIDE, pytest.param(1, marks=pytest.mark.flow)], ids=["some", "all"])
WORKS = pytest.mark.parametrize(("work", "new"), [(upgrade, UPGRADED), (remove, REMOVED)], ids=["upgrade", "remove"])


@pytest.fixture
def roots(memory_path: Path) -> Iterator[Root]:
    """A new root with the old packs, again and again."""

    def make() -> Iterator[Root]:
        base = open_root(memory_path / "base", create=True)
        install(base, FIRST, SECOND)
        for number in itertools.count():
            place = memory_path / str(number)
            shutil.copytree(base.path, place)
            yield open_root(place, create=False)
            shutil.rmtree(place)

    return make()


def sweep(
    roots: Iterator[Root],
    monkeypatch: pytest.MonkeyPatch,
    work: Callable[[Root], None],
    fault: Callable[[], None],
    *,
    times: int = 1,
    step: int = 1,
) -> Iterator[tuple[Root, bool]]:
    """Yield, for each n or every so many of them, the root after a run whose n-th call failed, and whether the run said that it succeeded."""
    for number in itertools.count(1, step):
        root = next(roots)
        with faulty_calls(monkeypatch, FaultyDisk(number, fault, times=times)) as disk:
            try:
                work(root)
                succeeded = True
            except MarketError:
                succeeded = False
        if not disk.reached:
            assert succeeded
            assert number > 40
            return
        yield root, succeeded


@WORKS
@STEPS
def test_one_failing_call_leaves_the_old_or_the_new(
    roots: Iterator[Root],
    monkeypatch: pytest.MonkeyPatch,
    work: Callable[[Root], None],
    new: dict[str, str | None],
    step: int,
) -> None:
    for root, succeeded in sweep(roots, monkeypatch, work, fail_with(errno.ENOSPC), step=step):
        assert state_of(root) == (new if succeeded else OLD)
        with lock_root(root) as locked:
            # What failed once was undone at once, if the failing call wasn't the one that ends the undoing.
            assert all(not one.left for one in locked.recovered)
        assert state_of(root) == (new if succeeded else OLD)
        check_at_rest(root)


@WORKS
@STEPS
@pytest.mark.parametrize("times", [2, FOR_EVER])
def test_a_disk_that_stays_broken_leaves_what_recovery_settles(
    roots: Iterator[Root],
    monkeypatch: pytest.MonkeyPatch,
    work: Callable[[Root], None],
    new: dict[str, str | None],
    times: int,
    step: int,
) -> None:
    for root, succeeded in sweep(roots, monkeypatch, work, fail_with(errno.EIO), times=times, step=step):
        for name, version in state_of(root).items():
            assert version in (OLD[name], new[name])
        with lock_root(root):
            pass
        assert state_of(root) in ([new] if succeeded else [OLD, new])
        check_at_rest(root)


@WORKS
@STEPS
@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
def test_a_kill_at_any_call_leaves_what_recovery_settles(
    roots: Iterator[Root],
    monkeypatch: pytest.MonkeyPatch,
    work: Callable[[Root], None],
    new: dict[str, str | None],
    after: bool,
    step: int,
) -> None:
    seen = set()
    for number in itertools.count(1, step):
        root = next(roots)

        def work_and_die(number: int = number, root: Root = root) -> None:
            with faulty_calls(monkeypatch, FaultyDisk(number, die, after=after)):
                work(root)

        if not run_until_death(work_and_die):
            break
        check_readable_before_recovery(root, new)
        with lock_root(root):
            pass
        state = state_of(root)
        assert state in (OLD, new)
        seen.add(tuple(state.values()))
        check_at_rest(root)
    assert seen == {tuple(OLD.values()), tuple(new.values())}


@STEPS
def test_recovery_may_be_killed_too(roots: Iterator[Root], monkeypatch: pytest.MonkeyPatch, step: int) -> None:
    for number in itertools.count(4, step + 6):
        root = next(roots)

        def work_and_die(root: Root = root, number: int = number) -> None:
            with faulty_calls(monkeypatch, FaultyDisk(number, die)):
                upgrade(root)

        def recover_and_die(root: Root = root, number: int = number) -> None:
            with faulty_calls(monkeypatch, FaultyDisk(number % 11 + 1, die)), lock_root(root):
                pass

        if not run_until_death(work_and_die):
            break
        for _ in range(3):
            run_until_death(recover_and_die)
        with lock_root(root):
            pass
        assert state_of(root) in (OLD, UPGRADED)
        check_at_rest(root)


@WORKS
@STEPS
@pytest.mark.parametrize("disk_kind", ["without-exchange", "unmovable"])
@pytest.mark.parametrize("deadly", [False, True], ids=["fails", "killed"])
def test_a_disk_without_exchange_is_recovered_the_same_way(
    roots: Iterator[Root],
    monkeypatch: pytest.MonkeyPatch,
    work: Callable[[Root], None],
    new: dict[str, str | None],
    disk_kind: str,
    deadly: bool,
    step: int,
) -> None:
    for number in itertools.count(1, step):
        root = next(roots)
        disk = FaultyDisk(number, die if deadly else fail_with(errno.EIO))

        def work_and_break(root: Root = root, disk: FaultyDisk = disk) -> None:
            with faulty_calls(monkeypatch, disk):
                try:
                    work(root)
                except MarketError:
                    return

        with monkeypatch.context() as patch:
            if disk_kind == "unmovable":
                with_unmovable(patch, {root.tree(name).stat().st_ino for name in ("first", "second")})
            else:
                without_renameat2(patch)
            killed = run_until_death(work_and_break) if deadly else None
            if not deadly:
                work_and_break()
            with lock_root(root):
                pass
        assert state_of(root) in (OLD, new)
        check_at_rest(root)
        if killed is False or (killed is None and not disk.reached):
            assert state_of(root) == new
            break


def test_a_full_disk_says_so_and_nothing_is_left(memory_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = open_root(memory_path / "root", create=True)
    install(root, FIRST)
    with (
        faulty_calls(monkeypatch, FaultyDisk(20, fail_with(errno.ENOSPC))),
        pytest.raises(MarketError, match="can't install into") as caught,
    ):
        install(root, FIRST_2)
    assert (caught.value.slug, "full" in caught.value.why) == ("unavailable", True)
    assert os.listdir(root.staging) == []
    check_at_rest(root)
