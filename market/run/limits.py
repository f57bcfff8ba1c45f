"""Every limit of running a skill, with its unit. The supervisor itself knows none of them: they travel with each request."""

from __future__ import annotations

# As much as a skill may print. Arguments go by stdin, which has no limit of its own; this one bounds what a call holds in memory,
# and the audit log keeps no more than MAX_AUDIT_TEXT_BYTES of it.
MAX_ARGS_BYTES = 16 << 20
MAX_STDOUT_BYTES = 16 << 20
STDERR_TAIL_BYTES = 16 << 10

# What a script gets between TERM and KILL, to put its things in order.
TERM_GRACE_SECONDS = 2.0
# How long output may still arrive after the entry has ended: a `tee` behind it flushes, a daemon that keeps the pipe doesn't hold us.
LINGER_SECONDS = 0.25
# How long the supervisor goes on killing before it reports that something survives (a process in uninterruptible sleep).
KILL_SECONDS = 5.0

SUPERVISORS = 8
QUEUE_SECONDS = 60.0
# What a supervisor may take beyond its call's own time before the host takes it for dead.
REPLY_SLACK_SECONDS = 10.0
RELOOK_PAUSE_SECONDS = 0.01

CHILD_UMASK = 0o077
MAX_CORE_BYTES = 0
MAX_OPEN_FILES = 1024
# Stops a runaway writer before it fills the disk; high enough for a database dump.
MAX_FILE_BYTES = 4 << 30
# What each process may hold of its own data (RLIMIT_DATA). Not address space: node, Java and Go reserve far more of that than they use.
# Stops what would drive the machine into swapping; real packs with numpy, node or Java stay far below.
CALL_MEMORY_BYTES = 4 << 30

PREVIEW_CHARACTERS = 200
STDERR_IN_ERROR_CHARACTERS = 4096
MAX_VIOLATIONS = 50
MAX_DEFAULTS_DEPTH = 32

# An audit row keeps texts up to this size whole, and a preview with the digest of what is larger.
MAX_AUDIT_TEXT_BYTES = 256 << 10
AUDIT_BUSY_SECONDS = 5.0

# A wheel pack's process: how long its code may take to load, how many of them one pack gets when its calls overlap, and how
# long one is kept that nobody calls.
WORKER_START_SECONDS = 30.0
WORKER_PROCESSES = 4
# How long a call waits for the registry to notice that its pack was replaced: the new version's code may have to be loaded first.
RELOOK_SECONDS = WORKER_START_SECONDS + 5.0
WORKER_IDLE_SECONDS = 300.0
# What a worker gets after its requests end, to run its exit handlers, before it is killed.
WORKER_STOP_SECONDS = 2.0
# After the second crash in a row the next start waits, twice as long each time.
WORKER_BACKOFF_SECONDS = 0.5
MAX_WORKER_BACKOFF_SECONDS = 30.0
# A pack whose code couldn't be loaded is tried again by itself, the pause twice as long each time.
RETRY_SECONDS = 5.0
MAX_RETRY_SECONDS = 600.0
MAX_REPLY_HEADER_BYTES = 1 << 20
