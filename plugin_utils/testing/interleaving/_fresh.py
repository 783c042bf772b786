"""A module as if it had just been imported."""

from __future__ import annotations

from types import CodeType, ModuleType

from plugin_utils.testing.interleaving._errors import ExplorerError

__all__ = ("code_of", "fresh")

_codes: dict[str, CodeType] = {}


def fresh(module: ModuleType) -> ModuleType:
    """Return a new module, made by running the module's code again.

    Its globals are those of a first import: nothing is built, and its locks are new. The module
    that is given, and `sys.modules`, stay as they are. Call it in a model, so that each schedule
    starts from the same state.

    Args:
        module: An imported module that has source code.

    Raises:
        ExplorerError: The module has no source code, as one that was typed in or written in C.
    """
    code = code_of(module)
    if code is None:
        msg = (
            f"cannot start {module.__name__!r} afresh: it has no source file. Make its state anew "
            "in the model function instead."
        )
        raise ExplorerError(msg)
    made = ModuleType(module.__name__, module.__doc__)
    made.__file__ = module.__file__
    made.__package__ = module.__package__
    exec(code, vars(made))  # noqa: S102 - the module's own code, which the caller has imported
    return made


def code_of(module: ModuleType) -> CodeType | None:
    """Return the code that an import of the module runs, the same object each time."""
    if module.__name__ not in _codes:
        spec = module.__spec__
        loader = spec and spec.loader
        get_code = getattr(loader, "get_code", None)
        code = get_code(module.__name__) if get_code else None
        if code is None:
            return None
        _codes[module.__name__] = code
    return _codes[module.__name__]
