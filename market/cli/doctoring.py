"""What is wrong around the roots: this user's files, the indexes and their clocks, the hosts and what they show."""

from __future__ import annotations

import importlib
import stat
from typing import TYPE_CHECKING

from market.cli.standing import find_standings
from market.client.running_hosts import find_stale_records
from market.disk.failures import disk_failures
from market.errors import MarketError
from market.installer.doctor import ERROR, WARNING, Finding

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from market.cli.market import Market
    from market.installer.root import Root

MAX_CLOCK_SKEW_SECONDS = 120.0
"""Beyond that tokens end too early or too late, and the age of a release is wrong."""


def examine_home(market: Market) -> Iterator[Finding]:
    """Yield what is wrong with this user's own files: secrets that others can read, records of hosts that are gone."""
    home = market.home
    for path in (home.credentials, home.host_admin_token, home.host_tokens):
        try:
            mode = stat.S_IMODE(path.stat().st_mode)
        except OSError:
            continue
        if mode & 0o077:
            text = f"others on this machine can read it (mode {mode:04o})"
            yield Finding("secret-readable", ERROR, str(path), text, f"chmod 600 {path}", is_safe=True)
    for path in find_stale_records(home):
        text = "the record of a host that no longer runs"
        yield Finding("host-stale", WARNING, str(path), text, f"delete {path}", is_safe=True)


def repair_home(market: Market) -> None:
    """Put right what `examine_home` finds."""
    for finding in examine_home(market):
        path = market.home.path.joinpath(finding.place)
        with disk_failures("repair", path):
            if finding.rule == "secret-readable":
                path.chmod(0o600)
            else:
                path.unlink(missing_ok=True)


def examine_indexes(market: Market) -> Iterator[Finding]:
    """Ask every configured index, and compare its clock with this machine's."""
    network = importlib.import_module("market.cli.network")
    named = market.environ.get("MARKET_INDEX_URL")
    for choice in (market.settings.index(),) if named else market.settings.indexes:
        try:
            network.open_index(market, market.settings.index_at(choice.url)).packs(1)
            theirs = network.read_clock(market, choice.url)
        except MarketError as error:
            text = f"{error.message}{f': {error.why}' if error.why else ''}; what is installed works on"
            yield Finding("index-silent", WARNING, choice.url, text, error.hint)
            continue
        skew = (market.now() - theirs).total_seconds() if theirs else 0.0
        if abs(skew) > MAX_CLOCK_SKEW_SECONDS:
            text = f"this machine's clock is {abs(skew):.0f} s {'ahead of' if skew > 0 else 'behind'} the index's"
            yield Finding("clock-skew", WARNING, choice.url, text, "set the clock, for example with a time service")


def examine_hosts(market: Market, roots: Sequence[Root]) -> Iterator[Finding]:
    """Ask every running host that serves one of the roots whether it shows what stands there."""
    standings, looks = find_standings(market, roots)
    for look in looks:
        if look.trouble:
            text = f"the host runs, and can't be asked: {look.trouble}"
            yield Finding("host-silent", WARNING, look.url, text, "see its log; or stop it and start it again")
    for row in standings:
        if row.host_version is not None:
            shown = row.host_version or "nothing of it"
            text = f"{row.name} {row.version} stands in {row.root.path}, and the host shows {shown}"
            yield Finding("host-behind", ERROR, row.host, text, "its log says why; it looks again every 30 s")
