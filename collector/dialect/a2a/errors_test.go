package a2a_test

import (
	"strings"
	"testing"
	"time"

	"github.com/delegraph/delegraph/collector"
	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/dialect/a2a"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/exporter/stream/filter"
)

// TestErrors checks that a failure is reported without its cause.
func TestErrors(t *testing.T) {
	for sent, want := range map[string]string{
		`{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"secret","data":[{"x":"secret"}]}}`: `{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"the run failed"}}`,
		`{"error":{"code":500,"status":"INTERNAL","message":"secret","details":[{"x":"secret"}]}}`:    `{"error":{"code":500,"status":"INTERNAL","message":"the run failed"}}`,
		`{"error":"io.a2a.spec.InternalError","message":"secret"}`:                                    `{"error":"the run failed","message":"the run failed"}`, // a2a-java 0.3
		`{"error":"json: secret"}`:                                 `{"error":"the run failed"}`,                 // a2a-go 0.3
		`{"code":-32603,"message":"secret","data":{"x":"secret"}}`: `{"code":-32603,"message":"the run failed"}`, // a2a-js 0.3
		`{"type":"https://a2a-protocol.org/errors/x","title":"secret","status":400,"detail":"secret","taskId":"secret"}`: `{"title":"the run failed","status":400,"detail":"the run failed"}`,
		`{"type":"about:blank","title":"secret","status":500}`:                                                           `{"title":"the run failed","status":500}`,
		`{"title":"secret","status":500,"detail":"secret"}`:                                                              `{"title":"the run failed","status":500,"detail":"the run failed"}`,
	} {
		for _, name := range []string{"", "event: error\n"} {
			stream := name + "data: " + sent + "\n\n"
			if got := filterStream(t, public, stream)[0]; got != want {
				t.Errorf("under public, filtering\n%sgives %s", stream, got)
			}
			if got := filterStream(t, client, stream)[0]; got != sent {
				t.Errorf("under client, filtering\n%sgives %s", stream, got)
			}
		}
	}
}

// TestInternalErrors checks that an error that may not leave is replaced by another error, because the client
// would wait for the end of its run.
func TestInternalErrors(t *testing.T) {
	failed := "data: " + (a2a.Dialect{}).Table().FailureData + "\n\n"
	for sent, want := range map[string]string{
		`data: {"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"secret","data":{"type":"InternalError"}}}`: failed,
		"event: error\n" + `data: {"code":-32603,"message":"secret","data":{"x":[{"type":"internal:x"}]}}`:          "event: error\n" + failed,
		"event: error\n" + `data: {"type":"server_error","message":"secret"}`:                                       "event: error\n" + failed,
		`data: {"type":"InternalError","title":"secret","status":500}`:                                              failed,
	} {
		input := collector.Input{Reader: strings.NewReader(sent + "\n\n"), ReceivedAt: func() time.Time { return time.Time{} }}
		settings := collector.Settings{MaxFrame: 1 << 20, MaxJSONDepth: 128}
		b, err := collector.New([]dialect.Dialect{a2a.Dialect{}}, settings, nil).Decode(&event.Stream{}, input, "a2a").Next()
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range []filter.Settings{client, public} {
			if got := string(filter.NewRelay(s, noCounters{}).Append(nil, b)); got != want {
				t.Errorf("under %s, the relay sends %q for %q, want %q", s.Policy, got, sent, want)
			}
		}
	}
}
