"""skill.json: the manifest of a command. The rules of one manifest by itself; whether its entry exists is in `market.pack.entry`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from market.errors import Severity
from market.model import DEFAULT_CATEGORY, DEFAULT_TIMEOUT_SECONDS, SkillClass
from market.pack.command_fields import EMPTY_SCHEMA, CommandFields
from market.pack.json_text import JsonText, parse_json
from market.pack.rules import make_problem

if TYPE_CHECKING:
    from collections.abc import Mapping

    from market.errors import Problem

COMMAND_FIELDS = ("entry", "schema", "env_allow", "timeout_seconds", "class")


@dataclass(frozen=True, slots=True)
class CommandManifest:
    """What a skill.json says. With an error among `problems` its values mean nothing."""

    file: str
    name: str = ""
    description: str = ""
    entry: str = ""
    schema: Mapping[str, object] = field(default_factory=lambda: EMPTY_SCHEMA)
    env_allow: tuple[str, ...] = ()
    timeout_seconds: int = DEFAULT_TIMEOUT_SECONDS
    skill_class: SkillClass = SkillClass.SAFE
    category: str = DEFAULT_CATEGORY
    version: str = ""
    metadata: Mapping[str, Any] = field(default_factory=dict)
    problems: tuple[Problem, ...] = ()
    document: JsonText | None = None

    @property
    def is_broken(self) -> bool:
        """Whether the skill can't be loaded."""
        return any(problem.severity is Severity.ERROR for problem in self.problems)

    @property
    def is_foreign(self) -> bool:
        """Whether the file has nothing that only a command has: other tools use the same file name."""
        values = self.document.value if self.document else None
        return isinstance(values, dict) and not any(key in values for key in COMMAND_FIELDS)

    def find_place(self, *path: str | int) -> tuple[int, int]:
        """Return line and column of a field's value."""
        return self.document.find_place(path) if self.document else (0, 0)


def parse_skill_json(data: bytes, file: str = "skill.json") -> CommandManifest:
    """Parse a skill.json (mission A2 to A9). Nothing is raised: all that is wrong is in `problems`."""
    document = parse_json(data, file)
    if document.problems:
        return CommandManifest(file, problems=document.problems)
    if not isinstance(document.value, dict):
        return CommandManifest(
            file, problems=(make_problem("json-not-object", "the file holds no object", file, (1, 1)),)
        )
    reader = CommandFields(document)
    manifest = CommandManifest(
        file,
        name=reader.read_name(),
        description=reader.read_required("description"),
        entry=reader.read_required("entry"),
        schema=reader.read_schema(),
        env_allow=reader.read_env_allow(),
        timeout_seconds=reader.read_timeout(),
        skill_class=reader.read_class(),
        category=reader.read_text("category") or DEFAULT_CATEGORY,
        version=reader.read_version(),
        metadata=reader.read_metadata(),
        document=document,
    )
    reader.find_unknown()
    object.__setattr__(manifest, "problems", tuple(reader.problems))
    return manifest
