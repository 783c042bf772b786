"""What threads do with `KeyedSlots`."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

from plugin_utils.testing.interleaving import Model, step
from tests.interleaving.models import Check, Client, Functions, call, nothing_left

__all__ = ("failing_key", "keyed")


def keyed(library: ModuleType, ops: str, *, max_size: int | None = None) -> Model:
    """Return the model in which each thread makes one call for one key of `KeyedSlots`.

    Args:
        library: The package with the primitives.
        ops: The calls, each as its name and its key: "get:a reset:a".
        max_size: As for `KeyedSlots`.
    """
    calls = [word.split(":") for word in ops.split()]

    def model() -> tuple[Functions, Check]:
        builds: dict[str, list[Client]] = {}

        def factory(key: str) -> Client:
            client = Client()
            builds.setdefault(key, []).append(client)
            step("build")
            return client

        slots: Any = library.KeyedSlots(max_size=max_size, name="slots")

        def do(word: str, key: str) -> Callable[[], object]:
            return call(slots.get, key, factory, key) if word == "get" else call(slots.reset, key)

        def check(results: list[object]) -> None:
            dropped = {key: 0 for _, key in calls}
            for (word, key), result in zip(calls, results, strict=True):
                if word == "get":
                    assert result in builds[key], "get returned no instance of its key"
                else:
                    dropped[key] += result is True
            for key, built in builds.items():
                assert max_size or len(built) <= 1 + dropped[key], "an instance was built twice"
            assert max_size is None or len(slots._table) <= max_size, "the table is too long"
            assert all(slot.built() for slot in slots._table.values()), "an empty slot was left"
            nothing_left(library)

        return [do(word, key) for word, key in calls], check

    return model


def failing_key(library: ModuleType) -> Model:
    """Return the model in which every build of a key fails: it leaves nothing behind."""

    def model() -> tuple[Functions, Check]:
        tries: list[str] = []

        def factory() -> Client:
            tries.append("tried")
            raise ConnectionError

        slots: Any = library.KeyedSlots(name="slots")

        def check(_results: list[object]) -> None:
            assert len(tries) == 2, f"{len(tries)} tries"
            assert not slots._table, "an empty slot was left"
            nothing_left(library)

        return [call(slots.get, "a", factory)] * 2, check

    return model
