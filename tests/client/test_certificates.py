"""A server with a certificate of one's own authority: trusted where the environment names it, and refused with a sentence where not."""

from __future__ import annotations

import shutil
import ssl
import subprocess
from typing import TYPE_CHECKING

import pytest

from market.client.transport import RequestsTransport
from market.errors import Unavailable
from tests.client.server import Answer, serve

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.skipif(shutil.which("openssl") is None, reason="needs openssl to make a certificate")


@pytest.fixture
def certificate(tmp_path: Path) -> tuple[Path, Path]:
    """A certificate for 127.0.0.1 that is its own authority, and its key."""
    pem, key = tmp_path / "ca.pem", tmp_path / "key.pem"
    subject = ["-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1"]
    request = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2"]
    command = [*request, *subject, "-out", str(pem), "-keyout", str(key)]
    subprocess.run(command, check=True, capture_output=True)
    return pem, key


@pytest.mark.parametrize("variable", ["SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"])
def test_an_authority_of_one_s_own_is_trusted_where_the_environment_names_it(
    certificate: tuple[Path, Path], variable: str
) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*certificate)
    with serve(lambda asked: Answer(body=b'"safe"'), tls=context) as server:
        trusting = RequestsTransport("index", environ={variable: str(certificate[0])})
        assert server.url.startswith("https://") and trusting.get_json(server.url, "skm_x") == "safe"
        with pytest.raises(Unavailable, match="can't be reached") as caught:
            RequestsTransport("index", environ={}).get_json(server.url, "skm_x")
    assert "its certificate isn't trusted" in caught.value.why
    assert len(server.asked) == 1  # the token never went to the one that wasn't trusted
