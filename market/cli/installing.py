"""Put arrivals into a root and tell what came of it. Verification and the transaction are in the rooms below."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from market.cli.importing import change_lines
from market.cli.live import Shown, await_hosts, host_lines
from market.cli.report import dump_problems
from market.cli.text import count_text, size_text
from market.installer.receipt import load_receipts
from market.installer.transaction import install_packs, lock_root

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from market.cli.market import Market
    from market.cli.output import Output
    from market.installer.plan import Change
    from market.installer.root import Root
    from market.installer.transaction import Arrival

LOCK_TIMEOUT_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class Installation:
    """What was installed into a root, or would be: `changes` is empty for a dry run."""

    root: Root
    arrivals: tuple[Arrival, ...]
    changes: tuple[Change, ...]
    missing: tuple[tuple[str, str], ...]
    shown: tuple[Shown, ...]
    dry_run: bool = False

    @property
    def document(self) -> dict[str, Any]:
        """The value as `--json` prints it."""
        return {
            "root": str(self.root.path),
            "dry_run": self.dry_run,
            "items": [_arrival_document(arrival, self._change(arrival)) for arrival in self.arrivals],
            "missing_requires": [{"name": name, "requires": requires} for name, requires in self.missing],
            "hosts": [one.document for one in self.shown],
        }

    @property
    def lines(self) -> list[str]:
        """The value in sentences."""
        lines = [
            line
            for arrival in self.arrivals
            for line in _arrival_lines(arrival, self._change(arrival), self.root, self.dry_run)
        ]
        lines += [
            f"{name} requires {requires}, which is not installed: `market install '{requires}'`"
            for name, requires in self.missing
        ]
        return lines if self.dry_run else [*lines, *host_lines(self.shown, self.root)]

    def _change(self, arrival: Arrival) -> Change | None:
        return next((change for change in self.changes if change.name == arrival.verified.name), None)


def install_arrivals(
    market: Market,
    output: Output,
    root: Root,
    fetch: Callable[[ExitStack], Sequence[Arrival]],
    *,
    dry_run: bool,
    force: bool = False,
    accept_publisher: bool = False,
) -> Installation:
    """Lock the root, which recovers it; then fetch, install all or none, and wait for the hosts. A dry run locks and writes nothing."""
    with ExitStack() as stack:
        if dry_run:
            arrivals = tuple(fetch(stack))
            return Installation(root, arrivals, (), _missing_requires(root, arrivals), (), dry_run=True)
        with lock_root(root, timeout_seconds=LOCK_TIMEOUT_SECONDS) as locked:
            arrivals = tuple(fetch(stack))
            with output.progress(f"installing into {root.path}"):
                changes = install_packs(
                    locked, arrivals, market.now(), overwrite_edits=force, accept_publisher=accept_publisher
                )
        shown = await_hosts(market, root, [(change.name, change.new_version) for change in changes])
        return Installation(root, arrivals, changes, _missing_requires(root, arrivals), shown)


def _missing_requires(root: Root, arrivals: tuple[Arrival, ...]) -> tuple[tuple[str, str], ...]:
    there = {receipt.name for receipt in load_receipts(root)} | {arrival.verified.name for arrival in arrivals}
    wanted = [(arrival.verified.name, required) for arrival in arrivals for required in arrival.verified.pack.requires]
    return tuple((str(name), str(required)) for name, required in wanted if required.name not in there)


def _arrival_document(arrival: Arrival, change: Change | None) -> dict[str, Any]:
    verified = arrival.verified
    return {
        "name": verified.name,
        "version": verified.version.text,
        "action": str(change.action) if change else "would install",
        "old_version": change.old_version if change else "",
        "publisher": arrival.publisher,
        "origin": {"kind": arrival.origin.kind, "location": arrival.origin.location, "index": arrival.origin.index},
        "tree_digest": verified.tree_digest,
        "archive_digest": verified.archive_digest,
        "skills": [
            {"name": skill.name, "kind": skill.kind, "class": skill.skill_class} for skill in verified.pack.skills
        ],
        "files": [
            {"path": file.path, "size": file.size, "executable": file.executable} for file in verified.record.files
        ],
        "changes": dump_problems(arrival.changes),
    }


def _arrival_lines(arrival: Arrival, change: Change | None, root: Root, dry_run: bool) -> list[str]:
    verified = arrival.verified
    act = change.action if change else "would install"
    old = (
        f" (was {change.old_version})"
        if change and change.old_version and change.old_version != verified.version.text
        else ""
    )
    size = f"({count_text(len(verified.record.files), 'file')}, {size_text(verified.record.size)})"
    source = arrival.origin.index or arrival.origin.location
    owner = f" by {arrival.publisher}" if arrival.publisher else ""
    kept = f"; the edited files are kept in {change.backup}" if change and change.backup else ""
    head = f"{act} {verified.name} {verified.version}{old} {size} from {source}{owner} into {root.path}{kept}"
    changes = change_lines(arrival.changes)
    return [head, *changes, *(f"  {file.path}  {file.size} B" for file in verified.record.files if dry_run)]
