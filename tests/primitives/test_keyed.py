"""`KeyedSlots`: one instance a key, parallel keys, nothing left behind, safe eviction."""

from __future__ import annotations

import copy
import os
import pickle
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Literal

import pytest

from plugin_utils import BuildDeadlockError, KeyedSlots, RecursiveBuildError, SingletonSlot
from plugin_utils.testing import run_together
from tests.support import child
from tests.support.waiting import wait_until, waiters_of

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


def _bounded_after_a_fork() -> None:
    from plugin_utils import KeyedSlots
    from tests.support.forked import in_fork

    slots: KeyedSlots[str, object] = KeyedSlots(max_size=2)
    for key in "abab":
        slots.get(key, object)

    def work() -> None:
        slots.get("b", object)
        slots.get("c", object)
        assert list(slots) == ["b", "c"]

    in_fork(work)


@pytest.mark.promise(12, 22)
def test_keys_of_the_parent_take_no_room_in_the_child() -> None:
    """The bound counts instances, and a forked child has none at first."""
    child.run(_bounded_after_a_fork)


def _bounded_fork_in_a_factory() -> None:
    import os
    import sys

    from plugin_utils import KeyedSlots

    children: list[int] = []
    slots: KeyedSlots[str, object] = KeyedSlots(max_size=1)

    def fork() -> object:
        children.append(os.fork())
        if not children[0]:
            slots.get("other", object)
        return object()

    instance = slots.get("key", fork)
    assert slots.get("key", object) is instance
    for key in ["a", "b"]:
        slots.get(key, object)
    assert list(slots) == ["b"]
    if children[0]:
        _, status = os.waitpid(children[0], 0)
        sys.exit(os.waitstatus_to_exitcode(status))


@pytest.mark.promise(12, 22)
def test_key_whose_factory_forked_keeps_its_place() -> None:
    """In the child, too, making room spares it until the factory returns, and not any longer."""
    child.run(_bounded_fork_in_a_factory)


@pytest.mark.promise(22)
def test_block_that_is_not_entered_holds_no_lease() -> None:
    """An instance whose `with` block did not run, for the sake of another one, can be closed."""
    closed: list[object] = []

    def close(client: Client) -> None:
        closed.append(client.key)
        if client.key == "a":
            raise OSError(client.key)

    slots: KeyedSlots[str, Client] = KeyedSlots(close=close, max_size=1)
    with slots.lease("a", Client, "a"):
        pass
    with pytest.raises(ExceptionGroup), slots.lease("b", Client, "b"):
        pass
    assert slots.reset("b")
    assert closed == ["a", "b"]


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


def _collection_under_the_table() -> None:
    import gc
    from typing import Any

    from plugin_utils import KeyedSlots

    slots: KeyedSlots[str, object] = KeyedSlots()
    found: list[object] = []

    class Garbage:
        def __init__(self) -> None:
            self.itself = self

        def __del__(self) -> None:
            found.append(slots.get("other", list))

    class Collecting(dict[str, Any]):
        """The table, with a garbage collection where a slot is looked up: it is held then."""

        def setdefault(self, key: str, default: Any = None) -> Any:  # noqa: ANN401 - as in dict
            if found == []:
                gc.collect()
            return super().setdefault(key, default)

    gc.disable()  # no collection but the table's
    slots._table = Collecting()
    Garbage()
    assert slots.get("key", dict) == {}
    assert found == [[]]
    assert sorted(slots) == ["key", "other"]


@pytest.mark.learned("finaliser-wants-the-lock", "factory-under-the-table-lock")
def test_finaliser_under_the_table_may_come_back() -> None:
    """The garbage collector can run code while the table is held; it is served."""
    child.run(_collection_under_the_table)


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


@pytest.mark.promise(8)
def test_wait_under_the_table_is_part_of_the_circle(pool: ThreadPoolExecutor) -> None:
    """A key's `__eq__` waits for a slot whose factory wants the table: an error, not a hang."""
    other: SingletonSlot[object] = SingletonSlot(name="other")
    slots: KeyedSlots[object, object] = KeyedSlots(name="clients")
    building, comparing = threading.Event(), threading.Event()

    class Key:
        def __hash__(self) -> int:
            return 1

        def __eq__(self, _: object) -> bool:
            held = slots._gate.holder is not None
            if held and building.is_set() and not comparing.is_set():
                comparing.set()
                other.get(object)
            return False

    def needs_the_table() -> object:
        building.set()
        assert comparing.wait(LIMIT)
        wait_until(lambda: waiters_of(other._gate) == 1)
        return slots.get("another", object)

    slots.get(Key(), object)
    blocked = pool.submit(other.get, needs_the_table)
    assert building.wait(LIMIT)
    looking_up = pool.submit(slots.get, Key(), object)
    with pytest.raises(BuildDeadlockError, match="other -> clients -> other"):
        blocked.result(LIMIT)
    assert looking_up.result(LIMIT) is not None


@pytest.mark.promise(12)
def test_factory_that_forks_builds_once_in_the_child() -> None:
    """The child's instance is where the child's next call looks for it."""
    slots: KeyedSlots[str, object] = KeyedSlots()
    children: list[int] = []

    def fork() -> object:
        children.append(os.fork())
        return object()

    instance = slots.get("key", fork)
    if children[0] == 0:
        os._exit(slots.get("key", object) is not instance)
    _, status = os.waitpid(children[0], 0)
    assert os.waitstatus_to_exitcode(status) == 0


def test_interrupted_call_leaves_no_user_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    """A slot that a call has entered when it is interrupted can still be taken out."""
    slots: KeyedSlots[str, object] = KeyedSlots()
    enter = KeyedSlots[str, object]._enter

    def interrupted(self: KeyedSlots[str, object], key: str, visit: Any) -> object:  # noqa: ANN401 - the module's own
        enter(self, key, visit)
        raise KeyboardInterrupt

    monkeypatch.setattr(KeyedSlots, "_enter", interrupted)
    with pytest.raises(KeyboardInterrupt):
        slots.get("key", object)
    assert slots._table == {}


def test_tidying_that_would_deadlock_is_left_to_the_next(monkeypatch: pytest.MonkeyPatch) -> None:
    """An empty slot that cannot be taken out now harms nobody, and goes with the next call."""
    slots: KeyedSlots[str, object] = KeyedSlots()

    def refuse(_: object, __: object) -> list[object]:
        raise BuildDeadlockError

    with monkeypatch.context() as patch:
        patch.setattr(KeyedSlots, "_take_out", refuse)
        with pytest.raises(OSError, match="down"):
            slots.get("key", _fail)
    assert "key" in slots._table
    with pytest.raises(OSError, match="down"):
        slots.get("key", _fail)
    assert slots._table == {}


def _fail() -> object:
    raise OSError("down")
