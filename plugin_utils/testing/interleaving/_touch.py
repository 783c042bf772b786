"""What one step of a thread touches, and which two touches depend on each other.

An attribute is an item of its owner's `__dict__`, and a global is one of its module's: all three
have one name here, and one owner, which is the dict. So `o.k`, `vars(o)["k"]` and, in a function of
that module, `k` meet where they are the same.
"""

from __future__ import annotations

from enum import Enum
from typing import Final, NamedTuple

__all__ = ("ALONE", "EVERYTHING", "ITEMS", "NAMES", "NOTHING", "SOME", "WHOLE", "Touch")

# The name shared by what containers hold, but under a text: which list or dict is meant is in `of`.
ITEMS: Final = "[]"
# All names at once, `ITEMS` included: what touches a dict as a whole, or nobody knows which object.
NAMES: Final = "some names"


class _NoKey(Enum):
    """What stands in the place of a key. It is equal to no key that a program can have."""

    SOME = "some that could not be told"
    WHOLE = "all of them, in their order"
    ALONE = "a lock, a closure variable or an explicit step, which no dict can hold"


SOME: Final = _NoKey.SOME
WHOLE: Final = _NoKey.WHOLE
ALONE: Final = _NoKey.ALONE


class Touch(NamedTuple):
    """A read or a write of something that threads can share.

    Where the object or the key cannot be told, the touch stands for all that it could be. Taking
    two things for one costs schedules; it never hides one.

    Args:
        name: The attribute, the variable or the text that is a key; `ITEMS` for all other keys;
            `NAMES`. None: anything at all.
        write: Whether it can change something.
        of: The identity of the object, where it is known: of its `__dict__`, if it has one.
        key: The key in a container, where it is known.
    """

    name: str | None
    write: bool
    of: int | None = None
    key: object = WHOLE

    @property
    def is_wild(self) -> bool:
        """Whether it can meet touches of other names."""
        return self.name is None or self.name == NAMES

    def meets(self, other: Touch) -> bool:
        """Return whether both can be of the same thing, keys aside."""
        if self.name is not None and other.name is not None:
            if (self.key is ALONE) is not (other.key is ALONE):
                return False
            if self.name != other.name and NAMES not in (self.name, other.name):
                return False
        return self._shares_owner(other)

    def conflicts(self, other: Touch, *, keys: bool) -> bool:
        """Return whether the order of the two can matter.

        Args:
            other: Another thread's touch.
            keys: Whether touches of different keys of one container are independent.
        """
        if not (self.write or other.write):
            return False
        if not self.meets(other):
            return not keys and self._may_reorder(other)
        one, two = self.key, other.key
        return not keys or one == two or SOME in (one, two) or WHOLE in (one, two)

    def sees_order_of(self, other: Touch) -> bool:
        """Return whether this looks at a container as a whole, and the other puts something in."""
        if self.key is not WHOLE or self.name not in (ITEMS, NAMES) or not other.write:
            return False
        if other.key in (SOME, WHOLE):  # an attribute's key is not given: its owner must be known
            return other.name not in (None, ITEMS, NAMES) and None is not self.of == other.of
        return self.meets(other)

    def _may_reorder(self, other: Touch) -> bool:
        """Return whether both can put a name into one dict: which came first shows in its order."""
        return self.write and other.write and None is not self.of == other.of

    def _shares_owner(self, other: Touch) -> bool:
        return self.of is None or other.of is None or self.of == other.of


NOTHING: Final = Touch("", write=False)
EVERYTHING: Final = Touch(None, write=True)
