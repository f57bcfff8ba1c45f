"""What runs in the process of a wheel pack: load its code from the leased directory, say what it offers, and serve calls.

The standard library only, and nothing of Market but `worker_shape.py` beside it: `worker.py` loads both by their place. Requests and
replies are lines of JSON on pipes of their own; the pack's prints go to stderr. One call at a time.
"""

from __future__ import annotations

import importlib
import importlib.machinery
import json
import os
import resource
import signal
import sys
import time
import traceback
from types import CodeType, ModuleType, SimpleNamespace

TYPE_CHECKING = False  # `typing` itself would double the start-up time
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any, BinaryIO

    from market.run.worker_shape import Offered, Unfit, Unrunnable, check_folders, find_hooks, read_function, read_hook
else:
    from worker_shape import Offered, Unfit, Unrunnable, check_folders, find_hooks, read_function, read_hook

GROUP = "market.skills"
HOOK_EXECUTE = "market_execute"
HOOK_SKILLS = "market_skills"
PR_SET_CHILD_SUBREAPER = 36
PROCESSES = "/proc/"
KILL_ROUNDS = 2000
KILL_PAUSE_SECONDS = 0.001
MAX_ERROR_CHARACTERS = 4096


class PackLoader(importlib.machinery.SourceFileLoader):
    """Compiles each module from its source: cached bytecode beside it could be anything, and nobody compares it with the record."""

    def get_code(self, fullname: str) -> CodeType:
        """Return the code of the source that stands there."""
        path = self.get_filename(fullname)
        return self.source_to_code(self.get_data(path), path)


class Lack:
    """Why a declared function isn't there: the kind is one of `market.run.worker_reply.LackKind`."""

    def __init__(self, kind: str, why: str) -> None:
        self.kind = kind
        self.why = why


class PackCode:
    """The pack's code in this process: its plugins, and the functions that its files declare."""

    def __init__(self, top: str) -> None:
        self.top = top
        self.offered: dict[str, Offered | Lack] = {}
        self.plugins: list[object] = []
        self.hooks: list[tuple[str, object, Offered]] = []

    def load(self, targets: dict[str, list[str]]) -> dict[str, object]:
        """Load the plugins and every declared function; return what there is, for the host to compare."""
        points = list(read_entry_points(self.top))
        self.plugins = [load_object(target) for _, target in points]
        self.hooks = list(find_all_hooks(self.plugins, [name for name, _ in points]))
        folders = self.find_folders()
        for key, (module, function) in targets.items():
            self.offered[key] = find_function(module, function)
        offers = {
            key: [found.kind, found.why] if isinstance(found, Lack) else None for key, found in self.offered.items()
        }
        return {
            "python": sys.version.split()[0],
            "offers": offers,
            "folders": folders,
            "plugins": [name for name, _ in points],
        }

    def find_folders(self) -> list[str] | None:
        """Ask the plugins for their skills' folders; None where none of them answers."""
        asked = [(plugin, one) for hook, plugin, one in self.hooks if hook == HOOK_SKILLS]
        if not asked:
            named = [(plugin, getattr(plugin, HOOK_SKILLS, None)) for plugin in self.plugins]
            asked = [(plugin, read_hook(HOOK_SKILLS, found)) for plugin, found in named if callable(found)]
        # One by one, since a relative folder is seen from the plugin that names it.
        found = {self.place(plugin, folder) for plugin, one in asked for folder in check_folders(one.function())}
        return sorted(found) if asked else None

    def place(self, plugin: object, folder: object) -> str:
        """Return a folder as a path inside the pack; a relative one is seen from the plugin's package."""
        path = os.fspath(folder)  # type: ignore[call-overload]
        if not os.path.isabs(path):  # noqa: PTH117
            module = plugin if isinstance(plugin, ModuleType) else sys.modules.get(getattr(plugin, "__module__", ""))
            base = os.path.dirname(getattr(module, "__file__", "") or self.top)  # noqa: PTH120
            path = os.path.join(base, path)  # noqa: PTH118
        return os.path.relpath(path, self.top)

    def run(self, request: dict[str, Any], params: object) -> object:
        """Make one call."""
        key = request["key"]
        offered = self.offered.get(key) or find_function(*request["target"])
        if isinstance(offered, Lack):
            raise LookupError(offered.why)
        context = SimpleNamespace(key=key, **request["context"])
        if request["target"][1] != HOOK_EXECUTE:
            return offered.call(key, params, context)
        asked = [one for hook, _, one in self.hooks if hook == HOOK_EXECUTE] or [offered]
        for one in asked:
            if (result := one.call(key, params, context)) is not None:
                return result
        raise Unfit(f"none of its plugins runs {key}: {HOOK_EXECUTE} returned None, which says that it isn't theirs")


def read_entry_points(top: str) -> Iterator[tuple[str, str]]:
    """Yield name and target of each plugin that the wheel declares."""
    for name in sorted(os.listdir(top)):
        if name.endswith(".dist-info"):
            with open(f"{top}/{name}/entry_points.txt", encoding="utf-8") as file:  # noqa: PTH123
                yield from parse_points(file.read())


def parse_points(text: str) -> Iterator[tuple[str, str]]:
    """Yield name and target of each line of our group, as `market.pack.entry_points` reads them: what it refuses was never installed."""
    is_ours = False
    for line in text.splitlines():
        if line.startswith("["):
            is_ours = line == f"[{GROUP}]"
        elif is_ours and "=" in line and not line.startswith("#"):
            name, _, target = line.partition("=")
            yield name.rstrip(), target.strip()


def load_object(target: str) -> object:
    """Import what `module` or `module:attribute` names."""
    module, _, attribute = target.partition(":")
    found: object = importlib.import_module(module)
    for name in filter(None, attribute.split(".")):
        found = getattr(found, name)
    return found


def market_skills() -> list[str]:
    """Return the folders with the plugin's skills: paths, relative ones seen from the plugin's package."""
    return []


def market_execute(key: str, params: object, context: object) -> object:
    """Run the skill `key` with its arguments and return its result; None says that it isn't this plugin's."""
    return None


class ModuleSpec:
    """Holds both specifications for pluggy, which reads them off an object."""

    def __init__(self, skills: object, execute: object) -> None:
        self.market_skills = skills
        self.market_execute = execute


def find_all_hooks(plugins: list[object], names: list[str]) -> Iterator[tuple[str, object, Offered]]:
    """Yield the implementations that pluggy knows, with their plugins; none where the pack doesn't use pluggy.

    The last plugin comes first, as pluggy would call them.
    """
    pluggy: Any = sys.modules.get("pluggy")
    if pluggy is None:
        return
    specified = pluggy.HookspecMarker("market")
    manager = pluggy.PluginManager("market")
    manager.add_hookspecs(ModuleSpec(specified(market_skills), specified(firstresult=True)(market_execute)))
    for plugin, name in reversed(list(zip(plugins, names, strict=True))):
        for hook, offered in find_hooks(manager, plugin):
            yield hook, plugin, offered
        manager.register(plugin, name=name)
    manager.check_pending()


def find_function(module: str, function: str) -> Offered | Lack:
    """Return a declared function, or why it isn't there."""
    try:
        found = getattr(importlib.import_module(module), function, None)
    except BaseException as error:  # a module may even exit when it is imported
        print_error(error)
        return Lack("import", f"its module {module} can't be imported: {describe(error)}")
    if not callable(found):
        return Lack("function", f"its module {module} has no function {function!r}")
    try:
        return read_function(f"its function {module}:{function}", found)
    except Unfit as unfit:
        return Lack("runs" if isinstance(unfit, Unrunnable) else "arguments", str(unfit))


def print_error(error: BaseException) -> None:
    """Write an exception to stderr as the pack's author sees it, without the frames of this file."""
    trace = error.__traceback__
    while trace is not None and trace.tb_frame.f_code.co_filename == __file__:
        trace = trace.tb_next
    traceback.print_exception(type(error), error, trace)


def describe(error: BaseException) -> str:
    """Put an exception into one line."""
    if isinstance(error, SystemExit):
        return f"it called exit({repr(error.code)[:MAX_ERROR_CHARACTERS]})"
    if isinstance(error, Unfit):
        return str(error)[:MAX_ERROR_CHARACTERS]
    text = str(error)[:MAX_ERROR_CHARACTERS]
    most = resource.getrlimit(resource.RLIMIT_DATA)[0]
    if isinstance(error, MemoryError) and most != resource.RLIM_INFINITY:
        text = f"a process of a call may hold {most} bytes ({most >> 20} MiB)"
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def answer(code: PackCode, request: dict[str, Any], args: bytes) -> tuple[str, str, bytes]:
    """Run one call and return kind, error and the result's JSON."""
    try:
        result = code.run(request, json.loads(args))
    except Unfit as unfit:
        return "failed", str(unfit), b""
    except BaseException as error:  # whatever the pack raises is the call's outcome, not this process's end
        print_error(error)
        return "failed", f"it raised {describe(error)}" if not isinstance(error, SystemExit) else describe(error), b""
    try:
        body = json.dumps(result, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()
    except (TypeError, ValueError, RecursionError) as error:
        return "failed", f"its result is not JSON: {error}", b""
    if len(body) > request["result_limit"]:
        return "failed", f"OUTPUT LIMIT: {len(body)} bytes of result, at most {request['result_limit']} are taken", b""
    return "ok", "", body


def end_children() -> None:
    """Kill what a call left running: nothing of a call outlives it. As subreaper we are the parent of all that went away."""
    for _ in range(KILL_ROUNDS):
        try:
            ended, _ = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if not ended:
            for task in os.listdir("/proc/self/task"):
                kill_children(f"/proc/self/task/{task}/children")
            time.sleep(KILL_PAUSE_SECONDS)


def forget_forkserver() -> None:
    """Have `multiprocessing` start its server anew in the next call: it would wait for the one that we killed, and fail."""
    server: Any = getattr(sys.modules.get("multiprocessing.forkserver"), "_forkserver", None)
    if server is not None and server._forkserver_pid is not None:
        os.close(server._forkserver_alive_fd)
        server._forkserver_address = server._forkserver_alive_fd = server._forkserver_pid = None


def kill_children(listing: str) -> None:
    """Kill the processes that the kernel lists as a thread's children."""
    try:
        with open(listing, encoding="ascii") as file:  # noqa: PTH123
            pids = file.read().split()
    except OSError:
        return
    for pid in pids:
        try:
            os.kill(int(pid), signal.SIGKILL)
        except OSError:
            continue


class Surroundings:
    """Environment and working folder of the calls, changed only where they differ from the last call's."""

    def __init__(self, top: str) -> None:
        self.top = top
        self.environment: dict[str, str] = {}
        self.umask = os.umask(0)
        os.umask(self.umask)

    def enter(self, request: dict[str, Any]) -> None:
        """Give the next call what its skill's manifest allows, as a process of its own would get it."""
        if request["environment"] != self.environment or os.environ != self.environment:
            self.environment = request["environment"]
            os.environ.clear()
            os.environ.update(self.environment)
        os.umask(self.umask)
        # An alarm that the last call set would end this one.
        signal.setitimer(signal.ITIMER_REAL, 0)
        os.chdir(f"{self.top}/{request['folder']}")


def find_in_pack(path: str) -> importlib.machinery.FileFinder:
    """Return what finds modules in a directory of the pack, which is seen through an open descriptor; raises ImportError for others."""
    if not path.startswith(PROCESSES):
        raise ImportError(path)
    return importlib.machinery.FileFinder(
        path,
        (importlib.machinery.ExtensionFileLoader, importlib.machinery.EXTENSION_SUFFIXES),
        (PackLoader, importlib.machinery.SOURCE_SUFFIXES),
    )


def compile_from_source() -> None:
    """Have the pack's modules compiled from their source; to be called before anything looks for one."""
    sys.path_hooks.insert(0, find_in_pack)


def prepare(pack: int) -> str:
    """Make the pack's open directory the place from which code comes, whatever stands under its path by now."""
    os.dup2(2, 1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    sys.stdout = open(1, "w", encoding="utf-8", errors="backslashreplace", buffering=1, closefd=False)  # noqa: SIM115
    os.set_inheritable(pack, True)
    # By our number, not `self`: processes that `multiprocessing` starts take over the path, and no descriptor.
    top = f"{PROCESSES}{os.getpid()}/fd/{pack}"
    compile_from_source()
    sys.path += [top, f"{top}/.site"]
    os.environ.clear()
    os.chdir(top)
    return top


def reply(descriptor: int, header: dict[str, object], body: bytes = b"") -> None:
    """Write a header line and the body behind it."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError, AttributeError):
            continue
    message = memoryview(json.dumps({**header, "size": len(body)}).encode() + b"\n" + body)
    while message:
        message = message[os.write(descriptor, message) :]


def serve(requests: int, replies: int, pack: int) -> None:
    """Load the pack, then answer calls until the host closes its end."""
    importlib.import_module("ctypes").CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1)
    top = prepare(pack)
    stream = open(requests, "rb", closefd=False)  # noqa: SIM115
    code, surroundings, own = PackCode(top), Surroundings(top), os.getpid()
    hello = json.loads(stream.readline() or b"null")
    if hello is None:
        return
    try:
        found = code.load(hello["targets"])
    except BaseException as error:  # whatever a module does when it is imported
        if not isinstance(error, Unfit):
            print_error(error)
        # In one line: what is below the first is taken for the traceback.
        reply(replies, {"kind": "failed", "id": 0, "error": " ".join(describe(error).split())})
        return
    if os.getpid() == own:
        reply(replies, {"kind": "hello", "id": 0, **found})
        serve_calls(stream, replies, code, surroundings, own)


def serve_calls(stream: BinaryIO, replies: int, code: PackCode, surroundings: Surroundings, own: int) -> None:
    """Answer one call after the other."""
    while header := stream.readline():
        request = json.loads(header)
        args = stream.readline()
        surroundings.enter(request)
        kind, error, body = answer(code, request, args)
        if os.getpid() != own:
            os._exit(1)  # a copy of us that the call forked, and that came back from it
        end_children()
        forget_forkserver()
        reply(replies, {"kind": kind, "error": error, "id": request["id"]}, body)
