"""After a change on the disk: wait until the hosts that serve the root show it, and put that into words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from market.cli.network import open_host
from market.client.host_client import Standing, await_pack
from market.client.running_hosts import load_running_hosts
from market.errors import MarketError
from market.registry.live import RUNNABLE_STATES

if TYPE_CHECKING:
    from collections.abc import Iterable

    from market.cli.market import Market
    from market.installer.root import Root

NORMAL_STATES = frozenset({"live"})


@dataclass(frozen=True, slots=True)
class Shown:
    """How one host stands to one change. `trouble` is why it couldn't be asked."""

    pack: str
    version: str
    url: str
    standing: Standing | None = None
    trouble: str = ""

    @property
    def document(self) -> dict[str, Any]:
        """The value as `--json` prints it."""
        standing = self.standing
        return {
            "name": self.pack,
            "version": self.version,
            "url": self.url,
            "reached": standing is not None and standing.reached,
            "milliseconds": round(standing.milliseconds, 1) if standing else None,
            "skills": [{"key": skill.key, "state": skill.state} for skill in standing.skills] if standing else [],
            "trouble": self.trouble,
        }

    @property
    def lines(self) -> list[str]:
        """The value in sentences: live, or gone, or what is in the way."""
        if self.standing is None:
            return [f"the host at {self.url} can't be asked: {self.trouble}"]
        if not self.standing.reached:
            word = f"show {self.pack} {self.version}" if self.version else f"drop {self.pack}"
            return [
                f"the host at {self.url} does not {word} after {self.standing.milliseconds / 1000:.0f} s; its log says why"
            ]
        is_live = not self.standing.skills or any(skill.state in RUNNABLE_STATES for skill in self.standing.skills)
        word = ("live" if is_live else "seen") if self.version else "gone"
        odd = [
            f"  {skill.key} is {skill.state}{_reason(skill.problems)}"
            for skill in self.standing.skills
            if skill.state not in NORMAL_STATES
        ]
        return [
            f"{self.pack} {self.version} {word} in {self.standing.milliseconds:.0f} ms at {self.url}".replace(
                "  ", " "
            ),
            *odd,
        ]


def await_hosts(market: Market, root: Root, packs: Iterable[tuple[str, str]]) -> tuple[Shown, ...]:
    """Wait for every running host of this root to show each pack at its version; an empty version waits for it to be gone."""
    found = [(host.url, host.find_root(root.path)) for host in load_running_hosts(market.home)]
    return tuple(_await(market, url, name, pack, version) for pack, version in packs for url, name in found if name)


def host_lines(shown: tuple[Shown, ...], root: Root) -> list[str]:
    """Return what the hosts say, or that there is none."""
    return [line for one in shown for line in one.lines] or [f"no running host serves {root.path}"]


def _await(market: Market, url: str, root: str, pack: str, version: str) -> Shown:
    """Ask one host. Its trouble is told and no error: the change on the disk is done."""
    try:
        return Shown(pack, version, url, await_pack(open_host(market, url), pack, version, root))
    except MarketError as error:
        return Shown(pack, version, url, trouble=error.message + (f" ({error.why})" if error.why else ""))


def _reason(problems: tuple[dict[str, Any], ...]) -> str:
    texts = [str(problem.get("text", "")) for problem in problems]
    return f": {'; '.join(texts)}" if texts else ""
