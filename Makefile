# svmbench: `make tables` and `make test` do all the set-up they need in .venv.
# Variables: PYTHON (the interpreter, >= 3.11), SVMBENCH_NATIVE=0 (portable kernels),
# SVMBENCH_MIRROR (a folder with data files), CONFIG (for `make run`).

PYTHON ?= python3
CONFIG ?= configs/adult.yaml
export SVMBENCH_NATIVE ?= 1

VENV := .venv
BIN := $(VENV)/bin
SVMBENCH := $(BIN)/svmbench
BUILD_INPUTS := pyproject.toml setup.py $(wildcard kernels/*.pyx kernels/*.pxd)

.DEFAULT_GOAL := help
.PHONY: help tables run smoke test lint format dist clean

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-8s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

tables: $(VENV)/.installed ## Run the Adult sweep (or the tiny sets, without data) and write its tables and plots
	@$(SVMBENCH) run configs/adult.yaml || { \
	    code=$$?; [ $$code -eq 3 ] || exit $$code; \
	    echo "make tables: Adult cannot be had here; the sets that come with svmbench instead" >&2; \
	    $(SVMBENCH) run configs/smoke.yaml; }

run: $(VENV)/.installed ## Run the sweep CONFIG=... and write its tables and plots
	$(SVMBENCH) run $(CONFIG)

smoke: $(VENV)/.installed ## Run a method of each kind on the tiny sets, in about a minute
	$(SVMBENCH) run configs/smoke.yaml

test: $(VENV)/.developing ## Run the tests
	$(BIN)/python -m pytest

lint: $(VENV)/.developing ## Check style and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	PATH="$(BIN):$$PATH" cython-lint kernels

format: $(VENV)/.developing ## Format the Python sources
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

dist: $(VENV)/.developing ## Build the source distribution and a portable wheel in dist/
	SVMBENCH_NATIVE=0 $(BIN)/python -m build

clean: ## Remove everything that was built (results and caches stay)
	rm -rf $(VENV) build dist *.egg-info svmbench.egg-info kernels/*.so kernels/*.c

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	    echo "svmbench needs Python 3.11 or later; name one: make PYTHON=python3.12 ..." >&2; exit 2; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/.installed: $(BUILD_INPUTS) | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	@touch $@

$(VENV)/.developing: $(BUILD_INPUTS) | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $@ $(VENV)/.installed
