"""Workers while packs come, change and go: through real installs and the registry that a host has."""

from __future__ import annotations

import io
import os
import resource
import sys
import threading
import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest

from market.installer.dependencies import DependencyTerms
from market.installer.receipt import Origin
from market.installer.root import open_root
from market.installer.transaction import install_packs, lock_root, uninstall_packs
from market.installer.wheels import acquire_wheel
from market.model import Call, Caller, Kind, OutcomeKind, Role, State
from market.registry.loader import Loader
from market.registry.registry import Registry
from market.run.invoke import Invoker
from market.run.python import PythonExecutor
from market.run.workers import follow_registry
from tests.run.python_packs import processes_in, wait_until
from tests.wheels import a_code_wheel, a_wheel, write_wheel

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from market.model import Outcome
    from market.run.audit_row import AuditRow

pytestmark = pytest.mark.flow

CALLER = Caller(1, "tester", Role.ADMIN)


class NoAudit:
    """Takes rows and forgets them."""

    def begin(self, row: AuditRow) -> int:
        return 0

    def append(self, row: AuditRow, ticket: int | None = None) -> None:
        return None


class Bench:
    """What a host has: a root, its registry, workers that follow it, and the road of calls."""

    def __init__(self, folder: Path, **options: Any) -> None:
        self.root = open_root(folder / "root", create=True)
        self.house = folder / "house"
        self.house.mkdir()
        self.registry = Registry([str(self.root.path)], Loader().load)
        self.registry.load()
        self.workers = follow_registry(self.registry, **options)
        executors = {Kind.PYTHON: PythonExecutor(self.workers, {})}
        self.invoker = Invoker(self.registry.find_current, executors, NoAudit(), refresh=self.registry.refresh_skill)

    def install(self, *wheels: bytes, settled: bool = True, fetch: bool = True) -> None:
        environ = {**os.environ, "UV_OFFLINE": "1", "UV_NO_CACHE": "1", "UV_FIND_LINKS": str(self.house)}
        terms = DependencyTerms(environ, fetch)
        arrivals = [acquire_wheel(io.BytesIO(wheel), "", Origin("archive", "x"), terms) for wheel in wheels]
        with lock_root(self.root) as locked:
            changes = install_packs(locked, arrivals, datetime.now(UTC))
        units = self.registry.refresh_names(str(self.root.path), [change.name for change in changes])
        if settled:
            assert self.registry.wait_until_settled(10, units)

    def uninstall(self, name: str) -> None:
        with lock_root(self.root) as locked:
            uninstall_packs(locked, [name], datetime.now(UTC))
        self.registry.refresh_names(str(self.root.path), [name])

    def state(self, key: str = "echo_py") -> State:
        return self.registry.snapshot.skills[key].state

    def call(self, key: str = "echo_py", params: object = None) -> Outcome:
        return self.invoker.invoke(Call(key, params or {}, CALLER, "cli"))


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    opened = Bench(tmp_path)
    with opened.workers:
        yield opened


def test_two_packs_with_clashing_versions_of_one_dependency_run_side_by_side(bench: Bench) -> None:
    for version in ("1.0.0", "2.0.0"):
        write_wheel(
            bench.house,
            a_wheel({"shared_dep/__init__.py": f"VERSION = {version!r}\n"}, name="shared-dep", version=version),
            "shared-dep",
            version,
        )
    code = "import shared_dep\ndef {skill}():\n    return shared_dep.VERSION\n"
    for number in ("one", "two"):
        wanted = {"one": "1.0.0", "two": "2.0.0"}[number]
        skill = f"skill_{number}"
        bench.install(
            a_code_wheel(
                code.replace("{skill}", skill), name=f"pack-{number}", skill=skill, requires=(f"shared-dep=={wanted}",)
            )
        )
    outcomes = [bench.call(key) for key in ("skill_one", "skill_two", "skill_one")]
    assert [outcome.result or outcome.error for outcome in outcomes] == ["1.0.0", "2.0.0", "1.0.0"]
    assert len(bench.workers.pids()) == 2
    assert "shared_dep" not in sys.modules


LATE = (
    "import os, time\ndef echo_py(params):\n    if params.get('wait'):\n        open(params['wait'] + '.started', 'w').close()\n"
    "        while not os.path.exists(params['wait']):\n            time.sleep(0.01)\n    from demo_pack import late\n    return late.VERSION\n"
)


def test_a_call_that_began_in_1_0_and_imports_late_ends_in_1_0_while_new_calls_get_2_0(
    tmp_path: Path, bench: Bench
) -> None:
    bench.install(a_code_wheel(LATE, more={"demo_pack/late.py": "VERSION = '1.0.0'\n"}))
    go = str(tmp_path / "go")
    outcomes: list[Outcome] = []
    early = threading.Thread(target=lambda: outcomes.append(bench.call(params={"wait": go})))
    early.start()
    wait_until(lambda: os.path.exists(f"{go}.started"))
    bench.install(a_code_wheel(LATE, version="2.0.0", more={"demo_pack/late.py": "VERSION = '2.0.0'\n"}))
    assert bench.call().result == "2.0.0"
    open(go, "w").close()
    early.join(10)
    assert (outcomes[0].result, outcomes[0].error) == ("1.0.0", "")
    # The old worker has drained: nothing works in its tree any more, and the next change deletes it.
    wait_until(lambda: not any(map(processes_in, bench.root.retired.iterdir())))
    bench.install(a_wheel(name="other"))
    assert os.listdir(bench.root.retired) == []


def test_after_an_uninstall_nothing_is_left(bench: Bench) -> None:
    bench.install(a_code_wheel())
    assert bench.call().kind is OutcomeKind.OK
    tree = bench.root.tree("demo-pack")
    pids = bench.workers.pids()
    assert pids
    assert processes_in(tree)
    bench.uninstall("demo-pack")
    wait_until(lambda: not any(map(_is_alive, pids)))
    assert bench.call().kind is OutcomeKind.UNKNOWN
    assert not [name for name in sys.modules if name.startswith("demo_pack")]
    assert not bench.workers.pids()
    assert not tree.exists()


def _is_alive(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_an_edit_of_the_code_gets_a_new_worker(bench: Bench) -> None:
    bench.install(a_code_wheel("def echo_py():\n    return 'before'\n"))
    assert bench.call().result == "before"
    (bench.root.tree("demo-pack") / "demo_pack" / "skills.py").write_text("def echo_py():\n    return 'after'\n")
    bench.registry.rescan()
    assert bench.registry.wait_until_settled(10)
    assert bench.call().result == "after"
    assert bench.registry.snapshot.skills["echo_py"].state == "edited"


def test_a_skill_that_changes_things_is_held_when_its_dependency_was_edited(bench: Bench) -> None:
    write_wheel(bench.house, a_wheel({"helper.py": "X = 1\n"}, name="helper"), "helper")
    bench.install(a_code_wheel(requires=("helper",), manifest={"class": "mutating"}))
    assert bench.call().kind is OutcomeKind.OK
    (bench.root.tree("demo-pack") / ".site" / "helper.py").write_text("X = 22\n")
    bench.registry.rescan()
    assert bench.call().kind is OutcomeKind.DENIED


# Its import takes until a file is there, and says that it has begun.
SLOW = (
    "import os, time\nopen({go!r} + '.loading', 'a').write('x')\nwhile not os.path.exists({go!r}):\n    time.sleep(0.01)\n"
    "def echo_py():\n    return {version!r}\n"
)


def a_slow_wheel(go: str, version: str) -> bytes:
    return a_code_wheel(SLOW.format(go=go, version=version), version=version)


def test_calls_go_on_in_the_old_version_until_the_new_worker_is_up(tmp_path: Path, bench: Bench) -> None:
    go = str(tmp_path / "go")
    bench.install(a_code_wheel(version="1.0.0"))
    assert bench.call().result == {"echo": {}, "version": "1.0.0"}
    old = bench.workers.pids()
    bench.install(a_slow_wheel(go, "2.0.0"), settled=False)
    wait_until(lambda: os.path.exists(f"{go}.loading"))
    assert [bench.call().result for _ in range(3)] == [{"echo": {}, "version": "1.0.0"}] * 3
    assert bench.registry.snapshot.skills["echo_py"].version == "1.0.0"
    open(go, "w").close()
    assert bench.registry.wait_until_settled(10)
    new = bench.workers.pids()
    assert processes_in(bench.root.tree("demo-pack")), "the worker is there before the first call"
    assert not set(old) & set(new)
    assert bench.call().result == "2.0.0"
    assert bench.workers.pids() == new


def test_what_happens_elsewhere_meanwhile_changes_nothing(tmp_path: Path, bench: Bench) -> None:
    go = str(tmp_path / "go")
    bench.install(a_code_wheel(version="1.0.0"))
    bench.call()
    bench.install(a_slow_wheel(go, "2.0.0"), settled=False)
    wait_until(lambda: os.path.exists(f"{go}.loading"))
    bench.install(a_code_wheel(name="other", skill="other"))
    bench.registry.rescan()
    assert bench.state("other") is State.LIVE
    assert bench.registry.snapshot.skills["echo_py"].version == "1.0.0"
    open(go, "w").close()
    assert bench.registry.wait_until_settled(10)
    assert bench.registry.snapshot.skills["echo_py"].version == "2.0.0"
    with open(f"{go}.loading") as loads:
        assert loads.read() == "x", "its code was loaded once"


def test_a_version_that_is_overtaken_while_it_starts_leaves_no_process(tmp_path: Path, bench: Bench) -> None:
    go = str(tmp_path / "go")
    bench.install(a_code_wheel(version="1.0.0"))
    bench.call()
    bench.install(a_slow_wheel(go, "2.0.0"), settled=False)
    wait_until(lambda: os.path.exists(f"{go}.loading"))
    overtaken = os.stat(bench.root.tree("demo-pack")).st_ino
    bench.install(a_code_wheel(version="3.0.0"))
    assert bench.call().result == {"echo": {}, "version": "3.0.0"}
    open(go, "w").close()
    wait_until(lambda: not any(map(processes_in, bench.root.retired.iterdir())))
    assert overtaken != os.stat(bench.root.tree("demo-pack")).st_ino
    assert len(bench.workers.pids()) == 1


def test_a_version_that_is_uninstalled_while_it_starts_leaves_no_process(tmp_path: Path, bench: Bench) -> None:
    go = str(tmp_path / "go")
    bench.install(a_code_wheel(version="1.0.0"))
    bench.call()
    bench.install(a_slow_wheel(go, "2.0.0"), settled=False)
    wait_until(lambda: os.path.exists(f"{go}.loading"))
    bench.uninstall("demo-pack")
    assert bench.call().kind is OutcomeKind.UNKNOWN
    open(go, "w").close()
    wait_until(lambda: not bench.workers.pids() and not any(map(processes_in, bench.root.retired.iterdir())))


BROKEN = "raise RuntimeError('broken build')\n"


def test_the_skills_of_a_broken_upgrade_are_invalid_and_a_good_one_heals_them(bench: Bench) -> None:
    bench.install(a_code_wheel())
    assert bench.call().kind is OutcomeKind.OK
    bench.install(a_code_wheel(BROKEN, version="1.1.0"))
    skill = bench.registry.snapshot.skills["echo_py"]
    assert (skill.version, skill.state) == ("1.1.0", State.INVALID)
    assert [problem.rule for problem in skill.problems] == ["code-fails"]
    assert "RuntimeError: broken build" in skill.problems[0].text
    outcome = bench.call()
    assert outcome.kind is OutcomeKind.INVALID
    assert "broken build" in outcome.error
    bench.install(a_code_wheel(version="1.2.0"))
    assert bench.call().result == {"echo": {}, "version": "1.2.0"}


def test_a_first_call_that_shows_the_code_missing_makes_the_skill_invalid(bench: Bench) -> None:
    bench.install(a_code_wheel("def other():\n    return 1\n"))
    assert bench.state() is State.LIVE, "nothing of it ran yet"
    outcome = bench.call()
    assert outcome.kind is OutcomeKind.FAILED
    assert "demo-pack declares the skill echo_py, but its code doesn't have it" in outcome.error
    wait_until(lambda: bench.state() is State.INVALID)
    bench.registry.rescan()
    assert bench.state() is State.INVALID, "a rescan doesn't forget it"


@pytest.mark.parametrize(
    "code",
    ["import helper\ndef echo_py():\n    pass\n", "def echo_py():\n    import helper\n", {"demo_pack/__init__.py": "import helper\n"}],
)
def test_a_module_that_no_deps_left_out_is_said_to_be_that(bench: Bench, code: str | dict[str, str]) -> None:
    wheel = a_code_wheel(code, requires=("helper>=1",)) if isinstance(code, str) else a_code_wheel(more=code, requires=("helper>=1",))
    bench.install(wheel, fetch=False)
    said = "No module named 'helper' (the pack was installed with --no-deps: helper>=1 is missing)"
    assert said in bench.call().error.splitlines()[0]
    # Another module that is missing is the pack's own fault only where nothing was left out.
    bench.install(a_code_wheel("def echo_py():\n    import nowhere\n", version="2.0.0"))
    assert "No module named 'nowhere'" in (error := bench.call().error) and "--no-deps" not in error


def test_a_second_look_is_had_for_the_asking(tmp_path: Path, bench: Bench) -> None:
    there = tmp_path / "there"
    bench.install(a_code_wheel(f"if not __import__('os').path.exists({str(there)!r}):\n    raise OSError('no library')\ndef echo_py():\n    return 1\n"))
    assert bench.call().kind is OutcomeKind.FAILED
    wait_until(lambda: bench.state() is State.INVALID)
    there.touch()
    bench.workers.forget()
    assert bench.call().result == 1
    assert bench.state() is State.LIVE


def test_a_pack_that_could_not_start_is_tried_again_by_itself(tmp_path: Path) -> None:
    there = tmp_path / "there"
    bench = Bench(tmp_path, retry_seconds=0.05)
    with bench.workers:
        bench.install(a_code_wheel(more={"demo_pack/__init__.py": f"import os\nif not os.path.exists({str(there)!r}):\n    os._exit(3)\n"}))
        outcome = bench.call()
        assert outcome.kind is OutcomeKind.FAILED
        assert "it exited with code 3" in outcome.error
        wait_until(lambda: bench.state() is State.INVALID)
        there.touch()
        wait_until(lambda: bench.state() is State.LIVE)
        assert bench.call().kind is OutcomeKind.OK


def test_a_reload_while_a_broken_version_starts_lets_it_come_to_an_end(tmp_path: Path, bench: Bench) -> None:
    """A reload forgets what was found wrong; what is just being looked at must not be started anew each time."""
    loads = tmp_path / "loads"
    bench.install(a_code_wheel(version="1.0.0"))
    bench.call()
    stop = threading.Event()

    def reload() -> None:
        while not stop.is_set():
            bench.workers.forget()

    reloading = threading.Thread(target=reload)
    reloading.start()
    try:
        code = f"open({str(loads)!r}, 'a').write('x')\ndef other():\n    return 1\n"
        bench.install(a_code_wheel(code, version="2.0.0"))
        assert bench.registry.snapshot.skills["echo_py"].version == "2.0.0"
    finally:
        stop.set()
        reloading.join(10)
    assert len(loads.read_text()) == 1


def test_of_two_reloads_at_once_the_later_one_leaves_what_was_made_since(bench: Bench) -> None:
    bench.install(a_code_wheel("def other():\n    return 1\n"))
    bench.call()
    seen_by_both = bench.workers._list()
    bench.workers.forget()
    bench.call()
    made_since = bench.workers.pids()
    bench.workers._drop(seen_by_both)
    assert made_since
    assert bench.workers.pids() == made_since, "nobody would ever end it"


def test_a_start_that_the_system_refuses_harms_neither_the_watch_nor_later_calls(tmp_path: Path) -> None:
    bench = Bench(tmp_path, retry_seconds=0.05)
    with bench.workers:
        bench.install(
            a_code_wheel(more={"demo_pack/__init__.py": "import os\nos._exit(3)\n"}),
            a_code_wheel("def other():\n    return 1\n", name="other", skill="other"),
        )
        assert bench.call("other").kind is OutcomeKind.OK
        assert bench.call().kind is OutcomeKind.FAILED
        wait_until(lambda: bench.state() is State.INVALID)
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        before = len(os.listdir("/proc/self/fd"))
        resource.setrlimit(resource.RLIMIT_NOFILE, (before + 2, hard))
        try:
            time.sleep(0.4)  # several tries of the watch, each of which fails
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        wait_until(lambda: len(os.listdir("/proc/self/fd")) <= before)
        bench.workers.forget()
        outcome = bench.call()
        assert (outcome.kind, "it exited with code 3" in outcome.error) == (OutcomeKind.FAILED, True)
        assert bench.call("other").kind is OutcomeKind.OK


def test_workers_that_were_closed_start_none(bench: Bench) -> None:
    bench.install(a_code_wheel())
    assert bench.call().kind is OutcomeKind.OK
    bench.workers.close()
    outcome = bench.call()
    assert outcome.kind is OutcomeKind.FAILED
    assert "the workers were stopped" in outcome.error
    assert not processes_in(bench.root.tree("demo-pack"))


def test_a_pack_that_never_answers_holds_up_no_other_s_retry(tmp_path: Path) -> None:
    bench = Bench(tmp_path, retry_seconds=0.05, start_seconds=4)
    there = tmp_path / "there"
    late = f"import os\nif not os.path.exists({str(there)!r}):\n    os._exit(3)\n"
    stuck = f"import os, time\nif os.path.exists({str(there)!r}):\n    time.sleep(30)\nos._exit(3)\n"
    with bench.workers:
        bench.install(
            a_code_wheel(more={"demo_pack/__init__.py": stuck}),
            a_code_wheel("def other():\n    return 1\n", name="other", skill="other", more={"other/__init__.py": late}),
        )
        bench.call()
        bench.call("other")
        wait_until(lambda: bench.state("other") is State.INVALID)
        there.touch()
        wait_until(lambda: bench.state("other") is State.LIVE, 3)


def test_nothing_of_a_pack_runs_before_somebody_calls_it(bench: Bench) -> None:
    bench.install(a_code_wheel())
    bench.install(a_code_wheel(version="2.0.0"))
    assert bench.registry.snapshot.skills["echo_py"].version == "2.0.0"
    bench.registry.rescan()
    assert not bench.workers.pids()


def test_the_end_of_the_host_ends_a_running_call(tmp_path: Path, bench: Bench) -> None:
    bench.install(a_code_wheel(LATE, more={"demo_pack/late.py": "VERSION = 1\n"}))
    go = str(tmp_path / "go")
    outcomes: list[Outcome] = []
    call = threading.Thread(target=lambda: outcomes.append(bench.call(params={"wait": go})))
    call.start()
    wait_until(lambda: os.path.exists(f"{go}.started"))
    bench.workers.close()
    call.join(10)
    assert outcomes[0].kind is OutcomeKind.FAILED
    assert "the worker of demo-pack ended in the middle of the call" in outcomes[0].error
    wait_until(lambda: not processes_in(bench.root.tree("demo-pack")))


@pytest.mark.flow
def test_a_hundred_upgrades_under_load_fail_no_call(tmp_path: Path) -> None:
    bench = Bench(tmp_path, processes=2)
    bench.install(a_code_wheel(version="1.0.0"))
    wheels = [a_code_wheel(version=f"1.0.{number}") for number in range(1, 101)]
    stop, outcomes = threading.Event(), []

    def load() -> None:
        while not stop.is_set():
            outcomes.append(bench.call())

    with bench.workers:
        threads = [threading.Thread(target=load) for _ in range(2)]
        for thread in threads:
            thread.start()
        for wheel in wheels:
            bench.install(wheel)
            time.sleep(0.02)
        stop.set()
        for thread in threads:
            thread.join(30)
        assert [one.error for one in outcomes if one.kind is not OutcomeKind.OK] == []
        assert len(outcomes) > 100
        assert bench.call().result == {"echo": {}, "version": "1.0.100"}
        wait_until(lambda: len(bench.workers.pids()) <= 2)
    seen = [one.result["version"] for one in outcomes]  # type: ignore[index]
    assert len(set(seen)) > 20
