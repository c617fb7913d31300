# Everything a contributor runs. `make help` lists it.

SHELL := /bin/bash
# Where Go's own installer puts it, for shells whose profile was not read.
export PATH := $(PATH):/usr/local/go/bin

FUZZTIME ?= 10s
BENCH ?= .
SEED ?= 1
FAULTS ?= 200
DATABASE ?= both

.DEFAULT_GOAL := help
.PHONY: help test race fuzz bench campaign machines dist fmt check

help: ## List these targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /\1\t/' | expand -t 10

test: check ## Check the form, then run every test, with a private PostgreSQL, MariaDB and a real browser (installed if missing)
	@scripts/need python3 strace chromium debootstrap curl
	@scripts/with-postgres scripts/with-mariadb go test -timeout 30m ./...

check: ## Only what needs no server: gofmt and go vet
	@scripts/need go
	@unformatted=$$(gofmt -l .); [ -z "$$unformatted" ] || { echo "not formatted, run make fmt:"; echo "$$unformatted"; exit 1; }
	@go vet ./...

# Of eval without the one test that runs the same program thousands of times over, which takes hours here: its other tests run
# every suite on fewer cases, and meet the same lines.
race: ## Run the tests under the race detector (needs gcc, installed if missing)
	@scripts/need go gcc python3 strace chromium
	@CGO_ENABLED=1 scripts/with-postgres scripts/with-mariadb go test -race -timeout 60m -skip '^TestEverySuiteKeepsItsPromises$$' ./...

fuzz: ## Fuzz every reader of hostile text for FUZZTIME (10s) each
	@scripts/need go
	@scripts/fuzz $(FUZZTIME)

bench: ## Run the benchmarks matching BENCH (all) and internal/bench, with both servers flushing to disk
	@scripts/need go
	@scripts/with-postgres --durable scripts/with-mariadb --durable go test -run '^$$' -bench '$(BENCH)' -benchmem ./...
	@scripts/with-postgres --durable go run ./internal/bench

# The server is one of its own, that flushes to disk: the campaign crashes it, and what it had answered must be there.
campaign: ## Break the running program FAULTS (200) times at random on DATABASE (both), with dice from SEED (1), and look at everything
	@scripts/need go
	@env -u COUNTERSIGN_TEST_POSTGRES scripts/with-postgres --durable go run ./internal/campaign -private-server -seed $(SEED) -faults $(FAULTS) -database $(DATABASE)

machines: ## Kill processes and cut the network while 20,000 cases pass through; MACHINES="-cases 500 -kills 5" for less
	@scripts/need go
	@scripts/with-postgres --durable go run ./internal/campaign/machines $(MACHINES)

dist: ## Make the release VERSION (1.2.3) into dist/, the same bytes each time; ONLY=linux/amd64 for less
	@scripts/need go
	@rm -rf dist
	@go run ./internal/dist -version '$(VERSION)' -only '$(ONLY)' -out dist

fmt: ## Format the source and group its imports: standard library, others, ours
	@scripts/need go
	@go run golang.org/x/tools/cmd/goimports@v0.52.0 -local countersign -w .
