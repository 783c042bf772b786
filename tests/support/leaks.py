"""Collects everything that code says, to search it for a secret."""

import io
import logging
import traceback
from collections.abc import Generator
from contextlib import contextmanager

__all__ = ("Said", "listen")


class Said:
    """What was said: log records as a log file would hold them, texts and exceptions."""

    def __init__(self) -> None:
        self._bytes = io.BytesIO()
        # Strict, as a terminal or a file is: a record that cannot be written is an error.
        self.stream = io.TextIOWrapper(self._bytes, encoding="utf-8", write_through=True)

    def add(self, value: object) -> None:
        """Add a value as a debugger or a log line would show it."""
        print(ascii(value), ascii(str(value)), file=self.stream)
        if isinstance(value, BaseException):
            text = "".join(traceback.format_exception(value))
            print(ascii(text), file=self.stream)

    def text(self) -> str:
        """Return all of it."""
        return self._bytes.getvalue().decode()


class _Strict(logging.Handler):
    """Lets what goes wrong while a record is written reach the code that logs."""

    def __init__(self, stream: io.TextIOWrapper) -> None:
        super().__init__()
        self._stream = stream

    def emit(self, record: logging.LogRecord) -> None:
        print(self.format(record), file=self._stream)


@contextmanager
def listen() -> Generator[Said]:
    """Listen to all loggers at all levels until the block ends."""
    said = Said()
    handler = _Strict(said.stream)
    handler.setFormatter(logging.Formatter("%(name)s %(levelname)s %(message)s %(args)r"))
    root = logging.getLogger()
    level = root.level
    root.addHandler(handler)
    root.setLevel(logging.DEBUG)
    try:
        yield said
    finally:
        root.setLevel(level)
        root.removeHandler(handler)
