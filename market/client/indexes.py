"""The configured indexes as one source of packs. Which of them serves a name is `market.client.settings`'s to say."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from market.errors import NotFound, Untrusted

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from market.client.index_client import IndexClient
    from market.client.settings import IndexChoice
    from market.client.wire import PackDocument, ReleaseDocument


@dataclass(frozen=True, slots=True)
class Found:
    """A pack's document, and the index that it came from."""

    client: IndexClient
    document: PackDocument


class Indexes:
    """Answers for one command or request: every document is asked for once, and every index is opened once.

    Only an unknown name leads to the next index: one that refuses, fails or has no release that fits ends the search, so that
    nobody can slip a pack of the same name in between.
    """

    def __init__(
        self, choose: Callable[[str], Sequence[IndexChoice]], open_index: Callable[[IndexChoice], IndexClient]
    ) -> None:
        self._choose = choose
        self._open = open_index
        self._clients: dict[IndexChoice, IndexClient] = {}
        self._found: dict[str, Found] = {}
        self._releases: dict[tuple[str, str], ReleaseDocument] = {}

    def find(self, name: str) -> Found:
        """Return the first of a name's indexes that knows it, with its document. Raises `NotFound`, naming all that were asked."""
        if name not in self._found:
            self._found[name] = self._search(name)
        return self._found[name]

    def document(self, name: str) -> PackDocument:
        """Return a pack's document."""
        return self.find(name).document

    def release(self, name: str, version: str) -> ReleaseDocument:
        """Return everything about one release, from the index that has the pack."""
        if (name, version) not in self._releases:
            release = self.find(name).client.release(name, version)
            _check_name(name, release.name, self.find(name).client)
            self._releases[name, version] = release
        return self._releases[name, version]

    def _search(self, name: str) -> Found:
        clients = [self._client(choice) for choice in self._choose(name)]
        for client in clients[:-1]:
            try:
                return _ask(client, name)
            except NotFound:
                continue
        try:
            return _ask(clients[-1], name)
        except NotFound as error:
            if len(clients) > 1:
                error.why = f"asked {', '.join(client.url for client in clients)}"
            raise

    def _client(self, choice: IndexChoice) -> IndexClient:
        if choice not in self._clients:
            self._clients[choice] = self._open(choice)
        return self._clients[choice]


def _ask(client: IndexClient, name: str) -> Found:
    document = client.pack(name)
    _check_name(name, document.name, client)
    return Found(client, document)


def _check_name(asked: str, answered: str, client: IndexClient) -> None:
    if answered != asked:
        raise Untrusted(
            f"the index at {client.url} was asked for {asked} and answers with {answered[:80]!r}",
            why="another pack must not be installed under this name",
            hint="tell the index's operator",
        )
