"""What an executor is: it runs one kind of skill. Which skill, with what and by whom is decided in `market.run.invoke`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from market.errors import Conflict

if TYPE_CHECKING:
    from market.model import Outcome
    from market.registry.live import LiveSkill


class Replaced(Conflict):
    """The pack's directory isn't the one that was found any more: look the skill up again. Nothing has run."""

    slug = "replaced"


class Executor(Protocol):
    """Runs skills of one kind. Called from many threads at once."""

    def execute(self, target: LiveSkill, args_text: str, timeout_seconds: float) -> Outcome:
        """Run the skill with these arguments (the text of a JSON object) and say what came of it.

        A skill that fails, hangs or prints nonsense is an outcome. Raises `Replaced` if the directory that stands there is
        another than `target` names; then nothing has run. Any other MarketError means that the skill couldn't be started.
        """
