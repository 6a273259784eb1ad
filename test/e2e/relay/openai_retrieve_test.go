package relay_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/delegraph/delegraph/exporter/tracker"
	"github.com/delegraph/delegraph/test/e2e/harness"
)

// TestRetrievedResponse has a client retrieve a recorded response that another request began. Both read one run. The steps are
// "begin" and "retrieve", which read up to the middle of the response, and "end", "leave" and "retrieved", which end them.
func TestRetrievedResponse(t *testing.T) {
	for _, c := range []struct {
		steps string
		after int // the number of events that the GET skips
		want  tracker.Status
	}{
		{"begin end", 0, tracker.Completed},
		{"begin retrieve end retrieved", 3, tracker.Completed},
		{"begin retrieve retrieved end", 0, tracker.Completed},
		{"begin retrieve leave retrieved", 3, tracker.Completed},
		{"begin leave retrieve retrieved", 3, tracker.Completed},
		{"begin leave retrieve retrieved", 0, tracker.Completed},
		{"begin leave", 0, tracker.Canceled},
		{"begin end retrieve retrieved", 0, tracker.Completed},
		{"retrieve retrieved", 0, tracker.Completed},
		{"retrieve retrieved", 3, tracker.Completed},
	} {
		for recording, tools := range map[string]int{"responses-reasoning": 0, "responses-two-tools": 2} {
			t.Run(fmt.Sprintf("%s %s after %d", recording, c.steps, c.after), func(t *testing.T) {
				b := serveBackground(t, "litellm/recordings/"+recording, `"id":"`, c.after)
				b.get = fmt.Sprintf("/v1/responses/%s?stream=true&starting_after=%d", b.id, c.after-1)
				service := harness.Launch(t, fmt.Sprintf(retrievingProxy, b.URL), map[string]string{"OTEL_TRACES_EXPORTER": "none"})
				b.take(t, service, strings.Fields(c.steps))
				service.Stop()
				reports := service.Recent.Reports()
				if len(reports) != 1 || reports[0].Status != c.want || harness.Text(reports[0].Run) != b.id {
					t.Fatalf("want one run of %s that is %s, got %s", b.id, c.want, listRuns(reports))
				}
				chats, calls := 0, 0
				for _, op := range reports[0].Operations {
					switch op.Kind {
					case tracker.Chat:
						chats++
					case tracker.ExecuteTool:
						calls++
					}
				}
				if c.want == tracker.Completed && (chats != 1 || calls != tools) {
					t.Errorf("%d responses and %d calls", chats, calls)
				}
			})
		}
	}
}

const retrievingProxy = `
stream: {listen: "127.0.0.1:0", policy: client}
sources:
  - {name: app, proxy: {listen: "127.0.0.1:0", upstream: %q}}
`
