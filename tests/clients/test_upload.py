"""twine and uv publish, as they are on the day of the test, upload to a served index."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest
import requests

from tests.index.wheels import a_wheel, an_sdist, wheel_name

if TYPE_CHECKING:
    from pathlib import Path

    from tests.clients.conftest import Served
    from tests.clients.programs import Programs

pytestmark = pytest.mark.real
JSON = {"Accept": "application/vnd.pypi.simple.v1+json"}


def files_of(served: Served, name: str) -> dict[str, str]:
    answer = requests.get(f"{served.simple}{name}/", headers=JSON, timeout=30)
    return {file["filename"]: file["hashes"]["sha256"] for file in answer.json()["files"]} if answer.ok else {}


def write_wheel(folder: Path, name: str, *, extra: dict[str, bytes] | None = None, group: str = "market.skills") -> Path:
    folder.mkdir(exist_ok=True)
    path = folder / wheel_name(name=name)
    path.write_bytes(a_wheel(name=name, extra=extra, group=group))
    return path


def test_twine_uploads_and_uploads_again(served: Served, programs: Programs, tmp_path: Path) -> None:
    wheel = write_wheel(tmp_path / "dist", "by-twine")
    (sdist := tmp_path / "dist" / "by_twine-1.0.0.tar.gz").write_bytes(an_sdist(name="by-twine"))
    assert "200 OK" in programs.twine("--repository-url", served.legacy, wheel, sdist, token=served.token).said
    assert set(files_of(served, "by-twine")) == {wheel.name, sdist.name}
    # A slash is forgotten easily, and twine gives up where a POST is redirected.
    programs.twine("--repository-url", served.legacy.rstrip("/"), wheel, sdist, token=served.token)


def test_twine_shows_why_other_bytes_are_refused(served: Served, programs: Programs, tmp_path: Path) -> None:
    programs.twine("--repository-url", served.legacy, write_wheel(tmp_path / "a", "twice"), token=served.token)
    before = files_of(served, "twice")
    other = write_wheel(tmp_path / "b", "twice", extra={"text_tools/more.py": b""})
    ran = programs.twine("--repository-url", served.legacy, other, token=served.token, expect=1)
    assert "409 Conflict" in ran.said and "File already exists: twice-1.0.0-py3-none-any.whl" in ran.said
    assert files_of(served, "twice") == before


@pytest.mark.parametrize("token", ["skm_wrong", "x"])
def test_twine_without_a_good_token(served: Served, programs: Programs, dist: Path, token: str) -> None:
    ran = programs.twine("--repository-url", served.legacy, *dist.iterdir(), token=token, expect=1)
    assert "401" in ran.said and "the token is not valid here" in ran.said


def test_uv_publishes_and_skips_what_is_there(served: Served, programs: Programs, tmp_path: Path) -> None:
    wheel = write_wheel(tmp_path / "dist", "by-uv")
    programs.uv("publish", "--publish-url", served.legacy, wheel, token=served.token)
    assert set(files_of(served, "by-uv")) == {wheel.name}
    programs.uv("publish", "--publish-url", served.legacy, wheel, token=served.token)
    again = programs.uv("publish", "--publish-url", served.legacy, "--check-url", served.simple, wheel, token=served.token)
    assert "already exists, skipping" in again.said
    other = write_wheel(tmp_path / "other", "by-uv", extra={"text_tools/more.py": b""})
    ran = programs.uv("publish", "--publish-url", served.legacy, other, token=served.token, expect=2)
    assert "File already exists: by_uv-1.0.0-py3-none-any.whl" in ran.said
    ran = programs.uv("publish", "--publish-url", served.legacy, "--check-url", served.simple, other, token=served.token, expect=2)
    assert "Local file and index file do not match" in ran.said


def test_uv_shows_every_fault_of_a_wheel(served: Served, programs: Programs, tmp_path: Path) -> None:
    wheel = write_wheel(tmp_path / "dist", "no-pack", group="", extra={"evil.pth": b"import os\n"})
    ran = programs.uv("publish", "--publish-url", served.legacy, wheel, token=served.token, expect=2)
    assert "entry point" in ran.said and "evil.pth" in ran.said
    assert files_of(served, "no-pack") == {}


def test_uv_without_a_good_token(served: Served, programs: Programs, dist: Path) -> None:
    ran = programs.uv("publish", "--publish-url", served.legacy, dist / wheel_name(), token="skm_wrong", expect=2)
    assert "401" in ran.said


def test_upload_at_the_address_for_reading_is_said(served: Served, programs: Programs, dist: Path) -> None:
    ran = programs.uv("publish", "--publish-url", served.simple, dist / wheel_name(), token=served.token, expect=2)
    assert "405" in ran.said and "simple" in ran.said.lower()


def test_two_servers_over_one_folder_take_a_file_once(served: Served) -> None:
    """Sixteen uploads of one name at once, of two contents, to two processes: one content wins, and its senders all succeed."""
    contents = [a_wheel(name="race"), a_wheel(name="race", extra={"text_tools/more.py": b""})]

    def send(number: int) -> requests.Response:
        url = f"{(served.url, served.closed)[number % 2]}/v1/packs/race/1.0.0/{wheel_name(name='race')}"
        return requests.put(url, data=contents[number // 2 % 2], headers={"Authorization": f"Bearer {served.token}"}, timeout=60)

    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(send, range(16)))
    assert sorted(answer.status_code for answer in answers) == [200] * 7 + [201] + [409] * 8
    winner = {answer.json()["archive_digest"] for answer in answers if answer.ok}
    assert winner == {f"sha256:{digest}" for digest in files_of(served, "race").values()}
