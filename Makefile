# Everything starts from a bare clone: `make demo`, `make test`. `make help` lists the rest.

PY := .venv/bin/python
PYTEST := $(PY) -m pytest -q
UNIT := $(PYTEST) -n 2 -p no:nbval  # nbval imports nbformat in each process, which takes seconds
ROOT_FLAG := $(if $(filter 0,$(shell id -u)),--allow-root)

OUTPUT_SYNC := $(if $(filter output-sync,$(.FEATURES)),--output-sync=target)

unexport PYTHONDONTWRITEBYTECODE  # the tests start hundreds of interpreters, and pytest rewrites hundreds of files

.DEFAULT_GOAL := help
.PHONY: help demo lab test side-by-side test-fast test-lowest lint style types format front-end build doctest tests course docs binder browser notebooks \
        table figure gallery animation coverage bench bench-browser crosscheck rule-table clean course-ready dev-ready chromium-ready browser-ready
ifneq ($(MAKECMDGOALS),side-by-side)
.NOTPARALLEL:
endif

help:  ## list the commands
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "make %-13s %s\n", $$1, $$2}'

demo: course-ready  ## run the quickstart notebook, print its reports, write a page to look at
	@$(PY) tools/demo.py

lab: course-ready  ## open the course in JupyterLab
	$(PY) -m jupyterlab $(ROOT_FLAG) notebooks/01-quickstart.ipynb

test:  ## everything that CI checks
	@echo "Two at a time, each shown when it is done: installations, front end, types, docs, doctests, style"
	@$(MAKE) --no-print-directory --jobs 2 $(OUTPUT_SYNC) side-by-side
	@$(MAKE) --no-print-directory tests course browser

side-by-side: dev-ready front-end chromium-ready types docs doctest style  # the installations, and what takes one core

test-fast: dev-ready  ## the unit tests alone: no kernel, notebook or browser, nothing that takes its time
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

types: dev-ready
	$(PY) -m mypy

format: dev-ready  ## let ruff put the code in order
	$(PY) -m ruff check --fix
	$(PY) -m ruff format
	tools/npm.sh run format

front-end:  ## types, lint and tests of front_end/, and whether the committed files are its build
	@tools/npm.sh run check

build:  ## build tapemagic/report/live/static/ from front_end/
	@tools/npm.sh run build

doctest: dev-ready
	$(PYTEST) -p no:nbval --doctest-modules tapemagic

tests: dev-ready
	$(UNIT) --ignore tests/browser

course: dev-ready
	$(PY) tools/badges.py --check
	$(PY) tools/notebooks.py --check
	$(PYTEST) -n 2 --dist loadfile --nbval --nbval-current-env notebooks

docs: dev-ready  ## build the documentation site in build/docs; LINKS=1 also asks for the pages of others
	$(PY) -m tools.docs $(if $(LINKS),--links)

binder: dev-ready  ## build the environment of binder/ in a fresh place, and run every notebook in it
	$(PY) tools/binder.py

browser: dev-ready browser-ready
	$(UNIT) --dist loadfile -m browser tests/browser

notebooks: dev-ready  ## execute all notebooks in place, without widget state
	$(PY) tools/badges.py
	$(PY) tools/notebooks.py

table: dev-ready  ## write docs/coverage.md: which functions of NumPy are differentiable
	$(PY) tools/coverage_table.py

figure: dev-ready  ## draw docs/architecture.svg: which part of the package imports which
	$(PY) tools/architecture.py

gallery: dev-ready  ## write docs/gallery.md: cells with their reports; LOOK=1 also pictures, in build/gallery
	@$(if $(LOOK),tools/setup_system.sh chromium)
	$(PY) -m tools.gallery $(if $(LOOK),--look)

animation: dev-ready browser-ready  ## renew docs/animation.gif and docs/code.png, taken in JupyterLab
	$(PY) -m tools.animation

coverage: dev-ready  ## the lines and branches which the unit tests reach
	$(PY) -m coverage erase
	$(PY) -m coverage run -m pytest -q -m "not kernel and not browser"
	$(PY) -m coverage combine -q
	$(PY) -m coverage report

bench:  ## compare with other libraries, in an environment of its own (.venv-bench)
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

crosscheck:  ## compare random programs with JAX and PyTorch, in an environment of its own (.venv-bench), and under tm.function
	tools/setup_venv.sh benchmarks .venv-bench
	.venv-bench/bin/python -m benchmarks.crosscheck $(ARGS)
	.venv-bench/bin/python -m benchmarks.crosscheck --function $(ARGS)

# All that reads tests/shares.py.
rule-table: dev-ready  ## every case of the rule table in every way, of which `make test` takes a share; the column of docs/coverage.md
	TAPEMAGIC_ALL_CASES=1 $(UNIT) tests/rules tests/report/test_every_rule.py tests/report/test_trace_steps.py \
		tests/lazy/test_rule_table.py tests/lazy/test_reports.py \
		tests/programs/test_traced_rules.py tests/programs/test_leftovers.py tests/programs/passes/test_random_programs.py
	$(PY) tools/dask_table.py
	$(PY) tools/coverage_table.py

clean:  ## remove what was built, and caches; .venv stays
	rm -rf build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis .coverage .coverage.*
	find tapemagic tests tools notebooks -name __pycache__ -o -name .ipynb_checkpoints | xargs rm -rf

course-ready:
	@tools/setup_system.sh dot
	@tools/setup_venv.sh course

dev-ready:
	@tools/setup_system.sh dot
	@tools/setup_venv.sh dev

chromium-ready:
	@tools/setup_system.sh chromium

browser-ready: chromium-ready
	@tools/npm.sh
