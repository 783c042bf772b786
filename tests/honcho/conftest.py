"""What every Honcho test stands on: a home of its own, no settings, and no client left over."""

import json
import logging
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import honcho
import pytest

from plugin_utils.honcho import HonchoClientConfig, reset_honcho_client
from tests.support.honcho_server import HonchoServer

Built = list[dict[str, Any]]
Resolve = Callable[..., HonchoClientConfig]
Warnings = Callable[[], list[str]]
Write = Callable[[str, object], Path]


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home folder without any settings, in an environment without any."""
    for name in [*os.environ]:
        if name.startswith(("HONCHO_", "HERMES_")) or name.lower().endswith("_proxy"):
            monkeypatch.delenv(name)
    folder = tmp_path / "home"
    folder.mkdir()
    monkeypatch.setenv("HOME", str(folder))
    return folder


@pytest.fixture(autouse=True)
def _no_client_left() -> Iterator[None]:
    yield
    reset_honcho_client()


@pytest.fixture
def write(home: Path) -> Write:
    """Writes a file below the home folder: bytes as they are, text, or anything else as JSON."""

    def write(place: str, content: object) -> Path:
        path = home / place
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, bytes):
            path.write_bytes(content)
        else:
            path.write_text(content if isinstance(content, str) else json.dumps(content))
        return path

    return write


@pytest.fixture
def resolve(write: Write) -> Resolve:
    """Puts settings into the Honcho file and reads them for a host."""

    def resolve(content: object, host: str | None = None) -> HonchoClientConfig:
        write(".hermes/honcho.json", content)
        return HonchoClientConfig.from_global_config(host=host)

    return resolve


@pytest.fixture
def warnings(caplog: pytest.LogCaptureFixture) -> Warnings:
    """Returns the library's warnings so far."""

    def warnings() -> list[str]:
        return [
            record.getMessage()
            for record in caplog.records
            if record.name.startswith("plugin_utils") and record.levelno == logging.WARNING
        ]

    return warnings


@pytest.fixture
def server() -> Iterator[HonchoServer]:
    """A Honcho server that asks for no key."""
    with HonchoServer() as running:
        yield running


@pytest.fixture
def built(monkeypatch: pytest.MonkeyPatch) -> Built:
    """What the SDK's constructor was called with, once for each client built."""
    calls: Built = []
    construct = honcho.Honcho

    def spy(**options: Any) -> honcho.Honcho:  # noqa: ANN401 - the SDK's options, of many types
        calls.append(options)
        return construct(**options)

    monkeypatch.setattr(honcho, "Honcho", spy)
    return calls
