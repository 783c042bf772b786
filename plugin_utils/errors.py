"""What the primitives raise of their own accord."""

__all__ = ("BuildDeadlockError", "RecursiveBuildError", "SingletonError")


class SingletonError(RuntimeError):
    """Base class of the errors below: a build or a reset cannot go on."""


class RecursiveBuildError(SingletonError):
    """A factory, or something that runs while it runs, needs the instance that it builds.

    Raised at once in the thread that builds, instead of a hang or a second build. The slot stays
    empty and usable.

    Attributes:
        name: The accessor or slot.
    """

    name: str = ""


class BuildDeadlockError(SingletonError):
    """Threads that build or reset singletons wait for each other in a circle.

    Raised in at least one of these threads, so that the others can go on. Nothing is cached by
    the thread that gets it.

    Attributes:
        cycle: The accessors or slots of the circle, in waiting order, the first one repeated at
            the end.
    """

    cycle: tuple[str, ...] = ()
