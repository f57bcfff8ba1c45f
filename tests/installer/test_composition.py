"""What a wheel's tree is composed of: pinned lines that are read back, and nothing believed that isn't one exact version with hashes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from market.errors import Untrusted
from market.installer.composition import (
    DEPENDENCIES_FILE,
    Composition,
    Dependency,
    composition_of,
    dump_dependencies,
    find_uncovered,
    parse_dependencies,
    requires_of,
    say_left_out,
)
from market.names import Digest
from market.pack.record import make_record
from market.pack.source import MemorySource
from market.pack.wheel_tree import own_digest
from tests.wheels import wheel_files

if TYPE_CHECKING:
    from collections.abc import Mapping

HASH, OTHER = "sha256:" + "a" * 64, "sha256:" + "b" * 64
PIN = f"six==1.0 --hash={HASH}\n"


def compose(files: Mapping[str, bytes]) -> Composition | None:
    source = MemorySource(files)
    return composition_of(source, make_record(source))


def test_what_is_written_is_read_back_in_the_order_of_names() -> None:
    some = (Dependency("b-one", "2.0rc1", (HASH, OTHER)), Dependency("a", "1!1.0+x", (OTHER,)))
    text = dump_dependencies(some)
    assert parse_dependencies(text, "x") == (some[1], some[0])
    assert dump_dependencies(parse_dependencies(text, "x")) == "".join(sorted(text.splitlines(keepends=True)))


def test_what_uv_prints_is_read_without_addresses_and_comments() -> None:
    text = f"--index-url https://user:secret@example\n# by uv\nTyping_Extensions[x]==4.0 \\\n    --hash={OTHER} \\\n    --hash={HASH}\n    # via six\n"
    assert parse_dependencies(text, "uv") == (Dependency("typing-extensions", "4.0", (HASH, OTHER)),)


@pytest.mark.parametrize(
    "line",
    ["six", "six==1.0", "six>=1.0 --hash=" + HASH, f"six @ file:///x --hash={HASH}", f"six==1.0 ; python_version<'3' --hash={HASH}",
     f"six==1.0 --hash={HASH[:-1]}", "six==1.0 --hash=md5:00", f"six==1.0 --hash={HASH} -r /etc/passwd", f"../x==1.0 --hash={HASH}"],
)  # fmt: skip
def test_a_line_that_is_not_one_exact_version_with_hashes_is_refused(line: str) -> None:
    with pytest.raises(Untrusted, match="here says of dependencies") as caught:
        parse_dependencies(line, "here")
    assert line[:20] in caught.value.why


def test_a_tree_says_its_release_and_its_pins() -> None:
    files = wheel_files(requires=("six",))
    made = {**files, ".site/six.py": b"", DEPENDENCIES_FILE: PIN.encode()}
    release = own_digest(make_record(MemorySource(files)))
    assert compose(made) == Composition(release, (Dependency("six", "1.0", (HASH,)),))
    assert compose(files) == Composition(release, left_out=("six",))


def test_what_applies_nowhere_here_is_neither_required_nor_left_out() -> None:
    files = wheel_files(requires=('old; python_version < "3"', 'new; python_version >= "3"', 'more; extra == "x"', "a[b]>=1"))
    assert requires_of(MemorySource(files)) == ('new; python_version >= "3"', "a[b]>=1")
    found = compose(wheel_files(requires=('old; python_version < "3"',)))
    assert found is not None
    assert found.left_out == ()


def test_other_trees_and_those_of_an_earlier_market_have_no_composition() -> None:
    assert compose({"SKILL.md": b"x"}) is None
    assert compose({**wheel_files(requires=("six",)), ".site/six.py": b""}) is None


def test_pins_that_can_t_be_read_are_no_pins() -> None:
    with pytest.raises(Untrusted, match=DEPENDENCIES_FILE):
        compose({**wheel_files(), DEPENDENCIES_FILE: b"six\n"})


def test_a_requirement_is_covered_by_its_canonical_name_and_a_version_that_it_takes() -> None:
    some = (Dependency("typing-extensions", "4.0", (HASH,)),)
    requires = ("Typing_Extensions>=3", 'typing.extensions[x]; python_version > "3"', "six>=1")
    assert [(one.text, one.there) for one in find_uncovered(requires, some)] == [("six>=1", "")]
    assert [(one.text, one.there) for one in find_uncovered(("typing-extensions>=4.1",), some)] == [("typing-extensions>=4.1", "4.0")]


def test_one_that_is_left_out_is_and_more_are() -> None:
    release = Digest(HASH)
    assert say_left_out(Composition(release, left_out=("six>=1",))) == "installed with --no-deps: six>=1 is missing"
    assert say_left_out(Composition(release)) == say_left_out(None) == ""
