"""The program behind the figures of the page on the slot."""

import re
import runpy
import sys
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from typing import IO

import pytest

from plugin_utils import SingletonSlot
from snippets.measure import torn_reads as program
from snippets.measure.torn_reads import TwoFields, main, torn_reads

SCRIPT = Path(__file__).parents[2] / "snippets/measure/torn_reads.py"

# Dropping a file without closing it is what the program is about.
pytestmark = pytest.mark.filterwarnings("ignore:unclosed file:ResourceWarning")


class Torn:
    """A slot whose every read is torn."""

    def get(self, factory: Callable[[], IO[bytes]], /) -> None:
        """Return nothing, always."""

    def reset(self) -> None:
        """Do nothing."""


def test_counts_what_was_torn() -> None:
    """Each `None` is counted, and each read."""
    reads, torn = torn_reads(Torn(), seconds=0.02)
    assert reads == torn > 0


def test_everybody_goes_on_until_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """Readers and the thread that resets stop when their time is over, and not before."""
    clock = threading.local()

    def monotonic() -> float:  # each look at the clock takes a second of the thread that looks
        now: float = getattr(clock, "now", 0.0) + 1
        clock.now = now
        return now

    monkeypatch.setattr(program, "monotonic", monotonic)
    resets: list[None] = []
    slot = Torn()
    monkeypatch.setattr(slot, "reset", lambda: resets.append(None))
    assert program.torn_reads(slot, seconds=2, readers=3) == (900, 900)
    assert len(resets) == 2 + 1


def test_our_slot_is_never_torn() -> None:
    """The slot of the library hands out a file at each read."""
    reads, torn = torn_reads(SingletonSlot[IO[bytes]](), seconds=0.1)
    assert reads > 0
    assert torn == 0


def test_two_fields_build_reset_and_build_anew() -> None:
    """The other form is right as long as one thread uses it."""
    slot = TwoFields()
    first = slot.get(tempfile.TemporaryFile)
    assert first is not None
    assert slot.get(tempfile.TemporaryFile) is first
    slot.reset()
    second = slot.get(tempfile.TemporaryFile)
    assert second is not first
    slot.reset()


def test_two_fields_test_again_under_the_lock(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever waited for another thread's build takes what that one built."""

    class Waited:
        """A lock that was let go when another thread had built."""

        def __enter__(self) -> None:
            monkeypatch.setattr(slot, "_value", built)
            monkeypatch.setattr(slot, "_is_set", True)

        def __exit__(self, *_: object) -> None: ...

    slot = TwoFields()
    monkeypatch.setattr(slot, "_lock", Waited())
    with tempfile.TemporaryFile() as built:
        assert slot.get(lambda: pytest.fail("built a second time")) is built


def test_is_run_by_hand(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The command line says for how many seconds each form runs."""
    monkeypatch.setattr(sys, "argv", ["torn_reads.py", "0.02"])
    runpy.run_path(str(SCRIPT), run_name="__main__")
    assert ", 0.02 s each" in capsys.readouterr().out


def test_prints_a_line_for_each_form(capsys: pytest.CaptureFixture[str]) -> None:
    """The report names the interpreter and both forms."""
    main(0.02)
    head, *lines = capsys.readouterr().out.splitlines()
    assert re.fullmatch(r"\w+ [\d.]+\S*, 0.02 s each", head)
    assert [line.split("  ")[0].strip() for line in lines] == ["two fields", "SingletonSlot"]
