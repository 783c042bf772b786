"""The file to copy, apart from building once."""

import pytest

from snippets.fixed.copied_singleton import lazy_singleton


def test_a_failed_build_caches_nothing() -> None:
    """The error stands alone, and the next call tries again."""
    tries: list[str] = []

    @lazy_singleton
    def get_client() -> str:
        tries.append("try")
        if len(tries) == 1:
            raise ConnectionError
        return "client"

    with pytest.raises(ConnectionError) as caught:
        get_client()
    assert caught.value.__context__ is None
    assert get_client() == "client"


def test_it_refuses_to_need_itself() -> None:
    """A factory that calls its accessor, or resets it, gets an error and not a hang."""

    @lazy_singleton
    def get_client() -> object:
        return get_client()

    @lazy_singleton
    def get_other() -> object:
        return get_other.reset()

    for accessor in (get_client, get_other):
        with pytest.raises(RuntimeError, match="needs the instance that it builds"):
            accessor()
        assert accessor.peek() is None


def test_it_passes_for_its_factory() -> None:
    """Name and docstring are the factory's."""

    @lazy_singleton
    def get_client() -> object:
        """Return the client."""
        return object()

    assert vars(get_client)["__name__"] == "get_client"
    assert get_client.__doc__ == "Return the client."
    assert get_client.reset() is None
