"""Installing from an address: what is fetched is verified as every archive, and held against its digest."""

from __future__ import annotations

import hashlib
import shutil
from typing import TYPE_CHECKING, BinaryIO

import pytest

from market.errors import NotFound
from market.hookspecs import hookimpl
from tests.fake_index import URL
from tests.host.index_tree import an_archive
from tests.plugged import an_entry

if TYPE_CHECKING:
    from collections.abc import Mapping

    from market.hookspecs import Fetcher
    from tests.cli.shell import Shell

ARCHIVE = an_archive("echo-args", "1.0.0")
DIGEST = hashlib.sha256(ARCHIVE).hexdigest()


class Share:
    """A plugin that fetches `acme://`."""

    def __init__(self, content: bytes = ARCHIVE) -> None:
        self.content = content
        self.asked: list[str] = []

    @hookimpl
    def register_fetchers(self) -> Mapping[str, Fetcher]:
        return {"acme": self}

    def fetch(self, address: str, out: BinaryIO, limit_bytes: int) -> None:
        self.asked.append(address)
        if "missing" in address:
            raise NotFound("there is no missing on the share")
        out.write(self.content)


@pytest.fixture
def share(shell: Shell) -> Share:
    plugin = Share()
    shell.plugins = (an_entry(plugin, "share"),)
    return plugin


@pytest.fixture
def address(shell: Shell) -> str:
    verified = shell.index.add(ARCHIVE, version="1.0.0")
    return f"{URL}/v1/blobs/sha256/{verified.archive_digest.removeprefix('sha256:')}"


def test_a_pack_is_installed_from_the_web_with_its_digest(shell: Shell, address: str) -> None:
    (item,) = shell("install", f"{address}#sha256={DIGEST}", "--json").json["items"]
    assert (item["name"], item["origin"]) == ("echo-args", {"kind": "url", "location": address, "index": ""})
    assert ("GET", address, "") in shell.index.requests, "no token goes to an address"


def test_another_digest_is_untrusted(shell: Shell, address: str) -> None:
    error = shell("install", f"{address}#sha256={'0' * 64}", "--json", expect=5).error
    assert DIGEST in error["why"]
    assert shell("list", "--json").json["items"] == []


@pytest.mark.parametrize("place", ["http://host.example", "https://host.example", "HTTPS://host.example", URL])
def test_an_address_of_the_web_needs_a_digest(shell: Shell, place: str) -> None:
    for end in ("/x.zip", "/x.zip#"):
        error = shell("install", f"{place}{end}", "--json", expect=2).error
        assert (error["code"], "#sha256=HEX" in error["hint"]) == ("invalid-input", True)
    assert shell.index.requests == [], "nothing is downloaded"


def test_an_address_that_a_lock_names_needs_none(shell: Shell, address: str) -> None:
    shell("install", f"{address}#sha256={DIGEST}")
    shell("lock")
    lock = shell.folder / "market.lock"
    text = lock.read_text()
    shell("uninstall", "echo-args")
    shutil.rmtree(shell.root / ".market" / "archives")
    lock.write_text(text)
    shell("sync")
    assert [row["name"] for row in shell("list", "--json").json["items"]] == ["echo-args"]


@pytest.mark.parametrize("fragment", ["sha256=12", "md5=" + "0" * 32, "top"])
def test_what_is_no_digest_is_said(shell: Shell, fragment: str) -> None:
    assert "isn't a digest" in shell("install", f"https://host.example/x.zip#{fragment}", expect=2).err


def test_an_unknown_scheme_is_answered_with_the_known(shell: Shell, share: Share) -> None:
    error = shell("install", "gopher://host.example/x.zip", "--json", expect=2).error
    assert error["why"] == "known are acme://, http://, https://"


def test_a_plugin_fetches_its_scheme(shell: Shell, share: Share) -> None:
    (item,) = shell("install", f"acme://tools/echo-args-1.0.0.zip#sha256={DIGEST}", "--json").json["items"]
    assert item["origin"]["location"] == "acme://tools/echo-args-1.0.0.zip"
    assert share.asked == ["acme://tools/echo-args-1.0.0.zip"]
    shell("install", "acme://missing.zip", expect=3)


def test_what_comes_from_a_plugin_is_verified_as_everything(shell: Shell, share: Share) -> None:
    for content in (b"", b"no archive", ARCHIVE[:-7]):
        share.content = content
        shell("install", "acme://x.zip", expect=5)
    assert shell("list", "--json").json["items"] == []


def test_a_wheel_is_known_by_its_name(shell: Shell, share: Share) -> None:
    ran = shell("install", "acme://my_pack-1.0.0-py3-none-any.whl", expect=None)
    assert ran.code in (2, 5) and "wheel" in ran.err


def test_an_installed_address_can_be_locked_and_restored(shell: Shell, share: Share) -> None:
    shell("install", "acme://echo-args-1.0.0.zip")
    shell("lock")
    lock = shell.folder / "market.lock"
    text = lock.read_text()
    assert "acme://echo-args-1.0.0.zip" in text
    shell("sync")
    shell("uninstall", "echo-args")
    lock.write_text(text)
    shell("sync")
    assert [row["name"] for row in shell("list", "--json").json["items"]] == ["echo-args"]
    shell("uninstall", "echo-args")
    lock.write_text(text)
    share.content = an_archive("echo-args", "1.0.0", description="Another. Use it.")
    shell("sync", expect=4)
