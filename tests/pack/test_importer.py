"""Archives that other programs made become the canonical one of the same files, and every change is said."""

from __future__ import annotations

import io
import tarfile

import pytest

from market.errors import InvalidInput, Severity, Untrusted
from market.pack.archive_read import read_archive
from market.pack.build import archive_pack
from market.pack.foreign import MAX_CONTENT_BYTES
from market.pack.import_build import MAX_LIKE_CHANGES, Converted, convert_archive
from market.pack.importer import import_archive
from market.pack.inspect import Given
from market.pack.source import MemorySource
from tests.factories import RUN_SCRIPT, a_skill_json, a_skill_md
from tests.pack.foreign_makers import (
    APPLE_DOUBLE,
    RUN,
    deflated,
    finder_zip,
    github_tarball,
    github_zip,
    python_zip,
    tar,
    tar_gz,
    windows_zip,
)
from tests.pack.hostile import forge

GUIDE = a_skill_md()
NOTHING_GIVEN = Given()


def convert(archive: bytes, given: Given = NOTHING_GIVEN) -> tuple[Converted, dict[str, bytes]]:
    """Import, and read what was written with the strict reader."""
    out = io.BytesIO()
    converted = convert_archive(io.BytesIO(archive), given, io.BytesIO(), out)
    source = read_archive(out)
    return converted, {file.path: source.read(file.path) for file in source.files()}


def rules(converted: Converted) -> set[str]:
    return {change.rule for change in converted.changes}


def executables(converted: Converted) -> set[str]:
    return {file.path for file in converted.built.record.files if file.executable}


def test_the_finder() -> None:
    converted, files = convert(finder_zip())
    assert files == {
        "SKILL.md": a_skill_md("date-tools"),
        "scripts/run.sh": RUN,
        "caf\u00e9.txt": b"latte",
        ".config/rules.yaml": b"keep: true\n",
    }
    assert executables(converted) == {"scripts/run.sh"}
    assert rules(converted) == {"import-form", "import-junk", "import-wrapper", "import-unmarked", "import-normal-form"}
    assert {change.file for change in converted.changes if change.rule == "import-junk"} == {
        "__MACOSX/",
        "date-tools/.DS_Store",
    }
    assert converted.built.pack.name == "date-tools"


def test_windows() -> None:
    converted, files = convert(windows_zip())
    assert set(files) == {"skill.json", "bin/run.sh", "b\u00fcro.txt"}
    assert executables(converted) == {"bin/run.sh"}
    assert rules(converted) == {
        "import-form",
        "import-backslash",
        "import-code-page",
        "import-wrapper",
        "import-executable",
    }
    assert any("büro.txt" in change.text for change in converted.changes if change.rule == "import-code-page")


@pytest.mark.parametrize("archive", [github_zip, github_tarball])
def test_a_code_forge(archive: object) -> None:
    converted, files = convert(archive())  # type: ignore[operator]
    assert {"README.md", "SKILL.md"} <= set(files)
    assert {"import-form", "import-wrapper"} <= rules(converted)
    assert executables(converted) == files.keys() & {"run.sh"}


@pytest.mark.parametrize("kind", [tarfile.PAX_FORMAT, tarfile.GNU_FORMAT, tarfile.USTAR_FORMAT])
@pytest.mark.parametrize("is_packed", [True, False])
def test_every_tar_gives_the_same_pack_as_its_folder(kind: int, is_packed: bool) -> None:
    files = {"SKILL.md": GUIDE, "a/" * 5 + "n" * 100: b"long", "a/empty": b"", "run.sh": RUN}
    plain = {f"./{path}": content for path, content in files.items()}
    archive = (tar_gz if is_packed else tar)(plain, {"./run.sh": 0o755}, kind=kind, folders=("./", "./a"))
    converted, found = convert(archive)
    assert found == files
    assert rules(converted) == {"import-form", "import-dot"}
    out = io.BytesIO()
    archive_pack(MemorySource(files, executables=frozenset({"run.sh"})), Given(), out)
    again = io.BytesIO()
    convert_archive(io.BytesIO(archive), Given(), io.BytesIO(), again)
    assert again.getvalue() == out.getvalue()


def test_names_in_other_letters_survive_every_tar() -> None:
    for kind in (tarfile.PAX_FORMAT, tarfile.GNU_FORMAT):
        _, files = convert(tar({"SKILL.md": GUIDE, "技能/说明.md": b"x"}, kind=kind))
        assert files["技能/说明.md"] == b"x"


def test_the_same_tree_is_the_same_pack_however_it_was_packed() -> None:
    files = {"SKILL.md": GUIDE, "docs/a.md": b"a"}
    digests = {
        convert(archive)[0].built.archive_digest
        for archive in (
            python_zip(files),
            python_zip({f"kit/{path}": content for path, content in files.items()}),
            tar_gz(files),
            tar({f"kit/{path}": content for path, content in files.items()}),
            forge(*(deflated(path.replace("/", "\\").encode(), content, None) for path, content in files.items())),
        )
    }
    assert len(digests) == 1


def test_an_entry_that_lost_its_bit_gets_it_and_a_helper_keeps_what_it_has() -> None:
    files = {
        "skill.json": a_skill_json(entry="bin/run.sh"),
        "bin/run.sh": RUN_SCRIPT,
        "bin/helper.sh": RUN,
        "bin/tool": b"\x7fELF",
    }
    converted, _ = convert(python_zip(files))
    assert (executables(converted), "import-executable" in rules(converted)) == ({"bin/run.sh"}, True)
    modes = dict.fromkeys(files, 0o755)
    converted, _ = convert(python_zip(files, modes))
    assert executables(converted) == {"bin/run.sh", "bin/helper.sh"}
    assert {change.file for change in converted.changes if change.rule == "import-plain"} == {"bin/tool", "skill.json"}


def test_dangerous_modes_are_dropped_and_said() -> None:
    files = {"skill.json": a_skill_json(), "run.sh": RUN_SCRIPT, "a": b"", "b": b""}
    converted, _ = convert(tar_gz(files, {"run.sh": 0o6755, "a": 0o1644, "b": 0o666}))
    assert {change.file for change in converted.changes if change.rule == "import-mode"} == {"run.sh", "a", "b"}
    assert executables(converted) == {"run.sh"}


def test_a_guide_without_a_name_is_called_as_the_folder_around_it() -> None:
    converted, _ = convert(python_zip({"tidy-desk/SKILL.md": b"---\ndescription: Tidies. Use daily.\n---\n\nx\n"}))
    assert converted.built.pack.name == "tidy-desk"


def test_a_collection_s_folder_is_no_wrapper() -> None:
    converted, files = convert(python_zip({"skills/a/SKILL.md": a_skill_md("a")}))
    assert set(files) == {"skills/a/SKILL.md"} and "import-wrapper" not in rules(converted)


def test_two_skills_beside_each_other_are_a_pack_that_needs_a_name() -> None:
    archive = python_zip(
        {
            "alpha/SKILL.md": a_skill_md("alpha"),
            "beta/SKILL.md": a_skill_md("beta"),
            "__MACOSX/alpha/._SKILL.md": APPLE_DOUBLE,
        }
    )
    converted, files = convert(archive, Given(name="greek", version="1.0"))
    assert set(files) == {"alpha/SKILL.md", "beta/SKILL.md"} and len(converted.built.pack.skills) == 2
    with pytest.raises(InvalidInput) as caught:
        convert(archive)
    assert {problem.rule for problem in caught.value.problems} >= {"pack-name"}


def test_archives_inside_are_plain_content() -> None:
    inner = tar_gz({"../evil": b"x"})
    _, files = convert(python_zip({"SKILL.md": GUIDE, "assets/components.tar.gz": inner}))
    assert files["assets/components.tar.gz"] == inner


def test_letters_that_two_code_pages_read_differently_are_refused() -> None:
    for name in ("技能.md".encode("gbk"), "スキル.md".encode("shift_jis"), b"na\x9bme"):
        with pytest.raises(Untrusted) as caught:
            import_archive(
                io.BytesIO(forge(deflated(b"SKILL.md", GUIDE, None), deflated(name, b"", None))), io.BytesIO()
            )
        assert {problem.rule for problem in caught.value.problems} == {"path-encoding"}


def test_a_backslash_from_a_unix_program_is_a_letter_and_refused() -> None:
    with pytest.raises(Untrusted) as caught:
        import_archive(io.BytesIO(forge(deflated(b"a\\b", b""))), io.BytesIO())
    assert caught.value.problems[0].rule == "path-backslash"


def test_names_that_become_one_are_refused() -> None:
    for names in (
        (b"a\\b", b"a/b"),
        ("cafe\u0301".encode(), "caf\u00e9".encode()),
        (b"./a", b"a"),
        (b"kit/A", b"kit/a"),
    ):
        with pytest.raises(Untrusted) as caught:
            import_archive(io.BytesIO(forge(*(deflated(name, b"", None) for name in names))), io.BytesIO())
        assert caught.value.problems[0].rule in ("path-duplicate", "path-collision")


def test_a_thousand_like_changes_are_counted_and_not_listed() -> None:
    names = [f"f{number}.txt" for number in range(1000)]
    converted, _ = convert(
        forge(deflated(b"p\\SKILL.md", GUIDE, None), *(deflated(f"p\\{name}".encode(), b"", None) for name in names))
    )
    lines = [change.text for change in converted.changes if change.rule == "import-backslash"]
    assert len(lines) == MAX_LIKE_CHANGES + 1 and "981 more" in lines[-1]


def test_changes_are_warnings_with_a_reason() -> None:
    converted, _ = convert(windows_zip())
    assert {change.severity for change in converted.changes} == {Severity.WARNING}
    assert all(change.reason for change in converted.changes)


def test_a_bad_pack_in_a_good_archive_is_the_author_s_fault() -> None:
    with pytest.raises(InvalidInput, match="error"):
        convert(python_zip({"skill.json": b"{}"}))


def test_what_is_produced_counts_and_not_what_is_declared() -> None:
    # Two files that say 40 MiB each are refused before a byte is inflated.
    huge = {"crc": 0, "size": MAX_CONTENT_BYTES // 2 + 1}
    with pytest.raises(Untrusted) as caught:
        import_archive(
            io.BytesIO(forge(*(deflated(name, b"x", flags=0, **huge) for name in (b"a", b"b")))), io.BytesIO()
        )
    assert caught.value.problems[0].rule == "archive-too-large"


def test_a_mode_never_comes_from_a_program_that_has_none() -> None:
    archive = forge(deflated(b"SKILL.md", GUIDE, None), deflated(b"run.sh", RUN, None, flags=0))
    imported = import_archive(io.BytesIO(archive), io.BytesIO())
    assert not any(file.executable for file in imported.source.files())
