"""A lease keeps an instance open until its last user is done, and not longer."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator
from http.client import HTTPConnection

import pytest

from plugin_utils import SingletonError, SingletonSlot, lazy_singleton
from plugin_utils._tenure import Tenure
from plugin_utils.testing import run_together
from tests.support.socket_counter import SocketCounter
from tests.support.waiting import wait_until

LIMIT = 10.0  # seconds


@pytest.mark.learned("handed-out-while-it-closes", "no-timer-knows-the-users")
def test_reset_closes_after_the_last_lease() -> None:
    """Two leases hold the old instance open; new callers get a new one meanwhile."""
    closed: list[object] = []
    slot: SingletonSlot[object] = SingletonSlot(close=closed.append)
    with slot.lease(object) as old:
        with slot.lease(object) as same:
            assert slot.reset()
            assert same is old
            assert slot.get(object) is not old
        assert closed == []
    assert closed == [old]
    assert slot.reset()
    assert len(closed) == 2


@pytest.mark.learned("closed-what-it-borrowed")
def test_lease_without_reset_closes_nothing() -> None:
    """The end of a lease alone leaves the instance where it is."""
    closed: list[object] = []
    slot: SingletonSlot[object] = SingletonSlot(close=closed.append)
    with slot.lease(object) as instance:
        pass
    assert slot.peek() is instance
    assert closed == []


def test_reset_without_close_leaves_the_instance_to_its_holder() -> None:
    """`reset(close=False)` is never made good by a lease that ends later."""
    closed: list[object] = []
    slot: SingletonSlot[object] = SingletonSlot(close=closed.append)
    with slot.lease(object):
        slot.reset(close=False)
    assert closed == []


@pytest.mark.promise(11)
def test_instance_is_to_be_closed_once_however_often_it_is_retired() -> None:
    """A reset that was interrupted, and comes back to what it dropped, closes nothing twice."""
    tenure = Tenure(object())
    assert [tenure.retire(), tenure.retire()] == [True, False]
    lent = Tenure(object())
    assert lent.borrow()
    assert [lent.retire(), lent.retire(), lent.give_back(), lent.retire()] == [
        False,
        False,
        True,
        False,
    ]


def test_lease_ends_when_its_block_raises() -> None:
    """An error in the block ends the lease and is not hidden."""
    closed: list[object] = []
    slot: SingletonSlot[object] = SingletonSlot(close=closed.append)

    def reset_and_fail() -> None:
        slot.reset()
        assert closed == []
        raise OSError("lost")

    with pytest.raises(OSError, match="lost"), slot.lease(object):
        reset_and_fail()
    assert len(closed) == 1


def test_error_of_close_reaches_whoever_ends_the_last_lease() -> None:
    """`close` runs where the last lease ends, and so does its error."""

    def close(instance: object) -> None:
        raise OSError("cannot close")

    slot: SingletonSlot[object] = SingletonSlot(close=close)
    lease = slot.lease(object)
    lease.__enter__()
    assert slot.reset()
    with pytest.raises(OSError, match="cannot close"):
        lease.__exit__(None, None, None)
    assert slot.peek() is None


def test_lease_is_entered_once_at_a_time() -> None:
    """One lease object cannot count two users; entered again later, it is a new lease."""
    slot: SingletonSlot[object] = SingletonSlot()
    lease = slot.lease(object)
    with lease as instance, pytest.raises(SingletonError, match="already entered"):
        lease.__enter__()
    with lease as again:
        assert again is instance


def test_lease_that_was_not_entered_has_nothing_to_end() -> None:
    """Nor has one that has ended: an `ExitStack` that is closed twice, for example."""
    slot: SingletonSlot[object] = SingletonSlot(close=lambda _: None)
    lease = slot.lease(object)
    lease.__exit__(None, None, None)
    with lease:
        pass
    lease.__exit__(None, None, None)
    assert slot.reset()


def test_failed_build_leases_nothing() -> None:
    """When the factory raises, the block does not run and nothing is counted."""
    slot: SingletonSlot[object] = SingletonSlot()

    def fail() -> object:
        raise OSError("down")

    with pytest.raises(OSError, match="down"), slot.lease(fail):
        pytest.fail("the block ran")
    with slot.lease(object) as instance:
        assert slot.peek() is instance


def test_accessor_leases_too() -> None:
    """`accessor.lease()` needs no factory: it has one."""
    closed: list[list[int]] = []

    @lazy_singleton(close=closed.append)
    def numbers() -> list[int]:
        return [1]

    with numbers.lease() as leased:
        numbers.reset()
        assert closed == []
    assert closed == [leased]


@pytest.mark.learned("registered-after-the-list-was-taken")
def test_lease_that_meets_a_retired_instance_builds_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    """A reset between finding the instance and counting the lease gives the caller a new one."""
    closed: list[object] = []
    slot: SingletonSlot[object] = SingletonSlot(close=closed.append)
    count = Tenure[object].borrow

    def count_after_a_reset(tenure: Tenure[object]) -> bool:
        if not closed:
            slot.reset()
        return count(tenure)

    monkeypatch.setattr(Tenure, "borrow", count_after_a_reset)
    old = slot.get(object)
    with slot.lease(object) as new:
        assert closed == [old]
        assert new is not old


@pytest.mark.promise(11)
def test_lease_from_before_a_fork_closes_nothing_in_the_child() -> None:
    """The child ends the lease it inherited without closing what the parent built."""
    closed: list[object] = []
    slot: SingletonSlot[object] = SingletonSlot(close=closed.append)
    with slot.lease(object) as mine:
        slot.reset()
        child = os.fork()
    if child == 0:
        os._exit(len(closed))
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 0
    assert closed == [mine]


class Pool:
    """A client as SDKs have them: any thread may use it, until it is closed."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._idle: list[HTTPConnection] = []
        self._closed = False

    def fetch(self) -> bytes:
        """Make a request on an idle connection, or on a new one."""
        assert not self._closed, "used after it was closed"
        try:
            connection = self._idle.pop()
        except IndexError:
            connection = HTTPConnection("127.0.0.1", self._port, timeout=LIMIT)
        connection.request("GET", "/")
        body = connection.getresponse().read()
        self._idle.append(connection)
        return body

    def close(self) -> None:
        """Close every connection; nobody may be using one."""
        assert not self._closed, "closed twice"
        self._closed = True
        for connection in self._idle:
            connection.close()


@pytest.fixture
def brisk_switching() -> Iterator[None]:
    """Let threads take turns more often than every 5 ms: the same load in less time."""
    usual = sys.getswitchinterval()
    sys.setswitchinterval(0.0005)
    yield
    sys.setswitchinterval(usual)


@pytest.mark.learned("replaced-and-never-closed")
@pytest.mark.usefixtures("brisk_switching")
def test_replacements_under_load_leave_no_socket_and_break_no_request() -> None:
    """1,000 replacements while 8 threads make requests: no error, no open socket, all closed."""
    with SocketCounter() as server:
        slot: SingletonSlot[Pool] = SingletonSlot(close=Pool.close)
        done = threading.Event()
        served: list[bytes] = []

        def use() -> None:
            while not done.is_set():
                with slot.lease(Pool, server.port) as pool:
                    served.append(pool.fetch())

        def replace() -> None:
            try:
                replaced = 0
                while replaced < 1000:
                    # Not by resetting an empty slot again and again: that keeps builders out.
                    wait_until(lambda: slot.peek() is not None)
                    replaced += slot.reset()
            finally:
                done.set()

        roles = iter([replace, *[use] * 8])

        def play() -> None:
            next(roles)()

        run_together(9, play, timeout=50.0)
        slot.reset()
        assert server.wait_until_all_closed(LIMIT)
        assert set(served) == {b"ok"}
        assert server.opened > 1
