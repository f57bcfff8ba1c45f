"""Wheels as packs: what a good one is, and every way in which one may cheat."""

from __future__ import annotations

import io
import subprocess
import sys
import zipfile
from typing import TYPE_CHECKING

import pytest

from market.errors import InvalidInput, Untrusted
from market.model import Brought, Kind, Needs
from market.pack.archive_write import write_archive
from market.pack.inspect import Given, inspect_pack
from market.pack.kinds import KINDS
from market.pack.source import MemorySource
from market.pack.wheel import is_wheel, read_wheel
from market.pack.wheel_metadata import parse_fields, parse_metadata, parse_requires
from market.pack.wheel_needs import is_met_everywhere
from market.trust.verify import verify_archive, verify_made, verify_wheel
from tests.factories import RUN_SCRIPT, a_skill_json, a_skill_md
from tests.wheels import a_code_wheel, a_python_skill, a_wheel, wheel_files, zip_files

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def problems_of(content: bytes, file_name: str = "") -> dict[str, str]:
    """Every rule that a wheel breaks when it is verified, with its text."""
    with pytest.raises((Untrusted, InvalidInput)) as caught:
        verify_wheel(io.BytesIO(content), file_name)
    found: dict[str, str] = {}
    for problem in caught.value.problems:
        found[problem.rule] = f"{found.get(problem.rule, '')}{problem.text}; "
    return found


def test_a_wheel_with_a_guide_is_a_pack_with_the_identity_of_its_metadata() -> None:
    verified = verify_wheel(
        io.BytesIO(a_wheel(name="Demo_Pack", version="1.2.0", metadata="Summary: Greets.\nRequires-Python: >=3.9\n"))
    )
    pack = verified.pack
    assert (pack.name, str(pack.version), pack.kind, pack.summary, pack.needs.python) == (
        "demo-pack",
        "1.2.0",
        "wheel",
        "Greets.",
        ">=3.9",
    )
    assert [(skill.name, skill.kind, skill.folder) for skill in pack.skills] == [
        ("greeting", Kind.GUIDE, "Demo_Pack/greeting")
    ]
    assert "wheel" in KINDS


def test_a_python_skill_is_declared_by_a_file_and_no_code_is_run() -> None:
    verified = verify_wheel(io.BytesIO(a_code_wheel("raise SystemExit('I was imported')\n")))
    (skill,) = verified.pack.skills
    assert (skill.name, skill.kind) == ("echo_py", Kind.PYTHON)
    assert skill.command is not None
    assert skill.command.entry == "python:demo_pack.skills:echo_py"


def test_a_wheel_may_hold_a_command_too_and_its_entry_becomes_executable() -> None:
    files = {"demo_pack/run/skill.json": a_skill_json(), "demo_pack/run/run.sh": RUN_SCRIPT}
    wheel = io.BytesIO()
    with zipfile.ZipFile(wheel, "w") as out:
        for name, content in wheel_files(files).items():
            out.writestr(zipfile.ZipInfo(name), content)
    verified = verify_wheel(wheel)
    assert [skill.kind for skill in verified.pack.skills] == [Kind.COMMAND]
    assert verified.record.by_path["demo_pack/run/run.sh"].executable
    # It is judged as it will be installed: of the bit that it lacked in the wheel nothing is said.
    assert verified.problems == ()


def test_the_tree_in_a_wheel_and_the_same_tree_unpacked_get_one_verdict() -> None:
    contents = wheel_files({"demo_pack/skills.py": "x = 1\n", "demo_pack/echo_py/skill.json": a_python_skill()})
    unpacked = {
        **contents,
        ".site/other-1.0.dist-info/METADATA": b"odd",
        ".site/CON/skill.json": b"{",
        ".site/other.pth": b"",
    }
    zipped = inspect_pack(read_wheel(io.BytesIO(zip_files(contents))).source)
    installed = inspect_pack(MemorySource(unpacked, name="demo-pack"), made_here=True)
    assert installed == zipped
    assert not installed.problems


def test_what_an_author_puts_where_dependencies_lie_is_refused_in_every_tree_but_one_made_here() -> None:
    contents = wheel_files({"demo_pack/hi/SKILL.md": a_skill_md("hi"), ".site/pydantic.py": "x = 1\n"})
    source = MemorySource(contents, name="demo-pack")
    assert [(problem.rule, problem.file) for problem in inspect_pack(source).errors] == [("wheel-site", ".site/pydantic.py")]
    plain = MemorySource({"SKILL.md": a_skill_md("plain"), ".site/x.py": b""}, name="plain")
    assert inspect_pack(plain, Given(version="1.0.0")).errors == ()  # no worker ever looks there


@pytest.mark.parametrize(
    ("brought", "needs"),
    [
        ({}, ()),
        ({"WHEEL": "Wheel-Version: 1.0\nTag: py2-none-any\nTag: py3-none-any\n", "METADATA": "Requires-Python: >=3.8\n"}, ()),
        ({"WHEEL": "Wheel-Version: 1.0\nTag: cp311-cp311-linux_x86_64\n"}, (Brought("fast one 2.0", ("cp311-cp311-linux_x86_64",)),)),
        ({"METADATA": "Name: x\r\nrequires-python: >=3.8,<3.12\r\n\r\nRequires-Python: <3\n"}, (Brought("fast one 2.0", (), ">=3.8,<3.12"),)),
        ({"METADATA": "Name: x\n\nRequires-Python: <3\n"}, ()),
        ({"METADATA": "Requires-Python: any you like\n"}, ()),
    ],
)
def test_what_lies_beside_a_wheel_says_on_which_python_and_system_it_works(
    brought: dict[str, str], needs: tuple[Brought, ...]
) -> None:
    site = {f".site/fast one-2.0.dist-info/{name}": text.encode() for name, text in brought.items()}
    pack = inspect_pack(MemorySource({**wheel_files(), **site}), made_here=True).pack
    assert pack is not None
    assert pack.needs == Needs(brought=needs)


def test_what_lies_beside_a_wheel_is_held_against_what_it_and_its_neighbours_depend_on() -> None:
    site = {
        ".site/Mark_One-1!1.0+local.dist-info/METADATA": b"Requires-Dist: six\r\n  >=2; python_version >= '3'\r\n\r\nRequires-Dist: text\n",
        ".site/six-1.0.dist-info/WHEEL": b"",
    }
    tree = {**wheel_files(requires=("mark-one<1!2", "gone")), **site}
    pack = inspect_pack(MemorySource(tree), made_here=True).pack
    assert pack is not None
    assert [(one.by, one.text, one.marker, one.there) for one in pack.needs.wanted] == [
        ("demo-pack", "gone", "", ""), ("mark-one", "six>=2", 'python_version >= "3"', "1.0"),
    ]  # fmt: skip
    # Without anything beside it nothing is known of what another Python or --no-deps left out.
    alone = inspect_pack(MemorySource(wheel_files(requires=("gone",))), made_here=True).pack
    assert alone is not None and alone.needs == Needs()


def test_a_wheel_s_own_tags_are_a_need_unless_they_fit_everywhere() -> None:
    for tag, tags in (("py3-none-any", ()), ("py2.py3-none-any", ()), ("py311-none-any", ("py311-none-any",))):
        pack = verify_wheel(io.BytesIO(a_wheel(tag=tag, metadata="Requires-Python: >=3.99\n"))).pack
        assert pack.needs == Needs(python=">=3.99", tags=tags)


@pytest.mark.parametrize(
    ("python", "everywhere"),
    [
        ("", True), (">=3.8", True), (">=3.11", True), (">=3.11.4", False), (">3.10", True), (">3.11", False), ("!=3.9.*,>=3.6", True),
        ("!=3.11.2", False), ("!=3.*", False), ("<4", False), ("==3.11.*", False), ("===anything", False), ("~=3.8", False),
    ],
)  # fmt: skip
def test_what_every_python_meets_on_which_market_works_is_no_need(python: str, everywhere: bool) -> None:
    assert is_met_everywhere(python) is everywhere


def test_a_plain_zip_and_a_folder_are_no_wheels() -> None:
    assert not is_wheel(io.BytesIO(zip_files({"skill.json": a_skill_json()})))
    assert not is_wheel(io.BytesIO(b"PK\x03\x04 nothing"))
    assert is_wheel(io.BytesIO(a_wheel()))


def test_a_python_entry_outside_a_wheel_stays_refused() -> None:
    inspection = inspect_pack(MemorySource({"skill.json": a_python_skill(), "demo_pack/skills.py": b""}, name="demo"))
    assert [problem.rule for problem in inspection.errors] == ["entry-python"]


def test_metadata_of_a_very_large_distribution_is_read() -> None:
    extras = "".join(f"Provides-Extra: e{number}\nClassifier: Topic :: {number}\n" for number in range(1000))
    requires = tuple(f"stubs-{number}>=1; extra == 'e{number}'" for number in range(1000))
    folded = "Description: long\n" + "  more\n" * 5_000
    assert verify_wheel(io.BytesIO(a_wheel(metadata=extras + folded, requires=requires))).name == "demo-pack"


def test_fields_that_nobody_should_parse_are_refused_by_name() -> None:
    with pytest.raises(InvalidInput, match="names, more than 100"):
        parse_fields("".join(f"X{number}: a\n" for number in range(101)).encode())
    assert [one.rule for one in parse_metadata(b"Name: x\n" * 200_000, "METADATA").problems] == ["file-too-large"]
    description = "".join(f"X{number}: a\n" for number in range(101))
    assert parse_fields(f"Name: x\nAuthor: me\n\n{description}".encode())["author"] == ("me",)


def test_what_it_depends_on_is_read_in_the_standards_words() -> None:
    metadata = wheel_files(requires=('tabulate>=0.9; python_version >= "3.8"', "pluggy"))[
        "demo_pack-1.0.0.dist-info/METADATA"
    ]
    assert parse_requires(metadata) == ('tabulate>=0.9; python_version >= "3.8"', "pluggy")
    assert parse_requires(b"\xff") == ()


@pytest.mark.parametrize(
    ("file_name", "rule"),
    [
        ("demo_pack-1.0.0-py3-none-any.whl", ""),
        ("Demo.Pack-1.0-py3-none-any.whl", ""),
        ("other-1.0.0-py3-none-any.whl", "wheel-name-differs"),
        ("demo_pack-1.0.1-py3-none-any.whl", "wheel-name-differs"),
        ("demo_pack.whl", "wheel-name"),
        (f"demo_pack-1.0.0-{'py3.' * 50}py3-none-any.whl", "wheel-name"),
    ],
)
def test_the_files_name_agrees_with_what_is_inside(file_name: str, rule: str) -> None:
    if rule:
        assert list(problems_of(a_wheel(), file_name)) == [rule]
    else:
        assert verify_wheel(io.BytesIO(a_wheel()), file_name).name == "demo-pack"


@pytest.mark.parametrize(
    ("tag", "file_tag", "is_good"),
    [
        ("py2.py3-none-any", "py2.py3-none-any", True),
        ("py2-none-any\nTag: py3-none-any", "py2.py3-none-any", True),
        ("py3-none-any", "py2.py3-none-any", False),
        ("py3-none-win_amd64", "py3-none-any", False),
        ("py3-none-any", "cp311-cp311-manylinux_2_17_x86_64", False),
    ],
)
def test_the_tags_in_the_files_name_are_those_in_the_wheel(tag: str, file_tag: str, is_good: bool) -> None:
    wheel, name = a_wheel(tag=tag), f"demo_pack-1.0.0-{file_tag}.whl"
    if is_good:
        assert verify_wheel(io.BytesIO(wheel), name).name == "demo-pack"
    else:
        assert list(problems_of(wheel, name)) == ["wheel-tags-differ"]


def test_a_problem_of_an_entry_point_has_its_place() -> None:
    points = "[x]\ndemo = nowhere\n\n[market.skills]\n# ours\ndemo = {}\n"
    for target, rule in (("nowhere:x", "wheel-entry-module"), ("../x", "wheel-entry-points")):
        with pytest.raises(InvalidInput) as caught:
            verify_wheel(io.BytesIO(a_wheel(entry_points=points.format(target))))
        assert [(one.rule, one.place) for one in caught.value.problems] == [(rule, f"{DIST_INFO}/entry_points.txt:6:1")]


@pytest.mark.parametrize("target", ["demo_pack", "demo_pack.plugin:Plugin", "bare", "bare.inner"])
def test_an_entry_point_may_name_a_module_or_a_folder_that_can_be_imported(target: str) -> None:
    files = {"demo_pack/plugin.py": b"", "bare/inner/notes.txt": b"x", "demo_pack/greeting/SKILL.md": a_skill_md()}
    assert not verify_wheel(io.BytesIO(a_wheel(files, entry_points=f"[market.skills]\nx = {target}\n"))).problems


def _with(changes: dict[str, bytes | None], **options: object) -> bytes:
    """A wheel whose files were changed after RECORD was written."""
    contents = {**wheel_files(**options), **changes}  # type: ignore[arg-type]
    return zip_files({path: content for path, content in contents.items() if content is not None})


DIST_INFO = "demo_pack-1.0.0.dist-info"


@pytest.mark.parametrize(
    ("make", "rule", "text"),
    [
        (lambda: a_wheel(entry_points=""), "wheel-group", "no entry points"),
        (lambda: a_wheel(entry_points="[console_scripts]\nx = demo_pack:x\n"), "wheel-group", "market.skills"),
        (lambda: a_wheel(entry_points="[market.skills]\nx = ../x\n"), "wheel-entry-points", "names no module"),
        (lambda: a_wheel(entry_points="market.skills = x\n"), "wheel-entry-points", "stands before the first group"),
        (lambda: _with({"demo_pack/__init__.py": b"evil = 1\n"}), "wheel-record", "its sha256 differs"),
        (lambda: _with({"demo_pack/more.py": b""}), "wheel-record", "is not in RECORD"),
        (lambda: _with({"demo_pack/__init__.py": None}), "wheel-record", "which is not in the wheel"),
        (lambda: _with({f"{DIST_INFO}/RECORD": b"demo_pack/__init__.py,md5=xx,0\n"}), "wheel-record", ""),
        (lambda: a_wheel(entry_points="[x]\ndemo = nowhere\n[market.skills]\ndemo = nowhere.plugin:hooks\n"), "wheel-entry-module", "isn't in the wheel"),
        (lambda: _with({f"{DIST_INFO}/RECORD": None}), "wheel-dist-info", "RECORD is missing in demo_pack-1.0.0.dist-info"),
        (lambda: zip_files({"demo_pack/__init__.py": b""}), "wheel-dist-info", "no .dist-info folder"),
        (lambda: _with({"other-1.0.dist-info/METADATA": b""}), "wheel-dist-info", "2 .dist-info folders: demo_pack-1.0.0.dist-info, other-1.0.dist-info"),
        (lambda: a_wheel({"evil.pth": "import os"}), "wheel-pth", "evil.pth"),
        (lambda: a_wheel({"demo_pack-1.0.0.data/scripts/run": "#!python"}), "wheel-data", "scripts/run"),
        (lambda: a_wheel({"demo_pack-1.0.0.data/headers/x.h": ""}), "wheel-data", "headers/x.h"),
        (lambda: a_wheel({"demo_pack-1.0.0.data/data/etc/x": ""}), "wheel-data", "data/etc/x"),
        (lambda: a_wheel({"json/__init__.py": ""}), "wheel-shadows", "'json'"),
        (lambda: a_wheel({"Market/__init__.py": ""}), "wheel-shadows", "'Market'"),
        (lambda: a_wheel({"sitecustomize.py": ""}), "wheel-shadows", "'sitecustomize'"),
        (lambda: a_wheel({"demo_pack/fast.pyc": "x"}), "wheel-bytecode", "fast.pyc"),
        (lambda: a_wheel({"notes.txt": "x"}), "wheel-top-file", "notes.txt"),
        (lambda: a_wheel({".hidden/x.py": "x"}), "wheel-hidden", ".hidden"),
        (lambda: a_wheel({".site/x.py": "x"}), "wheel-site", "'.site/x.py' lies where Market puts"),
        (lambda: a_wheel(requires=("evil @ https://127.0.0.1/evil.zip",)), "wheel-dependency-url", "evil"),
        (lambda: a_wheel(requires=("Demo-1.TAR.GZ>=1",)), "wheel-dependency-url", "'Demo-1.TAR.GZ', which is the name of a file"),
        (lambda: a_wheel(requires=("demo-1.0-py3-none-any.whl",)), "wheel-dependency-url", "the name of a file"),
        (lambda: a_wheel(metadata="".join(f"X{number}: a\n" for number in range(101))), "wheel-metadata", "names, more than 100"),
        (lambda: a_wheel(metadata="Classifier: a\n" * 5001), "wheel-metadata", "5,004 fields, more than 5,000"),
        (lambda: a_wheel(requires=("not a requirement !",)), "wheel-metadata", "not a requirement"),
        (lambda: a_wheel(metadata="Name: other\n"), "wheel-metadata", "name can't be read, or stands twice"),
        (lambda: _with({f"{DIST_INFO}/WHEEL": b"Wheel-Version: 2.0\nTag: py3-none-any\n"}), "wheel-file", "2.0"),
        (lambda: a_wheel(tag="py3"), "wheel-file", "can't be read: py3"),
        (lambda: a_wheel(tag=f"{'py3.' * 99}py3-{'none.' * 99}none-{'any.' * 99}any"), "wheel-file", "can't be read"),
        (lambda: a_wheel(metadata="Summary: gr\udcfc\udcdfe\n"), "text-encoding", "is not UTF-8"),
        (lambda: a_code_wheel(manifest={"entry": "python:demo_pack.skills"}), "entry-python-form", "demo_pack.skills"),
        (lambda: a_code_wheel(manifest={"entry": "python:os.path:join"}), "entry-python-module", "'os.path'"),
        (lambda: a_wheel({}), "pack-empty", "no skill"),
        (lambda: a_wheel({"Demo_pack/__init__.py": ""}), "path-collision", ""),
        (lambda: a_wheel({"demo_pack/../../evil.py": ""}), "path-parts", ""),
    ],
)  # fmt: skip
def test_a_wheel_that_cheats_is_refused_by_a_rule_that_is_named(
    make: Callable[[], bytes], rule: str, text: str
) -> None:
    found = problems_of(make())
    assert text in found[rule]


def test_entry_points_for_others_are_told_and_stop_nothing() -> None:
    points = "[market.skills]\nx = demo_pack\n[console_scripts]\nx = demo_pack:x\n"
    assert [problem.rule for problem in verify_wheel(io.BytesIO(a_wheel(entry_points=points))).problems] == [
        "wheel-other-groups"
    ]


def test_a_bomb_is_refused_by_the_bytes_that_it_becomes() -> None:
    assert "archive-bomb" in problems_of(a_wheel({"demo_pack/zeros.bin": bytes(30 << 20)}))


@pytest.mark.parametrize("cut", [1, 30, 400])
def test_a_cut_wheel_and_one_with_more_behind_it_are_refused(cut: int) -> None:
    whole = a_wheel()
    assert problems_of(whole[:-cut])
    assert problems_of(whole + b"x" * cut)


def test_what_a_real_builder_writes_is_a_good_wheel(tmp_path: Path) -> None:
    package = tmp_path / "src" / "built_pack"
    (package / "hello").mkdir(parents=True)
    (package / "__init__.py").touch()
    (package / "hello" / "SKILL.md").write_bytes(a_skill_md("hello"))
    (tmp_path / "pyproject.toml").write_text(
        '[build-system]\nrequires = ["hatchling"]\nbuild-backend = "hatchling.build"\n'
        '[project]\nname = "built-pack"\nversion = "0.3.0"\ndescription = "Built."\nlicense = "Apache-2.0"\nrequires-python = ">=3.11"\n'
        '[project.entry-points."market.skills"]\nbuilt-pack = "built_pack"\n'
    )
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel"], cwd=tmp_path, check=True, capture_output=True
    )
    (path,) = (tmp_path / "dist").iterdir()
    with path.open("rb") as stream:
        verified = verify_wheel(stream, path.name)
        assert (verified.name, verified.pack.license, verified.problems) == ("built-pack", "Apache-2.0", ())
        assert sorted(file.path for file in verified.record.files) == sorted(zipfile.ZipFile(path).namelist())


def test_an_archive_of_a_wheels_tree_is_held_against_its_record_too() -> None:
    contents = wheel_files()
    for verify, changes, trouble in (
        (verify_archive, {}, ""),
        (verify_made, {}, ""),
        (verify_made, {".site/helper.py": b"x = 1"}, ""),
        (verify_archive, {".site/helper.py": b"x = 1"}, "wheel-site"),
        (verify_archive, {"demo_pack/__init__.py": b"evil = 1"}, "isn't what RECORD says"),
        (verify_made, {"demo_pack/__init__.py": b"evil = 1"}, "isn't what RECORD says"),
    ):
        archive = io.BytesIO()
        write_archive(MemorySource({**contents, **changes}), archive)
        if not trouble:
            assert verify(archive, Given()).pack.kind == "wheel"
        else:
            with pytest.raises((Untrusted, InvalidInput)) as caught:
                verify(archive, Given())
            assert trouble in f"{caught.value} {caught.value.problems}"


def test_a_wheel_that_would_not_fit_into_an_archive_is_refused_by_whoever_reads_it() -> None:
    found = problems_of(a_wheel({f"demo_pack/{number}.txt": b"" for number in range(5_000)}))
    assert found == {"archive-too-many": "the tree holds 5,005 files, more than 5,000; "}
