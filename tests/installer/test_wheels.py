"""Wheels as arrivals: with what they depend on, in one tree, or refused with the pack's name and nothing written."""

from __future__ import annotations

import hashlib
import io
import os
import subprocess
import sysconfig
import venv
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import market
from market.errors import Conflict, InvalidInput, MarketError, Refused, Unavailable, Untrusted
from market.installer.composition import DEPENDENCIES_FILE, compose
from market.installer.dependencies import DependencyTerms, make_dependency_terms
from market.installer.made_wheels import works_here
from market.installer.plan import Action
from market.installer.receipt import Origin, encode_receipt, load_receipt
from market.installer.root import open_root
from market.installer.skill_tree import split_pack
from market.installer.uv import find_uv
from market.installer.wheels import acquire_wheel, check_dependencies
from market.model import SkillClass
from market.pack.archive_write import write_archive
from market.pack.inspect import Given
from market.pack.source import MemorySource
from market.pack.wheel_tree import own_digest
from market.trust.verify import verify_made, verify_wheel
from tests.installer.builders import check_at_rest, install, read_tree
from tests.wheels import a_code_wheel, a_wheel, wheel_files, write_wheel

if TYPE_CHECKING:
    from market.installer.root import Root
    from market.installer.transaction import Arrival
    from market.trust.verify import VerifiedPack

pytestmark = pytest.mark.flow

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


def a_house(folder: Path, version: str = "1.0.0") -> Path:
    """A folder with `helper`, which has a program, and `deep-one`, on which it depends."""
    points = "[console_scripts]\nhelper = helper:main\n"
    files = {"helper.py": f"X = {version!r}\ndef main():\n    pass\n"}
    write_wheel(folder, a_wheel({"deep_one.py": ""}, name="deep-one"), "deep-one")
    write_wheel(folder, a_wheel(files, name="helper", version=version, requires=("deep-one",), entry_points=points), "helper", version)
    return folder


def pins_of(arrival: Arrival) -> list[str]:
    made = compose(arrival.verified)
    assert made is not None
    return [f"{one.name} {one.version}" for one in made.dependencies]


def test_a_tree_pins_what_it_depends_on_by_the_hash_of_each_file(tmp_path: Path, root: Root) -> None:
    house = a_house(tmp_path / "house")
    arrival = acquire(a_code_wheel(requires=("helper",)), terms(house))
    (change,) = install(root, arrival)
    receipt = load_receipt(root, change.name)
    assert receipt is not None
    assert receipt.composition is not None
    assert receipt.composition == compose(arrival.verified)
    assert {(one.name, one.version, one.hashes) for one in receipt.composition.dependencies} == {
        (path.name.partition("-")[0].replace("_", "-"), "1.0.0", (f"sha256:{hashlib.sha256(path.read_bytes()).hexdigest()}",)) for path in house.iterdir()
    }  # fmt: skip
    assert receipt.published_digest == verify_wheel(io.BytesIO(a_code_wheel(requires=("helper",)))).tree_digest


PRINT_DIGEST = """
import os, sys
from pathlib import Path
from market.installer.dependencies import DependencyTerms
from market.installer.receipt import Origin
from market.installer.wheels import acquire_wheel
with open(sys.argv[1], "rb") as stream:
    print(acquire_wheel(stream, "", Origin("archive", "x"), DependencyTerms(dict(os.environ))).verified.archive_digest)
"""


def test_two_environments_at_different_paths_make_the_same_bytes_of_a_dependency_with_a_program(tmp_path: Path) -> None:
    wheel = write_wheel(tmp_path / "dist", a_code_wheel(requires=("helper",)))
    paths = os.pathsep.join([str(Path(market.__file__).parents[1]), *sysconfig.get_paths()["purelib"].split(os.pathsep)])
    digests = set()
    for name in ("one", "another/much-longer"):
        house = a_house(tmp_path / name / "house")
        venv.create(tmp_path / name / "venv", symlinks=True)
        environ = {**terms(house).environ, "PYTHONPATH": paths, "PATH": f"{Path(find_uv({})).parent}:/usr/bin:/bin"}
        python = str(tmp_path / name / "venv" / "bin" / "python")
        done = subprocess.run([python, "-c", PRINT_DIGEST, str(wheel)], env=environ, capture_output=True, text=True, check=True)
        digests.add(done.stdout.strip())
    assert digests == {acquire(wheel.read_bytes(), terms(a_house(tmp_path / "house"))).verified.archive_digest}


def test_settings_of_a_foreign_folder_don_t_choose_the_index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "uv.toml").write_text('find-links = ["evil"]\n')
    write_wheel(tmp_path / "evil", a_wheel({"helper.py": "EVIL = 1\n"}, name="helper", version="9.0.0"), "helper", "9.0.0")
    for place in (tmp_path, a_folder(tmp_path / "project")):
        monkeypatch.chdir(place)
        # Above the temporary folder anybody may put one.
        monkeypatch.setattr("tempfile.tempdir", str(place))
        assert pins_of(acquire(a_code_wheel(requires=("helper",)), terms(a_house(tmp_path / "house")))) == ["deep-one 1.0.0", "helper 1.0.0"]


def a_folder(path: Path) -> Path:
    path.mkdir()
    return path


def test_a_path_in_the_environment_is_seen_from_where_the_command_is_given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    a_house(tmp_path / "house")
    monkeypatch.chdir(tmp_path)
    given = DependencyTerms({**terms(tmp_path / "house").environ, "UV_FIND_LINKS": "house"})
    assert pins_of(acquire(a_code_wheel(requires=("helper",)), given)) == ["deep-one 1.0.0", "helper 1.0.0"]


def test_what_is_installed_keeps_its_dependencies_without_any_network(tmp_path: Path, root: Root) -> None:
    house, wheel = a_house(tmp_path / "house"), a_code_wheel(requires=("helper",))
    first = acquire(wheel, terms(house))
    install(root, first)
    a_house(house, "2.0.0")
    again = acquire(wheel, terms(tmp_path / "nothing", reuse=root))
    assert again.verified.archive_digest == first.verified.archive_digest
    assert pins_of(acquire(wheel, terms(house))) == ["deep-one 1.0.0", "helper 2.0.0"]
    # Another release of the pack has nothing to do with it, and a spoilt archive helps nobody.
    other = a_code_wheel("x = 1\n", requires=("helper",))
    assert pins_of(acquire(other, terms(house, reuse=root))) == ["deep-one 1.0.0", "helper 2.0.0"]
    root.archive(first.verified.archive_digest).write_bytes(b"spoilt")
    assert pins_of(acquire(wheel, terms(house, reuse=root))) == ["deep-one 1.0.0", "helper 2.0.0"]


def test_what_was_left_out_is_fetched_when_it_is_wanted(tmp_path: Path, root: Root) -> None:
    house, wheel = a_house(tmp_path / "house"), a_code_wheel(requires=("helper",))
    alone = acquire(wheel, terms(house, fetch=False))
    install(root, alone)
    assert (receipt := load_receipt(root, "demo-pack")) and receipt.composition
    assert receipt.composition.left_out == ("helper",)
    assert acquire(wheel, terms(house, fetch=False, reuse=root)).verified.archive_digest == alone.verified.archive_digest
    assert pins_of(acquire(wheel, terms(house, reuse=root))) == ["deep-one 1.0.0", "helper 1.0.0"]


def test_locked_dependencies_come_whatever_newer_ones_there_are(tmp_path: Path) -> None:
    house, wheel = a_house(tmp_path / "house"), a_code_wheel(requires=("helper",))
    first = acquire(wheel, terms(house))
    a_house(house, "2.0.0")
    again = acquire(wheel, terms(house), locked=compose(first.verified))
    assert again.verified.archive_digest == first.verified.archive_digest


def test_locked_dependencies_that_are_other_bytes_or_not_enough_are_refused(tmp_path: Path) -> None:
    house, wheel = a_house(tmp_path / "house"), a_code_wheel(requires=("helper",))
    made = compose(acquire(wheel, terms(house)).verified)
    assert made is not None
    deep, helper = made.dependencies
    with pytest.raises(Conflict, match="don't do on this Python") as caught:
        acquire(wheel, terms(house), locked=replace(made, dependencies=(deep,)))
    assert "here it depends on helper, and none is pinned" in caught.value.why
    with pytest.raises(Conflict, match="don't do on this Python"):
        acquire(wheel, terms(house), locked=replace(made, dependencies=(helper,)))
    write_wheel(house, a_wheel({"deep_one.py": "EVIL = 1"}, name="deep-one"), "deep-one")
    with pytest.raises(Untrusted, match="other bytes than were pinned"):
        acquire(wheel, terms(house), locked=made)


@pytest.mark.parametrize("tag", ["py3-none-any", "py3-none-win_amd64"])
def test_a_made_tree_works_here_if_each_part_of_it_does(tag: str) -> None:
    pin = f"helper==1.0.0 --hash=sha256:{'a' * 64}\n"
    files = {
        **wheel_files(requires=("helper",)),
        ".site/helper-1.0.0.dist-info/WHEEL": f"Wheel-Version: 1.0\nTag: {tag}\n".encode(),
        DEPENDENCIES_FILE: pin.encode(),
    }
    assert works_here(an_archive(files)) == (tag == "py3-none-any")
    other = {path.replace("helper-1.0.0", "other-1.0.0"): content for path, content in files.items()}
    assert not works_here(an_archive({**other, DEPENDENCIES_FILE: pin.replace("helper", "other").encode()}))


OTHER_PYTHON = "python_version < '3.11'"


def test_a_locked_version_that_isn_t_wanted_here_is_refused_whoever_wants_it(tmp_path: Path) -> None:
    house = a_house(tmp_path / "house")
    write_wheel(house, a_wheel({"helper.py": ""}, name="helper", version="2.0.0", requires=(f"deep-one; {OTHER_PYTHON}",)), "helper", "2.0.0")
    made = compose(acquire(a_code_wheel(requires=("helper==1.0.0",)), terms(house)).verified)
    assert made is not None
    both = (f"helper<2; {OTHER_PYTHON}", "helper>=2; python_version >= '3.11'")
    with pytest.raises(Conflict, match="don't do on this Python") as caught:
        acquire(a_code_wheel(requires=both), terms(house), locked=made)
    assert "it depends on helper>=2, and helper 1.0.0 is pinned" in caught.value.why
    assert "`market install demo-pack@1.0.0 --refresh-deps --lock`" in caught.value.hint
    # What an extra of a pin asks for stands in no pin.
    write_wheel(house, a_wheel({"helper.py": ""}, name="helper", metadata="Provides-Extra: more\n", requires=("deep-one", "third; extra == 'more'")), "helper")
    made = compose(acquire(a_code_wheel(requires=("helper<2",)), terms(house)).verified)
    with pytest.raises(Conflict, match="don't do on this Python") as caught:
        acquire(a_code_wheel(requires=("helper[more]<2",)), terms(house), locked=made)
    assert "it needs third, on which helper depends" in caught.value.why


def test_a_pinned_dependency_that_left_its_index_is_a_conflict(tmp_path: Path) -> None:
    house, wheel = a_house(tmp_path / "house"), a_code_wheel(requires=("helper",))
    made = compose(acquire(wheel, terms(house)).verified)
    for path in house.glob("helper-*"):
        path.unlink()
    a_house(house, "2.0.0")
    with pytest.raises(Conflict, match=r"can't be had any more: deep-one==1.0.0, helper==1.0.0$") as caught:
        acquire(wheel, terms(house), locked=made)
    assert "`market install demo-pack@1.0.0 --refresh-deps --lock`" in caught.value.hint
    assert "--no-deps" not in caught.value.hint
    for path in house.iterdir():
        path.unlink()
    with pytest.raises(Unavailable, match=r"can't be fetched: deep-one==1.0.0, helper==1.0.0$") as away:
        acquire(wheel, terms(house), locked=made)
    assert "UV_DEFAULT_INDEX" in away.value.hint and "--no-deps" not in away.value.hint


def test_no_deps_takes_out_what_is_there(tmp_path: Path, root: Root) -> None:
    house, wheel = a_house(tmp_path / "house"), a_code_wheel(requires=("helper",))
    install(root, acquire(wheel, terms(house)))
    (change,) = install(root, acquire(wheel, terms(house, fetch=False, reuse=root)))
    assert change.action is Action.REINSTALLED
    assert ".site" not in os.listdir(root.tree("demo-pack"))


def test_what_only_another_python_left_out_is_fetched_here(tmp_path: Path, root: Root) -> None:
    house, wheel = a_house(tmp_path / "house"), a_code_wheel(requires=("helper",))
    alone = acquire(wheel, terms(house, fetch=False))
    install(root, alone)
    receipt = load_receipt(root, "demo-pack")
    assert receipt is not None and receipt.composition is not None
    # As a Python writes it on which the marker of `helper` doesn't hold.
    root.receipt("demo-pack").write_bytes(encode_receipt(replace(receipt, composition=replace(receipt.composition, left_out=()))))
    assert pins_of(acquire(wheel, terms(house, reuse=root))) == ["deep-one 1.0.0", "helper 1.0.0"]


def test_a_tree_without_dependencies_says_whether_none_were_wanted_here(tmp_path: Path) -> None:
    wheel = a_code_wheel(requires=("helper; python_version < '3'", "more; extra == 'x'"))
    there = [DEPENDENCIES_FILE in acquire(wheel, terms(tmp_path / "house", fetch=fetch)).verified.record.by_path for fetch in (True, False)]
    assert there == [True, False]
    for requires in ((), ("more; extra == 'x'",)):
        assert DEPENDENCIES_FILE not in acquire(a_code_wheel(requires=requires), terms(tmp_path / "house")).verified.record.by_path
    made = acquire(wheel, terms(tmp_path / "house", forbidden_for=frozenset(SkillClass)))
    check_dependencies(made.verified, terms(tmp_path / "house", forbidden_for=frozenset(SkillClass)))
    assert made.verified.pack.needs.wanted
    assert pins_of(made) == []
    locked = acquire(wheel, terms(tmp_path / "house"), locked=compose(made.verified))
    assert locked.verified.archive_digest == made.verified.archive_digest


@pytest.mark.parametrize("size", [1 << 6, 1 << 20])
def test_a_full_temporary_folder_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    full = Path("/dev/full").open("r+b", buffering=size)  # noqa: SIM115 - closed by whoever takes it for a temporary file
    monkeypatch.setattr("tempfile.TemporaryFile", lambda: full)
    with pytest.raises(Unavailable, match=f"can't write a temporary file in {tmp_path}") as caught:
        acquire(a_code_wheel(), terms(tmp_path / "house"))
    assert "the disk is full" in caught.value.why


def an_archive(files: dict[str, bytes]) -> VerifiedPack:
    archive = io.BytesIO()
    write_archive(MemorySource(files), archive)
    return verify_made(archive, Given())


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
    with pytest.raises(Refused, match=f"demo-pack 1.0.0 needs a Python and system for {tag}"):
        acquire(a_wheel(tag=tag, requires=("nowhere-to-be-found",)), terms(tmp_path / "house"))


def test_a_wheel_for_another_python_is_refused_before_anything_is_fetched(tmp_path: Path) -> None:
    with pytest.raises(Refused, match=r"demo-pack 1.0.0 needs Python >=3.99 \(this is 3"):
        acquire(a_wheel(metadata="Requires-Python: >=3.99\n", requires=("nowhere-to-be-found",)), terms(tmp_path / "house"))


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
