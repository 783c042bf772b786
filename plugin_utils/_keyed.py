"""`KeyedSlots`: one lazily built instance for each key."""

from __future__ import annotations

from _thread import get_ident  # as in `_gate`

from plugin_utils._factory import check_close, check_options
from plugin_utils._gate import Gate, register
from plugin_utils._slot import UNSET, SingletonSlot
from plugin_utils._tenure import Lease, end_lease
from plugin_utils._typing import TYPE_CHECKING, Generic, K, T, overload
from plugin_utils.errors import BuildDeadlockError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Literal, NoReturn

    from plugin_utils._tenure import Tenure
    from plugin_utils._typing import D, Ts

__all__ = ("KeyedSlots",)


class KeyedSlots(Generic[K, T]):
    """Holds at most one instance for each key and process, built by whoever comes first.

    Use it for one client per profile, account or URL. The key must hold everything that the build
    depends on; put a fingerprint of a secret into it, not the secret.

    Concurrency: callers of one key get one instance, as from a `SingletonSlot`. Callers of
    different keys never wait for each other's builds. A call that finds an instance takes no lock.

    Failure: as for `SingletonSlot`. A key whose build has failed leaves nothing behind.

    Re-entrancy: as for `SingletonSlot`, for each key. A factory may get another key. A key's
    `__hash__` and `__eq__` run while the table is held, and must not take a lock of yours.

    Args:
        close: As for `SingletonSlot`.
        fork: As for `SingletonSlot`.
        on_failure: As for `SingletonSlot`.
        max_size: How many instances to keep. When there are more, the least recently used ones
            are dropped, about: an instance used since the last look gets a second chance. A key
            that is being built or waited for is never dropped. Together with `close` only
            `lease` can be used, since nobody knows who still holds what `get` has returned.
        name: As for `SingletonSlot`. Keys are never shown in errors: they can hold secrets.

    Raises:
        TypeError: An option is of the wrong type.
        ValueError: An option is none of its values, or `max_size` is below 1.

    Example:
        ```python
        from plugin_utils import KeyedSlots

        class Client:
            def __init__(self, profile: str) -> None:
                self.profile = profile

        clients: KeyedSlots[str, Client] = KeyedSlots(name="clients")
        work = clients.get("work", Client, "work")
        assert clients.get("work", Client, "work") is work
        assert clients.get("home", Client, "home") is not work
        ```
    """

    # Invariant: a slot is added to `_table`, and taken out of it, by whoever holds `_gate`, and
    # taken out only when nobody builds, waits or resets in it (`users`). So two threads that want
    # the same key always meet in the same slot. To look up a key runs its `__eq__`, and any step
    # can run a finaliser. Both may come back here, so the gate is re-entrant; and both may wait
    # for a slot, so it is a gate: a lock would hide that wait from the search for deadlocks.
    __slots__ = (
        "__weakref__",
        "_close",
        "_fork",
        "_gate",
        "_max_size",
        "_name",
        "_on_failure",
        "_table",
    )

    def __init__(
        self,
        *,
        close: Callable[[T], object] | None = None,
        fork: Literal["rebuild", "keep"] = "rebuild",
        on_failure: Literal["retry", "share"] = "retry",
        max_size: int | None = None,
        name: str | None = None,
    ) -> None:
        check_options(close, fork, on_failure, name)
        check_close(close)
        _check_max_size(max_size)
        self._close = close
        self._fork: Literal["rebuild", "keep"] = fork
        self._on_failure: Literal["retry", "share"] = on_failure
        self._max_size = max_size
        self._name = name
        self._gate = self._new_gate()
        self._table: dict[K, _KeySlot[T]] = {}
        register(self)

    def get(self, key: K, factory: Callable[[*Ts], T], *args: *Ts) -> T:
        """Return the key's instance, built by `factory(*args)` if there is none.

        Args:
            key: Anything hashable. A key that changes after use is not found again, nor is its
                instance ever dropped.
            factory: As for `SingletonSlot.get`.
            args: As for `SingletonSlot.get`.

        Raises:
            TypeError: The key is not hashable; otherwise as for `SingletonSlot.get`.
            ValueError: There are both `max_size` and `close`: use `lease`.
            Exception: As for `SingletonSlot.get`.
        """
        if self._max_size is not None:
            return self._get_bounded(key, factory, args)
        try:
            return self._table[key]._instance
        except (KeyError, AttributeError):
            pass
        return self._using(key, lambda slot: slot.get(factory, *args))

    @overload
    def peek(self, key: K) -> T | None: ...
    @overload
    def peek(self, key: K, default: D) -> T | D: ...
    def peek(self, key: K, default: D | None = None) -> T | D | None:
        """Return the key's instance, or `default` if there is none. Never builds or waits."""
        slot = self._table.get(key)
        return default if slot is None else slot.peek(default)

    def reset(self, key: K, expected: object = UNSET, *, close: bool = True) -> bool:
        """Drop the key's instance, and return whether there was one to drop.

        Args and errors are those of `SingletonSlot.reset`.
        """
        if key not in self._table:
            return False
        return self._using(key, lambda slot: slot.reset(expected, close=close))

    def reset_all(self, *, close: bool = True) -> int:
        """Drop the instances of all keys there are now, and return how many.

        Args:
            close: Whether to call `close` with each dropped instance.

        Raises:
            ExceptionGroup: What `reset` raised for some of them. The rest is dropped all the same.
        """
        dropped = 0
        errors: list[Exception] = []
        for key in self._table.copy():
            try:
                dropped += self.reset(key, close=close)
            except Exception as error:  # noqa: BLE001 - raised below, when the rest is dropped too
                errors.append(error)
        _raise_all(errors)
        return dropped

    def lease(self, key: K, factory: Callable[[*Ts], T], *args: *Ts) -> Lease[T]:
        """Return a context manager that gives the key's instance and keeps it from being closed.

        As `SingletonSlot.lease`. With `max_size`, a leased instance can be dropped too: it is
        closed when its last lease ends, and a new caller of its key gets a new one. What `close`
        raises for an instance that is dropped to make room reaches the caller that made it
        necessary, as an `ExceptionGroup`: its `with` block does not run, and it holds no lease.
        """

        def borrow() -> Tenure[T]:
            taken: list[Tenure[T]] = []

            def take(slot: _KeySlot[T]) -> Tenure[T]:
                taken.append(slot.borrow(factory, args))
                return taken[0]

            try:
                return self._using(key, take)
            except BaseException:
                for tenure in taken:  # who does not enter the block does not leave it either
                    end_lease(tenure, self._close)
                raise

        return Lease(borrow, self._close)

    def renew(self) -> None:
        """Start over in a forked child. Called by the fork hook; not for you to call."""
        self._gate = self._new_gate()
        # The slots stay, emptied by their own hook: a factory that has forked is in one of them.
        for slot in self._table.values():
            slot.users = {visit for visit in slot.users if visit.thread == get_ident()}
            for visit in slot.users:
                visit.users = slot.users

    def _get_bounded(self, key: K, factory: Callable[[*Ts], T], args: tuple[*Ts]) -> T:
        if self._close is not None:
            msg = (
                f"{self!r} has max_size and close: it would close what a caller of get() still "
                "uses. Use `with slots.lease(key, factory) as instance:`."
            )
            raise ValueError(msg)
        slot = self._table.get(key)
        if slot is not None:
            try:
                instance = slot._instance
            except AttributeError:
                pass
            else:
                slot.used = True
                return instance
        return self._using(key, lambda slot: slot.get(factory, *args))

    def _using(self, key: K, work: Callable[[_KeySlot[T]], D]) -> D:
        """Return `work(slot)`, with the key's slot kept in the table meanwhile."""
        visit = _Visit()
        try:
            return work(self._gate.hold("use", self._enter, key, visit))
        finally:
            # One call into C: an interrupt comes before or after it, and not in between.
            visit.users.discard(visit)
            self._tidy(key)

    def _enter(self, key: K, visit: _Visit) -> _KeySlot[T]:
        """Return the key's slot, with the visit among its users. The gate is held."""
        slot = self._table.get(key)
        if slot is None:
            slot = self._table.setdefault(key, self._new_slot())
        visit.users = slot.users  # before it is added: whatever happens then, it can be taken out
        visit.users.add(visit)
        slot.used = slot.built()
        return slot

    def _new_slot(self) -> _KeySlot[T]:
        return _KeySlot(
            close=self._close, fork=self._fork, on_failure=self._on_failure, name=self._name
        )

    def _new_gate(self) -> Gate:
        return Gate(self._name or type(self).__name__, reentrant=True)

    def _tidy(self, key: K) -> None:
        """Take the key's slot out if it is empty and unused, and others if there are too many."""
        try:
            retired = self._gate.hold("tidy", self._take_out, key)
        except BuildDeadlockError:
            return  # nobody is harmed by an empty slot; whoever comes next tidies
        errors: list[Exception] = []
        for old in retired:
            try:
                old.reset()
            except Exception as error:  # noqa: BLE001 - as in reset_all
                errors.append(error)
        _raise_all(errors)

    def _take_out(self, key: K) -> list[_KeySlot[T]]:
        """Take out what is not needed, and return what is to be dropped. The gate is held."""
        slot = self._table.get(key)
        if slot is not None and not slot.users and not slot.built():
            del self._table[key]
        if self._max_size is None:
            return []
        return self._evict(len(self._table) - self._max_size, slot)

    def _evict(self, surplus: int, newest: _KeySlot[T] | None) -> list[_KeySlot[T]]:
        """Take so many slots out, the oldest first, and return them. The gate is held.

        A slot that was used since the last look is passed over once. The newest stays. Empty ones
        are what a fork leaves; they go first, and count for nothing.
        """
        retired: list[_KeySlot[T]] = []
        if surplus > 0:
            surplus -= self._drop_empty()
        table = self._table.copy()
        for key, slot in [*table.items(), *table.items()]:
            if len(retired) >= surplus:
                break
            if slot.users or slot is newest or self._table.get(key) is not slot:
                continue
            if slot.used:
                slot.used = False
            else:
                del self._table[key]
                retired.append(slot)
        return retired

    def _drop_empty(self) -> int:
        """Take out the slots that are empty and unused, and return how many. The gate is held."""
        table = self._table.copy()
        empty = [key for key, slot in table.items() if not slot.users and not slot.built()]
        for key in empty:
            del self._table[key]
        return len(empty)

    def __len__(self) -> int:
        """Return how many keys have an instance."""
        return sum(1 for _ in self)

    def __contains__(self, key: K) -> bool:
        return self.peek(key, UNSET) is not UNSET

    def __iter__(self) -> Iterator[K]:
        """Iterate over the keys that have an instance now."""
        return iter([key for key, slot in self._table.copy().items() if slot.built()])

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self._name or 'unnamed'!r}: {len(self)} built>"

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        msg = (
            f"cannot copy or pickle {self!r}: a copy would build second instances. "
            "Keep the slots in a module and import them where you need them."
        )
        raise TypeError(msg)


class _KeySlot(SingletonSlot[T]):
    """One key's slot, and who is in it."""

    # `users` holds a visit for each call that builds, waits or resets here.
    # `used` is the second-chance bit of a bounded table.
    __slots__ = ("used", "users")

    def __init__(
        self,
        *,
        close: Callable[[T], object] | None,
        fork: Literal["rebuild", "keep"],
        on_failure: Literal["retry", "share"],
        name: str | None,
    ) -> None:
        super().__init__(close=close, fork=fork, on_failure=on_failure, name=name)
        self.users: set[_Visit] = set()
        self.used = False

    def built(self) -> bool:
        return self.peek(UNSET) is not UNSET


class _Visit:
    """One call's use of a slot, and where that is noted."""

    __slots__ = ("thread", "users")

    def __init__(self) -> None:
        self.thread = get_ident()
        self.users: set[_Visit] = set()


def _raise_all(errors: list[Exception]) -> None:
    if errors:
        msg = f"{len(errors)} of the instances could not be dropped cleanly"
        raise ExceptionGroup(msg, errors)


def _check_max_size(max_size: object) -> None:
    if max_size is None:
        return
    if not isinstance(max_size, int) or isinstance(max_size, bool):
        msg = f"max_size must be a number of instances or None, not {max_size!r}"
        raise TypeError(msg)
    if max_size < 1:
        msg = f"max_size must be at least 1, not {max_size!r}: nothing could be kept"
        raise ValueError(msg)
