"""Have a failing `assert` say what it compared, as pytest does for a test module.

pytest offers this for modules that it imports, not for a syntax tree. Two of its internals are used
here and nowhere else; both are covered by a test that reads the message.
"""

import ast
import os
from functools import cache

from _pytest.assertion import util
from _pytest.assertion.rewrite import rewrite_asserts
from _pytest.config import get_config

__all__ = ("explain", "prepare")


def explain(module: ast.Module, file: str) -> None:
    """Rewrite the asserts of the module in place."""
    prepare()
    rewrite_asserts(module, b"", file)


@cache
def prepare() -> None:
    """Set up pytest's comparisons; a forkserver does it once for all blocks."""
    config = get_config()
    # It reads no file, and leaves imports and the standard streams alone.
    config.parse(["-c", os.devnull, "--assert=plain", "--capture=no", "-p", "no:cacheprovider"])

    def compare(operator: str, left: object, right: object) -> str | None:
        explanations: list[list[str]] = config.hook.pytest_assertrepr_compare(
            config=config, op=operator, left=left, right=right
        )
        lines = next(filter(None, explanations), None) or [""]
        return "\n~".join(line.replace("\n", "\\n") for line in lines).replace("%", "%%") or None

    util._reprcompare = compare
