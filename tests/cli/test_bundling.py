"""export and import: one file for machines without network, and nothing of it is believed."""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from dataclasses import replace
from typing import TYPE_CHECKING
from urllib.parse import urljoin

import pytest

from market.client import wire
from market.errors import Unavailable
from market.installer.bundle import BUNDLE_LIMITS, bundle_pack, describe_release, write_bundle
from market.pack.archive_read import read_archive
from market.pack.archive_write import write_archive
from market.pack.source import MemorySource
from tests.cli.test_installing import publish
from tests.cli.test_wheel_trees import a_made_arrival
from tests.factories import a_skill_md
from tests.fake_index import URL
from tests.wheels import a_code_wheel, code_files, write_wheel

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.cli.shell import Shell


@pytest.fixture
def bundle(shell: Shell) -> Path:
    """A bundle of `my-pack`, which requires `other`; the index is away afterwards."""
    publish(shell, name="other")
    manifest = b"name: my-pack\nversion: 1.0.0\nsummary: x\nlicense: MIT\nrequires:\n  - other>=1\n"
    shell.pack(files={"pack.yaml": manifest, "SKILL.md": a_skill_md("my-pack"), "big.bin": b"x" * 100_000})
    shell("publish", "my-pack")
    shell("export", "my-pack", "-o", "bundle.zip")
    shell.index.releases.clear()
    return shell.folder / "bundle.zip"


def versions(shell: Shell) -> dict[str, str]:
    return {row["name"]: row["version"] for row in shell("list", "--json").json["items"]}


def test_a_bundle_installs_without_network_with_what_it_requires(shell: Shell, bundle: Path) -> None:
    shell.index.requests.clear()
    document = shell("import", "bundle.zip", "--json").json
    assert [(row["name"], row["publisher"], row["origin"]["kind"]) for row in document["items"]] == [
        ("my-pack", "alice", "bundle"),
        ("other", "alice", "bundle"),
    ]
    assert document["items"][0]["origin"] == {"kind": "bundle", "location": str(bundle), "index": URL}
    assert versions(shell) == {"my-pack": "1.0.0", "other": "1.0.0"} and shell.index.requests == []
    assert "unchanged my-pack" in shell("import", "bundle.zip").out or versions(shell)


def test_the_same_packs_give_the_same_bundle(shell: Shell, bundle: Path) -> None:
    document = shell("export", "./other", "-o", "two.zip", "--json").json
    assert shell("export", "./other", "-o", "three.zip", "--json").json["sha256"] == document["sha256"]
    assert document["sha256"] == hashlib.sha256((shell.folder / "two.zip").read_bytes()).hexdigest()


@pytest.mark.flow
def test_any_changed_byte_is_untrusted_and_leaves_nothing(shell: Shell, bundle: Path) -> None:
    good = bundle.read_bytes()
    interesting = [*range(400), *range(400, len(good), len(good) // 150), *range(len(good) - 120, len(good))]
    before = {path: content for path, content in shell.everything().items() if path != "bundle.zip"}
    for at in interesting:
        bundle.write_bytes(good[:at] + bytes([good[at] ^ 0x01]) + good[at + 1 :])
        shell("import", "bundle.zip", expect=5)
    for spoilt in (good[:-1], good + b"\0", good[1:], b"PK\0" + good, good[: len(good) // 2]):
        bundle.write_bytes(spoilt)
        shell("import", "bundle.zip", expect=5)
    assert not shell.root.exists()
    assert {path: content for path, content in shell.everything().items() if path != "bundle.zip"} == before


def rewritten(bundle: Path, change: Callable[[dict[str, bytes]], None]) -> None:
    """Write a bundle anew, canonical and with good checksums, after a change of its contents."""
    source = read_archive(io.BytesIO(bundle.read_bytes()), BUNDLE_LIMITS)
    contents = {file.path: source.read(file.path) for file in source.files()}
    change(contents)
    out = io.BytesIO()
    write_archive(MemorySource(contents), out, BUNDLE_LIMITS)
    bundle.write_bytes(out.getvalue())


def swap(old: bytes, new: bytes, only: str = "") -> Callable[[dict[str, bytes]], None]:
    def change(contents: dict[str, bytes]) -> None:
        for path in contents:
            if only in path:
                contents[path] = contents[path].replace(old, new)

    return change


def spoil_blob(contents: dict[str, bytes]) -> None:
    path = next(path for path, content in contents.items() if b"xxxx" in content)
    contents[path] = contents[path].replace(b"xxxx", b"yyyy", 1)


def drop(part: str) -> Callable[[dict[str, bytes]], None]:
    def change(contents: dict[str, bytes]) -> None:
        del contents[next(path for path in contents if part in path)]

    return change


def another_archive(contents: dict[str, bytes]) -> None:
    """Put another good archive under the digest that the documents promise."""
    one, two = sorted((path for path in contents if "blobs" in path), key=lambda path: len(contents[path]))
    contents[two] = contents[one]


@pytest.mark.parametrize(
    "change",
    [
        spoil_blob,
        another_archive,
        drop("blobs"),
        drop("my-pack/index.json"),
        drop("1.0.0/index.json"),
        drop("bundle.json"),
        swap(b'"publisher": "alice"', b'"publisher": "bob"', "my-pack/index.json"),
        swap(b"sha256:", b"sha256:0", "my-pack/1.0.0"),
        swap(b"my-pack", b"my-pace", "bundle.json"),
        swap(b"my-pack", b"my-pace", "index.json"),
        swap(b'"schema": 1', b'"schema": 2'),
        swap(b'"schema": 1', b'"schema": "x"'),
        swap(b"{", b"["),
        swap(b'"packs": [', b'"packs": [3, '),
        lambda contents: contents.update({"extra.txt": b"x"}),
        lambda contents: contents.update({"v1/packs/third/index.json": b"{}"}),
    ],
)
def test_a_bundle_written_anew_with_other_contents_is_untrusted(
    shell: Shell, bundle: Path, change: Callable[[dict[str, bytes]], None]
) -> None:
    rewritten(bundle, change)
    assert shell("import", "bundle.zip", "--json", expect=5).error["hint"]
    assert not shell.root.exists()


def test_the_whole_file_can_be_pinned(shell: Shell, bundle: Path) -> None:
    digest = hashlib.sha256(bundle.read_bytes()).hexdigest()
    shell("import", "bundle.zip", "--sha256", "0" * 64, expect=5)
    shell("import", "bundle.zip", "--sha256", digest)


def test_an_import_is_one_transaction_and_keeps_the_rules_of_install(shell: Shell, bundle: Path) -> None:
    (shell.root / "other").mkdir(parents=True)
    (shell.root / "other" / "mine.txt").write_text("mine")
    assert str(shell.root / "other") in shell("import", "bundle.zip", expect=4).err
    assert versions(shell) == {} and (shell.root / "other" / "mine.txt").read_text() == "mine"


def test_a_dry_run_writes_nothing(shell: Shell, bundle: Path) -> None:
    assert "would install my-pack 1.0.0" in shell("import", "bundle.zip", "--dry-run").out
    assert not shell.root.exists()
    bundle.unlink()
    shell("export", "./other", "--dry-run")
    assert not bundle.exists()


def test_unpacked_a_bundle_is_a_static_index(shell: Shell, bundle: Path) -> None:
    with zipfile.ZipFile(bundle) as archive:
        assert archive.testzip() is None
        names = archive.namelist()
        document = wire.parse_document(wire.PackDocument, json.loads(archive.read("v1/packs/my-pack/index.json")))
        row = document.releases[0]
        release_url = urljoin("http://static/v1/packs/my-pack/index.json", row.url)
        release = wire.parse_document(
            wire.ReleaseDocument, json.loads(archive.read(release_url.removeprefix("http://static/")))
        )
    assert release_url.removeprefix("http://static/") in names
    for base, link in (("http://static/v1/packs/my-pack/index.json", row.archive), (release_url, release.archive)):
        assert urljoin(base, link.url).removeprefix("http://static/") in names
    assert release.requires == ("other>=1",) or row.requires == ("other>=1",)


def test_installed_packs_are_exported_from_what_their_root_keeps(shell: Shell, bundle: Path) -> None:
    shell("import", "bundle.zip")
    shell.index.refuse_next = Unavailable("away")
    rows = shell("export", "my-pack", "--installed", "-o", "again.zip", "--json").json["items"]
    assert [(row["name"], row["asked_for"]) for row in rows] == [("my-pack", True), ("other", False)]
    alone = shell("export", "my-pack", "--installed", "--no-deps", "-o", "alone.zip", "--json").json["items"]
    assert [row["name"] for row in alone] == ["my-pack"]
    shell("import", "again.zip", "--root", "elsewhere")
    assert (shell.folder / "elsewhere/other/run.sh").is_file()


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["import", "nowhere.zip"], 3),
        (["import", "."], 2),
        (["import", "my-pack-1.0.0.zip"], 5),
        (["export", "no-such-pack"], 3),
        (["export", "my-pack", "--installed"], 3),
        (["export", "./nowhere"], 3),
        (["export", "./my-pack", "-o", "."], 4),
        (["export"], 2),
    ],
)
def test_what_can_t_be_done_is_said(shell: Shell, arguments: list[str], code: int) -> None:
    shell.pack()
    shell("archive", "my-pack")
    before = shell.everything()
    assert "hint: " in shell(*arguments, expect=code).err
    assert shell.everything() == before


def test_no_deps_leaves_out_packs_and_python_dependencies_and_says_both(shell: Shell, bundle: Path) -> None:
    bundle.unlink()
    wheel = write_wheel(shell.folder, a_code_wheel(requires=("helper>=1",)))
    said = shell("export", wheel, "./my-pack", "--no-deps").out
    assert "\n  demo-pack 1.0.0\n    exported with --no-deps: helper>=1 is missing\n" in said
    assert "my-pack requires other>=1, which is not in the file" in said
    with zipfile.ZipFile(bundle) as archive:
        rows = json.loads(archive.read("bundle.json"))["packs"]
    assert {row["name"]: (row["left_out"], row["missing_requires"]) for row in rows} == {"demo-pack": (["helper>=1"], []), "my-pack": ([], ["other>=1"])}
    document = shell("export", wheel, "./my-pack", "--no-deps", "--json").json
    assert document["missing_requires"] == [{"name": "my-pack", "requires": "other>=1"}]
    assert [row["left_out"] for row in document["items"]] == [["helper>=1"], []]
    told = shell("import", "bundle.zip").out
    assert "installed with --no-deps: helper>=1 is missing" in told and "my-pack requires other>=1, which is not installed" in told
    assert "    installed with --no-deps: helper>=1 is missing" in shell("export", "demo-pack", "--installed", "-o", "again.zip").out


def test_a_bundle_holds_archives_also_of_wheels_and_no_wheel(shell: Shell, tmp_path: Path) -> None:
    arrival = a_made_arrival(code_files())
    described = describe_release(arrival, "2026-01-02T03:04:05+00:00")
    # Some wheels are canonical archives already: nothing had to be made of them.
    sent = replace(described, archive=replace(described.archive, kind="wheel", filename="demo_pack-1.0.0-py3-none-any.whl"))
    with (tmp_path / "bundle.zip").open("wb") as out:
        write_bundle([bundle_pack(arrival, sent)], out)
    shell("import", "bundle.zip", "--dry-run")
    rewritten(tmp_path / "bundle.zip", swap(b'"kind": "archive"', b'"kind": "wheel"', "demo-pack/1.0.0"))
    assert "it has demo-pack as a wheel" in shell("import", "bundle.zip", expect=5).err
