"""How often a reader sees something else than a whole instance: `make torn`.

Readers call `get` as fast as they can while another thread resets, with values whose end lets
other threads in. A form that keeps a flag beside the value runs under the same conditions: where
it never fails, the zeros of the others prove nothing.
"""

from __future__ import annotations

import argparse
import platform
import subprocess
import sys
import sysconfig
import tempfile
import threading
import time
import warnings
from collections.abc import Callable, Sequence
from socket import socket
from types import FrameType
from typing import NamedTuple, Protocol, Self

from plugin_utils import SingletonSlot, lazy_singleton
from tests.primitives.two_fields import TwoFields
from tests.support.interpreters import ROOT, Interpreter, choose, find

__all__ = (
    "Count",
    "Form",
    "SlotForm",
    "SlowFinaliser",
    "everywhere",
    "is_free_threaded",
    "main",
    "measure",
    "version",
)

_READERS = 3


class Form(Protocol):
    """What is read and reset."""

    def get(self) -> object:
        """Return the instance."""
        ...

    def reset(self) -> bool:
        """Drop the instance."""
        ...


class AccessorForm:
    """An accessor."""

    def __init__(self, factory: Callable[[], object]) -> None:
        accessor = lazy_singleton(factory)
        self.get = accessor.__call__
        self.reset = accessor.reset


class SlotForm:
    """A slot."""

    def __init__(self, factory: Callable[[], object]) -> None:
        self._factory = factory
        self._slot: SingletonSlot[object] = SingletonSlot()

    def get(self) -> object:
        """Return the instance."""
        return self._slot.get(self._factory)

    def reset(self) -> bool:
        """Drop the instance."""
        return self._slot.reset()


class SlowFinaliser:
    """An instance that lets other threads run while it goes."""

    def __del__(self) -> None:
        time.sleep(0)


class Tracer:
    """A debugger's trace function, which may look at the variables of each line."""

    def __init__(self, *, looks: bool) -> None:
        self._looks = looks

    def __call__(self, frame: FrameType, _event: str, _arg: object) -> Self:
        """Go on tracing."""
        if self._looks:
            _ = frame.f_locals
        return self


FORMS: dict[str, Callable[[Callable[[], object]], Form]] = {
    "accessor": AccessorForm,
    "slot": SlotForm,
    "two fields": TwoFields,
}
VALUES: dict[str, Callable[[], object]] = {
    "temporary file": tempfile.TemporaryFile,
    "socket": socket,
    "slow finaliser": SlowFinaliser,
}
TRACERS: dict[str, Tracer | None] = {
    "no tracer": None,
    "line tracer": Tracer(looks=False),
    "reads f_locals": Tracer(looks=True),
}


class Count(NamedTuple):
    """How many calls readers have made, how often they were reset, and what they found amiss."""

    calls: int
    resets: int
    bad: dict[str, int]

    @property
    def torn(self) -> int:
        """How many calls found something else than a whole instance."""
        return sum(self.bad.values())

    def __str__(self) -> str:
        failures = ", ".join(f"{count:,} {name}" for name, count in self.bad.items()) or "0"
        return f"{self.calls:>12,} {self.resets:>9,}  {failures}"


def measure(form: Form, whole: type, tracer: Tracer | None, seconds: float) -> Count:
    """Let readers and a resetter at the form, and return how many calls found what."""
    stop = threading.Event()
    calls = [0] * _READERS
    bad: dict[str, int] = {}
    counting = threading.Lock()

    def read(reader: int) -> None:
        sys.settrace(tracer)
        while not stop.is_set():
            calls[reader] += 1
            try:
                found = form.get()
            except (AttributeError, IndexError) as error:
                found = error
            if not isinstance(found, whole):
                with counting:
                    name = type(found).__name__
                    bad[name] = bad.get(name, 0) + 1

    readers = [threading.Thread(target=read, args=(number,)) for number in range(_READERS)]
    for reader in readers:
        reader.start()
    end = time.monotonic() + seconds
    resets = 0
    while time.monotonic() < end:
        form.get()
        resets += form.reset()
    stop.set()
    for reader in readers:
        reader.join(60)
    return Count(sum(calls), resets, bad)


def measure_here(seconds: float) -> int:
    """Print the table for this interpreter; return 1 if a form of ours failed, or none did."""
    warnings.simplefilter("ignore", ResourceWarning)  # nothing here is closed by hand
    print(f"\n== Python {version()}")
    print(f"{'':<46} {'calls':>12} {'resets':>9}  not a whole instance")
    failed: set[str] = set()
    for value, factory in VALUES.items():
        for tracing, tracer in TRACERS.items():
            if tracer is not None and value != "temporary file":
                continue  # one value is enough to show that tracing changes nothing
            for name, form in FORMS.items():
                count = measure(form(factory), type(factory()), tracer, seconds)
                print(f"{name:<12} {value:<16} {tracing:<16} {count}", flush=True)
                if count.torn:
                    failed.add(name)
    return 0 if failed == {"two fields"} else 1


def version() -> str:
    """Return the version of this interpreter, with a "t" if it is free-threaded."""
    return f"{platform.python_version()}{'t' * is_free_threaded()}"


def is_free_threaded() -> bool:
    """Return whether this interpreter was built to run without the global lock."""
    return bool(sysconfig.get_config_var("Py_GIL_DISABLED"))


def main(arguments: Sequence[str]) -> int:
    """Measure on every interpreter that is found."""
    parser = argparse.ArgumentParser(prog="make torn", description=__doc__)
    parser.add_argument("--seconds", type=float, default=3.0, help="for each line of the table")
    parser.add_argument("--here", action="store_true", help="on this interpreter only")
    options = parser.parse_args(arguments)
    if options.here:
        return measure_here(options.seconds)
    return everywhere("tests.benchmarks.torn_reads", options.seconds)


def everywhere(module: str, seconds: float) -> int:
    """Run a module of this package with `--here` on each interpreter, and return the worst exit."""
    options = ["--here", "--seconds", str(seconds)]
    interpreters = choose([each for each in find() if isinstance(each, Interpreter)]).values()
    return max(
        subprocess.run([each.executable, "-m", module, *options], cwd=ROOT, check=False).returncode
        for each in interpreters
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
