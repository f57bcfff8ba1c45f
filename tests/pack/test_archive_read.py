"""The strict reader: every way to cheat in tests/pack/hostile.py is refused by the rule named there."""

from __future__ import annotations

import io

import pytest

from market.errors import Untrusted
from market.pack.archive_read import MAX_BYTES_IN_MEMORY, MAX_PROBLEMS, read_archive
from market.pack.archive_write import write_archive
from market.pack.record import make_record
from market.pack.source import MemorySource
from tests.pack.hostile import HOSTILE, Member, forge


def test_a_refusal_says_why_and_what_to_do() -> None:
    for name, make, rule in HOSTILE:
        with pytest.raises(Untrusted) as caught:
            make_record(read_archive(io.BytesIO(make())))
        assert rule in {problem.rule for problem in caught.value.problems}, name
        assert caught.value.why
        assert caught.value.hint


def test_the_forge_itself_makes_canonical_archives() -> None:
    forged = forge(Member(name=b"a", data=b"1"), Member(name="\u00e9".encode(), data=b"2"))
    written = io.BytesIO()
    write_archive(MemorySource({"\u00e9": b"2", "a": b"1"}), written)
    assert forged == written.getvalue()


def test_all_problems_come_at_once_and_are_bounded() -> None:
    with pytest.raises(Untrusted) as caught:
        read_archive(io.BytesIO(forge(Member(name=b"../a", both={"method": 8, "flags": 0x801}), Member(name=b"con"))))
    assert {"path-parts", "archive-compressed", "archive-encrypted", "path-reserved"} <= {
        p.rule for p in caught.value.problems
    }
    many = [Member(name=f"f{number:03}".encode(), both={"method": 8}) for number in range(200)]
    with pytest.raises(Untrusted) as caught:
        read_archive(io.BytesIO(forge(*many)))
    assert len(caught.value.problems) == MAX_PROBLEMS


def test_a_foreign_archive_is_told_how_to_become_a_pack() -> None:
    with pytest.raises(Untrusted) as caught:
        read_archive(io.BytesIO(forge(Member(both={"method": 8}))))
    assert "market archive FOLDER -o FILE" in caught.value.hint


def test_a_large_file_is_read_in_pieces_and_checked_at_its_end() -> None:
    content = bytes(range(256)) * (MAX_BYTES_IN_MEMORY // 256 + 1)
    out = io.BytesIO()
    record = write_archive(MemorySource({"big": content, "small": b"x"}), out)
    source = read_archive(out)
    with source.open("big") as first, source.open("big") as second:
        assert first.read(10) == content[:10]
        assert second.read() == content  # two readers of one stream don't disturb each other
        assert first.read() == content[10:]
    assert make_record(source) == record
    damaged = bytearray(out.getvalue())
    damaged[100_000] ^= 1
    with read_archive(io.BytesIO(bytes(damaged))).open("big") as stream, pytest.raises(Untrusted, match="checksum"):
        stream.read()


def test_a_stream_that_shrinks_after_the_check_is_refused() -> None:
    out = io.BytesIO()
    write_archive(MemorySource({"a": b"0123456789"}), out)
    source = read_archive(out)
    out.truncate(35)
    with pytest.raises(Untrusted) as caught:
        source.read("a")
    assert caught.value.problems[0].rule == "archive-truncated"


def test_unknown_paths_are_key_errors() -> None:
    out = io.BytesIO()
    write_archive(MemorySource({"a": b""}), out)
    with pytest.raises(KeyError):
        read_archive(out).read("b")
    with pytest.raises(KeyError):
        read_archive(out).open("b")
