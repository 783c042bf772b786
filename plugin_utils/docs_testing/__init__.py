"""Run every code block of a MkDocs site as a test, and check that the built site shows no other.

**This executes your pages.** Each Python, shell and console block of each page that pytest collects
runs on the machine that runs the tests, with the rights of the user who runs them. A fresh process,
a temporary home and a temporary working directory keep blocks out of each other's way; they are not
a sandbox. Run it on pages that you would run by hand.

One line of pytest configuration switches it on:

    addopts = ["-p", "plugin_utils.docs_testing.plugin"]

Then `pytest --codeblocks docs README.md` collects the blocks, and
`python -m plugin_utils.docs_testing check mkdocs.yml site/` compares them with the built site.
The extra `docs` installs what this package needs; importing `plugin_utils` alone needs none of it.

The parts: `_pages` reads a page as the build does, `_extract` hands its fences to
pytest-codeblocks, `_marks` reads the marks and `_python` compiles a block. `_runner` and
`_forkserver` start a process for it; `_child` is what that process does, `_languages` what it does
with a language other than Python, and `_describe` shows what failed. `_judge` decides. `plugin` and
`_collect` tie them to pytest, `check` reads the built site, and `markdown` shows the marks to the
reader.
"""

__all__ = ()
