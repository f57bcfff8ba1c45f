"""What six programs say of a SKILL.md, each by its own published rules: a function returns why it refuses the file, or nothing.

Which programs, in which versions, and what a set of verdicts means is in `market.pack.clients`.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from market.pack.client_yaml import ClientYaml, kind_for_core, kind_for_js, kind_for_pyyaml, read_client_yaml
from market.pack.guide_fields import RULE_FIELDS

if TYPE_CHECKING:
    from market.pack.client_yaml import Node

MAX_NAME = 64
MAX_DESCRIPTION = 1024
MAX_COMPATIBILITY = 500
MAX_CONDITIONS, MAX_CONDITION = 5, 200

_BOM = "\ufeff"
_NPX_FENCES = re.compile(r"\ufeff?---\r?\n([\s\S]*?)\r?\n---\r?\n?[\s\S]*\Z")
_OPENCODE_FENCES = re.compile(r"---\r?\n([\s\S]*?)\r?\n---")
_LEADING_TABS = re.compile(r"^\t+", re.MULTILINE)  # its js-yaml skips them without counting
_OPENCODE_FIELD = re.compile(r"([a-zA-Z_][a-zA-Z0-9_]*)\s*:\s*(.*)")
_SEMVER = re.compile(
    r"(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(?:-(?:0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*)"
    r"(?:\.(?:0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*))*)?(?:\+[0-9a-zA-Z-]+(?:\.[0-9a-zA-Z-]+)*)?"
)
_ASCII_NAME = re.compile(r"[a-z0-9](?:[a-z0-9-]*[a-z0-9])?")
# The letters of npm's skills-ref, which asks no Unicode table: Latin, Cyrillic, CJK, combining marks.
_NPM_LETTERS = re.compile("[-A-Za-z0-9\u00c0-\u024f\u0300-\u036f\u0400-\u04ff\u3400-\u4dbf\u4e00-\u9fff]*")


@dataclass(frozen=True)
class GuideText:
    """A SKILL.md as programs get it: its bytes, the folder's name and the file's own name."""

    data: bytes
    folder: str
    file: str = "SKILL.md"

    @cached_property
    def strict(self) -> str | None:
        """The text as Python reads it, a BOM kept and line ends made one; None where it isn't UTF-8."""
        try:
            return self.data.decode().replace("\r\n", "\n").replace("\r", "\n")
        except UnicodeDecodeError:
            return None

    @cached_property
    def replaced(self) -> str:
        """The text as Node reads it: what isn't UTF-8 replaced, all else kept."""
        return self.data.decode("utf-8", "replace")

    @cached_property
    def _documents(self) -> dict[str, ClientYaml]:
        return {}

    def read(self, head: str) -> ClientYaml:
        """Read a head as YAML; heads that differ in blank lines at their ends are read once."""
        plain = head.replace("\r\n", "\n").lstrip("\n").rstrip()
        if plain not in self._documents:
            self._documents[plain] = read_client_yaml(plain)
        return self._documents[plain]


def split_anywhere(text: str) -> tuple[str, str] | None:
    """Split at the first three hyphens wherever they stand, as both skills-ref and agentskills-tools do."""
    end = text.find("---", 3)
    return (text[3:end], text[end + 3 :]) if text.startswith("---") and end >= 0 else None


def judge_by_skills_ref_python(guide: GuideText) -> str:
    """skills-ref from PyPI, the reference: `python -m skills_ref.cli validate`."""
    if guide.strict is None:
        return "it is not UTF-8"
    parts = split_anywhere(guide.strict)
    if parts is None:
        return _no_fences(guide.strict)
    document = guide.read(parts[0])
    for trait, why in _STRICTYAML_REFUSES.items():
        if trait in document.traits:
            return why
    if document.fault or not document.root or document.root.kind != "mapping":
        return document.fault or "the front matter is no mapping"
    fields = document.fields
    if unknown := sorted(set(fields) - RULE_FIELDS):
        return f"unknown fields: {', '.join(unknown)}"
    name, description = (_text_or_none(fields.get(key)) for key in ("name", "description"))
    compatibility = _text_or_none(fields["compatibility"]) if "compatibility" in fields else ""
    return (
        _judge_name(name, guide.folder, python=True)
        or _judge_description(description, len(description or ""))
        or ("compatibility is no text" if compatibility is None else _judge_compatibility(len(compatibility)))
    )


def judge_by_skills_ref_npm(guide: GuideText) -> str:
    """skills-ref from npm: the same rules on another YAML reader, which makes a text of every name and description."""
    parts = split_anywhere(guide.replaced)
    if parts is None:
        return _no_fences(guide.replaced)
    document = guide.read(parts[0])
    if why := _judge_js_document(document):
        return why
    fields = document.fields
    if unknown := sorted(set(fields) - RULE_FIELDS):
        return f"unknown fields: {', '.join(unknown)}"
    name = _js_string(fields["name"]) if "name" in fields else None
    description = _js_string(fields["description"]) if "description" in fields else None
    compatibility = fields.get("compatibility")
    if compatibility is not None and kind_for_js(compatibility) != "text":
        return "compatibility is no text"
    return (
        _judge_name(name, guide.folder, python=False)
        or _judge_description(description, _js_length(description or ""))
        or _judge_compatibility(_js_length(compatibility.text) if compatibility else 0)
    )


def judge_by_agentskills_tools(guide: GuideText) -> str:
    """agentskills-tools from PyPI: `agentskills validate`. Its rules for allowed-tools and compatibility are not the reference's."""
    if guide.file != "SKILL.md":
        return "the file is not named SKILL.md"
    if guide.strict is None:
        return "it is not UTF-8"
    parts = split_anywhere(guide.strict)
    if parts is None:
        return _no_fences(guide.strict)
    document = guide.read(parts[0])
    if document.fault or "foreign-tag" in document.traits or "odd-key" in document.traits:
        return document.fault or "the front matter has a tag or a key that it doesn't read"
    if document.root and document.root.kind != "mapping":
        return "the front matter is no mapping"
    return _judge_python_fields(document, guide.folder) or ("" if parts[1].strip() else "the body is empty")


def judge_by_npx_skills(guide: GuideText) -> str:
    """`npx skills` (npm `skills`), when it installs from a folder or a repository."""
    if guide.file != "SKILL.md":
        return "the file is not named SKILL.md"
    match = _NPX_FENCES.match(guide.replaced)
    if match is None:
        return _no_fences(guide.replaced.removeprefix(_BOM))
    document = guide.read(match[1])
    if document.fault or "repeat" in document.traits:
        return document.fault or "a key stands twice"
    for key in ("name", "description"):
        node = document.fields.get(key)
        if node is None or (
            node.kind == "scalar" and kind_for_core(node) != "other" and node.text in ("", "~", "null")
        ):
            return f"{key} is missing"
        if kind_for_core(node) != "text":
            return f"{key} is no text"
    return ""


def judge_by_claude_code(guide: GuideText) -> str:
    """Claude Code: every folder with a SKILL.md is a skill; what it can't read it takes from the folder's name and the body."""
    return "" if guide.file == "SKILL.md" else "the file is not named SKILL.md"


def judge_by_opencode(guide: GuideText) -> str:
    """opencode: broken YAML is tried again with every value that holds a colon as a block of text."""
    if guide.file != "SKILL.md":
        return "the file is not named SKILL.md"
    text = guide.replaced.removeprefix(_BOM)
    head = _opencode_head(text)
    if head is None:
        return "it doesn't start with ---"
    document = guide.read(_LEADING_TABS.sub("", head))
    if _judge_js_document(document):
        document = guide.read(_LEADING_TABS.sub("", _opencode_head(_sanitise(text)) or ""))
        if why := _judge_js_document(document):
            return why
    name, description = document.fields.get("name"), document.fields.get("description")
    if name is None or kind_for_js(name, base_60=True) != "text":
        return "name is missing" if name is None else "name is no text"
    if description is not None and kind_for_js(description, base_60=True) != "text":
        return "description is no text"
    return ""


_STRICTYAML_REFUSES = {
    "tag": "it refuses tags",
    "anchor": "it refuses anchors and aliases",
    "flow": "it refuses lists and mappings in brackets",
    "repeat": "a key stands twice",
    "uneven": "mappings beside each other start in different columns",
}


def _no_fences(text: str) -> str:
    return "the front matter is never closed" if text.startswith("---") else "it doesn't start with ---"


def _text_or_none(node: Node | None) -> str | None:
    return node.text if node is not None and node.kind == "scalar" else None


def _judge_name(name: str | None, folder: str, *, python: bool) -> str:
    if name is None or not name.strip():
        return "name is missing"
    name = unicodedata.normalize("NFKC", name.strip())
    if (len(name) if python else _js_length(name)) > MAX_NAME:
        return f"name has more than {MAX_NAME} characters"
    letters_are_good = (
        all(letter.isalnum() or letter == "-" for letter in name) if python else bool(_NPM_LETTERS.fullmatch(name))
    )
    if name != name.lower() or name.startswith("-") or name.endswith("-") or "--" in name or not letters_are_good:
        return "name has other characters than lower-case letters, digits and single hyphens"
    return "" if name == unicodedata.normalize("NFKC", folder) else "name is not the folder's name"


def _judge_description(description: str | None, length: int) -> str:
    if description is None or not description.strip():
        return "description is missing"
    return f"description has more than {MAX_DESCRIPTION:,} characters" if length > MAX_DESCRIPTION else ""


def _judge_compatibility(length: int) -> str:
    return f"compatibility has more than {MAX_COMPATIBILITY} characters" if length > MAX_COMPATIBILITY else ""


def _judge_js_document(document: ClientYaml) -> str:
    if document.fault or {"foreign-tag", "repeat"} & document.traits:
        return document.fault or ("a key stands twice" if "repeat" in document.traits else "it refuses unknown tags")
    if document.root and document.root.kind != "mapping" and kind_for_js(document.root) != "null":
        return "the front matter is no mapping"
    return ""


def _js_string(node: Node) -> str:
    """Return what JavaScript's `String` makes of a value; only whether it could be a name or a description matters."""
    kind = kind_for_js(node)
    if kind == "list":
        return ",".join(_js_string(item) for item in node.items)
    forms = {"mapping": "[object Object]", "null": "null", "date": "a date"}
    return forms.get(kind, node.text.lower() if kind == "other" else node.text)


def _js_length(text: str) -> int:
    """Return how many UTF-16 units a text has, which is what JavaScript counts."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


def _judge_python_fields(document: ClientYaml, folder: str) -> str:
    fields = {key: (kind_for_pyyaml(node), node) for key, node in document.fields.items()}
    name_kind, name = fields.get("name", ("null", None))
    if name is None or name_kind == "null" or not name.text:
        return "name is missing" if name is None or name.kind == "scalar" else "name is no text"
    if name_kind != "text":
        return "name is no text"
    if len(name.text) > MAX_NAME or "--" in name.text or not _ASCII_NAME.fullmatch(name.text) or name.text != folder:
        is_good = len(name.text) <= MAX_NAME and "--" not in name.text and _ASCII_NAME.fullmatch(name.text)
        return (
            "name is not the folder's name" if is_good else "name has other characters than a-z, 0-9 and single hyphens"
        )
    kind, description = fields.get("description", ("null", None))
    if description is None or kind == "null" or (kind == "text" and not description.text):
        return "description is missing"
    if kind == "other":
        return "description is no text"
    if len(description.text) > MAX_DESCRIPTION:
        return f"description has more than {MAX_DESCRIPTION:,} characters"
    return _judge_python_options(fields)


def _judge_python_options(fields: dict[str, tuple[str, Node]]) -> str:
    wanted = {"license": "text", "compatibility": "mapping", "metadata": "mapping", "allowed-tools": "list"}
    for key, kind in {**wanted, "when_to_use": "list", "when_not_to_use": "list"}.items():
        if key in fields and fields[key][0] not in (kind, "null"):
            return f"{key} is no {kind}"
    for key in ("when_to_use", "when_not_to_use"):
        items = fields[key][1].items if key in fields else ()
        if len(items) > MAX_CONDITIONS or not all(
            kind_for_pyyaml(item) == "text" and item.text.strip() and len(item.text) <= MAX_CONDITION for item in items
        ):
            return f"{key} holds at most {MAX_CONDITIONS} short texts"
    if "version" in fields and (fields["version"][0] != "text" or not _SEMVER.fullmatch(fields["version"][1].text)):
        return "version is not a quoted semantic version"
    return ""


def _opencode_head(text: str) -> str | None:
    """Return the front matter as gray-matter cuts it; None where it sees none. A missing end means the whole file."""
    if not text.startswith("---") or text[3:4] == "-":
        return None
    rest = text[3:]
    first, newline, _ = rest.partition("\n")
    if first.strip() not in ("", "yaml", "yml"):
        return None  # the name of another language, for which it has no reader
    rest = rest[len(first) :] if newline else ""
    end = rest.find("\n---")
    return rest if end < 0 else rest[:end]


def _sanitise(text: str) -> str:
    match = _OPENCODE_FENCES.match(text)
    if match is None:
        return text
    lines: list[str] = []
    for line in re.split(r"\r?\n", match[1]):
        found = None if line.strip().startswith("#") or line[:1].isspace() else _OPENCODE_FIELD.fullmatch(line)
        value = found[2].strip() if found else ""
        if found is None or value in ("", ">", "|") or value.startswith(('"', "'")) or ":" not in value:
            lines.append(line)
        else:
            lines += [f"{found[1]}: |-", f"  {value}"]
    return text.replace(match[1], "\n".join(lines), 1)
