"""What the primitives raise of their own accord."""

__all__ = ("BuildDeadlockError", "RecursiveBuildError", "SingletonError")


class SingletonError(RuntimeError):
    """Base class of the errors below: building or resetting a singleton cannot go on."""


class RecursiveBuildError(SingletonError):
    """A factory, while it runs, needs the very instance that it is building."""


class BuildDeadlockError(SingletonError):
    """Threads that build singletons wait for each other in a circle."""
