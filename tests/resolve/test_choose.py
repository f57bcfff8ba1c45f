from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from market.client.wire import ArchiveLink, PackDocument, ReleaseSummary
from market.errors import Conflict, MarketError, NotFound, Refused, Unavailable
from market.names import parse_requirement, parse_version
from market.resolve.choose import choose_release
from market.resolve.policy import Policy

if TYPE_CHECKING:
    from collections.abc import Mapping


def a_document(*rows: str, tags: dict[str, str] | None = None, latest: str = "") -> PackDocument:
    """Rows are `VERSION` or `VERSION STATE`."""
    releases = tuple(a_release(*row.split()) for row in rows)
    return PackDocument("disk-cleaner", "acme", "", latest, "2026-01-01T00:00:00Z", releases, tags or {})


def a_release(version: str, state: str = "live") -> ReleaseSummary:
    link = ArchiveLink(f"sha256:{'0' * 64}", 10, "x.zip")
    reason = "leaks" if state == "yanked" else ""
    return ReleaseSummary(version, state, "2026-01-01T00:00:00Z", link.digest, link, f"{version}/index.json", reason)


def choose(requirement: str, document: PackDocument) -> str:
    return choose_release(parse_requirement(requirement), document).version


MANY = a_document(
    *("1.0.0", "1.10.0", "1.9.0", "2.0.0rc1", "1.11.0 yanked", "1.12.0 held", "1.13.0 quarantined", "1.14.0 deleted"),
    latest="1.10.0",
)


@pytest.mark.parametrize(
    ("requirement", "version"),
    [
        ("disk-cleaner", "1.10.0"),
        ("@acme/disk-cleaner", "1.10.0"),
        ("disk-cleaner@1.9", "1.9.0"),
        ("disk-cleaner@1.11.0", "1.11.0"),
        ("disk-cleaner@2.0.0-rc.1", "2.0.0rc1"),
        ("disk-cleaner<1.10", "1.9.0"),
        ("disk-cleaner>=1.9,<2", "1.10.0"),
        ("disk-cleaner>=2.0.0rc1", "2.0.0rc1"),
        ("disk-cleaner@latest", "1.10.0"),
    ],
)
def test_the_newest_live_release_that_fits(requirement: str, version: str) -> None:
    assert choose(requirement, MANY) == version


@pytest.mark.parametrize(
    ("requirement", "kind", "text"),
    [
        ("disk-cleaner>3", NotFound, "no release of disk-cleaner fits"),
        ("disk-cleaner==1.11.0", NotFound, "no release"),
        ("disk-cleaner@7", NotFound, "no release"),
        ("disk-cleaner@1.12.0", Unavailable, "held for review"),
        ("disk-cleaner@1.13.0", NotFound, "is quarantined"),
        ("disk-cleaner@1.14.0", NotFound, "is deleted"),
        ("disk-cleaner@beta", NotFound, "no tag 'beta'"),
        ("@mallory/disk-cleaner", Conflict, "belongs to @acme"),
    ],
)
def test_what_does_not_fit_is_refused_by_name(requirement: str, kind: type[MarketError], text: str) -> None:
    with pytest.raises(kind, match=text) as caught:
        choose(requirement, MANY)
    assert caught.value.hint


def test_not_found_lists_what_there_is() -> None:
    with pytest.raises(NotFound) as caught:
        choose("disk-cleaner@7", MANY)
    assert caught.value.why.startswith(
        "there is 2.0.0rc1, 1.10.0, 1.9.0, 1.0.0; and not for choosing: 1.14.0 (deleted)"
    )
    with pytest.raises(NotFound, match="no release") as caught:
        choose("disk-cleaner", a_document())
    assert caught.value.why == "there is no live release"


def test_pre_releases_come_when_there_is_no_final_release() -> None:
    assert choose("disk-cleaner", a_document("1.0a1", "1.0b2", "0.9 yanked")) == "1.0b2"


def test_a_pre_release_that_nobody_asked_for_is_named_in_the_hint() -> None:
    with pytest.raises(NotFound, match="no release") as caught:
        choose("disk-cleaner>=1.99", MANY)
    assert "ask for it with disk-cleaner@2.0.0rc1" in caught.value.hint


def test_tags_lead_to_live_releases_only() -> None:
    document = a_document("1.0", "2.0b1", "1.1 yanked", tags={"beta": "2.0b1", "old": "1.1"}, latest="1.0")
    assert choose("disk-cleaner@beta", document) == "2.0b1"
    assert choose("disk-cleaner@latest", document) == "1.0"
    with pytest.raises(NotFound, match="yanked: leaks"):
        choose("disk-cleaner@old", document)


def test_versions_of_a_newer_index_are_passed_over() -> None:
    assert choose("disk-cleaner", a_document("1.0", "9999-from-the-future!")) == "1.0"


@given(st.lists(st.sampled_from(["1.0", "1.1", "1.2rc1", "2.0", "2.1.dev1", "0.9"]), unique=True, min_size=1))
def test_order_in_the_document_does_not_count(versions: list[str]) -> None:
    chosen = choose("disk-cleaner", a_document(*versions))
    assert chosen == choose("disk-cleaner", a_document(*reversed(versions)))
    stable = [version for version in versions if not parse_version(version).is_prerelease]
    assert parse_version(chosen) == max(map(parse_version, stable or versions))


def a_wheel_row(version: str, tag: str, needs: dict[str, object] | None = None) -> ReleaseSummary:
    link = ArchiveLink(f"sha256:{'0' * 64}", 10, "x.whl", "wheel", f"disk_cleaner-{version}-{tag}.whl")
    return replace(a_release(version), archive=link, needs=needs or {})


@pytest.mark.parametrize(
    ("row", "needs"),
    [
        (a_wheel_row("2.0", "py3-none-win_amd64"), {"tags": ("py3-none-win_amd64",)}),
        (a_wheel_row("2.0", "7-cp311-cp311-win32.win_amd64", {"os": ["windows"]}), {"os": ["windows"], "tags": ("cp311-cp311-win32.win_amd64",)}),
        (a_wheel_row("2.0", "py2.py3-none-any", {"python": ">=3.9"}), {"python": ">=3.9"}),
        (a_wheel_row("2.0", "py3-none-win_amd64", {"tags": ["py3-none-win32"]}), {"tags": ["py3-none-win32"]}),
        (a_release("2.0"), {}),
    ],
)  # fmt: skip
def test_the_tags_of_a_wheel_are_needs_and_a_release_that_fits_is_taken_before_a_newer_one(
    row: ReleaseSummary, needs: dict[str, object]
) -> None:
    asked: list[object] = []

    def find_unmet(given: Mapping[str, object]) -> tuple[str, ...]:
        asked.append(given)
        return ("a Python for Windows",) if "tags" in given else ()

    document = replace(a_document("1.0"), releases=(row, a_release("1.0")))
    chosen = choose_release(parse_requirement("disk-cleaner"), document, Policy(find_unmet=find_unmet))
    assert (chosen.version, asked[0]) == ("1.0" if "tags" in needs else "2.0", needs)
    if "tags" in needs:
        with pytest.raises(Refused, match=r"disk-cleaner 2\.0 may not be installed here"):
            choose_release(parse_requirement("disk-cleaner@2.0"), document, Policy(find_unmet=find_unmet))
