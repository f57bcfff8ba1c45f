"""What may lie in the tree of a wheel pack, zipped, unpacked or put together by Market, and on which machine it may stand."""

from __future__ import annotations

import hashlib
import io
import os
import re
import shutil
from typing import TYPE_CHECKING

import pytest

from market.installer.bundle import bundle_pack, describe_release, open_bundle, write_bundle
from market.installer.receipt import Origin
from market.installer.root import open_root
from market.installer.transaction import Arrival
from market.pack.archive_write import write_archive
from market.pack.inspect import Given
from market.pack.source import MemorySource
from market.registry.loader import Loader
from market.registry.unit import UnitId
from market.trust.verify import verify_made
from tests.factories import a_skill_md
from tests.installer.builders import install
from tests.wheels import a_code_wheel, a_wheel, code_files, write_wheel, zip_files

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.shell import Shell

HELPER = {".site/helper.py": b"X = 1\n"}
# What a tree has that was put together with another Python.
FAST = {
    ".site/fast.py": b"",
    ".site/fast-2.1.dist-info/WHEEL": b"Wheel-Version: 1.0\nTag: cp27-cp27m-win32\n",
    ".site/fast-2.1.dist-info/METADATA": b"Name: fast\nVersion: 2.1\nRequires-Python: <3\n",
}
USES_HELPER = "import helper\n\n\ndef echo_py(params, context):\n    return {'x': helper.X}\n"


def an_archive(files: dict[str, bytes]) -> bytes:
    out = io.BytesIO()
    write_archive(MemorySource(files), out)
    return out.getvalue()


def a_made_arrival(files: dict[str, bytes]) -> Arrival:
    made = verify_made(io.BytesIO(an_archive(files)), Given())
    return Arrival(made, "", Origin("archive", "/dist/demo.whl"))


def a_bundle(path: Path, arrival: Arrival) -> Path:
    with path.open("wb") as out:
        write_bundle([bundle_pack(arrival, describe_release(arrival, "2026-01-02T03:04:05+00:00"))], out)
    return path


def unpack(folder: Path, files: dict[str, bytes]) -> Path:
    for path, content in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(content)
    return folder


def give_house(shell: Shell) -> Path:
    """Let uv find the wheels of one folder only, with `helper` in it."""
    house = shell.folder / "house"
    write_wheel(house, a_wheel({"helper/__init__.py": "X = 1\n"}, name="helper"), "helper")
    shell.environ.update({"HOME": os.environ.get("HOME", "/"), "UV_OFFLINE": "1", "UV_FIND_LINKS": str(house), "UV_NO_CACHE": "1"})
    return house


@pytest.mark.parametrize("form", ["folder", "archive", "foreign", "wheel"])
def test_an_author_s_own_site_is_refused_on_every_road(shell: Shell, form: str) -> None:
    files = {**code_files(), **HELPER, ".site/evil.pth": b"import os\n"}
    sent = {
        "folder": lambda: unpack(shell.folder / "demo-pack", files),
        "archive": lambda: shell.folder / "demo.zip",
        "foreign": lambda: shell.folder / "demo.zip",
        "wheel": lambda: write_wheel(shell.folder, zip_files(files)),
    }[form]()
    if form in ("archive", "foreign"):
        sent.write_bytes(an_archive(files) if form == "archive" else zip_files(files))
    (item,) = shell("check", sent, "--json", expect=2).json["items"]
    assert [(problem["rule"], problem["file"]) for problem in item["problems"] if problem["severity"] == "error"] == [("wheel-site", ".site/evil.pth")]
    for command in ("install", "publish" if form in ("folder", "wheel") else "upload"):
        refused = shell(command, sent, expect=2)
        assert "wheel-site" in refused.err, refused.err
    assert shell("list", "--json").json["items"] == []
    assert shell.index.releases == {}


def test_an_index_that_gives_a_tree_with_a_site_isn_t_believed(shell: Shell) -> None:
    # An index that doesn't check, or a bundle that somebody serves.
    shell.index.add(an_archive({**code_files(), **HELPER}), is_strict=False)
    assert "wheel-site" in shell("install", "demo-pack", expect=2).err
    assert shell("list", "--json").json["items"] == []


@pytest.mark.flow
def test_an_unpacked_wheel_of_an_index_is_locked_and_restored_with_what_it_depends_on(shell: Shell) -> None:
    give_house(shell)
    shell("publish", unpack(shell.folder / "demo-pack", code_files(USES_HELPER, requires=("helper",))))
    shell("install", "demo-pack", "--lock")
    assert shell("run", "echo_py", "--args", "{}").json == {"x": 1}
    assert "equals" in shell("sync", "--root", "other").out
    assert (shell.folder / "other" / "demo-pack" / ".site" / "helper" / "__init__.py").is_file()
    assert shell("verify", "--json").json["items"]


@pytest.mark.flow
@pytest.mark.parametrize("form", ["folder", "archive"])
def test_an_unpacked_wheel_gets_what_it_depends_on_as_a_zipped_one(shell: Shell, form: str) -> None:
    give_house(shell)
    files = code_files(USES_HELPER, requires=("helper",))
    sent = unpack(shell.folder / "demo-pack", files) if form == "folder" else shell.folder / "demo.zip"
    if form == "archive":
        sent.write_bytes(an_archive(files))
    shell("install", sent)
    assert (shell.root / "demo-pack" / ".site" / "helper" / "__init__.py").is_file()
    assert shell("run", "echo_py", "--args", "{}").json == {"x": 1}
    assert "unchanged" in shell("install", sent).out
    shell.environ["MARKET_FORBID_DEPENDENCIES"] = "all"
    assert "forbids dependencies" in shell("install", sent, expect=6).err


def test_what_was_fetched_for_an_installed_wheel_is_no_problem_of_its_tree(shell: Shell) -> None:
    odd = {".site/evil.pth": b"", ".site/fast.pyc": b"", ".site/other/skill.json": b"{"}
    install(open_root(shell.root, create=True), a_made_arrival({**code_files(), **HELPER, **odd}))
    unit = Loader().load(UnitId(str(shell.root), "demo-pack"))
    assert unit is not None
    assert (unit.problems, unit.dropped) == ((), ())
    (live,) = unit.skills
    assert (live.state, live.problems) == ("live", ())


@pytest.mark.flow
def test_the_archive_of_an_installed_wheel_is_the_author_s_and_can_be_installed_again(shell: Shell) -> None:
    give_house(shell)
    shell("install", write_wheel(shell.folder, zip_files(code_files(USES_HELPER, requires=("helper",)))))
    done = shell("archive", "demo-pack", "-o", "again.zip", "--json").json
    assert [row["path"] for row in done["left_out"]] == [".site"]
    assert not any(file["path"].startswith(".site") for file in done["files"])
    assert shell("check", "again.zip", "--json").json["items"][0]["problems"] == []
    shell("uninstall", "demo-pack")
    shell("install", "again.zip")
    assert shell("run", "echo_py", "--args", "{}").json == {"x": 1}


@pytest.mark.flow
def test_dependencies_are_forbidden_in_what_was_put_together_elsewhere_or_earlier(shell: Shell) -> None:
    give_house(shell)
    wheel = write_wheel(shell.folder, zip_files(code_files(USES_HELPER, requires=("helper",))))
    shell("install", wheel, "--lock")
    shell("export", "demo-pack", "--installed", "-o", "bundle.zip")
    silent = a_bundle(shell.folder / "silent.zip", a_made_arrival({**code_files(), **HELPER}))
    lock = (shell.folder / "market.lock").read_bytes()
    shell("install", write_wheel(shell.folder, zip_files(code_files(version="2.0.0")), version="2.0.0"))
    (shell.folder / "market.lock").write_bytes(lock)
    shell.environ["MARKET_FORBID_DEPENDENCIES"] = "all"
    for command in (
        ("import", "bundle.zip", "--root", "other"),
        ("import", silent, "--root", "other"),
        ("rollback", "demo-pack"),
        ("sync", "--force"),
        ("install", "--locked"),
    ):
        assert "forbids dependencies" in shell(*command, expect=6).err, command
    del shell.environ["MARKET_FORBID_DEPENDENCIES"]
    shell("import", "bundle.zip", "--root", "other")
    shell("rollback", "demo-pack")
    assert shell("run", "echo_py", "--args", "{}").json == {"x": 1}


def test_a_tree_for_another_python_isn_t_put_anywhere(shell: Shell) -> None:
    made = a_made_arrival({**code_files(), **FAST})
    bundle = a_bundle(shell.folder / "bundle.zip", made)
    refused = shell("import", bundle, expect=6).err
    assert "demo-pack 1.0.0 needs a Python and system for cp27-cp27m-win32, since it brings fast 2.1 (this is cp3" in refused
    assert "Python <3, since it brings fast 2.1 (this is 3." in refused
    # Nothing is installed that could be reinstalled, and this machine may have no network.
    assert "reinstall" not in refused
    assert "hint: use the Python and system for which it was put together" in refused
    root = open_root(shell.root, create=True)
    install(root, made)
    shell("install", write_wheel(shell.folder, zip_files(code_files(version="2.0.0")), version="2.0.0"))
    assert "since it brings fast 2.1" in shell("rollback", "demo-pack", expect=6).err
    assert shell("list", "--json").json["items"][0]["version"] == "2.0.0"


def test_a_tree_for_another_python_is_ineligible_and_every_face_says_why(shell: Shell) -> None:
    install(open_root(shell.root, create=True), a_made_arrival({**code_files(), **FAST}))
    (row,) = shell("list", "--json").json["items"]
    assert (row["state"], row["skills"]) == ("ineligible", [{"key": "echo_py", "state": "ineligible"}])
    assert "since it brings fast 2.1" in row["lacks"][0]["text"]
    for command in (("list",), ("why", "demo-pack"), ("doctor", "--offline")):
        assert "for cp27-cp27m-win32, since it brings fast 2.1" in shell(*command).out, command
    assert "reinstall it with this Python" in shell("doctor", "--offline").out
    called = shell("run", "echo_py", "--args", "{}", expect=None)
    assert called.code
    assert "since it brings fast 2.1" in called.out + called.err


MARK = {
    ".site/mark.py": b"",
    ".site/mark-1.0.dist-info/METADATA": b"Name: mark\nVersion: 1.0\nRequires-Dist: more>=2; python_version >= '3.11'\n",
}


@pytest.mark.parametrize(
    ("requires", "text"),
    [
        (("mark",), "more>=2, on which mark depends under this Python and system (it brings none)"),
        (("mark>=1.1; python_version >= '3.11'",), "mark>=1.1, on which demo-pack depends under this Python and system (it brings mark 1.0)"),
    ],
)
def test_a_tree_that_lacks_what_another_python_left_out_is_ineligible_and_can_t_be_imported(
    shell: Shell, requires: tuple[str, ...], text: str
) -> None:
    made = a_made_arrival({**code_files(requires=requires), **MARK})
    assert f"demo-pack 1.0.0 needs {text}" in shell("import", a_bundle(shell.folder / "bundle.zip", made), expect=6).err
    install(open_root(shell.root, create=True), made)
    (row,) = shell("list", "--json").json["items"]
    assert row["state"] == "ineligible"
    for command in (("list",), ("why", "demo-pack"), ("doctor", "--offline")):
        assert text in shell(*command).out, command
    assert "reinstall it with this Python" in shell("doctor", "--offline").out


def test_of_a_pack_s_releases_the_one_is_taken_whose_wheel_works_here(shell: Shell) -> None:
    shell("publish", write_wheel(shell.folder, zip_files(code_files())))
    tag = "cp311-cp311-win_amd64"
    shell("publish", write_wheel(shell.folder, zip_files(code_files(version="2.0.0", tag=tag)), version="2.0.0", tag=tag))
    ran = shell("install", "demo-pack")
    assert "installed demo-pack 1.0.0" in ran.out
    assert f"demo-pack 2.0.0 was passed over: it needs a Python and system for {tag}" in ran.out


@pytest.mark.parametrize(("systems", "works"), [(("plan9", "plan9"), False), (("plan9", "linux"), True)])
def test_a_pack_for_another_system_is_good_and_one_with_a_skill_for_this_one_can_be_installed(
    shell: Shell, systems: tuple[str, str], works: bool
) -> None:
    guides = {
        f"skills/{name}/SKILL.md": a_skill_md(name, extra=f"  os: [{system}]\n")
        for name, system in zip(("one", "two"), systems, strict=True)
    }
    folder = shell.pack("two-guides", files={"pack.yaml": b"name: two-guides\nversion: 1.0.0\nsummary: x\nlicense: MIT\n", **guides})
    (item,) = shell("check", folder, "--json").json["items"]
    assert item["installable_here"] is works, item
    shell("install", folder, expect=0 if works else 6)


@pytest.mark.flow
def test_what_a_bundle_brings_beside_a_wheel_is_not_taken_for_what_its_pins_name(tmp_path: Path, shell: Shell) -> None:
    """Whoever writes a bundle can put anything beside a wheel; only its release, and the tree as a whole, can be held against something."""
    give_house(shell)
    wheel = write_wheel(tmp_path / "dist", a_code_wheel("def echo_py():\n    import helper\n    return helper.X\n", requires=("helper>=1",)))
    shell("export", str(wheel), "-o", "honest.zip")
    (arrival,), _ = open_bundle((shell.folder / "honest.zip").open("rb"), "honest.zip")
    source = arrival.verified.source
    forged = {**{file.path: source.read(file.path) for file in source.files()}, ".site/helper/__init__.py": b"X = 666\n"}
    a_bundle(shell.folder / "forged.zip", a_made_arrival(forged))
    shell("import", "forged.zip")
    assert shell("run", "echo_py").json == 666, "a bundle is as good as whoever made it"
    assert "reinstalled" in shell("install", str(wheel)).out
    assert shell("run", "echo_py").json == 1
    shell("import", "forged.zip", "--force")
    shell("lock", "--json")
    assert "helper==" not in (shell.folder / "market.lock").read_text()


@pytest.mark.flow
@pytest.mark.parametrize("is_kept", [True, False])
def test_pins_that_were_changed_by_hand_are_no_lock(shell: Shell, is_kept: bool) -> None:
    house = give_house(shell)
    write_wheel(house, a_wheel({"extra.py": "X = 1\n"}, name="extra"), "extra")
    wheel = write_wheel(shell.folder / "dist", a_code_wheel(requires=("helper>=1",)))
    shell("install", str(wheel), "--lock", "--root", "here")
    lock = shell.folder / "market.lock"
    pin = f'"extra==1.0.0 --hash=sha256:{hashlib.sha256((house / "extra-1.0.0-py3-none-any.whl").read_bytes()).hexdigest()}"'
    honest = lock.read_text()
    edited = re.sub(r'(dependencies = \[)', rf"\1{pin}, ", honest)
    assert edited != honest
    lock.write_text(edited)
    shutil.rmtree(shell.folder / "here" / ("demo-pack" if is_kept else ""))
    said = shell("sync", expect=4).err
    assert ("its list of dependencies is" if is_kept else "nothing in it depends on extra") in said
    assert not (shell.folder / "here" / "demo-pack").exists()
    lock.write_text(honest)
    shell("sync")
    assert (shell.folder / "here" / "demo-pack").is_dir()
