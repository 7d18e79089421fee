# SPDX-License-Identifier: MIT
#
# `make help` lists the targets. Each installs the Debian packages that it needs when they are missing.

SWIFT ?= swift
PREFIX ?= /usr/local
BINDIR ?= $(PREFIX)/bin
SBINDIR ?= $(PREFIX)/sbin
MANDIR ?= $(PREFIX)/share/man
BASHCOMPLETIONDIR ?= $(PREFIX)/share/bash-completion/completions
ZSHCOMPLETIONDIR ?= $(PREFIX)/share/zsh/site-functions
FISHCOMPLETIONDIR ?= $(PREFIX)/share/fish/vendor_completions.d
DESTDIR ?=

# The import check changes the compiler's arguments: every debug build uses it, so that all share one build.
IMPORT_CHECK := --explicit-target-dependency-import-check error
# What is installed carries the Swift runtime within; it has a build folder of its own beside the others.
STATIC_BUILD := -c release --static-swift-stdlib --scratch-path .build/static
STATIC := $(STATIC_BUILD) --product nexusguard-tun
STATIC_RESULT := .build/static/release
DAEMON = .build/release/nexusguard-tun
BENCH_TOOL = .build/release/nexusguard-bench
AGENT_PRODUCTS = nexusguard-agent nexusguard nexusguard-control
# The tests that start programs, which the targets for them run.
END_TO_END = ^(Agent)?EndToEnd\.
# The tests of the agent's parts, which run one target at a time.
AGENT_UNIT := ^(Agent(Core|HTTP|Store|Host)|NexusGuard(Agent|Control))Tests\.

# `make demo PEER=wireguard-go` sets the other implementation at one end.
PEER ?= nexusguard-tun
# Arguments of the benchmark tool under `make bench`; none measures everything, which takes a minute.
ARGUMENTS ?=
# Arguments of the comparison of daemons under `make compare`.
COMPARE ?=
# Seconds for each fuzzer under `make fuzz`, and which of them; none runs all.
FUZZ_SECONDS ?= 20
FUZZERS ?=
# Which browser tests run, such as test_http; none runs all.
BROWSER ?=
# Packets of the shorter of the two runs that `make allocations` compares.
PACKETS ?= 20000

.DEFAULT_GOAL := help
.PHONY: help demo demo-agent test unit end-to-end agent-end-to-end browser-tests idle bench install install-tunnel install-agent install-control install-test uninstall check allocations instructions embedding fuzz sanitize coverage \
	release packages-build packages-agent packages-test packages-browser packages-demo packages-demo-agent packages-gates \
	packages-compare compare compare-test clean

help: ## show this list
	@echo 'NexusGuard: userspace WireGuard in Swift'
	@echo
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 18 | sed 's/^/  make /'
	@echo
	@echo '  PEER=wireguard-go make demo     one end is the other implementation'
	@echo '  PREFIX=/usr DESTDIR=/tmp/root   where make install puts the files'

demo: packages-demo ## two daemons, two network namespaces, ping, iperf3 and figures
	@$(SWIFT) build $(STATIC)
	@Tests/EndToEnd/Scripts/demo.sh .build/static/release/nexusguard-tun '$(PEER)'

demo-agent: packages-demo-agent ## control server and agent: identity, tunnel, new keys, an outage
	@set -e; for product in $(AGENT_PRODUCTS); do $(SWIFT) build -c release --product $$product; done
	@Tests/AgentEndToEnd/Scripts/demo-agent.sh .build/release

test: unit compare-test end-to-end agent-end-to-end browser-tests ## unit, simulation and end to end tests (as root: all of them)

unit: packages-agent ## the tests that need no privileges
	$(SWIFT) build --build-tests $(IMPORT_CHECK)
	$(SWIFT) test --skip-build $(IMPORT_CHECK) --skip '$(END_TO_END)' --skip '$(AGENT_UNIT)'
	@# One target at a time: these wait for children, sockets and clocks, and their deadlines hold for one target.
	set -e; for target in AgentCore AgentHTTP AgentStore AgentHost NexusGuardAgent NexusGuardControl; do \
		$(SWIFT) test --skip-build $(IMPORT_CHECK) --filter "^$${target}Tests\."; done

end-to-end: packages-test ## the daemon against wg, wg-quick, ip and wireguard-go
	$(SWIFT) build --build-tests $(IMPORT_CHECK)
	$(SWIFT) build -c release --product nexusguard-tun
	if [ "$$(id -u)" -eq 0 ]; then export NEXUSGUARD_SKIP_NOTHING=1; fi; \
		NEXUSGUARD_TUN="$${NEXUSGUARD_TUN:-$(CURDIR)/$(DAEMON)}" \
		$(SWIFT) test --skip-build $(IMPORT_CHECK) --filter '^EndToEnd\.'

agent-end-to-end: packages-test packages-agent ## as root: the agent, its command and the control server
	$(SWIFT) build --build-tests $(IMPORT_CHECK)
	set -e; for product in $(AGENT_PRODUCTS) nexusguard-agent-soak; do \
		$(SWIFT) build -c release --product $$product; done
	if [ "$$(id -u)" -eq 0 ]; then export NEXUSGUARD_SKIP_NOTHING=1; fi; \
		NEXUSGUARD_AGENT="$${NEXUSGUARD_AGENT:-$(CURDIR)/.build/release/nexusguard-agent}" \
		NEXUSGUARD_AGENT_SOAK="$${NEXUSGUARD_AGENT_SOAK:-$(CURDIR)/.build/release/nexusguard-agent-soak}" \
		NEXUSGUARD_COMMAND="$${NEXUSGUARD_COMMAND:-$(CURDIR)/.build/release/nexusguard}" \
		NEXUSGUARD_CONTROL="$${NEXUSGUARD_CONTROL:-$(CURDIR)/.build/release/nexusguard-control}" \
		$(SWIFT) test --skip-build $(IMPORT_CHECK) --filter '^AgentEndToEnd\.'

browser-tests: packages-browser packages-agent ## as root: the agent's page in Chromium (BROWSER="test_http …" for some)
	set -e; for product in $(AGENT_PRODUCTS); do $(SWIFT) build -c release --product $$product; done
	if [ "$$(id -u)" -eq 0 ]; then export NEXUSGUARD_SKIP_NOTHING=1; fi; \
		Tests/Browser/run "$${NEXUSGUARD_PROGRAMS:-.build/release}" $(BROWSER)

idle: packages-test ## as root: no system call of an idle daemon with a session in 60 s
	$(SWIFT) build --build-tests $(IMPORT_CHECK)
	$(SWIFT) build -c release --product nexusguard-tun
	NEXUSGUARD_IDLE_SECONDS=60 NEXUSGUARD_SKIP_NOTHING=1 \
		NEXUSGUARD_TUN="$${NEXUSGUARD_TUN:-$(CURDIR)/$(DAEMON)}" \
		$(SWIFT) test --skip-build $(IMPORT_CHECK) --filter '^EndToEnd\.IdleTests'

bench: packages-build ## the benchmark tool (ARGUMENTS="…" for its arguments)
	$(SWIFT) build -c release --product nexusguard-bench
	$(BENCH_TOOL) $(ARGUMENTS)

compare: packages-compare ## the daemon next to wireguard-go (COMPARE="…" for the arguments)
	@$(SWIFT) build $(STATIC)
	@Benchmarks/compare $(COMPARE)

compare-test: packages-compare ## the tests of the comparison itself
	python3 -B -m unittest discover -q -s Benchmarks/comparison/tests -t Benchmarks

# $(call install-completions,PROGRAM,WORD): the scripts that the program prints for WORD and the name of a shell.
define install-completions
install -d '$(DESTDIR)$(BASHCOMPLETIONDIR)' '$(DESTDIR)$(ZSHCOMPLETIONDIR)' '$(DESTDIR)$(FISHCOMPLETIONDIR)'
$(STATIC_RESULT)/$(1) $(2) bash >'$(DESTDIR)$(BASHCOMPLETIONDIR)/$(1)'
$(STATIC_RESULT)/$(1) $(2) zsh >'$(DESTDIR)$(ZSHCOMPLETIONDIR)/_$(1)'
$(STATIC_RESULT)/$(1) $(2) fish >'$(DESTDIR)$(FISHCOMPLETIONDIR)/$(1).fish'
endef

install: install-tunnel install-agent install-control ## everything and its manual pages below PREFIX (/usr/local)

install-tunnel: packages-build ## the tunnel daemon alone
	$(SWIFT) build $(STATIC)
	install -D -m 0755 $(STATIC_RESULT)/nexusguard-tun '$(DESTDIR)$(SBINDIR)/nexusguard-tun'
	install -D -m 0644 Sources/nexusguard-tun/nexusguard-tun.8 '$(DESTDIR)$(MANDIR)/man8/nexusguard-tun.8'

install-agent: packages-build packages-agent ## the agent and its command alone
	$(SWIFT) build $(STATIC_BUILD) --product nexusguard-agent
	$(SWIFT) build $(STATIC_BUILD) --product nexusguard
	install -D -m 0755 $(STATIC_RESULT)/nexusguard-agent '$(DESTDIR)$(SBINDIR)/nexusguard-agent'
	install -D -m 0755 $(STATIC_RESULT)/nexusguard '$(DESTDIR)$(BINDIR)/nexusguard'
	install -D -m 0644 Sources/nexusguard-agent/nexusguard-agent.8 '$(DESTDIR)$(MANDIR)/man8/nexusguard-agent.8'
	install -D -m 0644 Sources/nexusguard/nexusguard.1 '$(DESTDIR)$(MANDIR)/man1/nexusguard.1'
	$(call install-completions,nexusguard,completion)
	$(call install-completions,nexusguard-agent,--completion)

install-control: packages-build packages-agent ## the control server alone
	$(SWIFT) build $(STATIC_BUILD) --product nexusguard-control
	install -D -m 0755 $(STATIC_RESULT)/nexusguard-control '$(DESTDIR)$(SBINDIR)/nexusguard-control'
	install -D -m 0644 Sources/nexusguard-control/nexusguard-control.8 \
		'$(DESTDIR)$(MANDIR)/man8/nexusguard-control.8'
	$(call install-completions,nexusguard-control,completion)

uninstall: ## what install made
	rm -f '$(DESTDIR)$(SBINDIR)/nexusguard-tun' '$(DESTDIR)$(MANDIR)/man8/nexusguard-tun.8'
	rm -f '$(DESTDIR)$(SBINDIR)/nexusguard-agent' '$(DESTDIR)$(MANDIR)/man8/nexusguard-agent.8'
	rm -f '$(DESTDIR)$(BINDIR)/nexusguard' '$(DESTDIR)$(MANDIR)/man1/nexusguard.1'
	rm -f '$(DESTDIR)$(SBINDIR)/nexusguard-control' '$(DESTDIR)$(MANDIR)/man8/nexusguard-control.8'
	for program in $(AGENT_PRODUCTS); do rm -f '$(DESTDIR)$(BASHCOMPLETIONDIR)/'$$program \
		'$(DESTDIR)$(ZSHCOMPLETIONDIR)/_'$$program '$(DESTDIR)$(FISHCOMPLETIONDIR)/'$$program.fish; done

install-test: ## install into a folder, run what is there, uninstall, nothing is left
	.ci/install $(MAKE) STATIC_BUILD='-c release' STATIC_RESULT=.build/release

check: ## format, imports and forbidden constructs
	.ci/format
	.ci/rules

allocations: packages-gates ## the data path makes no heap allocation per packet
	$(SWIFT) build -c release --product nexusguard-bench
	.ci/allocations $(BENCH_TOOL) $(PACKETS)

instructions: packages-gates ## instructions for each packet against Benchmarks/Baselines (STORE=--store writes them)
	$(SWIFT) build -c release --product nexusguard-bench
	.ci/instructions $(BENCH_TOOL) $(STORE)

embedding: packages-build ## an outside package builds against the library product
	$(SWIFT) build --package-path Tests/Embedding

fuzz: packages-agent ## the fuzzers, 20 s each (FUZZ_SECONDS=…, FUZZERS="AEAD …" for some of them)
	.ci/fuzz $(FUZZ_SECONDS) $(FUZZERS)

sanitize: packages-test ## the tests under the thread and address sanitizers
	.ci/sanitize thread
	.ci/sanitize address

coverage: packages-agent ## lines that the tests reach in the three protocol targets (at least 90 %)
	$(SWIFT) test --enable-code-coverage --scratch-path .build/coverage --skip '$(END_TO_END)'
	.ci/coverage .build/coverage

release: packages-agent ## everything, optimised
	$(SWIFT) build -c release

packages-agent:
	@.ci/packages build agent

packages-build:
	@.ci/packages build

packages-test:
	@.ci/packages build agent test

packages-browser:
	@.ci/packages build browser

packages-demo:
	@.ci/packages build demo

packages-demo-agent:
	@.ci/packages build agent demo-agent

packages-gates:
	@.ci/packages build gates

packages-compare:
	@.ci/packages compare

clean: ## remove what was built
	rm -rf .build Tests/Embedding/.build
