# `make demo` and `make test` set up everything they need in .venv. Compiled kernels are kept in ~/.cache/gpuprof ($GPUPROF_CACHE).
PYTHON ?= python3
BIN := .venv/bin
READY := .venv/ready

.PHONY: help demo interop tools page-test draw-test test test-all lint bench fuzz clean
.DEFAULT_GOAL := help

help: ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 10

$(READY): pyproject.toml
	@$(PYTHON) -c 'import sys; v = sys.version_info; sys.exit(v < (3, 11) and f"gpuprof needs Python 3.11 or later; {sys.executable} is {v[0]}.{v[1]} (say make PYTHON=python3.12)")'
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --disable-pip-version-check --editable '.[test]'
	@touch $@

demo: $(READY) ## collect, correlate and report on samples/transpose.cu
	@mkdir -p build
	$(BIN)/gpuprof collect samples/transpose.cu -o build/transpose.gprec
	$(BIN)/gpuprof correlate build/transpose.gprec -o build/transpose.gpudb
	$(BIN)/gpuprof report build/transpose.gpudb --page source --kernel naive
	@echo
	@echo "Next: .venv/bin/gpuprof report build/transpose.gpudb --page source --kernel padded"

interop: $(READY) ## install Triton and numba-cuda, which some tests need
	$(BIN)/pip install --quiet --disable-pip-version-check --editable '.[interop]'

tools: $(READY) ## install other tools that open what we write
	$(BIN)/pip install --quiet --disable-pip-version-check llnl-hatchet perfetto prometheus_client jsonschema playwright
	npm install --silent --no-audit --no-fund --prefix build/tools pprof-format speedscope axe-core@4.14

page-test: tools ## run the tests of the page (in a Chromium) and of exports, with these tools
	$(BIN)/python -m pytest -q -rs tests/page tests/export

draw-test: $(READY) ## install Mesa and moderngl (as root; else Debian's libegl1 libegl-mesa0 libgl1-mesa-dri libgles2), and compare draws
	-@[ "$$(id -u)" != 0 ] || apt-get install -y -qq libegl1 libegl-mesa0 libgl1-mesa-dri libgles2 > /dev/null
	$(BIN)/pip install --quiet --disable-pip-version-check moderngl
	$(BIN)/python -m pytest -q -rs tests/draws

test: $(READY) ## run the tests, on two cores
	$(BIN)/python -m pytest -q -n 2 --dist worksteal -m 'not long'

test-all: test ## run the tests that take long, too
	$(BIN)/python -m pytest -q -n 2 --dist worksteal -m long

lint: $(READY) ## check style
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

bench: $(READY) ## measure speed; writes build/bench.json
	$(BIN)/python -m tests.bench

fuzz: $(READY) ## longer fuzzing than the tests do
	GPUPROF_FUZZ=1 $(BIN)/python -m pytest -q -k fuzz
	GPUPROF_FUZZ=1 $(BIN)/python -m pytest -q -m hypothesis

clean: ## remove what was built
	rm -rf .venv build *.egg-info .pytest_cache .ruff_cache .hypothesis
	find . -name __pycache__ -prune -exec rm -rf {} +
