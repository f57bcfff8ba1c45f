"""A short slice of `scripts/fuzz`, and that it would see a fault."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from scripts import fuzz

if TYPE_CHECKING:
    from pathlib import Path

    from market.pack.record import Record

pytestmark = pytest.mark.flow

SEED = 20_261_201


def test_a_slice_of_mutations_finds_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    assert fuzz.main(["--mutations", "4000", "--seed", str(SEED)]) == 0
    out = capsys.readouterr().out
    assert "4,000 mutations, 0 faults" in out and "the promised tree" in out and "imported" in out


@pytest.mark.skipif(not all(map(shutil.which, ("unzip", "bsdtar", "tar"))), reason="a tool to compare with is missing")
def test_what_is_accepted_is_unpacked_alike_by_everybody(capsys: pytest.CaptureFixture[str]) -> None:
    assert fuzz.main(["--differential", "--mutations", "1500", "--seed", str(SEED)]) == 0
    out = capsys.readouterr().out
    assert all(f"compared with {tool}" in out for tool in ("zipfile", "unzip", "bsdtar", "tar", "tarfile"))


def test_a_seed_gives_the_same_run(capsys: pytest.CaptureFixture[str]) -> None:
    counts = []
    for _ in range(2):
        fuzz.main(["--mutations", "300", "--seed", "7"])
        counts.append(capsys.readouterr().out.partition(": ")[2])
    assert counts[0] == counts[1]


def test_a_fault_is_kept_with_its_seed(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(fuzz, "unpack", lambda source, record, descriptor: None)
    assert fuzz.main(["--mutations", "4000", "--seed", "1"]) == 1
    assert "another tree was unpacked" in capsys.readouterr().out
    assert list((tmp_path / ".artefacts").glob("fuzz-1-*.bin"))


def test_a_crash_is_a_fault(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def crash(source: object) -> Record:
        raise ZeroDivisionError

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(fuzz, "make_record", crash)
    assert fuzz.main(["--mutations", "4000", "--seed", "1"]) == 1
    assert "ZeroDivisionError" in capsys.readouterr().out
