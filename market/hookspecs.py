"""The hooks of Market: what a plugin may implement. `docs/hooks.md` describes them for plugin authors, argument by argument.

A plugin is a distribution with an entry point in the group `market` that names a module or an object; its functions are marked
with `@hookimpl`. How implementations are found, called and combined is `market.plugins.loaded`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, BinaryIO, Protocol

import pluggy

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from datetime import datetime

    from market.cancellation import Cancellation
    from market.errors import Problem
    from market.model import Call, Caller, Kind, Outcome, Pack, Skill, State
    from market.pack.source import Source
    from market.trust.decision import Decision

GROUP = "market"
ACT_PUBLISH = "publish"
ACT_INSTALL = "install"
"""The two acts before which packs are scanned: see `scan_pack`."""

hookspec = pluggy.HookspecMarker(GROUP)
hookimpl = pluggy.HookimplMarker(GROUP)


class Target(Protocol):
    """A skill as it stands in the registry, with the place of its tree. Everything is read only."""

    @property
    def key(self) -> str:
        """The key under which it is called."""

    @property
    def skill(self) -> Skill:
        """What it is: kind, class, manifest."""

    @property
    def pack(self) -> str:
        """The name of its pack."""

    @property
    def version(self) -> str:
        """The version of its pack; empty for a folder without one."""

    @property
    def publisher(self) -> str:
        """Who published the pack; empty where no index vouches for one."""

    @property
    def state(self) -> State:
        """How it stands in the registry."""

    @property
    def root(self) -> str:
        """The absolute directory that is allow-listed."""

    @property
    def unit(self) -> str:
        """The absolute directory of the pack's tree."""

    @property
    def device(self) -> int:
        """The device of the tree's directory."""

    @property
    def inode(self) -> int:
        """The inode of the tree's directory."""

    @property
    def tree_digest(self) -> str:
        """The identity of the tree; empty for a folder without receipt."""


class Executor(Protocol):
    """Runs skills of one kind. Called from many threads at once."""

    def execute(self, target: Target, args_text: str, timeout_seconds: float, cancellation: Cancellation) -> Outcome:
        """Run a skill and say what came of it: one that fails, hangs or prints nonsense is an outcome too.

        :param target: the skill, and where its tree stands
        :param args_text: the arguments, checked and filled: the text of a JSON object
        :param timeout_seconds: how long it may run; to end it then is the executor's part
        :param cancellation: says that the call shall end early, and why; given by its name, to an `execute` that takes it
        :return: the outcome: `ok`, `failed`, `timeout` or `cancelled`, with a result that JSON can say
        :raises market.run.executor.Replaced: another directory than `target` names stands there, and nothing has run
        :raises market.errors.MarketError: any other: it couldn't be started; the call fails with these words
        :raises market.cancellation.Cancelled: the call was cancelled, and nothing has run
        """


class Fetcher(Protocol):
    """Fetches archives by their address. Called once for each address."""

    def fetch(self, address: str, out: BinaryIO, limit_bytes: int) -> None:
        """Write the archive that stands at an address. Whether it is good is checked afterwards.

        :param address: what was asked for, with the scheme and without a `#sha256=...`, which is checked afterwards too
        :param out: an empty file, seekable; leave it open
        :param limit_bytes: the most that is taken; a byte more tells that there is more, so stop there
        :raises market.errors.MarketError: with what is wrong: `NotFound`, `Refused`, `Unavailable`
        """


@hookspec
def register_executors(environment: Mapping[str, str]) -> Mapping[Kind, Executor] | None:
    """Which kinds of skills can be run here, and what runs them? Asked once, when a host or `market run` starts.

    :param environment: the variables of the host, from which a skill's `env_allow` chooses
    :return: an executor for each kind (`command`, `python`, `native`); a plugin's replaces Market's own, two plugins with one are an error

    Silence: nothing is added. A crash: the program doesn't start.
    """


@hookspec
def register_fetchers() -> Mapping[str, Fetcher] | None:
    """From which addresses can packs be installed, beside indexes, folders and files? Asked when `market install` is given `SCHEME://...`.

    :return: a fetcher for each scheme; a plugin's takes the place of Market's own, and two plugins with one scheme are an error

    Silence: nothing is added. A crash: nothing is installed.
    """


@hookspec
def scan_pack(pack: Pack, source: Source, act: str) -> Iterable[Problem] | None:
    """What is suspicious in this pack? Asked before a new release is made, and before a pack is installed.

    :param pack: what the pack says of itself, with its skills
    :param source: its files, to be listed and read
    :param act: `publish` on an index, `install` where it shall be installed
    :return: findings, listed or yielded, best with file and line; severity `error` stops both acts, `refusal` publishing, `warning` nothing

    Silence: nothing was seen. A crash: a finding that stops the act.
    """


@hookspec
def decide_install(pack: Pack, publisher: str, origin: str, root: str, caller: Caller) -> Decision | None:
    """May this pack be installed here? Asked after it was verified and scanned, and before anything is written.

    :param pack: the verified pack, with its skills and their classes
    :param publisher: who published it; empty where no index vouches for one
    :param origin: where it came from: an index's URL, a folder, an archive, or who uploaded it
    :param root: the absolute directory into which it would be installed
    :param caller: who asked for it
    :return: a decision; the strictest of all wins

    Silence: no objection. A crash: it isn't installed.
    """


@hookspec
def decide_run(target: Target, call: Call, arguments: Mapping[str, object]) -> Decision | None:
    """May this caller make this call now? Asked for every call, on every road, after the arguments were checked and filled.

    :param target: the skill
    :param call: who calls, over which road, and what was given
    :param arguments: the arguments with the defaults of the skill's schema
    :return: a decision; the strictest of all wins

    Silence: no objection. A crash: the call is denied.
    """


@hookspec
def decide_publish(pack: Pack, publisher: str, owner: str) -> Decision | None:
    """May this publisher make this release? Asked on the index for every file that isn't there yet: an archive, a wheel, an sdist.

    :param pack: the verified pack; that of an sdist has no skills, since they are in what is built from it
    :param publisher: whose token was sent
    :param owner: the publisher that has the name; empty where nobody has it yet
    :return: a decision; the strictest of all wins

    Silence: no objection. A crash: it isn't published.
    """


@hookspec
def pack_installed(
    pack: Pack, publisher: str, origin: str, root: str, action: str, old_version: str, caller: Caller, at: datetime
) -> None:
    """Tell that a pack was installed. Said when it is live on the disk; an unchanged pack isn't told.

    :param pack: the pack, with its version and skills
    :param publisher: who published it; empty where no index vouches for one
    :param origin: where it came from, as in `decide_install`
    :param root: the absolute directory into which it was installed
    :param action: `installed`, `upgraded`, `downgraded`, `reinstalled` or `rolled-back`
    :param old_version: the version that stood there before; empty where there was none
    :param caller: who asked for it
    :param at: when, with a time zone

    What it returns is ignored. A crash: it is logged, and the others are told.
    """


@hookspec
def pack_removed(name: str, version: str, root: str, caller: Caller, at: datetime) -> None:
    """Tell that a pack was uninstalled.

    :param name: the pack's name
    :param version: the version that is gone; empty where its receipt was unreadable
    :param root: the absolute directory that it was in
    :param caller: who asked for it
    :param at: when, with a time zone

    What it returns is ignored. A crash: it is logged, and the others are told.
    """


@hookspec
def skill_ran(target: Target | None, call: Call, arguments_text: str, outcome: Outcome, at: datetime) -> None:
    """Tell that an attempt to run a skill has ended: also one that was denied, unknown, invalid or timed out. Said after the audit row.

    :param target: the skill; None where the key is unknown
    :param call: who called, over which road
    :param arguments_text: the filled arguments as JSON, or what was given where they don't fit
    :param outcome: what came of it, with its duration: `ok`, `failed`, `timeout`, `invalid`, `denied`, `unknown` or `cancelled`
    :param at: when the attempt began, with a time zone

    What it returns is ignored. A crash: it is logged, and the others are told.
    """


@hookspec
def release_published(pack: Pack, publisher: str, filename: str, tree_digest: str, at: datetime) -> None:
    """Tell that a release was made on the index, or got another file. Said when it is visible everywhere; the same file again isn't told.

    :param pack: the pack, with its version and skills
    :param publisher: who published it
    :param filename: the file: an archive, a wheel or an sdist
    :param tree_digest: the identity of the files in it; empty for an sdist
    :param at: when, with a time zone

    What it returns is ignored. A crash: it is logged, and the others are told.
    """


@hookspec
def release_yanked(name: str, version: str, publisher: str, reason: str, undone: bool, at: datetime) -> None:
    """Tell that a release was yanked on the index, or that a yank was taken back. One that changes nothing isn't told.

    :param name: the pack's name
    :param version: the release's version
    :param publisher: who did it
    :param reason: why, in the publisher's words; may be empty
    :param undone: whether a yank was taken back
    :param at: when, with a time zone

    What it returns is ignored. A crash: it is logged, and the others are told.
    """
