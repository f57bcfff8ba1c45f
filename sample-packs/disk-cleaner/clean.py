"""Delete stale build caches, rotated logs and archived journals below one directory.

What counts as stale:
- a regular file inside a build cache (a directory named as in CACHE_NAMES, or `.cache` directly in `node_modules`) that
  has not been written for an hour: the tool that made it makes it again, and one that runs right now is left alone;
- a rotated log (`x.log.1`, `x.log.2.gz`, `x.log-20260101`) or an archived systemd journal (`system@....journal`, `....journal~`)
  that has not been written for seven days. Journals in use (`system.journal`) are never touched.

Links are never followed and never deleted, other file systems are not entered, and all deletes go through directory
descriptors, so nothing outside the given path can be reached even if the tree changes meanwhile.
"""

import json
import os
import re
import stat
import sys
import time

CACHE_NAMES = frozenset({"__pycache__", ".pytest_cache", ".mypy_cache", ".ruff_cache", ".parcel-cache", ".turbo"})
CACHE_AGE_SECONDS = 3600
LOG_AGE_SECONDS = 7 * 24 * 3600

ROTATED = re.compile(r".+\.log(\.\d+|-\d{8})(\.(gz|xz|zst|bz2))?|.+@.+\.journal|.+\.journal~")


def fail(message):
    print(f"disk_cleaner: {message}", file=sys.stderr)
    sys.exit(2)


def read_args():
    try:
        args = json.load(sys.stdin)
    except ValueError as error:
        fail(f"stdin is not JSON: {error}")
    if not isinstance(args, dict):
        fail("stdin must hold an object with `path`")
    path, dry_run = args.get("path"), args.get("dry_run", True)
    if not isinstance(path, str) or not path or "\0" in path:
        fail("`path` must be a directory's path")
    if not isinstance(dry_run, bool):
        fail("`dry_run` must be true or false")
    if not os.path.isabs(path):
        fail(f"`path` must be absolute, and {path!r} is not: it would mean a folder of this pack")
    return path, dry_run


def open_top(path):
    """Resolve the path once and open it; everything else happens below this descriptor."""
    real = os.path.realpath(path)
    if real == "/":
        fail("cleaning the whole machine at once is refused; give a directory below /")
    try:
        return real, os.open(real, os.O_RDONLY | os.O_DIRECTORY)
    except OSError as error:
        fail(f"can't open {path}: {error.strerror}")


def is_cache(parts):
    """Whether a directory, given by its path's parts below the top, is a build cache or lies in one."""
    return any(
        name in CACHE_NAMES or (name == ".cache" and index and parts[index - 1] == "node_modules")
        for index, name in enumerate(parts)
    )


def is_stale(name, in_cache, age):
    return (in_cache and age >= CACHE_AGE_SECONDS) or (bool(ROTATED.fullmatch(name)) and age >= LOG_AGE_SECONDS)


def clean_directory(directory_fd, names, in_cache, dry_run, now):
    """Return bytes and count of what is stale in one directory, deleting it unless this is a dry run."""
    freed = count = 0
    for name in names:
        try:
            status = os.stat(name, dir_fd=directory_fd, follow_symlinks=False)
            if not stat.S_ISREG(status.st_mode) or not is_stale(name, in_cache, now - status.st_mtime):
                continue
            if not dry_run:
                os.unlink(name, dir_fd=directory_fd)
        except OSError as error:
            print(f"skipped {name!r}: {error.strerror}", file=sys.stderr)
            continue
        count += 1
        # The space of a file with a second name is not given back.
        freed += status.st_size if status.st_nlink == 1 else 0
    return freed, count


def clean(top, top_fd, dry_run):
    now, device = time.time(), os.fstat(top_fd).st_dev
    own_parts = [part for part in top.split("/") if part]
    freed = count = 0
    for where, folders, files, directory_fd in os.fwalk(".", dir_fd=top_fd, follow_symlinks=False):
        folders[:] = [name for name in folders if is_same_device(name, directory_fd, device)]
        parts = own_parts + [part for part in where.split("/") if part != "."]
        bytes_here, count_here = clean_directory(directory_fd, files, is_cache(parts), dry_run, now)
        if count_here:
            verb = "would delete" if dry_run else "deleted"
            print(f"{verb} {count_here} files, {bytes_here} bytes in {os.path.normpath(os.path.join(top, where))!r}", file=sys.stderr)
        freed, count = freed + bytes_here, count + count_here
    return {"freed_bytes": freed, "files_deleted": count}


def is_same_device(name, directory_fd, device):
    try:
        return os.stat(name, dir_fd=directory_fd, follow_symlinks=False).st_dev == device
    except OSError:
        return False


def main():
    path, dry_run = read_args()
    top, top_fd = open_top(path)
    print(json.dumps(clean(top, top_fd, dry_run)))


main()
