# `make test` runs everything that CI runs; `make soak` the long versions; `make bench` the
# comparisons with other software. `make update` and `make figures` rewrite what is generated.

.PHONY: test format lint unit examples docs browser python wheel guide update update-python figures soak bench size

# The quick ones first.
test: format lint unit examples docs browser python guide

# One selection of packages for all tests: another one would have dependencies with other features,
# and build them, and us, again.
TESTED = --workspace --exclude extremal-python --locked

format:
	cargo fmt --all --check

lint:
	cargo clippy --workspace --all-targets --locked -- -D warnings

unit:
	cargo test $(TESTED)

# The programs of crates/extremal/examples: each checks what it claims.
EXAMPLES = sparse_stream own_oracle own_learner

examples:
	cargo build $(TESTED) --examples
	set -e; for example in $(EXAMPLES); do "$${CARGO_TARGET_DIR:-target}/debug/examples/$$example"; done

docs:
	RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --locked

# The report in a real browser. The program is built with its tests.
browser:
	cargo test $(TESTED) --test cli --no-run
	bash tests/browser/run

# The Python package, as it is installed; and its wheel, into target/wheels.
python:
	bash python/run

wheel:
	bash python/run wheel

# mdBook is built once and kept in target/tools, a minute or less on two cores: without its server, and
# without optimisation, as building the guide takes a second or two all the same. typeset.py turns
# the pages' formulas into MathML. The guide loads nothing from the network; the last line looks for
# anything that would.
MDBOOK_VERSION = 0.5.4
MDBOOK = target/tools/mdbook-$(MDBOOK_VERSION)/bin/mdbook

guide: $(MDBOOK)
	cargo test $(TESTED) --test guide
	$(MDBOOK) build docs
	python3 tools/typeset.py --test
	python3 tools/typeset.py target/guide
	! grep -rnE '<(script|link|img|iframe|source)[^>]*(src|href)="(https?:)?//|class="playground' target/guide --include='*.html'

$(MDBOOK):
	CARGO_PROFILE_DEV_DEBUG=0 cargo install mdbook --version $(MDBOOK_VERSION) --locked --debug \
		--no-default-features --features search --root target/tools/mdbook-$(MDBOOK_VERSION)

# Rewrites every generated file: the program's golden output, the guide's reference pages, the stubs
# and pages of the Python package. Read `git diff` after. The corpus of saved states is rewritten on request
# alone, as it must not change unless the format does:
# `STATES=overwrite cargo test -p extremal --test learners states`.
update: update-python
	TRYCMD=overwrite cargo test $(TESTED) --test cli
	GUIDE=overwrite cargo test $(TESTED) --test guide -- --skip pasted

# The wheel, installed where `make python` tests it, has what the stubs and pages are made of.
update-python: wheel
	target/python-test/bin/pip install --quiet --force-reinstall --no-deps target/wheels/extremal-*.whl
	target/python-test/bin/python python/tools/make_stubs.py
	target/python-test/bin/python python/tools/make_reference.py

# Runs the experiments again, and rewrites every table and picture of them in the guide and the README. It
# measures times: leave the machine alone meanwhile, or keep the times with `make figures FIGURES=--keep-times`.
figures:
	cargo build --release --locked -p extremal-cli
	python3 -m venv target/figures-env
	target/figures-env/bin/pip install --quiet -r tools/requirements-figures.txt
	target/figures-env/bin/python tools/figures.py $(FIGURES)

# A million rounds where `make test` plays thousands. One test at a time, so that the progress
# it prints can be read.
soak:
	EXTREMAL_SOAK=1 cargo test $(TESTED) --release -- --nocapture --test-threads=2

bench:
	bash bench/run

# Lines of every crate by room, beside their budgets; `python3 tools/size.py --help`.
size:
	python3 tools/size.py
