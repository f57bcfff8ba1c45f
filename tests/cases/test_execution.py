"""Cases of running: first lines of scripts, entries, children that stay, floods of output, arguments that nobody reads."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest

from market.run.limits import MAX_ARGS_BYTES, MAX_STDOUT_BYTES
from tests.cases.road import short
from tests.factories import a_skill_json
from tests.host.hosts import MARKET

if TYPE_CHECKING:
    from tests.cases.road import Road

pytestmark = pytest.mark.flow

ECHO = (
    "#!/usr/bin/env python3\nimport json, sys\nprint(json.dumps({'got': json.load(sys.stdin)}, ensure_ascii=False))\n"
)


def a_command(
    road: Road, name: str, body: str, *, entry: str = "run.sh", timeout: int = 20, files: tuple[str, ...] | None = None
) -> str:
    fields = {"name": name.replace("-", "_"), "entry": entry, "env_allow": ["PATH"], "timeout_seconds": timeout}
    road.put(f"{name}/skill.json", a_skill_json(**fields))
    for file in (entry,) if files is None else files:
        road.put(f"{name}/{file}", body, executable=True)
    return f"./{name}"


@pytest.mark.parametrize(
    ("name", "body", "words"),
    [
        ("crlf-sh", "#!/bin/sh\r\ncat >/dev/null\r\necho '{}'\r\n", "CRLF"),
        ("crlf-py", "#!/usr/bin/env python3\r\nprint('{}')\r\n", "CRLF"),
        ("no-shebang", "echo '{}'\n", "#!"),
    ],
    ids=short,
)
def test_crlf_shebang(road: Road, name: str, body: str, words: str) -> None:
    path = a_command(road, name, body)
    problems = [problem for problem in road.check(path)["problems"] if problem["file"].startswith("run.sh")]
    assert any(words in problem["text"] + problem["reason"] + problem["fix"] for problem in problems), problems
    road.shell("install", path)
    assert road.installed()[f"{name}/run.sh"].read_bytes() == body.encode()
    ran = road.shell("run", name, expect=1)
    assert words in ran.err and "Traceback" not in ran.err


def test_entry_with_spaces(road: Road) -> None:
    entry = "my scripts/run me (v1) 'x'.py"
    path = a_command(road, "space", ECHO, entry=entry)
    root = road.folder / "My Skills — büro"
    road.shell("publish", path)
    road.shell("install", "space", "--root", root)
    args = {
        "a": "$(touch pwned) `touch pwned` ; touch pwned",
        "b": "two  spaces",
        "c": "\"quoted\" 'single' \\back",
        "d": "snow \u2603 \u0000 nul",
        "e": "*",
    }
    road.put("args.json", json.dumps(args, ensure_ascii=False))
    assert road.shell("run", "space", "--args-file", "args.json", "--root", root).json == {"got": args}
    assert not list(road.folder.rglob("pwned"))


@pytest.mark.parametrize(
    ("name", "entry", "files", "rule"),
    [
        ("flags", "run.py --verbose", ("run.py",), "entry-arguments"),
        ("absolute", "/bin/sh", (), "entry-absolute"),
        ("dotdot", "../space/run.py", (), "entry-escapes"),
        ("missing", "nope.py", (), "entry-missing"),
        ("dir", "scripts", ("scripts/run.py",), "entry-folder"),
    ],
    ids=short,
)
def test_entry_with_spaces_refused(road: Road, name: str, entry: str, files: tuple[str, ...], rule: str) -> None:
    path = a_command(road, name, ECHO, entry=entry, files=files)
    assert rule in road.rules(path)
    road.everywhere_refused(path)


def test_entry_with_spaces_dots_in_a_name_are_fine(road: Road) -> None:
    path = a_command(road, "dotdot-name", ECHO, entry="..tools/run.py")
    road.shell("publish", path)
    road.shell("install", "dotdot-name")
    assert road.shell("run", "dotdot-name", "--args", "{}").json == {"got": {}}


def left_behind(marker: str) -> list[str]:
    listed = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True).stdout
    return [line for line in listed.splitlines() if marker in line]


@pytest.mark.parametrize(
    ("name", "timeout", "body", "ends"),
    [
        ("bg", 30, "cat >/dev/null\n{child} &\necho '{{\"done\": true}}'\nexit 0\n", "ok"),
        ("bg-slow", 2, "echo '{{\"partial\": 1}}'\n{child} &\nwait\n", "timeout"),
        ("setsid", 2, "setsid {child} &\necho '{{\"partial\": 1}}'\nsleep 300\n", "timeout"),
    ],
    ids=short,
)
def test_fork_holds_stdout(road: Road, name: str, timeout: int, body: str, ends: str) -> None:
    marker = f"market-case-{name}-marker"
    child = f"sh -c 'sleep 300; : {marker}'"
    path = a_command(road, name, "#!/bin/sh\n" + body.format(child=child), timeout=timeout)
    started = time.monotonic()
    ran = road.shell("run", path, "--json", expect=None)
    took = time.monotonic() - started
    assert ran.json["kind"] == ends
    assert took < (10 if ends == "ok" else timeout + 10)
    if ends == "ok":
        assert ran.json["result"] == {"done": True}
    assert left_behind(marker) == []


FLOOD = "printf '{\"x\": \"'\nhead -c 52428800 /dev/zero | tr '\\0' 'A'\nprintf '\"}\\n'\n"
FLOODED = 52428800 + len('{"x": ""}\n')
EXTRA_MEMORY_KIB = 4 * MAX_STDOUT_BYTES >> 10
"""What a flood of 150 MiB may cost: what is kept of it and a few copies on the way to the answer."""


@pytest.mark.parametrize(
    ("name", "body", "error"),
    [
        ("not-json", "echo 'hello there'\n", "its stdout is not JSON (Expecting value: line 1 column 1 (char 0)): it starts with 'hello there'"),
        ("two-json", "echo '{}'\necho '{}'\n", "its stdout holds more than one JSON value (the second begins in line 2, column 1): it starts with '{}\\n{}'"),
        ("invalid-utf8", "printf '{\"a\": \"\\377\\376\"}\\n'\n", "its stdout is not UTF-8 (byte 7 is 0xff): it starts with '{\"a\": \"\\xff\\xfe\"}\\n'"),
        ("ansi", "printf '\\033[31m{}\\033[0m\\n'\n", "its stdout is coloured for a terminal, not JSON: it starts with '\\x1b[31m{}\\x1b[0m'"),
        ("empty", "exit 0\n", "its stdout is empty"),
        ("stdout-50mb", FLOOD, f"OUTPUT LIMIT: {FLOODED} bytes on stdout, at most {MAX_STDOUT_BYTES} (16 MiB) are taken"),
    ],
    ids=short,
)  # fmt: skip
def test_stdout_50mb(road: Road, name: str, body: str, error: str) -> None:
    path = a_command(road, name, "#!/bin/sh\ncat >/dev/null\n" + body)
    ran = road.shell("run", path, "--json", expect=1).json
    assert ran["kind"] == "failed" and ran["error"].partition(";")[0] == error
    assert len(ran["error"]) < 300
    row = road.shell("audit", "--json").json["items"][0]
    assert (row["outcome"], row["error"], row["result_json"]) == ("failed", ran["error"], "")


def test_stdout_50mb_below_the_cap_both_streams_are_read_together(road: Road) -> None:
    body = (
        "(head -c 10485760 /dev/zero | tr '\\0' 'E' >&2) &\n"
        "printf '\"'; head -c 10485760 /dev/zero | tr '\\0' 'A'; printf '\"\\n'\nwait\n"
    )
    path = a_command(road, "both-flood", "#!/bin/sh\ncat >/dev/null\n" + body)
    ran = road.shell("run", path, "--json").json
    assert ran["result"] == "A" * 10485760 and ran["truncated"]
    assert set(ran["stderr"]) == {"E"} and len(ran["stderr"]) < 64 << 10


def peak_kib(road: Road, path: str) -> int:
    """The most memory that one of `market run`'s processes took, the supervisor included. Asked by a process between, since a
    fork of this one counts with all that the tests hold."""
    asks = "import resource, subprocess, sys; subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL); print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
    environ = {"PATH": os.environ["PATH"], "MARKET_HOME": str(road.shell.home.path)}
    command = [sys.executable, "-c", asks, MARKET, "run", path, "--json"]
    done = subprocess.run(
        command, env=environ, cwd=road.folder, stdin=subprocess.DEVNULL, capture_output=True, check=True
    )
    return int(done.stdout)


def test_stdout_50mb_memory_is_bounded(road: Road) -> None:
    small = peak_kib(road, a_command(road, "small", "#!/bin/sh\ncat\n"))
    flooded = peak_kib(road, a_command(road, "flood", "#!/bin/sh\ncat >/dev/null\n" + FLOOD + FLOOD + FLOOD))
    assert flooded - small < EXTRA_MEMORY_KIB, (small, flooded)


def test_stdout_50mb_on_the_other_stream(road: Road) -> None:
    path = a_command(
        road,
        "stderr-flood",
        "#!/bin/sh\ncat >/dev/null\nhead -c 20971520 /dev/zero | tr '\\0' 'E' >&2\necho '{\"ok\": true}'\n",
    )
    ran = road.shell("run", path, "--json").json
    assert ran["result"] == {"ok": True} and len(ran["stderr"]) < 64 << 10


@pytest.mark.parametrize(
    ("name", "body", "result"),
    [
        ("ignores", "echo '{\"ok\": true}'\n", {"ok": True}),
        ("closes", "exec 0<&-\nsleep 1\necho '{\"ok\": true}'\n", {"ok": True}),
        ("dies", "echo 'license expired' >&2\nexit 3\n", None),
    ],
    ids=short,
)
def test_stdin_not_read(road: Road, name: str, body: str, result: object) -> None:
    path = a_command(road, name, "#!/bin/sh\n" + body, timeout=10)
    road.put("args.json", json.dumps({"blob": "x" * (4 << 20)}))
    ran = road.shell("run", path, "--args-file", "args.json", "--json", expect=None).json
    if result is not None:
        assert ran["result"] == result
    else:
        assert (ran["kind"], ran["exit_code"]) == ("failed", 3)
        assert "license expired" in ran["stderr"] and "Broken pipe" not in ran["error"]
    assert road.shell("audit", "--json").json["items"][0]["outcome"] == ran["kind"]
    assert road.shell("run", a_command(road, "after", "#!/bin/sh\ncat\n"), "--args", '{"a": 1}').json == {"a": 1}


def test_stdin_not_read_more_than_is_passed_to_any_skill(road: Road) -> None:
    path = a_command(road, "ignores", "#!/bin/sh\necho '{}'\n")
    road.put("args.json", json.dumps({"blob": "x" * (MAX_ARGS_BYTES - 10)}))
    error = road.shell("run", path, "--args-file", "args.json", "--json", expect=2).error
    assert str(MAX_ARGS_BYTES) in error["message"] and "a path or a URL" in error["hint"]
