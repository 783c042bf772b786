"""A file that Python itself cannot read is not checked, and says so.

## What it does

Reports a file that Python cannot read: a syntax error, bytes that are not in the declared
encoding, code that is nested too deeply for the parser. The other files are still checked.

## Why it is bad

Nothing in the file was looked at. A run that passed over it in silence would look clean.

## Example

```console
$ echo 'def broken(:' > broken.py
$ plugin-utils check broken.py --exit-zero | grep -o '.*parsed'
broken.py:1:12: LS000 [high] cannot be parsed
```

## Use instead

Mend the file. If it is a template or meant for another version of Python, exclude it:

```toml title="pyproject.toml"
[tool.plugin-utils.check]
exclude = ["templates"]
```

## Fix safety

Not rewritten.

## Known limits

The checker parses with the Python that runs it. Syntax that is newer than that Python is reported.
"""

from plugin_utils.checker.rules.rule import Page

__all__ = ("PAGE",)

PAGE = Page("LS000", "File cannot be parsed", "high", __doc__ or "")
