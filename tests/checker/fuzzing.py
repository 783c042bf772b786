"""`python -m tests.checker.fuzzing COUNT [SEED]`: odd files, none of which may crash the checker.

Each file is made from a seed of its own, so that one that fails can be made again.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Callable
from pathlib import Path

from plugin_utils.checker import fix_source
from plugin_utils.checker.run import check_bytes

__all__ = ("make_file", "survives")

_HERE = Path(__file__).parent
_WINDOW = 60
_PIECES = (
    b"if _x is None:\n", b"    _x = Client()\n", b"global _x\n", b"with _lock:\n", b"async ",
    b"await f()\n", b"return _x\n", b"else:\n", b"elif ", b"try:\n", b"except KeyError:\n",
    b"except* ValueError:\n", b"lambda: ", b"(", b")", b"[", b"]", b"{", b"}", b":", b"...",
    b"1_000j", b"\\\n", b"'''", b'f"{', b"# noqa\n", b"# plugin-utils: ignore[LS001]\n",
    b"# -*- coding: utf-16 -*-\n", b"# coding: \x80\n", b"\x00", b"\xff\xfe", b"\xef\xbb\xbf",
    b"\x0c", b"\r", b"\r\n", b"\t", b"\xe2\x80\xa8", b"class A:\n", b"match _x:\n",
    b"case {**rest}:\n", b"global ", b"nonlocal _x\n", b"del _x\n", b"_x: int\n", b"@cache\n",
    b"def f(a, /, *, b=1, **k): return a\n", b"*a, b = c\n", b"a[::2] = b\n", b"_x := 1",
    b"type X[T] = int\n", b"def g[T](x: T): ...\n",
)  # fmt: skip


def _corpus() -> list[bytes]:
    files = [*_HERE.rglob("*.py"), *(_HERE.parents[1] / "plugin_utils").rglob("*.py")]
    return [path.read_bytes() for path in sorted(files)]


_CORPUS = _corpus()


def make_file(seed: int) -> bytes:
    """Return the odd file that belongs to `seed`."""
    dice = random.Random(seed)  # noqa: S311 - repeatable on purpose, and no secret
    make = dice.choice((_window, _window, _window, _mixed, _nested, _noise, _wide))
    data = make(dice)
    for _ in range(dice.choice((0, 1, 1, 2, 5, 20))):
        data = _mutated(data, dice)
    return data


def _window(dice: random.Random) -> bytes:
    """Some lines of a real file."""
    lines = dice.choice(_CORPUS).splitlines(keepends=True)
    start = dice.randrange(max(1, len(lines)))
    return b"".join(lines[start : start + dice.randrange(1, _WINDOW)])


def _mixed(dice: random.Random) -> bytes:
    """Pieces of syntax in any order."""
    pieces = dice.choices(_PIECES, k=dice.randrange(1, 40))
    return b"".join(b" " * dice.choice((0, 0, 4, 8)) + piece for piece in pieces)


def _nested(dice: random.Random) -> bytes:
    """The same thing inside itself, deep."""
    depth = dice.choice((10, 90, 150, 1_000, 5_000))
    opening, closing = dice.choice(
        ((b"(", b")"), (b"[", b"]"), (b"f(", b")"), (b"-", b""), (b"a.", b""), (b"not ", b""))
    )
    blocks = b"".join(b" " * level + b"if _x:\n" for level in range(min(depth, 150)))
    chain = b"def f():\n if a: pass\n" + b" elif _x is None: _x = C()\n" * depth
    return dice.choice((b"x = " + opening * depth + b"a" + closing * depth, blocks, chain))


def _noise(dice: random.Random) -> bytes:
    """Bytes."""
    return dice.randbytes(dice.randrange(0, 400))


def _wide(dice: random.Random) -> bytes:
    """One very long line."""
    unit = dice.choice((b"_x = 1; ", b"1 + ", b"a, ", b"'s' ", b"\xc3\xa9"))
    return b"def f(): " + unit * dice.choice((100, 10_000)) + b"0"


def _mutated(data: bytes, dice: random.Random) -> bytes:
    start = dice.randrange(len(data) + 1)
    end = min(len(data), start + dice.choice((0, 1, 3, 20, 200)))
    new = dice.choice((b"", dice.choice(_PIECES), dice.randbytes(1), data[start:end] * 2))
    return data[:start] + new + data[end:]


def survives(data: bytes) -> bool:
    """Check `data` and fix what is fixable; return whether both ended as they should."""
    findings = check_bytes(data, "<fuzz>")
    fixable = [finding for finding in findings if finding.fixable]
    if fixable:
        text = data.decode("utf-8-sig")
        fixed = fix_source(text, fixable)
        return not any(f.code == "LS000" for f in check_bytes(fixed.encode(), "<fixed>"))
    return True


def run(count: int, seed: int, report: Callable[[str], object]) -> int:
    """Check `count` files, report on each that fails, and return their number."""
    failed = 0
    for number in range(seed, seed + count):
        try:
            good = survives(make_file(number))
        except Exception as error:  # noqa: BLE001 - whatever it is, it should not have come
            report(f"seed {number}: {error!r}")
            good = False
        failed += not good
    return failed


if __name__ == "__main__":
    total, first = int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0
    bad = run(total, first, print)
    print(f"{total} files from seed {first}: {bad} failed")
    sys.exit(1 if bad else 0)
