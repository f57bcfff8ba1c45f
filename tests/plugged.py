"""Plugins for tests: an entry point that names an object, and the small objects that one needs to call a hook."""

from __future__ import annotations

from typing import TYPE_CHECKING

from market.model import Call, Caller, Kind, Pack, Role, Skill, State
from market.names import PackName, parse_version
from market.plugins.find import PluginEntry
from market.registry.live import LiveSkill

if TYPE_CHECKING:
    from collections.abc import Callable

ADA = Caller(7, "ada", Role.ADMIN)


def an_entry(plugin: object, name: str = "tested", distribution: str = "") -> PluginEntry:
    """An installed plugin; an exception in place of one is raised when it is loaded."""

    def load() -> object:
        if isinstance(plugin, BaseException):
            raise plugin
        return plugin

    return PluginEntry(name, distribution or name, "1.0", load)


def a_skill(name: str = "tested", **changes: object) -> Skill:
    fields: dict[str, object] = {"name": name, "kind": Kind.COMMAND, "description": "Does. Use when tested.", **changes}
    return Skill(**fields)  # type: ignore[arg-type]


def a_pack(name: str = "a-pack", version: str = "1.0.0", *skills: Skill) -> Pack:
    return Pack(PackName(name), parse_version(version), "skill", skills=skills or (a_skill(),))


def a_target(skill: Skill | None = None, *, pack: str = "a-pack", publisher: str = "") -> LiveSkill:
    chosen = skill or a_skill()
    return LiveSkill(chosen.name, chosen, pack, "1.0.0", State.LIVE, "/srv", f"/srv/{pack}", 1, 2, publisher=publisher)


def a_call(key: str = "tested", road: str = "http") -> Call:
    return Call(key, {}, ADA, road)


def raising(error: BaseException) -> Callable[..., None]:
    """A function that raises, whatever it is called with."""

    def act(*_: object, **__: object) -> None:
        raise error

    return act
