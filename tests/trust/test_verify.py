"""Only an archive that is what it claims to be becomes a VerifiedPack."""

from __future__ import annotations

import io
from dataclasses import replace

import pytest

from market.errors import InvalidInput, Untrusted
from market.names import parse_digest, parse_pack_name, parse_version
from market.pack.archive_write import write_archive
from market.pack.build import Built, archive_pack
from market.pack.inspect import Given
from market.pack.record import make_record
from market.pack.source import MemorySource
from market.trust.verify import Promise, VerifiedPack, verify_archive
from tests.factories import a_skill_json, a_skill_md, a_source

OTHER = parse_digest("sha256:" + "0" * 64)


def an_archive(source: MemorySource | None = None) -> tuple[io.BytesIO, Built, Promise]:
    out = io.BytesIO()
    built = archive_pack(source or a_source(), Given(), out)
    version = built.pack.version or parse_version("1.0.0")
    return out, built, Promise(built.pack.name, version, built.archive_digest, built.record.tree_digest)


def test_a_kept_promise_gives_a_pack() -> None:
    archive, built, promise = an_archive()
    verified = verify_archive(archive, Given(), promise)
    assert (verified.name, str(verified.version)) == ("echo-args", "1.0.0")
    assert (verified.record, verified.tree_digest, verified.archive_digest) == (built.record, built.record.tree_digest, built.archive_digest)
    assert make_record(verified.source) == built.record
    assert verified.problems == ()


def test_without_a_promise_the_archive_speaks_for_itself() -> None:
    archive, built, _ = an_archive()
    archive.seek(7)  # wherever the stream stands
    assert verify_archive(archive, Given()).tree_digest == built.record.tree_digest


@pytest.mark.parametrize(("field", "word"), [("archive_digest", "archive"), ("tree_digest", "tree")])
def test_a_broken_promise_is_untrusted_and_shows_both_digests(field: str, word: str) -> None:
    archive, _, promise = an_archive()
    with pytest.raises(Untrusted, match=f"the {word} is not the one") as caught:
        verify_archive(archive, Given(), replace(promise, **{field: OTHER}))  # type: ignore[arg-type]
    assert OTHER in caught.value.why


def test_a_changed_byte_is_untrusted() -> None:
    archive, _, promise = an_archive()
    damaged = bytearray(archive.getvalue())
    damaged[40] ^= 1
    for given_promise in (promise, None):
        with pytest.raises(Untrusted):
            verify_archive(io.BytesIO(bytes(damaged)), Given(), given_promise)


def test_the_promise_names_the_pack() -> None:
    archive, _, promise = an_archive()
    promise = replace(promise, name=parse_pack_name("other"), version=parse_version("2.0"))
    verified = verify_archive(archive, Given("ignored", "9"), promise)
    assert (verified.name, str(verified.version)) == ("other", "2.0")
    assert [problem.rule for problem in verified.problems] == ["version-overridden"]


def test_a_pack_without_a_version_is_not_installed() -> None:
    archive, _, _ = an_archive(MemorySource({"SKILL.md": b"---\nname: x\ndescription: y\n---\n"}))
    with pytest.raises(InvalidInput, match="no version"):
        verify_archive(archive, Given())
    assert str(verify_archive(archive, Given(version="1.10")).version) == "1.10"


@pytest.mark.parametrize(
    ("files", "rule"),
    [
        ({"skill.json": a_skill_json(entry="nope.sh")}, "entry-missing"),
        ({"skill.json": a_skill_json(entry="/bin/sh")}, "entry-absolute"),
        ({"SKILL.md": b"no front matter"}, "front-matter-missing"),
        ({"README.md": b""}, "pack-empty"),
        ({"SKILL.md": a_skill_md("a"), "b/skill.json": b"{"}, "json-syntax"),
    ],
)
def test_a_canonical_archive_of_a_bad_pack_is_refused(files: dict[str, bytes], rule: str) -> None:
    out = io.BytesIO()
    write_archive(MemorySource(files), out)
    with pytest.raises(InvalidInput) as caught:
        verify_archive(out, Given("x", "1"))
    assert rule in {problem.rule for problem in caught.value.problems}


def test_refusals_do_not_stop_an_install() -> None:
    archive, _, _ = an_archive(a_source({"skill.json": a_skill_json(**{"class": None}), "run.sh": b"#!/bin/sh\n"}))
    assert [problem.rule for problem in verify_archive(archive, Given()).problems] == ["class-missing"]


def test_nobody_else_makes_a_verified_pack() -> None:
    archive, _, _ = an_archive()
    good = verify_archive(archive, Given())
    with pytest.raises(TypeError, match=r"made by market\.trust\.verify only"):
        VerifiedPack(object(), good.pack, good.version, good.record, good.source, good.archive, good.archive_digest, ())
