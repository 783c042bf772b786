"""What the guide's page "Inside Hermes" says of Hermes's own helper, and of ours."""

import pytest

from tests.support import child

pytestmark = pytest.mark.usefixtures("hermes_home")
LIMIT = 60.0
OURS = "plugin_utils"
HERMES = "plugins.plugin_utils"


def _interrupt_reads(helper: str) -> None:
    from collections.abc import Callable
    from importlib import import_module
    from itertools import count
    from pathlib import Path

    from tests.hosts.preempt import Preempt

    module = import_module(helper)
    slot = module.SingletonSlot()
    accessor = module.lazy_singleton(object)
    forms = {"slot": (lambda: slot.get(object), slot.reset), "accessor": (accessor, accessor.reset)}
    file = Path(module.__file__ or "")
    files = (str(file if file.stem != "__init__" else file.parent),)
    for name, (get, reset) in forms.items():
        found: set[str] = set()

        def read(get: Callable[[], object] = get, found: set[str] = found) -> None:
            try:
                found.add(type(get()).__name__)
            except IndexError:
                found.add("IndexError")

        for line in count(1):
            get()
            run = Preempt(line, files, limit=2.0)
            run.run(read, reset)
            if not run.place:
                break
        print(name, *sorted(found))


@pytest.mark.parametrize(
    ("helper", "found"),
    [
        (OURS, "slot object\naccessor object\n"),
        (HERMES, "slot NoneType object\naccessor IndexError object\n"),
    ],
    ids=["ours", "hermes"],
)
def test_a_reset_between_any_two_lines_of_a_read(helper: str, found: str) -> None:
    """A read finds a whole instance, wherever the reset comes. Hermes's slot and accessor fail."""
    assert child.run(_interrupt_reads, helper, limit=LIMIT).output == found


def _re_enter(helper: str) -> None:
    from importlib import import_module

    module = import_module(helper)

    def factory() -> object:
        return accessor()

    accessor = module.lazy_singleton(factory)
    accessor()


def test_a_factory_that_calls_its_accessor() -> None:
    """Ours raises `RecursiveBuildError`; Hermes's hangs."""
    assert "RecursiveBuildError" in child.run(_re_enter, OURS, limit=LIMIT, status=1).errors
    with pytest.raises(AssertionError, match=r"(?s)still running.*in accessor"):
        child.run(_re_enter, HERMES, limit=2.0)


def _drop(helper: str, locked: bool) -> None:  # noqa: FBT001 - passed to a child process
    from importlib import import_module

    slot = import_module(helper).SingletonSlot()
    seen: list[bool] = []

    class Client:
        def __del__(self) -> None:
            lock = getattr(slot, "_lock", None)
            seen.append(lock.locked() if lock else slot._gate.holder is not None)

    slot.get(Client)
    slot.reset()
    assert seen == [locked]


@pytest.mark.parametrize(("helper", "locked"), [(OURS, False), (HERMES, True)], ids=str)
def test_finaliser_and_lock(helper: str, locked: bool) -> None:  # noqa: FBT001 - a parameter
    """A dropped instance's finaliser runs with Hermes's lock held, and without ours."""
    child.run(_drop, helper, locked, limit=LIMIT)


def _fork(helper: str, own: bool) -> None:  # noqa: FBT001 - passed to a child process
    import os
    from importlib import import_module

    from tests.support.forked import in_fork

    slot = import_module(helper).SingletonSlot()
    parent = slot.get(os.getpid)

    def work() -> None:
        assert (slot.get(os.getpid) != parent) is own

    in_fork(work)


@pytest.mark.parametrize(("helper", "own"), [(OURS, True), (HERMES, False)], ids=str)
def test_fork(helper: str, own: bool) -> None:  # noqa: FBT001 - a parameter
    """A forked child builds an instance of its own; with Hermes's helper it has the parent's."""
    child.run(_fork, helper, own, limit=LIMIT)
