"""Cases of authors: text that Windows wrote, YAML that means something else, broken siblings, names, spellings of file names."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

import pytest

from market.model import State
from tests.cases.road import described, short, skill_md
from tests.factories import a_skill_json
from tests.pack.foreign_makers import python_zip

if TYPE_CHECKING:
    from tests.cases.road import Road

TEXT = "Formats dates. Use when a date is ambiguous."
BOM = b"\xef\xbb\xbf"


@pytest.mark.parametrize("name", ["bom", "crlf", "bom-crlf", "bom-json"])
def test_bom_crlf_frontmatter(road: Road, name: str) -> None:
    if name == "bom-json":
        content = BOM + a_skill_json(name="bom_json", description=TEXT).replace(b"\n", b"\r\n")
        road.put(f"{name}/run.sh", "#!/bin/sh\ncat >/dev/null\necho '{}'\n", executable=True)
        file = road.put(f"{name}/skill.json", content)
    else:
        content = skill_md(name, TEXT).encode()
        content = content.replace(b"\n", b"\r\n") if "crlf" in name else content
        content = BOM + content if "bom" in name else content
        file = road.put(f"{name}/SKILL.md", content)
    path = f"./{name}"
    assert described(road.folder / name) == TEXT
    assert road.check(path, "--version", "1.0.0")["publishable"]
    assert road.publish(path)["status"] == "published"
    road.shell("install", name)
    assert road.installed()[f"{name}/{file.name}"].read_bytes() == content
    (live,) = road.skills()
    assert (live.skill.description, live.state) == (TEXT, State.LIVE)
    archive = road.shell("archive", path, "--version", "1.0.0", "--json").json["path"]
    assert road.upload((road.folder / archive).read_bytes(), name).status == 201
    assert road.index.get(f"/v1/packs/{name}/1.0.0/index.json").json["skills"][0]["description"] == TEXT


@pytest.mark.parametrize(
    ("name", "written", "kept", "rule"),
    [
        (
            "colon",
            "Records what is staged: it never edits code.",
            "Records what is staged: it never edits code.",
            "yaml-repaired",
        ),
        ("bracket", "[beta] Reviews a diff, then reports.", "[beta] Reviews a diff, then reports.", "yaml-repaired"),
        ("quote", '"Fast" summary of a page', '"Fast" summary of a page', "yaml-repaired"),
        ("hash", "Answers about issue #12 and later", None, "yaml-comment"),
    ],
    ids=short,
)
def test_desc_colon_space(road: Road, name: str, written: str, kept: str | None, rule: str) -> None:
    road.put(f"{name}/SKILL.md", skill_md(name, written))
    item = road.check(f"./{name}", "--version", "1.0.0")
    (problem,) = [
        one
        for one in item["problems"]
        if one["file"] == "SKILL.md" and one["line"] == 3 and one["rule"].startswith(("yaml", "text", "front"))
    ] or [{}]
    assert problem, item["problems"]
    assert problem["severity"] == "warning" and problem["column"] and problem["fix"]
    expected = kept or "Answers about issue"
    assert described(road.folder / name) == expected
    assert road.publish(f"./{name}")["problems"] != []
    road.shell("install", name)
    (live,) = road.skills()
    assert live.skill.description == expected
    if kept is None:
        assert "#12" in problem["text"]


def test_desc_colon_space_fixed(road: Road) -> None:
    text = "Records what is staged: it never edits code."
    road.put("fixed/a/SKILL.md", skill_md("a", f'"{text}"'))
    road.put(
        "fixed/b/SKILL.md",
        "---\nname: b\ndescription: >-\n  Records what is staged: it never\n  edits code.\n---\n\n# b\n",
    )
    road.publish("./fixed")
    road.shell("install", "fixed")
    assert {live.skill.description for live in road.skills()} == {text}


def test_one_bad_sibling(road: Road) -> None:
    root = "root"
    road.put(f"{root}/good-one/SKILL.md", skill_md("good-one"))
    road.put(f"{root}/good-two/SKILL.md", skill_md("good-two"))
    road.put(f"{root}/bad-yaml/SKILL.md", "---\nname: bad-yaml\ndescription: [unclosed\n---\n\nx\n")
    road.put(f"{root}/bad-empty/SKILL.md", b"")
    road.put(f"{root}/bad-bytes/SKILL.md", b"---\nname: bad-bytes\ndescription: caf\xe9 \xff\xfe\n---\n")
    road.put(f"{root}/bad-nofence/SKILL.md", "# Just a heading\n\nNo front matter.\n")
    (road.folder / root / "bad-dir" / "SKILL.md").mkdir(parents=True)
    registry = road.registry(road.folder / root)
    for _ in range(3):
        assert {skill.key for skill in registry.snapshot.skills.values()} >= {"good-one", "good-two"}
        registry.rescan()
    item = road.check(f"./{root}", "--version", "1.0.0")
    assert not item["publishable"] and {skill["name"] for skill in item["skills"]} >= {"good-one", "good-two"}
    for bad in ("bad-empty", "bad-bytes", "bad-nofence", "bad-dir"):
        found = [one for one in item["problems"] if one["file"].startswith(f"{bad}/") and one["severity"] == "error"]
        assert len(found) == 1, (bad, found)
    assert any(one["file"].startswith("bad-yaml/") for one in item["problems"])
    road.refused(f"./{root}", "--version", "1.0.0")


def test_yaml_types_and_tags_as_text(road: Road) -> None:
    front = "name: 2024\nversion: 1.10\ndescription: yes\nlicense: no\nmetadata:\n  released: 2024-01-15\n  build: 0x1F\n  octal: 010\n  empty: ~\n"
    road.put("types/SKILL.md", f"---\n{front}---\n\nx\n")
    item = road.check("./types")
    assert (item["name"], item["version"]) == ("2024", "1.10")
    road.shell("publish", "./types")
    release = road.shell("show", "2024", "--json").json["release"]
    assert (release["name"], release["version"]) == ("2024", "1.10")
    assert release["skills"][0]["description"] == "yes"


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("tag-exec", "description: !!python/object/apply:os.system ['touch PWNED']"),
        ("tag-binary", "description: !!binary aGVsbG8="),
        ("tag-own", "description: !mine x"),
        ("dup-key", "description: first\ndescription: second"),
    ],
    ids=short,
)
def test_yaml_types_and_tags_refused(road: Road, name: str, line: str) -> None:
    road.put(f"{name}/SKILL.md", f"---\nname: {name}\n{line}\n---\n\nx\n")
    road.refused(f"./{name}", "--version", "1.0.0")
    assert not list(road.folder.rglob("PWNED"))


def test_yaml_types_and_tags_alias_bomb(road: Road) -> None:
    bomb = "---\nname: alias-bomb\ndescription: x\nmetadata:\n  a0: &a0 [x,x,x,x,x,x,x,x,x]\n"
    bomb += "".join(f"  a{number}: &a{number} [{','.join([f'*a{number - 1}'] * 9)}]\n" for number in range(1, 10))
    road.put("alias-bomb/SKILL.md", f"{bomb}---\n\nx\n")
    started = time.process_time()
    road.refused("./alias-bomb", "--version", "1.0.0")
    assert time.process_time() - started < 2.0
    road.put(
        "merge/SKILL.md",
        "---\nbase: &b\n  license: MIT\nname: merge\ndescription: Uses a merge key\nmetadata:\n  <<: *b\n---\n\nx\n",
    )
    assert road.check("./merge", "--version", "1.0.0")["problems"]


def test_name_dir_mismatch_says_which_name_counts(road: Road) -> None:
    road.put("react-helper/SKILL.md", skill_md("acme-react-helper"))
    item = road.check("./react-helper", "--version", "1.0.0")
    texts = [one["text"] for one in item["problems"]]
    assert any("react-helper" in text and "acme-react-helper" in text for text in texts), texts
    assert item["name"] == "acme-react-helper"
    road.publish("./react-helper")
    road.shell("install", "acme-react-helper")
    assert [skill.key for skill in road.skills()] == ["acme-react-helper"]
    listed = [row["name"] for row in road.shell("list", "--json").json["items"]]
    assert listed == ["acme-react-helper"]
    road.shell("uninstall", listed[0])
    assert road.installed() == {}


@pytest.mark.parametrize(
    ("folder", "name"), [("lead", '"-lead"'), ("two--hyphens", "two--hyphens"), ("long", "n" * 65), ("empty", '""')]
)
def test_name_dir_mismatch_bad_names(road: Road, folder: str, name: str) -> None:
    road.put(f"{folder}/SKILL.md", skill_md(name))
    problems = [one for one in road.check(f"./{folder}", "--version", "1.0.0")["problems"] if "name" in one["rule"]]
    assert problems and problems[0]["file"] == "SKILL.md" and problems[0]["fix"]


def test_name_dir_mismatch_two_separators_are_one_name(road: Road) -> None:
    road.put("both/hy-phen/SKILL.md", skill_md("hy-phen"))
    road.put("both/hy_phen/skill.json", a_skill_json(name="hy_phen"))
    road.put("both/hy_phen/run.sh", "#!/bin/sh\ncat\n", executable=True)
    assert road.check("./both", "--version", "1.0.0")["problems"], "two names that differ in the separator only"


def test_name_dir_mismatch_two_separators_are_not_registered_both(road: Road) -> None:
    """From two packs: as with equal names, the second is shadowed, and callable under its qualified key only."""
    road.put("one/SKILL.md", skill_md("hy-phen"))
    road.put("two/skill.json", a_skill_json(name="hy_phen"))
    road.put("two/run.sh", "#!/bin/sh\ncat\n", executable=True)
    for pack in ("one", "two"):
        road.shell("install", f"./{pack}", "--name", pack, "--version", "1.0.0")
    states = {skill.key: (skill.state, skill.shadowed_by) for skill in road.skills()}
    assert states == {
        "hy-phen": (State.LIVE, ""),
        "two:hy_phen": (State.SHADOWED, f"{road.shell.root}/one/SKILL.md"),
    }
    road.shell("uninstall", "one")
    assert {skill.key: skill.state for skill in road.skills()} == {"hy_phen": State.LIVE}


def test_name_dir_mismatch_a_root_level_guide_has_its_own_name(road: Road) -> None:
    road.put("root-level.zip", python_zip({"SKILL.md": skill_md("root-level").encode(), "references/a.md": b"a\n"}))
    shown = road.shell("install", "root-level.zip", "--version", "1.0.0", "--json").json["items"][0]
    assert shown["name"] == "root-level"
    assert [skill.key for skill in road.skills()] == ["root-level"]


@pytest.mark.parametrize("spelling", ["skill.md", "SKILL.MD", "Skill.md"])
def test_filename_case(road: Road, spelling: str) -> None:
    road.put(f"one/{spelling}", skill_md("one"))
    item = road.check("./one", "--version", "1.0.0")
    assert any("SKILL.md" in one["text"] + one["fix"] + one["reason"] for one in item["problems"])
    with_publish = road.shell("publish", "./one", "--version", "1.0.0", expect=None).code
    assert (with_publish == 0) == item["publishable"]


def test_filename_case_two_spellings_and_a_near_miss(road: Road) -> None:
    road.put("both/SKILL.md", skill_md("both", "The first."))
    road.put("both/skill.md", skill_md("both", "The second."))
    if len(os.listdir(road.folder / "both")) == 2:
        assert "path-collision" in road.rules("./both", "--version", "1.0.0")
        road.refused("./both", "--version", "1.0.0")
    road.put("plural/SKILLS.md", skill_md("plural"))
    item = road.check("./plural", "--version", "1.0.0")
    assert any("did you mean" in one["text"] for one in item["problems"])
