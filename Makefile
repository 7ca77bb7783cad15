# Everything that contributors and CI run. It needs Go, make and a POSIX shell; the other tools are Go programs of pinned
# versions, which "go run" fetches.

GO          ?= go
# How long each fuzz target searches, how many changed seeds each tries in make check, which benchmarks run and how often, how
# often TestConcurrentSafe... runs.
FUZZTIME    ?= 10s
FUZZED      ?= 5000
BENCH       ?= .
COUNT       ?= 1
CONCURRENT  ?= 100
# How long a single example may take.
LIMIT       ?= 60

STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.8.2
GOFMT       := $(shell $(GO) env GOROOT)/bin/gofmt
TIMEOUT     := $(if $(shell command -v timeout),timeout $(LIMIT))

# Modules within this one, such as benchmarks: what they depend on must not become a dependency of the library.
MODULES     := $(patsubst ./%/go.mod,%,$(sort $(shell find . -mindepth 2 -name go.mod -not -path '*/.*' -not -path '*/testdata/*')))
# Every folder of examples with a main function is a program that runs by itself, within LIMIT seconds. Those that need
# something from outside are listed here; they are built only.
MANUAL      :=
EXAMPLES    := $(patsubst %/,%,$(sort $(dir $(wildcard examples/*/main.go))))

# A go.work of one's own must not decide what is tested.
export GOWORK := off

.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help demo test race fuzz fuzz-seeds bench compare cover lint tidy-check api api-check examples modules portable e2e-otel clean-check check

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  make %-11s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: ## see it work: a request to a server that fails in three ways (URL=http://... asks a server of yours)
	@$(GO) run ./examples/quickstart $(if $(URL),-url '$(URL)')

test: ## run all tests
	$(GO) test ./...

race: ## run all tests under the race detector, those of concurrent use CONCURRENT times
	$(GO) test -race ./...
	@dirs=$$(grep -rl --include='*_test.go' '^func TestConcurrentSafe' . | sed 's|/[^/]*$$||' | sort -u); \
	for module in $(MODULES); do dirs=$$(echo "$$dirs" | grep -v -e "^\./$$module\$$" -e "^\./$$module/"); done; \
	if [ -n "$$dirs" ]; then set -x; $(GO) test -race -count=$(CONCURRENT) -run='^TestConcurrentSafe' $$dirs; fi

fuzz-seeds: ## try FUZZED changed seeds on each fuzz target, the same ones each time (2 s a target at most)
	@dirs=$$(grep -rl --include='*_test.go' '^func Fuzz' . | sed 's|/[^/]*$$||' | sort -u); \
	for module in $(MODULES); do dirs=$$(echo "$$dirs" | grep -v -e "^\./$$module\$$" -e "^\./$$module/"); done; \
	set -x; RETRY_FUZZED=$(FUZZED) $(GO) test -run='^Fuzz' $$dirs

fuzz: ## search at random on each fuzz target for FUZZTIME
	@grep -r --include='*_test.go' '^func Fuzz[A-Za-z0-9_]*(' . | sort | \
	sed 's/^\(.*\)\/[^/]*:func \(Fuzz[A-Za-z0-9_]*\)(.*/\1 \2/' | \
	while read -r dir name; do \
		echo "== $$dir $$name"; \
		$(GO) test -C "$$dir" -run='^$$' -fuzz="^$$name\$$" -fuzztime=$(FUZZTIME) . </dev/null || exit 1; \
	done

bench: ## run the benchmarks of the root package (BENCH=regexp, COUNT=times)
	$(GO) test -run='^$$' -bench='$(BENCH)' -benchmem -count=$(COUNT) .

compare: ## speed and correctness beside other libraries, as tables (ONLY=libraries or http; WRITE=1 writes docs/benchmarks.md)
	$(GO) -C benchmarks test -count=1 -timeout=20m -run='^TestCompare$$' -args -compare $(if $(ONLY),-only $(ONLY)) $(if $(WRITE),-write ../docs/benchmarks.md)

cover: ## measure the test coverage, list what is not fully covered (coverage.out)
	$(GO) test -coverprofile=coverage.out -coverpkg=./... ./...
	@$(GO) tool cover -func=coverage.out | awk '$$3 != "100.0%"'

lint: ## gofmt, go vet (for Windows and 32 bits too), staticcheck
	@unformatted=$$($(GOFMT) -l .) || exit 1; \
	if [ -n "$$unformatted" ]; then printf 'gofmt differs in:\n%s\n' "$$unformatted"; exit 1; fi
	$(GO) vet ./...
	GOOS=windows GOARCH=amd64 $(GO) vet ./...
	GOOS=linux GOARCH=386 $(GO) vet ./...
	$(GO) run $(STATICCHECK) ./...

tidy-check: ## see that go.mod and go.sum are tidy
	$(GO) mod tidy -diff

api: ## write the exported API to api/
	$(GO) run ./internal/apitext -write

api-check: ## compare the exported API with api/
	$(GO) run ./internal/apitext -check

examples: ## build all examples and run those that run by themselves
	@bin=$$(mktemp -d) && trap 'rm -rf "$$bin"' EXIT || exit 1; \
	for example in $(EXAMPLES); do \
		name=$${example##*/}; \
		$(GO) build -C "$$example" -o "$$bin/$$name" . || exit 1; \
		case " $(MANUAL) " in *" $$name "*) echo "built $$example"; continue;; esac; \
		if (cd "$$bin" && $(TIMEOUT) "./$$name") >"$$bin/output" 2>&1 </dev/null; then \
			echo "ran   $$example"; \
		else \
			code=$$?; cat "$$bin/output"; echo "FAIL  $$example: exit status $$code"; exit 1; \
		fi; \
	done

modules: ## vet, tidy-check and test the modules within this one
# The tests of internal/drivertest start a PostgreSQL. That it is not there would be hidden by a test run that passes.
	@sh internal/drivertest/postgres.sh find || [ $$? -eq 3 ]
	@for module in $(MODULES); do \
		echo "== $$module"; \
		$(GO) -C "$$module" vet ./... && $(GO) -C "$$module" mod tidy -diff && $(GO) -C "$$module" test ./... || exit 1; \
	done

portable: ## simulations give the same bytes on 386 and, if node is there, on js/wasm (the figures are those of amd64)
	GOARCH=386 $(GO) test -count=1 -run='^TestDeterministic$$' ./retrysim
	@if command -v node >/dev/null; then set -x; \
		GOOS=js GOARCH=wasm $(GO) test -count=1 -exec="$$($(GO) env GOROOT)/lib/wasm/go_js_wasm_exec" -run='^TestDeterministic$$' ./retrysim; \
	else echo 'SKIPPED js/wasm: no node'; fi

e2e-otel: ## see traces and metrics arrive in a real Jaeger, collector and Prometheus (some minutes: it builds them)
	$(GO) -C examples/traced-service test -count=1 -timeout=40m -v -run='^TestEndToEnd' ./e2e -args -e2e

# What CI starts from is a clean work tree, and a test that writes into it shows here.
clean-check:
	@if [ -n "$$CI" ] && [ -n "$$(git status --porcelain)" ]; then echo 'the work tree has changed:'; git status --short; exit 1; fi

check: lint tidy-check api-check test race fuzz-seeds examples modules portable clean-check ## everything that CI runs
	@echo 'make check: all passed'
