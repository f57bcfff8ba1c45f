"""Asking a running host to look again, as its operator."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from market.client.host_client import HostClient
from market.client.running_hosts import load_admin_token, load_running_hosts
from market.client.settings import load_settings
from market.client.transport import RequestsTransport

if TYPE_CHECKING:
    from collections.abc import Mapping

    from market.disk.home import Home


def registered_text(skills: int) -> str:
    """Return how many skills are registered, as a clause.

    >>> registered_text(1)
    '1 skill is registered'
    """
    return "1 skill is registered" if skills == 1 else f"{skills} skills are registered"


def reload_host(home: Home, environ: Mapping[str, str], url: str = "") -> dict[str, Any]:
    """Have the host at a URL, or the one that runs for this user, look again; return its answer with its URL."""
    settings = load_settings(home.config, home.credentials, environ)
    running = load_running_hosts(home)
    if not url and not environ.get("MARKET_HOST_URL") and running:
        url = running[-1].url
    url = settings.host_url(url)
    token = settings.host_token(url) or load_admin_token(home, url)
    done = HostClient(RequestsTransport("host", environ=environ), url, token).rescan()
    return {"url": url, "skills": done.skills, "duration_ms": done.duration_ms}
