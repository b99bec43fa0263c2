# SPDX-License-Identifier: Apache-2.0
#
#   make            the library, target/release/libaclnn_modulate.so
#   make demo       build, install below target/, compile an example against that and run it
#   make test       all tests: Rust, then C and C++ against an installed tree
#   make test-aarch64  the kernels and some call sites on 64-bit Arm, cross-built and emulated
#   make test-races the locks and atomics: every interleaving of the pool's and the gates', and the runtime under ThreadSanitizer
#   make bench      speed, compared with the memory's own; make bench-peers: compared with other implementations
#   make check      formatting, lints, headers, exports
#   make headers    regenerate include/, docs/functions.md and the README's table from src/api and exports.txt
#   make docs       the references: C below target/doc/c (by doxygen), Rust below target/doc/aclnn_modulate
#   make install PREFIX=dir, make uninstall PREFIX=dir
#   make package    a .tar.gz that works where it is unpacked
#
# Each target sets up what it lacks (scripts/need.sh), or says what to install.

PREFIX ?= /usr/local/aclnn_modulate
CARGO ?= cargo

VERSION := $(shell sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -n 1)
TARGET := $(abspath $(or $(CARGO_TARGET_DIR),target))
LIBRARY := $(TARGET)/release/libaclnn_modulate.so
STAGE := $(TARGET)/stage
JOBS := $(shell nproc 2>/dev/null || echo 1)

all: library

library:
	$(CARGO) build --release --locked --lib

install: library
	scripts/install.sh '$(LIBRARY)' '$(VERSION)' '$(PREFIX)'

uninstall:
	scripts/uninstall.sh '$(PREFIX)'

# A fresh tree each time: a file that an earlier version installed must not make a test pass.
stage: library
	rm -rf '$(STAGE)'
	scripts/install.sh '$(LIBRARY)' '$(VERSION)' '$(STAGE)'

demo: stage
	scripts/need.sh cxx
	scripts/demo.sh '$(STAGE)' '$(TARGET)/demo'

test: test-rust test-c

test-rust:
	$(CARGO) test --locked

test-c: stage
	scripts/need.sh cmake cxx
	cmake -S tests_c -B '$(TARGET)/tests_c' -DSTAGE='$(STAGE)' -DCARGO_TARGET='$(TARGET)' $(CMAKE_ARGS)
	cmake --build '$(TARGET)/tests_c' --parallel $(JOBS)
	ctest --test-dir '$(TARGET)/tests_c' --output-on-failure --parallel $(JOBS)

# Skips, saying so, where the cross compiler, qemu or the Rust target can't be had.
test-aarch64:
	scripts/test_aarch64.sh '$(TARGET)'

# Skips ThreadSanitizer, saying so, where the component rust-src can't be had.
test-races:
	scripts/test_races.sh '$(TARGET)'

bench:
	$(CARGO) bench --locked --bench operator
	$(CARGO) bench --locked --bench calls

bench-peers: library
	scripts/bench_peers.sh '$(LIBRARY)' '$(TARGET)/peers'

check: library
	scripts/need.sh rustfmt clippy
	$(CARGO) fmt --check
	$(CARGO) clippy --locked --all-targets -- -D warnings
	$(CARGO) test --locked --test headers --test functions
	scripts/check_exports.sh '$(LIBRARY)'

headers:
	UPDATE_HEADERS=1 $(CARGO) test --locked --test headers headers_say_what_the_sources_say
	UPDATE_HEADERS=1 $(CARGO) test --locked --test functions the_pages_say_what_is_there

# Skips the C side, saying so, where doxygen can't be had.
docs:
	RUSTDOCFLAGS='-D warnings' $(CARGO) doc --locked --no-deps
	scripts/docs.sh '$(VERSION)' '$(TARGET)/doc/c'

package: library
	scripts/package.sh '$(LIBRARY)' '$(VERSION)' '$(TARGET)'

clean:
	$(CARGO) clean

.PHONY: all library install uninstall stage demo test test-rust test-c test-aarch64 test-races bench bench-peers check headers docs package clean
