# Two commands: `make lab` opens the course, `make test` runs every test. `make help` lists the rest.
# Everything is installed into .venv; Jupyter's own files stay there too, so your home folder is left alone.

PYTHON ?= python3
TORCH_INDEX ?=
MODEL ?= smollm2
PORT ?=
PEER ?=
REPO ?=
JOBS ?= 2
PYTEST_ARGS ?=

# Found before the environment's own `python3` comes first on the path.
BASE_PYTHON := $(shell command -v "$(PYTHON)" 2>/dev/null)

VENV := .venv
BIN := $(CURDIR)/$(VENV)/bin
STATE := $(CURDIR)/$(VENV)/var
PY := $(BIN)/python

# nbgrader starts `alembic` by name: the environment's bin must be on the path.
export PATH := $(BIN):$(PATH)
export JUPYTER_CONFIG_DIR := $(STATE)/jupyter/config
export JUPYTER_DATA_DIR := $(STATE)/jupyter/data
export JUPYTER_RUNTIME_DIR := $(STATE)/jupyter/runtime
export IPYTHONDIR := $(STATE)/ipython
export PYTHONNOUSERSITE := 1
unexport PYTHONPATH PYTHONHOME

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help lab test colab cluster badges labs lint format checks-report soak bench grade-demo install model lock clean python

help: ## list these targets
	@echo "make lab    opens the course in JupyterLab;  make test  runs every test."
	@echo
	@sed -n 's/^\([a-z-]*\):[^#]*## \(.*\)$$/  make \1 ~ \2/p' $(firstword $(MAKEFILE_LIST)) | awk -F ' ~ ' '{ printf "%-20s %s\n", $$1, $$2 }'
	@echo
	@echo "Options: PYTHON=python3.12  TORCH_INDEX=<index that has torch>  MODEL=$(MODEL)  PORT=8888  JOBS=$(JOBS)  PYTEST_ARGS='-k lifecycle'"

lab: install model ## open JupyterLab at the course
	@set -- --ServerApp.root_dir="$(CURDIR)" --LabApp.default_url=/lab/tree/course/index.ipynb; \
	if [ -n "$(PORT)" ]; then set -- "$$@" --port="$(PORT)" --ServerApp.port_retries=0; fi; \
	if [ "$$(id -u)" = 0 ]; then set -- "$$@" --allow-root; fi; \
	if [ -n "$$CI" ] || { [ "$$(uname)" != Darwin ] && [ -z "$$DISPLAY$$WAYLAND_DISPLAY" ]; }; then \
		echo "No display here: the server prints its URL below; open it in a browser. Ctrl-C stops it."; \
		set -- "$$@" --no-browser; \
	fi; \
	exec "$(BIN)/jupyter-lab" "$$@"

test: install model colab cluster lint ## install, check the style, run every test
	@OMP_NUM_THREADS=1 "$(PY)" -m pytest tests course solutions -n $(JOBS) --dist loadfile --nbval-lax --nbval-cell-timeout=300 $(PYTEST_ARGS)

# The packages of requirements-$(1).lock, in a folder of their own.
define FETCH
@cmp -s requirements-$(1).lock "$(STATE)/$(1)/requirements.lock" || { \
	echo "fetching $(2) ..."; \
	rm -rf "$(STATE)/$(1)" && mkdir -p "$(STATE)/$(1)" && \
	"$(PY)" -m pip install --quiet --quiet --disable-pip-version-check --no-deps \
		--target "$(STATE)/$(1)" --requirement requirements-$(1).lock && \
	cp requirements-$(1).lock "$(STATE)/$(1)/requirements.lock"; } || { \
	echo "inference-kit: the packages of requirements-$(1).lock could not be fetched; is there a network?" >&2; exit 1; }
endef

colab: install ## fetch Colab's versions of the notebook packages, for the tests
	$(call FETCH,colab,the notebook packages that Colab has)

cluster: install ## fetch Ray, for the tests of grading on a cluster
	$(call FETCH,cluster,Ray)

badges: install ## write the links to Colab and ModelScope: make badges REPO=owner/name
	@"$(PY)" -m inference_kit.labs.build --badges "$(REPO)"

labs: install ## build the lab notebooks from their masters
	@"$(PY)" -m inference_kit.labs.build

lint: install ## ruff, mypy, the floors, and whether the labs are up to date
	@echo "lint: ruff, mypy, import-linter, labs ..."
	@"$(BIN)/ruff" check --quiet . || { echo "inference-kit: ruff found faults; the lines above name them" >&2; exit 1; }
	@"$(BIN)/ruff" format --quiet --check . || { echo "inference-kit: run 'make format'" >&2; exit 1; }
	@"$(BIN)/mypy"
	@"$(BIN)/lint-imports" --no-logo
	@"$(PY)" -m inference_kit.labs.build --check

format: install ## let ruff lay out the code and mend what it can
	@"$(BIN)/ruff" format --quiet .
	@"$(BIN)/ruff" check --quiet --fix .

checks-report: install ## what every lab check catches: references, right and wrong answers, mutants
	@"$(PY)" -m inference_kit.labs.report

soak: install ## the random machine of the tests for 10 minutes and 100,000 requests, with flat memory
	@"$(PY)" -m tools.soak

bench: install model ## measure scheduler and streamer into bench/results; PEER=<checkout of nano-vllm> adds it
	@OMP_NUM_THREADS=1 "$(PY)" -m inference_kit.bench $(if $(PEER),--peer "$(PEER)")

grade-demo: install ## grade a sample class for every lab and compare the scores
	@"$(PY)" -m grader demo

install: python ## create or update .venv
	@"$(BASE_PYTHON)" tools/install.py --venv "$(VENV)" --torch-index "$(TORCH_INDEX)"
	@mkdir -p "$(IPYTHONDIR)"

model: install ## fetch the default model once
	@"$(PY)" -m inference_kit.model.hub "$(MODEL)"

lock: install ## resolve pyproject.toml again and rewrite requirements.lock
	@"$(PY)" tools/lock.py > "$(STATE).lock" && mv "$(STATE).lock" requirements.lock

clean: ## remove .venv and everything that was built
	@rm -rf "$(VENV)" "$(VENV).lock" build dist .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +

# The base Python: present, new enough, able to make environments.
python:
	@test -n "$(BASE_PYTHON)" || { \
		echo "inference-kit: '$(PYTHON)' was not found; install Python 3.11 or newer, or name one: make PYTHON=python3.12" >&2; exit 1; }
	@"$(BASE_PYTHON)" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
		echo "inference-kit: Python 3.11 or newer is needed, '$(PYTHON)' is $$("$(BASE_PYTHON)" -V 2>&1); name one: make PYTHON=python3.12" >&2; exit 1; }
	@"$(BASE_PYTHON)" -c 'import ensurepip, venv' 2>/dev/null || { \
		echo "inference-kit: '$(PYTHON)' cannot make virtual environments; on Debian or Ubuntu: apt install python3-venv" >&2; exit 1; }
