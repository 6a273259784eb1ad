package a2a

import (
	"fmt"
	"strings"
	"testing"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// manyMembers returns a task with n artifacts and n members of its metadata.
func manyMembers(n int) string {
	repeated := func(format string) string {
		all := make([]string, n)
		for i := range all {
			all[i] = fmt.Sprintf(format, i)
		}
		return strings.Join(all, ",")
	}
	return `{"kind":"task","id":"t","contextId":"c","status":{"state":"working"},"metadata":{` + repeated(`"k%d":1`) +
		`},"artifacts":[` + repeated(`{"artifactId":"a%d","parts":[{"kind":"text","text":"x"}]}`) + `]}`
}

// BenchmarkGrowth reports the time for each artifact, which should be about the same.
func BenchmarkGrowth(b *testing.B) {
	for _, n := range []int{50, 200, 800, 3200} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			var doc strictjson.Doc
			data := []byte(manyMembers(n))
			if err := doc.Parse(data, 32); err != nil {
				b.Fatal(err)
			}
			f := dialect.Frame{JSON: doc.Root()}
			for b.Loop() {
				Dialect{}.New(&event.Stream{}).Decode(f, &event.Batch{JSON: f.JSON, Table: &table})
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/entry")
		})
	}
}
