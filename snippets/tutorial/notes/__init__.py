"""Notes for Hermes: two tools that share one SQLite connection, opened on first use."""

import json
import os
import sqlite3
import threading
from pathlib import Path
from typing import Any

from plugin_utils import lazy_singleton


class NoteStore:
    """One connection that threads may share: its lock lets one call in at a time."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._lock = threading.Lock()
        self._connection = sqlite3.connect(path, check_same_thread=False, isolation_level=None)
        self._connection.execute("CREATE TABLE IF NOT EXISTS notes (text TEXT NOT NULL)")

    def add(self, text: str) -> None:
        """Keep a note."""
        with self._lock:
            self._connection.execute("INSERT INTO notes VALUES (?)", (text,))

    def find(self, word: str) -> list[str]:
        """Return the notes that contain a word, oldest first."""
        query = "SELECT text FROM notes WHERE instr(lower(text), lower(?)) ORDER BY rowid"
        with self._lock:
            return [text for (text,) in self._connection.execute(query, (word,))]

    def close(self) -> None:
        """Close the connection."""
        with self._lock:
            self._connection.close()


@lazy_singleton(close=NoteStore.close)
def note_store() -> NoteStore:
    """Return the store, opened by the first tool call."""
    home = os.environ.get("HERMES_HOME") or Path.home() / ".hermes"
    return NoteStore(Path(home) / "notes.db")


def add_note(args: dict[str, Any], **_context: object) -> str:
    """Handle the tool `note_add`."""
    note_store().add(args["text"])
    return json.dumps({"saved": args["text"]})


def find_notes(args: dict[str, Any], **_context: object) -> str:
    """Handle the tool `note_find`."""
    return json.dumps({"notes": note_store().find(args["word"])})


def schema(name: str, description: str, parameter: str) -> dict[str, Any]:
    """Describe a tool with one text parameter to the model."""
    return {
        "name": name,
        "description": description,
        "parameters": {
            "type": "object",
            "properties": {parameter: {"type": "string"}},
            "required": [parameter],
        },
    }


def register(ctx: Any) -> None:
    """Tell Hermes about the tools, when it loads the plugin. Nothing is opened here."""
    add = schema("note_add", "Save a short note.", "text")
    find = schema("note_find", "Find the notes that contain a word.", "word")
    ctx.register_tool("note_add", "notes", add, add_note)
    ctx.register_tool("note_find", "notes", find, find_notes)
