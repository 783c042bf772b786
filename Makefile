# Every target sets up what it needs in .venv; nothing has to be installed by hand.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP_VERSION := 26.3
HOSTS := .venvs/hosts
MINUTES := 10
SECONDS := 8
SEED := 1
BEGUN := $(shell date +%s)
# What Hermes Agent 0.19 pins, where constraints.txt has newer releases.
HERMES_PINS := honcho-ai==2.2.0 fal-client==0.13.1
export NO_MKDOCS_2_WARNING := 1
export DISABLE_MKDOCS_2_WARNING := true

.DEFAULT_GOAL := help

.PHONY: help
help:  ## List the targets.
	@sed -n 's/^\([a-z-]*\):.*  ## /  make \1|/p' Makefile | column -t -s '|'

.PHONY: setup
setup: $(VENV)/.ready  ## Make .venv with everything the project uses.

$(VENV)/.ready: pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed; run: make PYTHON=/path/to/python3.11 setup")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check pip==$(PIP_VERSION)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt \
	  --editable '.[honcho,fal,docs]' --group dev
	@touch $@

.PHONY: serve
serve: setup  ## Show the guide on http://127.0.0.1:8000.
	$(BIN)/mkdocs serve --dev-addr 127.0.0.1:8000

.PHONY: site
site: setup  ## Build the guide into site/, strictly.
	$(BIN)/mkdocs build --strict

.PHONY: properdocs
properdocs: setup  ## Build the guide with MkDocs and with ProperDocs, and compare; gates nothing.
	$(BIN)/python -m tests.support.successor

# Two kinds at a time. The first ones need no site, and are done when it is built.
WHILE_BUILDING := types lint
# Longest first, so that both lanes end together.
TESTS := browser unit proved blocks project hermes-pins one-file

.PHONY: test
test: setup  ## Run every test there is, two kinds at a time; takes minutes.
	@$(BIN)/coverage erase
	@echo 'Side by side, each shown when it has ended: $(WHILE_BUILDING) $(TESTS)'
	@$(MAKE) --no-print-directory --jobs=2 --output-sync=target $(WHILE_BUILDING) built-site
	@BUILT_SITE='$(CURDIR)/.cache/site' \
	  $(MAKE) --no-print-directory --jobs=2 --output-sync=target $(TESTS)
	@$(MAKE) --no-print-directory coverage
	@echo "Every test passed, in $$(($$(date +%s) - $(BEGUN))) s (budget: 360)."

.PHONY: built-site
built-site: setup
	@$(BIN)/python -m tests.support.site .cache/site

.PHONY: lint
lint: setup  ## Check style and formatting.
	$(BIN)/ruff check
	$(BIN)/ruff format --check

.PHONY: types
types: setup  ## Check types with both checkers, strictly.
	$(BIN)/mypy
	$(BIN)/basedpyright

# Tests of the guide, of the project's own promises and of what it leaves behind. They cover nothing
# that `unit` does not, so they are not measured.
PROJECT := tests/docs tests/learned tests/promises tests/security tests/types \
  tests/interleaving/test_mutants.py

.PHONY: unit
unit: setup  ## Run the library's tests, and measure what they cover.
	$(BIN)/coverage run -m pytest tests --ignore tests/interleaving/test_proofs.py \
	  $(PROJECT:%=--ignore %)

.PHONY: project
project: setup  ## Test the guide, the promises, the mutants and the traces that are left.
	$(BIN)/python -m pytest $(PROJECT)

.PHONY: proved
proved: setup  ## Run the proofs that do not take long, on this Python: unmeasured, in half the time.
	$(BIN)/python -m pytest tests/interleaving/test_proofs.py

.PHONY: blocks
blocks: setup  ## Run every block of the guide: unmeasured, as each is a process of its own.
	$(BIN)/python -m pytest --codeblocks docs README.md

.PHONY: recipe
recipe: setup  ## Check one recipe, and look at nothing else: make recipe RECIPE=share-one-client.
	@$(BIN)/python -m tests.support.recipe '$(RECIPE)'

.PHONY: one-file
one-file: setup  ## Run the primitives' tests on the one-file copy instead of the package.
	$(BIN)/python -m tests.vendoring.stand_in --quiet

.PHONY: coverage
coverage: setup  ## Report coverage of the last run; below 100 % is an error.
	$(BIN)/coverage combine --quiet
	$(BIN)/coverage report

.PHONY: hermes-pins
hermes-pins: setup $(VENV)/hermes-pins/.ready  ## Test the clients on the SDK releases that Hermes pins.
	SDK_UNDER_TEST='$(HERMES_PINS)' PYTHONPATH=$(CURDIR)/$(VENV)/hermes-pins \
	  $(BIN)/python -m pytest --quiet tests/honcho tests/fal

$(VENV)/hermes-pins/.ready: Makefile | setup
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --upgrade \
	  --target $(@D) $(HERMES_PINS)
	@touch $@

.PHONY: browser
browser: setup  ## Test the site in Chromium, if this machine has it.
	$(BIN)/python -m pytest tests/browser

.PHONY: test-hosts
test-hosts: setup $(HOSTS)/.ready  ## Test in Hermes Agent, gunicorn, uvicorn and Celery.
	$(HOSTS)/bin/python -m pytest tests/hosts

$(HOSTS)/.ready: pyproject.toml tests/hosts/constraints.txt
	$(PYTHON) -m venv --clear $(HOSTS)
	$(HOSTS)/bin/python -m pip install --quiet --disable-pip-version-check pip==$(PIP_VERSION)
	$(HOSTS)/bin/python -m pip install --quiet --disable-pip-version-check \
	  --constraint tests/hosts/constraints.txt --group hosts
	@touch $@

.PHONY: test-all
test-all: setup  ## Run the library's own tests on every Python found (3.11 and newer).
	$(BIN)/python -m tests.support.interpreters

.PHONY: bench
bench: setup  ## Measure the hit path and the import; over a limit is an error.
	$(BIN)/python -m tests.benchmarks.hit_path

.PHONY: torn
torn: setup  ## Hunt for torn reads on every Python found; takes minutes.
	$(BIN)/python -m tests.benchmarks.torn_reads

.PHONY: stress
stress: setup  ## Hammer our slot and a two-field one on every Python found, SECONDS a line (8).
	$(BIN)/python -m tests.benchmarks.stress --seconds $(SECONDS)

.PHONY: hostile
hostile: setup  ## Read 10,000 hostile settings; none may crash, run anything or show a key.
	HOSTILE_CASES=10000 $(BIN)/python -m pytest --timeout=1800 tests/honcho/test_hostile.py

.PHONY: soak
soak: setup  ## Do everything at once on every Python found, MINUTES on each (10).
	$(BIN)/python -m tests.soak --minutes $(MINUTES) --seed $(SEED)

.PHONY: proofs
proofs: setup  ## Prove the primitives over all schedules on every Python found, in a table; takes minutes.
	$(BIN)/python -m tests.interleaving.everywhere

.PHONY: mutants
mutants: setup  ## Show which proof kills which wrong version of the primitives.
	$(BIN)/python -m tests.interleaving.killers

.PHONY: promises
promises: setup  ## Write the page of promises from the tests that prove them.
	$(BIN)/python -m tests.promises.table

.PHONY: schedules
schedules: setup  ## Write the schedules in which the racy snippets go wrong (Python 3.11).
	$(BIN)/python -m tests.interleaving.schedules

.PHONY: learned
learned: setup  ## Write the page of lessons from the tests that show them.
	$(BIN)/python -m tests.learned.page

.PHONY: rules
rules: setup  ## Write the pages of the checker's rules from their docstrings.
	$(BIN)/python -m plugin_utils.checker.pages docs/reference/rules

.PHONY: labels
labels: setup  ## Measure the checker on judged sites of published packages (downloads them).
	$(BIN)/python -m tests.checker.labels .cache/labels
	$(BIN)/python -m tests.checker.labels.rewriting .cache/labels

.PHONY: labels-wide
labels-wide: setup  ## Measure it on 742 packages more; takes many gigabytes.
	$(BIN)/python -m tests.checker.labels .cache/labels wide fourth fifth

.PHONY: fuzz
fuzz: setup  ## Check a hundred thousand odd files.
	nice $(BIN)/python -m tests.checker.fuzzing 100000

.PHONY: clean
clean:  ## Remove what the other targets made.
	rm -rf $(VENV) .venvs site build dist .coverage .coverage.* .cache .mypy_cache .pytest_cache .ruff_cache .hypothesis
