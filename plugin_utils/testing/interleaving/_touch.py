"""What one step of a thread touches, and which two touches depend on each other."""

from __future__ import annotations

from typing import Final, NamedTuple

__all__ = ("EVERYTHING", "ITEMS", "NOTHING", "SOME", "WHOLE", "Touch")

# The name shared by the contents of all containers: which list or dict is meant is in `of`.
ITEMS: Final = "[]"
# Keys of a container: some that could not be told, and all of them in their order.
SOME: Final = "<some keys>"
WHOLE: Final = "<all keys, in order>"


class Touch(NamedTuple):
    """A read or a write of something that threads can share.

    Where the object or the key cannot be told, the touch stands for all that it could be. Taking
    two things for one costs schedules; it never hides one.

    Args:
        name: The attribute, global or closure variable, or `ITEMS`. None: anything at all.
        write: Whether it can change something.
        of: The identity of the object, where it is known.
        key: The key in a container, where it is known.
    """

    name: str | None
    write: bool
    of: int | None = None
    key: object = WHOLE

    def meets(self, other: Touch) -> bool:
        """Return whether both can be of the same thing, keys aside."""
        if self.name != other.name and self.name is not None and other.name is not None:
            return False
        return self.of is None or other.of is None or self.of == other.of

    def conflicts(self, other: Touch, *, keys: bool) -> bool:
        """Return whether the order of the two can matter.

        Args:
            other: Another thread's touch.
            keys: Whether touches of different keys of one container are independent.
        """
        if not (self.write or other.write) or not self.meets(other):
            return False
        one, two = self.key, other.key
        return not keys or one == two or SOME in (one, two) or WHOLE in (one, two)


NOTHING: Final = Touch("", write=False)
EVERYTHING: Final = Touch(None, write=True)
