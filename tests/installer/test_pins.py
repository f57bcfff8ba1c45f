from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from market.errors import Conflict, InvalidInput, NotFound, Untrusted
from market.installer.dependencies import DependencyTerms
from market.installer.pins import load_pins, pin_pack, unpin_pack
from market.installer.rollback import rollback_packs
from market.installer.transaction import lock_root, uninstall_packs
from tests.installer.builders import NOW, an_arrival, check_at_rest, install, version_of

if TYPE_CHECKING:
    from market.installer.root import Root


def pin(root: Root, name: str = "echo-args", version: str = "", reason: str = "2.0 loses data") -> None:
    with lock_root(root) as locked:
        pin_pack(locked, name, version, reason, NOW)


def test_a_pinned_pack_stays_whoever_wants_it_changed(root: Root) -> None:
    install(root, an_arrival())
    install(root, an_arrival(version="1.5.0"))
    pin(root)
    with pytest.raises(Conflict, match=r"pinned to 1\.5\.0") as caught:
        install(root, an_arrival("other"), an_arrival(version="2.0.0"))
    assert caught.value.why == "2.0 loses data" and "--unpin" in caught.value.hint
    with lock_root(root) as locked, pytest.raises(Conflict, match="pinned"):
        rollback_packs(locked, ["echo-args"], NOW, dependencies=DependencyTerms())
    assert (version_of(root, "echo-args"), version_of(root, "other")) == ("1.5.0", None)
    install(root, an_arrival(version="1.5.0"))
    with lock_root(root) as locked:
        assert unpin_pack(locked, "Echo_Args").reason == "2.0 loses data"
    install(root, an_arrival(version="2.0.0"))
    check_at_rest(root)


def test_a_pin_outlives_its_pack_and_may_come_before_it(root: Root) -> None:
    pin(root, version="1.0")
    with pytest.raises(Conflict):
        install(root, an_arrival(version="2.0.0"))
    install(root, an_arrival())
    with lock_root(root) as locked:
        uninstall_packs(locked, ["echo-args"], NOW)
    assert load_pins(root)["echo-args"].version.text == "1.0"


def test_what_can_not_be_pinned(root: Root) -> None:
    assert load_pins(root) == {}
    with pytest.raises(NotFound, match="not installed"):
        pin(root)
    install(root, an_arrival())
    for reason in ("", "  ", "x" * 501):
        with pytest.raises(InvalidInput, match="reason"):
            pin(root, reason=reason)
    with lock_root(root) as locked, pytest.raises(NotFound, match="not pinned"):
        unpin_pack(locked, "echo-args")
    assert not root.pins.exists()


@pytest.mark.parametrize("content", ["{", "[]", '{"schema": 2, "pins": {}}', '{"schema": 1, "pins": {"a": {}}}'])
def test_pins_that_can_not_be_read_stop_writers_and_name_their_file(root: Root, content: str) -> None:
    install(root, an_arrival())
    root.pins.write_text(content)
    with pytest.raises(Untrusted, match=r"pins\.json can't be read"):
        install(root, an_arrival(version="2.0.0"))
    assert version_of(root, "echo-args") == "1.0.0"
