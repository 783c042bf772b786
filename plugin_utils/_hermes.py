"""What a plugin's host, Hermes Agent, can tell or do for it. Outside Hermes nothing happens."""

import logging
import os
from importlib import import_module
from pathlib import Path

__all__ = ("active_profile", "ask", "home", "install")

logger = logging.getLogger(__name__)


def ask(module: str, function: str, *args: object, **options: object) -> object:
    """Call a function of the host and return its answer.

    Returns `None` where there is no such function, and when it fails: what the host offers is a
    help, and every caller has an answer of its own to fall back on.
    """
    try:
        answer: object = getattr(import_module(module), function)(*args, **options)
    except ModuleNotFoundError:
        return None
    except Exception:
        logger.debug("%s.%s failed", module, function, exc_info=True)
        return None
    return answer


def install(feature: str) -> None:
    """Let the host install the packages of one of its features, without asking the user."""
    ask("tools.lazy_deps", "ensure", feature, prompt=False)


def home() -> Path:
    """Return the folder of the running profile, `$HERMES_HOME` or `~/.hermes`."""
    told = ask("hermes_constants", "get_hermes_home")
    if isinstance(told, Path):
        return told
    return Path(os.environ.get("HERMES_HOME", "").strip() or Path.home() / ".hermes")


def active_profile() -> str | None:
    """Return the name of the running profile, or `None` where there is none.

    A named profile lives in `profiles/<name>` of the Hermes folder.
    """
    told = ask("hermes_cli.profiles", "get_active_profile_name")
    if isinstance(told, str):
        return told
    folder = Path(os.path.realpath(home()))  # Hermes follows links too, before it looks
    return folder.name if folder.parent.name == "profiles" else None
