from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from market.errors import Untrusted
from market.installer.disabled import Disabled, Target, disable_targets, enable_targets, load_disabled
from market.installer.transaction import lock_root
from tests.installer.builders import an_arrival, install

if TYPE_CHECKING:
    from market.installer.root import Root


def test_a_pack_or_one_skill_is_switched_off_and_on(root: Root) -> None:
    assert load_disabled(root) == Disabled()
    with lock_root(root) as locked:
        assert disable_targets(locked, [Target("b"), Target("a", "one")]) == (Target("a", "one"), Target("b"))
        assert disable_targets(locked, [Target("b")]) == ()
        off = load_disabled(root)
        assert [off.covers(*place) for place in (("a", "one"), ("a", "two"), ("b", "any"), ("c", "one"))] == [
            True,
            False,
            True,
            False,
        ]
        assert enable_targets(locked, [Target("a"), Target("c")]) == (Target("a", "one"),)
        assert enable_targets(locked, [Target("b", "any")]) == ()
        assert enable_targets(locked, [Target("b")]) == (Target("b"),)
    assert load_disabled(root) == Disabled()


def test_it_stays_off_through_an_upgrade_and_wakes_who_watches(root: Root) -> None:
    install(root, an_arrival())
    os.utime(root.tree("echo-args"), (1, 1))
    with lock_root(root) as locked:
        disable_targets(locked, [Target("echo-args")])
    assert root.tree("echo-args").stat().st_mtime > 1
    install(root, an_arrival(version="2.0.0"))
    assert load_disabled(root).covers("echo-args", "echo_args")


@pytest.mark.parametrize(
    "content", ["{", "[]", '{"schema": 2, "disabled": []}', '{"schema": 1, "disabled": [["a"]]}', '{"schema": 1}']
)
def test_a_file_that_can_not_be_read_is_said(root: Root, content: str) -> None:
    root.state.mkdir()
    root.disabled.write_text(content)
    with pytest.raises(Untrusted, match=r"disabled\.json can't be read"):
        load_disabled(root)
