# Every target sets up what it needs in .venv; nothing has to be installed by hand.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP_VERSION := 26.3
# What Hermes Agent 0.19 pins, where constraints.txt has newer releases.
HERMES_PINS := honcho-ai==2.2.0 fal-client==0.13.1
export NO_MKDOCS_2_WARNING := 1
export DISABLE_MKDOCS_2_WARNING := true

.DEFAULT_GOAL := help
.PHONY: help setup serve site test lint types unit coverage hermes-pins test-all bench clean

help:  ## List the targets.
	@sed -n 's/^\([a-z-]*\):.*  ## /  make \1|/p' Makefile | column -t -s '|'

setup: $(VENV)/.ready  ## Make .venv with everything the project uses.

$(VENV)/.ready: pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed; run: make PYTHON=/path/to/python3.11 setup")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check pip==$(PIP_VERSION)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt \
	  --editable '.[honcho,fal,docs]' --group dev
	@touch $@

serve: setup  ## Show the guide on http://127.0.0.1:8000.
	$(BIN)/mkdocs serve --dev-addr 127.0.0.1:8000

site: setup  ## Build the guide into site/, strictly.
	$(BIN)/mkdocs build --strict

test: setup lint types unit site coverage hermes-pins  ## Run every test there is.

lint: setup  ## Check style and formatting.
	$(BIN)/ruff check
	$(BIN)/ruff format --check

types: setup  ## Check types with both checkers, strictly.
	$(BIN)/mypy
	$(BIN)/basedpyright

unit: setup  ## Run the tests and every block of the guide.
	$(BIN)/coverage erase
	$(BIN)/coverage run -m pytest tests

coverage: setup  ## Report coverage of the last run; below 100 % is an error.
	$(BIN)/coverage combine --quiet
	$(BIN)/coverage report

hermes-pins: setup $(VENV)/hermes-pins/.ready  ## Test the clients on the SDK releases that Hermes pins.
	SDK_UNDER_TEST='$(HERMES_PINS)' PYTHONPATH=$(CURDIR)/$(VENV)/hermes-pins \
	  $(BIN)/python -m pytest --quiet tests/honcho tests/fal

$(VENV)/hermes-pins/.ready: Makefile | setup
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --upgrade \
	  --target $(@D) $(HERMES_PINS)
	@touch $@

clean:  ## Remove what the other targets made.
	rm -rf $(VENV) .venvs site build dist .coverage .coverage.* .cache .mypy_cache .pytest_cache .ruff_cache .hypothesis
