"""`/v1/skills` of a real host: list, one, execute, under the gate and into the audit log (mission B, C7, D1)."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

import pytest

from market.run.limits import MAX_ARGS_BYTES
from tests.registry.trees import a_command_folder, write_tree

if TYPE_CHECKING:
    from tests.host.hosts import HostUnderTest

pytestmark = pytest.mark.flow


def audit(host: HostUnderTest, tool: str) -> list[dict[str, object]]:
    rows: list[dict[str, object]] = host.get(f"/v1/audit?tool={tool}")["items"]
    return rows


def test_c7_the_list_has_every_skill_in_the_order_of_keys(host: HostUnderTest) -> None:
    page = host.get("/v1/skills")
    keys = [row["key"] for row in page["items"]]
    assert keys == ["both_sides", "change", "destroy", "fails", "greeting", "look", "secret"]
    assert page["total"] == 7 and page["next"] == ""
    look = next(row for row in page["items"] if row["key"] == "look")
    assert (look["class"], look["scope"], look["category"], look["kind"], look["state"]) == ("safe", "manager", "disk", "command", "unmanaged")
    assert look["schema"]["required"] == ["path"] and look["pack"] == "look" and look["version"] == "1.0.0"


def test_c7_one_skill(host: HostUnderTest) -> None:
    assert host.get("/v1/skills/look", role="viewer")["entry"] == "run.sh"
    missing = host.ask("GET", "/v1/skills/nothing")
    assert missing.status_code == 404 and missing.headers["content-type"] == "application/problem+json"
    assert missing.json()["code"] == "not-found"


def test_e4_a_guide_says_its_file_directory_marker_and_source(host: HostUnderTest) -> None:
    row = host.get("/v1/skills/greeting")
    assert row["guide"]["path"] == f"{host.root}/greeting/SKILL.md" and row["guide"]["base_directory"] == f"{host.root}/greeting"
    assert row["guide"]["prompt_version"] and row["source"] == "workspace"


def test_the_list_is_narrowed_and_paged(host: HostUnderTest) -> None:
    assert [row["key"] for row in host.get("/v1/skills?category=disk")["items"]] == ["change", "look"]
    assert [row["key"] for row in host.get("/v1/skills?pack=both-sides")["items"]] == ["both_sides"]
    seen, following = [], "/v1/skills?limit=3"
    while following:
        page = host.get(following)
        seen += [row["key"] for row in page["items"]]
        following = page["next"]
    assert seen == host.skill_keys()
    assert host.ask("GET", "/v1/skills?limit=0").status_code == 422


def test_a15_what_didn_t_load_is_shown_with_its_reason(host: HostUnderTest) -> None:
    (row,) = host.get("/v1/skills?state=invalid")["items"]
    assert row["manifest"] == f"{host.root}/broken/skill.json" and row["reason"] and row["state"] == "invalid"
    assert (row["pack"], row["root"], row["source"]) == ("broken", str(host.root), "workspace")
    assert len(host.get("/v1/skills?state=all")["items"]) == 8
    assert len(host.get("/v1/skills?state=invalid&pack=broken")["items"]) == 1
    assert host.get("/v1/skills?state=invalid&pack=other")["total"] == 0
    assert host.ask("GET", "/v1/skills?state=odd").status_code == 422


def test_execute_gives_the_result_and_fills_defaults(host: HostUnderTest) -> None:
    answer = host.execute("look", {"path": "/tmp"}, role="viewer")
    assert answer.status_code == 200
    values = answer.json()
    assert values["result"] == {"path": "/tmp", "depth": 2, "mode": "fast", "dry_run": True}
    assert values["error"] == "" and values["kind"] == "ok" and values["duration_ms"] > 0


def test_a12_the_result_is_what_the_skill_printed(host: HostUnderTest) -> None:
    printed = '{"b": 1.10, "a": [1e2, 12345678901234567890, "\\u00e9"]}'
    a_command_folder(host.root / "verbatim")
    write_tree(host.root / "verbatim", {"run.sh": f"#!/bin/sh\nprintf '%s' '{printed}'\n".replace("\\u", "\\\\u")})
    host.ask("POST", "/v1/rescan")
    text = host.execute("verbatim", {}).text
    assert '"result":{"b": 1.10, "a": [1e2, 12345678901234567890,' in text


def test_a11_a_failing_skill_is_200_with_its_error_and_its_log_lines(host: HostUnderTest) -> None:
    answer = host.execute("fails", {})
    values = answer.json()
    assert answer.status_code == 200 and values["kind"] == "failed" and values["exit_code"] == 3
    assert "disk is on fire" in values["error"] and values["stderr"] == "looking around\nthe disk is on fire\n"


@pytest.mark.parametrize(
    ("role", "key", "status"),
    [
        ("viewer", "look", 200), ("user", "look", 200), ("admin", "look", 200),
        ("viewer", "change", 403), ("user", "change", 200), ("admin", "change", 200),
        ("viewer", "destroy", 403), ("user", "destroy", 403), ("admin", "destroy", 403),
    ],
)  # fmt: skip
def test_b1_b2_the_gate_decides_by_class_and_role(host: HostUnderTest, role: str, key: str, status: int) -> None:
    answer = host.execute(key, {"path": "/"}, role=role)
    assert answer.status_code == status, answer.text
    if status == 403:
        assert answer.json()["code"] == "refused" and key in answer.json()["detail"]


def test_b5_d1_a_model_by_itself_runs_safe_skills_only_as_user_0(host: HostUnderTest) -> None:
    assert host.execute("look", {"path": "/model"}, road="model").status_code == 200
    assert host.execute("change", {}, road="model").status_code == 403
    row = audit(host, "look")[0]
    assert (row["caller_user_id"], row["caller_role"], row["road"]) == (0, "system", "model")
    assert host.execute("look", {"path": "/"}, road="elsewhere").status_code == 422


def test_arguments_that_don_t_fit_are_422_and_say_where(host: HostUnderTest) -> None:
    answer = host.execute("look", {"depth": "deep"})
    assert answer.status_code == 422 and "path" in answer.json()["detail"] and "depth" in answer.json()["detail"]
    assert host.execute("look", [1, 2]).status_code == 422
    assert host.execute("greeting", {}).status_code == 422
    assert host.execute("nothing", {}).status_code == 404


def test_b2_d1_every_attempt_is_audited(host: HostUnderTest) -> None:
    host.execute("look", {"path": "/audited"}, role="user", session_id="s1", device_id="d1")
    host.execute("change", {}, role="viewer")
    host.execute("look", {}, role="user")
    host.execute("never_was", {}, role="user")
    rows = audit(host, "look")
    assert [row["outcome"] for row in rows[:2]] == ["invalid", "ok"]
    row = rows[1]
    assert (row["session_id"], row["device_id"], row["caller_role"], row["caller_name"]) == ("s1", "d1", "user", "user")
    assert '"/audited"' in str(row["args_json"]) and row["result_json"] and row["started_at"] and row["finished_at"]
    assert audit(host, "change")[0]["outcome"] == "denied" and audit(host, "never_was")[0]["outcome"] == "unknown"


def test_the_audit_log_is_for_admins(host: HostUnderTest) -> None:
    assert host.ask("GET", "/v1/audit", "user").status_code == 403
    assert host.ask("GET", "/v1/audit?before=x").status_code == 422
    page = host.get("/v1/audit?limit=2")
    assert len(page["items"]) == 2 and host.get(page["next"])["items"][0]["seq"] < page["items"][1]["seq"]


@pytest.mark.parametrize("path", ["/v1/skills", "/v1/skills/look", "/v1/prompt", "/v1/audit", "/v1/marketplace/installed"])
def test_nothing_is_told_to_strangers(host: HostUnderTest, path: str) -> None:
    assert host.ask("GET", path, role="").status_code == 401
    wrong = host.ask("GET", path, role="", headers={"Authorization": "Bearer skh_wrong"})
    assert wrong.status_code == 401 and wrong.headers["www-authenticate"].startswith("Bearer")


def test_bodies_are_bounded_and_read_strictly(host: HostUnderTest) -> None:
    assert host.ask("POST", "/v1/skills/look/execute", data=b"{").status_code == 422
    assert host.ask("POST", "/v1/skills/look/execute", data=b"[" * 100_000).status_code == 422
    assert host.ask("POST", "/v1/skills/look/execute", data=b" " * (MAX_ARGS_BYTES + 1)).status_code == 413
    assert host.ask("PUT", "/v1/skills/look/execute", json={}).status_code == 405
    assert host.ask("GET", "/v1/nothing").status_code == 404


def test_four_megabytes_of_arguments_arrive(host: HostUnderTest) -> None:
    answer = host.execute("look", {"path": "x" * (4 << 20)}).json()
    assert answer["kind"] == "ok" and len(answer["result"]["path"]) == 4 << 20


def test_health_is_open_and_says_the_process(host: HostUnderTest) -> None:
    values = host.get("/healthz", role="")
    assert values["status"] == "ok" and isinstance(values["pid"], int) and values["skills"] >= 7 and values["version"]


def test_a_slow_skill_holds_up_nobody(host: HostUnderTest) -> None:
    a_command_folder(host.root / "slow", env_allow=["PATH"])
    write_tree(host.root / "slow", {"run.sh": "#!/bin/sh\nsleep 1\necho '{}'\n"})
    host.ask("POST", "/v1/rescan")
    callers = [threading.Thread(target=host.execute, args=("slow", {})) for _ in range(4)]
    for caller in callers:
        caller.start()
    started = time.monotonic()
    for _ in range(10):
        host.get("/v1/skills/look")
    assert time.monotonic() - started < 1.0
    for caller in callers:
        caller.join()


def test_a_shadowed_skill_is_called_by_its_qualified_key(host: HostUnderTest) -> None:
    a_command_folder(host.root / "zz-look", name="look", description="Another.")
    host.ask("POST", "/v1/rescan")
    (row,) = host.get("/v1/skills?state=shadowed")["items"]
    assert row["key"] == "zz-look:look" or row["key"] == "look:look"
    assert host.execute(row["key"], {"anything": 1}).json()["result"] == {"anything": 1}
