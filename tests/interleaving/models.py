"""What threads do with the primitives, and what must be true however they take turns.

The library is a parameter: a mutant of it is judged by the same models.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from functools import partial
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from plugin_utils.testing.interleaving import Model

__all__ = (
    "Check",
    "Client",
    "Functions",
    "call",
    "chain",
    "circle",
    "closing",
    "finalised",
    "independent",
    "nothing_left",
    "outdated",
    "use",
)

Functions = Sequence[Callable[[], object]]
Check = Callable[[list[object]], None]


class Client:
    """What the factories build."""


def use(library: ModuleType, face: str, ops: str, *, built: bool) -> Model:
    """Return the model in which each thread makes one call of one accessor or slot.

    Args:
        library: The package with the primitives.
        face: "accessor" or "slot".
        ops: The calls: get, peek, reset, or "expected", a reset of the instance that is there.
        built: Whether there is an instance before the threads start.
    """
    words = ops.split()

    def model() -> tuple[Functions, Check]:
        builds: list[Client] = []
        closed: list[Client] = []

        def factory() -> Client:
            client = Client()
            builds.append(client)
            return client

        singleton, get = _face(library, face, factory, close=closed.append)
        old = get() if built else None
        doing: dict[str, Callable[[], object]] = {
            "get": get,
            "peek": singleton.peek,
            "reset": singleton.reset,
            "expected": lambda: singleton.reset(expected=old),
        }

        def check(results: list[object]) -> None:
            by_word = list(zip(words, results, strict=True))
            got = [result for word, result in by_word if word == "get"]
            dropped = sum(
                result is True for word, result in by_word if word in ("reset", "expected")
            )
            assert all(client in builds for client in got), "get returned no instance"
            assert all(
                result is None or result in builds for word, result in by_word if word == "peek"
            ), "peek returned no instance"
            assert len(builds) <= 1 + dropped, "an instance was built twice"
            assert dropped or len(set(map(id, got))) <= 1, "the threads have different instances"
            assert len(closed) == dropped, "close was not called once for each drop"
            assert len(set(map(id, closed))) == dropped, "an instance was closed twice"
            nothing_left(library)

        return [doing[word] for word in words], check

    return model


def closing(library: ModuleType) -> Model:
    """Return the model in which `close` itself uses the slot: it must run outside every lock."""

    def model() -> tuple[Functions, Check]:
        closed: list[object] = []

        def close(client: Client) -> None:
            closed.append(client)
            again.append(slot.get(Client))

        slot: Any = library.SingletonSlot(close=close, name="slot")
        again: list[object] = []
        old = slot.get(Client)

        def check(results: list[object]) -> None:
            assert results[0] is True, "reset dropped nothing"
            assert closed == [old], "close was not called once"
            assert results[1] in (old, again[0]), "get returned no instance"
            assert again[0] is not old, "close was called before the slot was empty"

        return [slot.reset, lambda: slot.get(Client)], check

    return model


def finalised(library: ModuleType) -> Model:
    """Return the model in which the dropped instance's finaliser uses the slot."""

    def model() -> tuple[Functions, Check]:
        seen: list[object] = []

        class Last:
            def __del__(self) -> None:
                try:
                    seen.append(slot.reset())
                except library.SingletonError as error:
                    seen.append(type(error).__name__)

        slot: Any = library.SingletonSlot(name="slot")

        def build_and_reset() -> object:
            # In one thread: without the GIL, a finaliser runs in the thread that made the object.
            slot.get(Last)
            return slot.reset()

        def check(results: list[object]) -> None:
            assert results[0] is True, "reset dropped nothing"
            assert seen == [False], f"the finaliser, run under the lock, saw {seen}"

        # What peek has found must not outlive the thread: it would keep the instance alive.
        return [build_and_reset, lambda: slot.peek() is None], check

    return model


def circle(library: ModuleType, length: int, *, closed: bool = False) -> Model:
    """Return the model in which each slot's factory needs the next slot, around in a circle.

    Args:
        library: The package with the primitives.
        length: How many slots and threads there are.
        closed: Whether no factory goes on before the next slot is held as well. All threads then
            wait for each other in every schedule.
    """

    def model() -> tuple[Functions, Check]:
        slots = [library.SingletonSlot(name=f"slot {n}") for n in range(length)]
        unheld = [threading.Lock() for _ in slots]
        for lock in unheld:
            lock.acquire()

        def build(n: int) -> object:
            following = (n + 1) % length
            if closed and unheld[n].locked():
                unheld[n].release()
                with unheld[following]:
                    pass
            slots[following].get(build, following)
            return Client()

        def check(results: list[object]) -> None:
            errors = [result for result in results if isinstance(result, library.SingletonError)]
            assert errors, "nobody was told of the circle"
            nothing_left(library)

        return [call(slots[n].get, build, n) for n in range(length)], check

    return model


def chain(library: ModuleType) -> Model:
    """Return the model in which one slot's factory needs another slot, which both threads want."""

    def model() -> tuple[Functions, Check]:
        first, last = (library.SingletonSlot(name=name) for name in ("first", "last"))

        def build() -> object:
            return last.get(Client)

        def check(results: list[object]) -> None:
            assert results[0] is results[1], "the threads have different instances"
            nothing_left(library)

        return [lambda: first.get(build), lambda: last.get(Client)], check

    return model


def outdated(library: ModuleType, gets: int) -> Model:
    """Return the model in which a setting changes, then a reset: nobody may get the old one later.

    Args:
        library: The package with the primitives.
        gets: How many threads call meanwhile. What they build is made from the setting.
    """

    def model() -> tuple[Functions, Check]:
        settings = {"url": "old"}
        slot: Any = library.SingletonSlot(name="slot")

        def factory() -> str:
            return settings["url"]

        def change() -> object:
            settings["url"] = "new"
            return slot.reset()

        def check(results: list[object]) -> None:
            assert set(results[1:]) <= {"old", "new"}, "get returned no instance"
            assert slot.get(factory) == "new", "an instance that was being built outlived the reset"
            nothing_left(library)

        return [change, *[call(slot.get, factory)] * gets], check

    return model


def independent(library: ModuleType, *, keyed: bool) -> Model:
    """Return the model in which one build lasts until another is over: each has its own lock.

    Args:
        library: The package with the primitives.
        keyed: Whether they are two keys of one table, and not two slots.
    """

    def model() -> tuple[Functions, Check]:
        over = threading.Lock()
        over.acquire()

        def slow() -> Client:
            with over:
                return Client()

        def quick() -> object:
            client = get_last(Client)
            over.release()
            return client

        get_first, get_last = _getters(library, keyed=keyed)

        def check(results: list[object]) -> None:
            assert all(isinstance(result, Client) for result in results), "get returned no instance"
            nothing_left(library)

        return [call(get_first, slow), quick], check

    return model


def _getters(library: ModuleType, *, keyed: bool) -> tuple[Callable[..., object], ...]:
    if keyed:
        slots = library.KeyedSlots(name="slots")
        return partial(slots.get, "first"), partial(slots.get, "last")
    return tuple(library.SingletonSlot(name=name).get for name in ("first", "last"))


def _face(
    library: ModuleType, face: str, factory: Callable[[], Client], **options: object
) -> tuple[Any, Callable[[], object]]:
    if face == "accessor":
        accessor = library.lazy_singleton(**options)(factory)
        return accessor, accessor
    slot = library.SingletonSlot(name="slot", **options)
    return slot, lambda: slot.get(factory)


def call(function: Callable[..., object], *arguments: object) -> Callable[[], object]:
    """Return a function of this file, which is watched, that makes the call."""
    return lambda: function(*arguments)


def nothing_left(library: ModuleType) -> None:
    """Check that no thread is left in the graph of waits."""
    waiting = library._gate._waiting
    left = list(waiting)
    waiting.clear()  # a mutant's leftovers must not reach the next schedule
    assert not left, "a wait was left in the graph"
