# make demo      learn a graph from data that the package makes itself
# make test      run the tests (slow ones: make test PYTEST_ARGS="-n 2 -m slow")
# make browser   get what the tests of the report in a browser need; they are among the slow ones
# make docs      the documentation site in build/site
# make coverage the everyday tests, with the lines of the package that they reach; fails below 95 %
# make lint      style and types of Python, style of C++; make format mends the style
# make test-cpp  the C++ tests, and a program that uses the installed library
# make sanitize  C++ tests and the Python tests of the core with sanitizers of memory and undefined behaviour
# make sanitize-threads  C++ tests with a sanitizer of data races
# make plugins   install each distribution in plugins/, test it and check its types
# make bridges   tests the bridges against the other packages, and in a Jupyter kernel, in environments of their own
# make dist      sdist and wheel in dist/, and a try of the wheel in an environment of its own
# make dev       an editable installation in .venv that rebuilds itself when C++ changed
# make clean     remove all that was made
#
# Every target sets up what it needs, in .venv and build/. For another Python: make clean, make test PYTHON=python3.13
.PHONY: help demo test coverage browser docs lint format test-cpp sanitize sanitize-threads plugins bridges dist dev clean
.DELETE_ON_ERROR:
.NOTPARALLEL: # most targets install into one environment

PYTHON ?= python3
PYTEST_ARGS ?= -n 2

# With the folders, which are newer than the wheel when a file was deleted.
sources := CMakeLists.txt LICENSE README.md pyproject.toml $(shell find cmake pyknnmi cpp -name __pycache__ -prune -o -print)
cpp_files = $(shell find cpp -name '*.?pp')
plugins = $(patsubst %/pyproject.toml,%,$(wildcard plugins/*/pyproject.toml))

# As an activated environment would.
export VIRTUAL_ENV := $(abspath .venv)
export PATH := $(VIRTUAL_ENV)/bin:$(PATH)

help:
	@sed -n 's/^# \(make .*\)/\1/p' Makefile

demo: .venv/.package
	pyknnmi demo

# Programs that tests start must not import the source folder, which has no compiled module.
test: .venv/.test
	PYTHONSAFEPATH=1 pytest $(PYTEST_ARGS)

# Without the rights to install a browser the tests are skipped, and say so.
browser: .venv/.test
	pip install --quiet "selenium>=4.20"
	command -v chromium chromedriver || apt-get install --yes --quiet chromium chromium-driver || true

docs: .venv/.docs
	sphinx-build --quiet --fail-on-warning --keep-going --builder html docs build/site

lint: .venv/.lint
	ruff check
	ruff format --check
	mypy
	clang-format --dry-run -Werror $(cpp_files)

format: .venv/.lint
	ruff check --select I --fix
	ruff format
	clang-format -i $(cpp_files)

# Lines that run in other processes and in slow tests alone do not count.
coverage: .venv/.test
	pip install --quiet pytest-cov
	PYTHONSAFEPATH=1 pytest $(PYTEST_ARGS) --cov --cov-report term:skip-covered --cov-fail-under 95

# $(call run-ctest,BUILD FOLDER,WHAT CONFIGURES IT)
define run-ctest
	cmake $(2) -DKNNMI_BUILD_TESTS=ON
	cmake --build $(1) --target knnmi_tests
	ctest --test-dir $(1) --output-on-failure
endef

# Where the library in the Python package was compiled: the tests are linked with that very library.
ifeq ($(wildcard .venv/.editable),)
cpp_build := build/wheel/cmake
test-cpp: build/wheel/.built
else
cpp_build := build/editable
endif

test-cpp: .venv/bin/cmake
	$(call run-ctest,$(cpp_build),$(cpp_build))
	cmake --install $(cpp_build) --component library --prefix build/prefix
	cmake -S cpp/examples -B build/examples -G Ninja -DCMAKE_PREFIX_PATH=$(abspath build/prefix)
	cmake --build build/examples
	build/examples/dependence

comma := ,
sanitized := build/sanitized
sanitized_tests := tests/numbers tests/regression/test_graph_search.py
packages_of = $$($(1) -c 'import sysconfig; print(sysconfig.get_path("purelib"))')

# The extension goes into an environment of its own, which sees the packages of .venv. Not with warnings as errors:
# sanitizers make GCC warn about its own headers. A part of the random inputs, to take minutes only; a smaller one for
# data races, which hardly depend on the numbers. Both are odd, so that of cases in pairs not always the first is taken.
sanitize: export KNNMI_TEST_SHARE := 15
sanitize-threads: export KNNMI_TEST_SHARE := 31
sanitize: .venv/.test .venv/bin/cmake
	rm -rf build/asan/wheel
	SKBUILD_CMAKE_DEFINE="KNNMI_SANITIZE=address$(comma)undefined;KNNMI_BUILD_TESTS=ON" \
	  SKBUILD_CMAKE_BUILD_TYPE=RelWithDebInfo pip wheel --quiet --no-build-isolation --no-deps \
	  --wheel-dir build/asan/wheel --config-settings build-dir=$(abspath build/asan) .
	cmake --build build/asan --target knnmi_tests
	ctest --test-dir build/asan --output-on-failure --parallel 2
	$(PYTHON) .ci/venv.py $(sanitized)
	echo "$(call packages_of,.venv/bin/python)" > "$(call packages_of,$(sanitized)/bin/python)/others.pth"
	$(sanitized)/bin/pip install --quiet --no-deps build/asan/wheel/*.whl
	PYTHONSAFEPATH=1 ASAN_OPTIONS=detect_leaks=0 \
	  LD_PRELOAD="$$($(CXX) -print-file-name=libasan.so) $$($(CXX) -print-file-name=libstdc++.so)" \
	  $(sanitized)/bin/python -m pytest -n 2 $(sanitized_tests)

sanitize-threads: .venv/bin/cmake
	$(call run-ctest,build/tsan,-S . -B build/tsan -G Ninja -DCMAKE_BUILD_TYPE=RelWithDebInfo -DKNNMI_SANITIZE=thread)

plugins: build/wheel/.built
	$(PYTHON) .ci/venv.py build/plugins
	build/plugins/bin/pip install --quiet pytest "$$(echo build/wheel/*.whl)[lint]" $(plugins:%='./%[test]')
	for plugin in $(plugins); do (cd $$plugin && $(abspath build/plugins/bin)/pytest) || exit 1; done
	for plugin in $(plugins); do (cd $$plugin && $(abspath build/plugins/bin)/mypy) || exit 1; done

# DoWhy needs an older SciPy: an environment of its own. Each test file is named, so that none is left out unseen.
bridges: build/wheel/.built
	$(PYTHON) .ci/venv.py build/bridges
	build/bridges/bin/pip install --quiet pytest hypothesis ipykernel ipywidgets "$$(echo build/wheel/*.whl)[bridges,notebook]"
	PYTHONSAFEPATH=1 build/bridges/bin/pytest tests/bridges/test_versions.py tests/bridges/test_causal_learn.py \
	  tests/bridges/test_pgmpy.py tests/bridges/test_jupyter.py
	$(PYTHON) .ci/venv.py build/bridges-dowhy
	build/bridges-dowhy/bin/pip install --quiet pytest hypothesis "$$(echo build/wheel/*.whl)[dowhy]"
	PYTHONSAFEPATH=1 build/bridges-dowhy/bin/pytest tests/bridges/test_dowhy.py

dist: build/wheel/.built
	rm -rf dist
	mkdir dist
	cp build/wheel/*.tar.gz build/wheel/*.whl dist
	$(PYTHON) .ci/venv.py build/try
	build/try/bin/pip install --quiet dist/*.whl
	cd build/try && bin/pyknnmi demo

dev: .venv/bin/cmake
	SKBUILD_EDITABLE_REBUILD=true SKBUILD_BUILD_DIR=build/editable pip install --no-build-isolation --editable ".[test,lint]"
	touch .venv/.editable .venv/.package .venv/.test .venv/.lint

clean:
	rm -rf .venv build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis

.venv/bin/python:
	$(PYTHON) .ci/venv.py .venv

# What a build without an environment of its own needs.
.venv/bin/cmake: | .venv/bin/python
	python -c 'import tomllib; print(*tomllib.load(open("pyproject.toml", "rb"))["build-system"]["requires"])' \
	  | xargs pip install --quiet build cmake ninja

# From the sdist: what is tested here, with the plugins too, is what is handed out. Its folders stay for the C++ tests;
# tar gives the files the time of now, since in the sdist it is the same for all.
build/wheel/.built: $(sources) | .venv/bin/cmake
	rm -rf build/wheel
	python -m build --sdist --outdir build/wheel
	mkdir build/wheel/source
	tar -xmf build/wheel/*.tar.gz -C build/wheel/source --strip-components 1
	pip wheel --quiet --no-build-isolation --no-deps --no-index --wheel-dir build/wheel \
	  --config-settings build-dir=$(abspath build/wheel/cmake) build/wheel/source
	touch $@

# After `make dev` the package rebuilds itself and is left alone here.
ifeq ($(wildcard .venv/.editable),)
.venv/.package: build/wheel/.built
	pip install --quiet --force-reinstall --no-deps build/wheel/*.whl
	pip install --quiet build/wheel/*.whl
	touch $@
endif

# The package with one of its extras.
.venv/.test .venv/.lint .venv/.docs: .venv/.%: .venv/.package
	pip install --quiet "$$(echo build/wheel/*.whl)[$*]"
	touch $@
