"""doctor: every finding, its fix, and what --fix does and leaves alone."""

from __future__ import annotations

import json
import os
import shutil
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from market.errors import Unavailable
from market.installer import doctor
from tests.cli.shell import NOW
from tests.client.server import Answer, serve
from tests.factories import a_skill_md
from tests.registry.trees import write_tree
from tests.wheels import wheel_files

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.cli.shell import Shell


TWO = b"name: two\nversion: 1.0.0\nsummary: x\nlicense: MIT\n"


@pytest.fixture
def used(shell: Shell) -> Shell:
    shell.pack()
    shell("install", "./my-pack")
    shell.pack(version="2.0.0")
    shell("install", "./my-pack")
    assert shell("doctor").out == f"nothing is wrong (looked at {shell.root})\n"
    return shell


def found(shell: Shell, *arguments: str) -> dict[str, str]:
    ran = shell("doctor", *arguments, "--json", expect=None)
    rows = ran.json["items"]
    assert all(row["text"] and row["fix"] and row["place"] for row in rows)
    assert ran.code == (4 if ran.json["errors"] else 0)
    return {row["rule"]: "fixed" if row["fixed"] else row["severity"] for row in rows}


def state_of(shell: Shell) -> Path:
    return shell.root / ".market"


def kept(shell: Shell) -> Path:
    return sorted((state_of(shell) / "archives").iterdir())[0]


SAFE: dict[str, Callable[[Shell], object]] = {
    "root-writable": lambda shell: shell.root.chmod(0o777),
    "state-mode": lambda shell: state_of(shell).chmod(0o755),
    "stage-orphan": lambda shell: (state_of(shell) / "staging" / "0123").mkdir(),
    "tree-retired": lambda shell: (state_of(shell) / "retired" / "0123-x").mkdir(),
    "file-stray": lambda shell: (state_of(shell) / "receipts" / ".my-pack.json.1234").write_text("{"),
    "archive-unnamed": lambda shell: (state_of(shell) / "archives" / f"{'0' * 64}.zip").write_text(""),
    "archive-spoilt": lambda shell: kept(shell).write_bytes(b"x"),
    "host-stale": lambda shell: _write(shell.home.running_hosts / "x.json", "{"),
    "secret-readable": lambda shell: _write(shell.home.credentials, "{}"),
}


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    path.chmod(0o644)


@pytest.mark.parametrize("rule", SAFE)
def test_what_is_safe_is_said_first_and_then_put_right(used: Shell, rule: str) -> None:
    SAFE[rule](used)
    before = used.everything()
    assert rule in found(used) and used.everything() == before
    assert "--fix does it" in used("doctor", expect=None).out
    assert found(used, "--fix")[rule] == "fixed"
    assert rule not in found(used)
    used("verify")


def test_an_interrupted_transaction_is_settled(used: Shell) -> None:
    intent = {"schema": 1, "transaction": "0123", "root": [1, 1], "forgotten": [], "moves": []}
    (state_of(used) / "intents" / "0123.json").write_text(json.dumps(intent))
    assert found(used) == {"intent-open": "warning"}
    assert found(used, "--fix") == {"intent-open": "fixed"}
    assert os.listdir(state_of(used) / "intents") == []


TOLD: dict[str, tuple[str, Callable[[Shell], object]]] = {
    "tree-missing": ("error", lambda shell: (shell.root / "my-pack").rename(shell.folder / "gone")),
    "receipt-broken": ("error", lambda shell: (state_of(shell) / "receipts" / "my-pack.json").write_text("{")),
    "tree-edited": ("warning", lambda shell: (shell.root / "my-pack" / "mine.txt").write_text("mine")),
    "archive-gone": ("warning", lambda shell: shutil.rmtree(state_of(shell) / "archives")),
    "tree-unmanaged": ("note", lambda shell: (shell.root / "dropped").mkdir()),
    "backups": ("note", lambda shell: (state_of(shell) / "backups" / "my-pack-1").mkdir(parents=True)),
    "unreadable": ("error", lambda shell: (state_of(shell) / "pins.json").write_text("{")),
    "pin-idle": ("note", lambda shell: shell("pin", "other", "--version", "1", "--reason", "x")),
}


@pytest.mark.parametrize("rule", TOLD)
def test_what_is_somebodys_own_is_told_and_left_alone(used: Shell, rule: str) -> None:
    severity, spoil = TOLD[rule]
    spoil(used)
    assert found(used)[rule] == severity
    before = used.everything()
    assert found(used, "--fix")[rule] == severity
    assert used.everything() == before


def test_an_unreadable_intent_is_told_and_other_roots_are_repaired_all_the_same(used: Shell) -> None:
    used("install", "./my-pack", "--root", "other")
    (state_of(used) / "intents" / "0123.json").write_text("{")
    (used.folder / "other").chmod(0o777)
    ran = used("doctor", "--fix", "--root", str(used.root), "--root", "other", "--json", expect=4)
    assert {(row["rule"], row["fixed"]) for row in ran.json["items"]} == {
        ("unreadable", False),
        ("root-writable", True),
    }


def test_places_of_roots(used: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    inner = used.root / "inner"
    inner.mkdir()
    (used.folder / "link").symlink_to(used.root)
    ran = used("doctor", "--root", "link", "--root", str(inner), "--json")
    assert {"root-link", "root-inside"} <= {row["rule"] for row in ran.json["items"]}
    monkeypatch.setattr(doctor, "MIN_FREE_BYTES", 1 << 62)
    assert found(used)["disk-full"] == "warning"
    state_of(used).rename(used.folder / "elsewhere")
    state_of(used).symlink_to(used.folder / "elsewhere")
    assert found(used)["state-link"] == "error"


def test_indexes_and_their_clocks(used: Shell) -> None:
    used.index.clock = NOW - timedelta(seconds=30)
    assert found(used) == {}
    used.index.clock = NOW + timedelta(hours=2)
    assert "is 7200 s behind the index's" in used("doctor").out
    used.index.refuse_next = Unavailable("the index can't be reached", hint="start it")
    assert found(used) == {"index-silent": "warning"}
    used.index.refuse_next = Unavailable("the index can't be reached")
    assert found(used, "--offline") == {} and used.index.refuse_next is not None


def test_hosts_that_do_not_show_what_stands_there(used: Shell) -> None:
    status = [200]
    with serve(lambda _: Answer(status[0], b'{"items": [], "total": 0}')) as host:
        note = {"pid": os.getpid(), "url": host.url, "roots": [str(used.root)]}
        _write(used.home.running_hosts / f"{os.getpid()}.json", json.dumps(note))
        assert found(used) == {"host-behind": "error"}
        status[0] = 500
        assert found(used) == {"host-silent": "warning"}


@pytest.mark.parametrize(
    ("target", "content", "severity", "why"),
    [
        (
            "opencode",
            b"---\ndescription: x\n---\n",
            "warning",
            "opencode 1.18.33 drops the skill greet: name is missing",
        ),
        ("codex", b"no front matter", "warning", "it doesn't start with ---"),
        ("claude", b"no front matter", "note", "opencode 1.18.33 drops the skill greet"),
        ("openclaw", a_skill_md("greet", body="x" * 256_001), "warning", "OpenClaw drops the skill greet: it has more"),
        ("claude", None, "warning", "claude-code 2.1.332 drops the skill greet: it has no SKILL.md"),
    ],
)
def test_what_another_program_would_drop(
    shell: Shell, target: str, content: bytes | None, severity: str, why: str
) -> None:
    shell.environ["HOME"] = str(shell.folder / "person")
    shell.pack(
        "two", {"pack.yaml": TWO, "skills/greet/SKILL.md": a_skill_md("greet"), "skills/a/SKILL.md": a_skill_md("a")}
    )
    shell("install", "./two", "--target", target)
    assert found(shell) == {}
    (guide,) = (shell.folder / "person").rglob("greet/SKILL.md")
    guide.unlink()
    if content is not None:
        guide.write_bytes(content)
    rows = [row for row in shell("doctor", "--json").json["items"] if row["rule"] == "client-drops-skill"]
    assert any(row["severity"] == severity and why in row["text"] for row in rows)
    assert {row["place"] for row in rows} == {str(guide)} and all("verify --accept greet" in row["fix"] for row in rows)
    (guide.parents[1] / "mine").mkdir()
    assert "client-drops-skill" in found(shell, "--fix")


def test_a_folder_that_no_program_reads_is_held_against_nothing(shell: Shell) -> None:
    shell.environ["HOME"] = str(shell.folder / "person")
    shell.pack("greet", {"SKILL.md": a_skill_md("greet")})
    shell("install", "./greet", "--target", "openclaw", "--scope", "project")
    (shell.folder / "skills").rename(shell.folder / "elsewhere")
    (shell.folder / "elsewhere/greet/SKILL.md").write_bytes(b"x" * 300_000)
    rows = shell("doctor", "--root", "elsewhere", "--json").json["items"]
    assert [row["rule"] for row in rows] == ["tree-edited", "skill-not-loaded"]


@pytest.mark.parametrize(
    ("state", "more", "severity", "said"),
    [
        ("live", {}, "", ""),
        ("edited", {}, "", ""),
        (
            "ineligible",
            {"problems": [{"text": "ffmpeg is missing"}]},
            "warning",
            "(state ineligible): ffmpeg is missing",
        ),
        ("held", {}, "warning", "is not live (state held)"),
        ("shadowed", {"shadowed_by": "other:my_pack"}, "warning", "other:my_pack has its name"),
        ("disabled", {}, "note", "is not live (state disabled)"),
        ("invalid", {"problems": [{"text": "the code is gone"}]}, "warning", "is not live (state invalid): the code is gone"),
        ("new-word", {}, "warning", "(state new-word)"),
    ],
)
def test_a_host_that_does_not_show_a_skill_as_live(
    used: Shell, state: str, more: dict[str, object], severity: str, said: str
) -> None:
    row = {
        "key": "my_pack",
        "name": "my_pack",
        "description": "",
        "class": "safe",
        "kind": "command",
        "pack": "my-pack",
    }
    row |= {"version": "2.0.0", "state": state, "root": str(used.root)}
    with serve(lambda _: Answer(200, json.dumps({"items": [{**row, **more}], "total": 1}).encode())) as host:
        note = {"pid": os.getpid(), "url": host.url, "roots": [str(used.root)]}
        _write(used.home.running_hosts / f"{os.getpid()}.json", json.dumps(note))
        assert found(used) == ({"host-does-not-show": severity} if severity else {})
        assert said in used("doctor").out


def test_a_pack_that_does_not_load_is_not_shown_by_the_host(used: Shell) -> None:
    (used.root / "my-pack" / "skill.json").write_text("{")
    with serve(lambda _: Answer(200, b'{"items": [], "total": 0}')) as host:
        note = {"pid": os.getpid(), "url": host.url, "roots": [str(used.root)]}
        _write(used.home.running_hosts / f"{os.getpid()}.json", json.dumps(note))
        assert found(used)["host-does-not-show"] == "error"
    (row,) = [one for one in used("doctor", "--json").json["items"] if one["rule"] == "skill-not-loaded"]
    assert (row["severity"], row["place"]) == ("warning", str(used.root / "my-pack"))
    assert row["text"].startswith(f"{used.root}/my-pack/skill.json of my-pack 2.0.0 doesn't load: line 1: ")


def test_a_broken_plugin_pack_of_the_environment_is_told(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    site = shell.folder / "site-packages"
    write_tree(site, {path: body for path, body in wheel_files().items() if not path.endswith("/METADATA")})
    monkeypatch.syspath_prepend(str(site))
    place = str(site / "demo_pack-1.0.0.dist-info")
    (row,) = shell("doctor", "--json").json["items"]
    assert (row["rule"], row["severity"], row["place"]) == ("skill-not-loaded", "warning", place)
    assert row["text"].startswith("demo-pack 1.0.0 doesn't load: its METADATA is missing") and "uninstall it" in row["fix"]
    (listed,) = shell("list", "--json").json["items"]
    assert (listed["name"], listed["state"], listed["path"]) == ("demo-pack", "invalid", place)


def test_a_home_without_anything_is_healthy(shell: Shell) -> None:
    assert "nothing is wrong (looked at no root" in shell("doctor", "--fix").out
    assert not shell.home.path.exists()
