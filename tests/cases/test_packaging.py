"""Cases of archives: the Finder's, those of Windows, lost and dangerous modes, junk and secrets."""

from __future__ import annotations

import stat
from typing import TYPE_CHECKING

import pytest

from tests.cases.road import skill_md
from tests.factories import a_skill_json
from tests.pack.foreign_makers import APPLE_DOUBLE, deflated, python_zip, tar_gz
from tests.pack.hostile import forge

if TYPE_CHECKING:
    from tests.cases.road import Road

RUN = b"#!/bin/sh\ncat >/dev/null\nprintf '{\"ok\": true}\\n'\n"
HELPER = b"#!/bin/sh\necho helper\n"


def finder(**files: bytes) -> bytes:
    """Real files, with what macOS puts beside them."""
    apple = {
        f"__MACOSX/{'/._'.join(path.rsplit('/', 1)) if '/' in path else '._' + path}": APPLE_DOUBLE for path in files
    }
    return python_zip({**files, **apple})


@pytest.mark.parametrize("way", ["index", "install", "upload"])
def test_macos_zip(road: Road, way: str) -> None:
    files = {
        "date-tools/SKILL.md": skill_md("date-tools").encode(),
        "date-tools/.DS_Store": b"\0\0\0\1Bud1",
        "date-tools/.config/rules.yaml": b"keep: true\n",
    }
    archive = finder(**files)
    road.put("finder.zip", archive)
    wanted = {"SKILL.md", ".config/rules.yaml"}
    if way == "index":
        assert road.upload(archive, "date-tools").status == 201
        listed = road.index.get("/v1/packs/date-tools/1.0.0/index.json").json["record"]
        assert {row[0] for row in listed} == wanted
        return
    if way == "upload":
        road.shell("upload", "finder.zip", "--version", "1.0.0")
        road.shell("install", "date-tools")
    else:
        road.shell("install", "finder.zip", "--version", "1.0.0")
    assert set(road.installed()) == {f"date-tools/{path}" for path in wanted}
    assert [skill.key for skill in road.skills()] == ["date-tools"]


def test_macos_zip_flat_and_of_two_skills(road: Road) -> None:
    road.put("flat.zip", finder(**{"SKILL.md": skill_md("date-flat").encode(), ".DS_Store": b"Bud1"}))
    road.shell("install", "flat.zip", "--version", "1.0.0")
    assert set(road.installed()) == {"date-flat/SKILL.md"}
    two = finder(**{f"{name}/SKILL.md": skill_md(name).encode() for name in ("alpha", "beta")})
    road.put("two.zip", two)
    refused = road.shell("install", "two.zip", "--version", "1.0.0", expect=2)
    assert "name" in refused.err and "SKILL.md is missing" not in refused.err
    road.shell("install", "two.zip", "--name", "greek", "--version", "1.0.0")
    assert {skill.key for skill in road.skills()} == {"date-flat", "alpha", "beta"}


def test_windows_zip(road: Road) -> None:
    files = {
        "SKILL.md": skill_md("report-kit").encode(),
        "scripts/run.py": b"print('{}')\n",
        "references/guide.md": b"guide\n",
    }
    windows = forge(
        *(deflated(f"report-kit\\{path}".replace("/", "\\").encode(), content, None) for path, content in files.items())
    )
    road.put("backslash.zip", windows)
    sent = road.shell("upload", "backslash.zip", "--version", "1.0.0", "--json").json
    road.shell("install", "report-kit")
    assert set(road.installed()) == {f"report-kit/{path}" for path in files}
    road.put("linux.zip", python_zip({f"report-kit/{path}": content for path, content in files.items()}))
    again = road.shell("upload", "linux.zip", "--version", "1.0.0", "--json").json
    assert (again["created"], again["tree_digest"]) == (False, sent["tree_digest"])


@pytest.mark.parametrize(
    "name", [rb"report-kit\..\..\..\evil.txt", rb"C:\evil.txt", b"C:evil.txt", rb"\\host\share\x.txt"]
)
def test_windows_zip_that_would_leave(road: Road, name: bytes) -> None:
    archive = forge(deflated(b"SKILL.md", skill_md("drive").encode(), None), deflated(name, b"outside\n", None))
    road.put("evil.zip", archive)
    assert not road.check("evil.zip")["installable"]
    road.shell("install", "evil.zip", "--version", "1.0.0", expect=5)
    road.shell("upload", "evil.zip", "--version", "1.0.0", expect=5)
    assert road.upload(archive, "drive").status == 422
    assert road.installed() == {} and not list(road.folder.rglob("*evil.txt"))


@pytest.mark.parametrize("name", ["no-mode", "mode-644", "mode-755", "setuid"])
def test_exec_bit(road: Road, name: str) -> None:
    key = name.replace("-", "_")

    def archive(version: str) -> bytes:
        manifest = a_skill_json(name=key, version=version, entry="bin/run.sh", env_allow=["PATH"])
        files = {"skill.json": manifest, "bin/run.sh": RUN, "bin/helper.sh": HELPER}
        match name:
            case "no-mode":
                return forge(*(deflated(path.encode(), content, None) for path, content in files.items()))
            case "setuid":
                return tar_gz(
                    {f"setuid/{path}": content for path, content in files.items()},
                    {"setuid/bin/run.sh": 0o6755, "setuid/bin/helper.sh": 0o1777},
                )
            case _:
                return python_zip(files, dict.fromkeys(files, int(name[-3:], 8)))

    suffix = "tar.gz" if name == "setuid" else "zip"
    helper = 0o755 if name in ("mode-755", "setuid") else 0o644
    for version in ("1.0.0", "1.1.0"):
        road.put(f"{name}.{suffix}", archive(version))
        sent = road.shell("upload", f"{name}.{suffix}", "--json").json
        if name == "setuid":
            assert any("6755" in change["text"] for change in sent["changes"])
        road.shell("install", f"{name}@{version}")
        modes = {path: stat.S_IMODE(file.stat().st_mode) for path, file in road.installed().items()}
        assert modes == {f"{name}/bin/run.sh": 0o755, f"{name}/bin/helper.sh": helper, f"{name}/skill.json": 0o644}
        assert road.shell("run", key).json == {"ok": True}
    road.installed()[f"{name}/bin/run.sh"].chmod(0o644)
    assert road.shell("list", "--json").json["items"][0]["state"] == "edited"


KEPT = {
    "SKILL.md": skill_md("ship-kit"), "bin/kit": "#!/bin/sh\necho kit\n", "Dockerfile": "FROM scratch\n", "config/endpoints.tsv": "a\tb\n", "schemas/doc.xsd": "<x/>\n",
    "infra/main.tf": "# tf\n", ".config/rules.yaml": "a: 1\n", ".env.example": "TOKEN=\n", "assets/empty.txt": "", "tool.py": "def call(token=name):\n    return token\n",
}  # fmt: skip
JUNK = (
    ".git/config",
    "node_modules/x/index.js",
    "scripts/__pycache__/a.cpython-311.pyc",
    ".DS_Store",
    "guide.txt~",
    ".guide.txt.swp",
)
SECRETS = (".env", ".env.local", "id_ed25519", "server.pem", ".npmrc")


def junk_tree(road: Road) -> None:
    for path, content in KEPT.items():
        road.put(f"ship-kit/{path}", content, executable=path.startswith("bin/"))
    road.put("ship-kit/assets/components.tar.gz", tar_gz({"a.txt": b"a\n"}))
    for path in (*JUNK, *SECRETS):
        road.put(f"ship-kit/{path}", "x\n")
    road.put("ship-kit/.gitignore", "*.md\n")


def test_publish_junk_and_secrets_the_list_of_files(road: Road) -> None:
    junk_tree(road)
    planned = road.shell("publish", "./ship-kit", "--version", "1.0.0", "--dry-run", "--json", expect=None)
    archived = road.shell("archive", "./ship-kit", "--version", "1.0.0", "-o", "kit.zip", "--json", expect=None)
    assert planned.code == archived.code
    assert planned.code == 0, planned.err + planned.out
    files = {file["path"]: file["size"] for file in planned.json["items"][0]["files"]}
    assert files.keys() - {".gitignore"} == {*KEPT, "assets/components.tar.gz"}
    assert files == {file["path"]: file["size"] for file in archived.json["files"]}
    assert road.upload((road.folder / "kit.zip").read_bytes(), "ship-kit").status == 201
    listed = road.index.get("/v1/packs/ship-kit/1.0.0/index.json").json["record"]
    assert {row[0] for row in listed} == files.keys()
    left = {row["path"].rstrip("/"): row["why"] for row in planned.json["items"][0]["left_out"]}
    for path in (*JUNK, *SECRETS):
        assert any(path == one or path.startswith(f"{one}/") for one in left), path
    assert all(left.values())


def test_publish_junk_and_secrets_a_planted_token(road: Road) -> None:
    junk_tree(road)
    token = "ghp_" + "A1b2C3d4E5f6G7h8I9j0" + "K1l2M3n4O5p6Q7r8"
    road.put("ship-kit/notes.txt", f"first\nCall it with token={token} in the header.\n")
    ran = road.shell("publish", "./ship-kit", "--version", "1.0.0", expect=2)
    assert "notes.txt:2" in ran.err and token not in ran.err
    road.shell("archive", "./ship-kit", "--version", "1.0.0", "-o", "kit.zip", expect=2)
    road.shell("publish", "./ship-kit", "--version", "1.0.0", "--allow-secret", "notes.txt:2")
