# Two commands do everything on a bare machine with CPython 3.11 and a C compiler:
#
#   make demo    real models through jedlik, beside plain PyTorch and stock torch.compile
#   make test    the tests
#
# Both make .venv, install the pinned requirements and torch into it, and build. Nothing outside this folder
# is written. Further targets: bench, cases, suite, asan, dev, quick, format, check, clean.

PYTHON  ?= $(shell command -v python3.11 || command -v python3)
VENV    ?= .venv
BIN     := $(VENV)/bin
STAMPS  := $(VENV)/stamps
PIP     := $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-cache-dir -c constraints.txt

# Caches of the libraries we run stay in build/, and nothing is looked up on the network.
CACHES  := XDG_CACHE_HOME=$(CURDIR)/build/cache TORCHINDUCTOR_CACHE_DIR=$(CURDIR)/build/cache/inductor \
           HF_HOME=$(CURDIR)/build/cache/hf HF_HUB_OFFLINE=1 PYTHONDONTWRITEBYTECODE=1
RUN     := env PATH=$(abspath $(BIN)):$$PATH $(CACHES) $(abspath $(BIN))/python
SOURCES := $(shell find src python -name '*.c' -o -name '*.h' -o -name '*.def' -o -name '*.py') \
           meson.build pyproject.toml tools/sources.py

.PHONY: demo test bench asan dev quick format check cases suite clean
.DELETE_ON_ERROR:

# -- What a person runs ----------------------------------------------------------

demo: $(STAMPS)/jedlik $(STAMPS)/run
	$(RUN) -m jedlik._demo $(ARGS)

test: $(STAMPS)/jedlik $(STAMPS)/run $(STAMPS)/test
	$(RUN) -m pytest -p no:cacheprovider --basetemp=build/pytest -q $(ARGS)

bench: $(STAMPS)/jedlik $(STAMPS)/run
	mkdir -p build/tmp
	TMPDIR=$(CURDIR)/build/tmp $(RUN) bench/bench.py --b jedlik:compile --goals here $(ARGS)

# All model and bug-report cases, the long way round (make test runs a selection).
cases: $(STAMPS)/jedlik $(STAMPS)/run $(STAMPS)/test
	-$(RUN) tests/cases/models.py --compile jedlik:compile --strict
	-$(RUN) tests/cases/models.py --compile jedlik:compile --strict --train
	-$(RUN) tests/cases/bug_cases.py --compile jedlik:compile --strict

# CPython's own tests with a break at every n-th instruction: two minutes a run, JEDLIK_BREAKS="3 7" for other n.
suite: $(STAMPS)/jedlik $(STAMPS)/run $(STAMPS)/test
	$(RUN) -m pytest -p no:cacheprovider --basetemp=build/pytest -q --slow tests/test_cpython.py $(ARGS)

# Engine tests under gcc's address and undefined-behaviour sanitizers.
asan: $(STAMPS)/run $(STAMPS)/test
	tools/build.sh $(BIN) build/asan --buildtype=debug -Doptimization=1 -Dwerror=true \
	    -Db_sanitize=address,undefined -Db_lundef=false -Dc_args=-fno-sanitize-recover=undefined
	tools/asan.sh $(BIN) $(ARGS)

# -- What a developer runs -------------------------------------------------------

# Incremental build with assertions; python/ then holds the engine: PYTHONPATH=python.
# `make dev VENV=/elsewhere` builds for the interpreter of another environment.
dev: | $(BIN)/meson
	tools/build.sh $(BIN) build/dev -Dwerror=true $(DEVFLAGS)
	ln -sf ../../$$(ls build/dev/_engine.*.so) python/jedlik/

# The tests that take seconds, on the incremental build.
quick: dev
	PYTHONPATH=python $(BIN)/python -m pytest -p no:cacheprovider -q --ignore=tests/test_cases.py $(ARGS)

format: | $(BIN)/clang-format
	$(BIN)/clang-format -i $$($(BIN)/python tools/sources.py format)

check: | $(BIN)/clang-format
	PATH=$(abspath $(BIN)):$$PATH $(BIN)/python tools/check_format.py
	$(BIN)/python tools/check_layers.py
	$(BIN)/python tools/check_tables.py

clean:
	rm -rf build python/jedlik/_engine.*.so

# -- The environment, a stamp for each step --------------------------------------

$(STAMPS)/venv:
	@echo "-- making $(VENV)"
	@$(PYTHON) -c 'import sys; v = sys.version_info[:2]; v == (3, 11) or sys.exit(f"jedlik needs CPython 3.11, this is {v}")'
	$(PYTHON) -m venv $(VENV)
	@mkdir -p $(@D) && touch $@

$(STAMPS)/build: requirements-build.txt constraints.txt | $(STAMPS)/venv
	@echo "-- installing the build tools"
	$(PIP) -r requirements-build.txt
	@touch $@

$(STAMPS)/run: requirements.txt constraints.txt | $(STAMPS)/venv
	@echo "-- installing torch and what the demo needs"
	$(PIP) -r requirements.txt
	@touch $@

$(STAMPS)/test: requirements-test.txt requirements-models.txt constraints.txt | $(STAMPS)/run
	@echo "-- installing what the tests need"
	$(PIP) -r requirements-test.txt
	$(PIP) --no-deps -r requirements-models.txt
	@touch $@

$(STAMPS)/jedlik: $(SOURCES) | $(STAMPS)/build
	@echo "-- building jedlik"
	@mkdir -p build
	PATH=$(abspath $(BIN)):$$PATH $(PIP) --no-deps --no-build-isolation --force-reinstall \
	    --config-settings=build-dir=build/wheel .
	@touch $@

# Only what is not there at all: an environment from elsewhere (VENV=) is used as it is.
$(BIN)/meson:
	$(MAKE) $(STAMPS)/build

$(BIN)/clang-format:
	$(MAKE) $(STAMPS)/test
