from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from market.errors import InvalidInput
from market.names import (
    MAX_NAME_CHARACTERS,
    Requirement,
    parse_digest,
    parse_pack_name,
    parse_publisher_name,
    parse_requirement,
    parse_version,
)


@pytest.mark.parametrize(
    ("written", "canonical"),
    [
        ("disk-cleaner", "disk-cleaner"),
        ("Disk_Cleaner", "disk-cleaner"),
        ("a.b__c", "a-b-c"),
        ("x", "x"),
        ("9lives", "9lives"),
    ],
)
def test_a_pack_name_is_made_canonical_as_pypi_does(written: str, canonical: str) -> None:
    assert parse_pack_name(written) == canonical


@pytest.mark.parametrize(
    "written", ["", "-", "my pack", "café", "a/b", "..", "x" * (MAX_NAME_CHARACTERS + 1), "a\n", "-a", "a-"]
)
def test_a_bad_pack_name_is_refused_with_a_proposal(written: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        parse_pack_name(written)
    assert caught.value.hint
    with pytest.raises(InvalidInput):
        parse_publisher_name(written)


@given(st.text(max_size=80))
def test_a_parsed_name_parses_to_itself(text: str) -> None:
    try:
        name = parse_pack_name(text)
    except InvalidInput:
        return
    assert parse_pack_name(name) == name
    assert len(name) <= MAX_NAME_CHARACTERS


@pytest.mark.parametrize("text", ["1.0.0", "1.10", "2.0.0-rc.1", "1.0.post2", "v1.2", "2026.11.30"])
def test_a_version_is_kept_as_written(text: str) -> None:
    assert str(parse_version(text)) == text


def test_spellings_of_one_version_are_one_version() -> None:
    assert parse_version("1.0") == parse_version("1.0.0")
    assert hash(parse_version("1.0")) == hash(parse_version("1.0.0"))
    assert parse_version("1.0").canonical == parse_version("1.0.0").canonical
    assert parse_version("1.9") < parse_version("1.10")
    assert parse_version("2.0-rc.1") < parse_version("2.0")


@pytest.mark.parametrize(
    ("text", "proposal"),
    [
        ("1.0.0-1", "1.0.0.post1"),
        ("1.0+build", "1.0"),
        ("one", "1.0.0"),
        ("", "1.0.0"),
        ("1.2.x", "1.2"),
        (" 1.0", "1.0"),
        ("1." * 40 + "1", "shorten"),
    ],
)
def test_a_version_that_the_two_worlds_order_differently_is_refused_with_the_nearest_legal_spelling(
    text: str, proposal: str
) -> None:
    with pytest.raises(InvalidInput) as caught:
        parse_version(text)
    assert proposal in caught.value.hint


@given(
    st.from_regex(r"[0-9]{1,3}(\.[0-9]{1,3}){0,3}((-rc\.|a|b)[0-9]{1,2})?", fullmatch=True),
    st.from_regex(r"[0-9]{1,3}(\.[0-9]{1,3}){0,3}", fullmatch=True),
)
def test_versions_have_one_order(left: str, right: str) -> None:
    a, b = parse_version(left), parse_version(right)
    assert (a < b) + (a == b) + (b < a) == 1
    assert (a.canonical == b.canonical) == (a == b)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("disk-cleaner", "disk-cleaner"),
        ("disk-cleaner@1.2.0", "disk-cleaner@1.2.0"),
        ("disk-cleaner@beta", "disk-cleaner@beta"),
        ("disk-cleaner>=1,<2", "disk-cleaner<2,>=1"),
        ("disk-cleaner >= 1", "disk-cleaner>=1"),
        ("@acme/disk-cleaner@1.2", "@acme/disk-cleaner@1.2"),
        ("@Acme/Disk_Cleaner", "@acme/disk-cleaner"),
        ("x==1.0", "x==1.0"),
        ("x~=1.4", "x~=1.4"),
    ],
)
def test_every_spelling_of_a_requirement_is_read(text: str, shown: str) -> None:
    requirement = parse_requirement(text)
    assert str(requirement) == shown
    assert parse_requirement(str(requirement)) == requirement


@pytest.mark.parametrize(
    "text",
    ["", "@", "@acme", "@acme/", "x@", "x>=", "x@1.0-1", "x y", "x[extra]", "x ; os", "../x", "https://h/x", "x" * 600],
)
def test_what_is_not_a_requirement_is_refused_with_a_hint(text: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        parse_requirement(text)
    assert caught.value.hint


@given(st.text(max_size=60))
def test_no_text_breaks_the_requirement_parser(text: str) -> None:
    try:
        assert isinstance(parse_requirement(text), Requirement)
    except InvalidInput as error:
        assert error.message


def test_a_digest_is_checked() -> None:
    assert parse_digest("sha256:" + "0" * 64)
    for text in ("sha256:" + "A" * 64, "sha1:" + "0" * 40, "0" * 64, "sha256:" + "0" * 63):
        with pytest.raises(InvalidInput):
            parse_digest(text)
