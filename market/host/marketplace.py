"""Install, upload and uninstall through a running host: the same steps as the command line, and the registry knows at once.

Who may ask is decided in `marketplace_api`. Everything here blocks on network and disk, and runs on threads of its own.
"""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from market.cancellation import NEVER
from market.client.cache import ArchiveCache
from market.client.host_wire import Arrived
from market.client.index_client import IndexClient
from market.client.indexes import Indexes
from market.client.settings import load_settings
from market.client.wire import dump_problem
from market.disk.foreign import open_canonical
from market.errors import InvalidInput, MarketError, NotFound, Unavailable
from market.installer.acquire import acquire_imported
from market.installer.closure import Order, order_newest
from market.installer.dependencies import make_dependency_terms
from market.installer.guard import Guard
from market.installer.listing import list_installed
from market.installer.machine import Machine
from market.installer.plan import Action
from market.installer.prepare import Terms, prepare
from market.installer.receipt import Origin, load_receipt
from market.installer.root import Root, open_root
from market.installer.transaction import install_packs, lock_root, uninstall_packs
from market.installer.wheels import acquire_wheel
from market.model import OutcomeKind, SkillClass
from market.names import parse_pack_name, parse_requirement
from market.pack.wheel import is_wheel
from market.resolve.policy import parse_ages
from market.run.audit_row import AuditRow
from market.run.limits import RELOOK_SECONDS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from market.cancellation import Cancellation
    from market.client.settings import Settings
    from market.client.transport import Transport
    from market.disk.home import Home
    from market.installer.dependencies import DependencyTerms
    from market.installer.listing import Installed
    from market.installer.plan import Change
    from market.installer.transaction import Arrival
    from market.model import Caller
    from market.names import Requirement
    from market.pack.inspect import Given
    from market.plugins.loaded import Plugins
    from market.registry.registry import Registry
    from market.run.audit import AuditLog

LOCK_TIMEOUT_SECONDS = 30.0
ROAD = "marketplace"


@dataclass(frozen=True, slots=True)
class Marketplace:
    """What changes the roots of one host. `environment` chooses indexes and tokens, as for the command line.

    `plugins` are asked before each change, and told afterwards.
    """

    home: Home
    registry: Registry
    audit: AuditLog
    transport: Transport
    environment: Mapping[str, str]
    plugins: Plugins

    def install(self, caller: Caller, requirement: str, root: str = "", cancellation: Cancellation = NEVER) -> Arrived:
        """Install a requirement, and what it requires, from the configured indexes into a root, all or none.

        The host's skills have changed when this returns. Where it's cancelled before anything has changed, it raises `Unavailable`.
        """
        where = self._root(root)

        def act() -> Arrived:
            return self._install(parse_requirement(requirement), where, Guard(self.plugins, caller), cancellation)

        arguments = {"requirement": requirement, "root": str(where.path)}
        return self._audited(caller, "marketplace_install", arguments, act, cancellation)

    def upload(
        self,
        caller: Caller,
        stream: BinaryIO,
        given: Given,
        root: str = "",
        file_name: str = "",
        cancellation: Cancellation = NEVER,
    ) -> Arrived:
        """Install an archive or a wheel that was sent; it's cancelled as `install` is.

        An archive of another program is imported, and the answer says what was changed; what a wheel depends on is fetched.
        """
        where = self._root(root)

        def act() -> Arrived:
            origin, terms = Origin("upload", caller.name), self._dependencies(where, cancellation)
            if is_wheel(stream):
                arrival = acquire_wheel(stream, file_name, origin, terms, given=given)
                return self._place(arrival, where, Guard(self.plugins, caller), cancellation)
            with open_canonical(stream, given) as archive:
                arrival = acquire_imported(archive, origin, terms)
                return self._place(arrival, where, Guard(self.plugins, caller), cancellation)

        arguments = {"name": given.name, "version": given.version, "root": str(where.path)}
        return self._audited(caller, "marketplace_upload", arguments, act, cancellation)

    def uninstall(self, caller: Caller, pack: str, root: str = "") -> Arrived:
        """Remove an installed pack from the root that holds it; raises `NotFound` where none does."""

        def act() -> Arrived:
            name = parse_pack_name(pack)
            where = self._root(root) if root else self._root_of(name)
            started, guard = time.perf_counter(), Guard(self.plugins, caller)
            with lock_root(where, timeout_seconds=LOCK_TIMEOUT_SECONDS, guard=guard) as locked:
                changes = uninstall_packs(locked, [name], datetime.now(UTC))
            self._show(where, [name])
            return Arrived(name, changes[0].old_version, changes[0].action, str(where.path), live_ms=_since(started))

        return self._audited(caller, "marketplace_uninstall", {"pack": pack, "root": root}, act)

    def installed(self) -> list[tuple[str, Installed]]:
        """Return every installed pack with its root, in the order of roots and names."""
        return [
            (root, row)
            for root in self.registry.roots
            if Path(root).is_dir()
            for row in list_installed(Root(Path(root)))
        ]

    def _install(self, wanted: Requirement, where: Root, guard: Guard, cancellation: Cancellation) -> Arrived:
        changes = self._carry_out(order_newest([wanted]), where, guard, cancellation)
        started = time.perf_counter()
        self._show(where, [change.name for change in changes])
        also = tuple(_also(change) for change in changes if change.name != wanted.name)
        own = next((change for change in changes if change.name == wanted.name), None)
        receipt = load_receipt(where, wanted.name)
        version, tree = (receipt.version.text, receipt.tree_digest) if receipt else ("", "")
        action = own.action if own else Action.UNCHANGED
        return Arrived(
            wanted.name, version, action, str(where.path), tree, _since(started), also=also, findings=_findings(changes)
        )

    def _place(self, arrival: Arrival, where: Root, guard: Guard, cancellation: Cancellation) -> Arrived:
        # What an uploaded pack requires isn't fetched: whoever uploads may have no index at all.
        changes = self._carry_out(Order((), (arrival,), follow=False), where, guard, cancellation)
        change, started = changes[0], time.perf_counter()
        self._show(where, [change.name])
        tree, problems = arrival.verified.tree_digest, tuple(map(dump_problem, arrival.changes))
        return Arrived(
            change.name,
            change.new_version,
            change.action,
            str(where.path),
            tree,
            _since(started),
            problems,
            findings=_findings(changes),
        )

    def _show(self, where: Root, names: list[str]) -> None:
        """Have the registry see a change, also where it waits for the code of a new version."""
        units = self.registry.refresh_names(str(where.path), names)
        self.registry.wait_until_settled(RELOOK_SECONDS, units)

    def _carry_out(self, order: Order, where: Root, guard: Guard, cancellation: Cancellation) -> tuple[Change, ...]:
        settings = load_settings(self.home.config, self.home.credentials, self.environment)
        indexes, now = self._indexes(settings), datetime.now(UTC)
        with lock_root(where, timeout_seconds=LOCK_TIMEOUT_SECONDS, guard=guard) as locked:
            ready = prepare(where, indexes, order, self._terms(settings, where, cancellation), now)
            if cancellation.why:
                raise Unavailable("nothing was installed", why=cancellation.why, hint="try again when the host runs")
            return install_packs(locked, ready.arrivals, now)

    def _indexes(self, settings: Settings) -> Indexes:
        cache = ArchiveCache(self.home.archives)
        return Indexes(
            settings.indexes_for,
            lambda choice: IndexClient(self.transport, choice.url, choice.token, cache=cache),
        )

    def _terms(self, settings: Settings, where: Root, cancellation: Cancellation) -> Terms:
        ages = parse_ages(settings.minimum_release_age())
        return Terms(ages, Machine(self.environment), dependencies=self._dependencies(where, cancellation))

    def _dependencies(self, where: Root, cancellation: Cancellation) -> DependencyTerms:
        return make_dependency_terms(self.environment, reuse=where, cancellation=cancellation)

    def _root(self, root: str) -> Root:
        """Return the named root, which must be one of the host's own, or the first of them."""
        if root and root not in self.registry.roots:
            raise InvalidInput(
                f"{root[:200]!r} is not a root of this host", hint=f"one of {', '.join(self.registry.roots)}"
            )
        return open_root(Path(root or self.registry.roots[0]), create=True)

    def _root_of(self, name: str) -> Root:
        for root in self.registry.roots:
            if load_receipt(Root(Path(root)), name) is not None:
                return Root(Path(root))
        raise NotFound(f"no pack {name!r} is installed here", hint="GET /v1/marketplace/installed lists them")

    def _audited(
        self,
        caller: Caller,
        act_name: str,
        arguments: dict[str, str],
        act: Callable[[], Arrived],
        cancellation: Cancellation = NEVER,
    ) -> Arrived:
        """Act, with a row in the audit log whatever comes of it: also where this process ends before the act does."""
        started, began = datetime.now(UTC), time.perf_counter()
        fields = {
            "session_id": "",
            "tool_name": act_name,
            "args_json": json.dumps(arguments),
            "device_id": "",
            "road": ROAD,
        }

        def row(kind: OutcomeKind, result: str = "", error: str = "") -> AuditRow:
            return AuditRow(
                **fields, result_json=result, error=error, started_at=started.isoformat(), finished_at=datetime.now(UTC).isoformat(),
                duration_ms=_since(began), caller_user_id=caller.user_id, caller_role=caller.role, caller_name=caller.name,
                skill_class=SkillClass.MUTATING, outcome=kind,
            )  # fmt: skip

        ticket = self.audit.begin(row(OutcomeKind.FAILED))
        try:
            arrived = act()
        except Exception as error:
            said = error.message if isinstance(error, MarketError) else f"a fault of the host: {type(error).__name__}"
            kind = OutcomeKind.CANCELLED if cancellation.why else OutcomeKind.FAILED
            why = f"cancelled, since {cancellation.why}; " if cancellation.why else ""
            self.audit.append(row(kind, error=f"{why}{said}"), ticket)
            raise
        result = json.dumps({"name": arrived.name, "version": arrived.version, "action": arrived.action})
        self.audit.append(row(OutcomeKind.OK, result), ticket)
        return arrived


def _also(change: Change) -> dict[str, str]:
    return {"name": change.name, "version": change.new_version, "action": change.action}


def _findings(changes: tuple[Change, ...]) -> tuple[dict[str, object], ...]:
    return tuple({"pack": change.name, **dump_problem(finding)} for change in changes for finding in change.findings)


def _since(started: float) -> float:
    return round((time.perf_counter() - started) * 1000, 3)
