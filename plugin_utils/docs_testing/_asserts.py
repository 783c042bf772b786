"""Have a failing `assert` say what it compared, as pytest does for a test module.

pytest offers this for modules that it imports, not for a syntax tree. Two of its internals are used
here and nowhere else; both are covered by a test that reads the message.
"""

import ast
import os
from functools import cache
from typing import Any

from _pytest.assertion import rewrite, util
from _pytest.config import get_config

__all__ = ("detail", "explain")


def explain(module: ast.Module, file: str) -> None:
    """Rewrite the asserts of the module in place; runs in pytest's process."""
    rewrite.rewrite_asserts(module, b"", file)
    # A block must not import pytest before one of its assertions fails.
    module.body = [node for node in module.body if not _imports_part(node)]


def _imports_part(node: ast.stmt) -> bool:
    """Tell whether the rewriting put this here; the block's process gives those names a meaning."""
    return isinstance(node, ast.Import) and (node.names[0].asname or "").startswith("@")


def detail(name: str) -> Any:
    """Return pytest's part in a failing assert; runs in the block's process."""
    _prepare()
    return getattr(rewrite, name)


@cache
def _prepare() -> None:
    """Set up pytest's comparisons."""
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
