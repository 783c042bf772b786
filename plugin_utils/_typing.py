"""The typing names that the library needs, without importing `typing` at run time.

Importing `typing` would cost a plugin more than the whole library does. Type checkers take the
first branch: they treat any name `TYPE_CHECKING` as true.
"""

TYPE_CHECKING = False

if TYPE_CHECKING:
    from typing import Generic, TypeVar, TypeVarTuple, cast, overload

    K = TypeVar("K")
    T = TypeVar("T")
    D = TypeVar("D")
    Ts = TypeVarTuple("Ts")
else:
    from types import GenericAlias

    K = "K"
    T = "T"

    class Generic:
        """Makes `SingletonSlot[Client]` work at run time, as an annotation and as a call."""

        __slots__ = ()
        __class_getitem__ = classmethod(GenericAlias)

    def cast(_kind, value):
        """Return the value; the kind is for type checkers."""
        return value

    def overload(signature):
        """Return the signature; the next definition of the name replaces it."""
        return signature


__all__ = ("TYPE_CHECKING", "D", "Generic", "K", "T", "Ts", "cast", "overload")
