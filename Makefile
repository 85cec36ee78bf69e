# `make` alone lists the targets.
.DEFAULT_GOAL := help
.PHONY: help setup build demo tour test test-release test-loaded test-peers test-matrix test-sanitize torture fuzz bench figures docs pictures feature compose install clean

SWIFT ?= swift
PREFIX ?= /usr/local
TRAITS ?=
SECONDS ?= 60

# With a static Swift runtime the program is one file and starts in half the time. Nothing of it lies beside it, so that
# the loader need not look for every library there first.
# What only debuggers read is stripped when it is installed.
RELEASE := -c release --static-swift-stdlib --disable-local-rpath -debug-info-format none
TRAIT_FLAGS := $(if $(TRAITS),--disable-default-traits --traits $(TRAITS))

# SwiftPM calls the root package by its folder, and would take it for the package of that name.
PACKAGES := $(notdir $(patsubst %/Package.swift,%,$(wildcard Packages/*/Package.swift Packages/*/*/Package.swift)))
ifneq ($(filter $(shell echo '$(PACKAGES)' | tr A-Z a-z),$(shell echo '$(notdir $(CURDIR))' | tr A-Z a-z)),)
$(error this folder is called '$(notdir $(CURDIR))' like one of the packages in it, so that SwiftPM cannot build it; rename it, for instance to martlet)
endif

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: ## Install the Debian packages that are missing
	@.ci/setup build test bench

build: ## Build .build/release/martlet; TRAITS=Chat,Auth chooses features
	@.ci/setup build
	$(SWIFT) build $(RELEASE) $(TRAIT_FLAGS) --product martlet
	@echo "built: .build/release/martlet"

demo: build ## Let the embedded gateway work on a sample project, or on a copy of PROJECT=DIR
	@Apps/examples/demo .build/release/martlet $(PROJECT)

tour: build ## Show settings, secrets and formats, one command after the other
	@Apps/examples/tour .build/release/martlet

test: ## Run every test; closes with one line: N passed, N failed
	@.ci/setup --debian build test
	@.ci/test

test-release: ## Run the tests of the packages optimised, as the program is built
	@.ci/setup build test
	$(SWIFT) build --build-tests -c release -Xswiftc -enable-testing --scratch-path .build/optimised
	.ci/apart $(SWIFT) test --skip-build -c release -Xswiftc -enable-testing --scratch-path .build/optimised \
	    --experimental-maximum-parallelization-width 4 --skip ProgramTests --skip PluginTests --skip ArchitectureTests

test-loaded: ## Run every test at a load of 12, and those that have failed under load ten times
	@.ci/setup build test
	@.ci/loaded

test-peers: ## Let the libraries of others ask the gateway that take long to install
	@.ci/setup build test more
	MARTLET_PEERS=$(CURDIR)/.build/more-peers MARTLET_TEST_PEERS=more $(SWIFT) test --filter MoreLibraryTests

test-matrix: ## Build each feature alone and random subsets, and look at what they link
	@.ci/setup build test
	MARTLET_TEST_MATRIX=full $(SWIFT) test --filter PluginTests

# Without what runs other builds and programs, and for threads without the kits whose tests assert how a process crashes.
# Leaks are not looked for: boxes of enums that constants hold are reported, as the tag in their pointers hides them.
# Nor is memory measured, which a sanitizer keeps back for its own purposes.
SANITIZED := --no-parallel --skip ProgramTests --skip PluginTests --skip ArchitectureTests --skip MemoryTests \
    --skip ManyClientsTests --skip RaceTests/many --skip ShellToolTests/large

test-sanitize: ## Run the tests with the thread and the address sanitizer
	@.ci/setup build test
	TSAN_OPTIONS=suppressions=$(CURDIR)/.ci/thread-suppressions \
	    $(SWIFT) test --sanitize=thread --scratch-path .build/thread $(SANITIZED) --skip ProcessKitTests --skip TerminalKitTests \
	    --skip SecretServiceStoreTests --skip CrashTests
	ASAN_OPTIONS=detect_leaks=0 $(SWIFT) test --sanitize=address --scratch-path .build/address --disable-xctest -Xswiftc -use-ld=lld $(SANITIZED)

torture: ## Run the tests that kill and race at random moments with every round, of which `make test` makes a part
	@.ci/setup build test
	@.ci/test build
	MARTLET_TEST_TORTURE=whole MARTLET_TEST_PROGRAMS=$(CURDIR)/.build/installed/bin .ci/apart \
	    .build/debug/martletPackageTests.xctest --testing-library swift-testing --experimental-maximum-parallelization-width 2 \
	    --filter 'Crash|Kill|Attack|Fault|Hostile|Race|ProcessTests|Damage|Soak'

FUZZED := json stream json5 document pull settings events frames requests chunks address certificates openai anthropic \
    responses tags markdown rpc mcp mcp-events input painter yaml expressions bundles schemas toml otlp \
    ssh-config known-hosts ssh-address

fuzz: ## Fuzz the parsers, SECONDS=60 each
	@.ci/setup build
	$(SWIFT) build --package-path Apps/fuzz --scratch-path .build/fuzz -c release -Xswiftc -sanitize=fuzzer -Xswiftc -use-ld=lld
	@mkdir -p .build/fuzz/findings
	@for target in $(FUZZED); do \
	    echo "fuzz: $$target, $(SECONDS) s"; \
	    SWIFT_BACKTRACE=enable=no MARTLET_FUZZ=$$target .build/fuzz/release/fuzz -max_total_time=$(SECONDS) -verbosity=0 -print_final_stats=1 \
	        -artifact_prefix=.build/fuzz/findings/$$target- 2>&1 | grep -E 'SUMMARY|Fatal|executed_units' || exit 1; \
	    if ls .build/fuzz/findings/$$target-* >/dev/null 2>&1; then echo "fuzz: findings in .build/fuzz/findings"; exit 1; fi; \
	done

bench: ## Measure against peers; ONLY=id for one
	@.ci/setup build bench
	@$(SWIFT) build $(RELEASE) --product martlet 1>&2
	@$(SWIFT) build $(RELEASE) --product bench 1>&2
	@.build/release/bench $(ONLY)

figures: ## Print how large the files are, which types are split, what is documented; LIST=split for one list
	@.ci/figures $(LIST)

docs: build pictures ## Write the reference and the manual page to .build/docs, and the pictures
	@mkdir -p .build/docs
	.build/release/martlet docs markdown > .build/docs/reference.md
	.build/release/martlet docs man > .build/docs/martlet.1
	.build/release/martlet docs schema --json > .build/docs/actions.json

pictures: build ## Draw pictures of the shell into docs/pictures
	@.ci/pictures

feature: ## Make a new feature package: NAME=Weather, and WITH=http,storage,secret,background,screen for parts of it
	$(SWIFT) package --allow-writing-to-package-directory new-feature "$(NAME)" $(if $(WITH),--with "$(WITH)")
	$(SWIFT) format format --in-place --recursive "Packages/Features/$(NAME)"

compose: ## Write and build a host of chosen features: DIR=../bench NAME=mybench FEATURES=Weather OWN=Mine
	$(SWIFT) package --allow-writing-to-directory "$(DIR)" compose "$(DIR)" --name "$(NAME)" --features "$(FEATURES)" $(if $(OWN),--own "$(OWN)")

install: build ## Install the program, its manual page and completions; PREFIX=/usr/local
	install -D -s -m 755 .build/release/martlet "$(DESTDIR)$(PREFIX)/bin/martlet"
	.build/release/martlet docs man | install -D -m 644 /dev/stdin "$(DESTDIR)$(PREFIX)/share/man/man1/martlet.1"
	.build/release/martlet completion bash | install -D -m 644 /dev/stdin "$(DESTDIR)$(PREFIX)/share/bash-completion/completions/martlet"
	.build/release/martlet completion zsh | install -D -m 644 /dev/stdin "$(DESTDIR)$(PREFIX)/share/zsh/site-functions/_martlet"
	.build/release/martlet completion fish | install -D -m 644 /dev/stdin "$(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d/martlet.fish"

clean: ## Remove everything that was built
	rm -rf .build
