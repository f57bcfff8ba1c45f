"""Plugin packs that pip put into the environment of this Python, or into a host's: list, why, run."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

import pytest

from tests.client.server import Answer, Asked, serve
from tests.factories import RUN_SCRIPT, a_skill_json, a_skill_md
from tests.registry.trees import write_tree
from tests.wheels import a_code_wheel, a_python_skill, wheel_files, write_wheel

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.shell import Shell

CONTENT = {
    "demo_pack/greeting/SKILL.md": a_skill_md(),
    "demo_pack/echo/skill.json": a_skill_json(version=None),
    "demo_pack/echo/run.sh": RUN_SCRIPT,
    "demo_pack/skills.py": b"raise SystemExit('imported')\n",
    "demo_pack/echo_py/skill.json": a_python_skill(),
}
REASON = "the code is in Market's own environment; `market install demo-pack` gives it a process of its own"


@pytest.fixture
def site(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = shell.folder / "site-packages"
    write_tree(folder, wheel_files(CONTENT, version="2.1.0"))
    (folder / "demo_pack/echo/run.sh").chmod(0o755)
    monkeypatch.syspath_prepend(str(folder))
    return folder


def test_list_shows_it_with_where_it_is_and_what_does_not_load(shell: Shell, site: Path) -> None:
    (row,) = shell("list", "--json").json["items"]
    assert (row["name"], row["version"], row["state"], row["source"]) == ("demo-pack", "2.1.0", "unmanaged", "plugin")
    assert row["skills"] == [{"key": "echo_args", "state": "unmanaged"}, {"key": "greeting", "state": "unmanaged"}]
    assert row["not_loaded"] == [{"name": "echo_py", "reason": REASON}]
    assert row["path"] == str(site / "demo_pack")
    said = shell("list").out
    assert "environment of this Python" in said and f"demo-pack: echo_py not loaded: {REASON}" in said
    shell.root.mkdir(parents=True)
    assert "nothing is installed" in shell("list", "--root", shell.root).out, "a root that is named is all that is asked for"


def test_why_says_that_pip_put_it_there(shell: Shell, site: Path) -> None:
    said = shell("why", "demo-pack").out
    assert f"demo-pack 2.1.0 is unmanaged in {site}" in said and "pip, which put it" in said and REASON in said


def test_run_knows_its_skills(shell: Shell, site: Path, caplog: pytest.LogCaptureFixture) -> None:
    assert shell("run", "echo_args", "--args", '{"a": 1}').json == {"a": 1}
    assert f"read, not run. Read {site}/demo_pack/greeting/SKILL.md" in shell("run", "greeting", expect=2).err
    said = shell("run", "echo_py", expect=3).err
    assert "echo_py of demo-pack 2.1.0 is there (in the environment of this Python), and doesn't load" in said
    assert REASON in said and "install it first" not in said
    assert "echo_py" not in caplog.text, "of the rest of it nobody is told what doesn't load"
    assert REASON not in shell("run", "nowhere-near", expect=3).err, "what isn't asked for isn't told"
    shell.root.mkdir(parents=True)
    assert "no skill or pack" in shell("run", "echo_args", "--root", shell.root, expect=3).err


def test_what_an_installed_pack_has_is_not_missed_beside_it(shell: Shell, site: Path) -> None:
    shell("install", write_wheel(shell.folder, a_code_wheel()))
    rows = {row["source"]: row for row in shell("list", "--json").json["items"]}
    assert rows["pack"]["skills"] == [{"key": "echo_py", "state": "live"}]
    assert rows["plugin"]["not_loaded"] == [], "it would say to install what is installed"
    assert [one["key"] for one in rows["plugin"]["skills"]] == ["echo_args", "greeting"]
    assert shell("run", "echo_py", "--args", '{"a": 1}').json["version"] == "1.0.0"


@pytest.mark.parametrize("arguments", [("uninstall",), ("verify",), ("disable",), ("archive",)])
def test_what_only_pip_can_change_says_so(shell: Shell, site: Path, arguments: tuple[str, ...]) -> None:
    assert "`pip uninstall demo-pack`" in shell(*arguments, "demo-pack", expect=3).err


def test_a_root_s_manifest_that_does_not_load_is_named_with_its_reason(shell: Shell) -> None:
    shell.pack("broken", {"y/skill.json": a_skill_json(name="lost", entry="nowhere.sh"), "x/SKILL.md": a_skill_md("x")})
    shell.root.mkdir(parents=True)
    (shell.folder / "broken").rename(shell.root / "broken")
    (row,) = shell("list", "--json").json["items"]
    assert (row["source"], row["not_loaded"][0]["name"]) == ("workspace", "lost") and "nowhere.sh" in row["not_loaded"][0]["reason"]
    said = shell("run", "lost", expect=3).err
    assert f"lost of broken is there ({shell.root}/broken/y/skill.json), and doesn't load" in said


def test_what_stands_beside_a_host_is_told_with_the_host(shell: Shell) -> None:
    shared = {"description": "", "class": "safe", "pack": "far-pack", "version": "3.0", "root": "/far/site-packages", "source": "plugin"}
    live = {**shared, "key": "look", "name": "look", "kind": "guide", "state": "unmanaged"}
    lost = {**shared, "key": "calc", "name": "calc", "kind": "", "state": "invalid", "manifest": "/far/site-packages/far/calc/skill.json", "reason": REASON}

    def answer(asked: Asked) -> Answer:
        return Answer(body=json.dumps({"items": [live, lost] if "state=all" in asked.path else [live], "total": 2}).encode())

    shell.root.mkdir(parents=True)
    with serve(answer) as host:
        shell.home.running_hosts.mkdir(parents=True)
        note = {"pid": os.getpid(), "url": host.url, "roots": [str(shell.root)]}
        (shell.home.running_hosts / f"{os.getpid()}.json").write_text(json.dumps(note))
        (row,) = shell("list", "--json").json["items"]
        assert (row["name"], row["version"], row["host"], row["source"]) == ("far-pack", "3.0", host.url, "plugin")
        assert (row["skills"], row["not_loaded"]) == ([{"key": "look", "state": "unmanaged"}], [{"name": "calc", "reason": REASON}])
        assert f"environment of {host.url}" in shell("list").out
