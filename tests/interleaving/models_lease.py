"""Instances that are dropped while somebody uses them."""

from __future__ import annotations

from types import ModuleType
from typing import Any

from plugin_utils.testing.interleaving import Model, step
from tests.interleaving.models import Check, Client, Functions, nothing_left

__all__ = ("leased", "leased_keys")


def leased(library: ModuleType, users: int) -> Model:
    """Return the model in which an instance is reset while it is leased: it stays open meanwhile.

    Args:
        library: The package with the primitives.
        users: How many threads lease it.
    """

    def model() -> tuple[Functions, Check]:
        closed: list[object] = []
        slot: Any = library.SingletonSlot(close=closed.append, name="slot")
        old = slot.get(Client)

        def use() -> bool:
            with slot.lease(Client) as client:
                step("use")
                return client not in closed

        def check(results: list[object]) -> None:
            assert results[0] is True, "reset dropped nothing"
            assert all(results), "an instance was closed in use"
            assert closed == [old], "the dropped instance was not closed once"
            nothing_left(library)

        return [slot.reset, *[use] * users], check

    return model


def leased_keys(library: ModuleType) -> Model:
    """Return the model in which two keys are leased, and there is room for one."""

    def model() -> tuple[Functions, Check]:
        built: list[Client] = []
        closed: list[Client] = []
        slots: Any = library.KeyedSlots(close=closed.append, max_size=1, name="slots")

        def factory() -> Client:
            client = Client()
            built.append(client)
            return client

        def use(key: str) -> bool:
            with slots.lease(key, factory) as client:
                step("use")
                return client not in closed

        def check(results: list[object]) -> None:
            assert all(results), "an instance was closed in use"
            kept = [slot.peek() for slot in slots._table.values()]
            assert len(kept) == 1, f"{len(kept)} instances are kept"
            assert closed == [client for client in built if client is not kept[0]], (
                "an instance that was dropped was not closed once"
            )
            nothing_left(library)

        return [lambda: use("a"), lambda: use("b")], check

    return model
