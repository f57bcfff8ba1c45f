"""YAML as packs use it: texts, lists, mappings, and where each stands. Every scalar stays the text that its author wrote.

So `version: 1.10` is "1.10" and `name: 2024` is "2024"; only an empty value, `~` and `null` are None. Tags are refused,
repeated keys reported, aliases bounded. Repairs of broken lines are in `market.pack.yaml_repair`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import yaml

from market.pack.rules import make_problem

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping

    from market.errors import Problem

MAX_YAML_CHARACTERS = 256 * 1024
MAX_NODES = 20_000
MAX_NESTING = 32

Place = tuple[int, int]
Path = tuple[str | int, ...]

_NULLS = frozenset({"", "~", "null", "Null", "NULL"})
_TEXT_TAGS = frozenset(
    {"!", *(f"tag:yaml.org,2002:{name}" for name in ("str", "int", "float", "bool", "null", "timestamp"))}
)
_LIST_TAG = "tag:yaml.org,2002:seq"
_MAPPING_TAG = "tag:yaml.org,2002:map"

# libyaml where PyYAML was built with it (every wheel), the same grammar in Python elsewhere.
_Parser: Any = getattr(yaml, "CBaseLoader", yaml.BaseLoader)


@dataclass(frozen=True, slots=True)
class YamlText:
    """A parsed document. `value` is None where it can't be read; `places` maps each path to its value's line and column."""

    value: Any
    places: Mapping[Path, Place] = field(default_factory=dict)
    problems: tuple[Problem, ...] = ()


class YamlFault(Exception):
    """The text isn't YAML. `place` counts from 1 within the file."""

    def __init__(self, text: str, place: Place) -> None:
        super().__init__(text)
        self.text = text
        self.place = place


def parse_yaml(text: str, file: str, first_line: int = 1) -> YamlText:
    """Parse one document that starts on `first_line` of its file; raises `YamlFault` where the syntax is broken."""
    if len(text) > MAX_YAML_CHARACTERS:
        what = f"the YAML has more than {MAX_YAML_CHARACTERS:,} characters"
        return YamlText(None, {}, (make_problem("yaml-size", what, file, (first_line, 1)),))
    try:
        root = compose_yaml(text)
    except yaml.MarkedYAMLError as error:
        mark = _choose_mark(error)
        place = (first_line, 1) if mark is None else (mark.line + first_line, mark.column + 1)
        raise YamlFault(error.problem or error.context or "it can't be read", place) from None
    except (yaml.YAMLError, RecursionError) as error:
        raise YamlFault(str(error).splitlines()[0] if str(error) else "it can't be read", (first_line, 1)) from None
    builder = _Builder(file, first_line)
    try:
        value = None if root is None else builder.build(root, (), 0)
    except _TooMuch as limit:
        builder.problems.append(make_problem("yaml-size", str(limit), file, (first_line, 1)))
        value = None
    return YamlText(value, builder.places, tuple(builder.problems))


def _choose_mark(error: yaml.MarkedYAMLError) -> yaml.Mark | None:
    """An open bracket or quote is noticed lines later; its own place is the one to correct."""
    opened, noticed = error.context_mark, error.problem_mark
    is_open = (error.context or "").startswith(("while parsing a flow", "while scanning a quoted"))
    return opened if is_open and opened and noticed and opened.line < noticed.line else noticed or opened


def compose_yaml(text: str) -> Any:
    """Return the root node of a document, or None for an empty one. Raises what PyYAML raises; limits are the caller's."""
    parser = _Parser(text)
    try:
        return parser.get_single_node()
    finally:
        parser.dispose()


class _TooMuch(Exception):
    """Aliases or nesting grew over a limit."""


class _Builder:
    """Turns nodes into values, counting them: an alias costs what it expands to."""

    def __init__(self, file: str, first_line: int) -> None:
        self.file = file
        self.first_line = first_line
        self.places: dict[Path, Place] = {}
        self.problems: list[Problem] = []
        self._count = 0

    def build(self, node: yaml.Node, path: Path, depth: int) -> Any:
        """Return a node's value; places and problems are collected on the way."""
        self._count += 1
        if self._count > MAX_NODES or depth > MAX_NESTING:
            what = f"more than {MAX_NESTING} levels" if depth > MAX_NESTING else f"more than {MAX_NODES:,} values"
            raise _TooMuch(f"the document grows to {what}")
        self.places[path] = self.place_of(node)
        if isinstance(node, yaml.ScalarNode):
            return self._build_text(node)
        if isinstance(node, yaml.SequenceNode):
            self._check_tag(node, _LIST_TAG)
            return [self.build(item, (*path, number), depth + 1) for number, item in enumerate(node.value)]
        if not isinstance(node, yaml.MappingNode):
            raise AssertionError("a node is a scalar, a sequence or a mapping")
        self._check_tag(node, _MAPPING_TAG)
        return self._build_mapping(node, path, depth)

    def place_of(self, node: yaml.Node) -> Place:
        """Return where a node starts, in its file."""
        return node.start_mark.line + self.first_line, node.start_mark.column + 1

    def _build_text(self, node: yaml.ScalarNode) -> str | None:
        if node.tag not in _TEXT_TAGS:
            self._refuse_tag(node)
            return None
        return None if not node.style and node.value in _NULLS else str(node.value)

    def _build_mapping(self, node: yaml.MappingNode, path: Path, depth: int) -> dict[str, Any]:
        values: dict[str, Any] = {}
        merged: dict[str, Any] = {}
        for key_node, value_node in node.value:
            key = key_node.value if isinstance(key_node, yaml.ScalarNode) and key_node.tag in _TEXT_TAGS else None
            if key == "<<" and not key_node.style:
                merged.update(self._build_merged(value_node, path, depth))
                continue
            if not isinstance(key, str):
                self.problems.append(
                    make_problem("yaml-key", "a key is not a text", self.file, self.place_of(key_node))
                )
            elif key in values:
                self._report_repeat(key, key_node, self.places[(*path, key)])
            else:
                values[key] = self.build(value_node, (*path, key), depth + 1)
        return {**merged, **values} if merged else values

    def _build_merged(self, node: yaml.Node, path: Path, depth: int) -> dict[str, Any]:
        parts = node.value if isinstance(node, yaml.SequenceNode) else [node]
        values = [self.build(part, (*path, "<<"), depth + 1) for part in parts]
        if not all(isinstance(value, dict) for value in values):
            self.problems.append(make_problem("yaml-key", "'<<' merges mappings only", self.file, self.place_of(node)))
            return {}
        return {key: item for value in reversed(values) for key, item in value.items()}

    def _report_repeat(self, key: Hashable, node: yaml.Node, first: Place) -> None:
        text = f"the key {key!r} stands twice (first in line {first[0]})"
        self.problems.append(make_problem("yaml-duplicate-key", text, self.file, self.place_of(node)))

    def _check_tag(self, node: yaml.Node, plain: str) -> None:
        if node.tag not in (plain, "!"):
            self._refuse_tag(node)

    def _refuse_tag(self, node: yaml.Node) -> None:
        tag = str(node.tag).replace("tag:yaml.org,2002:", "!!")
        self.problems.append(make_problem("yaml-tag", f"the tag {tag[:80]} is refused", self.file, self.place_of(node)))
