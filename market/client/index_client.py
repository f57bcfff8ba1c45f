"""One index, asked and told through its native face `/v1`. Which index to ask is in `market.client.settings`."""

from __future__ import annotations

import hashlib
import io
from dataclasses import replace
from typing import TYPE_CHECKING, BinaryIO, TypeVar, cast
from urllib.parse import quote, urlencode, urljoin

from market.client import wire
from market.client.limits import MAX_ARCHIVE_BYTES, MAX_LIST_PAGES, MAX_METADATA_BYTES
from market.client.origins import origin_of, parse_server_url
from market.client.watched import WatchedFile
from market.errors import NotFound, Unavailable, Untrusted
from market.names import parse_digest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from market.client.cache import ArchiveCache
    from market.client.transport import Transport
    from market.pack.secrets import Place

T = TypeVar("T")
METADATA_SUFFIX = ".metadata"


class IndexClient:
    """One index with the token for it. The token is sent to the index's own origin only.

    `observe` is told of each download: what, the bytes so far, the bytes in all.
    """

    def __init__(
        self,
        transport: Transport,
        url: str,
        token: str = "",
        *,
        cache: ArchiveCache,
        observe: Callable[[str, int, int], None] | None = None,
    ) -> None:
        self.url = parse_server_url(url)
        self.has_token = bool(token)
        self._transport = transport
        self._token = token
        self._cache = cache
        self._observe = observe

    def pack(self, name: str) -> wire.PackDocument:
        """Return the document of a pack; raises `NotFound` with a hint where the index doesn't know it."""
        try:
            return self._get(wire.PackDocument, wire.pack_path(quote(name)))
        except NotFound as error:
            error.hint = error.hint or f"look for it with `market search {name}`; the index asked is {self.url}"
            raise

    def release(self, name: str, version: str) -> wire.ReleaseDocument:
        """Return everything about one release."""
        return self._get(wire.ReleaseDocument, wire.release_path(quote(name), quote(version)))

    def packs(self, limit: int) -> wire.PackList:
        """Return up to `limit` packs of the index's list, over as many pages as it takes."""
        return self._pages(f"{wire.packs_path()}?{urlencode({'limit': limit})}", limit)

    def search(self, query: str, limit: int) -> wire.PackList:
        """Return up to `limit` packs that match, best first."""
        return self._pages(f"{wire.search_path()}?{urlencode({'q': query, 'limit': limit})}", limit)

    def publish(
        self, name: str, version: str, stream: BinaryIO, size: int, allowed_secrets: Iterable[Place] = ()
    ) -> wire.Published:
        """Send a canonical archive. The same tree again is a success with `created` False; another tree is `Conflict`."""
        url = self.url + wire.publish_path(quote(name), quote(version)) + _allowing(allowed_secrets)
        return self._parse(wire.Published, self._transport.put(url, stream, size, self._token, wire.ARCHIVE_TYPE), url)

    def publish_file(
        self,
        name: str,
        version: str,
        filename: str,
        stream: BinaryIO,
        size: int,
        allowed_secrets: Iterable[Place] = (),
    ) -> wire.Published:
        """Send a wheel or an sdist. The same bytes again are a success with `created` False; others of this name are `Conflict`."""
        url = self.url + wire.file_publish_path(quote(name), quote(version), quote(filename))
        url += _allowing(allowed_secrets)
        return self._parse(wire.Published, self._transport.put(url, stream, size, self._token, wire.FILE_TYPE), url)

    def yank(self, name: str, version: str, reason: str) -> wire.Yanked:
        """Yank a release, for a reason that may be empty."""
        url = self.url + wire.yank_path(quote(name), quote(version))
        return self._parse(wire.Yanked, self._transport.post_json(url, {"reason": reason}, self._token), url)

    def unyank(self, name: str, version: str) -> wire.Yanked:
        """Take a yank back."""
        url = self.url + wire.yank_path(quote(name), quote(version))
        return self._parse(wire.Yanked, self._transport.delete_json(url, self._token), url)

    def whoami(self) -> wire.WhoAmI:
        """Return whose token this is; raises `Unauthenticated` for a bad one."""
        return self._get(wire.WhoAmI, wire.whoami_path())

    def archive_url(self, release: wire.ReleaseDocument) -> str:
        """Return the absolute address of a release's archive; raises `Untrusted` where it isn't one of the web's."""
        return self._address(release, release.archive.url)

    def download_archive(self, release: wire.ReleaseDocument) -> BinaryIO:
        """Open a release's archive, from the cache or from the index. The caller closes it."""
        link = release.archive
        if not 0 < link.size <= MAX_ARCHIVE_BYTES:
            raise Untrusted(
                f"the archive of {release.name} {release.version} has {link.size} bytes",
                why=f"the limit is {MAX_ARCHIVE_BYTES}",
            )
        url = self.archive_url(release)
        token = self._token if origin_of(url) == origin_of(self.url) else ""
        what = f"{release.name} {release.version}"
        return self._cache.fetch(
            parse_digest(link.digest), link.size, lambda out: self._download(url, token, out, link.size, what)
        )

    def download_metadata(self, release: wire.ReleaseDocument) -> bytes | None:
        """Return the METADATA of a release's wheel, held against its digest; None where it has none, or the index serves none."""
        links = (one for one in release.files if one.digest == release.archive.digest and one.metadata_digest)
        link = next(links, None)
        if link is None:
            return None
        url, content = self._address(release, link.url) + METADATA_SUFFIX, io.BytesIO()
        token = self._token if origin_of(url) == origin_of(self.url) else ""
        try:
            self._transport.download(url, token, content, MAX_METADATA_BYTES)
        except NotFound:
            return None
        if f"sha256:{hashlib.sha256(content.getvalue()).hexdigest()}" != link.metadata_digest:
            raise Untrusted(
                f"the METADATA of {release.name} {release.version} isn't the one that the index promised",
                why=f"its digest should be {link.metadata_digest}",
                hint="tell the index's operator",
            )
        return content.getvalue()

    def _address(self, release: wire.ReleaseDocument, link: str) -> str:
        url = urljoin(self.url + wire.release_path(quote(release.name), quote(release.version)), link)
        if not url.startswith(("http://", "https://")):
            raise Untrusted(f"the index names {link!r} as the place of an archive", hint="tell the index's operator")
        return url

    def _download(self, url: str, token: str, out: BinaryIO, size: int, what: str) -> int:
        observe = self._observe
        if observe is None:
            return self._transport.download(url, token, out, size)
        observe(what, 0, size)
        watched = WatchedFile(out, lambda done: observe(what, done, size))
        return self._transport.download(url, token, cast("BinaryIO", watched), size)

    def _get(self, shape: type[T], path: str) -> T:
        url = self.url + path
        return self._parse(shape, self._transport.get_json(url, self._token), url)

    def _parse(self, shape: type[T], value: object, url: str) -> T:
        try:
            return wire.parse_document(shape, value)
        except wire.BadDocument as error:
            raise Unavailable(
                f"the index at {self.url} answers something else than Market's protocol",
                why=f"{url}: {error}",
                hint="check the URL; if it is right, this market may be older than the index",
            ) from None

    def _pages(self, path: str, limit: int) -> wire.PackList:
        items: list[wire.PackSummary] = []
        first: wire.PackList | None = None
        for page in self._each_page(path):
            first = first or page
            items.extend(page.items)
            if len(items) >= limit:
                break
        return replace(first, items=tuple(items[:limit]), next="") if first else wire.PackList((), 0)

    def _each_page(self, path: str) -> Iterator[wire.PackList]:
        """Yield the pages of a list. A `next` on another origin ends it: the token must not go there, nor may the list grow forever."""
        url = self.url + path
        for _ in range(MAX_LIST_PAGES):
            page = self._parse(wire.PackList, self._transport.get_json(url, self._token), url)
            yield page
            url = urljoin(url, page.next)
            if not page.next or origin_of(url) != origin_of(self.url):
                return


def _allowing(places: Iterable[Place]) -> str:
    query = urlencode([("allow_secret", f"{file}:{line}") for file, line in sorted(places)])
    return f"?{query}" if query else ""
