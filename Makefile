# Every target installs what it needs. Requirements: Python >= 3.11, a C compiler, make and a package index.
PYTHON ?= python3
VENV ?= .venv
PY = $(VENV)/bin/python
WHEEL_ENV = PYTHONSAFEPATH=1
SOURCES = $(shell find src ldpfast -name '*.pyx' -o -name '*.px[di]' -o -name '*.[ch]' -o -name '*.py' -o -name '*.pyi') \
          setup.py pyproject.toml MANIFEST.in

SECONDS_OF_FUZZING ?= 600

.PHONY: demo figures test slow bench check sanitize fuzz bits taint mutate clean

demo: $(VENV)/.demo ## private estimates of real surveys beside the true values, and one figure
	$(WHEEL_ENV) $(PY) -m ldpfast demo

figures: $(VENV)/.demo ## the experiments of the papers: figures, numbers, and a check of the claims
	$(WHEEL_ENV) $(PY) -m ldpfast reproduce --output docs/figures --seed 1

test: $(VENV)/.test ## all tests against the installed wheel
	$(WHEEL_ENV) $(VENV)/bin/pytest -q

slow: $(VENV)/.test ## the tests that take up to an hour: coverage of every interval
	$(WHEEL_ENV) $(VENV)/bin/pytest -q --slow -m slow

bench: $(VENV)/.demo ## throughput on this machine
	$(WHEEL_ENV) $(PY) -m ldpfast bench

check: $(VENV)/.check ## format, lint, types, checks of the compiled code, contents of wheel and sdist
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/clang-format --dry-run --Werror $$(find src/kernels -name '*.[ch]')
	$(VENV)/bin/mypy
	cd $(VENV) && bin/python -m mypy.stubtest ldpfast._core --ignore-disjoint-bases --ignore-unused-allowlist \
	    --allowlist ../tools/stubtest_allowlist.txt
	$(PY) tools/vector_loops.py
	$(PY) tools/nogil_code.py
	$(PY) tools/baseline_isa.py
	$(PY) tools/secret_jumps.py
	$(PY) tools/contents.py

sanitize: $(VENV)/.test ## the tests under the address and undefined-behavior sanitizers
	$(PY) tools/sanitize.py

fuzz: $(VENV)/.fuzz ## search for inputs that break a reader of bytes, guided by coverage (Linux)
	$(WHEEL_ENV) $(PY) tools/fuzz.py --seconds $(SECONDS_OF_FUZZING)

bits: ## the kernels give the same bits on every instruction set and on ARM64 (cross compiler, user-mode emulation)
	$(PYTHON) tools/equal_bits.py

taint: ## no branch and no address depends on a record or a private coin, where this is claimed (Valgrind)
	$(PYTHON) tools/secret_taint.py

mutate: $(VENV)/.test ## whether the tests notice a sample of small errors in kernels and coins; an hour on two processors
	$(PY) tools/mutate.py

$(VENV)/.tools: pyproject.toml
	test -x $(PY) || $(PYTHON) -m venv $(VENV)
	$(PY) -m pip install -q --upgrade pip "setuptools>=77" "cython>=3.1,<4"
	touch $@

$(VENV)/.wheel: $(VENV)/.tools $(SOURCES)
	rm -rf build/wheel build/lib* build/bdist*
	$(PY) -m pip wheel -q --no-deps --no-build-isolation --wheel-dir build/wheel .
	touch $@

# The extras come from the metadata of the wheel. The second command replaces an older wheel of the same version.
$(VENV)/.demo $(VENV)/.test $(VENV)/.check $(VENV)/.fuzz: $(VENV)/.%: $(VENV)/.wheel
	wheel=$$(echo build/wheel/*.whl) && $(PY) -m pip install -q "$$wheel[$*]" && \
	    $(PY) -m pip install -q --no-deps --force-reinstall "$$wheel"
	touch $@

clean: ## remove everything that can be built again
	rm -rf $(VENV) build dist *.egg-info ldpfast/_core/*.so
