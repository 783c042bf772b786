"""A key planted wherever one can be, and a search through whatever comes out."""

import base64
import json
from collections.abc import Iterator
from pathlib import Path

__all__ = ("KEY", "plant", "traces", "traces_below")

KEY = "planted-k3y-0f-s0mebody"
VARIABLES = ("HONCHO_API_KEY", "FAL_KEY", "HERMES_TOKEN", "OPENAI_API_KEY")


def plant(home: Path) -> dict[str, str]:
    """Put the key into the files of a home folder, and return an environment that has it too."""
    block = {"apiKey": KEY, "baseUrl": f"http://{KEY}@127.0.0.1:9"}
    for folder, name in ((".hermes", "honcho.json"), (".honcho", "config.json")):
        file = home / folder / name
        file.parent.mkdir(parents=True)
        file.write_text(json.dumps({"apiKey": KEY, "hosts": {"hermes": block}}), "utf-8")
    (home / ".hermes" / "config.yaml").write_text(f"honcho: {{api_key: {KEY}}}\n", "utf-8")
    return {
        "HOME": str(home),
        "HERMES_HOME": str(home / ".hermes"),
        **dict.fromkeys(VARIABLES, KEY),
    }


def _disguises() -> Iterator[bytes]:
    key = KEY.encode()
    yield key
    yield key[::-1]
    yield key.hex().encode()
    for start in range(3):  # base64 takes three bytes at a time; the key can begin at any of them
        whole = (len(key) - start) // 3 * 3
        yield base64.b64encode(key[start : start + whole])


def traces(content: bytes) -> list[bytes]:
    """Return the forms of the key that are in there: as it is, reversed, in hex or in base64."""
    return [form for form in _disguises() if form in content]


def traces_below(folder: Path) -> list[Path]:
    """Return the files in a folder whose content or name has the key."""
    return [
        path
        for path in sorted(folder.rglob("*"))
        if traces(str(path).encode()) or (path.is_file() and traces(path.read_bytes()))
    ]
