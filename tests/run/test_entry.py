"""Entries that can't be started get a plain sentence that says what to do."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from market.errors import InvalidInput
from market.model import OutcomeKind
from tests.run.live import a_live_skill, a_script_skill, write_script

if TYPE_CHECKING:
    from pathlib import Path

    from market.run.command import CommandExecutor


@pytest.mark.parametrize(
    ("script", "sentence"),
    [
        ("echo hello\n", "begin it with #!/bin/sh"),
        ("#!/bin/sh\r\necho 1\r\n", "Windows line ends (CRLF)"),
        ("#!/usr/bin/env sh\r\necho 1\r\n", "Windows line ends (CRLF)"),
        ("#!/no/such/interpreter\n", "the interpreter of ./run.sh doesn't exist here: '#!/no/such/interpreter'"),
        ("#!\necho 1\n", "names no interpreter"),
        ("#!/bin/sh\nno_such_command_here\n", "a command was not found; its env_allow doesn't name PATH"),
    ],
)
def test_a_script_that_cannot_start_says_why(tmp_path: Path, executor: CommandExecutor, script: str, sentence: str) -> None:
    outcome = executor.execute(a_script_skill(tmp_path, script), "{}", 5)
    assert outcome.kind is OutcomeKind.FAILED
    assert sentence in outcome.error


def test_an_entry_without_execute_permission_names_chmod(tmp_path: Path, executor: CommandExecutor) -> None:
    write_script(tmp_path / "pack/run.sh", "#!/bin/sh\n", mode=0o644)
    with pytest.raises(InvalidInput, match="is not executable") as caught:
        executor.execute(a_live_skill(tmp_path / "pack"), "{}", 5)
    assert "chmod +x run.sh" in caught.value.hint


def test_a_missing_entry_and_a_folder_as_entry_are_refused(tmp_path: Path, executor: CommandExecutor) -> None:
    (tmp_path / "pack/folder").mkdir(parents=True)
    with pytest.raises(InvalidInput, match=r"run\.sh of tested can't be opened"):
        executor.execute(a_live_skill(tmp_path / "pack"), "{}", 5)
    with pytest.raises(InvalidInput, match="is not a file"):
        executor.execute(a_live_skill(tmp_path / "pack", entry="folder"), "{}", 5)
    with pytest.raises(InvalidInput, match="the folder gone of tested can't be opened"):
        executor.execute(a_live_skill(tmp_path / "pack", folder="gone"), "{}", 5)


def test_a_link_that_was_pointed_outside_the_root_after_loading_is_refused(tmp_path: Path, executor: CommandExecutor) -> None:
    outside = write_script(tmp_path / "outside.sh", "#!/bin/sh\necho 1\n")
    (tmp_path / "root/pack").mkdir(parents=True)
    (tmp_path / "root/pack/run.sh").symlink_to(outside)
    with pytest.raises(InvalidInput, match=f"entry {outside} escapes allowlist root {tmp_path / 'root'}"):
        executor.execute(a_live_skill(tmp_path / "root/pack"), "{}", 5)


def test_a_link_inside_the_root_runs(tmp_path: Path, executor: CommandExecutor) -> None:
    write_script(tmp_path / "shared/tool", "#!/bin/sh\necho 1\n")
    (tmp_path / "pack").mkdir()
    (tmp_path / "pack/run.sh").symlink_to("../shared/tool")
    assert executor.execute(a_live_skill(tmp_path / "pack"), "{}", 5).result == 1


def test_a_binary_for_no_machine_says_so(tmp_path: Path, executor: CommandExecutor) -> None:
    (tmp_path / "pack").mkdir()
    (tmp_path / "pack/run.sh").write_bytes(os.urandom(8).replace(b"#!", b"xx"))
    (tmp_path / "pack/run.sh").chmod(0o755)
    outcome = executor.execute(a_live_skill(tmp_path / "pack"), "{}", 5)
    assert "neither a program for this machine nor a script" in outcome.error
