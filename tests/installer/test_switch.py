from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

import market.installer.commit as commit_module
from market.disk.lease import lease_directory
from market.errors import Conflict, Unavailable
from market.installer.intent import stage_of
from market.installer.switch import place_receipt, put_in_force
from tests.installer.builders import an_arrival, check_at_rest, install, read_tree, version_of
from tests.installer.faulty_disk import with_unmovable
from tests.installer.test_order import trace_install

if TYPE_CHECKING:
    from market.installer.intent import Intent
    from market.installer.root import Root


def test_a_leased_tree_that_can_not_be_renamed_is_not_taken_from_its_reader(
    root: Root, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(root, an_arrival())
    with_unmovable(monkeypatch, {root.tree("echo-args").stat().st_ino})
    lease = lease_directory(root.tree("echo-args"))
    with pytest.raises(Unavailable, match="in use"):
        install(root, an_arrival(version="2.0.0"))
    check_at_rest(root)
    assert version_of(root, "echo-args") == "1.0.0"
    os.close(lease)
    install(root, an_arrival(version="2.0.0"))
    assert version_of(root, "echo-args") == "2.0.0"
    check_at_rest(root)


def test_a_copy_is_durable_before_its_original_goes(root: Root, monkeypatch: pytest.MonkeyPatch) -> None:
    install(root, an_arrival())
    with_unmovable(monkeypatch, {root.tree("echo-args").stat().st_ino})
    calls = trace_install(root, monkeypatch)
    noted = [number for number, call in enumerate(calls) if call == "replace .market/intents/ID"][1]
    assert calls[noted - 2 : noted + 2] == [
        "fchmod .market/staging/ID/.intent.json",
        "syncfs .market/staging/ID",
        "replace .market/intents/ID",
        "fsync .market/intents",
    ]
    assert calls.index("unlink echo-args/run.sh") > noted


def test_a_folder_that_appears_under_a_running_install_is_left_alone(
    root: Root, monkeypatch: pytest.MonkeyPatch
) -> None:
    def appear(root: Root, intent: Intent) -> None:
        put_in_force(root, intent)
        root.tree("second").mkdir()
        (root.tree("second") / "work.txt").write_text("mine")

    install(root, an_arrival("first"))
    monkeypatch.setattr(commit_module, "put_in_force", appear)
    with pytest.raises(Conflict, match="something else stands"):
        install(root, an_arrival("first", "2.0.0"), an_arrival("second"))
    assert version_of(root, "first") == "1.0.0"
    assert os.listdir(root.intents) == os.listdir(root.staging) == []
    assert read_tree(root.tree("second")) == {"work.txt": b"mine"}


def test_a_receipt_that_waits_half_written_is_written_anew(root: Root) -> None:
    install(root, an_arrival())
    stage = stage_of(root, "0123")
    stage.folder.mkdir()
    stage.receipt("echo-args").write_bytes(b"half")
    place_receipt(root, stage, "echo-args", b"whole")
    assert root.receipt("echo-args").read_bytes() == b"whole"
    assert os.listdir(stage.folder) == []
    place_receipt(root, stage, "echo-args", None)
    place_receipt(root, stage, "echo-args", None)
    assert not root.receipt("echo-args").exists()
