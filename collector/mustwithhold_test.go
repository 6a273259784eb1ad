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

// TestMustWithhold checks frames that no dialect recognizes but that a possible dialect withholds from
// clients.
func TestMustWithhold(t *testing.T) {
	for data, want := range map[string]bool{
		`{"type":"RAW","event":{"prompt":"x"}}`:                  true,
		`{"type":"CUSTOM","name":"x","value":1}`:                 false, // a client of AG-UI gets it
		`{"type":"RUN_ERROR","message":"x"}`:                     false,
		`{"type":"raw","event":1}`:                               false,
		`{"author":"a","content":{"parts":[{"text":"hi"}]}}`:     false,
		`{"choices":[{"delta":{"content":"hi"},"index":0}]}`:     false,
		`{"error":{"code":429,"message":"too many"}}`:            false,
		`{"type":"error","error":"x"}`:                           false,
		`{"type":"data-internal-x","data":{"a":1}}`:              true,
		`{"type":"data-x","data":{"a":[{"kind":"internal:x"}]}}`: true,
		`{"type":"data-x","data":{"a":[{"kind":"x"}]}}`:          false,
		`{"type":"start","messageMetadata":{"type":"internal"}}`: true,
		`{"type":"custom","kind":"acme.x","name":"internal-x"}`:  true,
		`plain text`: false,
		"event: debug\ndata: " + `{"level":"debug","category":"llm","summary":"x","detail":{"prompt":"x"}}`: true,
		"event: debug\ndata: " + `{"level":"debug","message":"x"}`:                                          false,
	} {
		frame := data
		if !strings.HasPrefix(frame, "event: ") {
			frame = "data: " + frame
		}
		in := collector.Input{Reader: strings.NewReader(frame + "\n\n"), ReceivedAt: time.Now, RequireSure: true}
		decoder := collector.New(collector.Dialects(), collector.Settings{MaxFrame: 1 << 20, MaxJSONDepth: 64}, nil).Decode(&event.Stream{}, in)
		b, err := decoder.Next()
		if err != nil || b.Table != nil {
			t.Fatalf("%s: error %v, or the frame was recognized", data, err)
		}
		if got := decoder.MustWithhold(); got != want {
			t.Errorf("MustWithhold() = %t after %s", got, data)
		}
		if len(b.Events) > 0 || b.Type != "" {
			t.Errorf("%s: the batch has %d events and the type %q, want none", data, len(b.Events), b.Type)
		}
		if _, err := decoder.Next(); !errors.Is(err, io.EOF) {
			t.Errorf("the second Next() = %v, want io.EOF", err)
		}
	}
}
