"""What a pack's own manifest says, whichever of the three it is: pack.yaml, openclaw.plugin.json or .claude-plugin/plugin.json."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from market.errors import InvalidInput
from market.model import Needs
from market.names import parse_requirement
from market.pack.json_text import parse_json
from market.pack.rules import make_problem
from market.pack.text import parse_text
from market.pack.yaml_text import YamlFault, parse_yaml

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from market.errors import Problem
    from market.names import Requirement

PACK_FIELDS = (
    "name",
    "version",
    "summary",
    "license",
    "homepage",
    "repository",
    "keywords",
    "categories",
    "requires",
    "needs",
    "skills",
)
NEEDS_FIELDS = ("os", "bins", "env", "python", "hosts")


@dataclass(frozen=True, slots=True)
class PackManifest:
    """The fields of a pack's manifest; empty where it says nothing. `skills` is None where all are to be found.

    `is_readable` is False where the text is broken, so that nobody knows what it says.
    """

    file: str
    name: str = ""
    version: str = ""
    summary: str = ""
    license: str = ""
    homepage: str = ""
    repository: str = ""
    keywords: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    requires: tuple[Requirement, ...] = ()
    needs: Needs = field(default_factory=Needs)
    skills: tuple[str, ...] | None = None
    problems: tuple[Problem, ...] = ()
    places: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    is_readable: bool = True


def parse_pack_yaml(data: bytes, file: str = "pack.yaml") -> PackManifest:
    """Parse a pack.yaml, the manifest of packs that hold several skills or say more than their skills do."""
    text = parse_text(data, file)
    if text.problems:
        return _unreadable(file, *text.problems)
    try:
        yaml = parse_yaml(text.text, file)
    except YamlFault as fault:
        return _unreadable(file, make_problem("yaml-syntax", fault.text, file, fault.place))
    value = {} if yaml.value is None and not yaml.problems else yaml.value
    if not isinstance(value, dict):
        return _unreadable(
            file, *(yaml.problems or [make_problem("yaml-not-mapping", f"{file} holds no fields", file, (1, 1))])
        )
    reader = _Reader(file, value, lambda path: yaml.places.get(path, (1, 1)))
    reader.problems.extend(yaml.problems)
    return _build_from_yaml(reader)


def parse_plugin_json(data: bytes, file: str) -> PackManifest:
    """Parse the plugin manifest of Claude Code or OpenClaw, as far as a pack needs it; the rest is theirs."""
    document = parse_json(data, file)
    if document.problems:
        return _unreadable(file, *document.problems)
    if not isinstance(document.value, dict):
        return _unreadable(file, make_problem("json-not-object", f"{file} holds no object", file, (1, 1)))
    reader = _Reader(file, document.value, document.find_place, rule="field-shape")
    values = document.value
    repository = values.get("repository")
    if isinstance(repository, dict):  # npm's form: {"type": "git", "url": "..."}
        repository = repository.get("url")
    return PackManifest(
        file,
        name=reader.read_text("name") or reader.read_text("id"),
        version=reader.read_text("version"),
        summary=reader.read_text("description"),
        license=values["license"] if isinstance(values.get("license"), str) else "",
        homepage=values["homepage"] if isinstance(values.get("homepage"), str) else "",
        repository=repository if isinstance(repository, str) else "",
        keywords=reader.read_list("keywords"),
        skills=_read_plugin_skills(reader),
        problems=tuple(reader.problems),
        places=reader.find_places("name", "id", "version", "skills"),
    )


def _build_from_yaml(reader: _Reader) -> PackManifest:
    requires = reader.read_requires()
    needs = reader.read_needs()
    skills = reader.read_list("skills") if reader.values.get("skills") is not None else None
    reader.find_unknown(reader.values, PACK_FIELDS, ())
    return PackManifest(
        reader.file,
        name=reader.read_text("name"),
        version=reader.read_text("version"),
        summary=reader.read_text("summary"),
        license=reader.read_text("license"),
        homepage=reader.read_text("homepage"),
        repository=reader.read_text("repository"),
        keywords=reader.read_list("keywords"),
        categories=reader.read_list("categories"),
        requires=requires,
        needs=needs,
        skills=skills,
        problems=tuple(reader.problems),
        places=reader.find_places("name", "version", "skills"),
    )


def _unreadable(file: str, *problems: Problem) -> PackManifest:
    return PackManifest(file, problems=problems, is_readable=False)


def _read_plugin_skills(reader: _Reader) -> tuple[str, ...] | None:
    """Both ecosystems look into `skills/` by default; Claude Code adds the paths that are named."""
    value = reader.values.get("skills")
    named = (value,) if isinstance(value, str) else reader.read_list("skills")
    return tuple(path for path in named if path.strip()) or None


class _Reader:
    """Reads the fields of one mapping and collects what is wrong with them."""

    def __init__(
        self,
        file: str,
        values: dict[str, Any],
        find_place: Callable[[tuple[str | int, ...]], tuple[int, int]],
        rule: str = "pack-manifest",
    ) -> None:
        self.file = file
        self.values = values
        self.problems: list[Problem] = []
        self._find_place = find_place
        self._rule = rule

    def report(self, text: str, *path: str | int, rule: str = "", fix: str = "") -> None:
        """Add a problem at the place of a field."""
        self.problems.append(make_problem(rule or self._rule, text, self.file, self._find_place(path), fix=fix))

    def find_places(self, *keys: str) -> dict[str, tuple[int, int]]:
        """Return the places of those fields that are there."""
        return {key: self._find_place((key,)) for key in keys if key in self.values}

    def read_text(self, key: str) -> str:
        """Return a text field, empty where it is absent."""
        value = self.values.get(key)
        if value is not None and not isinstance(value, str):
            self.report(f"{key!r} is not a text", key)
        return value.strip() if isinstance(value, str) else ""

    def read_list(self, key: str, within: str = "") -> tuple[str, ...]:
        """Return a field that is a list of texts, or one text with commas."""
        values = self.values.get(within) if within else self.values
        value = values.get(key) if isinstance(values, dict) else None
        items = value.split(",") if isinstance(value, str) else value
        if items is None:
            return ()
        if not isinstance(items, list) or not all(isinstance(item, str) for item in items):
            self.report(f"{key!r} is not a list of texts", *filter(None, (within, key)))
            return ()
        return tuple(item.strip() for item in items if item.strip())

    def read_requires(self) -> tuple[Requirement, ...]:
        """Return the packs that this one needs."""
        requirements = []
        for number, text in enumerate(self.read_list("requires")):
            try:
                requirements.append(parse_requirement(text))
            except InvalidInput as error:
                self.report(error.message, "requires", number, fix=error.hint)
        return tuple(requirements)

    def read_needs(self) -> Needs:
        """Return what the pack needs from the machine."""
        needs = self.values.get("needs")
        if needs is None:
            return Needs()
        if not isinstance(needs, dict):
            self.report("'needs' is not a mapping", "needs")
            return Needs()
        self.find_unknown(needs, NEEDS_FIELDS, ("needs",))
        python = needs.get("python")
        if python is not None and not isinstance(python, str):
            self.report("'python' is not a text", "needs", "python")
        lists = {key: self.read_list(key, "needs") for key in ("os", "bins", "env", "hosts")}
        return Needs(python=python if isinstance(python, str) else "", brought=(), wanted=(), **lists)

    def find_unknown(self, values: dict[str, Any], known: tuple[str, ...], path: tuple[str, ...]) -> None:
        """Warn of fields that the format doesn't have."""
        for key in values:
            if key not in known:
                self.report(
                    f"the field {key!r} is unknown",
                    *path,
                    key,
                    rule="pack-field-unknown",
                    fix=f"the fields are {', '.join(known)}",
                )
