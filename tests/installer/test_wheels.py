"""Wheels as arrivals: with what they depend on, in one tree, or refused with the pack's name and nothing written."""

from __future__ import annotations

import io
import os
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest

from market.errors import Conflict, InvalidInput, MarketError, Refused, Unavailable, Untrusted
from market.installer.dependencies import DependencyTerms, make_dependency_terms
from market.installer.plan import Action
from market.installer.receipt import Origin
from market.installer.root import open_root
from market.installer.skill_tree import split_pack
from market.installer.wheels import acquire_wheel
from market.model import SkillClass
from market.pack.inspect import Given
from market.pack.wheel_tree import own_digest
from market.trust.verify import verify_wheel
from tests.installer.builders import check_at_rest, install, read_tree
from tests.wheels import a_code_wheel, a_wheel, write_wheel

if TYPE_CHECKING:
    from pathlib import Path

    from market.installer.root import Root
    from market.installer.transaction import Arrival

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
ORIGIN = Origin("archive", "/dist/demo.whl")


@pytest.fixture
def root(tmp_path: Path) -> Root:
    return open_root(tmp_path / "root", create=True)


def terms(wheelhouse: Path, **more: Any) -> DependencyTerms:
    """Terms under which only the wheels of one folder can be had."""
    wheelhouse.mkdir(exist_ok=True)
    return DependencyTerms(
        {**os.environ, "UV_OFFLINE": "1", "UV_FIND_LINKS": str(wheelhouse), "UV_NO_CACHE": "1"}, **more
    )


def acquire(content: bytes, allowed: DependencyTerms, **options: Any) -> Arrival:
    return acquire_wheel(io.BytesIO(content), options.pop("file_name", ""), ORIGIN, allowed, **options)


def test_a_wheel_is_installed_as_every_pack_and_its_tree_is_its_files(tmp_path: Path, root: Root) -> None:
    (change,) = install(root, acquire(a_wheel(), terms(tmp_path / "house")))
    assert (change.action, change.name, change.new_version) == (Action.INSTALLED, "demo-pack", "1.0.0")
    assert sorted(os.listdir(root.tree("demo-pack"))) == ["demo_pack", "demo_pack-1.0.0.dist-info"]
    check_at_rest(root)
    (again,) = install(root, acquire(a_wheel(), terms(tmp_path / "house")))
    assert again.action is Action.UNCHANGED


def test_what_it_depends_on_lies_in_the_same_tree_and_is_recorded(tmp_path: Path, root: Root) -> None:
    house = tmp_path / "house"
    write_wheel(house, a_wheel({"deep_one.py": "x = 2\n"}, name="deep-one"), "deep-one")
    write_wheel(house, a_wheel({"helper.py": "import deep_one\n"}, name="helper", requires=("deep-one",)), "helper")
    arrival = acquire(a_code_wheel(requires=("helper>=1", 'nowhere; extra == "more"')), terms(house))
    assert {
        ".site/helper.py",
        ".site/deep_one.py",
        ".site/helper-1.0.0.dist-info/METADATA",
    } <= arrival.verified.record.by_path.keys()
    install(root, arrival)
    tree = read_tree(root.tree("demo-pack"))
    assert tree is not None
    assert tree[".site/helper.py"] == b"import deep_one\n"
    assert not any("/bin/" in path or path.endswith((".lock", ".pyc")) for path in tree)
    check_at_rest(root)
    assert (
        acquire(a_code_wheel(requires=("helper>=1",)), terms(house)).verified.archive_digest
        != arrival.verified.archive_digest
    )


def test_the_same_wheel_and_dependencies_give_the_same_archive(tmp_path: Path) -> None:
    house = tmp_path / "house"
    write_wheel(house, a_wheel({"helper.py": ""}, name="helper"), "helper")
    digests = {acquire(a_code_wheel(requires=("helper",)), terms(house)).verified.archive_digest for _ in range(2)}
    assert len(digests) == 1


def test_a_newer_dependency_is_another_tree_of_the_same_release(tmp_path: Path, root: Root) -> None:
    house = tmp_path / "house"
    write_wheel(house, a_wheel({"helper/__init__.py": "X = 1\n"}, name="helper"), "helper")
    wheel = a_code_wheel(requires=("helper",))
    first = acquire(wheel, terms(house))
    install(root, first)
    write_wheel(house, a_wheel({"helper/__init__.py": "X = 2\n"}, name="helper", version="2.0.0"), "helper", "2.0.0")
    second = acquire(wheel, terms(house))
    assert first.verified.tree_digest != second.verified.tree_digest
    assert (
        own_digest(first.verified.record)
        == own_digest(second.verified.record)
        == verify_wheel(io.BytesIO(wheel)).tree_digest
    )
    (change,) = install(root, second)
    assert change.action is Action.REINSTALLED
    with pytest.raises(Conflict, match="is installed with another tree"):
        install(root, acquire(a_code_wheel("x = 1\n", requires=("helper",)), terms(house)))


def test_dependencies_can_be_left_out(tmp_path: Path, root: Root) -> None:
    arrival = acquire(a_code_wheel(requires=("nowhere-to-be-found",)), terms(tmp_path / "house", fetch=False))
    install(root, arrival)
    assert ".site" not in os.listdir(root.tree("demo-pack"))


def test_a_dependency_that_can_t_be_resolved_names_the_pack_and_writes_nothing(tmp_path: Path, root: Root) -> None:
    with pytest.raises(Unavailable, match=r"what demo-pack depends on can't be fetched: nowhere-to-be-found") as caught:
        install(root, acquire(a_code_wheel(requires=("nowhere-to-be-found",)), terms(tmp_path / "house")))
    assert "nowhere-to-be-found" in caught.value.why
    assert os.listdir(root.path) == []


def test_a_dependency_that_would_have_to_be_built_is_not(tmp_path: Path) -> None:
    house = tmp_path / "house"
    house.mkdir()
    (house / "evil-1.0.tar.gz").write_bytes(b"\x1f\x8b")
    with pytest.raises(InvalidInput, match="evil"):
        acquire(a_code_wheel(requires=("evil",)), terms(house))


@pytest.mark.parametrize(("skill_class", "forbidden"), [("dangerous", True), ("mutating", True), ("safe", False)])
def test_an_operator_forbids_dependencies_by_class(tmp_path: Path, skill_class: str, forbidden: bool) -> None:
    house = tmp_path / "house"
    write_wheel(house, a_wheel({"helper.py": ""}, name="helper"), "helper")
    wheel = a_code_wheel(requires=("helper",), manifest={"class": skill_class})
    given = terms(house, forbidden_for=frozenset({SkillClass.DANGEROUS, SkillClass.MUTATING}))
    if forbidden:
        with pytest.raises(Refused, match="demo-pack depends on helper"):
            acquire(wheel, given)
    else:
        acquire(wheel, given)
    acquire(a_code_wheel(manifest={"class": skill_class}), given)


@pytest.mark.parametrize(
    ("text", "classes"),
    [("", ()), ("dangerous, mutating", ("dangerous", "mutating")), ("all", ("safe", "mutating", "dangerous"))],
)
def test_the_setting_lists_classes(text: str, classes: tuple[str, ...]) -> None:
    assert make_dependency_terms({"MARKET_FORBID_DEPENDENCIES": text}).forbidden_for == frozenset(
        map(SkillClass, classes)
    )


def test_a_setting_that_can_t_be_read_is_an_error_and_not_a_permission() -> None:
    with pytest.raises(InvalidInput, match="MARKET_FORBID_DEPENDENCIES"):
        make_dependency_terms({"MARKET_FORBID_DEPENDENCIES": "risky"})


@pytest.mark.parametrize("tag", ["cp27-cp27m-manylinux1_x86_64", "py3-none-win_amd64"])
def test_a_wheel_for_another_python_or_system_is_refused_by_its_tags(tmp_path: Path, tag: str) -> None:
    with pytest.raises(InvalidInput, match=f"demo-pack 1.0.0 is made for another Python or system: {tag}"):
        acquire(a_wheel(tag=tag), terms(tmp_path / "house"))


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"given": Given(name="other")}, Untrusted),
        ({"given": Given(version="2.0.0")}, Untrusted),
        ({"file_name": "other-1.0.0-py3-none-any.whl"}, Untrusted),
    ],
)
def test_a_wheel_says_itself_what_it_is(tmp_path: Path, options: dict[str, Any], error: type[MarketError]) -> None:
    with pytest.raises(error):
        acquire(a_wheel(), terms(tmp_path / "house"), **options)


def test_pips_settings_stand_in_where_uv_has_none(tmp_path: Path) -> None:
    house = tmp_path / "house"
    write_wheel(house, a_wheel({"helper.py": ""}, name="helper"), "helper")
    plain = {key: value for key, value in os.environ.items() if not key.startswith(("UV_", "PIP_"))}
    given = DependencyTerms({**plain, "UV_OFFLINE": "1", "UV_NO_CACHE": "1", "PIP_FIND_LINKS": str(house)})
    assert ".site/helper.py" in acquire(a_code_wheel(requires=("helper",)), given).verified.record.by_path


def test_python_skills_can_t_be_installed_one_by_one_for_other_programs(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="the code of echo_py is in the whole package"):
        split_pack(acquire(a_code_wheel(), terms(tmp_path / "house")).verified)
    (tree,) = split_pack(acquire(a_wheel(), terms(tmp_path / "house")).verified)
    assert (tree.name, [file.path for file in tree.record.files]) == ("greeting", ["SKILL.md"])
