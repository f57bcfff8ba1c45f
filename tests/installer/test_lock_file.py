"""The text of market.lock: what is written is read back, it merges by lines, and what can't be trusted is refused with its place."""

from __future__ import annotations

import subprocess
import tomllib
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from market.errors import InvalidInput
from market.installer.composition import Composition, Dependency
from market.installer.lock_file import Lock, LockedPack, dump_lock, parse_lock
from market.installer.receipt import Origin
from market.names import Digest, PackName, parse_version

if TYPE_CHECKING:
    from pathlib import Path

DIGEST = Digest("sha256:" + "a" * 64)


def a_locked(name: str = "one", version: str = "1.0.0", **changes: object) -> LockedPack:
    pack = LockedPack(
        PackName(name), parse_version(version), "acme", Origin("index", "", "http://index.test"), DIGEST, DIGEST
    )
    return replace(pack, **changes)  # type: ignore[arg-type]


names = st.from_regex(r"[a-z0-9]{1,5}(-[a-z0-9]{1,5}){0,2}", fullmatch=True)
texts = st.text(st.characters(codec="utf-8"), max_size=20)


@given(
    st.dictionaries(names, st.tuples(st.sampled_from(["1.0", "2.0.0rc1"]), texts, texts), max_size=4),
    st.sampled_from(["", "a/b"]),
)
def test_what_is_written_is_read_back(rows: dict[str, tuple[str, str, str]], root: str) -> None:
    packs = tuple(
        a_locked(name, version, origin=Origin("folder", location, index))
        for name, (version, location, index) in rows.items()
    )
    lock = Lock(packs, root)
    assert parse_lock(dump_lock(lock), "x") == lock
    assert dump_lock(parse_lock(dump_lock(lock), "x")) == dump_lock(lock)


def a_composition(**changes: object) -> Composition:
    pins = (Dependency("deep-one", "1.0", (DIGEST,)), Dependency("six", "2.0", (DIGEST, "sha256:" + "b" * 64)))
    return replace(Composition(DIGEST, pins), **changes)  # type: ignore[arg-type]


def test_a_wheel_pack_has_a_line_for_each_dependency() -> None:
    for composition in (a_composition(), a_composition(dependencies=(), left_out=("six>=1",)), Composition(DIGEST)):
        lock = Lock((a_locked(composition=composition),))
        assert parse_lock(dump_lock(lock), "x") == lock
    lines = dump_lock(Lock((a_locked(composition=a_composition()),))).splitlines()
    assert lines[-4:] == [
        "dependencies = [",
        f'  "deep-one==1.0 --hash={DIGEST}",',
        f'  "six==2.0 --hash={DIGEST} --hash=sha256:{"b" * 64}",',
        "]",
    ]
    assert "release" not in dump_lock(Lock((a_locked(),)))


@pytest.mark.parametrize("field", ['dependencies = ["six>=1"]', "dependencies = [1]", "left_out = [1]", 'dependencies = ["six==1.0 --hash=x"]'])
def test_pins_that_can_t_be_believed_are_refused_with_their_block(field: str) -> None:
    text = dump_lock(Lock((a_locked(composition=Composition(DIGEST)),)))
    with pytest.raises(InvalidInput, match="x can't be read") as caught:
        parse_lock(text + field + "\n", "x")
    assert "one" in caught.value.why


def test_a_pack_is_the_locked_one_by_its_tree_or_by_what_it_is_composed_of() -> None:
    other, pins = "sha256:" + "c" * 64, a_composition()
    assert a_locked().is_same("1.0.0", DIGEST, None)
    assert not a_locked().is_same("1.0.1", DIGEST, None)
    assert not a_locked().is_same("1.0.0", other, None)
    assert a_locked(composition=pins).is_same("1.0.0", other, pins)
    assert not a_locked(composition=pins).is_same("1.0.0", other, a_composition(dependencies=pins.dependencies[:1]))
    assert not a_locked(composition=pins).is_same("1.0.1", other, pins)


def test_order_and_form_are_stable() -> None:
    text = dump_lock(Lock((a_locked("two"), a_locked("one", publisher="")), root="skills"))
    assert text == dump_lock(Lock((a_locked("one", publisher=""), a_locked("two")), root="skills"))
    blocks = text.split("\n[[pack]]\n")
    assert [block.splitlines()[0] for block in blocks[1:]] == ['name = "one"', 'name = "two"']
    assert list(tomllib.loads(text)["pack"][1]) == [
        "name",
        "version",
        "publisher",
        "source",
        "index",
        "archive",
        "tree",
    ]
    assert text.endswith("\n") and not text.endswith("\n\n")


def test_branches_that_change_different_packs_merge_by_lines(tmp_path: Path) -> None:
    base = Lock(tuple(a_locked(name) for name in ("aa", "bb", "cc", "dd")))
    ours = base.with_packs([a_locked("aa", "2.0.0")], ["cc"])
    theirs = base.with_packs([a_locked("ee")])
    for name, lock in (("base", base), ("ours", ours), ("theirs", theirs)):
        (tmp_path / name).write_text(dump_lock(lock))
    merged = subprocess.run(
        ["git", "merge-file", "-p", "ours", "base", "theirs"], cwd=tmp_path, capture_output=True, text=True
    )
    assert merged.returncode == 0, merged.stdout
    assert parse_lock(merged.stdout, "x") == ours.with_packs([a_locked("ee")])


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("<<<<<<< ours\nschema = 1\n", "line 1"),
        ("schema = 9\n", "schema 9"),
        ("", "schema None"),
        ("schema = 1\npack = 3\n", "not a list"),
        ('schema = 1\n[[pack]]\nname = "one"\n', "'one'"),
        (dump_lock(Lock((a_locked(),))) + dump_lock(Lock((a_locked(),))).partition("\n\n")[2], "twice"),
        (dump_lock(Lock((a_locked(),))).replace("sha256:a", "sha256:x"), "not a digest"),
        (dump_lock(Lock((a_locked(),))).replace('"1.0.0"', '"one"'), "not a version"),
        *((f"schema = 1\nroot = {root}\n", "root") for root in ('"/etc"', '"a/../../b"', '".."', "3", '"a\\\\b"')),
    ],
)
def test_what_can_t_be_trusted_is_refused_with_its_place(text: str, why: str) -> None:
    with pytest.raises(InvalidInput, match=r"market\.lock can't be read") as caught:
        parse_lock(text, "market.lock")
    assert why in caught.value.why and caught.value.hint


def test_unknown_fields_of_a_newer_market_are_ignored() -> None:
    lock = Lock((a_locked(),))
    assert parse_lock(dump_lock(lock) + 'later = "x"\n', "x") == lock
