.DEFAULT_GOAL := help
.PHONY: help build run test race fuzz faults soak bench bench-peers scale recordings clients lint update ci

PKG      ?= ./...
FUZZ     ?= FuzzReader
FUZZPKG  ?= ./collector/sse
FUZZTIME ?= 30s
SOAK     ?= 5m

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  %-11s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

build: ## build ./delegraph, static and without local paths in it
	CGO_ENABLED=0 go build -trimpath -o delegraph ./cmd/delegraph

run: ## run the demonstration on loopback; it prints the URLs to open
	go run ./cmd/delegraph demo

test: ## run the tests of PKG (default: all)
	go test $(PKG)

race: ## run the tests of PKG under the race detector
	go test -race $(PKG)

fuzz: ## fuzz one target: make fuzz FUZZPKG=./config FUZZ=FuzzParse FUZZTIME=1m
	go test $(FUZZPKG) -run '^$$' -fuzz '^$(FUZZ)$$' -fuzztime $(FUZZTIME)

faults: ## bring about every fault of docs/design/faults.md; .ci/install/toxiproxy first, and as root on Linux for all of them
	PATH="$${XDG_CACHE_HOME:-$$HOME/.cache}/delegraph/bin:$$PATH:/usr/sbin" .ci/faults

soak: ## have everything go on for SOAK, with connections that fail, and account for each frame and span
	PATH="$${XDG_CACHE_HOME:-$$HOME/.cache}/delegraph/bin:$$PATH" go test ./cmd/delegraph -run '^TestSoak$$' -soak=$(SOAK) -timeout 0 -v

bench: ## run the benchmarks of PKG, six times each, with allocations
	go test $(PKG) -run '^$$' -bench . -benchmem -count 6

scale: ## what 10,000 agents and a million readers would need, from the figures in docs/design/scale.json; see docs/design/scale.md
	go -C .ci/scale run .

bench-peers: ## measure beside nginx, nchan, Caddy and Go libraries, and write the tables of docs/design/performance.md; PEERS=-long measures ten million events too
	-.ci/install/peers
	go -C .ci/bench-peers run . -doc $(CURDIR)/docs/design/performance.md $(PEERS)

recordings: ## record the real servers of test/agents/servers again, or those in SERVERS
	.ci/install/servers $(SERVERS)
	python3 test/agents/servers/record.py "$${DELEGRAPH_SERVERS:-$${XDG_CACHE_HOME:-$$HOME/.cache}/delegraph/servers}" $(SERVERS)

clients: ## have the real clients ask real servers directly and through a proxy
	.ci/install/servers a2a-1 a2a-js agno llama-index fasta2a adk-a2a
	.ci/install/agui
	go test ./cmd/delegraph -run '^TestServersClients$$' -v

lint: ## check the format, vet, and run staticcheck (installed by .ci/run) or golangci-lint where there is one
	@test -z "$$(gofmt -l .)" || { gofmt -l . && exit 1; }
	go vet ./...
	@if command -v golangci-lint >/dev/null; then golangci-lint run; else PATH="$${XDG_CACHE_HOME:-$$HOME/.cache}/delegraph/bin:$$PATH" staticcheck ./...; fi

# Only packages that have the flag take it. The ADK captures are recordings of real servers, not goldens: they have their own
# README.
update: ## rewrite the golden files; then read the diff
	go test $$(grep -rl --include='*_test.go' 'flag.Bool("update"\|dialecttest.Run' . | xargs -n1 dirname | sort -u | grep -v /adkserver$$) -update

ci: ## run everything that the build server runs; it downloads what the tests drive
	.ci/run
