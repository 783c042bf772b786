"""`reset_all`: an empty start for every test."""

from __future__ import annotations

from collections.abc import Callable

from plugin_utils._gate import alive

__all__ = ("reset_all",)


def reset_all() -> None:
    """Drop the instance of every accessor and slot there is, closing it where a `close` is set.

    A test that runs after another one then builds its own instances. The instances of
    `plugin_utils.aio` are dropped and not closed: only their loops could do that.

    Concurrency: waits for builds that are running, each in turn. An instance that another thread
    builds meanwhile may stay; end the test's threads first.

    Failure: an error of one `close` keeps no other instance from being dropped.

    Re-entrancy: called from inside a factory it gets `RecursiveBuildError` for that one, in the
    group below, and drops the others.

    Raises:
        ExceptionGroup: What the resets raised.

    Example:
        ```python
        from plugin_utils import lazy_singleton
        from plugin_utils.testing import reset_all

        @lazy_singleton
        def settings() -> dict[str, str]:
            return {}

        settings()
        reset_all()
        assert settings.peek() is None
        ```
    """
    errors: list[Exception] = []
    for state in alive():
        try:
            _reset(state)
        except Exception as error:  # noqa: BLE001 - raised below, when the rest is dropped too
            errors.append(error)
    if errors:
        msg = f"{len(errors)} of the singletons could not be dropped cleanly"
        raise ExceptionGroup(msg, errors)


def _reset(state: object) -> None:
    for name in ("reset_all", "reset"):  # of many keys, or of one instance
        reset: Callable[[], object] | None = getattr(state, name, None)
        if reset is not None:
            reset()
            return
    # What is left is registered to be renewed in a forked child, and holds no instance.
