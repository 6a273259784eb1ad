package collector_test

import (
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/delegraph/delegraph/collector"
	"github.com/delegraph/delegraph/collector/event"
)

// TestWithholds finds frames that no dialect is sure of and that one which they may be of keeps from clients.
func TestWithholds(t *testing.T) {
	for data, want := range map[string]bool{
		`{"type":"RAW","event":{"prompt":"x"}}`:              true,
		`{"type":"CUSTOM","name":"x","value":1}`:             false, // a client of AG-UI gets it
		`{"type":"RUN_ERROR","message":"x"}`:                 false,
		`{"type":"raw","event":1}`:                           false,
		`{"author":"a","content":{"parts":[{"text":"hi"}]}}`: false,
		`{"choices":[{"delta":{"content":"hi"},"index":0}]}`: false,
		`{"error":{"code":429,"message":"too many"}}`:        false,
		`{"type":"error","error":"x"}`:                       false,
		`plain text`:                                         false,
	} {
		in := collector.Input{Reader: strings.NewReader("data: " + data + "\n\n"), Arrival: time.Now, Sure: true}
		read := collector.New(collector.Dialects(), collector.Settings{Frame: 1 << 20, JSONDepth: 64}, nil).Decode(&event.Stream{}, in)
		b, err := read.Next()
		if err != nil || b.Table != nil {
			t.Fatalf("%s: %v, or a dialect is sure", data, err)
		}
		if got := read.Withholds(); got != want {
			t.Errorf("%s: %t", data, got)
		}
		if len(b.Events) > 0 || b.Type != "" {
			t.Errorf("%s: the batch has facts", data)
		}
		if _, err := read.Next(); !errors.Is(err, io.EOF) {
			t.Error(err)
		}
	}
}
