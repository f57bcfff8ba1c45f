"""What code in a wheel's tree depends on, judged for Pythons and systems that aren't this one: by name, version, marker and extra."""

from __future__ import annotations

import pytest

from market.pack.wheel_wanted import find_unmet, find_wanted

OLD, NEW = ({"python_version": version, "python_full_version": f"{version}.1", "sys_platform": "linux"} for version in ("3.11", "3.12"))


def unmet(requires: dict[str, tuple[str, ...]], there: dict[str, str]) -> list[list[tuple[str, str, str]]]:
    """What is missing on 3.11 and on 3.12: who wants what, and what there is instead."""
    wanted = find_wanted(requires, {"demo": "1.0", **there})
    return [[(one.by, one.text, one.there) for one in find_unmet(wanted, environment)] for environment in (OLD, NEW)]


BOTH_SIDES = ("lifedep<1.1; python_version<'3.12'", "lifedep>=1.1; python_version>='3.12'")
EXTRA = {"demo": ("dep[fast]",), "dep": ("turbo>=2; extra == 'fast'", "tests-only; extra == 'dev'")}


@pytest.mark.parametrize(
    ("requires", "there", "old", "new"),
    [
        ({"demo": BOTH_SIDES}, {"lifedep": "1.0"}, [], [("demo", "lifedep>=1.1", "1.0")]),
        ({"demo": BOTH_SIDES}, {"lifedep": "1.1"}, [("demo", "lifedep<1.1", "1.1")], []),
        ({"demo": ("mark",), "mark": ("more; python_version>='3.12'",)}, {"mark": "1.0"}, [], [("mark", "more", "")]),
        ({"demo": ("Typing_Extensions>=4", "six")}, {"typing-extensions": "4.1rc1", "six": "odd"}, [], []),
        ({"demo": ("six @ https://x/six.whl", "not a requirement!")}, {"six": "1"}, [], []),
        (EXTRA, {"dep": "1", "turbo": "2.0"}, [], []),
        (EXTRA, {"dep": "1", "turbo": "1.0"}, *[[("dep", "turbo>=2", "1.0")]] * 2),
        # An extra counts where what asks for it does, over several steps, also where a distribution asks itself.
        ({**EXTRA, "demo": ("dep", "dep[fast]; python_version>='3.12'")}, {"dep": "1"}, [], [("dep", "turbo>=2", "")]),
        ({"demo": ("dep[all]",), "dep": ("dep[fast]; extra == 'all'", "turbo; extra=='fast'")}, {"dep": "1"}, *[[("dep", "turbo", "")]] * 2),
        ({"demo": ("dep",), "dep": ("turbo; extra == 'fast' or python_version>='3.12'",)}, {"dep": "1"}, [], [("dep", "turbo", "")]),
        # Extras that ask for each other come to an end.
        ({"demo": ("a[x]",), "a": ("b[y]; extra=='x'",), "b": ("a[x]; extra=='y'", "c; extra=='y'")}, {"a": "1", "b": "1"}, *[[("b", "c", "")]] * 2),
    ],
)  # fmt: skip
def test_each_requirement_that_counts_is_met_by_a_distribution_of_the_tree(
    requires: dict[str, tuple[str, ...]], there: dict[str, str], old: list[tuple[str, str, str]], new: list[tuple[str, str, str]]
) -> None:
    assert unmet(requires, there) == [old, new]


def test_only_what_has_to_be_judged_is_kept() -> None:
    requires = {"demo": ("dep[fast]>=1", "six; python_version>='3.12'"), "dep": ("turbo; extra == 'fast'", "pytest; extra == 'dev'")}
    assert find_wanted(requires, {"demo": "1", "dep": "1", "turbo": "1", "six": "1"}) == ()
    (one,) = find_wanted(requires, {"demo": "1", "dep": "1", "turbo": "1"})
    assert (one.by, one.name, one.marker) == ("demo", "six", 'python_version >= "3.12"')
