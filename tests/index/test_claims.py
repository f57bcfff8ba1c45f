from __future__ import annotations

import pytest

from index.claims import Claims, check_metadata
from market.web.problems import BadRequest

METADATA = """Metadata-Version: 2.4
Name: text-tools
Version: 1.0.0
Summary: Wörks on
        long texts.
License-Expression: MIT
Requires-Python: >=3.9, <4
Requires-Dist: Text_Lib[fast,slow] (>=1.0,<2)
Requires-Dist: tomli>=2 ; python_version < "3.11"
Provides-Extra: All_Extras

Body.
""".encode()
DEPENDENCIES = ("text-lib[slow,fast]<2,>=1.0", "tomli>=2; python_version<'3.11'")


def claims(**words: str | tuple[str, ...]) -> Claims:
    return Claims({name: (value,) if isinstance(value, str) else value for name, value in words.items()})


@pytest.mark.parametrize(
    "said",
    [
        claims(), claims(description="Anything.", author="somebody"), claims(summary=""),
        # flit says 2.3 of everything.
        claims(metadata_version="2.4"), claims(metadata_version="2.3"),
        claims(summary="Wörks on long texts."), claims(summary="Wörks on\n        long texts."), claims(license_expression="MIT"),
        claims(requires_python="<4,>=3.9"), claims(requires_dist=DEPENDENCIES), claims(requires_dist=DEPENDENCIES[::-1]),
        claims(provides_extra="all-extras"),
    ],
)  # fmt: skip
def test_what_means_the_same_is_true(said: Claims) -> None:
    check_metadata(said, METADATA)


@pytest.mark.parametrize(
    ("said", "words"),
    [
        (claims(metadata_version="1.0"), ["metadata_version", "'1.0'", "'2.4'"]), (claims(metadata_version="x"), ["'x'"]),
        (claims(summary="Works"), ["summary", "'Works'", "'Wörks on long texts.'"]), (claims(license_expression="GPL-3.0-only"), ["'MIT'"]),
        (claims(requires_python=">=3.9"), ["requires_python", "'>=3.9'", "'>=3.9, <4'"]), (claims(requires_python="three"), ["'three'"]),
        (claims(requires_dist=DEPENDENCIES[:1]), ["requires_dist", "tomli"]), (claims(requires_dist=(*DEPENDENCIES, "evil")), ["evil"]),
        (claims(requires_dist=(DEPENDENCIES[0], "tomli>=2")), ["python_version"]), (claims(requires_dist="((("), ["((("]),
        (claims(provides_extra="other"), ["provides_extra", "'other'", "'All_Extras'"]),
    ],
)  # fmt: skip
def test_what_means_something_else_is_named_with_both_values(said: Claims, words: list[str]) -> None:
    with pytest.raises(BadRequest) as caught:
        check_metadata(said, METADATA)
    assert all(word in caught.value.message for word in words), caught.value.message


def test_words_of_mail_may_be_sent_decoded_or_not() -> None:
    for said in ("=?utf-8?q?W=C3=B6rks?=", "Wörks"):
        check_metadata(claims(summary=said), b"Metadata-Version: 2.4\nName: a\nVersion: 1\nSummary: =?utf-8?q?W=C3=B6rks?=\n")
    for said in ("=?nope?q?x?=", "=?utf-8?b?A?="):
        with pytest.raises(BadRequest):
            check_metadata(claims(summary=said), METADATA)


def test_long_words_are_cut_in_what_is_shown() -> None:
    with pytest.raises(BadRequest) as caught:
        check_metadata(claims(summary="x" * 10_000), METADATA)
    assert len(caught.value.message) < 400 and len(str(caught.value.details)) < 400


def test_a_field_that_is_missing_in_the_file_denies_every_claim() -> None:
    with pytest.raises(BadRequest):
        check_metadata(claims(requires_python=">=3.9"), b"Metadata-Version: 2.4\nName: a\nVersion: 1\n")
