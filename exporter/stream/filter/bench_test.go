package filter_test

import (
	"bytes"
	"os"
	"testing"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/exporter/stream/filter"
)

// BenchmarkFilter measures filtering and encoding a delta that a real server sent, for one policy and for both. The
// second one uses the first one's judgment of the names.
func BenchmarkFilter(b *testing.B) {
	content, err := os.ReadFile("../../../collector/dialect/adk/adkserver/testdata/captures/python/slow.stream.sse")
	if err != nil {
		b.Fatal(err)
	}
	for name, policies := range map[string][]event.Policy{
		"client": {event.PolicyClient}, "public": {event.PolicyPublic}, "both": {event.PolicyClient, event.PolicyPublic},
	} {
		b.Run(name, func(b *testing.B) {
			var filters []*filter.Filter
			for _, policy := range policies {
				filters = append(filters, filter.New(filter.Settings{Policy: policy, Thoughts: event.ThoughtsDetailed}))
			}
			for batch := range adkBatches(b, bytes.NewReader(content)) {
				b.SetBytes(int64(batch.Frame.Size))
				b.ReportAllocs()
				for b.Loop() {
					batch.Names = event.NamesUnchecked
					for _, f := range filters {
						if _, why := f.Apply(batch); why != filter.Passed {
							b.Fatal(why)
						}
					}
				}
				return
			}
		})
	}
}
