"""Workers while packs come, change and go: through real installs and the registry that a host has."""

from __future__ import annotations

import io
import os
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
from market.model import Call, Caller, Kind, OutcomeKind, Role
from market.registry.loader import Loader
from market.registry.registry import Registry
from market.run.invoke import Invoker
from market.run.python import PythonExecutor
from market.run.workers import Workers, find_siblings
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
        self.workers = Workers(find_siblings(self.registry), **options)
        self.registry.subscribe(self.workers.follow)
        executors = {Kind.PYTHON: PythonExecutor(self.workers, {})}
        self.invoker = Invoker(self.registry.find_current, executors, NoAudit(), refresh=self.registry.refresh_skill)

    def install(self, *wheels: bytes) -> None:
        terms = DependencyTerms({**os.environ, "UV_OFFLINE": "1", "UV_NO_CACHE": "1", "UV_FIND_LINKS": str(self.house)})
        arrivals = [acquire_wheel(io.BytesIO(wheel), "", Origin("archive", "x"), terms) for wheel in wheels]
        with lock_root(self.root) as locked:
            changes = install_packs(locked, arrivals, datetime.now(UTC))
        self.registry.refresh_names(str(self.root.path), [change.name for change in changes])

    def uninstall(self, name: str) -> None:
        with lock_root(self.root) as locked:
            uninstall_packs(locked, [name], datetime.now(UTC))
        self.registry.refresh_names(str(self.root.path), [name])

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
    wait_until(lambda: not any(os.path.exists(f"/proc/{pid}") and _is_alive(pid) for pid in pids))
    assert bench.call().kind is OutcomeKind.UNKNOWN
    assert not [name for name in sys.modules if name.startswith("demo_pack")]
    assert not bench.workers.pids()
    assert not tree.exists()


def _is_alive(pid: int) -> bool:
    with open(f"/proc/{pid}/stat") as file:
        return file.read().rpartition(")")[2].split()[0] != "Z"


def test_an_edit_of_the_code_gets_a_new_worker(bench: Bench) -> None:
    bench.install(a_code_wheel("def echo_py():\n    return 'before'\n"))
    assert bench.call().result == "before"
    (bench.root.tree("demo-pack") / "demo_pack" / "skills.py").write_text("def echo_py():\n    return 'after'\n")
    bench.registry.rescan()
    assert bench.call().result == "after"
    assert bench.registry.snapshot.skills["echo_py"].state == "edited"


def test_a_skill_that_changes_things_is_held_when_its_dependency_was_edited(bench: Bench) -> None:
    write_wheel(bench.house, a_wheel({"helper.py": "X = 1\n"}, name="helper"), "helper")
    bench.install(a_code_wheel(requires=("helper",), manifest={"class": "mutating"}))
    assert bench.call().kind is OutcomeKind.OK
    (bench.root.tree("demo-pack") / ".site" / "helper.py").write_text("X = 22\n")
    bench.registry.rescan()
    assert bench.call().kind is OutcomeKind.DENIED


def test_a_broken_upgrade_names_the_pack_and_a_good_one_heals_it(bench: Bench) -> None:
    bench.install(a_code_wheel())
    assert bench.call().kind is OutcomeKind.OK
    bench.install(a_code_wheel("raise RuntimeError('broken build')\n", version="1.1.0"))
    outcome = bench.call()
    assert outcome.kind is OutcomeKind.FAILED
    assert "demo-pack declares the skill echo_py, but its code doesn't have it" in outcome.error
    assert "broken build" in outcome.error
    bench.install(a_code_wheel(version="1.2.0"))
    assert bench.call().result == {"echo": {}, "version": "1.2.0"}


def test_the_successor_of_a_pack_at_work_has_its_worker_before_the_first_call(bench: Bench) -> None:
    bench.install(a_code_wheel())
    assert bench.call().kind is OutcomeKind.OK
    before = bench.workers.pids()
    bench.install(a_code_wheel(version="2.0.0"))
    wait_until(lambda: bench.workers.pids() and not set(bench.workers.pids()) & set(before))
    assert processes_in(bench.root.tree("demo-pack"))
    bench.uninstall("demo-pack")
    bench.install(a_code_wheel())
    assert not bench.workers.pids(), "nobody has called this one, so nothing of it runs"


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
