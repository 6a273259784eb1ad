package filter_test

import (
	"strings"
	"testing"

	"github.com/delegraph/delegraph/collector"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/exporter/stream/filter"
)

// namelessStreams are streams of protocols whose clients read only the data, and say hello at the end.
var namelessStreams = map[string]string{
	"agui": aguiRun + data(`{"type":"TEXT_MESSAGE_START","messageId":"m","role":"assistant"}`) + data(`{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"hello"}`),
	"aisdk": data(`{"type":"start","messageId":"m"}`) + data(`{"type":"start-step"}`) + data(`{"type":"text-start","id":"t"}`) +
		data(`{"type":"text-delta","id":"t","delta":"hello"}`),
	"adk": data(adkEvent(hello)),
	"a2a": a2aResult(`"kind":"message","messageId":"m","role":"agent","parts":[{"kind":"text","text":"hello"}]`),
}

// TestIgnoredEventNames checks that an SSE event name neither withholds a frame of such a protocol nor hides which
// protocol it is, unless the name is internal.
func TestIgnoredEventNames(t *testing.T) {
	names := map[string]bool{"event": true, "agent_event": true, "Message": true, "data": true, "internals": false, "Internal:x": false}
	for _, d := range collector.Dialects() {
		for name := range d.Table().Types {
			names[name] = true
		}
		for _, name := range d.Table().Events {
			names[name] = true
		}
	}
	for dialect, stream := range namelessStreams {
		for name, leaves := range names {
			if strings.ContainsAny(name, "\n\x00") {
				continue
			}
			named := strings.ReplaceAll(stream, "data:", "event: "+name+"\ndata:")
			for _, policy := range []event.Policy{event.PolicyClient, event.PolicyPublic} {
				for _, configured := range []string{dialect, ""} {
					got := lastOf(t, filter.Settings{Policy: policy}, configured, named)
					if strings.Contains(got, "hello") != leaves {
						t.Errorf("%s, configured as %q, %s: events named %q leave as %s", dialect, configured, policy, name, got)
					}
				}
			}
		}
	}
}
