# `make demo` and `make test` set up everything they need in .venv, and compile gpuprof's own code into gpuprof/jit/shipped. Compiled kernels
# are kept in ~/.cache/gpuprof ($GPUPROF_CACHE).
PYTHON ?= python3
BIN := .venv/bin
READY := .venv/ready
PIP := $(BIN)/pip install --quiet --disable-pip-version-check
NPM := --silent --no-audit --no-fund
SCRIPTS := $(wildcard gpuprof/report/html/script/*.js)
PRETTIER := build/lint/node_modules/prettier
LIBRARY := $(wildcard gpuprof/cuda/runtime/*.cpp gpuprof/cuda/runtime/*.h)
MESA := libegl1 libegl-mesa0 libgl1-mesa-dri libgles2
APT := [ "$$(id -u)" = 0 ] || { echo "only root can install packages of the system" >&2; exit 1; }; apt-get update -qq && apt-get install -y -qq

.PHONY: help demo compiled interop tools tools-python tools-npm chromium mesa interop-test page-test draw-test some-tests test test-long test-all lint format prettier wheel bench fuzz clean
.DEFAULT_GOAL := help

help: ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 10

$(READY): pyproject.toml
	@$(PYTHON) -c 'import sys; v = sys.version_info; sys.exit(v < (3, 11) and f"gpuprof needs Python 3.11 or later; {sys.executable} is {v[0]}.{v[1]} (say make PYTHON=python3.12)")'
	$(PYTHON) -m venv .venv
	$(PIP) --editable '.[test]'
	@touch $@

demo: compiled ## collect, correlate and report on samples/transpose.cu
	@mkdir -p build
	$(BIN)/gpuprof collect samples/transpose.cu -o build/transpose.gprec
	$(BIN)/gpuprof correlate build/transpose.gprec -o build/transpose.gpudb
	$(BIN)/gpuprof report build/transpose.gpudb --page source --kernel naive
	@echo
	@echo "Next: .venv/bin/gpuprof report build/transpose.gpudb --page source --kernel padded"

compiled: $(READY) # machine code, once; what is there and fits stays
	@$(BIN)/python -m gpuprof.jit.build

interop: $(READY) ## install Triton and numba-cuda, in the versions that the tests were written with
	$(PIP) --editable '.[interop]' 'triton==3.9.*' 'numba-cuda==0.30.*'

tools: tools-python tools-npm chromium ## install other tools that open what we write

tools-python: $(READY)
	$(PIP) llnl-hatchet perfetto prometheus_client jsonschema playwright check-jsonschema

tools-npm: $(READY)
	npm install $(NPM) --prefix build/tools pprof-format@2.3 speedscope@1.25 axe-core@4.14

chromium: ## install Debian's Chromium, unless there is one; as root
	@for name in chromium chromium-browser google-chrome; do if command -v $$name > /dev/null; then exit; fi; done; \
	$(APT) chromium > /dev/null

mesa: $(READY) ## install moderngl, and Debian's Mesa, unless there is one; as root
	$(PIP) moderngl
	@$(BIN)/python -m tests.draws.mesa 2> /dev/null || { $(APT) $(MESA) > /dev/null && $(BIN)/python -m tests.draws.mesa; }

interop-test: interop ## run the tests of Triton and numba-cuda
	$(MAKE) some-tests REQUIRE="interop" TESTS="tests/interop tests/checkers/test_python.py"

page-test: tools ## run the tests of the page (in a Chromium) and of exports, with these tools
	$(MAKE) some-tests REQUIRE="tools-python tools-npm chromium" TESTS="tests/page tests/export"

draw-test: mesa ## compare draws with Mesa's
	$(MAKE) some-tests REQUIRE="mesa" TESTS="tests/draws"

# A tool that one of $(REQUIRE), names of targets, installs must be there: no test skips for the want of it.
some-tests: $(READY)
	GPUPROF_REQUIRE="$(REQUIRE)" $(BIN)/python -m pytest -q -rs $(TESTS)

test: compiled ## run the tests, on two cores; REQUIRE="mesa chromium": with these tools, and no test skips for them
	GPUPROF_REQUIRE="$(REQUIRE)" $(BIN)/python -m pytest -q -n 2 --dist worksteal -m 'not long'

test-long: compiled ## run the tests that take long
	GPUPROF_REQUIRE="$(REQUIRE)" $(BIN)/python -m pytest -q -n 2 --dist worksteal -m long

test-all: test test-long ## run all tests

lint: $(READY) ## check style and types; the page's scripts only with node and npm
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/ty check --quiet
	$(BIN)/clang-format --dry-run --Werror $(LIBRARY)
	@command -v node > /dev/null || { echo "SKIPPED: the check of the page's scripts (node is not installed)"; exit; }; \
	for script in $(SCRIPTS); do node --check --input-type=module - < $$script || { echo "in $$script"; exit 1; }; done
	@$(MAKE) --no-print-directory prettier > /dev/null || { echo "SKIPPED: the form of the page's scripts (npm cannot install prettier)"; exit; }; \
	node $(PRETTIER)/bin/prettier.cjs --check $(SCRIPTS)

format: $(READY) prettier ## write Python, the page's scripts and the library's C++ as `make lint` wants them
	$(BIN)/ruff format .
	node $(PRETTIER)/bin/prettier.cjs --write $(SCRIPTS)
	$(BIN)/clang-format -i $(LIBRARY)

prettier: $(PRETTIER)

$(PRETTIER):
	npm install $(NPM) --prefix build/lint prettier@3.10.1

wheel: $(READY) ## build the wheel and the sdist, into dist/
	$(BIN)/python -m build --outdir dist .

bench: compiled ## measure speed; writes build/bench.json
	$(BIN)/python -m tests.bench

fuzz: $(READY) ## longer fuzzing than the tests do
	GPUPROF_FUZZ=1 $(BIN)/python -m pytest -q -k fuzz
	GPUPROF_FUZZ=1 $(BIN)/python -m pytest -q -m hypothesis

clean: ## remove what was built
	rm -rf .venv build dist *.egg-info .pytest_cache .ruff_cache .hypothesis gpuprof/jit/shipped
	find . -name __pycache__ -prune -exec rm -rf {} +
