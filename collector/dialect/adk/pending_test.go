package adk_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/delegraph/delegraph/collector"
	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/dialect/adk"
	"github.com/delegraph/delegraph/collector/event"
)

// TestOpenCallsCostNothing checks that the cost of a text frame does not grow with the number of open
// calls.
func TestOpenCallsCostNothing(t *testing.T) {
	for name, partial := range map[string]string{"partial": `,"partial":true`, "whole": ``} {
		t.Run(name, func(t *testing.T) {
			none, many := allocations(t, 0, partial), allocations(t, 1000, partial)
			if many > none+1 { // one frame in some may grow a map
				t.Errorf("a frame takes %v allocations with 1,000 open calls and %v with none, want the same", many, none)
			}
		})
	}
}

// allocations returns the allocations for a text frame after calls were opened.
func allocations(t *testing.T, calls int, partial string) float64 {
	const frames = 500
	var in strings.Builder
	for i := range calls {
		fmt.Fprintf(&in, `data: {"invocationId":"e-1","author":"a","id":"f%d","actions":{},"timestamp":1.5,"content":{"role":"model","parts":[{"functionCall":{"id":"c%d","name":"t","args":{}}}]}}`+"\n\n", i, i)
	}
	for range frames + 1 { // AllocsPerRun warms up with one
		in.WriteString(`data: {"invocationId":"e-1","author":"a","id":"x","actions":{},"timestamp":1.5,"content":{"role":"model","parts":[{"text":"hello"}]}` + partial + "}\n\n")
	}
	c := collector.New([]dialect.Dialect{adk.Dialect{}}, collector.Settings{MaxFrame: 1 << 20, MaxJSONDepth: 64}, nil)
	d := c.Decode(&event.Stream{SingleRun: true}, collector.Input{Reader: strings.NewReader(in.String()), ReceivedAt: func() time.Time { return time.Time{} }}, "adk")
	next := func() {
		if _, err := d.Next(); err != nil {
			t.Fatal(err)
		}
	}
	for range calls {
		next()
	}
	return testing.AllocsPerRun(frames, next)
}
