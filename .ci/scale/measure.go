package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"time"
)

// benchmark is a benchmark, its package and how long it runs.
type benchmark struct{ pkg, bench, time string }

// runs lists the benchmarks that give the costs.
var runs = []benchmark{
	{"./test/e2e/cost", "Cost/mix", "0.3s"},
	{streams, "Paced", "200x"},
	{streams, "Idle", "1x"},
	{jetstream, "Publish", "3000x"},
	{jetstream, "Feeds", "4000x"},
	{jetstream, "Connections", "500x"},
	{jetstream, "Owner/16", "200000x"},
}

// measure runs all benchmarks alternately, so that other load on the machine affects all of them.
func measure(turns int) (*figures, error) {
	f := &figures{Machine: here(), Costs: append([]cost(nil), wanted...)}
	for turn := range turns {
		for _, r := range runs {
			fmt.Fprintf(os.Stderr, "turn %d of %d: %s %s\n", turn+1, turns, r.pkg, r.bench)
			bench := exec.Command("go", "test", r.pkg, "-run", "^$", "-bench", r.bench, "-benchtime", r.time, "-timeout", "9m")
			bench.Dir = root
			out, err := bench.Output()
			if err != nil {
				return nil, fmt.Errorf("%s %s: %w: %s", r.pkg, r.bench, err, out)
			}
			for name, metrics := range parse(out) {
				for i := range f.Costs {
					c := &f.Costs[i]
					if value, ok := metrics[c.Metric]; ok && c.Package == r.pkg && c.Benchmark == name {
						c.Runs = append(c.Runs, value)
					}
				}
			}
		}
	}
	for _, c := range f.Costs {
		if len(c.Runs) == 0 {
			return nil, fmt.Errorf("no benchmark gave %q (%s of %s): does it skip? run .ci/install/nats", c.Name, c.Metric, c.Benchmark)
		}
		if c.median() <= 0 {
			return nil, fmt.Errorf("%q is %v: the machine is too busy for a valid result", c.Name, c.Runs)
		}
	}
	return f, nil
}

// parse parses the output of `go test -bench` and returns metrics by benchmark, whose name has no processor count.
func parse(out []byte) map[string]map[string]float64 {
	found := map[string]map[string]float64{}
	for lines := bufio.NewScanner(bytes.NewReader(out)); lines.Scan(); {
		fields := strings.Fields(lines.Text())
		if len(fields) < 4 || !strings.HasPrefix(fields[0], "Benchmark") {
			continue
		}
		name := strings.TrimPrefix(fields[0], "Benchmark")
		if cut := strings.LastIndexByte(name, '-'); cut > 0 {
			name = name[:cut]
		}
		metrics := map[string]float64{}
		for i := 2; i+1 < len(fields); i += 2 {
			if value, err := strconv.ParseFloat(fields[i], 64); err == nil {
				metrics[fields[i+1]] = value
			}
		}
		found[name] = metrics
	}
	return found
}

func here() machine {
	first := func(path, prefix string) string {
		content, _ := os.ReadFile(path)
		for line := range strings.SplitSeq(string(content), "\n") {
			if rest, ok := strings.CutPrefix(line, prefix); ok {
				return strings.Trim(rest, "\t :")
			}
		}
		return "unknown"
	}
	version := "unknown"
	if path, err := natsServer(); err == nil {
		if out, err := exec.Command(path, "--version").Output(); err == nil {
			version = strings.TrimSpace(string(out))
		}
	}
	return machine{
		Processor: first("/proc/cpuinfo", "model name"), Processors: runtime.NumCPU(), Kernel: first("/proc/sys/kernel/osrelease", ""),
		Go: runtime.Version(), NATS: version, Load: first("/proc/loadavg", ""), Date: time.Now().UTC().Format("2006-01-02"),
	}
}

// natsServer returns the path of nats-server, from PATH or from the folder of .ci/install/nats.
func natsServer() (string, error) {
	if path, err := exec.LookPath("nats-server"); err == nil {
		return path, nil
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	path := cache + "/delegraph/nats/bin/nats-server"
	if folder := os.Getenv("DELEGRAPH_NATS"); folder != "" {
		path = folder + "/bin/nats-server"
	}
	if _, err := os.Stat(path); err != nil {
		return "", errors.New("nats-server is not installed: run .ci/install/nats")
	}
	return path, nil
}
