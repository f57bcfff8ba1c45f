"""run and audit, here and in a host."""

from __future__ import annotations

import json
import signal
import sqlite3
import subprocess
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from market.cli.report import INTERRUPTED
from tests.client.server import Answer, Asked, serve
from tests.factories import a_skill_json, a_skill_md
from tests.host.hosts import MARKET, environment
from tests.registry.trees import a_command_folder, write_tree
from tests.run.python_packs import wait_until
from tests.run.test_tree import is_running

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.shell import Shell

SCHEMA = {
    "type": "object",
    "properties": {"path": {"type": "string"}, "dry_run": {"type": "boolean", "default": True}},
    "required": ["path"],
}
FAILS = b"#!/bin/sh\necho working >&2\nexit 3\n"


def test_a_folder_is_run_without_installing(shell: Shell) -> None:
    shell.pack()
    ran = shell("run", "./my-pack", "--args", '{"x": [1, "\u00e4"]}')
    assert ran.json == {"x": [1, "\u00e4"]}
    assert "here" in ran.err
    assert shell("run", "./my-pack", "-q").err == ""


def test_an_installed_pack_is_run_by_key_and_by_name(shell: Shell) -> None:
    shell.pack(schema=SCHEMA)
    shell("install", "./my-pack")
    for target in ("my_pack", "my-pack", "my-pack:my_pack"):
        assert shell("run", target, "--args", '{"path": "/x"}').json == {"path": "/x", "dry_run": True}


def test_arguments_come_from_a_file_or_from_stdin(shell: Shell) -> None:
    shell.pack()
    (shell.folder / "args.json").write_text('{"a": 1}')
    assert shell("run", "./my-pack", "--args-file", "args.json").json == {"a": 1}
    assert shell("run", "./my-pack", "--args-file", "-", stdin=b'{"a": 2}').json == {"a": 2}


def test_a_failing_skill_is_exit_code_1_with_its_last_words(shell: Shell) -> None:
    shell.pack(files={"skill.json": a_skill_json(), "run.sh": FAILS})
    ran = shell("run", "./my-pack", expect=1)
    assert ran.out == "" and "exited with code 3" in ran.err and "working" in ran.err
    document = shell("run", "./my-pack", "--json", expect=1).json
    assert (document["kind"], document["exit_code"], document["stderr"].strip()) == ("failed", 3, "working")


def test_a_guide_is_read_and_not_run(shell: Shell) -> None:
    shell.pack("my-guide", files={"SKILL.md": a_skill_md("my-guide")})
    ran = shell("run", "./my-guide", expect=2)
    assert "a guide" in ran.err and str(shell.folder / "my-guide" / "SKILL.md") in ran.err


def test_a_mutating_skill_runs_for_the_operator_and_a_dangerous_one_does_not(shell: Shell) -> None:
    shell.pack("changes", skill_class="mutating")
    shell.pack("destroys", skill_class="dangerous")
    shell("run", "./changes")
    error = shell("run", "./destroys", "--json", expect=6).error
    assert error["code"] == "refused"
    assert "aren't the reason" in error["hint"], "a refusal isn't about arguments"


def test_a_pack_with_several_skills_lists_them(shell: Shell) -> None:
    files = {
        f"{name}/{path}": content
        for name in ("one", "two")
        for path, content in {"skill.json": a_skill_json(name=name), "run.sh": b"#!/bin/sh\ncat\n"}.items()
    }
    shell.pack("many", files=files)
    shell("install", "./many", "--version", "1.0")
    for target in ("many", "./many"):
        assert "one, two" in shell("run", target, expect=2).err
        assert shell("run", target, "--skill", "two").json == {}
        shell("run", target, "--skill", "three", expect=3)
    assert shell("run", "one").json == {}


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["my_pack", "--args", "{"], 2, "not JSON"),
        (["my_pack", "--args", "NaN"], 2, "not JSON"),
        (["my_pack", "--args", "[1]"], 2, "object"),
        (["my_pack", "--args", '{"path": 1}'], 2, "/path"),
        (["my_pack"], 2, "path"),
        (["my_pack", "--args", "{}", "--args-file", "x"], 2, "exclude"),
        (["my_pack", "--args-file", "nowhere.json"], 3, "nowhere.json"),
        (["my_pak"], 3, "did you mean"),
        (["zzz"], 3, "no skill or pack"),
        (["./nowhere"], 3, "nowhere"),
        (["./my-pack/skill.json"], 2, "not a folder"),
        (["./broken"], 2, "skill.json"),
        (["my_pack", "--host", "http://127.0.0.1:9"], 7, "can't be reached"),
        (["my_pack", "--host", "ftp://nonsense"], 2, "not the URL"),
        (["my_pack", "--host", "http://127.0.0.1:9", "--root", "."], 2, "leave one"),
    ],
)
def test_a_call_that_can_t_be(shell: Shell, arguments: list[str], code: int, words: str) -> None:
    shell.pack(schema=SCHEMA)
    shell("install", "./my-pack")
    shell.pack("broken", files={"skill.json": b"{"})
    ran = shell("run", *arguments, expect=code)
    assert ran.out == "" and words in ran.err and "hint: " in ran.err
    error = shell("run", *arguments, "--json", expect=code).error
    assert words in json.dumps(error, ensure_ascii=False) and error["hint"]


def test_every_attempt_is_in_the_audit_log(shell: Shell) -> None:
    assert "no calls yet" in shell("audit").out
    shell.pack()
    shell("run", "./my-pack", "--args", '{"x": 1}')
    shell("run", "my_pack", expect=3)
    document = shell("audit", "--json").json
    assert [(row["tool_name"], row["outcome"], row["road"]) for row in document["items"]] == [
        ("my_pack", "unknown", "cli"),
        ("my_pack", "ok", "cli"),
    ]
    assert document["items"][1]["result_json"] == '{"x":1}'
    assert [row["outcome"] for row in shell("audit", "--outcome", "ok", "--json").json["items"]] == ["ok"]
    assert "the chain of 2 rows holds" in shell("audit", "--verify").err
    assert "no calls match" in shell("audit", "--skill", "zzz").out


def a_host(asked: Asked) -> Answer:
    row = {
        "key": "echo",
        "name": "echo",
        "description": "",
        "class": "safe",
        "kind": "command",
        "pack": "my-pack",
        "version": "1",
        "state": "live",
    }
    if asked.method == "GET":
        return Answer(body=json.dumps({"items": [row], "total": 1}).encode())
    params = json.loads(asked.body)["params"]
    if "refuse" in params:
        return Answer(403, b'{"code": "refused", "detail": "not for you", "hint": "ask"}')
    kind = "failed" if "fail" in params else "ok"
    return Answer(
        body=json.dumps(
            {"kind": kind, "result": params, "error": "broke" if "fail" in params else "", "later": 1}
        ).encode()
    )


def test_a_skill_is_run_in_a_host(shell: Shell) -> None:
    with serve(a_host) as host:
        for target in ("echo", "my-pack", "my-pack:echo"):
            assert shell("run", target, "--host", host.url, "--host-token", "skh_x", "--args", '{"a": 1}').json == {
                "a": 1
            }
        assert "broke" in shell("run", "echo", "--host", host.url, "--args", '{"fail": 1}', expect=1).err
        assert "not for you" in shell("run", "echo", "--host", host.url, "--args", '{"refuse": 1}', expect=6).err
        assert "did you mean echo" in shell("run", "ecko", "--host", host.url, expect=3).err
        shell.environ["MARKET_HOST_URL"] = host.url
        assert shell("run", "echo", "--host").json == shell("run", "--host", "echo").json == {}
    assert host.asked[0].authorization == "Bearer skh_x"


def test_a_skill_whose_state_is_in_the_way_says_it_once_with_what_helps(shell: Shell) -> None:
    shell.pack(skill_class="mutating")
    shell("install", "./my-pack")
    (shell.root / "my-pack" / "run.sh").write_text("#!/bin/sh\necho 1\n")
    said = shell("run", "my_pack", expect=6).err
    assert "my_pack is held: files were changed since it was installed: run.sh (" in said and "`market verify --accept`" in said
    assert "hint: `market why my-pack`" in said
    shell("disable", "my_pack")
    said = shell("run", "my_pack", expect=6).err
    assert "my_pack is disabled: somebody switched it off in this root (switch it on with `market enable my_pack`)" in said


def test_arguments_that_a_host_refuses_get_the_same_hint_as_here(shell: Shell) -> None:
    skill = {"key": "echo", "name": "echo", "description": "", "class": "safe", "kind": "command", "pack": "echo", "version": "1", "schema": SCHEMA}
    state = "live"

    def answer(asked: Asked) -> Answer:
        if asked.method == "GET":
            return Answer(body=json.dumps({"items": [{**skill, "state": state}], "total": 1}).encode())
        return Answer(422, b'{"code": "invalid-input", "detail": "it does not fit"}')

    with serve(answer) as host:
        assert "echo takes path (string, required)" in shell("run", "echo", "--host", host.url, expect=2).err
        state = "invalid"
        assert "takes" not in shell("run", "echo", "--host", host.url, expect=2).err


@pytest.mark.flow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_an_interrupt_ends_the_skills_whole_tree_in_peace_and_is_audited(tmp_path: Path, number: signal.Signals) -> None:
    root = tmp_path / "root"
    a_command_folder(root / "long")
    write_tree(root / "long", {"run.sh": "#!/bin/sh\ntrap 'echo > tidied; exit 0' TERM\nsetsid sleep 62 &\necho $! > child\necho > begun\nwhile :; do sleep 0.02; done\n"})
    process = subprocess.Popen([MARKET, "run", "long", "--root", str(root)], env=environment(tmp_path), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    wait_until((root / "long/begun").exists)
    process.send_signal(number)
    process.communicate(timeout=20)
    assert process.returncode == INTERRUPTED
    assert (root / "long/tidied").exists() and not is_running(root / "long/child")
    with closing(sqlite3.connect(tmp_path / "market" / "audit.db")) as database:
        ((outcome, error),) = database.execute("SELECT outcome, error FROM chat_tool_calls").fetchall()
    assert (outcome, error.partition(";")[0]) == ("cancelled", "cancelled, since it was interrupted")
