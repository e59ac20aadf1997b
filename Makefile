# svmbench: `make demo`, `make tables` and `make test` do all the set-up they need in .venv.
# Variables: PYTHON (the interpreter, >= 3.11), SVMBENCH_NATIVE=0 (portable kernels),
# SVMBENCH_MIRROR (a folder with data files), CONFIG (for `make run`), BUDGET (for `make tables`),
# FULL_BUDGET (for `make tables-full`, none unless set) and PAPERS (for both: KEY or KEY/ITEM, all
# unless set); FETCH (for `make tables`, `make tables-full` and `make bench`: 0 downloads nothing, all
# also what exceeds 300 MB); for `make bench` its own BENCH_BUDGET; WRITE=1 (for `make golden`); LOCKED=1
# (develop with the locked packages, each held against its hash).

PYTHON ?= python3
CONFIG ?= configs/adult.yaml
BUDGET ?= 30m
FULL_BUDGET ?=
PAPERS ?=
FETCH ?=
LOCKED ?=
BENCH_BUDGET ?= 25m
export SVMBENCH_NATIVE ?= 1

VENV := .venv
LOCK := .ci/requirements.txt
COMPILE = $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes \
    --custom-compile-command 'make lock' --no-emit-index-url
DEVELOPING := $(VENV)/.developing$(if $(LOCKED),-locked)
BIN := $(VENV)/bin
SVMBENCH := $(BIN)/svmbench
FETCHING = $(if $(filter 0,$(FETCH)),--offline)$(if $(filter all,$(FETCH)),--fetch-all)
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check
BUILD_INPUTS := pyproject.toml setup.py $(wildcard kernels/*.pyx kernels/*.pxd)

# The compiler that setuptools will call.
HAS_COMPILER := import os, shutil, sys, sysconfig; \
    name = os.environ.get("CC") or sysconfig.get_config_var("CC") or "cc"; \
    sys.exit(shutil.which(name.split()[0]) is None)

# Installs the packages of an extra alone: to name the project would compile its kernels again.
NEEDS := import sys, tomllib; project = tomllib.load(open("pyproject.toml", "rb"))["project"]; \
    print(*project["optional-dependencies"][sys.argv[1]], sep="\n")
EXTRA = $(BIN)/python -c '$(NEEDS)' $(1) > $(VENV)/$(1).txt && \
    $(INSTALL) --requirement $(VENV)/$(1).txt

.DEFAULT_GOAL := help
.PHONY: help demo tables tables-full bench bench-full bench-smoke run smoke test slow golden lint sanitize \
    coverage docs format dist lock clean

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-11s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: $(VENV)/.installed ## Run four methods on a small set, in seconds, and show which is fastest
	$(SVMBENCH) demo

tables: $(VENV)/.installed ## Regenerate the papers' tables and figures, in half an hour at most (BUDGET)
	$(SVMBENCH) papers --budget $(BUDGET) $(FETCHING) $(PAPERS)

tables-full: $(VENV)/.installed ## The same at full published size: hours, can be interrupted (FULL_BUDGET)
	$(SVMBENCH) papers --full $(if $(FULL_BUDGET),--budget $(FULL_BUDGET)) $(FETCHING) $(PAPERS)

bench: $(VENV)/.benching ## Compare our speed with the programs people use, in 25 minutes (BENCH_BUDGET)
	$(SVMBENCH) bench default --budget $(BENCH_BUDGET) $(FETCHING)

bench-full: $(VENV)/.benching ## The same at full size: hours, and it can be interrupted
	$(SVMBENCH) bench full $(FETCHING)

bench-smoke: $(VENV)/.installed ## The same on the tiny sets, in a minute at most
	$(SVMBENCH) bench smoke

run: $(VENV)/.installed ## Run the sweep CONFIG=... and write its tables and plots
	$(SVMBENCH) run $(CONFIG)

smoke: $(VENV)/.installed ## Run a method of each kind on the tiny sets, in about a minute
	$(SVMBENCH) run configs/smoke.yaml

test: $(DEVELOPING) ## Run the tests
	$(BIN)/python -m pytest --numprocesses auto --dist worksteal

slow: $(DEVELOPING) ## Run what make test leaves out: many cases, wheels, damaged files, the site (half an hour)
	$(BIN)/python -m pytest --numprocesses auto --dist worksteal -m slow

golden: $(DEVELOPING) ## Compare results with those of tests/golden/ (WRITE=1 writes them)
	$(BIN)/python tests/golden/golden.py $(if $(WRITE),--write)

lint: $(DEVELOPING) ## Check style, types and the direction of imports
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo
	PATH="$(BIN):$$PATH" cython-lint kernels

sanitize: $(DEVELOPING) ## Try hostile input and the reader's tests under the compiler's sanitizers
	$(BIN)/python scripts/trust/sanitize.py --inputs 20000

coverage: $(DEVELOPING) ## Run the tests and hold the lines and branches they reach against a floor
	$(BIN)/coverage erase
	$(BIN)/coverage run -m pytest --numprocesses auto --dist worksteal -m "" $(TESTS)
	$(BIN)/coverage combine --quiet
	$(BIN)/coverage report

docs: $(VENV)/.documenting ## Build the documentation as a site, build/site/index.html, with all links checked
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet --config-file .ci/site/mkdocs.yml
	@echo build/site/index.html

format: $(DEVELOPING) ## Format the Python sources
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

dist: $(DEVELOPING) ## Build the source distribution and a portable wheel in dist/
	SVMBENCH_NATIVE=0 $(BIN)/python -m build

lock: $(BIN)/python ## Lock the newest packages, with their hashes: developing, building, wheels
	$(INSTALL) uv
	$(COMPILE) --extra dev --extra docs --extra peers --upgrade \
	    --output-file $(LOCK) pyproject.toml
	printf 'cython\nsetuptools\n' | \
	    $(COMPILE) --constraint $(LOCK) --output-file .ci/build-requirements.txt -
	printf 'cibuildwheel\n' | $(COMPILE) --upgrade --output-file .ci/wheels-requirements.txt -

clean: ## Remove everything that was built (results and caches stay)
	rm -rf $(VENV) build dist *.egg-info svmbench.egg-info kernels/*.so kernels/*.c

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	    echo "svmbench needs Python 3.11 or later; name one: make PYTHON=python3.12 ..." >&2; exit 2; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { \
	    echo "this Python has no venv; install it (Debian, Ubuntu: apt install python3-venv)" >&2; \
	    exit 2; }
	@$(PYTHON) -c '$(HAS_COMPILER)' || { \
	    echo "no C compiler; install one (Debian, Ubuntu: apt install gcc python3-dev)" >&2; exit 2; }
	$(PYTHON) -m venv $(VENV)
	@# Else a folder named svmbench, such as a clone seen from its parent, hides the package.
	@$(BIN)/python -c 'import pathlib, sysconfig; \
	    place = pathlib.Path(sysconfig.get_path("purelib"), "svmbench-sources.pth"); \
	    place.write_text(f"{pathlib.Path.cwd()}\n", encoding="utf-8")'

$(VENV)/.installed: $(BUILD_INPUTS) | $(BIN)/python
	@echo "setting up $(VENV): packages are installed and kernels compiled; this takes some minutes"
	$(INSTALL) --editable .
	@touch $@

$(VENV)/.developing: $(VENV)/.installed
	$(call EXTRA,dev)
	@touch $@

$(VENV)/.documenting: $(VENV)/.installed
	$(call EXTRA,docs)
	@touch $@

# A program that cannot be had is shown as not installed: no reason not to measure the others.
$(VENV)/.benching: $(VENV)/.installed
	-$(call EXTRA,peers)
	@touch $@

# Without isolation the build uses the locked Cython too, and installs nothing that is not locked.
$(VENV)/.developing-locked: $(BUILD_INPUTS) $(LOCK) | $(BIN)/python
	$(INSTALL) --require-hashes --requirement $(LOCK)
	$(INSTALL) --no-deps --no-build-isolation --editable .
	@touch $@ $(VENV)/.installed
