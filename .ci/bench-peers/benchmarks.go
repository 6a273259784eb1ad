package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
)

// build builds the binary like a release.
func (b *bench) build() error {
	build := exec.CommandContext(b.context, "go", "build", "-trimpath", "-ldflags", "-s -w", "-o", b.binary, "./cmd/delegraph")
	build.Dir, build.Stderr = b.root, os.Stderr
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	return build.Run()
}

// benchmarks runs benchmarks of the repository. It returns their results by "name unit"; the name has no "Benchmark" and no
// number of cores.
func (b *bench) benchmarks(pkg, pattern, benchtime string, count int, more ...string) (map[string]samples, error) {
	if b.quick {
		count = 1
		if strings.HasSuffix(benchtime, "s") {
			benchtime = "0.1s"
		}
	}
	arguments := append([]string{"test", pkg, "-run", "^$", "-bench", pattern, "-benchtime", benchtime, "-count", strconv.Itoa(count), "-timeout", "30m"}, more...)
	fmt.Fprintln(os.Stderr, "go", strings.Join(arguments, " "))
	test := exec.CommandContext(b.context, "go", arguments...)
	var out bytes.Buffer
	test.Dir, test.Stdout, test.Stderr = b.root, &out, os.Stderr
	if err := test.Run(); err != nil {
		return nil, fmt.Errorf("go %s: %w\n%s", strings.Join(arguments, " "), err, out.String())
	}
	return parse(out.String()), nil
}

// parse parses lines such as "BenchmarkName/part-2  100  12.5 ns/op  3 unit".
func parse(out string) map[string]samples {
	all := map[string]samples{}
	for line := range strings.Lines(out) {
		fields := strings.Fields(line)
		if len(fields) < 4 || !strings.HasPrefix(fields[0], "Benchmark") {
			continue
		}
		name := strings.TrimPrefix(fields[0], "Benchmark")
		if at := strings.LastIndexByte(name, '-'); at > 0 {
			if _, err := strconv.Atoi(name[at+1:]); err == nil {
				name = name[:at]
			}
		}
		for i := 2; i+1 < len(fields); i += 2 {
			if value, err := strconv.ParseFloat(fields[i], 64); err == nil {
				key := name + " " + fields[i+1]
				all[key] = append(all[key], value)
			}
		}
	}
	return all
}

var loads = []string{"mix", "deltas", "adk-go", "adk-js", "adk-python"}

func (b *bench) pipeline() (string, error) {
	found, err := b.benchmarks("./test/e2e/cost", "PipelineRatio", "0.5s", 5)
	if err != nil {
		return "", err
	}
	var t table
	t.row("up to", "mix", "deltas alone", "Go", "JavaScript", "Python")
	for _, part := range []struct{ name, title string }{
		{"decode", "decode"}, {"filter", "+ filter"}, {"metrics", "+ runs and metrics"}, {"spans", "+ spans, not exported"},
	} {
		row := []any{part.title}
		for _, load := range loads {
			row = append(row, found["PipelineRatio/"+load+"/"+part.name+" x/plain"])
		}
		t.row(row...)
		b.found["pipeline/"+part.name] = found["PipelineRatio/mix/"+part.name+" x/plain"]
	}
	return t.String(), nil
}

// proxyInProcess measures the proxy in one process with agent and client.
func (b *bench) proxyInProcess() (string, error) {
	found, err := b.benchmarks("./collector/source", "Proxy.*/.*/ratio", "1s", 5)
	if err != nil {
		return "", err
	}
	var t table
	t.row("through Go's ReverseProxy", "verbatim, 1 stream", "filtered, 1 stream", "verbatim, 100 streams", "filtered, 100 streams")
	for _, what := range []struct{ benchmark, unit, title string }{
		{"ProxyRoundTrip", "p50", "round trip, p50"}, {"ProxyRoundTrip", "p99", "round trip, p99"},
		{"ProxyRoundTrip", "speed", "round trips a second"}, {"ProxyRoundTrip", "cpu", "round trip, CPU time"},
		{"ProxyThroughput", "speed", "throughput"}, {"ProxyThroughput", "cpu", "throughput, CPU time"},
	} {
		row := []any{what.title}
		for _, streams := range []string{"1", "100"} {
			for _, relay := range []string{"verbatim", "filtered"} {
				all := found[fmt.Sprintf("%s/%s/ratio %s-%s/plain", what.benchmark, streams, relay, what.unit)]
				row = append(row, all)
				b.found[strings.Join([]string{"proxy", streams, relay, what.benchmark, what.unit}, "/")] = all
			}
		}
		t.row(row...)
	}
	return t.String(), nil
}

// fanOut compares the fan-out with the minimum that any server on sockets needs.
func (b *bench) fanOut() (string, error) {
	count := 3
	found, err := b.benchmarks("./exporter/stream", "FanOut", "2x", count)
	if err != nil {
		return "", err
	}
	var t table
	t.row("ours through", "100 subscribers", "1000", "5000")
	for _, what := range []struct{ unit, title string }{
		{"x-plain", "one write for each frame and socket"}, {"x-library", "tmaxmax/go-sse"}, {"x-joined", "raw writes of 64 KiB joined"},
	} {
		row := []any{what.title}
		for _, subscribers := range []string{"100", "1000", "5000"} {
			all := found["FanOut/"+subscribers+" "+what.unit]
			b.found["fan-out/"+subscribers+"/"+what.unit] = all
			row = append(row, all)
		}
		t.row(row...)
	}
	return t.String(), nil
}
