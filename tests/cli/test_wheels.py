"""`market check`, `install` and `run` of wheels, as an author meets them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.client.server import Answer, serve
from tests.factories import RUN_SCRIPT, a_skill_json
from tests.wheels import a_code_wheel, a_python_skill, a_wheel, write_wheel

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.shell import Shell


def verdict(shell: Shell, path: Path, *flags: str) -> dict[str, Any]:
    done = shell("check", path, "--json", *flags, expect=None)
    item: dict[str, Any] = done.json["items"][0]
    assert (done.code == 0) is (item["publishable"] and "wheel-not-proven" not in rules(item))
    return item


def rules(item: dict[str, Any]) -> dict[str, str]:
    return {problem["rule"]: problem["text"] for problem in item["problems"]}


def test_the_code_of_a_good_wheel_is_started_and_agrees(tmp_path: Path, shell: Shell) -> None:
    code = "def market_skills():\n    return ['echo_py']\n"
    wheel = write_wheel(tmp_path, a_code_wheel(more={"demo_pack/__init__.py": code}))
    item = verdict(shell, wheel)
    assert (item["name"], item["publishable"], rules(item)) == ("demo-pack", True, {})
    assert item["skills"] == [{"name": "echo_py", "kind": "python", "class": "safe"}]


@pytest.mark.parametrize(
    ("options", "rule", "text"),
    [
        ({"code": "def other():\n    pass\n"}, "wheel-code-missing", "its module demo_pack.skills has no function 'echo_py'"),
        ({"code": "raise SystemExit(3)\n"}, "wheel-code-missing", "it called exit(3)"),
        ({"more": {"demo_pack/__init__.py": "import nowhere\n"}}, "wheel-code-start", "No module named 'nowhere'"),
        ({"more": {"demo_pack/__init__.py": "def market_skills():\n    return []\n"}}, "wheel-code-folders", "doesn't name it"),
        ({"more": {"demo_pack/__init__.py": "def market_skills():\n    return ['echo_py', 'more']\n"}}, "wheel-code-folders", "names demo_pack/more"),
        ({"more": {"demo_pack/__init__.py": "def market_skills():\n    return 'echo_py'\n"}}, "wheel-code-start", "market_skills() returned 'echo_py'; it returns a list of folders"),
        ({"more": {"demo_pack/__init__.py": "def market_execute(key, parms): ...\n"}, "manifest": {"entry": "python:demo_pack:market_execute"}},
         "wheel-code-missing", "demo_pack:market_execute takes key, parms; a skill's function takes any of key, params, context"),
        ({"code": "async def echo_py(params):\n    return 1\n"}, "wheel-code-missing", "is asynchronous; a skill's function returns its result"),
        ({"code": "def echo_py(params, /):\n    return 1\n"}, "wheel-code-missing", "takes params by position only"),
    ],
)  # fmt: skip
def test_code_that_is_not_what_the_files_declare_is_found(
    tmp_path: Path, shell: Shell, options: dict[str, Any], rule: str, text: str
) -> None:
    wheel = write_wheel(tmp_path, a_code_wheel(**options))
    assert text in rules(verdict(shell, wheel))[rule]
    assert rules(verdict(shell, wheel, "--no-run")) == {}


@pytest.mark.parametrize(
    ("code", "fix"),
    [
        ("def other():\n    pass\n", "write the function"),
        ("import nowhere\n", "so that it can be imported"),
        ("def echo_py(:\n", "so that it can be imported"),
        ("def echo_py(one, two):\n    pass\n", "let the function take"),
        ("def echo_py(params, /):\n    pass\n", "let the function take"),
        ("def echo_py(params):\n    yield 1\n", "let the function return its result"),
        ("raise ImportError(\"a skill's function takes\")\n", "so that it can be imported"),
    ],
)
def test_the_advice_fits_what_is_wrong_with_the_code(tmp_path: Path, shell: Shell, code: str, fix: str) -> None:
    (problem,) = verdict(shell, write_wheel(tmp_path, a_code_wheel(code)))["problems"]
    assert problem["rule"] == "wheel-code-missing"
    assert fix in problem["fix"]


def test_the_file_that_can_t_be_installed_is_named(tmp_path: Path, shell: Shell) -> None:
    good, bad = write_wheel(tmp_path, a_wheel()), write_wheel(tmp_path, a_wheel(name="bad", entry_points=""), "bad")
    (tmp_path / "odd.zip").write_bytes(b"PK nothing")
    said = shell("install", good, bad, expect=2).err
    assert "error: bad-1.0.0-py3-none-any.whl: bad is not a good pack" in said
    assert "odd.zip: " in shell("install", tmp_path / "odd.zip", expect=5).err
    assert "odd.zip: " in shell("upload", tmp_path / "odd.zip", expect=5).err


@pytest.mark.parametrize(
    ("options", "needs"),
    [
        ({"tag": "py3-none-win_amd64"}, "needs a Python and system for py3-none-win_amd64 (this is cp3"),
        ({"metadata": "Requires-Python: >=3.99\n"}, "needs Python >=3.99 (this is 3."),
    ],
)
@pytest.mark.parametrize("flags", [(), ("--no-run",)])
def test_a_wheel_for_another_system_or_python_is_good_and_can_t_be_installed_here(
    tmp_path: Path, shell: Shell, options: dict[str, Any], needs: str, flags: tuple[str, ...]
) -> None:
    wheel = write_wheel(tmp_path, a_code_wheel("raise SystemExit\n", **options), tag=options.get("tag", "py3-none-any"))
    item = verdict(shell, wheel, *flags)
    assert (item["publishable"], item["installable"], item["installable_here"]) == (True, True, False)
    assert needs in rules(item)["machine-lacks"]
    assert "good; it can't be installed on this machine" in shell("check", wheel, *flags).out
    refused = shell("install", wheel, expect=6)
    assert needs in refused.err
    assert "nothing was installed" in refused.err


@pytest.mark.parametrize(
    ("environ", "text"),
    [({"UV_OFFLINE": "1"}, "can't be fetched: nowhere-to-be-found"), ({"MARKET_FORBID_DEPENDENCIES": "all"}, "forbids dependencies")],
)
def test_what_it_depends_on_and_can_t_be_had_here_leaves_it_unproven(
    tmp_path: Path, shell: Shell, environ: dict[str, str], text: str
) -> None:
    shell.environ.update(environ)
    wheel = write_wheel(tmp_path, a_code_wheel(requires=("nowhere-to-be-found",)))
    item = verdict(shell, wheel)
    assert (item["publishable"], item["installable_here"]) == (True, False)
    assert text in rules(item)["wheel-not-proven"]
    assert "not proven; to install it here would fail" in shell("check", wheel, expect=2).out
    if "UV_OFFLINE" in environ:
        assert rules(verdict(shell, wheel, "--no-deps")) == {}


def test_a_broken_wheel_is_a_verdict_and_nothing_of_it_runs(tmp_path: Path, shell: Shell) -> None:
    wheel = write_wheel(tmp_path, a_code_wheel("raise SystemExit\n", more={"evil.pth": "import os"}))
    assert "wheel-pth" in rules(verdict(shell, wheel))


def test_a_wheel_is_installed_by_path_and_its_skill_runs(tmp_path: Path, shell: Shell) -> None:
    wheel = write_wheel(tmp_path, a_code_wheel())
    (item,) = shell("install", wheel, "--json").json["items"]
    assert (item["name"], item["action"], item["skills"]) == (
        "demo-pack",
        "installed",
        [{"name": "echo_py", "kind": "python", "class": "safe"}],
    )
    assert shell("run", "echo_py", "--args", '{"a": 1}').json == {"echo": {"a": 1}, "version": "1.0.0"}
    shell("uninstall", "demo-pack")


def test_a_content_wheel_is_installed_and_its_guide_is_listed(tmp_path: Path, shell: Shell) -> None:
    done = shell("install", write_wheel(tmp_path, a_wheel()), "--json")
    assert done.json["items"][0]["skills"] == [{"name": "greeting", "kind": "guide", "class": "safe"}]


def test_what_loads_otherwise_than_meant_is_said_at_the_install(tmp_path: Path, shell: Shell) -> None:
    again = {"demo_pack/later/skill.json": a_python_skill("echo_py", "demo_pack.skills:echo_py")}
    wheel = write_wheel(tmp_path, a_code_wheel(manifest={"class": None}, more=again))
    assert set(rules(verdict(shell, wheel, "--no-run"))) == {"class-missing", "skill-duplicate"}
    done = shell("install", wheel)
    assert "warning: demo_pack/echo_py/skill.json:1:1: 'class' is missing, so the skill counts as safe (" in done.out
    assert "warning: demo_pack/later/skill.json: the skill 'echo_py' in 'demo_pack/later' is already in 'demo_pack/echo_py'" in done.out
    (row,) = shell("list", "--json").json["items"]
    assert (row["state"], row["skills"]) == ("live", [{"key": "echo_py", "state": "live"}])
    assert row["not_loaded"] == [{"name": "echo_py", "reason": "its pack has another skill of this name"}]
    (told,) = [one for one in shell("doctor", "--json").json["items"] if one["rule"] == "skill-not-loaded"]
    assert told["text"] == "echo_py of demo-pack 1.0.0 doesn't load: its pack has another skill of this name"


def test_a_folder_without_a_class_is_said_at_the_install_too(shell: Shell) -> None:
    shell.pack("my-pack", {"skill.json": a_skill_json(**{"class": None}), "run.sh": RUN_SCRIPT})
    done = shell("install", "./my-pack", "--json").json["items"][0]
    assert [one["rule"] for one in done["problems"]] == ["class-missing"]


def test_an_upload_into_a_host_says_it_too(tmp_path: Path, shell: Shell) -> None:
    wheel = write_wheel(tmp_path, a_code_wheel(manifest={"class": None}))
    answer = Answer(body=b'{"name": "demo-pack", "version": "1.0.0", "action": "installed", "live_ms": 3.2}')
    with serve(lambda asked: answer) as host:
        shell.environ["MARKET_HOST_URL"] = host.url
        assert "warning: demo_pack/echo_py/skill.json:1:1: 'class' is missing" in shell("upload", wheel, "--host").out


def a_pack_with_a_helper(tmp_path: Path, shell: Shell) -> Path:
    house = tmp_path / "house"
    write_wheel(house, a_wheel({"helper/__init__.py": "X = 1\n"}, name="helper"), "helper")
    shell.environ |= {"UV_OFFLINE": "1", "UV_NO_CACHE": "1", "UV_FIND_LINKS": str(house)}
    return write_wheel(tmp_path, a_code_wheel("def echo_py():\n    import helper\n    return helper.X\n", requires=("helper>=1",)))


def test_what_a_pack_depends_on_is_said_when_it_is_installed_and_afterwards(tmp_path: Path, shell: Shell) -> None:
    wheel = a_pack_with_a_helper(tmp_path, shell)
    assert "\n  with helper 1.0.0\n" in shell("install", wheel).out
    rows = [{"name": "helper", "version": "1.0.0"}]
    for command in ("list", "why demo-pack"):
        assert shell(*command.split(), "--json").json["items"][0]["dependencies"] == rows
    assert "with:        helper 1.0.0" in shell("why", "demo-pack").out
    # No index knows the pack, so it is shown as it is installed.
    shown = shell("show", "demo-pack", "--json").json
    assert (shown["pack"], [(row["version"], row["dependencies"]) for row in shown["installed"]]) == (None, [("1.0.0", rows)])
    assert "  with helper 1.0.0\n" in shell("show", "demo-pack").out
    shell("show", "never-installed", expect=3)


def test_what_no_deps_left_out_is_said_everywhere_until_it_is_there(tmp_path: Path, shell: Shell) -> None:
    wheel, said = a_pack_with_a_helper(tmp_path, shell), "installed with --no-deps: helper>=1 is missing"
    assert f"\n  {said}\n" in shell("install", wheel, "--no-deps").out
    (item,) = shell("install", wheel, "--no-deps", "--json").json["items"]
    assert (item["action"], item["left_out"], item["dependencies"]) == ("unchanged", ["helper>=1"], [])
    assert f"demo-pack was {said} [dependencies-left-out]" in shell("doctor", expect=None).out
    assert said in shell("show", "demo-pack").out
    assert "demo-pack: installed with --no-deps, without helper>=1" in shell("list").out
    assert "without:     helper>=1 (--no-deps)" in shell("why", "demo-pack").out
    assert "would reinstall" in shell("install", wheel, "--dry-run").out
    assert "reinstalled" in shell("install", wheel).out
    assert shell("run", "echo_py").json == 1
    assert "dependencies-left-out" not in shell("doctor", expect=None).out


def test_a_dry_run_says_what_comes_along_and_holds_it_against_the_terms(tmp_path: Path, shell: Shell) -> None:
    old = "old; python_version < '3'"
    shell("publish", write_wheel(tmp_path, a_code_wheel(requires=("helper>=1", old), manifest={"class": "mutating"})))
    shell.index.requests.clear()
    assert "  with what its code depends on, not counted: helper>=1\n" in shell("install", "demo-pack", "--dry-run").out
    assert [path.rpartition(".")[2] for _, path, _ in shell.index.requests if "/blobs/" in path] == ["metadata"]
    (item,) = shell("install", "demo-pack", "--dry-run", "--json").json["items"]
    assert (item["depends_on"], item["dependencies"], item["left_out"]) == (["helper>=1"], [], [])
    alone = shell("install", "demo-pack", "--dry-run", "--no-deps")
    assert "installed with --no-deps: helper>=1 is missing" in alone.out and "not counted" not in alone.out
    for classes, code in (("all", 6), ("dangerous", 0), ("mutating", 6)):
        shell.environ["MARKET_FORBID_DEPENDENCIES"] = classes
        for flags in ((), ("--no-deps",)):
            ran = shell("install", "demo-pack", "--dry-run", *flags, expect=code)
            assert ("demo-pack depends on helper>=1" in ran.err) is bool(code)


@pytest.mark.parametrize("files", [[], [{"url": "../../../blobs/nowhere"}]])
def test_where_an_index_serves_no_metadata_a_dry_run_says_that_it_doesn_t_know(tmp_path: Path, shell: Shell, files: list[dict[str, str]]) -> None:
    shell("publish", write_wheel(tmp_path, a_code_wheel(requires=("helper>=1",))))

    def change(_: str, answer: object) -> object:
        if not isinstance(answer, dict) or not answer.get("files"):
            return answer
        return {**answer, "files": [{**answer["files"][0], **file} for file in files]}

    shell.index.change_answer = change
    assert "not counted: its file says what that is" in shell("install", "demo-pack", "--dry-run").out
    assert shell("install", "demo-pack", "--dry-run", "--json").json["items"][0]["depends_on"] is None
    assert "not counted" not in shell("install", "demo-pack", "--dry-run", "--no-deps").out


def test_metadata_that_isn_t_the_promised_one_isn_t_believed(tmp_path: Path, shell: Shell) -> None:
    shell("publish", write_wheel(tmp_path, a_code_wheel(requires=("helper>=1",))))

    def change(_: str, answer: object) -> object:
        files = [{**file, "metadata_digest": f"sha256:{'0' * 64}"} for file in answer.get("files", ())] if isinstance(answer, dict) else []
        return {**answer, "files": files} if isinstance(answer, dict) and files else answer

    shell.index.change_answer = change
    assert "METADATA of demo-pack 1.0.0 isn't the one" in shell("install", "demo-pack", "--dry-run", expect=5).err


@pytest.mark.parametrize("flag", ["--no-deps", "--refresh-deps"])
def test_a_lock_file_alone_says_which_dependencies_come(tmp_path: Path, shell: Shell, flag: str) -> None:
    shell("install", a_pack_with_a_helper(tmp_path, shell), "--lock")
    refused = shell("install", "--locked", flag, expect=2).err
    assert f"--locked and {flag} can't go together" in refused
    assert f"market install NAME@VERSION {flag} --lock" in refused


def test_dependencies_are_refreshed_on_purpose_only(tmp_path: Path, shell: Shell) -> None:
    wheel = a_pack_with_a_helper(tmp_path, shell)
    shell("install", wheel)
    write_wheel(tmp_path / "house", a_wheel({"helper/__init__.py": "X = 2\n"}, name="helper", version="2.0.0"), "helper", "2.0.0")
    assert "unchanged" in shell("install", wheel).out
    assert "  with helper 2.0.0\n" in shell("install", wheel, "--refresh-deps").out
    assert shell("run", "echo_py").json == 2
