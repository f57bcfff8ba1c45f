"""Front matter as other programs' YAML readers see it: which kind each value has for them, and what some of them refuse.

One pass over libyaml's events; nothing is expanded. Our own reading, where every scalar stays text, is `market.pack.yaml_text`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import yaml

from market.pack.yaml_text import MAX_NODES, MAX_YAML_CHARACTERS

if TYPE_CHECKING:
    from collections.abc import Mapping

_Parser: Any = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
_STANDARD = "tag:yaml.org,2002:"

_CORE_NULL = re.compile(r"|~|null|Null|NULL")
_CORE_OTHER = re.compile(
    r"true|True|TRUE|false|False|FALSE|0o[0-7]+|0x[0-9a-fA-F]+|[-+]?[0-9]+|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)"
    r"|[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?"
)
# What js-yaml adds to the core schema: dates, binary numbers, underscores; its third version also numbers to base 60.
_DATE = re.compile(
    r"\d{4}-\d\d-\d\d|\d{4}-\d\d?-\d\d?(?:[Tt]|[ \t]+)\d\d?:\d\d:\d\d(?:\.\d*)?(?:[ \t]*(?:Z|[-+]\d\d?(?::\d\d)?))?"
)
_JS_NUMBER = re.compile(r"[-+]?0b[01_]+|[-+]?[0-9][0-9_]*(?:\.[0-9_]*)?(?:[eE][-+]?[0-9]+)?")
_BASE_60 = re.compile(r"[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?")


@dataclass(frozen=True, slots=True)
class Node:
    """One value. `kind` is `scalar`, `list` or `mapping`; `items` are a list's values, or a mapping's keys and values in turn."""

    kind: str
    text: str = ""
    is_plain: bool = False
    tag: str = ""
    column: int = 0
    items: tuple[Node, ...] = ()

    @property
    def fields(self) -> Mapping[str, Node]:
        """A mapping's values by key; of a repeated key the last, as most readers take it."""
        pairs = zip(self.items[::2], self.items[1::2], strict=True) if self.kind == "mapping" else ()
        return {key.text: value for key, value in pairs if key.kind == "scalar"}


@dataclass(frozen=True, slots=True)
class ClientYaml:
    """One document. `fault` is not empty where it isn't YAML; `traits` are things that some readers refuse.

    The traits: `tag`, `foreign-tag`, `anchor`, `flow`, `repeat` (of a key), `uneven` (mappings beside each other that
    start in different columns), `odd-key`.
    """

    root: Node | None = None
    fault: str = ""
    traits: frozenset[str] = frozenset()

    @property
    def fields(self) -> Mapping[str, Node]:
        """The fields of the top mapping."""
        return self.root.fields if self.root else {}


def read_client_yaml(text: str) -> ClientYaml:
    """Read a document; nothing is raised. Limits are those of `market.pack.yaml_text`."""
    if len(text) > MAX_YAML_CHARACTERS:
        return ClientYaml(fault="it is too long")
    builder = _Builder()
    try:
        for event in yaml.parse(text, Loader=_Parser):
            builder.take(event)
    except yaml.MarkedYAMLError as error:
        return ClientYaml(fault=error.problem or error.context or "it can't be read")
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        return ClientYaml(fault=str(error).partition("\n")[0] or "it can't be read")
    return ClientYaml(builder.root, "", frozenset(builder.traits))


def kind_for_core(node: Node) -> str:
    """Return a scalar's kind for a reader of YAML 1.2's core schema: `text`, `null`, `other`; else `list` or `mapping`."""
    if (kind := _kind_without_schema(node)) is not None:
        return kind
    return "null" if _CORE_NULL.fullmatch(node.text) else "other" if _CORE_OTHER.fullmatch(node.text) else "text"


def kind_for_js(node: Node, *, base_60: bool = False) -> str:
    """Return a scalar's kind for js-yaml: `text`, `null`, `date`, `other`; else `list` or `mapping`."""
    kind = kind_for_core(node)
    if kind != "text" or not node.is_plain:
        return kind
    if _DATE.fullmatch(node.text):
        return "date"
    return "other" if _JS_NUMBER.fullmatch(node.text) or (base_60 and _BASE_60.fullmatch(node.text)) else "text"


def kind_for_pyyaml(node: Node) -> str:
    """Return a scalar's kind for PyYAML (YAML 1.1): `text`, `null`, `other`; else `list` or `mapping`."""
    if (kind := _kind_without_schema(node)) is not None:
        return kind
    for tag, pattern in yaml.SafeLoader.yaml_implicit_resolvers.get(node.text[:1], []):
        if pattern.match(node.text):
            return "null" if tag.endswith(":null") else "other"
    return "text"


def _kind_without_schema(node: Node) -> str | None:
    if node.kind != "scalar":
        return node.kind
    if node.tag:
        return "other" if node.tag in (f"{_STANDARD}{name}" for name in ("int", "float", "bool", "null")) else "text"
    return None if node.is_plain else "text"


@dataclass
class _Open:
    """A list or mapping whose end hasn't come."""

    kind: str
    column: int
    anchor: str | None
    items: list[Node] = field(default_factory=list)


class _Builder:
    """Turns events into nodes; an alias is the node that it names."""

    def __init__(self) -> None:
        self.root: Node | None = None
        self.traits: set[str] = set()
        self._open: list[_Open] = []
        self._anchors: dict[str, Node] = {}
        self._count = 0

    def take(self, event: yaml.Event) -> None:
        """Add one event. Raises `ValueError` over a limit, for an alias of nothing, and for a second document."""
        if isinstance(event, yaml.ScalarEvent):
            self._note(event)
            plain = event.style is None or event.style == ""
            self._add(Node("scalar", event.value, plain, event.tag or ""), event.anchor)
        elif isinstance(event, yaml.SequenceStartEvent | yaml.MappingStartEvent):
            self._note(event)
            self.traits.update(["flow"] if event.flow_style else [])
            kind = "list" if isinstance(event, yaml.SequenceStartEvent) else "mapping"
            column = event.start_mark.column if event.start_mark else 0
            self._open.append(_Open(kind, column, event.anchor))
        elif isinstance(event, yaml.SequenceEndEvent | yaml.MappingEndEvent):
            ended = self._open.pop()
            if ended.kind == "mapping":
                self._check_mapping(ended)
            self._add(Node(ended.kind, column=ended.column, items=tuple(ended.items)), ended.anchor)
        elif isinstance(event, yaml.AliasEvent):
            self.traits.add("anchor")
            if event.anchor not in self._anchors:
                raise ValueError(f"the alias {event.anchor!r} names nothing")
            self._add(self._anchors[event.anchor], None)

    def _note(self, event: Any) -> None:
        self._count += 1
        if self._count > MAX_NODES:
            raise ValueError("it has too many values")
        if event.anchor:
            self.traits.add("anchor")
        if event.tag:
            self.traits.add("tag")
            if event.tag != "!" and not re.fullmatch(
                rf"{_STANDARD}(?:str|int|float|bool|null|seq|map|timestamp|binary)", event.tag
            ):
                self.traits.add("foreign-tag")

    def _add(self, node: Node, anchor: str | None) -> None:
        if anchor:
            self._anchors[anchor] = node
        if self._open:
            self._open[-1].items.append(node)
        elif self.root is not None:
            raise ValueError("it holds a second document")
        else:
            self.root = node

    def _check_mapping(self, mapping: _Open) -> None:
        keys, values = mapping.items[::2], mapping.items[1::2]
        names = [key.text for key in keys if key.kind == "scalar"]
        if len(names) != len(keys):
            self.traits.add("odd-key")
        if len(set(names)) != len(names):
            self.traits.add("repeat")
        if len({value.column for value in values if value.kind == "mapping"}) > 1:
            self.traits.add("uneven")
