"""The one name of each language, whatever a fence calls it."""

__all__ = ("canonical",)

ALIASES = {
    "": "text",
    "md": "markdown",
    "plaintext": "text",
    "py": "python",
    "python3": "python",
    "sh": "bash",
    "shell": "bash",
    "txt": "text",
    "yml": "yaml",
}


def canonical(language: str) -> str:
    """Return the one name under which this package knows a language."""
    return ALIASES.get(language, language)
