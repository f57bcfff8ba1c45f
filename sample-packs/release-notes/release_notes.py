#!/usr/bin/env python3
"""Group the commits between two refs of a git repository.

Commits are read as Conventional Commits where they are written so (`feat(api)!: ...`), and by their first word otherwise.
The repository is somebody else's: nothing in its configuration may run a program, and nothing is fetched or written.
"""

import json
import os
import re
import subprocess
import sys

GIT_SECONDS = 45
MAX_COMMITS = 5000
FIELD, RECORD = "\x1f", "\x1e"

GROUPS = {
    "breaking": "Breaking changes",
    "security": "Security",
    "feat": "Features",
    "fix": "Fixes",
    "perf": "Performance",
    "revert": "Reverted",
    "docs": "Documentation",
    "internal": "Internal",
    "other": "Other changes",
}
KINDS = {
    **dict.fromkeys(("feat", "feature", "add", "introduce", "support", "implement"), "feat"),
    **dict.fromkeys(("fix", "bugfix", "hotfix", "correct", "repair"), "fix"),
    **dict.fromkeys(("perf", "optimize", "optimise", "speed"), "perf"),
    **dict.fromkeys(("docs", "doc", "document"), "docs"),
    **dict.fromkeys(("revert",), "revert"),
    **dict.fromkeys(("security", "sec"), "security"),
    **dict.fromkeys(("chore", "ci", "build", "test", "tests", "refactor", "style", "lint", "bump", "deps"), "internal"),
}
CONVENTIONAL = re.compile(r"(?P<kind>[A-Za-z]+)(?:\((?P<scope>[^()]*)\))?(?P<breaking>!)?:\s+(?P<text>.+)")
BREAKING_FOOTER = re.compile(r"^BREAKING[ -]CHANGE:\s+(.+?)(?=\n\n|\n[\w-]+: |\Z)", re.MULTILINE | re.DOTALL)
ISSUE = re.compile(r"#\d+")


class Failure(Exception):
    """Something that the caller can correct, in a sentence."""


def git(repository, *arguments, check=True):
    environment = {
        "PATH": os.environ.get("PATH", os.defpath),
        "LC_ALL": "C.UTF-8",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_OPTIONAL_LOCKS": "0",
    }
    # A repository's own configuration may name programs (signature checks, monitors, hooks): they are switched off.
    safe = ("-c", "log.showSignature=false", "-c", "core.fsmonitor=false", "-c", f"core.hooksPath={os.devnull}", "--no-pager")
    try:
        done = subprocess.run(
            ["git", "-C", repository, *safe, *arguments],
            env=environment, stdin=subprocess.DEVNULL, capture_output=True, timeout=GIT_SECONDS, check=False,
        )
    except FileNotFoundError:
        raise Failure("git is not on the PATH") from None
    except subprocess.TimeoutExpired:
        raise Failure(f"git took longer than {GIT_SECONDS} s") from None
    if check and done.returncode:
        raise Failure(explain(done.stderr.decode("utf-8", "replace").strip(), repository) or f"git ended with code {done.returncode}")
    return done.stdout.decode("utf-8", "replace") if not done.returncode else ""


def explain(message, repository):
    if "dubious ownership" in message:
        return f"{repository} belongs to another user; its administrator can allow it as safe.directory in /etc/gitconfig"
    return message


def resolve(repository, ref):
    # --end-of-options: a ref that starts with a hyphen must not become an option.
    found = git(repository, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{ref}^{{commit}}", check=False).strip()
    if not found:
        raise Failure(f"{ref!r} is no commit, branch or tag of {repository}")
    return found


def find_previous_tag(repository, end):
    return git(repository, "describe", "--tags", "--abbrev=0", f"{end}^", check=False).strip()


def read_commits(repository, start, end):
    shape = "--format=" + FIELD.join(("%H", "%an", "%s", "%b")) + RECORD
    revisions = f"{start}..{end}" if start else end
    text = git(repository, "log", "--no-merges", "--no-color", f"--max-count={MAX_COMMITS + 1}", shape, revisions, "--")
    records = [record.strip("\n").split(FIELD, 3) for record in text.split(RECORD) if record.strip()]
    return [record for record in records if len(record) == 4]


def read_entry(commit, author, subject, body):
    match = CONVENTIONAL.fullmatch(subject)
    known = match and match["kind"].lower() in KINDS
    first = match["kind"] if known else re.split(r"[\s:]", subject, maxsplit=1)[0]
    footer = BREAKING_FOOTER.search(body)
    entry = {
        "hash": commit[:12],
        "text": match["text"] if known else subject,
        "scope": (match["scope"] or "") if known else "",
        "kind": KINDS.get(first.lower(), "other"),
        "author": author,
        "issues": sorted(set(ISSUE.findall(f"{subject}\n{body}")), key=lambda issue: int(issue[1:])),
        "breaking": bool((known and match["breaking"]) or footer),
    }
    if footer:
        entry["breaking_note"] = " ".join(footer[1].split())
    return entry


def group_entries(entries):
    grouped = {name: [] for name in GROUPS}
    for entry in entries:
        grouped["breaking" if entry["breaking"] else entry["kind"]].append(entry)
    return [{"title": GROUPS[name], "entries": found} for name, found in grouped.items() if found]


def write_markdown(title, groups):
    lines = [f"# {title}"]
    for group in groups:
        lines += ["", f"## {group['title']}", ""]
        for entry in group["entries"]:
            scope = f"**{entry['scope']}**: " if entry["scope"] else ""
            lines.append(f"- {scope}{entry['text']} ({entry['hash']})")
            lines += [f"  {entry['breaking_note']}"] if "breaking_note" in entry else []
    return "\n".join([*lines, ""])


def read_args():
    try:
        args = json.load(sys.stdin)
    except ValueError as error:
        raise Failure(f"stdin is not JSON: {error}") from None
    if not isinstance(args, dict):
        raise Failure("stdin must hold an object")
    texts = {name: args.get(name, default) for name, default in (("repository", None), ("from", ""), ("to", "HEAD"), ("title", ""))}
    for name, value in texts.items():
        if not isinstance(value, str) or "\0" in value:
            raise Failure(f"`{name}` must be a text")
    if not os.path.isabs(texts["repository"]):
        raise Failure("`repository` must be an absolute path")
    return texts


def collect(args):
    repository = args["repository"]
    if not os.path.isdir(repository):
        raise Failure(f"there is no directory {repository}")
    git(repository, "rev-parse", "--git-dir")
    end = resolve(repository, args["to"])
    start_name = args["from"] or find_previous_tag(repository, end)
    start = resolve(repository, start_name) if start_name else ""
    commits = read_commits(repository, start, end)
    if len(commits) > MAX_COMMITS:
        raise Failure(f"more than {MAX_COMMITS} commits lie between {start_name or 'the beginning'} and {args['to']}; name a later `from`")
    groups = group_entries([read_entry(*commit) for commit in commits])
    title = args["title"] or f"Changes from {start_name or 'the beginning'} to {args['to']}"
    return {
        "from": start_name,
        "to": args["to"],
        "commits": len(commits),
        "groups": groups,
        "contributors": sorted({commit[1] for commit in commits}),
        "markdown": write_markdown(title, groups),
    }


def main():
    try:
        result = collect(read_args())
    except Failure as failure:
        print(f"release_notes: {failure}", file=sys.stderr)
        sys.exit(2)
    print(json.dumps(result))


main()
