"""Rules of the review before a pack is given away: rows of (id, severity, sentence, fix) for `market.pack.rules`."""

from __future__ import annotations

# fmt: off

Row = tuple[str, str, str, str]

REVIEW_RULES: tuple[Row, ...] = (
    ("secret", "refusal",
     "whoever gets the pack gets the secret", "revoke it, take it out, or allow this place with --allow-secret PATH:LINE"),
    ("hidden-text", "refusal",
     "a model reads what no reviewer sees, and may do what it says", "delete these characters, and write what is meant in plain sight"),
    ("text-reordered", "warning",
     "what is shown isn't what is read, so a reviewer can be deceived (CVE-2021-42574)", "delete the control characters"),
    ("download-run", "warning",
     "what is run is whatever stands there on that day, and nobody has reviewed it",
     "pin a version and check its digest, or name the tool under needs"),
    ("scan-limit", "warning",
     "secrets, hidden text and downloads in it wouldn't be found",
     "leave large data out, or fetch it when it is needed; look into the rest yourself"),
    ("description-when", "warning",
     "models choose a skill by its description: what it does, and when to use it", "add a sentence such as 'Use when ...'"),
    ("guide-field-unknown", "warning",
     "the Agent Skills rule has no such field and its checkers refuse the file; no client gives it a meaning there",
     "move it under metadata, or run `market check --fix`"),
    ("guide-field-list", "warning", "the Agent Skills rule wants one text here",
     "write the parts in one line, or run `market check --fix`"),
    ("script-line-ends", "warning",
     "the first line ends in CRLF, so the system looks for an interpreter whose name ends in a carriage return",
     "save the file with LF line ends, or run `market check --fix-line-ends`"),
    ("file-named-absent", "warning", "whoever follows the text finds no such file", "add the file or correct its path"),
    ("path-length", "warning",
     "`npx skills` cuts a path in a .tar.gz after 100 characters, and Windows stops at 260 with the folders above", "shorten the path"),
    ("path-windows", "warning", "Windows can't make a file of this name", "rename the file"),
    ("junk-file", "warning",
     "systems, tools and editors leave such files behind; they tell of the author's machine, and readers may refuse them",
     "delete it; an archive that is made of a folder leaves it out"),
    ("guide-body-long", "warning",
     "the whole text is loaded when the skill is used; the Agent Skills rule advises less than 500 lines and 5,000 tokens",
     "move parts into files that are read when they are needed"),
    ("prompt-budget", "warning",
     "OpenClaw lists at most 150 skills and 18,000 characters; over that it cuts descriptions, then leaves skills out",
     "shorten the descriptions, or split the pack"),
    ("skill-large", "warning", "clients refuse or cut larger skills: MCP at 512 files and 16 MiB, `npx skills` at 1,000 files",
     "leave files out with .marketignore, or fetch them when they are needed"),
)
