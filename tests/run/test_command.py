"""The wire protocol of command skills (mission A5-A12), through real processes."""

from __future__ import annotations

import json
import os
import sys
import time
from typing import TYPE_CHECKING

import pytest

from market.errors import InvalidInput
from market.model import Kind, OutcomeKind
from market.run.command import CommandExecutor
from market.run.limits import LINGER_SECONDS, MAX_FILE_BYTES, MAX_OPEN_FILES, MAX_STDOUT_BYTES, STDERR_TAIL_BYTES
from market.run.pool import SupervisorPool
from tests.run.live import a_live_skill, a_script_skill, write_script

if TYPE_CHECKING:
    from pathlib import Path

PYTHON = f"#!{sys.executable} -IS\n"


def test_args_on_stdin_then_end_of_file_and_the_result_verbatim(tmp_path: Path, executor: CommandExecutor) -> None:
    outcome = executor.execute(a_script_skill(tmp_path, "#!/bin/sh\necho; cat; echo ' '\n"), '{"a": [1,  2]}', 5)
    assert (outcome.kind, outcome.result, outcome.result_text) == (OutcomeKind.OK, {"a": [1, 2]}, '{"a": [1,  2]}')
    assert (outcome.exit_code, outcome.error, outcome.stderr) == (0, "", "")
    assert outcome.duration_ms > 0


@pytest.mark.parametrize("printed", ["null", "3", '"text"', "[]"])
def test_any_json_value_is_a_result(tmp_path: Path, executor: CommandExecutor, printed: str) -> None:
    outcome = executor.execute(a_script_skill(tmp_path, f"#!/bin/sh\necho '{printed}'\n"), "{}", 5)
    assert (outcome.kind, outcome.result_text) == (OutcomeKind.OK, printed)


def test_stderr_is_kept_on_success(tmp_path: Path, executor: CommandExecutor) -> None:
    outcome = executor.execute(a_script_skill(tmp_path, "#!/bin/sh\necho step 1 >&2; echo '{}'\n"), "{}", 5)
    assert (outcome.kind, outcome.stderr) == (OutcomeKind.OK, "step 1\n")


def test_an_exit_code_is_a_failure_with_the_end_of_stderr(tmp_path: Path, executor: CommandExecutor) -> None:
    outcome = executor.execute(a_script_skill(tmp_path, "#!/bin/sh\necho '{}'; echo no such disk >&2; exit 3\n"), "{}", 5)
    assert (outcome.kind, outcome.exit_code, outcome.result) == (OutcomeKind.FAILED, 3, None)
    assert outcome.error == "exited with code 3\nstderr: no such disk"


def test_a_death_by_signal_names_the_signal(tmp_path: Path, executor: CommandExecutor) -> None:
    outcome = executor.execute(a_script_skill(tmp_path, "#!/bin/sh\nkill -SEGV $$\n"), "{}", 5)
    assert (outcome.kind, outcome.error, outcome.exit_code) == (OutcomeKind.FAILED, "was killed by SIGSEGV", -11)


@pytest.mark.parametrize(
    ("script", "error"),
    [
        ("echo hello", "it starts with 'hello'"),
        ("true", "its stdout is empty"),
        ("echo '{} {}'", "more than one JSON value"),
        ("echo NaN", "NaN is not JSON"),
        ("printf '\"\\377\"'", "is not UTF-8 (byte 1 is 0xff)"),
    ],
)
def test_what_is_not_one_json_value_is_a_failure_that_shows_it(tmp_path: Path, executor: CommandExecutor, script: str, error: str) -> None:
    outcome = executor.execute(a_script_skill(tmp_path, f"#!/bin/sh\n{script}\n"), "{}", 5)
    assert outcome.kind is OutcomeKind.FAILED
    assert error in outcome.error


def test_deep_nesting_in_a_result_is_a_failure(tmp_path: Path, executor: CommandExecutor) -> None:
    outcome = executor.execute(a_script_skill(tmp_path, f"{PYTHON}print('[' * 200000)\n"), "{}", 5)
    assert "nested too deeply" in outcome.error


def test_the_environment_is_empty_without_env_allow(tmp_path: Path, executor: CommandExecutor) -> None:
    # An interpreter without any locale sets LC_CTYPE for itself (PEP 538); what the kernel passed is exact.
    script = f"{PYTHON}import json\nprint(json.dumps(open('/proc/self/environ').read()))\n"
    assert executor.execute(a_script_skill(tmp_path, script), "{}", 5).result == ""


def test_only_named_variables_are_forwarded(tmp_path: Path, executor: CommandExecutor) -> None:
    script = f"{PYTHON}import json\nprint(json.dumps(open('/proc/self/environ').read().split(chr(0))))\n"
    skill = a_script_skill(tmp_path, script, env_allow=("HOME", "MARKET_TOKEN", "UNSET"))
    assert executor.execute(skill, "{}", 5).result == ["HOME=/home/somebody", ""]


def test_odd_bytes_in_a_variable_arrive_unchanged(tmp_path: Path, pool: SupervisorPool) -> None:
    script = f"{PYTHON}import json\nprint(json.dumps(list(open('/proc/self/environ','rb').read())))\n"
    executor = CommandExecutor(pool, {"ODD": os.fsdecode(b"\xff\xc3\xbc")})
    assert executor.execute(a_script_skill(tmp_path, script, env_allow=("ODD",)), "{}", 5).result == list(b"ODD=\xff\xc3\xbc\0")


def test_the_child_runs_in_the_skills_folder(tmp_path: Path, executor: CommandExecutor) -> None:
    skill = a_script_skill(tmp_path, '#!/bin/sh\nprintf \'["%s", "%s"]\' "$0" "$(pwd -P)"\n', folder="skills/one")
    assert executor.execute(skill, "{}", 5).result == ["./run.sh", str(tmp_path / "pack/skills/one")]


def test_an_entry_may_lie_elsewhere_in_the_pack(tmp_path: Path, executor: CommandExecutor) -> None:
    write_script(tmp_path / "pack/bin/tool", "#!/bin/sh\necho 1\n")
    (tmp_path / "pack/skills/one").mkdir(parents=True)
    relative = a_live_skill(tmp_path / "pack", folder="skills/one", entry="../../bin/tool")
    absolute = a_live_skill(tmp_path / "pack", folder="skills/one", entry=str(tmp_path / "pack/bin/tool"))
    assert executor.execute(relative, "{}", 5).result == 1
    assert executor.execute(absolute, "{}", 5).result == 1


def test_a_child_that_never_reads_stdin_breaks_nothing(tmp_path: Path, executor: CommandExecutor) -> None:
    args = json.dumps({"a": "x" * 900_000})
    for script in ("#!/bin/sh\necho 1\n", "#!/bin/sh\nexec <&-\nsleep 0.1\necho 1\n", "#!/bin/sh\nsleep 0.2; head -c 10 >/dev/null; echo 1\n"):
        assert executor.execute(a_script_skill(tmp_path, script), args, 5).result == 1


def test_large_args_arrive_whole(tmp_path: Path, executor: CommandExecutor) -> None:
    args = json.dumps({"a": "x" * 900_000})
    assert executor.execute(a_script_skill(tmp_path, "#!/bin/sh\nwc -c\n"), args, 5).result == len(args)


def test_a_result_of_16_mib_passes_and_one_byte_more_says_the_cap(tmp_path: Path, executor: CommandExecutor) -> None:
    script = f"{PYTHON}import json,sys\nn=json.load(sys.stdin)\nsys.stdout.write('\"'+'x'*(n-2)+'\"')\n"
    skill = a_script_skill(tmp_path, script)
    assert len(executor.execute(skill, str(MAX_STDOUT_BYTES), 20).result_text) == MAX_STDOUT_BYTES
    outcome = executor.execute(skill, str(MAX_STDOUT_BYTES + 1), 20)
    assert outcome.kind is OutcomeKind.FAILED
    assert outcome.error == "OUTPUT LIMIT: 16777217 bytes on stdout, at most 16777216 (16 MiB) are taken"


def test_stderr_is_a_true_tail_with_a_flag(tmp_path: Path, executor: CommandExecutor) -> None:
    script = f"{PYTHON}import sys\nfor i in range(20000): print('line', i, file=sys.stderr)\nprint(1)\n"
    outcome = executor.execute(a_script_skill(tmp_path, script), "{}", 5)
    assert outcome.stderr.endswith("line 19999\n")
    assert (len(outcome.stderr), outcome.truncated) == (STDERR_TAIL_BYTES, True)


def test_both_streams_are_drained_at_once(tmp_path: Path, executor: CommandExecutor) -> None:
    script = f"{PYTHON}import sys\nfor i in range(2000):\n  sys.stdout.write(' ' * 1000); sys.stderr.write('e' * 1000)\nprint(1)\n"
    assert executor.execute(a_script_skill(tmp_path, script), "{}", 10).result == 1


def test_the_child_has_limits_a_private_umask_and_no_foreign_descriptors(tmp_path: Path, executor: CommandExecutor) -> None:
    script = f"""{PYTHON}import json, os, resource, signal
print(json.dumps({{
    "limits": [resource.getrlimit(r) for r in (resource.RLIMIT_CORE, resource.RLIMIT_NOFILE, resource.RLIMIT_FSIZE)],
    "umask": os.umask(0),
    "descriptors": [fd for fd in sorted(map(int, os.listdir("/proc/self/fd"))) if os.path.exists(f"/proc/self/fd/{{fd}}")],
    "leads": os.getsid(0) == os.getpid(),
}}))
"""
    result = executor.execute(a_script_skill(tmp_path, script), "{}", 5).result
    assert result == {
        "limits": [[0, 0], [MAX_OPEN_FILES] * 2, [MAX_FILE_BYTES] * 2],
        "umask": 0o077,
        "descriptors": [0, 1, 2],
        "leads": True,
    }


def test_signals_that_python_ignores_are_the_childs_own(tmp_path: Path, executor: CommandExecutor) -> None:
    script = "#!/bin/sh\nsed -n 's/^SigIgn:[^0-9a-f]*\\(.*\\)/\"\\1\"/p' /proc/self/status\n"
    ignored = int(str(executor.execute(a_script_skill(tmp_path, script), "{}", 5).result), 16)
    # Signals 32 and 33 belong to the C library, which ignores them in whatever posix_spawn starts.
    assert ignored & 0x7FFFFFFF == 0


def test_a_wrapper_script_may_exec_something_else(tmp_path: Path, executor: CommandExecutor) -> None:
    write_script(tmp_path / "pack/inner", "#!/bin/sh\ncat\n")
    assert executor.execute(a_script_skill(tmp_path, "#!/bin/sh\nexec env -i ./inner\n"), '{"a":1}', 5).result == {"a": 1}


def test_calls_one_after_the_other_share_nothing(tmp_path: Path, executor: CommandExecutor) -> None:
    skill = a_script_skill(tmp_path, "#!/bin/sh\ncat\n")
    for number in range(20):
        assert executor.execute(skill, str(number), 5).result == number


def test_what_has_no_command_side_is_refused(tmp_path: Path, executor: CommandExecutor) -> None:
    (tmp_path / "pack").mkdir()
    with pytest.raises(InvalidInput, match="nothing to run"):
        executor.execute(a_live_skill(tmp_path / "pack", kind=Kind.GUIDE), "{}", 5)


def test_a_call_is_quick_when_nothing_lingers(tmp_path: Path, executor: CommandExecutor) -> None:
    skill = a_script_skill(tmp_path, "#!/bin/sh\necho 1\n")
    executor.execute(skill, "{}", 5)
    started = time.monotonic()
    for _ in range(40):
        executor.execute(skill, "{}", 5)
    assert time.monotonic() - started < 40 * LINGER_SECONDS


@pytest.mark.parametrize(("memory_bytes", "limit"), [(1 << 30, str(1 << 20)), (0, "unlimited")])
def test_memory_is_bounded_for_each_process_unless_there_is_no_limit(tmp_path: Path, memory_bytes: int, limit: str) -> None:
    with SupervisorPool(size=1, memory_bytes=memory_bytes) as pool:
        outcome = CommandExecutor(pool, {}).execute(a_script_skill(tmp_path, "#!/bin/bash\necho \"\\\"$(ulimit -d)\\\"\"\n"), "{}", 5)
    assert outcome.result == limit


def test_address_space_is_not_bounded(tmp_path: Path, executor: CommandExecutor) -> None:
    script = f"{PYTHON}import mmap\nmmap.mmap(-1, 1 << 36, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, mmap.PROT_READ)\nprint(1)\n"
    assert executor.execute(a_script_skill(tmp_path, script), "{}", 5).result == 1, "node, Java and Go reserve much more than they use"
