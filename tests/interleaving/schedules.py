"""The schedules that the guide shows: found by the explorer, kept beside the racy snippets.

`python -m tests.interleaving.schedules` writes them. Opcodes differ between Python versions, and
schedules with them: the guide shows those of 3.11, the oldest version that the library runs on.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

import snippets.racy
from plugin_utils.testing.interleaving import Model, explore, fresh

__all__ = ("FOLDER", "SCHEDULES", "VERSION", "Schedule")

VERSION = (3, 11)
FOLDER = Path(snippets.racy.__file__).parent / "schedules"


@dataclass(frozen=True)
class Schedule:
    """A racy snippet, and how its threads use it.

    Args:
        snippet: The module's name in `snippets.racy`.
        threads: The functions of the module that run at once.
        wrong: Tells what went wrong, given the module and what the threads returned; "" if nothing.
        before: A function of the module that is called before the threads start.
    """

    snippet: str
    threads: Sequence[str]
    wrong: Callable[[ModuleType, list[object]], str]
    before: str | None = None

    @property
    def path(self) -> Path:
        """The file that keeps the listing."""
        return FOLDER / f"{self.snippet}.txt"

    def find(self) -> str:
        """Return what went wrong in the schedule with the fewest switches, and its listing.

        Raises:
            AssertionError: No schedule goes wrong.
        """
        module = importlib.import_module(f"snippets.racy.{self.snippet}")
        result = explore(self._model(module), watch=[module])
        assert result.failure is not None, f"{self.snippet}: {result}"
        return f"{result.listing}\n\n{result.failure}\n"

    def _model(self, module: ModuleType) -> Model:
        def model() -> tuple[list[Callable[[], object]], Callable[[list[object]], None]]:
            copy = fresh(module)
            if self.before:
                vars(copy)[self.before]()

            def check(results: list[object]) -> None:
                wrong = self.wrong(copy, results)
                if wrong:
                    raise AssertionError(wrong)

            return [vars(copy)[name] for name in self.threads], check

        return model


def _built_twice(module: ModuleType, _results: list[object]) -> str:
    built: int = module.Client.built
    return f"{built} clients were built" if built > 1 else ""


def _none_returned(_module: ModuleType, results: list[object]) -> str:
    return "get_client() returned None" if results[0] is None else ""


SCHEDULES = (
    Schedule("textbook_accessor", ["get_client", "get_client"], _built_twice),
    Schedule("torn_reset", ["get_client", "reset_client"], _none_returned, before="get_client"),
)


def main() -> None:
    """Write the listings."""
    if sys.version_info[:2] != VERSION:
        sys.exit(f"the guide shows the schedules of Python {VERSION[0]}.{VERSION[1]}")
    FOLDER.mkdir(exist_ok=True)
    for schedule in SCHEDULES:
        schedule.path.write_text(schedule.find(), encoding="utf-8")


if __name__ == "__main__":
    main()
