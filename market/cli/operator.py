"""Who runs this command."""

from __future__ import annotations

import os
import pwd

from market.model import Caller, Role


def local_operator() -> Caller:
    """Return who runs this command: the person at this machine, who may do everything that needs no approval."""
    user_id = os.getuid()
    try:
        name = pwd.getpwuid(user_id).pw_name
    except KeyError:
        name = str(user_id)
    return Caller(user_id, name, Role.ADMIN)
