"""The migrated accessor keeps the names that others use."""

import pytest

from snippets.fixed import migrate_racy_accessor as snippet


def test_readers_of_the_old_global_see_the_instance() -> None:
    """`module._client` is what `peek` returns."""
    snippet.reset_client()
    snippet.Client.connected.set()
    seen = [snippet._client]
    client = snippet.get_client()
    seen.append(snippet._client)
    snippet.reset_client()
    seen.append(snippet._client)
    assert seen == [None, client, None]


def test_other_names_are_missing_as_ever() -> None:
    """A misspelt name is an `AttributeError` that names it."""
    with pytest.raises(AttributeError, match="'_cliemt'"):
        _ = snippet._cliemt
