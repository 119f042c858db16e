# Everything starts from a bare clone: `make demo`, `make test`. `make help` lists the rest.

PY := .venv/bin/python
PYTEST := $(PY) -m pytest -q
SLOWEST := --durations=20
LESSONS = $(shell ls -r notebooks/*.ipynb)# the longest ones are the last: two processes that begin with them end together
# nbval imports nbformat in each process, which takes seconds. With worksteal, a module mostly stays in one process, so
# its fixtures (kernels, environments) are made once.
UNIT := $(PYTEST) -n 2 -p no:nbval --dist worksteal
ROOT_FLAG := $(if $(filter 0,$(shell id -u)),--allow-root)

OUTPUT_SYNC := $(if $(filter output-sync,$(.FEATURES)),--output-sync=target)

unexport PYTHONDONTWRITEBYTECODE  # the tests start hundreds of interpreters, and pytest rewrites hundreds of files
unexport MPLBACKEND  # where it is set, a notebook does not show the plots of matplotlib

# Two processes run side by side, and threads of BLAS that wait for each other cost CPU: the course took 101 s of it,
# 61 s with one thread each (two cores, 2026-11-28). No number in a test depends on it.
doctest unit test-fast test-lowest course browser rule-table: export OPENBLAS_NUM_THREADS := 1

.DEFAULT_GOAL := help
.PHONY: help demo lab test checks static tests unit course browser test-fast test-lowest lint style types format \
        front-end build doctest docs binder notebooks table figure gallery animation coverage bench bench-browser \
        crosscheck rule-table clean dist course-ready dev-ready chromium-ready browser-ready fonts-ready
ifneq ($(MAKECMDGOALS),static)
.NOTPARALLEL:
endif

help:  ## list the commands
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "make %-13s %s\n", $$1, $$2}'

demo: course-ready  ## run the quickstart notebook, print its reports, write a page to look at
	@$(PY) tools/demo.py

lab: course-ready  ## open the course in JupyterLab
	$(PY) -m jupyterlab $(ROOT_FLAG) notebooks/01-quickstart.ipynb

test: ALSO := chromium-ready  # its installation takes no CPU, so it goes beside the checks
test: checks tests course browser  ## everything that CI checks, in these four parts

checks: dev-ready  ## types, style, the front end, and the documentation site, two at a time
	@echo "Two at a time, each shown when it is done: documentation, types, front end, style"
	@$(MAKE) --no-print-directory --jobs 2 $(OUTPUT_SYNC) static ALSO=$(ALSO)

static: $(ALSO) docs types front-end style

tests: doctest unit  ## the examples in docstrings and the unit tests; the slowest twenty at the end

test-fast: dev-ready  ## the quick unit tests: no kernel, notebook or browser, under a minute
	$(UNIT) -m "not kernel and not browser and not thorough" --ignore tests/browser

test-lowest:  ## the tests with the lowest versions that pyproject.toml allows, in .venv-lowest
	@tools/setup_system.sh dot
	@tools/setup_venv.sh --lowest tests .venv-lowest
	.venv-lowest/bin/python -m pytest -q -n 2 -m "not browser and not kernel"
	.venv-lowest/bin/python -m pytest -q -m kernel

lint: front-end style types  ## ruff, mypy and codespell, and the checks of the front end

style: dev-ready
	$(PY) -m ruff check
	$(PY) -m ruff format --check
	$(PY) -m codespell_lib
	$(PY) -m validate_pyproject pyproject.toml
	$(PY) tools/architecture.py --check

types: dev-ready  ## of the package, of a user's program, and of the README's code
	$(PY) tools/check_types.py

format: dev-ready  ## format the code
	$(PY) -m ruff check --fix
	$(PY) -m ruff format
	tools/npm.sh run format

front-end:  ## types, lint and tests of front_end/; its build must equal the committed files
	@tools/npm.sh run check

dist:  ## build the wheel and the sdist in dist/, and check them as PyPI does
	@tools/setup_venv.sh release
	rm -rf dist
	$(PY) -m build --outdir dist
	$(PY) -m twine check --strict dist/*
	$(PY) -m check_wheel_contents dist/*.whl

build: dev-ready  ## build tapemagic/report/live/static/ and tapemagic/labextension/ from front_end/
	@tools/npm.sh run build
	@tools/setup_venv.sh dev

doctest: dev-ready
	$(PYTEST) -p no:nbval --doctest-modules tapemagic

unit: dev-ready fonts-ready
	$(UNIT) $(SLOWEST) --ignore tests/browser

course: dev-ready fonts-ready  ## run the notebooks with other fonts, and compare their outputs with the stored ones
	$(PY) tools/badges.py --check
	$(PY) tools/notebooks.py --check
	$(PY) tools/fonts.py --engine pygraphviz liberation \
		$(PYTEST) -n 2 --dist loadfile --no-loadscope-reorder $(SLOWEST) --nbval --nbval-current-env $(LESSONS)

docs: dev-ready  ## build the documentation site in build/docs; LINKS=1 also checks links to other sites
	$(PY) -m tools.docs $(if $(LINKS),--links)

binder: dev-ready  ## build the environment of binder/ in an empty folder, and run every notebook in it
	$(PY) tools/binder.py

browser: dev-ready browser-ready fonts-ready  ## reports and a third of the lessons in JupyterLab, in a headless Chromium
	$(PYTEST) -n 2 -p no:nbval --dist loadscope $(SLOWEST) -m browser tests/browser

notebooks: dev-ready  ## run all notebooks in place, without widget state
	$(PY) tools/badges.py
	$(PY) tools/notebooks.py

table: dev-ready  ## write docs/coverage.md, the functions of NumPy that are differentiable, and docs/tensorflow.md
	$(PY) tools/coverage_table.py
	$(PY) -m tools.keras_table

figure: dev-ready  ## draw docs/architecture.svg: the imports between the parts of the package
	$(PY) tools/architecture.py

gallery: dev-ready  ## write docs/gallery.md: cells with their reports; LOOK=1 also takes pictures, in build/gallery
	@$(if $(LOOK),tools/setup_system.sh chromium)
	$(PY) -m tools.gallery $(if $(LOOK),--look)

animation: dev-ready browser-ready  ## record docs/animation.gif and docs/code.png in JupyterLab
	$(PY) -m tools.animation

coverage: dev-ready  ## the lines and branches that the unit tests reach
	$(PY) -m coverage erase
	$(PY) -m coverage run -m pytest -q -m "not kernel and not browser"
	$(PY) -m coverage combine -q
	$(PY) -m coverage report

bench:  ## compare with other libraries, in a separate environment (.venv-bench)
	tools/setup_venv.sh benchmarks .venv-bench
	.venv-bench/bin/python -m benchmarks.run
	.venv-bench/bin/python -m benchmarks.matrices
	.venv-bench/bin/python -m benchmarks.convolution
	.venv-bench/bin/python -m benchmarks.digits_epoch
	.venv-bench/bin/python -m benchmarks.training_step
	.venv-bench/bin/python -m benchmarks.programs --skip torch.compile
	.venv-bench/bin/python -m benchmarks.regression
	.venv-bench/bin/python -m benchmarks.scaling
	.venv-bench/bin/python -m benchmarks.report

bench-browser: dev-ready browser-ready  ## milliseconds of steps, selections, openings and sliders in JupyterLab
	$(PY) -m benchmarks.browser

crosscheck:  ## compare random programs with JAX, PyTorch and tm.function, in a separate environment (.venv-bench)
	tools/setup_venv.sh benchmarks .venv-bench
	.venv-bench/bin/python -m benchmarks.crosscheck $(ARGS)
	.venv-bench/bin/python -m benchmarks.crosscheck --function $(ARGS)
	.venv-bench/bin/python -m benchmarks.crosscheck --poisoned $(ARGS)

# Every test that reads tests/shares.py.
rule-table: dev-ready  ## every case of the rule table in every test (`make test` takes a share); the column of docs/coverage.md
	TAPEMAGIC_ALL_CASES=1 $(UNIT) tests/rules tests/report/test_every_rule.py tests/report/test_trace_steps.py \
		tests/lazy/test_rule_table.py tests/lazy/test_reports.py \
		tests/programs/test_traced_rules.py tests/programs/test_stored.py tests/programs/passes/test_random_programs.py
	$(PY) tools/dask_table.py
	$(PY) tools/coverage_table.py

clean:  ## remove builds and caches; .venv stays
	rm -rf build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis .coverage .coverage.*
	find tapemagic tests tools notebooks -name __pycache__ -o -name .ipynb_checkpoints | xargs rm -rf

course-ready:
	@tools/setup_system.sh dot
	@tools/setup_venv.sh course

dev-ready:
	@tools/setup_system.sh dot
	@tools/setup_venv.sh dev

fonts-ready:
	@tools/setup_system.sh dejavu liberation

chromium-ready:
	@tools/setup_system.sh chromium

browser-ready: chromium-ready
	@tools/npm.sh
