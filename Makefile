# SPDX-License-Identifier: Apache-2.0
#
# The front door. Each command sets the machine up if something is missing, builds, and runs.
.PHONY: help demo test quick build setup format clean
.DEFAULT_GOAL := help

help:
	@echo "make demo    set up, build, judge the example kernels on this machine's processor, and train the example models"
	@echo "make test    set up, build, and run everything that must hold (.ci/run)"
	@echo "make quick   for developers: rules, incremental build and fast tests, under a minute"
	@echo "make build   set up and build into build/release/bin"
	@echo "make format  put the C++ sources into the house format"
	@echo "make clean   remove what was built"

setup:
	@tools/setup

build: setup
	@tools/build release

# A machine without DuckDB or LibTorch has no lattice.
demo: build
	@build/release/bin/ptxbench demo
	@[ ! -x build/release/bin/lattice ] || build/release/bin/lattice run examples/adult/lattice.yaml --out runs/adult

test: setup
	@.ci/run

quick:
	@.ci/run --quick

format:
	@.ci/rules/files '*.h' '*.cc' | xargs clang-format -i

clean:
	rm -rf build runs
