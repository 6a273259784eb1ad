package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/google/pprof/profile"
)

// parts lists the parts of the pipeline. For each sample, the innermost function on its stack that is of any part
// decides. So work in shared packages counts for the part that calls them. The garbage collector comes first, because
// it works for all parts.
var parts = []struct {
	title    string
	prefixes []string
}{
	{"collecting garbage", []string{"runtime.gcBgMarkWorker", "runtime.gcAssistAlloc", "runtime.bgsweep", "runtime.bgscavenge", "runtime.gcStart", "runtime.deductSweepCredit", "runtime.(*mheap).reclaim"}},
	{"framing", []string{product + "collector/sse."}},
	{"strict parse", []string{product + "collector/strictjson.(*Doc).Parse"}},
	{"dialect", []string{product + "collector/dialect"}},
	{"confidence and sources", []string{product + "collector/proof."}},
	{"filter", []string{product + "exporter/stream/filter."}},
	{"tracker", []string{product + "exporter/tracker."}},
	{"metrics, with exemplars", []string{product + "exporter/metrics.", "github.com/prometheus/"}},
	{"spans", []string{product + "exporter/spans.", "go.opentelemetry.io/"}},
}

const (
	product = "github.com/delegraph/delegraph/"
	floor   = "workload.validate" // the plain side of the benchmark
)

// shares returns the table of the time that each part of the pipeline takes, in multiples of the floor.
func (b *bench) shares() (string, error) {
	path := filepath.Join(b.scratch, "pipeline.pprof")
	found, err := b.benchmarks("./test/e2e/cost", "PipelineRatio/^mix$/^spans$", "15s", 1, "-cpuprofile", path, "-o", filepath.Join(b.scratch, "pipeline.test"))
	if err != nil {
		return "", err
	}
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer file.Close()
	taken, err := profile.Parse(file)
	if err != nil {
		return "", err
	}
	whole := found["PipelineRatio/mix/spans x/plain"].median()
	byPart, total, count := map[string]float64{}, 0.0, 0
	for _, sample := range taken.Sample {
		part, ours := partOf(sample)
		if !ours {
			continue
		}
		byPart[part] += float64(sample.Value[len(sample.Value)-1])
		total += float64(sample.Value[len(sample.Value)-1])
		count += int(sample.Value[0])
	}
	var t table
	t.row("part", "share", "in floors")
	for _, part := range append(titles(), between, elsewhere) {
		share := byPart[part] / total
		t.row(part, fmt.Sprintf("%.0f %%", 100*share), figure(share*whole))
	}
	t.row("all of it", "100 %", figure(whole))
	least := (byPart["framing"] + byPart["strict parse"]) / total * whole
	return t.String() + fmt.Sprintf("\nFraming and strict parse alone are %s floors; with spans, and nothing else between the two, they are %s. There were %d samples.\n",
		figure(least), figure(least+byPart["spans"]/total*whole), count), nil
}

const (
	between   = "between the parts"
	elsewhere = "the Go runtime otherwise"
)

func titles() (all []string) {
	for _, part := range parts {
		all = append(all, part.title)
	}
	return all
}

// partOf returns the part that a sample belongs to, and reports whether it is of the pipeline at all.
func partOf(s *profile.Sample) (string, bool) {
	inner := elsewhere
	for _, location := range s.Location {
		for _, line := range location.Line {
			name := line.Function.Name
			switch part := named(name); {
			case strings.Contains(name, floor):
				return "", false
			case part == parts[0].title:
				return part, true
			case part != "" && (inner == elsewhere || inner == between):
				inner = part
			case strings.HasPrefix(name, product) && inner == elsewhere:
				inner = between
			}
		}
	}
	return inner, true
}

// named returns the part that a function belongs to.
func named(function string) string {
	for _, part := range parts {
		for _, prefix := range part.prefixes {
			if strings.HasPrefix(function, prefix) {
				return part.title
			}
		}
	}
	return ""
}
