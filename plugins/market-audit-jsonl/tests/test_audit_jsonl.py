"""Everything that happens is one line, whole and readable."""

from __future__ import annotations

import json
import multiprocessing
import stat
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from market.model import Call, Caller, Kind, Outcome, OutcomeKind, Pack, Role, Skill, State
from market.names import PackName, parse_version
from market.plugins.find import check_plugin, make_manager
from market.registry.live import LiveSkill
from market_audit_jsonl import plugin
from market_audit_jsonl.lines import MAX_TEXT_CHARACTERS, append_line

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
ADA = Caller(7, "ada", Role.USER)
SKILL = Skill("one", Kind.COMMAND, "Does. Use it.")
TARGET = LiveSkill(
    "one", SKILL, "a-pack", "1.0", State.LIVE, "/r", "/r/a-pack", 1, 2, tree_digest="sha256:1", publisher="acme"
)
PACK = Pack(PackName("a-pack"), parse_version("1.0"), "skill")
README = (Path(__file__).parents[1] / "README.md").read_text()


@pytest.fixture
def lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    path = tmp_path / "home" / "audit.jsonl"
    monkeypatch.setenv("MARKET_HOME", str(path.parent))
    monkeypatch.delenv("MARKET_AUDIT_JSONL", raising=False)

    def read() -> list[dict[str, Any]]:
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        return [json.loads(line) for line in path.read_text().splitlines()]

    return read


def do_everything() -> None:
    plugin.pack_installed(PACK, "acme", "http://index", "/r", "upgraded", "0.9", ADA, NOW)
    plugin.skill_ran(
        TARGET,
        Call("one", {}, ADA, "http", "s1"),
        '{"a": 1}',
        Outcome(OutcomeKind.OK, exit_code=0, duration_ms=1.5),
        NOW,
    )
    plugin.skill_ran(
        None, Call("no\nthing", {}, ADA, "cli"), "{}", Outcome(OutcomeKind.UNKNOWN, error="there is none"), NOW
    )
    plugin.pack_removed("a-pack", "1.0", "/r", ADA, NOW)
    plugin.release_published(PACK, "acme", "a-pack-1.0.zip", "sha256:1", NOW)
    plugin.release_yanked("a-pack", "1.0", "acme", "leaks", False, NOW)
    plugin.release_yanked("a-pack", "1.0", "acme", "", True, NOW)


def test_its_hooks_are_hooks_of_market() -> None:
    hooks = {one.hook for one in check_plugin(make_manager(), "x", plugin)}
    assert hooks == {"pack_installed", "pack_removed", "skill_ran", "release_published", "release_yanked"}


def test_everything_is_one_line(lines: Any) -> None:
    do_everything()
    found = lines()
    assert [line["event"] for line in found] == ["install", "run", "run", "remove", "publish", "yank", "unyank"]
    assert {line["at"] for line in found} == {NOW.isoformat()}
    assert found[0] == {
        "event": "install", "at": NOW.isoformat(), "pack": "a-pack", "version": "1.0", "old_version": "0.9", "action": "upgraded",
        "publisher": "acme", "origin": "http://index", "root": "/r", "caller": "ada", "caller_id": 7, "role": "user",
    }  # fmt: skip
    assert (found[1]["key"], found[1]["class"], found[1]["publisher"], found[1]["outcome"], found[1]["arguments"]) == (
        "one", "safe", "acme", "ok", '{"a": 1}',
    )  # fmt: skip
    assert (found[2]["key"], found[2]["pack"], found[2]["error"]) == ("no\nthing", "", "there is none")


def test_the_page_names_every_field(lines: Any) -> None:
    do_everything()
    for line in lines():
        row = next(row for row in README.splitlines() if row.startswith("|") and f"`{line['event']}`" in row)
        assert set(line) - {"event", "at"} <= set(row.split("|")[2].replace("`", "").split()), line["event"]


def test_long_texts_are_cut_and_it_is_said(lines: Any) -> None:
    long = "x" * (MAX_TEXT_CHARACTERS + 5)
    plugin.skill_ran(TARGET, Call("one", {}, ADA, "cli"), long, Outcome(OutcomeKind.FAILED, error=long), NOW)
    (line,) = lines()
    assert line["arguments"].endswith("x... (5 characters more)")
    assert len(line["error"]) < MAX_TEXT_CHARACTERS + 40


def _write_many(path: Path, number: int) -> None:
    for count in range(200):
        append_line(path, {"number": number, "count": count, "filling": "y" * 3000})


def test_processes_share_a_file_without_mixing_lines(tmp_path: Path) -> None:
    path = tmp_path / "shared.jsonl"
    with multiprocessing.get_context("spawn").Pool(3) as processes:
        processes.starmap(_write_many, [(path, number) for number in range(3)])
    found = [json.loads(line) for line in path.read_text().splitlines()]
    assert len(found) == 600
    assert {(line["number"], line["count"]) for line in found} == {(a, b) for a in range(3) for b in range(200)}


def test_a_file_that_can_not_be_written_is_an_error_with_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MARKET_AUDIT_JSONL", str(tmp_path))
    with pytest.raises(Exception, match=str(tmp_path)):
        plugin.pack_removed("a-pack", "1.0", "/r", ADA, NOW)
