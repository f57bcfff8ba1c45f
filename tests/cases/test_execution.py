"""Cases of running: first lines of scripts, entries, children that stay, floods of output, arguments that nobody reads."""

from __future__ import annotations

import json
import subprocess
import time
from typing import TYPE_CHECKING

import pytest

from market.run.limits import MAX_ARGS_BYTES
from tests.cases.road import short
from tests.factories import a_skill_json

if TYPE_CHECKING:
    from tests.cases.road import Road

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


@pytest.mark.parametrize(
    ("name", "body", "words"),
    [
        (
            "stdout-50mb",
            "printf '{\"x\": \"'\nhead -c 52428800 /dev/zero | tr '\\0' 'A'\nprintf '\"}\\n'\n",
            "too large",
        ),
        (
            "both-flood",
            "(head -c 10485760 /dev/zero | tr '\\0' 'E' >&2) &\nprintf '\"'; head -c 20485760 /dev/zero | tr '\\0' 'A'; printf '\"\\n'\nwait\n",
            "too large",
        ),
        ("not-json", "echo 'hello there'\n", "JSON"),
        ("two-json", "echo '{}'\necho '{}'\n", "JSON"),
        ("invalid-utf8", 'printf \'{"a": "\\377\\376"}\\n\'\n', "UTF-8"),
        ("ansi", "printf '\\033[31m{}\\033[0m\\n'\n", "JSON"),
        ("empty", "exit 0\n", ""),
    ],
    ids=short,
)
def test_stdout_50mb(road: Road, name: str, body: str, words: str) -> None:
    path = a_command(road, name, "#!/bin/sh\ncat >/dev/null\n" + body)
    ran = road.shell("run", path, "--json", expect=None)
    assert ran.json["kind"] != "ok" or not words, ran.out[:500]
    error = ran.json["error"].partition("\nstderr:")[0]
    assert words.lower() in error.lower(), error
    assert len(error) < 2000 and "\x1b" not in error


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
