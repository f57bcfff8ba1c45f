"""Python skills through real workers: what they get, what they give back, and code that misbehaves in every way."""

from __future__ import annotations

import importlib._bootstrap_external as external
import os
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pluggy
import pytest

from market.errors import MarketError
from market.model import OutcomeKind
from market.run.limits import MAX_STDOUT_BYTES, STDERR_TAIL_BYTES, WORKER_STOP_SECONDS
from market.run.python import PythonExecutor
from market.run.workers import Workers
from tests.run.python_packs import a_python_pack, descendants, processes_in, wait_until

if TYPE_CHECKING:
    from collections.abc import Iterator

    from market.model import Outcome

pytestmark = pytest.mark.flow

ENVIRON = {"PATH": "/usr/bin:/bin", "HOME": "/home/somebody", "SECRET": "s3", "MARKET_TOKEN": "skm_x"}


@pytest.fixture
def workers() -> Iterator[Workers]:
    with Workers(start_seconds=5, processes=2) as opened:
        yield opened


@pytest.fixture
def executor(workers: Workers) -> PythonExecutor:
    return PythonExecutor(workers, ENVIRON)


def run(
    executor: PythonExecutor, root: Path, code: str, args: str = "{}", seconds: float = 5, **options: Any
) -> Outcome:
    return executor.execute(a_python_pack(root, code, **options), args, seconds)


def test_a_function_gets_the_arguments_and_its_result_is_json(tmp_path: Path, executor: PythonExecutor) -> None:
    outcome = run(
        executor, tmp_path, "def echo_py(params):\n    return {'got': params, 'text': 'é'}\n", '{"a": [1, 2]}'
    )
    assert (outcome.kind, outcome.result) == (OutcomeKind.OK, {"got": {"a": [1, 2]}, "text": "é"})
    assert (outcome.result_text, outcome.error, outcome.stderr) == ('{"got":{"a":[1,2]},"text":"é"}', "", "")
    assert outcome.duration_ms > 0


@pytest.mark.parametrize(
    ("code", "result"),
    [
        ("def echo_py():\n    return 1\n", 1),
        ("def echo_py(arguments):\n    return arguments\n", {}),
        ("def echo_py(context):\n    return [context.key, context.pack, context.version, context.folder]\n",
         ["echo_py", "demo-pack", "1.0.0", "demo_pack/echo_py"]),
        ("def echo_py(key, params, context, *, extra=3):\n    return [key, params, extra]\n", ["echo_py", {}, 3]),
        ("import functools\n@functools.lru_cache\ndef echo_py():\n    return None\n", None),
        ("class Skill:\n    def __call__(self, params):\n        return 'called'\necho_py = Skill()\n", "called"),
    ],
)  # fmt: skip
def test_a_function_takes_what_it_has_parameters_for(
    tmp_path: Path, executor: PythonExecutor, code: str, result: object
) -> None:
    outcome = run(executor, tmp_path, code)
    assert (outcome.result, outcome.error) == (result, "")


def test_the_environment_is_what_the_manifest_allows_and_the_folder_is_the_skills(
    tmp_path: Path, executor: PythonExecutor
) -> None:
    code = "import os\nseen = dict(os.environ)\ndef echo_py():\n    return [seen, dict(os.environ), sorted(os.listdir('.'))]\n"
    allowed = run(executor, tmp_path, code, manifest={"env_allow": ["PATH", "MARKET_TOKEN"]})
    assert allowed.result == [{}, {"PATH": "/usr/bin:/bin"}, ["skill.json"]]
    assert run(executor, tmp_path, code, folder="second").result == [{}, {}, ["skill.json"]]


def test_prints_are_log_lines_and_never_break_the_protocol(tmp_path: Path, executor: PythonExecutor) -> None:
    code = "import os, sys\nprint('at import')\ndef echo_py():\n    print('hello')\n    os.write(1, b'raw\\n')\n    sys.stderr.write('log\\n')\n    return 1\n"
    skill = a_python_pack(tmp_path, code)
    executor.execute(skill, "{}", 5)
    outcome = executor.execute(skill, "{}", 5)
    assert (outcome.kind, outcome.result, outcome.stderr, outcome.truncated) == (
        OutcomeKind.OK,
        1,
        "hello\nraw\nlog\n",
        False,
    )


def test_a_flood_of_log_lines_is_cut_to_its_end(tmp_path: Path, executor: PythonExecutor) -> None:
    outcome = run(executor, tmp_path, "def echo_py():\n    for n in range(100000):\n        print(n)\n    return 1\n")
    assert (outcome.result, outcome.truncated, len(outcome.stderr)) == (1, True, STDERR_TAIL_BYTES)
    assert outcome.stderr.endswith("99998\n99999\n")


@pytest.mark.parametrize(
    ("code", "error"),
    [
        ("def echo_py():\n    raise ValueError('no such table')\n", "it raised ValueError: no such table"),
        ("import sys\ndef echo_py():\n    sys.exit(3)\n", "it called exit(3)"),
        ("def echo_py():\n    raise KeyboardInterrupt\n", "it raised KeyboardInterrupt"),
        ("def echo_py():\n    return {1, 2}\n", "its result is not JSON: Object of type set is not JSON serializable"),
        ("def echo_py():\n    return float('nan')\n", "its result is not JSON"),
        ("def echo_py():\n    return '\\ud800'\n", "its result is not JSON"),
        ("def echo_py():\n    x = []\n    x.append(x)\n    return x\n", "its result is not JSON"),
        (
            f"def echo_py():\n    return 'x' * {MAX_STDOUT_BYTES}\n",
            f"OUTPUT LIMIT: {MAX_STDOUT_BYTES + 2} bytes of result, at most {MAX_STDOUT_BYTES} are taken",
        ),
    ],
)
def test_what_a_function_does_wrong_is_its_calls_outcome_and_the_worker_lives(
    tmp_path: Path, workers: Workers, executor: PythonExecutor, code: str, error: str
) -> None:
    skill = a_python_pack(tmp_path, code)
    first, pids = executor.execute(skill, "{}", 5), workers.pids()
    assert first.kind is OutcomeKind.FAILED
    assert error in first.error
    assert executor.execute(skill, "{}", 5).error.startswith(error)
    assert workers.pids() == pids


def test_a_traceback_names_the_packs_own_files(tmp_path: Path, executor: PythonExecutor) -> None:
    outcome = run(executor, tmp_path, "def echo_py():\n    return 1 / 0\n")
    assert 'File "demo_pack/skills.py", line 2, in echo_py' in outcome.stderr
    assert "/proc/" not in outcome.stderr


@pytest.mark.parametrize(
    ("code", "error"),
    [
        ("import os\ndef echo_py():\n    print('going')\n    os._exit(7)\n", "ended in the middle of the call: it exited with code 7\nstderr: going"),
        ("import os\ndef echo_py():\n    os.kill(os.getpid(), 11)\n", "it was killed by signal 11"),
        ("import os\ndef echo_py():\n    os.kill(os.getppid(), 9)\n    import time\n    time.sleep(30)\n", "it was killed by signal 9"),
        ("import os\ndef echo_py():\n    os.closerange(3, 50)\n    return 1\n", "ended in the middle of the call"),
        ("import os\ndef echo_py():\n    for n in range(3, 50):\n        try:\n            os.write(n, b'{}\\n')\n        except OSError:\n            pass\n",
         "it answered something else than the protocol"),
    ],
)  # fmt: skip
def test_a_crash_is_the_calls_outcome_and_the_next_call_gets_a_new_worker(
    tmp_path: Path, executor: PythonExecutor, code: str, error: str
) -> None:
    skill = a_python_pack(tmp_path, code)
    outcome = executor.execute(skill, "{}", 5)
    assert outcome.kind is OutcomeKind.FAILED
    assert outcome.error.startswith("the worker of demo-pack ")
    assert error in outcome.error
    assert "demo-pack" in executor.execute(skill, "{}", 5).error


def test_crashes_in_a_row_make_the_next_start_wait(tmp_path: Path, executor: PythonExecutor) -> None:
    skill = a_python_pack(
        tmp_path, "import os\ndef echo_py(params):\n    if params.get('die'):\n        os._exit(7)\n    return 1\n"
    )
    for _ in range(2):
        executor.execute(skill, '{"die": true}', 5)
    with pytest.raises(
        MarketError, match=r"the worker of demo-pack failed 2 times in a row and is started again in 0\.\d s"
    ) as caught:
        executor.execute(skill, "{}", 5)
    assert "code 7" in caught.value.why
    time.sleep(0.6)
    assert executor.execute(skill, "{}", 5).result == 1
    executor.execute(skill, '{"die": true}', 5)
    assert executor.execute(skill, "{}", 5).result == 1, "one crash after a good call doesn't wait"


def test_a_deadline_kills_the_call_with_all_that_it_started(
    tmp_path: Path, workers: Workers, executor: PythonExecutor
) -> None:
    code = "import os, time\ndef echo_py():\n    if not os.fork():\n        os.setsid()\n        time.sleep(60)\n    print('looping', flush=True)\n    while True:\n        pass\n"
    skill = a_python_pack(tmp_path, code)
    started = time.monotonic()
    outcome = executor.execute(skill, "{}", 0.5)
    assert (outcome.kind, outcome.stderr) == (OutcomeKind.TIMEOUT, "looping\n")
    assert outcome.error.startswith("timed out after 0.5 s")
    assert time.monotonic() - started < 4
    assert not workers.pids()
    assert not processes_in(tmp_path / "demo-pack")


def test_nothing_of_a_call_outlives_it_and_a_fork_that_returns_answers_nothing(
    tmp_path: Path, workers: Workers, executor: PythonExecutor
) -> None:
    code = (
        "import os, subprocess\ndef echo_py(params):\n    pid = os.fork()\n    subprocess.Popen(['/bin/sleep', '60'], start_new_session=True)\n"
        "    return os.getpid()\n"
    )
    skill = a_python_pack(tmp_path, code)
    results = {executor.execute(skill, "{}", 5).result for _ in range(5)}
    (keeper,) = workers.pids()
    assert results == set(descendants(keeper)), "one worker answered, and it is all that is left"


@pytest.mark.parametrize(
    ("code", "error"),
    [
        (
            "import nowhere\n",
            "its module demo_pack.skills can't be imported: ModuleNotFoundError: No module named 'nowhere'",
        ),
        ("raise SystemExit(4)\n", "its module demo_pack.skills can't be imported: it called exit(4)"),
        ("def other():\n    pass\n", "its module demo_pack.skills has no function 'echo_py'"),
        ("def echo_py(first, second):\n    pass\n", "its function demo_pack.skills:echo_py takes first, second"),
        ("echo_py = 3\n", "has no function 'echo_py'"),
        ("async def echo_py(params):\n    return 1\n", "its function demo_pack.skills:echo_py is asynchronous; a skill's function returns its result"),
    ],
)
def test_a_skill_that_the_code_does_not_have_says_so_and_names_the_pack(
    tmp_path: Path, executor: PythonExecutor, code: str, error: str
) -> None:
    outcome = run(executor, tmp_path, code)
    assert outcome.kind is OutcomeKind.FAILED
    assert outcome.error.startswith("demo-pack declares the skill echo_py, but its code doesn't have it: ")
    assert error in outcome.error


@pytest.mark.parametrize(
    ("code", "why"),
    [
        ("raise RuntimeError('not today')\n", "it can't be loaded: RuntimeError: not today"),
        ("import sys\nsys.exit('bye')\n", "it can't be loaded: it called exit('bye')"),
        ("import os\nos._exit(9)\n", "it exited with code 9"),
        ("import os\nprint('forking')\nos.fork()\n", ""),
        ("print('stuck')\nwhile True:\n    pass\n", "its code wasn't loaded after 1 s\nstderr: stuck"),
        ("import pluggy\nhookimpl = pluggy.HookimplMarker('market')\n@hookimpl\ndef market_skills(folder):\n    return []\n",
         "it can't be loaded: market_skills has no argument folder; it has none"),
        ("import pluggy\nhookimpl = pluggy.HookimplMarker('market')\n@hookimpl\ndef market_execute(key, parms):\n    return []\n",
         "it can't be loaded: market_execute has no argument parms; did you mean params? it has key, params, context"),
        ("import pluggy\nhookimpl = pluggy.HookimplMarker('market')\n@hookimpl\ndef market_skill():\n    return []\n",
         "it can't be loaded: there is no hook market_skill; there are market_skills and market_execute"),
    ],
)  # fmt: skip
def test_a_plugin_that_can_t_be_loaded_fails_its_calls_and_leaves_nothing(tmp_path: Path, code: str, why: str) -> None:
    skill = a_python_pack(tmp_path, more={"demo_pack/__init__.py": code, **pluggy_files()})
    with Workers(start_seconds=1) as workers:
        executor = PythonExecutor(workers, ENVIRON)
        if not why:
            assert executor.execute(skill, "{}", 5).kind is OutcomeKind.OK
            return
        with pytest.raises(MarketError, match="the code of demo-pack can't be run") as caught:
            executor.execute(skill, "{}", 5)
        assert why in caught.value.why
        assert not workers.pids()
        assert not processes_in(tmp_path / "demo-pack")


WRITES = """import os
for descriptor in range(3, 40):
    try:
        os.write(descriptor, {line!r})
    except OSError:
        pass
"""


@pytest.mark.parametrize("line", [b'{"size":0}\n', b'{"kind":"hello","id":0,"size":0,"offers":[1]}\n', b"[" * 60_000 + b"\n"], ids=["size", "offers", "deep"])
def test_code_that_writes_to_the_workers_pipe_hurts_itself_alone(tmp_path: Path, workers: Workers, executor: PythonExecutor, line: bytes) -> None:
    skill = a_python_pack(tmp_path, more={"demo_pack/__init__.py": WRITES.format(line=line)})
    with pytest.raises(MarketError, match="the code of demo-pack can't be run") as caught:
        executor.execute(skill, "{}", 5)
    assert "something else than the protocol" in caught.value.why
    assert not workers.pids()
    assert not processes_in(tmp_path / "demo-pack")
    spoiler = "import os\ndef echo_py():\n" + "".join(f"    {row}\n" for row in WRITES.format(line=line).splitlines()[1:])
    skill = a_python_pack(tmp_path, spoiler, folder="later")
    outcome = executor.execute(skill, "{}", 5)
    assert outcome.kind is OutcomeKind.FAILED
    assert "something else than the protocol" in outcome.error
    assert not processes_in(tmp_path / "later")


def test_an_error_with_half_a_character_is_an_outcome_that_can_be_written(tmp_path: Path, executor: PythonExecutor) -> None:
    skill = a_python_pack(tmp_path, "def echo_py():\n    raise ValueError('\\udc80')\n")
    outcome = executor.execute(skill, "{}", 5)
    assert "it raised ValueError" in outcome.error
    outcome.error.encode()


def test_mask_and_alarm_of_a_call_do_not_reach_the_next_one(tmp_path: Path, executor: PythonExecutor) -> None:
    code = (
        "import os, signal, time\ndef echo_py(params):\n    mask = os.umask(0)\n    if params.get('wait'):\n        time.sleep(0.3)\n"
        "    else:\n        signal.setitimer(signal.ITIMER_REAL, 0.1)\n    return [os.getpid(), mask]\n"
    )
    skill = a_python_pack(tmp_path, code)
    first, second = executor.execute(skill, "{}", 5), executor.execute(skill, '{"wait": true}', 5)
    assert (second.kind, second.result) == (OutcomeKind.OK, first.result)
    assert first.result[1] == 0o77  # type: ignore[index]


def pluggy_files() -> dict[str, bytes | str]:
    """Pluggy as the installer would fetch it, beside the package."""
    folder = os.path.dirname(pluggy.__file__)
    return {
        f".site/pluggy/{name}": open(f"{folder}/{name}", "rb").read()
        for name in os.listdir(folder)
        if name.endswith(".py")
    }


def test_a_real_pluggy_plugin_is_asked_through_its_hooks(tmp_path: Path, executor: PythonExecutor) -> None:
    plugin = (
        "import pluggy\nhookimpl = pluggy.HookimplMarker('market')\n@hookimpl\ndef market_skills():\n    return ['echo_py']\n"
        "@hookimpl\ndef market_execute(key, params):\n    return {'by': 'hook', 'key': key}\n"
    )
    files = {"demo_pack/__init__.py": plugin, **pluggy_files()}
    outcome = run(executor, tmp_path, more=files, code="", manifest={"entry": "python:demo_pack:market_execute"})
    assert (outcome.result, outcome.error) == ({"by": "hook", "key": "echo_py"}, "")


HOOK = "import pluggy\nhookimpl = pluggy.HookimplMarker('market')\n@hookimpl\n"


def test_a_hooks_argument_with_a_default_gets_its_value(tmp_path: Path, executor: PythonExecutor) -> None:
    files = {"demo_pack/__init__.py": f"{HOOK}def market_execute(key='x', params=None):\n    return [key, params]\n", **pluggy_files()}
    outcome = run(executor, tmp_path, more=files, code="", args='{"a": 1}', manifest={"entry": "python:demo_pack:market_execute"})
    assert (outcome.result, outcome.error) == (["echo_py", {"a": 1}], "")


def test_what_one_plugin_does_not_run_another_may(tmp_path: Path, executor: PythonExecutor) -> None:
    code = "def market_execute():\n    return None\n@hookimpl(specname='market_execute')\ndef other(key):\n    return ['other', key]\n"
    files = {"demo_pack/__init__.py": f"{HOOK}{code}", **pluggy_files()}
    outcome = run(executor, tmp_path, more=files, code="", manifest={"entry": "python:demo_pack:market_execute"})
    assert (outcome.result, outcome.error) == (["other", "echo_py"], "")


@pytest.mark.parametrize("marked", [True, False])
def test_a_skill_that_no_plugin_runs_is_an_error(tmp_path: Path, executor: PythonExecutor, marked: bool) -> None:
    code = "def market_execute(key, params):\n    return None\n"
    files = {"demo_pack/__init__.py": f"{HOOK}{code}", **pluggy_files()} if marked else {"demo_pack/__init__.py": code}
    outcome = run(executor, tmp_path, more=files, code="", manifest={"entry": "python:demo_pack:market_execute"})
    assert outcome.kind is OutcomeKind.FAILED
    assert outcome.error.startswith("none of its plugins runs echo_py: market_execute returned None")


def test_the_pack_sees_neither_the_hosts_packages_nor_its_modules(tmp_path: Path, executor: PythonExecutor) -> None:
    code = (
        "import sys\ndef echo_py():\n    found = []\n    for name in ('market', 'pluggy', 'click', 'supervisor', 'worker_serve', 'worker_shape'):\n"
        "        try:\n            __import__(name)\n            found.append(name)\n        except ImportError:\n            pass\n    return found\n"
    )
    assert run(executor, tmp_path, code).result == []


def test_bytecode_beside_the_source_is_never_run(tmp_path: Path, executor: PythonExecutor) -> None:
    a_python_pack(tmp_path, "def echo_py():\n    return 'evil'\n")
    package = tmp_path / "demo-pack" / "demo_pack"
    source = package / "skills.py"
    code = compile(source.read_text(), "skills.py", "exec")
    cached = package / "__pycache__" / f"skills.{sys.implementation.cache_tag}.pyc"
    cached.parent.mkdir()
    a_python_pack(tmp_path, "def echo_py():\n    return 'good'\n")
    status = source.stat()
    cached.write_bytes(external._code_to_timestamp_pyc(code, int(status.st_mtime), status.st_size))  # type: ignore[attr-defined]
    assert run(executor, tmp_path, "def echo_py():\n    return 'good'\n").result == "good"


def test_overlapping_calls_get_workers_of_their_own_up_to_a_limit(
    tmp_path: Path, workers: Workers, executor: PythonExecutor
) -> None:
    skill = a_python_pack(tmp_path, "import os, time\ndef echo_py():\n    time.sleep(0.3)\n    return os.getpid()\n")
    with ThreadPoolExecutor(4) as threads:
        pids = {outcome.result for outcome in threads.map(lambda _: executor.execute(skill, "{}", 5), range(4))}
    assert len(pids) == len(workers.pids()) == 2


def test_an_idle_worker_ends_and_the_next_call_starts_another(tmp_path: Path) -> None:
    skill = a_python_pack(tmp_path, "import os\ndef echo_py():\n    return os.getpid()\n")
    with Workers(idle_seconds=0.2) as workers:
        executor = PythonExecutor(workers, ENVIRON)
        first = executor.execute(skill, "{}", 5).result
        wait_until(lambda: not workers.pids())
        wait_until(lambda: not processes_in(tmp_path / "demo-pack"))
        assert executor.execute(skill, "{}", 5).result not in (first, None)


def test_the_end_of_the_host_is_the_end_of_its_workers(tmp_path: Path) -> None:
    skill = a_python_pack(tmp_path, "def echo_py():\n    return 1\n")
    with Workers() as workers:
        PythonExecutor(workers, ENVIRON).execute(skill, "{}", 5)
        assert processes_in(tmp_path / "demo-pack")
    wait_until(lambda: not processes_in(tmp_path / "demo-pack"))


def test_idle_workers_may_run_their_exit_handlers_when_the_host_ends_all_at_once_and_are_waited_for(tmp_path: Path) -> None:
    code = "import atexit, os, time\ndef bye():\n    time.sleep(0.4)\n    open(os.path.join({folder!r}, str(os.getpid())), 'w').close()\n"
    code += "atexit.register(bye)\ndef echo_py():\n    time.sleep(0.3)\n    return os.getpid()\n"
    (tmp_path / "bye").mkdir()
    skill = a_python_pack(tmp_path, code.format(folder=str(tmp_path / "bye")))
    workers = Workers(processes=3)
    executor = PythonExecutor(workers, ENVIRON)
    with ThreadPoolExecutor(3) as threads:
        serving = {str(outcome.result) for outcome in threads.map(lambda _: executor.execute(skill, "{}", 5), range(3))}
    keepers = workers.pids()
    started = time.monotonic()
    workers.close()
    assert time.monotonic() - started < 1, "one after the other would take 1.2 s"
    assert {path.name for path in (tmp_path / "bye").iterdir()} == serving
    assert len(keepers) == 3 and not any(Path(f"/proc/{pid}").exists() for pid in keepers), "not even as zombies"


def test_a_worker_that_does_not_end_in_peace_is_killed(tmp_path: Path) -> None:
    skill = a_python_pack(tmp_path, "import atexit, time\natexit.register(time.sleep, 60)\ndef echo_py():\n    return 1\n")
    workers = Workers()
    PythonExecutor(workers, ENVIRON).execute(skill, "{}", 5)
    started = time.monotonic()
    workers.close()
    assert WORKER_STOP_SECONDS <= time.monotonic() - started < WORKER_STOP_SECONDS + 2
    assert not processes_in(tmp_path / "demo-pack")


def test_the_process_table_shows_whose_worker_it_is(tmp_path: Path, workers: Workers, executor: PythonExecutor) -> None:
    outcome = run(executor, tmp_path, "import os\ndef echo_py():\n    return [os.getpid(), os.getppid()]\n")
    for pid in outcome.result:  # type: ignore[attr-defined]
        assert b"demo-pack==1.0.0" in Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")


PARALLEL = (
    "import multiprocessing, time\nfrom demo_pack import other\ndef echo_py(params):\n"
    "    with multiprocessing.get_context(params['how']).Pool(2) as pool:\n        return pool.map(other.double, range(4))\n"
)


@pytest.mark.parametrize("how", ["spawn", "forkserver", "fork"])
def test_code_may_use_multiprocessing_call_after_call_and_its_processes_run_the_same_source(
    tmp_path: Path, executor: PythonExecutor, how: str
) -> None:
    skill = a_python_pack(tmp_path, PARALLEL)
    package = tmp_path / "demo-pack" / "demo_pack"
    (package / "other.py").write_text("def double(n):\n    return 3 * n\n")
    status = (package / "other.py").stat()
    code = compile("def double(n):\n    return 'evil'\n", "other.py", "exec")
    cached = package / "__pycache__" / f"other.{sys.implementation.cache_tag}.pyc"
    cached.parent.mkdir()
    cached.write_bytes(external._code_to_timestamp_pyc(code, int(status.st_mtime), status.st_size))  # type: ignore[attr-defined]
    for _ in range(2):
        outcome = executor.execute(skill, f'{{"how": "{how}"}}', 20)
        assert (outcome.result, outcome.error) == ([0, 3, 6, 9], "")
    assert list(tmp_path.rglob("*.pyc")) == [cached]


def test_memory_is_bounded_and_the_error_says_so(tmp_path: Path) -> None:
    skill = a_python_pack(tmp_path, "def echo_py(params):\n    return len('a' * params['n'])\n")
    with Workers(memory_bytes=512 << 20) as workers:
        executor = PythonExecutor(workers, ENVIRON)
        outcome = executor.execute(skill, '{"n": 1073741824}', 5)
        assert outcome.error.startswith("it raised MemoryError: a process of a call may hold 536870912 bytes (512 MiB)")
        assert executor.execute(skill, '{"n": 1048576}', 5).result == 1 << 20
