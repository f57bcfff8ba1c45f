"""A running host follows its roots without a restart: the same process before and after (mission F4), and installs through it."""

from __future__ import annotations

import json
import shutil
import subprocess
import threading
from typing import TYPE_CHECKING

import pytest

from tests.host.hosts import MARKET, environment, start_host
from tests.host.index_tree import an_archive, serve_tree, write_release
from tests.pack.foreign_makers import tar_gz, windows_zip
from tests.registry.trees import a_command_folder

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.host.hosts import HostUnderTest

pytestmark = pytest.mark.flow


def empty(_: Path) -> None:
    """Leave the root as it is."""


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("index")
    write_release(folder, "echo-args", "1.0.0", "1.1.0")
    with serve_tree(folder) as url:
        yield url


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory, index: str) -> Iterator[HostUnderTest]:
    with start_host(tmp_path_factory.mktemp("host"), fill=empty, more={"MARKET_INDEX_URL": index}) as running:
        yield running


def test_a_folder_dropped_into_a_root_is_live_without_a_restart_and_gone_when_removed(
    host: HostUnderTest, tmp_path: Path
) -> None:
    pid = host.get("/healthz", role="")["pid"]
    a_command_folder(tmp_path / "dropped").rename(host.root / "dropped")
    host.wait_for(lambda: "dropped" in host.skill_keys(), 1.0)
    assert host.execute("dropped", {"a": 1}).json()["result"] == {"a": 1}
    shutil.rmtree(host.root / "dropped")
    host.wait_for(lambda: "dropped" not in host.skill_keys(), 1.0)
    assert host.execute("dropped", {}).status_code == 404
    assert host.get("/healthz", role="")["pid"] == pid


def test_a_copied_folder_is_live_too(host: HostUnderTest, tmp_path: Path) -> None:
    shutil.copytree(a_command_folder(tmp_path / "copied"), host.root / "copied")
    host.wait_for(lambda: "copied" in host.skill_keys(), 2.0)
    shutil.rmtree(host.root / "copied")
    host.wait_for(lambda: "copied" not in host.skill_keys(), 2.0)


def test_install_upgrade_and_uninstall_through_the_host_are_applied_before_the_answer(host: HostUnderTest) -> None:
    pid = host.get("/healthz", role="")["pid"]
    first = host.ask("POST", "/v1/marketplace/install", json={"requirement": "echo-args@1.0.0"})
    assert first.status_code == 200, first.text
    assert (first.json()["action"], first.json()["version"]) == ("installed", "1.0.0") and first.json()["live_ms"] >= 0
    assert host.get("/v1/skills/echo_args")["state"] == "live"
    upgraded = host.ask("POST", "/v1/marketplace/install", json={"requirement": "echo-args"}).json()
    assert (upgraded["action"], upgraded["version"]) == ("upgraded", "1.1.0")
    assert host.get("/v1/skills/echo_args")["version"] == "1.1.0"
    (row,) = host.get("/v1/marketplace/installed", role="viewer")["items"]
    assert (row["name"], row["publisher"], row["origin"]["kind"], row["state"]) == (
        "echo-args",
        "acme",
        "index",
        "intact",
    )
    gone = host.ask("DELETE", "/v1/marketplace/installed/echo-args")
    assert gone.status_code == 200 and gone.json()["action"] == "removed"
    assert "echo_args" not in host.skill_keys() and host.get("/v1/marketplace/installed")["total"] == 0
    assert host.ask("DELETE", "/v1/marketplace/installed/echo-args").status_code == 404
    assert host.get("/healthz", role="")["pid"] == pid


def test_upload_takes_an_archive_and_registers_it(host: HostUnderTest) -> None:
    archive = an_archive("sent", version="2.0.0")
    for method in ("PUT", "POST"):
        answer = host.ask(method, "/v1/marketplace/upload", data=archive)
        assert answer.status_code == 200, answer.text
    assert answer.json()["action"] == "unchanged" and host.execute("sent", {"x": [1]}).json()["result"] == {"x": [1]}
    renamed = host.ask("PUT", "/v1/marketplace/upload?name=other-name&version=3.0", data=archive)
    assert renamed.json()["name"] == "other-name" and renamed.json()["version"] == "3.0"
    assert host.ask("PUT", "/v1/marketplace/upload", data=b"no archive").status_code == 422
    assert host.ask("PUT", "/v1/marketplace/upload?root=/elsewhere", data=archive).status_code == 422


def test_upload_imports_what_another_program_made_and_says_so(host: HostUnderTest) -> None:
    answer = host.ask("POST", "/v1/marketplace/upload?name=from-windows", data=windows_zip())
    assert answer.status_code == 200, answer.text
    assert {problem["rule"] for problem in answer.json()["problems"]} >= {
        "import-form",
        "import-backslash",
        "import-executable",
    }
    assert host.execute("echo_args", {"x": 1}).json()["result"] == {"x": 1}
    evil = host.ask("PUT", "/v1/marketplace/upload", data=tar_gz({"kit/../../evil": b"x"}))
    assert evil.status_code == 422 and evil.json()["problems"][0]["rule"] == "path-parts"
    assert host.ask("DELETE", "/v1/marketplace/installed/from-windows").status_code == 200


def test_changes_are_for_admins_and_audited(host: HostUnderTest) -> None:
    for role in ("user", "viewer"):
        assert host.ask("POST", "/v1/marketplace/install", role, json={"requirement": "echo-args"}).status_code == 403
        assert host.ask("PUT", "/v1/marketplace/upload", role, data=an_archive()).status_code == 403
        assert host.ask("DELETE", "/v1/marketplace/installed/echo-args", role).status_code == 403
        assert host.ask("POST", "/v1/rescan", role).status_code == 403
    assert host.ask("POST", "/v1/marketplace/install", json={"requirement": "echo-args"}).status_code == 200
    assert host.ask("POST", "/v1/marketplace/install", json={"requirement": "no-such-pack"}).status_code == 404
    assert host.ask("POST", "/v1/marketplace/install", json={"requirement": "@@"}).status_code == 422
    rows = host.get("/v1/audit?tool=marketplace_install")["items"]
    assert {row["outcome"] for row in rows} == {"ok", "failed"} and rows[0]["caller_role"] == "admin"


def test_an_install_by_the_command_line_is_live_in_the_host(host: HostUnderTest, tmp_path: Path) -> None:
    a_command_folder(tmp_path / "by-hand")
    host.market("install", str(tmp_path / "by-hand"), "--root", str(host.root))
    host.wait_for(lambda: "by_hand" in host.skill_keys(), 1.0)
    assert host.get("/v1/skills/by_hand")["state"] == "live"


def test_an_upgrade_under_calls_never_fails_one(host: HostUnderTest) -> None:
    """Calls go on while the pack is replaced: each is answered by one of the two versions."""
    host.ask("POST", "/v1/marketplace/install", json={"requirement": "echo-args@1.0.0"})
    stop, failures = threading.Event(), []

    def call() -> None:
        while not stop.is_set():
            answer = host.execute("echo_args", {"n": 1})
            if answer.status_code != 200 or answer.json()["result"] != {"n": 1}:
                failures.append(answer.text)

    callers = [threading.Thread(target=call) for _ in range(3)]
    for caller in callers:
        caller.start()
    for version in ("1.1.0", "1.0.0") * 4:
        answer = host.ask("POST", "/v1/marketplace/install", json={"requirement": f"echo-args@{version}"})
        assert answer.status_code == 200, answer.text
    stop.set()
    for caller in callers:
        caller.join()
    assert failures == []


def test_a13_roots_from_the_environment(tmp_path: Path) -> None:
    for name in ("one", "two", "three"):
        a_command_folder(tmp_path / name / f"from-{name}")
    roots = f"{tmp_path}/one:{tmp_path}/two,relative/dir,{tmp_path}/missing"
    more = {"ONGRID_SKILLS_EXTERNAL_DIRS": roots, "MARKET_ROOTS": f"{tmp_path}/three", "MARKET_HOST_PORT": "0"}
    log = tmp_path / "log"
    with log.open("w") as stream:
        process = subprocess.Popen(
            [MARKET, "host", "serve", "--json"],
            env=environment(tmp_path, **more),
            stdout=subprocess.PIPE,
            stderr=stream,
            text=True,
        )
    try:
        ready = json.loads(process.stdout.readline())  # type: ignore[union-attr]
        assert ready["roots"] == [f"{tmp_path}/three", f"{tmp_path}/one", f"{tmp_path}/two", f"{tmp_path}/missing"]
        (file,) = (tmp_path / "market" / "hosts").iterdir()
        assert json.loads(file.read_text()) == {"pid": ready["pid"], "url": ready["url"], "roots": ready["roots"]}
    finally:
        process.terminate()
        assert process.wait(20) == 0
        process.stdout.close()  # type: ignore[union-attr]
    messages = [json.loads(line)["message"] for line in log.read_text().splitlines()]
    assert "skill loader: skip 'relative/dir' is not an absolute path" in messages
    assert any(message.startswith(f"skill loader: root {tmp_path}/missing is skipped") for message in messages)
    assert sum("registered subprocess skill" in message for message in messages) == 3
    assert list((tmp_path / "market" / "hosts").iterdir()) == []


def test_a13_the_home_s_own_root_is_made_where_none_is_named(tmp_path: Path) -> None:
    process = subprocess.Popen(
        [MARKET, "host", "serve", "--port", "0"],
        env=environment(tmp_path),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        line = process.stdout.readline()  # type: ignore[union-attr]
        assert line.startswith("market host ready at http://127.0.0.1:") and (tmp_path / "market" / "skills").is_dir()
        assert "/login?token=" in process.stdout.readline()  # type: ignore[union-attr]
    finally:
        process.terminate()
        process.wait(20)
        process.stdout.close()  # type: ignore[union-attr]


def test_the_log_has_the_lines_of_a18(tmp_path: Path) -> None:
    with start_host(tmp_path) as host:
        messages = host.log_messages
    root = tmp_path / "root"
    assert f'skill loader: registered subprocess skill "look" from {root}/look/skill.json' in messages
    assert any(message.startswith(f"skill loader: parse {root}/broken/skill.json: ") for message in messages)
