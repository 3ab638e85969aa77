# `make test` runs everything that CI runs; `make soak` the long versions; `make bench` the
# comparisons with other software.

.PHONY: test format lint unit docs soak bench

# The quick ones first.
test: format lint unit docs

format:
	cargo fmt --all --check

lint:
	cargo clippy --workspace --all-targets --locked -- -D warnings

unit:
	cargo test --workspace --locked

docs:
	RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --locked

# A million rounds where `make test` plays thousands. One test at a time, so that the progress
# it prints can be read.
soak:
	EXTREMAL_SOAK=1 cargo test --workspace --release --locked -- --nocapture --test-threads=2

bench:
	bash bench/run
