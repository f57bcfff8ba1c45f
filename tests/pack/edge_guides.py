"""SKILL.md files at the edges of the rules, and who takes each: one letter a program, a dash where it refuses.

P skills-ref (PyPI), N skills-ref (npm), T agentskills-tools, X npx skills, C Claude Code, O opencode.
`tests/pack/test_clients.py` holds our rules against this table, `tests/real/test_client_verdicts.py` the programs themselves.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

LETTERS = {
    "P": "skills-ref-python",
    "N": "skills-ref-npm",
    "T": "agentskills-tools",
    "X": "npx-skills",
    "C": "claude-code",
    "O": "opencode",
}


@dataclass(frozen=True)
class EdgeGuide:
    """One file: what is special about it, its bytes, its folder's and its own name, and who takes it."""

    id: str
    data: bytes
    takers: str
    folder: str
    file: str = "SKILL.md"

    @property
    def accepts(self) -> dict[str, bool]:
        return {client: letter in self.takers for letter, client in LETTERS.items()}


def _slug(id: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", id).strip("-")


def _guide(id: str, takers: str, head: str = "", *, folder: str = "") -> EdgeGuide:
    """A guide that is good but for its head; without a folder it lies in one named after its id, as is the skill."""
    folder = folder or _slug(id)
    name = "" if "name:" in head else f"name: {folder}\n"
    description = "" if "description:" in head else "description: Does a thing. Use when it is needed.\n"
    return EdgeGuide(id, f"---\n{name}{description}{head}---\n\nThe body.\n".encode(), takers, folder)


def _raw(id: str, takers: str, text: str | bytes, file: str = "SKILL.md") -> EdgeGuide:
    data = text.encode() if isinstance(text, str) else text
    return EdgeGuide(id, data.replace(b"EDGE", _slug(id).encode()), takers, _slug(id), file)


_GOOD = "---\nname: EDGE\ndescription: Does a thing. Use when it is needed.\n---\n\nThe body.\n"

EDGE_GUIDES = (
    _raw("good", "PNTXCO", _GOOD),
    _raw("bom", "---XCO", b"\xef\xbb\xbf" + _GOOD.encode()),
    _raw("crlf", "PNTXCO", _GOOD.replace("\n", "\r\n")),
    _raw("blank line first", "----C-", "\n" + _GOOD),
    _raw("no front matter", "----C-", "# Edge\n\nText.\n"),
    _raw("missing closing fence", "----C-", "---\nname: EDGE\ndescription: x\n\nThe body.\n"),
    _raw("missing closing fence, fields only", "----CO", "---\nname: EDGE\ndescription: x\n"),
    _raw("closing fence at the end of the file", "PN-XCO", "---\nname: EDGE\ndescription: x\n---"),
    _raw("four hyphens", "----C-", _GOOD.replace("---", "----")),
    _raw("empty file", "----C-", ""),
    _raw("latin-1", "-N-XCO", b"---\nname: EDGE\ndescription: caf\xe9\n---\nThe body.\n"),
    _raw("empty body", "PN-XCO", "---\nname: EDGE\ndescription: x\n---\n"),
    _raw("lower-case file name", "PN----", _GOOD, "skill.md"),
    _raw("a list", "----C-", "---\n- name\n- edge\n---\nThe body.\n"),
    _guide("unquoted colon", "----CO", "description: Use when: x\n"),
    _guide("quoted colon", "PNTXCO", "description: 'Use when: x'\n"),
    _guide("folded", "PNTXCO", "description: >\n  Use when\n  x: y\n"),
    _guide("literal", "PNTXCO", "description: |\n  Use when\n  x: y\n"),
    _guide("continued plain line", "PNTXCO", "description: Use when\n  it is needed\n"),
    _guide("three hyphens in a value", "PNTXCO", "description: a --- b\n"),
    _guide("three hyphens in a value, then a field", "PNTXCO", "description: a --- b\nlicense: MIT\n"),
    _guide("a tag of the standard", "-NTXCO", "description: !!str x\n"),
    _guide("a tag of another program", "---XC-", "description: !!python/object x\n"),
    _guide("a tag that builds an object", "---XCO", "description: !!python/object:os.system x\n"),
    _guide("anchor and alias", "-NTXCO", "description: &a x\nlicense: *a\n"),
    _guide("alias of nothing", "----C-", "license: *gone\n"),
    _guide("flow mapping", "-NTXCO", "metadata: {version: '1.0'}\n"),
    _guide("flow list", "-NTXCO", "allowed-tools: [Read, Bash]\n"),
    _guide("repeated key", "--T-C-", "license: a\nlicense: b\n"),
    _guide("unknown field", "--TXCO", "user-invocable: true\n"),
    _guide("version on top, quoted", "--TXCO", 'version: "1.0.0"\n'),
    _guide("version on top, a number", "---XCO", "version: 1.0\n"),
    _guide("allowed-tools as a list", "PNTXCO", "allowed-tools:\n  - Read\n  - Bash\n"),
    _guide("allowed-tools as a text", "PN-XCO", "allowed-tools: Read Bash(git:*)\n"),
    _guide("compatibility as a text", "PN-XCO", "compatibility: Needs git\n"),
    _guide("compatibility empty", "PN-XCO", 'compatibility: ""\n'),
    _guide("compatibility too long", "---XCO", f"compatibility: {'x' * 501}\n"),
    _guide("metadata, nested", "PNTXCO", "metadata:\n  version: '1'\n  more:\n    a: b\n"),
    _guide("mappings in different columns", "-NTXCO", "metadata:\n  a:\n    b: c\n  d:\n      e: f\n"),
    _guide("internal", "PNTXCO", "metadata:\n  internal: true\n"),
    _guide("description of 1,024 characters", "PNTXCO", f"description: {'x' * 1024}\n"),
    _guide("description of 1,025 characters", "---XCO", f"description: {'x' * 1025}\n"),
    _guide("description of 600 emoji", "P-TXCO", f"description: {chr(0x1F600) * 600}\n"),
    _guide("description missing", "-N--C-", "description:\n"),
    _guide("description a number", "PN--C-", "description: 12\n"),
    _guide("description an empty text", "----CO", "description: ''\n"),
    _guide("name missing", "----C-", "name:\n"),
    _guide("name a number", "PN--C-", "name: 123\n", folder="123"),
    _guide("name true", "PN--C-", "name: true\n", folder="true"),
    _guide("name null", "PN--C-", "name: null\n", folder="null"),
    _guide("name with accents", "PN-XCO", folder="café"),
    _guide("name in Chinese", "PN-XCO", folder="技能"),
    _guide("name in Cyrillic", "PN-XCO", folder="навык"),
    _guide("name in Greek", "P--XCO", folder="δεξιότητα"),
    _guide("capital letters", "---XCO", folder="Edge"),
    _guide("underscore", "---XCO", folder="under_score"),
    _guide("two hyphens", "---XCO", folder="a--b"),
    _guide("hyphen first", "---XCO", folder="-edge"),
    _guide("64 letters", "PNTXCO", folder="x" * 64),
    _guide("65 letters", "---XCO", folder="x" * 65),
    _guide("another folder", "---XCO", "name: other\n"),
    _guide("a title as a name", "---XCO", "name: Edge Case\n"),
    _guide("tab in the head", "----CO", "metadata:\n\tversion: 1\n"),
    _guide("open bracket", "----C-", "license: [unclosed\n"),
    _guide("a date", "PNTXCO", "metadata:\n  day: 2026-01-02\n"),
    _guide("version a date", "---XCO", "version: 2026-01-02\n"),
    _guide("when_to_use, six", "---XCO", "when_to_use: [a, b, c, d, e, f]\n"),
)
