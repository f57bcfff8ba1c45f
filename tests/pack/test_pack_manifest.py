"""pack.yaml and the plugin manifests of others."""

from __future__ import annotations

import pytest

from market.model import Needs
from market.pack.pack_manifest import PackManifest, parse_pack_yaml, parse_plugin_json

FULL = b"""name: disk-tools
version: 1.10
summary: Looks after disks.
license: Apache-2.0
homepage: https://disks.example
repository: https://code.example/disks
keywords: [disk, clean]
categories: ops, storage
requires: ["date-kit>=1,<2", "@acme/json-kit@1.2"]
needs:
  os: [linux]
  bins: [du, find]
  env: [HOME]
  python: ">=3.11"
  hosts: [db-1]
skills: [skills/clean, skills/report]
"""


def rules(manifest: PackManifest) -> list[str]:
    return [problem.rule for problem in manifest.problems]


def test_every_field() -> None:
    manifest = parse_pack_yaml(FULL)
    assert manifest.problems == ()
    assert (manifest.name, manifest.version, manifest.summary, manifest.license) == ("disk-tools", "1.10", "Looks after disks.", "Apache-2.0")
    assert (manifest.keywords, manifest.categories) == (("disk", "clean"), ("ops", "storage"))
    assert [str(requirement) for requirement in manifest.requires] == ["date-kit<2,>=1", "@acme/json-kit@1.2"]
    assert manifest.needs == Needs(os=("linux",), bins=("du", "find"), env=("HOME",), python=">=3.11", hosts=("db-1",))
    assert manifest.skills == ("skills/clean", "skills/report")
    assert manifest.places["version"] == (2, 10)


@pytest.mark.parametrize("data", [b"", b"# nothing\n", b"---\n", b"\xef\xbb\xbf"])
def test_an_empty_manifest_says_nothing(data: bytes) -> None:
    assert parse_pack_yaml(data).problems == ()
    assert parse_pack_yaml(data).skills is None


@pytest.mark.parametrize(
    ("text", "rule", "place"),
    [
        ("name: [a]\n", "pack-manifest", (1, 7)),
        ("keywords: {a: b}\n", "pack-manifest", (1, 11)),
        ("keywords: [[a]]\n", "pack-manifest", (1, 11)),
        ("name: a\nrequires: ['b', 'c@@1']\n", "pack-manifest", (2, 17)),
        ("needs: linux\n", "pack-manifest", (1, 8)),
        ("needs:\n  os: {a: b}\n", "pack-manifest", (2, 7)),
        ("needs:\n  python: [3]\n", "pack-manifest", (2, 11)),
        ("needs:\n  binaries: [x]\n", "pack-field-unknown", (2, 13)),
        ("nmae: x\n", "pack-field-unknown", (1, 7)),
        ("- a\n", "yaml-not-mapping", (1, 1)),
        ("name: a\nname: b\n", "yaml-duplicate-key", (2, 1)),
        ("name: !!python/name:os.system\n", "yaml-tag", (1, 7)),
        ("name: 'x\n", "yaml-syntax", (1, 7)),
    ],
)
def test_faults(text: str, rule: str, place: tuple[int, int]) -> None:
    (problem,) = parse_pack_yaml(text.encode()).problems
    assert (problem.rule, (problem.line, problem.column)) == (rule, place)


def test_unknown_fields_name_the_known_ones() -> None:
    assert "summary" in parse_pack_yaml(b"sumary: x\n").problems[0].fix


def test_a_plugin_manifest_keeps_to_what_a_pack_needs() -> None:
    manifest = parse_plugin_json(b'{"id": "x", "version": "1", "author": {"name": "y"}, "mcpServers": {}, "keywords": ["k"], "skills": "./more"}', "openclaw.plugin.json")
    assert manifest.problems == ()
    assert (manifest.name, manifest.version, manifest.keywords, manifest.skills) == ("x", "1", ("k",), ("./more",))


@pytest.mark.parametrize(
    ("data", "rule", "readable"),
    [(b"{", "json-syntax", False), (b"[]", "json-not-object", False), (b'{"name": 7}', "field-shape", True), (b'{"name": "a", "skills": {}}', "field-shape", True), (b"\xff", "text-encoding", False)],
)
def test_faults_of_a_plugin_manifest(data: bytes, rule: str, readable: bool) -> None:
    manifest = parse_plugin_json(data, "f.json")
    assert rules(manifest) == [rule]
    assert manifest.is_readable is readable
