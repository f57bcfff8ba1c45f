"""The one road: what every call goes through, and that every attempt is in the audit log."""

from __future__ import annotations

import json
import threading
import time
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest

from market.cancellation import NEVER, Cancellation
from market.disk.exchange import exchange as exchange_trees
from market.errors import InvalidInput, Problem, Severity, Unavailable
from market.model import Call, Caller, Kind, Outcome, OutcomeKind, Role, SkillClass, State
from market.run.executor import Replaced
from market.run.invoke import Invoker
from tests.run.live import a_live_skill, a_script_skill, write_script
from tests.run.test_upgrade import a_version, exchange

if TYPE_CHECKING:
    from pathlib import Path

    from market.registry.live import LiveSkill
    from market.run.audit_row import AuditRow
    from market.run.command import CommandExecutor

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


class FakeAudit:
    """Keeps rows in memory; fails where it is told to."""

    def __init__(self, *, fail_at: str = "") -> None:
        self.rows: list[AuditRow] = []
        self.begun: dict[int, AuditRow] = {}
        self.fail_at = fail_at

    def begin(self, row: AuditRow) -> int:
        if self.fail_at == "begin":
            raise Unavailable("the disk is full")
        self.begun[1] = row
        return 1

    def append(self, row: AuditRow, ticket: int | None = None) -> object:
        if self.fail_at == "append":
            raise Unavailable("the disk is full")
        if ticket is not None:
            del self.begun[ticket]
        self.rows.append(row)
        return None


class FakeExecutor:
    """Does what its function does."""

    def __init__(self, act: Any = lambda: Outcome(OutcomeKind.OK, {}, "{}")) -> None:
        self.act = act
        self.calls: list[tuple[str, str, float]] = []

    def execute(self, target: LiveSkill, args_text: str, timeout_seconds: float, cancellation: Cancellation = NEVER) -> Outcome:
        self.calls.append((target.key, args_text, timeout_seconds))
        outcome: Outcome = self.act()
        return outcome


def a_call(key: str = "tested", params: object = None, role: Role = Role.USER, road: str = "http") -> Call:
    return Call(key, params, Caller(7, "ada", role), road, "session", "device")


def an_invoker(skill: LiveSkill, executor: Any, audit: Any, **options: Any) -> Invoker:
    return Invoker({skill.key: skill}.get, {Kind.COMMAND: executor}, audit, lambda: NOW, **options)


@pytest.fixture
def unit(tmp_path: Path) -> Path:
    (tmp_path / "pack").mkdir()
    return tmp_path / "pack"


def test_a_call_is_filled_executed_and_audited(unit: Path) -> None:
    schema = {"properties": {"dry_run": {"type": "boolean", "default": True}}}
    audit, executor = FakeAudit(), FakeExecutor()
    outcome = an_invoker(a_live_skill(unit, schema=schema, timeout_seconds=12), executor, audit).invoke(a_call(params={"a": 1}))
    assert outcome.kind is OutcomeKind.OK
    assert executor.calls == [("tested", '{"a":1,"dry_run":true}', 12)]
    (row,) = audit.rows
    assert (row.tool_name, row.args_json, row.result_json, row.error, row.outcome) == ("tested", '{"a":1,"dry_run":true}', "{}", "", "ok")
    assert (row.session_id, row.device_id, row.caller_user_id, row.caller_role, row.caller_name) == ("session", "device", 7, "user", "ada")
    assert (row.started_at, row.finished_at) == (NOW.isoformat(), NOW.isoformat())
    assert row.duration_ms == outcome.duration_ms > 0
    assert (row.skill_class, row.road, row.pack, row.version) == ("safe", "http", "pack", "1.0.0")
    assert audit.begun == {}


def test_an_unknown_key_is_audited(unit: Path) -> None:
    audit = FakeAudit()
    outcome = an_invoker(a_live_skill(unit), FakeExecutor(), audit).invoke(a_call("no\ud800thing", {"a": 1}))
    assert outcome.kind is OutcomeKind.UNKNOWN
    assert (audit.rows[0].tool_name, audit.rows[0].outcome, audit.rows[0].args_json) == ("no\\ud800thing", "unknown", '{"a": 1}')


def test_invalid_arguments_are_audited_and_nothing_runs(unit: Path) -> None:
    audit, executor = FakeAudit(), FakeExecutor()
    skill = a_live_skill(unit, schema={"required": ["path"]})
    outcome = an_invoker(skill, executor, audit).invoke(a_call(params={"a": object()}))
    assert (outcome.kind, executor.calls) == (OutcomeKind.INVALID, [])
    assert "/path: is required" in outcome.error
    assert audit.rows[0].error == outcome.error


@pytest.mark.parametrize(
    ("skill_class", "role", "road"),
    [
        (SkillClass.MUTATING, Role.VIEWER, "http"),
        (SkillClass.MUTATING, Role.SYSTEM, "model"),
        (SkillClass.MUTATING, Role.ADMIN, "model"),
        (SkillClass.DANGEROUS, Role.ADMIN, "cli"),
    ],
)
def test_a_denial_is_audited_and_nothing_runs(unit: Path, skill_class: SkillClass, role: Role, road: str) -> None:
    audit, executor = FakeAudit(), FakeExecutor()
    outcome = an_invoker(a_live_skill(unit, skill_class=skill_class), executor, audit).invoke(a_call(role=role, road=road))
    assert (outcome.kind, executor.calls, audit.begun) == (OutcomeKind.DENIED, [], {})
    assert outcome.error.startswith(f"tested is {skill_class}: ")
    assert (audit.rows[0].outcome, audit.rows[0].skill_class) == ("denied", skill_class)


def test_a_guide_is_read_and_not_run(unit: Path) -> None:
    audit = FakeAudit()
    outcome = an_invoker(a_live_skill(unit, kind=Kind.GUIDE, folder="guide"), FakeExecutor(), audit).invoke(a_call())
    assert outcome.kind is OutcomeKind.INVALID
    assert outcome.error == f"tested is a guide: it is read, not run. Read {unit}/guide/SKILL.md"
    assert len(audit.rows) == 1


def test_a_kind_that_nothing_runs_is_said(unit: Path) -> None:
    outcome = an_invoker(a_live_skill(unit, kind=Kind.PYTHON), FakeExecutor(), FakeAudit()).invoke(a_call())
    assert (outcome.kind, outcome.error) == (OutcomeKind.INVALID, "tested is a python skill, which nothing here can run")


@pytest.mark.parametrize(("state", "kind"), [(State.HELD, OutcomeKind.DENIED), (State.DISABLED, OutcomeKind.DENIED), (State.INVALID, OutcomeKind.INVALID)])
def test_a_skill_that_is_not_live_says_its_state_and_why(unit: Path, state: State, kind: OutcomeKind) -> None:
    executor = FakeExecutor()
    skill = replace(a_live_skill(unit, state=state), problems=(Problem("edited", Severity.ERROR, "run.sh was changed", fix="reinstall the pack"),))
    outcome = an_invoker(skill, executor, FakeAudit()).invoke(a_call())
    assert (outcome.kind, outcome.error, executor.calls) == (kind, f"tested is {state}: run.sh was changed (reinstall the pack)", [])


def test_an_error_of_the_executor_is_an_outcome(unit: Path) -> None:
    def act() -> Outcome:
        raise InvalidInput("run.sh is not executable", hint="chmod +x run.sh")

    audit = FakeAudit()
    outcome = an_invoker(a_live_skill(unit), FakeExecutor(act), audit).invoke(a_call())
    assert (outcome.kind, outcome.error) == (OutcomeKind.FAILED, "run.sh is not executable (chmod +x run.sh)")
    assert audit.rows[0].outcome == "failed"


def test_a_bug_in_an_executor_is_audited_and_raised(unit: Path) -> None:
    audit = FakeAudit()
    with pytest.raises(ZeroDivisionError):
        an_invoker(a_live_skill(unit), FakeExecutor(lambda: 1 / 0), audit).invoke(a_call())
    assert audit.rows[0].error.startswith("internal error: ZeroDivisionError")


def test_a_mutating_call_does_not_run_when_it_cannot_be_noted(unit: Path) -> None:
    executor = FakeExecutor()
    skill = a_live_skill(unit, skill_class=SkillClass.MUTATING)
    outcome = an_invoker(skill, executor, FakeAudit(fail_at="begin")).invoke(a_call())
    assert (outcome.kind, outcome.error, executor.calls) == (OutcomeKind.FAILED, "the disk is full", [])


def test_a_mutating_call_that_cannot_be_audited_afterwards_says_that_it_ran(unit: Path) -> None:
    audit = FakeAudit(fail_at="append")
    with pytest.raises(Unavailable, match=r"tested has run \(ok\), but its audit row"):
        an_invoker(a_live_skill(unit, skill_class=SkillClass.MUTATING), FakeExecutor(), audit).invoke(a_call())
    assert list(audit.begun) == [1]


def test_a_safe_call_that_cannot_be_audited_returns_nothing(unit: Path) -> None:
    with pytest.raises(Unavailable, match="disk is full"):
        an_invoker(a_live_skill(unit), FakeExecutor(), FakeAudit(fail_at="append")).invoke(a_call())


def test_a_replaced_pack_is_looked_up_again(tmp_path: Path, executor: CommandExecutor) -> None:
    unit = a_version(tmp_path / "pack", 1)
    (tmp_path / "go").touch()
    found = {"tested": a_live_skill(unit)}
    exchange(unit, a_version(tmp_path / "new", 2))
    asked: list[str] = []

    def refresh(stale: LiveSkill) -> None:
        asked.append(stale.unit)
        found["tested"] = a_live_skill(unit)

    audit = FakeAudit()
    invoker = Invoker(found.get, {Kind.COMMAND: executor}, audit, refresh=refresh)
    assert invoker.invoke(a_call()).result == 2
    assert asked == [str(unit)]
    assert len(audit.rows) == 1


@pytest.mark.flow
def test_no_call_fails_or_mixes_versions_while_a_pack_is_upgraded_again_and_again(tmp_path: Path, executor: CommandExecutor) -> None:
    unit, other = tmp_path / "pack", tmp_path / "other"
    for number, path in enumerate((unit, other)):
        write_script(path / "run.sh", f"#!/bin/sh\nfirst={number}\n. ./second.sh\necho $((first == second))\n")
        write_script(path / "second.sh", f"second={number}\n")
    found = {"tested": a_live_skill(unit)}
    invoker = Invoker(found.get, {Kind.COMMAND: executor}, FakeAudit(), refresh=lambda _: found.update(tested=a_live_skill(unit)))
    outcomes: list[Outcome] = []
    callers = [threading.Thread(target=lambda: outcomes.extend(invoker.invoke(a_call()) for _ in range(60))) for _ in range(3)]
    for caller in callers:
        caller.start()
    exchanges = 0
    while any(caller.is_alive() for caller in callers):
        exchange_trees(unit, other)
        exchanges += 1
        time.sleep(0.001)
    assert {(outcome.kind, outcome.result, outcome.error) for outcome in outcomes} == {(OutcomeKind.OK, 1, "")}
    assert (len(outcomes), exchanges > 20) == (180, True)


def test_a_pack_that_stays_replaced_fails_with_a_sentence(unit: Path) -> None:
    def act() -> Outcome:
        raise Replaced("the pack was replaced")

    executor = FakeExecutor(act)
    outcome = an_invoker(a_live_skill(unit, skill_class=SkillClass.MUTATING), executor, FakeAudit(), relook_seconds=0.05).invoke(a_call())
    assert (outcome.kind, outcome.error) == (OutcomeKind.FAILED, "the pack was replaced")
    assert len(executor.calls) > 1


def test_a_pack_that_was_uninstalled_meanwhile_is_unknown(tmp_path: Path, executor: CommandExecutor) -> None:
    found = {"tested": a_script_skill(tmp_path, "#!/bin/sh\necho 1\n")}
    (tmp_path / "pack").rename(tmp_path / "gone")
    invoker = Invoker(found.get, {Kind.COMMAND: executor}, FakeAudit(), refresh=lambda stale: found.clear())
    assert invoker.invoke(a_call()).kind is OutcomeKind.UNKNOWN


def test_log_lines_of_a_successful_call_are_in_its_row(tmp_path: Path, executor: CommandExecutor) -> None:
    audit = FakeAudit()
    skill = a_script_skill(tmp_path, "#!/bin/sh\necho half way >&2\ncat\n")
    outcome = an_invoker(skill, executor, audit).invoke(a_call(params={"a": 1}))
    assert (outcome.result_text, audit.rows[0].stderr) == (json.dumps({"a": 1}, separators=(",", ":")), "half way\n")


def test_a_call_that_was_cancelled_while_it_waited_does_not_run_and_is_audited(unit: Path) -> None:
    executor, audit, cancellation = FakeExecutor(), FakeAudit(), Cancellation()
    cancellation.cancel("its caller went away")
    outcome = an_invoker(a_live_skill(unit, skill_class=SkillClass.MUTATING), executor, audit).invoke(a_call(), cancellation)
    assert (outcome.kind, outcome.error) == (OutcomeKind.CANCELLED, "cancelled before it ran, since its caller went away")
    assert (executor.calls, audit.begun, audit.rows[0].outcome, audit.rows[0].error) == ([], {}, "cancelled", outcome.error)


def test_a_call_that_is_cancelled_before_its_executor_has_begun_is_audited_as_that(unit: Path) -> None:
    audit, cancellation = FakeAudit(), Cancellation()

    def act() -> None:
        cancellation.cancel("the host was stopped")
        cancellation.check()

    outcome = an_invoker(a_live_skill(unit), FakeExecutor(act), audit).invoke(a_call(), cancellation)
    assert (outcome.kind, outcome.error) == (OutcomeKind.CANCELLED, "cancelled before it ran, since the host was stopped")
    assert audit.rows[0].outcome == "cancelled"


def test_a_refusal_is_told_also_to_who_has_gone(unit: Path) -> None:
    cancellation = Cancellation()
    cancellation.cancel("its caller went away")
    skill = a_live_skill(unit, skill_class=SkillClass.DANGEROUS)
    assert an_invoker(skill, FakeExecutor(), FakeAudit()).invoke(a_call(), cancellation).kind is OutcomeKind.DENIED
