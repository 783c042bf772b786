"""`KeyedSlots`: one instance a key, parallel keys, nothing left behind, safe eviction."""

from __future__ import annotations

import copy
import os
import pickle
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Literal

import pytest

from plugin_utils import KeyedSlots, RecursiveBuildError
from plugin_utils.testing import run_together
from tests.support import child
from tests.support.waiting import wait_until

LIMIT = 10.0  # seconds; what a wait may take before the test fails


class Client:
    """Knows whether it is open, and that it is closed once."""

    def __init__(self, key: object = None) -> None:
        self.key = key
        self.open = True

    def close(self) -> None:
        """Close; a second time is a fault."""
        assert self.open
        self.open = False


class Held:
    """A factory that starts, and goes on when it is told."""

    def __init__(self, outcome: object = None) -> None:
        self.started = threading.Event()
        self.go_on = threading.Event()
        self.outcome = outcome

    def __call__(self) -> object:
        """Start, wait, and end as was said."""
        self.started.set()
        assert self.go_on.wait(LIMIT)
        if isinstance(self.outcome, Exception):
            raise self.outcome
        return self.outcome


@pytest.fixture
def pool() -> Iterator[ThreadPoolExecutor]:
    """Threads for builds that wait."""
    with ThreadPoolExecutor(8) as threads:
        yield threads


@pytest.mark.promise(21)
@pytest.mark.learned("two-locks-for-one-key")
def test_one_build_for_each_key() -> None:
    """64 threads over 8 keys build 8 instances, and each key's callers share one."""
    slots: KeyedSlots[int, Client] = KeyedSlots()
    counts: list[int] = []

    def build(key: int) -> Client:
        counts.append(key)
        return Client(key)

    tickets = iter(range(64))

    def call() -> Client:
        key = next(tickets) % 8
        return slots.get(key, build, key)

    got = run_together(64, call)
    assert sorted(counts) == list(range(8))
    assert len({id(client) for client in got}) == 8
    assert all(slots.peek(int(str(client.key))) is client for client in got)


@pytest.mark.promise(21)
@pytest.mark.learned("factory-under-the-table-lock")
def test_slow_key_does_not_delay_another(pool: ThreadPoolExecutor) -> None:
    """While one key's factory is held, another key is built, reset and leased."""
    slots: KeyedSlots[str, object] = KeyedSlots()
    slow = Held("slow")
    pending = pool.submit(slots.get, "slow", slow)
    assert slow.started.wait(LIMIT)
    assert slots.get("quick", lambda: "quick") == "quick"
    with slots.lease("quick", str) as leased:
        assert leased == "quick"
    assert slots.reset("quick")
    assert not pending.done()
    slow.go_on.set()
    assert pending.result(LIMIT) == "slow"


@pytest.mark.promise(21)
def test_failed_key_leaves_nothing_behind() -> None:
    """A key whose build fails is not in the table once its caller has left."""
    slots: KeyedSlots[str, object] = KeyedSlots()

    def fail() -> object:
        raise OSError("down")

    with pytest.raises(OSError, match="down"):
        slots.get("key", fail)
    assert slots._table == {}
    assert "key" not in slots


@pytest.mark.promise(21)
@pytest.mark.learned("two-locks-for-one-key")
def test_waiters_of_a_failed_build_retry_in_the_same_slot(pool: ThreadPoolExecutor) -> None:
    """While waiters retry, a newcomer for the key joins them: still one build at a time."""
    slots: KeyedSlots[str, object] = KeyedSlots()
    first, second = Held(OSError("down")), Held("up")
    failing = pool.submit(slots.get, "key", first)
    assert first.started.wait(LIMIT)
    retrying = pool.submit(slots.get, "key", second)
    slot = slots._table["key"]
    wait_until(lambda: len(slot.users) == 2)
    first.go_on.set()
    with pytest.raises(OSError, match="down"):
        failing.result(LIMIT)
    assert second.started.wait(LIMIT)
    assert slots._table["key"] is slot
    newcomer = pool.submit(slots.get, "key", lambda: "a second build")
    wait_until(lambda: len(slot.users) == 2)
    second.go_on.set()
    assert retrying.result(LIMIT) == newcomer.result(LIMIT) == "up"


@pytest.mark.promise(22)
def test_least_recently_used_is_dropped() -> None:
    """The key that was not used since the last look goes; one that was used stays."""
    slots: KeyedSlots[str, Client] = KeyedSlots(max_size=2)
    slots.get("a", Client)
    slots.get("b", Client)
    slots.get("a", Client)
    slots.get("c", Client)
    assert list(slots) == ["a", "c"]
    assert len(slots) == 2
    slots.get("d", Client)
    assert list(slots) == ["c", "d"]


@pytest.mark.promise(22)
def test_all_used_drops_the_oldest_not_the_newest() -> None:
    """When every other key was used, the second look drops the oldest of them."""
    slots: KeyedSlots[str, Client] = KeyedSlots(max_size=2)
    for key in ("a", "b", "a", "b", "c"):
        slots.get(key, Client)
    assert list(slots) == ["b", "c"]


@pytest.mark.promise(22)
def test_key_in_use_is_not_dropped(pool: ThreadPoolExecutor) -> None:
    """A key that is being built and waited for survives newer keys, and its waiter gets it."""
    slots: KeyedSlots[str, object] = KeyedSlots(max_size=1)
    held = Held("slow")
    building = pool.submit(slots.get, "slow", held)
    assert held.started.wait(LIMIT)
    slot = slots._table["slow"]
    waiting = pool.submit(slots.get, "slow", lambda: "a second build")
    wait_until(lambda: len(slot.users) == 2)
    for key in ("a", "b", "c"):
        assert slots.get(key, lambda: "quick") == "quick"
    assert slots._table["slow"] is slot
    held.go_on.set()
    assert building.result(LIMIT) == waiting.result(LIMIT) == "slow"
    assert len(slots) == 1


@pytest.mark.promise(22)
@pytest.mark.learned("closed-on-eviction")
def test_dropped_instance_is_closed_when_its_last_lease_ends() -> None:
    """Eviction takes a leased instance out at once, and closes it after both leases."""
    slots: KeyedSlots[str, Client] = KeyedSlots(close=Client.close, max_size=1)
    with slots.lease("a", Client) as old:
        with slots.lease("a", Client) as same:
            with slots.lease("b", Client) as new:
                assert "a" not in slots
                assert same is old
                assert old.open
            assert new.open
        assert old.open
    assert not old.open


@pytest.mark.promise(22)
@pytest.mark.learned("closed-on-eviction")
def test_max_size_with_close_refuses_plain_get() -> None:
    """A `get` whose instance could be closed under its caller is an error that names `lease`."""
    slots: KeyedSlots[str, Client] = KeyedSlots(close=Client.close, max_size=1)
    with slots.lease("a", Client):
        pass
    with pytest.raises(ValueError, match=r"lease\(key, factory\)"):
        slots.get("a", Client)


@pytest.mark.promise(22)
def test_errors_of_evicted_instances_come_together() -> None:
    """What `close` raises for a dropped instance reaches the caller that needed the room."""

    def close(client: Client) -> None:
        raise OSError(client.key)

    slots: KeyedSlots[str, Client] = KeyedSlots(close=close, max_size=1)
    with slots.lease("a", Client, "a"):
        pass
    with pytest.raises(ExceptionGroup) as caught, slots.lease("b", Client, "b"):
        pass
    assert [str(error) for error in caught.value.exceptions] == ["a"]
    assert list(slots) == ["b"]


@pytest.mark.promise(23)
def test_unhashable_key_is_a_type_error() -> None:
    """An unhashable key is refused as a dict refuses it."""
    slots: KeyedSlots[list[int], Client] = KeyedSlots()
    with pytest.raises(TypeError, match="unhashable"):
        slots.get([1], Client)
    with pytest.raises(TypeError, match="unhashable"):
        slots.peek([1])


@pytest.mark.promise(23)
def test_changed_key_is_not_found() -> None:
    """A key whose hash has changed finds nothing, and harms nothing."""

    class Key:
        value = 1

        def __hash__(self) -> int:
            return self.value

        def __eq__(self, other: object) -> bool:
            return isinstance(other, Key) and self.value == other.value

    slots: KeyedSlots[Key, Client] = KeyedSlots()
    key = Key()
    slots.get(key, Client)
    key.value = 2
    assert slots.peek(key) is None
    assert not slots.reset(key)


def test_reset_drops_one_key() -> None:
    """`reset` closes the key's instance once, and leaves the others."""
    slots: KeyedSlots[str, Client] = KeyedSlots(close=Client.close)
    a, b = slots.get("a", Client), slots.get("b", Client)
    assert slots.reset("a")
    assert not slots.reset("a")
    assert not a.open
    assert b.open
    assert slots._table.keys() == {"b"}


def test_reset_expected_drops_only_that_object() -> None:
    """Two callers that found the same stale client drop it once."""
    slots: KeyedSlots[str, Client] = KeyedSlots()
    stale = slots.get("a", Client)
    assert slots.reset("a", expected=stale)
    fresh = slots.get("a", Client)
    assert not slots.reset("a", expected=stale)
    assert slots.peek("a") is fresh


def test_reset_all_drops_the_rest_when_one_close_fails() -> None:
    """Every key is dropped; what went wrong comes as a group."""

    def close(client: Client) -> None:
        client.close()
        if client.key == "bad":
            raise OSError(client.key)

    slots: KeyedSlots[str, Client] = KeyedSlots(close=close)
    clients = [slots.get(key, Client, key) for key in ("a", "bad", "c")]
    with pytest.raises(ExceptionGroup, match="1 of the instances"):
        slots.reset_all()
    assert not any(client.open for client in clients)
    assert len(slots) == 0
    slots.get("d", Client)
    assert slots.reset_all(close=False) == 1


@pytest.mark.learned("one-lock-for-all-singletons")
def test_factory_may_get_another_key_but_not_its_own() -> None:
    """Keys are slots of their own: only the same key is re-entry."""
    slots: KeyedSlots[str, object] = KeyedSlots(name="clients")
    assert slots.get("a", lambda: slots.get("b", list)) == []
    slots.reset_all()
    with pytest.raises(RecursiveBuildError, match="clients"):
        slots.get("a", lambda: slots.get("a", list))
    assert slots._table == {}


def test_peek_tells_none_from_unset() -> None:
    """`peek` gives its default for a key without an instance, and `None` where that is it."""
    slots: KeyedSlots[str, None] = KeyedSlots()
    assert slots.peek("a", "unset") == "unset"
    slots.get("a", lambda: None)
    assert slots.peek("a", "unset") is None
    assert "a" in slots


def test_bounded_hit_and_rebuild() -> None:
    """A bounded table serves hits from the slot, and rebuilds after a reset."""
    slots: KeyedSlots[str, Client] = KeyedSlots(max_size=1)
    first = slots.get("a", Client)
    assert slots.get("a", Client) is first
    with slots.lease("a", Client) as leased:
        assert leased is first
        slot = slots._table["a"]
        slot.reset()
        assert slots.get("a", Client) is not first


def test_repr_shows_no_key_and_builds_nothing() -> None:
    """Keys and instances can hold secrets: neither is shown."""
    slots: KeyedSlots[str, str] = KeyedSlots(name="clients")
    slots.get("key-hidden", lambda: "value-hidden")
    assert repr(slots) == "<KeyedSlots 'clients': 1 built>"
    unnamed: KeyedSlots[str, str] = KeyedSlots()
    assert repr(unnamed) == "<KeyedSlots 'unnamed': 0 built>"


def test_copy_and_pickle_are_refused() -> None:
    """A copy would build second instances."""
    slots: KeyedSlots[str, str] = KeyedSlots()
    with pytest.raises(TypeError, match="cannot copy or pickle"):
        copy.deepcopy(slots)
    with pytest.raises(TypeError, match="cannot copy or pickle"):
        pickle.dumps(slots)


@pytest.mark.parametrize(
    ("max_size", "error"), [(0, ValueError), (-1, ValueError), (True, TypeError), ("2", TypeError)]
)
def test_bad_max_size_is_refused(max_size: int, error: type[Exception]) -> None:
    """A size that keeps nothing, or is no number, is refused at once, with its repr."""
    with pytest.raises(error, match=repr(max_size)):
        KeyedSlots(max_size=max_size)


def _collection_under_the_lock() -> None:
    import gc
    from typing import Any, cast

    from plugin_utils import KeyedSlots

    slots: KeyedSlots[str, object] = KeyedSlots()
    found: list[object] = []

    class Garbage:
        def __init__(self) -> None:
            self.itself = self

        def __del__(self) -> None:
            found.append(slots.get("other", list))

    class Collecting:
        """The table's lock, with a garbage collection each time it is held."""

        def __init__(self) -> None:
            self.lock = slots._lock
            Garbage()

        def __enter__(self) -> None:
            self.lock.acquire()
            gc.collect()

        def __exit__(self, *_: object) -> None:
            self.lock.release()

    gc.disable()  # no collection but the lock's
    slots._lock = cast("Any", Collecting())
    assert slots.get("key", dict) == {}
    assert found == [[]]
    assert sorted(slots) == ["key", "other"]


@pytest.mark.learned("finaliser-wants-the-lock", "factory-under-the-table-lock")
def test_finaliser_under_the_lock_of_the_table_may_come_back() -> None:
    """The garbage collector can run code while the table's lock is held; it is served."""
    child.run(_collection_under_the_lock)


@pytest.mark.promise(12)
@pytest.mark.parametrize("fork", ["rebuild", "keep"])
def test_forked_child_has_its_own_table(fork: Literal["rebuild", "keep"]) -> None:
    """The child rebuilds each key, or keeps it unclosed; a build in flight does not hang it."""
    closed: list[object] = []
    slots: KeyedSlots[str, object] = KeyedSlots(close=closed.append, fork=fork)
    mine = slots.get("a", object)
    held = Held("slow")
    with ThreadPoolExecutor(1) as threads:
        building = threads.submit(slots.get, "b", held)
        assert held.started.wait(LIMIT)
        child = os.fork()
        if child == 0:  # nothing below may return into the test run
            try:
                same = slots.get("a", object) is mine
                good = same == (fork == "keep") and slots.get("b", lambda: "quick") == "quick"
                slots.reset_all()
                good = good and closed == (["quick"] if fork == "keep" else closed)
                good = good and mine not in closed
                os._exit(0 if good else 1)
            finally:
                os._exit(2)
        held.go_on.set()
        assert building.result(LIMIT) == "slow"
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 0
