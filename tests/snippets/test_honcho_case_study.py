"""The client of the case study has connections to close, whether or not anybody closes them."""

from snippets.racy.honcho_case_study import Client


def test_client_closes() -> None:
    """The racy form never calls this, which is one of its faults."""
    client = Client({"workspace": "home", "timeout": 45})
    client.close()
    assert not client.is_open
