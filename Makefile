# make run [FOLDER=…]   open a project folder; without one, the bundled example
# make test             everything the tests need, then the tests, the linters and the types
# make help             the rest
#
# PYTHON=… chooses the interpreter. All Python packages go into .venv, in the versions and with the
# hashes of the lock files.

SHELL := /bin/sh
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

VENV := .venv
PY := $(VENV)/bin/python
PIP := $(PY) -m pip --disable-pip-version-check
EXAMPLE := examples/coding-sessions
NEW_ENOUGH := import sys; sys.exit(sys.version_info < (3, 11))

# The first that runs and is new enough: a name on the path may be a shim with nothing behind it.
PYTHON ?= $(shell for name in python3 python3.11 python3.12 python3.13 python3.14 python; do \
	if $$name -c '$(NEW_ENOUGH)' >/dev/null 2>&1; then echo $$name; break; fi; done)

.PHONY: help run test check lint format package lock clean

help:
	@sed -n '1,/^$$/s/^# \{0,1\}//p' Makefile
	@echo "make check            the tests and linters alone, installing no system packages"
	@echo "make lint             ruff and mypy"
	@echo "make format           let ruff rewrite what it can"
	@echo "make package          the wheel and the source archive, in dist/"
	@echo "make lock             write the lock files anew (LOCK=--upgrade moves to newer versions)"
	@echo "make clean            remove what was made here"

# Not every shell has put the home folder in place of ~ when it stands behind a =.
# The example is a home of its own: what lies in the person's real one is not part of it.
run: $(VENV)/.runtime
ifdef FOLDER
	@folder="$(FOLDER)"; case "$$folder" in "~" | "~/"*) folder="$$HOME$${folder#\~}" ;; esac; \
	exec $(VENV)/bin/anchorline "$$folder"
else
	@$(VENV)/bin/anchorline --home $(EXAMPLE) $(EXAMPLE)
endif

test: $(VENV)/.dev
	@scripts/system-packages
	@$(MAKE) --no-print-directory check

check: $(VENV)/.dev
	$(PY) -m pytest
	@$(MAKE) --no-print-directory lint

lint: $(VENV)/.dev
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .
	$(PY) -m mypy

format: $(VENV)/.dev
	$(PY) -m ruff check --fix .
	$(PY) -m ruff format .

package: $(VENV)/.dev
	$(PY) -m hatchling build

# uv is needed here only; it takes no host or path into what it writes.
LOCK ?=
lock: $(VENV)/.dev
	$(PIP) install --quiet uv==0.13.9
	$(PY) -m uv pip compile --universal --generate-hashes --no-header --no-annotate --quiet $(LOCK) \
		--extra desktop --group build pyproject.toml --output-file requirements.lock
	$(PY) -m uv pip compile --universal --generate-hashes --no-header --no-annotate --quiet $(LOCK) \
		--extra desktop --extra dev --extra keyring --extra embeddings --group build --constraint requirements.lock \
		pyproject.toml --output-file requirements-dev.lock

clean:
	rm -rf $(VENV) dist build .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find app compaction tests -name __pycache__ -type d -prune -exec rm -rf {} +

$(VENV)/.made:
	@if ! $(or $(PYTHON),false) -c '$(NEW_ENOUGH)' 2>/dev/null; then \
		echo "Anchorline needs Python 3.11 or newer; name one: make PYTHON=/path/to/python3" >&2; \
		exit 1; \
	fi
	$(PYTHON) -m venv --clear $(VENV)
	@touch $@

# The build backend is locked with the rest, so that nothing is fetched unlocked.
$(VENV)/.runtime: requirements.lock pyproject.toml $(VENV)/.made
	$(PIP) install --quiet --use-pep517 --require-hashes -r requirements.lock
	$(PIP) install --quiet --no-deps --no-build-isolation --editable .
	@touch $@

$(VENV)/.dev: requirements-dev.lock pyproject.toml $(VENV)/.made
	$(PIP) install --quiet --use-pep517 --require-hashes -r requirements-dev.lock
	$(PIP) install --quiet --no-deps --no-build-isolation --editable .
	@touch $@
