"""Valid-by-default values of the registry for tests: units and skills that never were on a disk."""

from __future__ import annotations

from market.errors import Problem, Severity
from market.model import Command, Guide, Kind, Skill, SkillClass, State
from market.registry.live import LiveSkill
from market.registry.unit import Dropped, LoadedUnit, UnitId

ROOTS = ("/first", "/second")


def a_command(name: str = "echo_args", *, folder: str = "", skill_class: SkillClass = SkillClass.SAFE, description: str = "Echoes.") -> Skill:
    manifest = f"{folder}/skill.json" if folder else "skill.json"
    return Skill(name, Kind.COMMAND, description, folder, skill_class, command=Command(manifest, "run.sh", {"type": "object"}))


def a_guide(name: str = "greeting", *, marker: str = "m1", hidden: bool = False, description: str = "Greets.") -> Skill:
    return Skill(name, Kind.GUIDE, description, guide=Guide("SKILL.md", marker, disable_model_invocation=hidden))


def a_live(skill: Skill, unit: UnitId, *, pack: str = "", state: State = State.LIVE, version: str = "1.0.0", classless: bool = False, tree_digest: str = ""
) -> LiveSkill:
    problems = (Problem("class-missing", Severity.REFUSAL, "no class"),) if classless else ()
    return LiveSkill(skill.name, skill, pack or unit.name, version, state, unit.root, unit.path, 1, 2, tree_digest, problems=problems)


def a_unit(
    name: str = "pack",
    *skills: Skill,
    root: str = "/first",
    pack: str = "",
    state: State = State.LIVE,
    version: str = "1.0.0",
    classless: bool = False,
    dropped: tuple[Dropped, ...] = (),
    signature: bytes = b"1",
    tree_digest: str = "",
) -> LoadedUnit:
    unit = UnitId(root, name)
    live = tuple(a_live(skill, unit, pack=pack, state=state, version=version, classless=classless, tree_digest=tree_digest) for skill in skills)
    return LoadedUnit(unit, 1, 2, pack or name, version, "", signature, live, dropped)
