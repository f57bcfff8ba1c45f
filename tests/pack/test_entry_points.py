"""entry_points.txt is read as every other reader of it does, or refused; and it costs little, whatever is in it."""

from __future__ import annotations

import io
import sys
from importlib.metadata import EntryPoints as Known

import pytest
from hypothesis import given
from hypothesis import strategies as st

from market.pack.entry_points import (
    GROUP,
    MAX_ENTRY_POINTS,
    MAX_POINTS_TOLD,
    EntryPoints,
    check_groups,
    check_targets,
    parse_entry_points,
)
from market.pack.wheel_tree import importable_modules
from market.run import worker_shape

# The keeper has it under this name: what serves lies beside what it imports.
sys.modules.setdefault("worker_shape", worker_shape)
from market.run.worker_serve import parse_points  # noqa: E402

FILE = "d/entry_points.txt"


def read(text: str | bytes) -> tuple[EntryPoints, list[tuple[str, str]]]:
    data = text if isinstance(text, bytes) else text.encode()
    points, problems = parse_entry_points(data, FILE)
    return points, [(problem.place, problem.text) for problem in problems]


def pairs(points: EntryPoints) -> list[tuple[str, str]]:
    return [(point.name, point.target) for point in points.own]


def by_python(text: str) -> list[tuple[str, str]]:
    """What `importlib.metadata` finds, which opens the file in text mode."""
    known = Known._from_text_for(io.StringIO(text, newline=None).read(), None)  # type: ignore[attr-defined]
    return [(point.name, point.value) for point in known.select(group=GROUP)]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("[market.skills]\na = b\n", [("a", "b")]),
        ("[market.skills]\r\na=b:C\r\n\r\n[x]\r\nq = r\r\n", [("a", "b:C")]),
        ("# by a builder\n\n[console_scripts]\nrun = a:b [extra]\n[market.skills]\n# ours\nof all names = b.c\n", [("of all names", "b.c")]),
        ("[market.skills]\na = b\n[market.skills.more]\nc = d\n", [("a", "b")]),
        ("", []),
    ],
)  # fmt: skip
def test_what_builders_write_is_read(text: str, found: list[tuple[str, str]]) -> None:
    points, problems = read(text)
    assert (pairs(points), problems) == (found, [])
    assert list(parse_points(text)) == by_python(text) == found


@pytest.mark.parametrize(
    ("text", "line", "what"),
    [
        ("[market.skills] ; x\nx = a\n", 1, "is neither [GROUP] nor"),
        ("[ market.skills ]\ny = os:system\n", 1, "is neither"),
        ("[market.skills] \nx = a\n", 1, "is neither"),
        (" [market.skills]\nx = a\n", 1, "is neither"),
        ("[[market.skills]]\nx = a\n", 1, "is neither"),
        ("\ufeff[market.skills]\nx = a\n", 1, "is neither"),
        ("[market.skills]\n; x = a\n", 2, "is neither"),
        ("[market.skills]\nx = a\n  .more = b\n", 3, "is neither"),
        ("[market.skills]\nx = a\n # why\n", 3, "is neither"),
        ("[market.skills]\nx: a\n", 2, "is neither"),
        ("[market.skills]\n= a\n", 2, "is neither"),
        ("x = a\n[market.skills]\n", 1, "before the first group"),
        ("[market.skills]\nx = a\nx=b\n", 3, "stands twice"),
        ("[market.skills]\nx = a\n[market.skills]\ny = b\n", 3, "stands twice"),
        ("[market.skills]\nx = a ; why\n", 2, "names no module"),
        ("[market.skills]\nx = a\x0by = b\n", 3, ""),
    ],
)
def test_what_two_readers_take_for_two_things_is_refused_at_its_place(text: str, line: int, what: str) -> None:
    problems = read(text)[1]
    if line == 3 and not what:
        # Python ends a line there too, so that both lines count for everyone.
        assert pairs(read(text)[0]) == list(parse_points(text)) == by_python(text) == [("x", "a"), ("y", "b")]
    else:
        ((place, text),) = problems
        assert place == f"{FILE}:{line}:1"
        assert what in text


@pytest.mark.parametrize(("data", "what"), [(b"[market.skills]\nx = \xff\n", "not UTF-8"), (b"#" * (1 << 20) + b"#", "more than")])
def test_a_file_that_is_too_large_or_no_text_is_refused(data: bytes, what: str) -> None:
    ((_, text),) = read(data)[1]
    assert what in text


WORDS = st.sampled_from(["[", "]", GROUP, "x", "a.b:c", "=", " = ", ";", "#", " ", "\t", "\n", "\n", "\r\n", "\r", "\x0c", "\u2028", "\ufeff", "os"])
LINES = st.sampled_from([f"[{GROUP}]\n", "[x]\n", "x = a\n", "y=b:c\n", " z = q\n", "# x = a\n", f"[ {GROUP} ]\n", f"[{GROUP}] ; x\n", "\n"])


@given(st.lists(WORDS | LINES, max_size=14).map("".join))
def test_what_is_taken_says_the_same_to_python_to_the_worker_and_here(text: str) -> None:
    points, problems = read(text)
    if not problems:
        assert pairs(points) == by_python(text) == list(parse_points(io.StringIO(text, newline=None).read()))


def test_the_group_is_bounded_and_of_many_problems_some_are_told() -> None:
    many = "".join(f"n{number} = m\n" for number in range(MAX_ENTRY_POINTS))
    assert read(f"[market.skills]\n{many}")[1] == []
    assert read(f"[x]\n{many}[market.skills]\n{many}")[1] == []
    ((_, text),) = read(f"[market.skills]\n{many}one = more\n")[1]
    assert f"{MAX_ENTRY_POINTS + 1} entry points, more than {MAX_ENTRY_POINTS}" in text
    problems = read("[market.skills]\n" + "!\n" * 50)[1]
    assert len(problems) == MAX_POINTS_TOLD + 1
    assert problems[-1] == (FILE, f"{50 - MAX_POINTS_TOLD} more lines of this kind")


def test_an_entry_point_s_module_is_in_the_wheel() -> None:
    points, _ = read("[market.skills]\na = pack\nb = pack.inner:x\nc = fast\nd = nowhere\ne = pack.typed\n")
    paths = ["pack/inner.py", "fast.cpython-311-x86_64-linux-gnu.so", "pack/typed.pyi"]
    assert [(one.rule, one.line) for one in check_targets(points, FILE, paths)] == [
        ("wheel-entry-module", 5),
        ("wheel-entry-module", 6),
    ]


def test_other_groups_are_told_in_part() -> None:
    points, _ = read("".join(f"[g{number:02}]\n" for number in range(MAX_POINTS_TOLD + 2)))
    missing, others = check_groups(points, FILE)
    assert (missing.rule, others.rule) == ("wheel-group", "wheel-other-groups")
    assert others.text.endswith("g19 and 2 more")


def test_each_path_is_walked_once() -> None:
    class Counting(list[str]):
        walks = 0

        def __iter__(self):  # type: ignore[no-untyped-def]
            self.walks += 1
            return super().__iter__()

    paths = Counting(["pack/x.py"])
    points, _ = read("[market.skills]\n" + "".join(f"n{number} = m{number}\n" for number in range(MAX_ENTRY_POINTS)))
    assert len(list(check_targets(points, FILE, paths))) == MAX_POINTS_TOLD + 1
    assert paths.walks == 1


def test_what_can_be_imported_is_every_module_and_folder() -> None:
    assert importable_modules(["a/b/__init__.py", "a/b/c.txt", "d.py", "e/f.abi3.so", "notes.txt"]) == {
        "a", "a.b", "a.b.__init__", "d", "e", "e.f",
    }  # fmt: skip
