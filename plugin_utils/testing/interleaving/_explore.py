"""`explore`: runs a model under every schedule that matters."""

from __future__ import annotations

import gc
import math
import re
import sys
import threading
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import FunctionType, ModuleType
from typing import TYPE_CHECKING, Final, NamedTuple

from plugin_utils.testing.interleaving import _canary
from plugin_utils.testing.interleaving._errors import ExplorerError
from plugin_utils.testing.interleaving._fresh import code_of
from plugin_utils.testing.interleaving._instrument import Instrument, codes_in, nested
from plugin_utils.testing.interleaving._locks import replaced
from plugin_utils.testing.interleaving._report import listing
from plugin_utils.testing.interleaving._run import Run
from plugin_utils.testing.interleaving._search import Search

if TYPE_CHECKING:
    from plugin_utils.testing.interleaving._record import Action, Outcome

__all__ = ("Model", "Result", "explore")

# Makes everything anew and returns the threads' functions, and the check of what they returned.
Model = Callable[[], tuple[Sequence[Callable[[], object]], Callable[[list[object]], object]]]

_HERE: Final = Path(__file__).parent
_OURS: Final = {str(path) for path in _HERE.glob("*.py")} - {_canary.__file__}
_COLLECT_EVERY: Final = 200  # schedules


@dataclass(frozen=True)
class Result:
    """What an exploration has found.

    Args:
        failure: What went wrong in the schedule that failed; None if none did.
        listing: That schedule, a column for each thread.
        schedules: How many schedules were run to their end.
        redundant: How many were given up, as reorderings of one that was run.
        exhausted: Whether no schedule was left to run.
        bound: The greatest number of forced switches; None if all schedules were asked for.
        switches: The forced switches of the schedule that failed.
        schedule: The thread that was chosen at each of its decisions.
        seconds: How long it took.
    """

    failure: str | None
    listing: str | None
    schedules: int
    redundant: int
    exhausted: bool
    bound: int | None
    switches: int
    schedule: tuple[int, ...] = field(repr=False)
    seconds: float = field(repr=False)

    @property
    def proved(self) -> bool:
        """Whether every schedule that matters was run, within the bound, and none failed."""
        return self.failure is None and self.exhausted

    def __str__(self) -> str:
        count = f"{self.schedules} schedule{'s' * (self.schedules != 1)}"
        limit = "" if self.bound is None else f" with at most {self.bound} forced switches"
        if self.failure is None:
            end = "all there are" if self.exhausted else "stopped at the time limit"
            return f"no failure in {count}{limit}, {end}"
        return f"{self.failure}\n(schedule {self.schedules}{limit})\n\n{self.listing}"


def explore(
    model: Model,
    *,
    watch: Sequence[ModuleType] = (),
    hide: Sequence[ModuleType] = (),
    bound: int | None = None,
    allow: tuple[type[BaseException], ...] = (),
    seconds: float = 60.0,
) -> Result:
    """Run a model under every schedule that matters, and return the first failure or none.

    One thread runs at a time. Before each opcode that can touch something shared, the explorer
    decides which thread goes on. It tries every choice that can lead to another outcome, on the
    code as it is: nothing in it has to be changed. `threading.Lock` and `RLock`, and what
    `threading` builds on them, take part; so do locks in the globals of the watched modules.

    What it does not see: code in C runs in one piece, and so does Python code that is not watched.
    If such code calls watched code back, as `functools.cache` does, the others can have their turn
    in the callback, and when it ends. A thread that blocks in such code on anything but a lock
    cannot be explored.

    A schedule fails if a thread raises an error that is not allowed, if the threads wait for each
    other, or if the check raises `AssertionError`. The failing schedule is searched again for one
    with fewer forced switches, replayed at once, and listed.

    Concurrency: one exploration at a time in a process; the locks of `threading` are replaced and
    the garbage collector is paused while it runs.

    Args:
        model: Called for each schedule. Makes everything anew; returns the functions to run, each
            in a thread of its own, and a check that is called with what they returned. Errors that
            are allowed stand in the place of a value.
        watch: Modules whose code is run opcode by opcode, in addition to the file of the model, the
            files of the functions that it returns, this library, and `threading`.
        hide: Modules whose lines the listing leaves out. They are watched all the same.
        bound: Run only schedules with at most so many forced switches. Most races need one or two.
        allow: Errors that a thread may raise.
        seconds: Stop after so many seconds; `Result.exhausted` is False then.

    Raises:
        ExplorerError: The model cannot be judged: it is not deterministic, it has no threads, a
            thread blocks out of sight, a thread runs no watched code, or this Python does not
            report opcodes.

    Example:
        ```python
        from plugin_utils import lazy_singleton
        from plugin_utils.testing import explore

        def two_first_calls():
            built = []

            @lazy_singleton
            def client():
                built.append("client")
                return object()

            def check(results):
                assert len(built) == 1
                assert results[0] is results[1]

            return [client, client], check

        assert explore(two_first_calls).proved
        ```
    """
    started = time.monotonic()
    with _prepared(model, watch) as run:
        run.hidden = {module.__file__ for module in (threading, *hide) if module.__file__}
        _require_canary(run)
        search = Search(bound)
        hunt = _Hunt(run, model, allow, started + seconds)
        found = hunt.first_failure(search)
        exhausted = hunt.exhausted
        shown = None
        if found:
            found = hunt.with_fewest_switches(found)
            shown = hunt.replayed(found)
    return Result(
        failure=found and found.failure,
        listing=shown,
        schedules=search.schedules,
        redundant=search.redundancies,
        exhausted=exhausted,
        bound=bound,
        switches=found.search.switches if found else 0,
        schedule=tuple(found.search.schedule) if found else (),
        seconds=time.monotonic() - started,
    )


class _Found(NamedTuple):
    """A failure, and the search whose current schedule leads to it."""

    failure: str
    search: Search


class _Hunt:
    """Runs one model under the schedules of one search after another."""

    def __init__(
        self, run: Run, model: Model, allow: tuple[type[BaseException], ...], deadline: float
    ) -> None:
        self._run = run
        self._model = model
        self._allow = allow
        self._deadline = deadline
        self.exhausted = False

    def first_failure(self, search: Search) -> _Found | None:
        """Run schedules until one fails, none is left, or time is up."""
        self.exhausted = False
        self._run.search = search
        while time.monotonic() < self._deadline:
            failure = self._once()
            if not search.end():
                continue
            if failure:
                return _Found(failure, search)
            if not search.advance():
                self.exhausted = True
                break
            if search.schedules % _COLLECT_EVERY == 0:
                gc.collect()
        return None

    def with_fewest_switches(self, found: _Found) -> _Found:
        """Return a failure that needs as few forced switches as any, if time allows."""
        for bound in range(found.search.switches):
            if fewer := self.first_failure(Search(bound)):
                return fewer
        return found

    def replayed(self, found: _Found) -> str:
        """Run the failing schedule once more, and return its listing."""
        self._run.search = found.search
        record: list[Action] = []
        self._run.record = record
        functions, check = self._model()
        outcome = self._run.once(functions)
        self._run.record = None
        again = outcome and self._judge(outcome, check)
        if outcome is None or _without_addresses(again) != _without_addresses(found.failure):
            msg = (
                f"the model is not deterministic: {found.failure!r} did not happen again when the "
                "same schedule was replayed. Make all state anew in the model function."
            )
            raise ExplorerError(msg)
        return listing(functions, record, outcome, self._run.hidden)

    def _once(self) -> str | None:
        functions, check = self._model()
        outcome = self._run.once(functions)
        if outcome is None:
            return None
        if outcome.unwatched:
            threads = ", ".join(f"T{index}" for index in outcome.unwatched)
            msg = f"{threads} ran no code that is watched: pass its module as watch=[module]"
            raise ExplorerError(msg)
        return self._judge(outcome, check)

    def _judge(self, outcome: Outcome, check: Callable[[list[object]], object]) -> str | None:
        if outcome.deadlock:
            return f"deadlock: {outcome.deadlock}"
        results = list(outcome.values)
        for thread, error in enumerate(outcome.errors):
            if isinstance(error, self._allow):
                results[thread] = error
            elif error:
                return f"T{thread} raised {type(error).__name__}: {error}"
        try:
            check(results)
        except AssertionError as failed:
            return str(failed) or "the check failed"
        return None


def _without_addresses(text: str | None) -> str | None:
    return text and re.sub(r"0x[0-9a-fA-F]+", "0x", text)


def _require_canary(run: Run) -> None:
    """Refuse to judge where the explorer would see nothing, and so pass everything."""
    with suppress(ExplorerError):
        if _Hunt(run, _canary.canary, (), math.inf).first_failure(Search(bound=1)):
            return
    msg = (
        "the explorer is blind here: it did not find a race that is certain to be there. "
        "Something has switched off the reports of opcodes in this process, such as a debugger."
    )
    raise ExplorerError(msg)


@contextmanager
def _prepared(model: Model, watch: Sequence[ModuleType]) -> Generator[Run]:
    """Watch the code, replace the locks, and keep the garbage collector from cutting in."""
    threads = model()[0]
    if not threads:
        msg = "the model returned no functions: nothing would be run. Return one for each thread."
        raise ExplorerError(msg)
    functions = [_plain(function) for function in (model, *threads)]
    files = _files(functions, watch)
    modules = [m for m in list(sys.modules.values()) if getattr(m, "__file__", None) in files]
    namespaces = [
        *map(vars, modules),
        *(function.__globals__ for function in functions if function),
    ]
    codes = [
        *codes_in(namespaces, files),
        *nested(function.__code__ for function in functions if function),
        *nested(code for code in map(code_of, watch) if code),
    ]
    run = Run()
    instrument = Instrument(files, _OURS, run.reach)
    run.files, run.watched = files, instrument.thread
    run.entering = instrument.callbacks.thread
    with ExitStack() as stack:
        stack.enter_context(_no_collection())
        stack.enter_context(replaced(namespaces))
        stack.enter_context(instrument.installed(codes))
        stack.enter_context(run)
        yield run


def _plain(function: object) -> FunctionType | None:
    """Return the Python function behind a method, or None if there is none."""
    plain = getattr(function, "__func__", function)
    return plain if isinstance(plain, FunctionType) else None


def _files(functions: Sequence[FunctionType | None], watch: Sequence[ModuleType]) -> set[str]:
    library = [m for name, m in sys.modules.items() if name.startswith("plugin_utils.")]
    files = {module.__file__ for module in (*watch, *library, threading) if module.__file__}
    files.update(function.__code__.co_filename for function in functions if function)
    testing = str(_HERE.parent)
    return {file for file in files if not file.startswith(testing)} | {_canary.__file__}


@contextmanager
def _no_collection() -> Generator[None]:
    """Keep the garbage collector from running finalisers in the middle of a schedule."""
    enabled = gc.isenabled()
    gc.disable()
    gc.freeze()  # what is there now need not be looked at in the passes between schedules
    try:
        yield
    finally:
        gc.unfreeze()
        if enabled:
            gc.enable()
