#!/usr/bin/env python3
"""Request a URL once and say what came of it. Redirects are reported, not followed: each hop is a finding of its own."""

import http.client
import ssl
import sys
import time
from pathlib import Path
from urllib.parse import urljoin, urlsplit

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "lib"))

from probe import BadArgument, Clock, explain, read_integer, read_text, read_timeout, run  # noqa: E402

BODY_BYTES = 64 * 1024
SHOWN_HEADERS = ("content-type", "content-length", "server", "cache-control", "retry-after")


def probe_http(args):
    url = urlsplit(read_text(args, "url"))
    if url.scheme not in ("http", "https") or not url.hostname:
        raise BadArgument("`url` must be an http:// or https:// URL")
    method = args.get("method", "GET")
    if method not in ("GET", "HEAD"):
        raise BadArgument("`method` must be GET or HEAD")
    expected = read_integer(args, "expect_status", 100, 599) if "expect_status" in args else None
    wanted = args.get("contains")
    clock = Clock()
    result = {"ok": False, "url": url.geturl(), "stage": "connect"}
    connection = open_connection(url, read_timeout(args))
    try:
        connection.connect()
        result.update(stage="request", connect_ms=clock.elapsed_ms(), address=connection.sock.getpeername()[0])
        if url.scheme == "https":
            result["tls"] = describe_tls(connection.sock)
        body = request(connection, url, method, clock, result)
    except ssl.SSLError as error:
        return {**result, "stage": "tls", "error": explain_tls(error), "elapsed_ms": clock.elapsed_ms()}
    except (OSError, http.client.HTTPException, UnicodeError) as error:
        return {**result, "error": explain(error), "elapsed_ms": clock.elapsed_ms()}
    finally:
        connection.close()
    result["elapsed_ms"] = clock.elapsed_ms()
    return judge(result, expected, wanted, body)


def open_connection(url, timeout):
    if url.scheme == "https":
        context = ssl.create_default_context()
        return http.client.HTTPSConnection(url.hostname, url.port, timeout=timeout, context=context)
    return http.client.HTTPConnection(url.hostname, url.port, timeout=timeout)


def request(connection, url, method, clock, result):
    target = (url.path or "/") + (f"?{url.query}" if url.query else "")
    connection.request(method, target, headers={"User-Agent": "net-probe/1.0", "Accept": "*/*"})
    response = connection.getresponse()
    result.update(stage="response", status=response.status, reason=response.reason, first_byte_ms=clock.elapsed_ms())
    result["headers"] = {name: response.headers[name] for name in SHOWN_HEADERS if name in response.headers}
    if "location" in response.headers:
        result["redirects_to"] = urljoin(url.geturl(), response.headers["location"])
    body = response.read(BODY_BYTES)
    result.update(bytes_read=len(body), complete=len(body) < BODY_BYTES)
    return body


def judge(result, expected, wanted, body):
    if expected is not None and result["status"] != expected:
        return {**result, "error": f"status {result['status']}, expected {expected}"}
    if expected is None and result["status"] >= 400:
        return {**result, "error": f"status {result['status']}"}
    if wanted is not None and str(wanted).encode() not in body:
        return {**result, "error": "the body does not contain the expected text"}
    return {**result, "ok": True, "stage": "done"}


def describe_tls(secured):
    end = secured.getpeercert().get("notAfter")
    days = round((ssl.cert_time_to_seconds(end) - time.time()) / 86400, 1) if end else None
    return {"version": secured.version(), "certificate_ends": end, "certificate_days_left": days}


def explain_tls(error):
    return getattr(error, "verify_message", "") or error.reason or str(error)


run("probe_http", probe_http)
