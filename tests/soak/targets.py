"""What the generator works on: each form of the helpers, and two forms that it must see fail."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from random import Random
from typing import NamedTuple

from plugin_utils import KeyedSlots, SingletonSlot, lazy_singleton
from tests.primitives.two_fields import TwoFields
from tests.soak.ledger import BuildFailedError, Connection, Ledger

__all__ = ("FAILING_BUILDS", "Form", "broken_forms", "forms")

FAILING_BUILDS = 0.05


class Form(NamedTuple):
    """One instance that can be got, leased, looked at and dropped."""

    label: str
    get: Callable[[], object]
    lease: Callable[[], AbstractContextManager[object]]
    peek: Callable[[], object]
    reset: Callable[..., bool]


def forms(ledger: Ledger, random: Random) -> list[Form]:
    """Return an accessor, a slot, and keys of an unbounded and of a bounded table."""
    accessor = lazy_singleton(close=Connection.close)(_factory("accessor", ledger, random))
    slot: SingletonSlot[Connection] = SingletonSlot(close=Connection.close)
    build = _factory("slot", ledger, random)
    table: KeyedSlots[str, Connection] = KeyedSlots(close=Connection.close)
    bounded: KeyedSlots[str, Connection] = KeyedSlots(close=Connection.close, max_size=2)
    return [
        Form("accessor", accessor, accessor.lease, accessor.peek, accessor.reset),
        Form("slot", partial(slot.get, build), partial(slot.lease, build), slot.peek, slot.reset),
        *(_key(key, table, _factory(key, ledger, random)) for key in ("a", "b", "c")),
        *(_leased_key(key, bounded, _factory(key, ledger, random)) for key in ("k", "l", "m", "n")),
    ]


def _factory(label: str, ledger: Ledger, random: Random) -> Callable[[], Connection]:
    """Make a factory that lets other threads in, and fails now and then."""

    def factory() -> Connection:
        with ledger.building(label):
            time.sleep(0)
            if random.random() < FAILING_BUILDS:
                raise BuildFailedError
            return Connection(label, ledger)

    return factory


def _key(key: str, table: KeyedSlots[str, Connection], factory: Callable[[], Connection]) -> Form:
    return Form(
        label=key,
        get=partial(table.get, key, factory),
        lease=partial(table.lease, key, factory),
        peek=partial(table.peek, key),
        reset=partial(table.reset, key),
    )


def _leased_key(
    key: str, table: KeyedSlots[str, Connection], factory: Callable[[], Connection]
) -> Form:
    """Return a key of a table that closes what it evicts: it has no plain `get`."""

    def get() -> object:
        with table.lease(key, factory) as instance:
            return instance

    return _key(key, table, factory)._replace(get=get)


def broken_forms(ledger: Ledger, random: Random) -> list[tuple[Form, str]]:
    """Return wrong forms, each with the violation that must be seen on it."""
    torn = TwoFields(_factory("two fields", ledger, random))
    plain = _Plain(_factory("no lock", ledger, random))
    return [
        (_bare("two fields", torn.get, torn.reset), "a caller has got NoneType"),
        (_bare("no lock", plain.get, plain.reset), "two builds at once"),
    ]


def _bare(label: str, get: Callable[[], object], drop: Callable[[], bool]) -> Form:
    def lease() -> AbstractContextManager[object]:
        return nullcontext(get())

    def peek() -> None:
        return None

    def reset(*_expected: object) -> bool:
        return drop()

    return Form(label, get, lease, peek, reset)


class _Plain:
    """Look, build, store, and nothing around it."""

    def __init__(self, factory: Callable[[], Connection]) -> None:
        self._factory = factory
        self._built: list[Connection] = []

    def get(self) -> object:
        built = self._built
        if not built:
            built = self._built = [self._factory()]
        return built[0]

    def reset(self) -> bool:
        self._built = []
        return True
