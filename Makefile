.DEFAULT_GOAL := help
.PHONY: help build run test race fuzz faults soak bench bench-peers scale recordings clients cluster lint pictures update ci

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

test: ## run the tests of PKG (default: all), and list what was skipped and how to get it
	go test -json $(PKG) | go run ./test/summary

race: ## run the tests of PKG under the race detector
	go test -race $(PKG)

fuzz: ## fuzz one target: make fuzz FUZZPKG=./config FUZZ=FuzzParse FUZZTIME=1m
	go test $(FUZZPKG) -run '^$$' -fuzz '^$(FUZZ)$$' -fuzztime $(FUZZTIME)

faults: ## cause every fault of docs/design/faults.md; run .ci/install/toxiproxy first, and as root on Linux for all of them
	PATH="$${XDG_CACHE_HOME:-$$HOME/.cache}/delegraph/bin:$$PATH:/usr/sbin" .ci/faults

soak: ## run everything for SOAK with failing connections, and account for each frame and span
	PATH="$${XDG_CACHE_HOME:-$$HOME/.cache}/delegraph/bin:$$PATH" go test ./test/e2e/faults -run '^TestSoak$$' -soak=$(SOAK) -timeout 0 -v

bench: ## run the benchmarks of PKG, six times each, with allocations
	go test $(PKG) -run '^$$' -bench . -benchmem -count 6

scale: ## compute what 10,000 agents and a million readers need, from docs/design/scale.json; see docs/design/scale.md
	go -C .ci/scale run .

bench-peers: ## compare with nginx, nchan, Caddy and Go libraries, and write the tables of docs/design/performance.md; PEERS=-long adds ten million events
	-.ci/install/peers
	go -C .ci/bench-peers run . -doc $(CURDIR)/docs/design/performance.md $(PEERS)

recordings: ## record the real servers of test/agents/servers again, or those in SERVERS
	.ci/install/servers $(SERVERS)
	python3 test/agents/servers/record.py "$${DELEGRAPH_SERVERS:-$${XDG_CACHE_HOME:-$$HOME/.cache}/delegraph/servers}" $(SERVERS)

clients: ## run real clients against real servers, directly and through a proxy
	.ci/install/servers a2a-1 a2a-js agno llama-index fasta2a adk-a2a vercel pydantic-ai litellm openai-agents mastra langgraph-dev clients
	.ci/install/agui
	go test ./test/e2e/relay -run '^(Test(Servers|AISDK)Clients|TestLangGraph|TestLangGraphPublic|TestOpenAIAgentsTruth|TestOpenAIResponses)$$' -slow -v

cluster: ## test the chart on a real node of Kubernetes, which it builds once and starts; as root on Linux
	.ci/cluster

lint: ## check the format and run golangci-lint, which .ci/run installs
	@test -z "$$(gofmt -l .)" || { gofmt -l . && exit 1; }
	PATH="$${XDG_CACHE_HOME:-$$HOME/.cache}/delegraph/bin:$$PATH" golangci-lint run ./...

pictures: ## take the pictures in the documentation again; with REVIEW=DIR one of every page in every state into DIR
	.ci/install/readers
	PATH="$${XDG_CACHE_HOME:-$$HOME/.cache}/delegraph/bin:$$PATH" DELEGRAPH_REQUIRE=all go test ./test/e2e/page -run '^TestPictures$$' -count 1 -v $(if $(REVIEW),-pictures=$(abspath $(REVIEW)),-update)

# Pass -update only to packages that have the flag. In adkserver and adkshapes it records real servers again; their READMEs
# say how. In page it takes the pictures, as make pictures does.
update: ## rewrite goldens, reference pages, dashboards and the chart's copies; then read the diff
	go run ./dashboards/generate -out dashboards
	go test ./collector/dialect/dialecttest $$(grep -rl --include='*_test.go' 'flag.Bool("update"\|harness.Update\|dialecttest.Run' collector dashboards exporter test | xargs -n1 dirname | sort -u | grep -vE '/(adkserver|adkshapes|page)$$' | sed 's|^|./|') -update
	go test ./test/agents/adkshapes -run '^TestFacts$$' -update
	go -C .ci/scale test . -update
	helm/copy-files
	go -C helm/tests test . -update

ci: ## run everything that the build server runs; downloads the programs that the tests use
	.ci/run
