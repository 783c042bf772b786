"""What the explorer raises of its own accord."""

__all__ = ("ExplorerError",)


class ExplorerError(RuntimeError):
    """The explorer cannot judge: the text says why, and what to change in the model."""
