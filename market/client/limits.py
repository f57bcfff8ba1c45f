"""Every limit of the client's side, with its unit."""

from __future__ import annotations

CONNECT_TIMEOUT_SECONDS = 5.0
READ_TIMEOUT_SECONDS = 60.0
JSON_TIMEOUT_SECONDS = 120.0
"""How long one JSON answer may take in all: an answer that drips byte by byte ends here."""

MAX_ATTEMPTS = 3
RETRY_DELAY_SECONDS = 0.25
MAX_RETRY_AFTER_SECONDS = 10.0
"""A server that asks for a longer pause is reported instead of waited for."""

DOWNLOAD_CHUNK_BYTES = 16 * 1024
"""How much is read at once: when a connection breaks, what was read of the last chunk is lost."""
MAX_DOWNLOAD_ATTEMPTS = 50
"""How often one download is taken up again as long as each attempt brings something."""
DOWNLOAD_TIMEOUT_SECONDS = 3600.0
"""After this time a download that breaks isn't taken up again by the same command; the next one continues it."""
SHARED_DOWNLOAD_SECONDS = 600.0
"""How long one process waits for another one that downloads the same archive."""
MAX_PART_AGE_SECONDS = 7 * 24 * 3600.0
"""How long the beginning of a download is kept to be continued."""

MAX_REDIRECTS = 5
MAX_JSON_BYTES = 32 * 1024 * 1024
MAX_ARCHIVE_BYTES = 64 * 1024 * 1024
MAX_METADATA_BYTES = 1024 * 1024
MAX_GIT_FILES = 5_000
GIT_TIMEOUT_SECONDS = 300.0
"""How long one run of git may take; a fetch is one."""
MAX_CACHE_BYTES = 1024 * 1024 * 1024
MAX_CONFIG_BYTES = 1024 * 1024
MAX_TOKEN_BYTES = 4096
MAX_LIST_PAGES = 1000
CHUNK_BYTES = 256 * 1024

LIVE_TIMEOUT_SECONDS = 10.0
"""How long an install waits for a running host to show the pack."""
LIVE_POLL_SECONDS = 0.01
HOST_PROBE_TIMEOUT_SECONDS = 2.0
