"""The values that the rooms pass to each other: skills, calls, outcomes, and the small vocabularies they use."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from market.names import PackName, PublisherName, Requirement, Version

DEFAULT_TIMEOUT_SECONDS = 30
DEFAULT_CATEGORY = "external"


class Kind(StrEnum):
    """What a skill is: a text for the model, a subprocess, a function in a worker, or built in."""

    GUIDE = "guide"
    COMMAND = "command"
    PYTHON = "python"
    NATIVE = "native"


class SkillClass(StrEnum):
    """What a skill may do: read only; create or update, reversible; irreversible."""

    SAFE = "safe"
    MUTATING = "mutating"
    DANGEROUS = "dangerous"


class Scope(StrEnum):
    """Where a skill runs: on a remote edge, or in the host's process."""

    HOST = "host"
    MANAGER = "manager"


class Role(StrEnum):
    """Who is calling. `system` is a model acting without a person."""

    ADMIN = "admin"
    USER = "user"
    VIEWER = "viewer"
    SYSTEM = "system"


class State(StrEnum):
    """How a skill stands in the registry. `unmanaged` and `edited` skills are live too; the word says what is special about them."""

    LIVE = "live"
    UNMANAGED = "unmanaged"
    EDITED = "edited"
    SHADOWED = "shadowed"
    INELIGIBLE = "ineligible"
    HELD = "held"
    DISABLED = "disabled"
    INVALID = "invalid"


@dataclass(frozen=True, slots=True)
class Brought:
    """A distribution that was fetched for a wheel, with its conditions: one of `tags` must fit, and `python`. Empty means none."""

    name: str
    tags: tuple[str, ...] = ()
    python: str = ""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a distribution `by` in a wheel's tree depends on, where its `marker` holds: for itself, or for an extra that is asked of it.

    `text` is the requirement without its marker, `extras` what it asks of `name`. `there` is the release of it in the tree, empty
    where there is none, and `is_met` whether that one does.
    """

    by: str
    name: str
    text: str
    marker: str = ""
    extras: tuple[str, ...] = ()
    there: str = ""
    is_met: bool = False


@dataclass(frozen=True, slots=True)
class Needs:
    """What a pack or skill needs from the machine before it can work. Empty means no condition.

    Of `any_bins` one is enough. `config` names settings of the host that must be set. `tags` are those of a wheel that isn't made
    for every Python and system: one of them must fit. `brought` is what lies beside a wheel and has conditions of its own; `wanted`
    what its code may depend on that isn't there.
    """

    os: tuple[str, ...] = ()
    bins: tuple[str, ...] = ()
    env: tuple[str, ...] = ()
    python: str = ""
    hosts: tuple[str, ...] = ()
    any_bins: tuple[str, ...] = ()
    config: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    brought: tuple[Brought, ...] = ()
    wanted: tuple[Wanted, ...] = ()


@dataclass(frozen=True, slots=True)
class Command:
    """The executable side of a skill, from skill.json. `entry` is relative to the skill's folder, as its author wrote it."""

    manifest: str
    entry: str
    schema: Mapping[str, object]
    env_allow: tuple[str, ...] = ()
    timeout_seconds: int = DEFAULT_TIMEOUT_SECONDS


class ActivationMode(StrEnum):
    """When a guide belongs into a prompt: always, or only when a keyword occurs in what the user wrote."""

    ALWAYS = "always"
    KEYWORD = "keyword"


@dataclass(frozen=True, slots=True)
class Activation:
    """How a guide comes into prompts (mission E8). `mode` is None where the guide doesn't say."""

    mode: ActivationMode | None = None
    keywords: tuple[str, ...] = ()


NO_ACTIVATION = Activation()


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool that a guide declares (mission E8). `impl` says what it is bound to, for example `builtin:NAME`."""

    name: str
    impl: str
    skill_class: SkillClass
    description: str = ""


@dataclass(frozen=True, slots=True)
class Guide:
    """The text side of a skill, from SKILL.md. `front_matter` keeps every field, known or not.

    `marker` is a stable mark of the file's content (mission E4): it changes exactly when the bytes do.
    """

    manifest: str
    marker: str
    disable_model_invocation: bool = False
    front_matter: Mapping[str, object] = field(default_factory=dict)
    when_to_use: str = ""
    activation: Activation = NO_ACTIVATION
    tools: tuple[Tool, ...] = ()


@dataclass(frozen=True, slots=True)
class Skill:
    """One capability of a pack. `folder` is its directory inside the pack, POSIX, empty for the pack's top.

    A SKILL.md and a skill.json of one name in one folder are one skill with both sides.
    """

    name: str
    kind: Kind
    description: str
    folder: str = ""
    skill_class: SkillClass = SkillClass.SAFE
    scope: Scope = Scope.MANAGER
    category: str = DEFAULT_CATEGORY
    command: Command | None = None
    guide: Guide | None = None
    needs: Needs = field(default_factory=Needs)


@dataclass(frozen=True, slots=True)
class Pack:
    """What a pack says of itself, with its skills. `version` is None where neither the pack nor the caller gave one.

    `kind` is the row of the closed table in `market.pack.kinds` that recognised it.
    """

    name: PackName
    version: Version | None
    kind: str
    summary: str = ""
    skills: tuple[Skill, ...] = ()
    publisher: PublisherName | None = None
    license: str = ""
    homepage: str = ""
    repository: str = ""
    keywords: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    requires: tuple[Requirement, ...] = ()
    needs: Needs = field(default_factory=Needs)


@dataclass(frozen=True, slots=True)
class Caller:
    """Who makes a call. `user_id` 0 is the system (mission D1)."""

    user_id: int
    name: str
    role: Role


@dataclass(frozen=True, slots=True)
class Call:
    """One invocation of a skill: which, with what, by whom and over which road (`http`, `cli`, `page`, `model`)."""

    key: str
    params: object
    caller: Caller
    road: str
    session_id: str = ""
    device_id: str = ""


class OutcomeKind(StrEnum):
    """How a call ended. Everything but `ok` carries an error text."""

    OK = "ok"
    FAILED = "failed"
    TIMEOUT = "timeout"
    CANCELLED = "cancelled"
    INVALID = "invalid"
    DENIED = "denied"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a call. A failing skill is an outcome, not an exception.

    `result` is the JSON value the skill printed, `result_text` its exact bytes as text (the model gets them verbatim, mission
    A12). `stderr` is the true tail of the log lines; `truncated` says that an earlier part was dropped.
    """

    kind: OutcomeKind
    result: object = None
    result_text: str = ""
    error: str = ""
    duration_ms: float = 0.0
    stderr: str = ""
    truncated: bool = False
    exit_code: int | None = None
