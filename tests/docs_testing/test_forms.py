"""Every form in which a page can show a block."""

from collections import Counter

import pytest

from tests.docs_testing.forms import FORMS
from tests.docs_testing.sites import Run

WORST = ("failed", "xfailed", "skipped", "passed")


@pytest.mark.parametrize("name", FORMS)
def test_each_form_is_judged_right(name: str, forms: tuple[Run, Counter[str]]) -> None:
    """A form's blocks run, each once, and its worst outcome is the one that it should have."""
    run, ran = forms
    outcomes = {item.outcome for item in run.pages.get(name, ())}
    worst = next((outcome for outcome in WORST if outcome in outcomes), "nothing")

    assert worst == FORMS[name].outcome, run.pages.get(name)
    assert {tag: ran[tag] for tag in FORMS[name].ran} == dict.fromkeys(FORMS[name].ran, 1)


def test_nothing_else_ran(forms: tuple[Run, Counter[str]]) -> None:
    """What is shown, left out or not a block at all was not run."""
    _, ran = forms
    assert set(ran) == {tag for form in FORMS.values() for tag in form.ran}


def test_an_item_is_named_by_its_line(forms: tuple[Run, Counter[str]]) -> None:
    """A block's name is the line of its fence; a fence from another file is named by that, too."""
    run, _ = forms
    assert [item.name for item in run.pages["braces"]] == ["line 3", "line 10"]
    assert [item.name for item in run.pages["included_fence"]] == ["snippets/whole.md:1"]


def test_the_run_is_summed_up(forms: tuple[Run, Counter[str]]) -> None:
    """The counts cover every page and every fence."""
    run, _ = forms
    assert f"docs: {len(FORMS)} pages, 66 blocks collected, 65 run, 1 not run\n" in run.printed
