# Everything a newcomer needs is `make demo` and `make test`; `make` alone lists the rest.

SHELL := /bin/sh
BIN := .venv/bin

# A path or URL of the repository that the demonstration reads (default: this project's own), and its name in the lake.
REPO ?=
NAME ?=

SETUP_OPTIONS := --dev

# Processes that share the tests, each with a Spark session of its own (some 2 GB).
JOBS ?= 2
PYTEST = $(BIN)/pytest --numprocesses=$(JOBS) --dist=loadfile --no-loadscope-reorder

.DEFAULT_GOAL := help
.PHONY: help setup demo test check test-slow faults bench golden docs ui clean

# The set-up program itself needs a Python 3.11 or newer. It then chooses the one for the environment.
define RUN_SETUP
for python in python3 python3.13 python3.12 python3.11; do \
  if $$python -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then \
    exec $$python -B -m lakehouse_assets.core.bootstrap $(SETUP_OPTIONS); \
  fi; \
done
endef

define INSTALL_PYTHON
if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
  echo "packages: installing Python"; \
  { apt-get update && { apt-get install --yes --no-install-recommends python3.11 || apt-get install --yes --no-install-recommends python3; }; } >/dev/null; \
fi
endef

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: ## make the environment in .venv, find or install Java, fetch Delta's JARs; quick when nothing changed
	@$(RUN_SETUP); \
	$(INSTALL_PYTHON); \
	$(RUN_SETUP); \
	echo "set-up: no Python 3.11 or newer on PATH. The project runs on 3.11, 3.12 and 3.13. What to do: install one of them (on Debian or Ubuntu, 'apt-get install python3.11' as root) and run 'make setup' again." >&2; \
	exit 1

demo: setup ## build a lake from REPO=path-or-url (default: this project's own repository), under NAME=…
	@$(BIN)/lakehouse demo $(if $(REPO),'$(REPO)') $(if $(NAME),--name '$(NAME)')

test: SETUP_OPTIONS += --browser
test: check ## check the code, then run the tests, in JOBS=2 processes
	@$(PYTEST)

check: setup ## lint, formatting, types, and advisories of the pinned packages
	@$(BIN)/ruff check
	@$(BIN)/ruff format --check
	@$(BIN)/pyright
	@$(BIN)/python -m lakehouse_assets_tests.audit

test-slow: setup ## the tests that take minutes or need the network, but for those of `make faults`; writes docs/places.md
	@$(PYTEST) -m slow --ignore lakehouse_assets_tests/faults --places-table=docs/places.md

faults: setup ## kill writers at every point, break disks, logs, files and workers; writes docs/faults.md
	@command -v faketime >/dev/null || [ "$$(id -u)" != 0 ] || ! command -v apt-get >/dev/null || \
	  { echo "packages: installing faketime, which sets a process's clock"; \
	  { apt-get update && apt-get install --yes --no-install-recommends faketime; } >/dev/null; }
	@$(BIN)/pytest -m 'slow or not slow' lakehouse_assets_tests/faults --fault-table docs/faults.md

bench: setup ## measure: no-op sync, session start by profile, blobs per second, writes, graphs, updates, backfills, thousands of partitions, growth, a soak
	@$(BIN)/python -m lakehouse_assets_tests.bench

golden: setup ## show what changed in the relational steps, and accept it if you say so (ACCEPT=1 says so beforehand)
	@ACCEPT='$(ACCEPT)' $(BIN)/python -m lakehouse_assets_tests.golden

docs: setup ## write docs/tables.md, docs/transforms.md and the graph in README.md from the code
	@mkdir -p docs && $(BIN)/python -m lakehouse_assets.recipes.docs >docs/tables.md.new && mv docs/tables.md.new docs/tables.md
	@$(BIN)/python -m lakehouse_assets.recipes.docs README.md >README.md.new && mv README.md.new README.md
	@$(BIN)/python -m lakehouse_assets.models.transforms.docs >docs/transforms.md.new && mv docs/transforms.md.new docs/transforms.md

ui: setup ## open the Dagster UI on http://127.0.0.1:3000 (Ctrl-C ends it)
	@$(BIN)/dagster dev

clean: ## remove the environment and the caches; the lake in .lakehouse stays
	rm -rf .venv build dist *.egg-info .pytest_cache .ruff_cache .hypothesis .tmp_dagster_home_*
	find lakehouse_assets lakehouse_assets_tests -name __pycache__ -type d -prune -exec rm -rf {} +
