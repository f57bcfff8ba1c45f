"""Switching packs and skills off and on while a registry lives: at once, and at the cost of what changed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from market.installer.accept import accept_edits
from market.installer.disabled import Target, disable_targets, enable_targets
from market.installer.root import Root, open_root
from market.installer.transaction import lock_root
from market.model import State
from market.registry.live import RUNNABLE_STATES
from market.registry.loader import Loader
from market.registry.registry import Registry
from market.registry.watch import Watch
from tests.factories import a_skill_json, a_skill_md
from tests.installer.builders import NOW, an_arrival, install
from tests.registry.trees import a_command_folder, a_registry, wait_for

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from market.registry.unit import LoadedUnit, UnitId

LIVE_SECONDS = 2.0


@pytest.fixture
def root(tmp_path: Path) -> Root:
    made = open_root(tmp_path / "root", create=True)
    manifest = a_skill_json(name="echo_args", **{"class": "mutating"})
    install(made, an_arrival("tools", extra={"skill.json": manifest, "guide/SKILL.md": a_skill_md("guide")}))
    install(made, an_arrival("other"))
    a_command_folder(made.path / "dropped")
    return made


def states(registry: Registry) -> dict[str, State]:
    return {live.key: live.state for live in registry.snapshot.all_skills()}


def switch(root: Root, *, off: tuple[Target, ...] = (), on: tuple[Target, ...] = ()) -> None:
    with lock_root(root) as locked:
        disable_targets(locked, off)
        enable_targets(locked, on)


def test_disabled_skills_are_listed_and_never_run(root: Root) -> None:
    switch(root, off=(Target("tools", "guide"), Target("dropped")))
    registry = a_registry(root.path)
    assert states(registry) == {
        "dropped": State.DISABLED,
        "echo_args": State.LIVE,
        "guide": State.DISABLED,
        "other": State.LIVE,
    }
    assert State.DISABLED not in RUNNABLE_STATES
    guide = registry.snapshot.find("guide")
    assert guide is not None and guide.problems[0].rule == "switched-off"


def test_a_disabled_winner_keeps_its_key_so_that_nobody_steps_into_its_place(root: Root) -> None:
    a_command_folder(root.path / "zz-copy", name="echo_args")
    switch(root, off=(Target("tools"),))
    assert states(a_registry(root.path))["echo_args"] is State.DISABLED


def test_a_file_of_switches_that_can_not_be_read_switches_all_of_its_root_off(root: Root) -> None:
    root.disabled.write_text("{")
    registry = a_registry(root.path)
    assert states(registry) == {}
    assert all("disabled.json can't be read" in row.cause for row in registry.snapshot.dropped())


@pytest.fixture
def loads(root: Root) -> Iterator[tuple[Registry, list[str]]]:
    """A registry that is watched, and the names of the units that it reads."""
    read: list[str] = []
    loader = Loader()

    def load(unit: UnitId) -> LoadedUnit | None:
        read.append(unit.name)
        return loader.load(unit)

    registry = Registry([str(root.path)], load)
    registry.load()
    watch = Watch(registry, rescan_seconds=3600)
    watch.start()
    assert watch.wait_until_watching(10)
    read.clear()
    yield registry, read
    watch.stop()


def test_a_running_registry_follows_at_once_and_reads_that_pack_alone(
    root: Root, loads: tuple[Registry, list[str]]
) -> None:
    registry, read = loads
    switch(root, off=(Target("tools"),))
    wait_for(lambda: states(registry)["echo_args"] is State.DISABLED, LIVE_SECONDS)
    assert states(registry)["guide"] is State.DISABLED
    switch(root, on=(Target("tools"),))
    wait_for(lambda: states(registry)["guide"] is State.LIVE, LIVE_SECONDS)
    assert set(read) == {"tools"}


def test_accepted_edits_are_live_again_at_once(root: Root, loads: tuple[Registry, list[str]]) -> None:
    registry, _ = loads
    (root.tree("tools") / "run.sh").write_text("#!/bin/sh\necho '{}'\n")
    registry.rescan()
    assert states(registry)["echo_args"] is State.HELD
    with lock_root(root) as locked:
        accept_edits(locked, "tools", NOW)
    wait_for(lambda: states(registry)["echo_args"] is State.LIVE, LIVE_SECONDS)


def test_without_events_the_rescan_finds_out(root: Root) -> None:
    registry = a_registry(root.path)
    switch(root, off=(Target("tools", "echo_args"),))
    registry.rescan()
    assert states(registry)["echo_args"] is State.DISABLED


def test_a_root_that_is_a_pack_itself_can_be_switched_off_too(tmp_path: Path) -> None:
    own = Root(a_command_folder(tmp_path / "own"))
    registry = a_registry(own.path)
    watch = Watch(registry, rescan_seconds=3600)
    watch.start()
    try:
        assert watch.wait_until_watching(10)
        switch(own, off=(Target(""),))
        wait_for(lambda: states(registry)["own"] is State.DISABLED, LIVE_SECONDS)
        switch(own, on=(Target(""),))
        wait_for(lambda: states(registry)["own"] is State.UNMANAGED, LIVE_SECONDS)
    finally:
        watch.stop()
