"""Front matter: what clients load is loaded with its full text and a warning; what nobody can read is refused with its place."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from market.errors import Severity
from market.pack.front_matter import FrontMatter, parse_front_matter


def parse(head: str, body: str = "\n# Body\n") -> FrontMatter:
    return parse_front_matter(f"---\nname: x\n{head}\n---\n{body}".encode())


def rules(matter: FrontMatter) -> list[str]:
    return [problem.rule for problem in matter.problems]


PLAIN = b"---\nname: date\ndescription: Formats dates. Use when a date is ambiguous.\n---\n\n# Steps\n\nDo it.\n"


@pytest.mark.parametrize(
    "data",
    [PLAIN, b"\xef\xbb\xbf" + PLAIN, PLAIN.replace(b"\n", b"\r\n"), b"\xef\xbb\xbf" + PLAIN.replace(b"\n", b"\r\n"), PLAIN.replace(b"\n", b"\r"), PLAIN.replace(b"---\n", b"--- \t\n")],
    ids=["plain", "bom", "crlf", "bom and crlf", "cr", "blanks after the fence"],
)  # fmt: skip
def test_line_ends_and_bom_do_not_matter(data: bytes) -> None:
    matter = parse_front_matter(data)
    assert matter.problems == ()
    assert matter.fields == {"name": "date", "description": "Formats dates. Use when a date is ambiguous."}
    assert matter.body == "# Steps\n\nDo it.\n"
    assert matter.places[("description",)] == (3, 14)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("Records what is staged: it never edits code.", None),
        ("[beta] Reviews a diff, then reports.", None),
        ("{draft} Reviews a diff.", None),
        ('"Fast" summary of a page', None),
        ("'Fast' and 'good'", "Fast' and 'good"),
        ("'It's good: yes'", "It's good: yes"),
        ("`code` first", None),
        ("@mention first", None),
        ("%percent first", None),
        ("- a dash first", None),
        ("ends with a colon:", None),
        ("Use when: x # and this stays", None),
        ("> 5 items: many", None),
        ("中文说明: 第二部分: 第三", None),
        ("*bold* words", None),
    ],
)
def test_text_that_yaml_takes_for_syntax_is_kept_whole_with_a_warning(value: str, text: str | None) -> None:
    matter = parse(f"description: {value}")
    assert matter.fields["description"] == (text or value)
    (problem,) = matter.problems
    assert (problem.rule, problem.severity, problem.line) == ("yaml-repaired", Severity.WARNING, 3)
    assert problem.fix.startswith("write: description: '")
    corrected = parse(problem.fix.removeprefix("write: "))
    assert (corrected.fields["description"], corrected.problems) == (matter.fields["description"], ())


def test_the_corrected_line_names_the_column_of_the_fault() -> None:
    (problem,) = parse("description: Records what is staged: it never edits code.").problems
    assert (problem.line, problem.column) == (3, 36)


def test_continuation_lines_are_kept_and_later_places_stay_right() -> None:
    matter = parse("description: plain: first\n  second: line\n\n  third\nlicense: MIT\nmetadata:\n  note: a: b")
    assert matter.fields["description"] == "plain: first second: line third"
    assert matter.fields["metadata"] == {"note": "a: b"}
    assert matter.places[("license",)] == (7, 10)
    assert rules(matter) == ["yaml-repaired", "yaml-repaired"]
    assert [problem.line for problem in matter.problems] == [3, 9]


def test_block_scalars_are_never_repaired() -> None:
    matter = parse("description: >-\n  key: value: more\n  [not a list\nbroken: a: b")
    assert matter.fields["description"] == "key: value: more [not a list"
    assert rules(matter) == ["yaml-repaired"]


@pytest.mark.parametrize(
    ("head", "line", "column"),
    [
        ("description: [unclosed", 3, 14),
        ("description: {a: 1", 3, 14),
        ('description: "unclosed', 3, 14),
        ("description: x\n\tbad: tab", 4, 1),
        ("metadata:\n  a: 1\n b: 2", 5, 2),
    ],
)
def test_what_nobody_can_read_is_refused_with_its_place(head: str, line: int, column: int) -> None:
    matter = parse(head)
    assert rules(matter) == ["yaml-syntax"]
    assert (matter.problems[0].line, matter.problems[0].column) == (line, column)
    assert matter.fields == {}
    assert matter.is_broken


def test_an_unclosed_bracket_gets_a_corrected_line() -> None:
    assert parse("description: [unclosed").problems[0].fix == "write: description: '[unclosed'"


def test_tags_are_not_repaired_into_text() -> None:
    assert rules(parse("description: !!python/object/apply:os.system ['touch PWNED']")) == ["yaml-tag"]
    assert rules(parse("a: b: c\ndescription: !!python/object/apply:os.system ['x']")) == ["yaml-repaired", "yaml-tag"]


@pytest.mark.parametrize(
    ("head", "kept", "lost_at"),
    [
        ("description: Answers about issue #12 and later", "Answers about issue", 34),
        ("description: Knows C # and more", "Knows C", 22),
    ],
)
def test_prose_that_a_hash_cuts_is_warned_of(head: str, kept: str, lost_at: int) -> None:
    matter = parse(head)
    assert matter.fields["description"] == kept
    (problem,) = matter.problems
    assert (problem.rule, problem.line, problem.column) == ("yaml-cut", 3, lost_at)
    assert problem.fix == f"write: description: '{head.removeprefix('description: ')}'"


@pytest.mark.parametrize("head", ["description: 'kept #12'", 'description: "kept #12"', "description: >-\n  kept #12", "description: issue#12", "version: 1 # why", "description: |\n  a #1"])
def test_other_hashes_are_no_fault(head: str) -> None:
    assert parse(head).problems == ()


def test_a_closing_fence_is_a_line_of_its_own() -> None:
    matter = parse_front_matter(b"---\nname: a\ndescription: a --- b\nextra: |\n  ---\n---\nbody --- text\n---\n")
    assert matter.fields["description"] == "a --- b"
    assert matter.body == "body --- text\n---\n"
    assert parse_front_matter(b"---\nname: a\n---").fields == {"name": "a"}


@pytest.mark.parametrize("data", [b"", b"\n\n", b"# Just a heading\n", b"----\nname: a\n----\n", b"name: a\n---\n", b"---", b"--\nname: a\n--\n", b"---\n\n# no fields\n"])
def test_without_front_matter_there_is_one_error(data: bytes) -> None:
    matter = parse_front_matter(data)
    assert rules(matter) == ["front-matter-missing"]
    assert matter.is_broken


def test_an_unclosed_head_ends_at_its_last_field() -> None:
    matter = parse_front_matter(b"---\nname: a\ndescription: b\nmetadata:\n  version: 1.10\n\n# Body: not a field\n")
    assert rules(matter) == ["front-matter-unclosed"]
    assert matter.fields == {"name": "a", "description": "b", "metadata": {"version": "1.10"}}
    assert matter.body.startswith("# Body")


def test_bytes_that_are_not_utf8_have_a_place() -> None:
    (problem,) = parse_front_matter(b"---\nname: a\ndescription: caf\xe9\n---\n").problems
    assert (problem.rule, problem.line, problem.column) == ("text-encoding", 3, 17)


def test_a_list_is_no_front_matter_and_an_empty_one_has_no_fields() -> None:
    assert rules(parse_front_matter(b"---\n- a\n---\n")) == ["yaml-not-mapping"]
    assert parse_front_matter(b"---\n---\nx\n").fields == {}
    assert parse_front_matter(b"---\n# only a comment\n---\nx\n").problems == ()


NULLS = ("~", "null", "Null", "NULL")
"""What YAML reads as no value. The guide's parser then says that the field is missing; other spellings are text."""


@given(st.text(st.characters(codec="utf-8", exclude_categories=("Cc", "Cs"), exclude_characters="\ufeff\ufffe\uffff\u2028\u2029\x85"), min_size=1, max_size=60))
def test_any_description_is_kept_whole_or_something_is_said(text: str) -> None:
    matter = parse(f"description: {text}")
    value = matter.fields.get("description")
    is_kept = isinstance(value, str) and " ".join(value.split()) == " ".join(text.split())
    is_null = text.strip() in NULLS
    assert is_kept or is_null or matter.problems or text.strip()[:1] in "'\"[{&!|>#" or text.strip(" ").startswith("#") or " #" in text


@pytest.mark.parametrize("value", NULLS)
def test_a_null_is_no_text_and_a_quoted_one_is(value: str) -> None:
    assert parse(f"description: {value}").fields["description"] is None
    assert parse(f"description: '{value}'").fields["description"] == value
    assert parse("description: nULL").fields["description"] == "nULL"


@given(st.binary(max_size=300))
def test_any_bytes_are_parsed_without_a_crash(data: bytes) -> None:
    for content in (data, b"---\n" + data + b"\n---\n"):
        matter = parse_front_matter(content)
        assert matter.problems or isinstance(matter.fields, dict)
