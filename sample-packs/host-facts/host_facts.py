#!/usr/bin/env python3
"""Print facts about a Linux host as JSON. Sizes are bytes, times seconds. What can't be read is null, and said on stderr."""

import json
import os
import platform
import socket
import sys
from pathlib import Path

# File systems that hold no data of their own.
VIRTUAL = frozenset(
    "autofs bpf binfmt_misc cgroup cgroup2 configfs debugfs devpts devtmpfs efivarfs fusectl hugetlbfs mqueue nsfs proc pstore "
    "ramfs securityfs squashfs sysfs tracefs".split()
)
OS_FIELDS = {"name": "NAME", "version": "VERSION_ID", "id": "ID", "title": "PRETTY_NAME"}


def read_os():
    fields = platform.freedesktop_os_release()
    return {"hostname": socket.gethostname(), **{name: fields.get(key) for name, key in OS_FIELDS.items()}}


def read_kernel():
    system = os.uname()
    return {"name": system.sysname, "release": system.release, "machine": system.machine}


def read_cpus():
    lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    models = [line.partition(":")[2].strip() for line in lines if line.startswith(("model name", "Model"))]
    return {"online": os.cpu_count(), "usable": len(os.sched_getaffinity(0)), "model": models[0] if models else None}


def read_memory():
    lines = Path("/proc/meminfo").read_text(encoding="utf-8").splitlines()
    amounts = {name: int(rest.split()[0]) * 1024 for name, _, rest in (line.partition(":") for line in lines)}
    used = amounts["MemTotal"] - amounts["MemAvailable"]
    return {
        "total": amounts["MemTotal"],
        "available": amounts["MemAvailable"],
        "used_percent": round(100 * used / amounts["MemTotal"], 1),
        "swap_total": amounts["SwapTotal"],
        "swap_free": amounts["SwapFree"],
    }


def read_disks():
    disks, seen = [], set()
    for line in Path("/proc/self/mounts").read_text(encoding="utf-8", errors="surrogateescape").splitlines():
        device, mount, kind = (decode_mount(field) for field in line.split()[:3])
        if kind in VIRTUAL or device in seen:
            continue
        try:
            space = os.statvfs(mount)
        except OSError as error:
            print(f"host_facts: {mount!r} can't be measured: {error.strerror}", file=sys.stderr)
            continue
        if space.f_blocks:
            # tmpfs mounts all have the same device name and are different ones.
            seen.update({device} if device.startswith("/") else ())
            disks.append(describe_disk(device, mount, kind, space))
    return disks


def describe_disk(device, mount, kind, space):
    total, free = space.f_blocks * space.f_frsize, space.f_bavail * space.f_frsize
    usable = (space.f_blocks - space.f_bfree + space.f_bavail) * space.f_frsize
    return {
        "device": printable(device),
        "mount": printable(mount),
        "type": kind,
        "total": total,
        "free": free,
        # As df counts: what only root may use is no free space.
        "used_percent": round(100 * (usable - free) / usable, 1) if usable else 100.0,
        "inodes_free_percent": round(100 * space.f_ffree / space.f_files, 1) if space.f_files else None,
    }


def decode_mount(field):
    """The kernel writes space, tab, newline and backslash as octal escapes."""
    for octal, character in (("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")):
        field = field.replace(octal, character)
    return field


def printable(text):
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def read_load():
    one, five, fifteen = os.getloadavg()
    return {"1m": round(one, 2), "5m": round(five, 2), "15m": round(fifteen, 2), "per_cpu_5m": round(five / (os.cpu_count() or 1), 2)}


def read_uptime():
    return {"seconds": float(Path("/proc/uptime").read_text(encoding="ascii").split()[0])}


SECTIONS = {
    "os": read_os,
    "kernel": read_kernel,
    "cpus": read_cpus,
    "memory": read_memory,
    "disks": read_disks,
    "load": read_load,
    "uptime": read_uptime,
}


def read_section(name):
    try:
        return SECTIONS[name]()
    except (OSError, KeyError, ValueError) as error:
        print(f"host_facts: {name} can't be read: {error}", file=sys.stderr)
        return None


def main():
    try:
        wanted = json.load(sys.stdin).get("sections", list(SECTIONS))
        unknown = [name for name in wanted if name not in SECTIONS]
    except (ValueError, AttributeError, TypeError) as error:
        print(f"host_facts: stdin must hold an object whose `sections` is a list: {error}", file=sys.stderr)
        sys.exit(2)
    if unknown:
        print(f"host_facts: unknown sections {unknown}; known: {', '.join(SECTIONS)}", file=sys.stderr)
        sys.exit(2)
    print(json.dumps({name: read_section(name) for name in wanted}))


main()
