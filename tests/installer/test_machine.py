from __future__ import annotations

import sys
import threading
import time

import pytest
from packaging.tags import sys_tags

from market.installer import machine as room
from market.installer.machine import Lack, Machine, can_resolve
from market.model import Brought, Needs, Wanted


def a_machine(**environ: str) -> Machine:
    return Machine({"PATH": "/usr/bin:/bin", **environ}, system="linux", resolve=lambda host: host == "here.example")


@pytest.mark.parametrize(
    ("needs", "kind", "words"),
    [
        (Needs(os=("darwin",)), "os", "the system darwin (this is linux)"),
        (Needs(python=">=99"), "python", "Python >=99 (this is "),
        (Needs(bins=("no-such-program",)), "bins", "the program 'no-such-program' on PATH"),
        (Needs(any_bins=("no-such-program", "nor-this")), "bins", "one of the programs no-such-program or nor-this"),
        (Needs(env=("API_KEY",)), "env", "the environment variable API_KEY"),
        (Needs(hosts=("gone.example:443",)), "hosts", "the host gone.example:443, which can't be found"),
    ],
)
def test_what_is_lacked_comes_with_how_to_get_it(needs: Needs, kind: str, words: str) -> None:
    (lack,) = a_machine().lacks(needs)
    assert (lack.kind, lack.is_fatal) == (kind, kind in ("os", "python"))
    assert lack.text.startswith(words) and lack.name in lack.text and lack.name in lack.advice


@pytest.mark.parametrize(
    ("needs", "kind", "name", "words"),
    [
        (Needs(tags=("cp27-cp27m-win32",)), "tags", "cp27-cp27m-win32", "a Python and system for cp27-cp27m-win32 (this is cp3"),
        (Needs(tags=("no tag", "a-b", "py3-none-any-more")), "tags", "no tag a-b py3-none-any-more", "a Python and system for no tag or a-b"),
        (Needs(tags=("a-b-c",) * 5), "tags", " ".join(["a-b-c"] * 5), "a Python and system for a-b-c or a-b-c or a-b-c and 2 more ("),
        (Needs(brought=(Brought("fast 2.1", ("cp27-cp27m-win32",)),)), "tags", "fast 2.1", "a Python and system for cp27-cp27m-win32, since it brings fast 2.1 (this is cp3"),
        (Needs(brought=(Brought("fast 2.1", (), "<3"),)), "python", "fast 2.1", "Python <3, since it brings fast 2.1 (this is 3."),
    ],
)  # fmt: skip
def test_what_was_built_for_another_python_or_system_never_works(needs: Needs, kind: str, name: str, words: str) -> None:
    machine = a_machine()
    (lack,) = machine.lacks(needs)
    assert (lack.kind, lack.name, lack.is_fatal) == (kind, name, True)
    assert lack.text.startswith(words)
    assert machine.never(needs) == (lack,)
    assert ("reinstall it with this Python" in lack.advice) is bool(needs.brought)


def test_what_a_tree_wants_is_judged_by_the_markers_of_the_machine() -> None:
    needs = Needs(wanted=(Wanted("mark", "more", "more>=2", "python_version >= '3.12'"),))
    lacking = [Machine({}, markers={"python_version": version}).never(needs) for version in ("3.11", "3.12", "3.11")]
    assert [[lack.text for lack in one] for one in lacking] == [
        [], ["more>=2, on which mark depends under this Python and system (it brings none)"], [],
    ]  # fmt: skip
    assert bool(Machine({}).lacks(needs)) is (sys.version_info >= (3, 12))


def test_one_tag_of_several_is_enough_and_a_compressed_one_stands_for_all() -> None:
    best = next(iter(sys_tags()))
    own, (python, abi, system) = str(best), (best.interpreter, best.abi, best.platform)
    for tags in (("cp27-cp27m-win32", own), (f"cp27.{python}-{abi}.none-win32.{system}",), (own.upper(),)):
        assert a_machine().lacks(Needs(tags=tags, brought=(Brought("x", tags, ">=3"),))) == ()
    # Spelled out it would fill the memory.
    many = ".".join(f"x{number}" for number in range(20_000))
    assert a_machine().lacks(Needs(tags=(f"{many}-{many}-{many}",)))


def test_what_somebody_could_provide_is_not_looked_for_where_only_the_rest_counts() -> None:
    asked: list[str] = []

    def resolve(host: str) -> bool:
        asked.append(host)
        return False

    machine = Machine({}, resolve=resolve)
    assert machine.never(Needs(bins=("no-such-program",), env=("KEY",), hosts=("x.example",))) == ()
    assert asked == []


def test_what_is_there_is_not_lacked() -> None:
    needs = Needs(("linux", "macos"), ("sh",), ("KEY",), ">=3.11", ("here.example", "https://here.example:8443/api"))
    assert a_machine(KEY="1").lacks(needs, needs, Needs(any_bins=("no-such-program", "sh"))) == ()


def test_needs_of_a_document_are_read_whatever_they_are() -> None:
    machine = a_machine()
    assert machine.find_unmet({"os": ["darwin", 7], "bins": ["no-such-program"]}) == (
        "the system darwin (this is linux)",
    )
    assert machine.find_unmet({"python": ">=99"})[0].startswith("Python >=99")
    assert machine.find_unmet({"tags": ["cp27-cp27m-win32"]})[0].startswith("a Python and system for cp27")
    assert machine.find_unmet({"os": "linux", "python": 3, "later": {}}) == machine.find_unmet({}) == ()


def test_a_lookup_that_hangs_does_not_hold_a_load(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(room, "HOST_LOOKUP_SECONDS", 0.2)
    release, asked = threading.Event(), []

    def resolve(host: str) -> bool:
        asked.append(host)
        return release.wait(30)

    machine = Machine({}, resolve=resolve)
    started = time.monotonic()
    needs = Needs(hosts=tuple(f"h{number}.example" for number in range(10)))
    assert len(machine.lacks(needs)) == len(machine.lacks(needs)) == 10
    assert time.monotonic() - started < 2 and len(asked) == 10
    release.set()


def test_this_machine_is_found() -> None:
    assert can_resolve("localhost") and not can_resolve("nothing.invalid") and not can_resolve("a" * 300)
    assert isinstance(Machine({}).lacks(Needs(env=("X",)))[0], Lack)
