# SPDX-License-Identifier: Apache-2.0
PY := .venv/bin/python
SOURCES := bam_core bam_ros docs/conf.py examples launch papers studies test tools setup.py
# Without those of nodes, which tools/test_ros.py runs.
CORE_TESTS := test/core test/papers test/studies --ignore=test/studies/faults --ignore=test/studies/soak

ROUNDS ?= 20

.PHONY: setup dev demo demo-xm430 demo-feetech demo-erob test test-time test-long test-random check rooms coverage bench soak faults soak-drivers mutants fuzz papers docs pictures mujoco-versions install-check release format lock clean
.DEFAULT_GOAL := help

help:  ## this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

setup:  ## environment in .venv, ROS 2 package in install/ (about 2 minutes; repeat at will)
	@tools/setup.sh

dev:  ## `make setup`, and what tests and checks need beside
	@tools/setup.sh dev

demo: setup  ## record a virtual servo over its bus, identify it, simulate it (under 5 minutes)
	@.venv/bin/bam demo --output demo_output

demo-xm430: setup  ## the same with a Dynamixel XM430-W350
	@.venv/bin/bam demo --servo xm430_w350 --output demo_xm430_output

demo-feetech: setup  ## the same with a Feetech STS3215
	@.venv/bin/bam demo --servo sts3215 --output demo_feetech_output

demo-erob: setup  ## the same with an eRob80 on a virtual EtherCAT segment (needs root)
	@.venv/bin/bam demo --servo erob80_100 --output demo_erob_output

test: test-time dev  ## all tests but those that take long (about 10 minutes)
	@$(PY) -m pytest -n 2 --dist loadfile --no-loadscope-reorder -m "not long" $(CORE_TESTS)
	@$(PY) tools/test_ros.py -m "not long"

test-time:
	@echo "make test: about 10 minutes on two free processors, longer beside other work; make setup comes first"

test-long: dev  ## the tests that take long: whole identifications, studies, papers
	@$(PY) -m pytest -n 2 -m long $(CORE_TESTS)
	@$(PY) tools/test_ros.py -m long

test-random: dev  ## laws with other examples than `make test`, ROUNDS=20 times as many; findings become @example
	@$(PY) -m pytest -n 2 -m hypothesis --hypothesis-profile=random --rounds=$(ROUNDS) test

check: dev  ## format, lint, types, imports between rooms, names that nothing uses, tests of sentences, words to avoid
	@$(PY) -m ruff format --check $(SOURCES)
	@$(PY) -m ruff check $(SOURCES)
	@$(PY) -m mypy
	@.venv/bin/lint-imports --no-logo
	@$(PY) tools/dead_code.py
	@$(PY) tools/prose_tests.py
	@$(PY) tools/words.py

rooms: dev  ## rooms and the imports between them: table, circles, and a picture, build/rooms.svg
	@$(PY) tools/rooms.py --picture build/rooms.svg

coverage: dev  ## how often 95 % intervals hold the truth, for every servo, also into coverage_results.json
	@$(PY) -m studies.coverage

bench: dev  ## speed tables, also into bench_results.json
	@$(PY) -m studies.bench

soak: dev  ## ten minutes of the EtherCAT cycle on an emulated drive, every cycle accounted for
	@$(PY) -m studies.soak.cycle

faults: dev  ## what happens after every fault on every driver in every state: faults.md, faults.json (an hour)
	@$(PY) -m studies.faults

soak-drivers: dev  ## half an hour of each driver with six servos, clients killed at random
	@$(PY) -m studies.soak.drivers

mutants: dev  ## deliberate bugs, and the share of them that tests notice: COUNT of each of ROOMS, SECONDS=limit, SEED
	@nice $(PY) -m studies.mutants $(if $(COUNT),--count $(COUNT)) $(if $(SECONDS),--seconds $(SECONDS)) $(if $(SEED),--seed $(SEED)) $(ROOMS)

fuzz: dev  ## inputs that break a reader or an emulator, searched for: RUNS=inputs SECONDS=limit of each of TARGETS
	@$(PY) -m test.fuzz.run $(if $(RUNS),--runs $(RUNS)) $(if $(SECONDS),--seconds $(SECONDS)) $(if $(RESUME),--resume) $(TARGETS)

papers: dev  ## the four papers redone, into build/papers; DATA=DIR: recordings of real devices
	@for paper in bam kikuuwe egle dynaban; do \
	    $(PY) -m papers $$paper --output build/papers/$$paper $(if $(DATA),--data $(DATA)) || exit; done

docs: dev build/example/report.html  ## the site, offline, warnings are errors: build/site/index.html; and how readable each page is
	@$(PY) tools/install_packages.py requirements/docs.in
	@PYTHONPATH=tools $(PY) -m site_pages build/site_source
	@$(PY) -m sphinx -W --keep-going --quiet -b html -d build/doctrees build/site_source build/site
	@PYTHONPATH=tools $(PY) -m site_pages.readability build/readability.txt build/site_source
	@echo "wrote build/site/index.html"

build/example/report.html: tools/site_pages/example.py | dev  # the identification that the site shows
	@PYTHONPATH=tools $(PY) -m site_pages.example build/example

mujoco-versions: dev  ## the engine plugin built for other versions of MuJoCo, its equality tests run: VERSIONS="3.4.0 3.11.0"
	@$(PY) tools/mujoco_versions.py $(VERSIONS)

pictures: dev build/example/report.html  ## the pictures in docs/pictures anew; they are committed, and differ between machines
	@PYTHONPATH=tools $(PY) -m site_pages.pictures docs/pictures
	@PYTHONPATH=tools $(PY) -m site_pages.film docs/pictures/bench.gif

install-check: dev  ## pip and uv install source tree, wheel and sdist in clean environments; documented commands run there
	@PYTHONPATH=tools $(PY) -m install_check $(if $(TOOLS),--tools $(TOOLS)) $(if $(DIST),--dist $(DIST))

release: dev  ## checks, wheel and sdist in dist/, tried in clean environments, then an annotated tag; publishes nothing
	@$(PY) tools/release.py

format: dev  ## format and mend what a tool can mend
	@$(PY) -m ruff format $(SOURCES)
	@$(PY) -m ruff check --fix $(SOURCES)

lock:  ## resolve requirements/*.in anew into requirements/lock.txt
	@$(PY) -m pip install --quiet --upgrade uv
	@.venv/bin/uv pip compile --universal --python-version 3.10 --upgrade --quiet --no-annotate --no-header \
	    requirements/core.in requirements/ros.in requirements/build.in requirements/wheels.in \
	    requirements/dev.in requirements/docs.in requirements/installer.in -o requirements/lock.txt
	@sed -i '1i # Every version that `make` installs, for Python 3.10 to 3.14. Made by `make lock` from the .in files beside it.' requirements/lock.txt

clean:  ## remove everything that setup made
	@rm -rf .venv build install log
