# The front door. Each target is one command that works from a fresh checkout; CMake does the rest.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
# The tools underneath are parallel; the targets themselves run one after the other.
.NOTPARALLEL:

JOBS ?= $(shell n=$$(nproc 2>/dev/null || echo 2); echo $$(( n < 2 ? 2 : n )))
PREFIX ?= /usr/local
MINUTES ?= 1
FUZZ_SECONDS ?= $(shell echo $$(( $(MINUTES) * 60 )))
export JOBS FUZZ_SECONDS

# Coloured progress is for people at a terminal.
ifdef CI
export NO_COLOR := 1
export CMAKE_COLOR_DIAGNOSTICS := OFF
export GTEST_COLOR := no
endif

CONFIGURE = cmake --preset $(1) --log-level=WARNING $(if $(COMPILER),-D CMAKE_CXX_COMPILER=$(COMPILER))
BUILD = cmake --build --preset $(1) --parallel $(JOBS)

.PHONY: help setup build run test soak lint format tidy asan tsan bench fuzz sim sim-mutants install clean

help: ## List the targets
	@grep -hE '^[a-z-]+:.*## ' Makefile | sed -E 's/:[^#]*## /\t/' | awk -F'\t' '{ printf "  make %-12s %s\n", $$1, $$2 }'

setup: ## Install the Debian packages that are missing (root or sudo)
	@tools/setup

build: setup ## Build everything; programs land in build/bin/
	@$(call CONFIGURE,dev)
	@$(call BUILD,dev)

run: setup ## Build and start the reference service on SQLite; prints three commands to try
	@$(call CONFIGURE,dev)
	@$(call BUILD,dev) --target semel-orders
	@tools/run

test: build ## Set up, build and run every test of the bounded suite
	@tools/run-tests build --label-exclude soak

soak: build ## Build and run the long campaigns (minutes to hours)
	@SEMEL_SOAK=1 tools/run-tests build --label-regex soak

lint: setup ## Check formatting, clang-tidy and the rules of the repository
	@$(call CONFIGURE,files)
	@$(call BUILD,files)
	@BUILD=build/files tools/lint

format: setup ## Format the C++ sources in place
	@tools/format

tidy: ## Check only the rules of the repository (no build)
	@python3 -B tests/tidy/tidy.py

asan: setup ## Unit and SQLite tests under AddressSanitizer and UndefinedBehaviorSanitizer
	@tools/sanitize asan

tsan: setup ## Unit and SQLite tests under ThreadSanitizer
	@tools/sanitize tsan

bench: setup ## Build for release and measure; results in build/bench/
	@tools/bench

fuzz: setup ## Run every fuzzer for MINUTES (1) each
	@tools/fuzz

SEED ?= 1
SEEDS ?= 100
STEPS ?= 400
sim: setup ## Run the simulation: SEEDS (100) seeds from SEED (1) on, STEPS (400) steps each
	@$(call CONFIGURE,dev)
	@$(call BUILD,dev) --target simulation
	@build/bin/simulation --seed $(SEED) --seeds $(SEEDS) --steps $(STEPS)

sim-mutants: setup ## Plant every known bug and say what caught it, and how fast
	@$(call CONFIGURE,dev)
	@$(call BUILD,dev) --target simulation protocol_pgtest protocol_lost_answer_pgtest protocol_replication_pgtest sqlite_test call_test retry_test
	@tools/simulate-mutants

install: setup ## Build for release and install below PREFIX (/usr/local)
	@$(call CONFIGURE,release)
	@$(call BUILD,release)
	@cmake --install build/release --prefix "$(PREFIX)"

clean: ## Remove everything that was built
	@rm -rf build
