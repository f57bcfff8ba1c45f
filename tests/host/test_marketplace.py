"""Installing through the host by itself: no watch runs here, so what the registry knows it was told."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

import pytest

from market.cancellation import Cancellation
from market.disk.home import Home
from market.errors import InvalidInput, NotFound, Refused, Unavailable
from market.host.marketplace import Marketplace
from market.installer.guard import own_installing
from market.model import Caller, Role
from market.pack.archive_write import write_archive
from market.pack.inspect import Given
from market.pack.source import MemorySource
from market.plugins.loaded import load_plugins
from market.run.audit import AuditLog
from tests.factories import a_skill_md
from tests.fake_index import TOKEN, URL, FakeIndex
from tests.host.index_tree import an_archive
from tests.registry.trees import a_registry

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

ADMIN = Caller(1, "admin", Role.ADMIN)


@pytest.fixture
def marketplace(tmp_path: Path) -> Iterator[Marketplace]:
    index = FakeIndex()
    for version in ("1.0.0", "1.1.0"):
        archive = an_archive("echo-args", version)
        index.put(f"{URL}/v1/packs/echo-args/{version}", io.BytesIO(archive), len(archive), TOKEN, "application/zip")
    for root in ("first", "second"):
        (tmp_path / root).mkdir()
    audit = AuditLog(tmp_path / "audit.db")
    registry = a_registry(tmp_path / "first", tmp_path / "second")
    yield Marketplace(
        Home(tmp_path / "home"),
        registry,
        audit,
        index,
        {"MARKET_INDEX_URL": URL},
        load_plugins(own_installing(), entry_points=[]),
    )
    audit.close()


def test_the_registry_has_it_when_the_call_returns(marketplace: Marketplace) -> None:
    marketplace.install(ADMIN, "echo-args==1.0.0")
    first = marketplace.registry.snapshot.find("echo_args")
    assert first is not None and first.version == "1.0.0"
    marketplace.install(ADMIN, "echo-args")
    second = marketplace.registry.snapshot.find("echo_args")
    assert second is not None and second.version == "1.1.0" and second.inode != first.inode
    marketplace.uninstall(ADMIN, "echo-args")
    assert marketplace.registry.snapshot.find("echo_args") is None


def test_a_root_is_one_of_the_host_s_own(marketplace: Marketplace, tmp_path: Path) -> None:
    arrived = marketplace.install(ADMIN, "echo-args", str(tmp_path / "second"))
    assert arrived.root == str(tmp_path / "second") and (tmp_path / "second" / "echo-args").is_dir()
    with pytest.raises(InvalidInput):
        marketplace.install(ADMIN, "echo-args", str(tmp_path / "elsewhere"))
    assert marketplace.uninstall(ADMIN, "echo-args").root == str(tmp_path / "second")


def test_every_attempt_is_in_the_audit_log(marketplace: Marketplace) -> None:
    marketplace.upload(ADMIN, io.BytesIO(an_archive()), Given())
    with pytest.raises(NotFound):
        marketplace.install(ADMIN, "unknown-pack")
    with pytest.raises(NotFound):
        marketplace.uninstall(ADMIN, "unknown-pack")
    rows = [(entry.row.tool_name, entry.row.outcome, entry.row.caller_name) for entry in marketplace.audit.rows()]
    assert rows == [
        ("marketplace_uninstall", "failed", "admin"),
        ("marketplace_install", "failed", "admin"),
        ("marketplace_upload", "ok", "admin"),
    ]


def test_a_change_that_fails_by_a_fault_has_a_row_too(marketplace: Marketplace) -> None:
    index = marketplace.transport
    assert isinstance(index, FakeIndex)
    nothing: dict[str, object] = {}
    index.change_answer = lambda path, value: nothing[path]
    with pytest.raises(KeyError):
        marketplace.install(ADMIN, "echo-args")
    (entry,) = marketplace.audit.rows()
    assert (entry.row.outcome, entry.row.error) == ("failed", "a fault of the host: KeyError")


def test_a_cancelled_install_changes_nothing_and_is_audited_so(marketplace: Marketplace) -> None:
    cancellation = Cancellation()
    cancellation.cancel("the host was stopped")
    with pytest.raises(Unavailable, match="nothing was installed"):
        marketplace.install(ADMIN, "echo-args", "", cancellation)
    assert marketplace.installed() == []
    (entry,) = marketplace.audit.rows()
    assert (entry.row.outcome, entry.row.error) == ("cancelled", "cancelled, since the host was stopped; nothing was installed")


def test_what_a_pack_requires_comes_along_and_is_live_at_once(marketplace: Marketplace) -> None:
    index = marketplace.transport
    assert isinstance(index, FakeIndex)
    manifest = b"name: needy\nversion: 1.0.0\nsummary: x\nrequires: [echo-args<1.1]\n"
    index.add(an_archive_of({"pack.yaml": manifest, "SKILL.md": a_skill_md("needy")}))
    arrived = marketplace.install(ADMIN, "needy")
    assert (arrived.name, arrived.action) == ("needy", "installed")
    assert arrived.also == ({"name": "echo-args", "version": "1.0.0", "action": "installed"},)
    live = marketplace.registry.snapshot.find("echo_args")
    assert live is not None and live.version == "1.0.0"
    index.add(
        an_archive_of(
            {
                "pack.yaml": manifest.replace(b"echo-args<1.1", b"gone").replace(b"needy", b"broken"),
                "SKILL.md": a_skill_md("broken"),
            }
        )
    )
    with pytest.raises(NotFound, match="the pack gone"):
        marketplace.install(ADMIN, "broken")
    assert marketplace.registry.snapshot.find("broken") is None


def test_an_upload_that_could_never_work_here_is_refused(marketplace: Marketplace, tmp_path: Path) -> None:
    manifest = b"name: alien\nversion: 1.0.0\nsummary: x\nneeds: {os: [plan9]}\n"
    archive = an_archive_of({"pack.yaml": manifest, "SKILL.md": a_skill_md("alien")})
    with pytest.raises(Refused, match="needs the system plan9"):
        marketplace.upload(ADMIN, io.BytesIO(archive), Given())
    assert not (tmp_path / "first" / "alien").exists()


def an_archive_of(files: dict[str, bytes]) -> bytes:
    out = io.BytesIO()
    write_archive(MemorySource(files, executables=frozenset()), out)
    return out.getvalue()
