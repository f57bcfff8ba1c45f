"""One host, asked through its API: its skills, a call, an upload; and waiting until a pack is live there."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, BinaryIO, TypeVar
from urllib.parse import urlencode, urljoin

from market.client import host_wire, wire
from market.client.limits import LIVE_POLL_SECONDS, LIVE_TIMEOUT_SECONDS, MAX_LIST_PAGES
from market.client.origins import origin_of, parse_server_url
from market.errors import Unavailable

if TYPE_CHECKING:
    from collections.abc import Callable

    from market.client.transport import Transport

T = TypeVar("T")
PAGE_SKILLS = 10_000


class HostClient:
    """One host with the token for it."""

    def __init__(self, transport: Transport, url: str, token: str = "") -> None:
        self.url = parse_server_url(url)
        self._transport = transport
        self._token = token

    def skills(self, pack: str = "", state: str = "") -> tuple[host_wire.SkillView, ...]:
        """Return the host's skills in key order, or those of one pack. The state `all` adds manifests that didn't load."""
        query = {"limit": PAGE_SKILLS, **({"pack": pack} if pack else {}), **({"state": state} if state else {})}
        url = f"{self.url}{host_wire.skills_path()}?{urlencode(query)}"
        found: list[host_wire.SkillView] = []
        for _ in range(MAX_LIST_PAGES):
            page = self._parse(host_wire.SkillList, _with_plain_names(self._transport.get_json(url, self._token)), url)
            found.extend(page.items)
            url = urljoin(url, page.next)
            if not page.next or origin_of(url) != origin_of(self.url):
                break
        return tuple(skill for skill in found if not pack or skill.pack == pack)

    def skill(self, key: str) -> host_wire.SkillView:
        """Return one skill; raises `NotFound`."""
        url = self.url + host_wire.skill_path(key)
        return self._parse(
            host_wire.SkillView, host_wire.skill_from_json(self._transport.get_json(url, self._token)), url
        )

    def execute(self, key: str, params: object) -> host_wire.Execution:
        """Call a skill. A failing skill is an answer; a refused, unknown or malformed call raises."""
        url = self.url + host_wire.execute_path(key)
        return self._parse(host_wire.Execution, self._transport.post_json(url, {"params": params}, self._token), url)

    def upload(
        self, stream: BinaryIO, size: int, *, name: str = "", version: str = "", filename: str = ""
    ) -> host_wire.Arrived:
        """Send an archive or a wheel (with its file's name), which the host verifies, installs and registers before it answers."""
        said = (("name", name), ("version", version), ("filename", filename))
        given = {label: value for label, value in said if value}
        url = self.url + host_wire.upload_path() + (f"?{urlencode(given)}" if given else "")
        return self._parse(
            host_wire.Arrived, self._transport.put(url, stream, size, self._token, wire.ARCHIVE_TYPE), url
        )

    def rescan(self) -> host_wire.Rescanned:
        """Have the host look at every file of its roots, and for plugin packs in its environment, now."""
        url = self.url + host_wire.rescan_path()
        return self._parse(host_wire.Rescanned, self._transport.post_json(url, {}, self._token), url)

    def _parse(self, shape: type[T], value: object, url: str) -> T:
        try:
            return wire.parse_document(shape, value)
        except wire.BadDocument as error:
            raise Unavailable(
                f"the host at {self.url} answers something else than Market's protocol",
                why=f"{url}: {error}",
                hint="check the URL; if it is right, this market may be older than the host",
            ) from None


def _with_plain_names(rows: object) -> object:
    if isinstance(rows, dict) and isinstance(rows.get("items"), list):
        return {**rows, "items": [host_wire.skill_from_json(row) for row in rows["items"]]}
    return rows


@dataclass(frozen=True, slots=True)
class Standing:
    """How a pack stands in a host: its skills of the awaited version, and how long that took. Not `reached` means time ran out."""

    url: str
    reached: bool
    milliseconds: float
    skills: tuple[host_wire.SkillView, ...] = ()


def await_pack(
    host: HostClient,
    pack: str,
    version: str,
    root: str,
    *,
    timeout_seconds: float = LIVE_TIMEOUT_SECONDS,
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None] = time.sleep,
) -> Standing:
    """Ask until the host shows the pack from this root at `version` and no other one; an empty version waits for it to be gone."""
    start = clock()
    while True:
        skills = tuple(skill for skill in host.skills(pack) if skill.root == root)
        elapsed = clock() - start
        if all(skill.version == version for skill in skills) and bool(skills) == bool(version):
            return Standing(host.url, True, elapsed * 1000, skills)
        if elapsed > timeout_seconds:
            return Standing(host.url, False, elapsed * 1000, skills)
        sleep(LIVE_POLL_SECONDS)
