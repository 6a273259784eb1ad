package langgraph

import (
	"strings"
	"testing"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/exporter/stream/filter"
)

// startsWith is the start of a task with messages in its input.
func startsWith(id, node string, messages ...string) sent {
	return task(id, node, messagesState(messages...))
}

// inDebug returns a frame of the mode tasks in the mode debug.
func inDebug(one sent) sent {
	kind := "task"
	if strings.Contains(one.data, `"result"`) {
		kind = "task_result"
	}
	return sent{"debug", `{"type":"` + kind + `","step":1,"payload":` + one.data + `}`}
}

// TestHumanMessagesOfInternal has an internal node return a message of the type human. Other frames repeat it with its ID.
func TestHumanMessagesOfInternal(t *testing.T) {
	const human = `{"type":"human","id":"h2","content":"secret"}`
	draft, final := ai(`"m1"`, "draft"), ai(`"m2"`, "final")
	returned := `{"type":"human","id":"h2","content":"secret","additional_kwargs":{}}`
	for _, written := range []string{messagesState(returned), messagesState(askedBefore, draft, returned), messagesState(returned, askedBefore)} {
		inTasks := []sent{
			startsWith("1", "a", askedBefore), returns("", "1", "a", messagesState(draft)),
			startsWith("2", "internal_x", askedBefore, draft), returns("", "2", "internal_x", written),
			startsWith("3", "a", askedBefore, draft, human), {"updates", `{"a":` + messagesState(askedBefore, human, final) + `}`},
		}
		checkStaysIn(t, []filter.Settings{client, public}, inTasks...)
		checkStaysIn(t, []filter.Settings{client, public}, inTasks[2:]...)
		inDebugMode := make([]sent, 5)
		for i := range inDebugMode {
			inDebugMode[i] = inDebug(inTasks[i])
		}
		checkStaysIn(t, []filter.Settings{client}, inDebugMode...)
		out := leaving(client, append(inTasks[:4:4], startsWith("3", "a", askedBefore, draft), returns("", "3", "a", messagesState(final)))...)
		if strings.Count(out, "final") != 1 || strings.Count(out, `"h1"`) != 2 {
			t.Errorf("what the user and the other node say does not leave:\n%s", out)
		}
	}
	for _, written := range []string{messagesState(returned), messagesState(askedBefore, draft, returned)} {
		stream := []sent{{"updates|team:1", `{"a":` + messagesState(draft) + `}`}, {"updates|team:1", `{"internal_x":` + written + `}`}, {"updates", `{"team":` + messagesState(askedBefore, draft, human, final) + `}`}}
		checkStaysIn(t, []filter.Settings{client, public}, stream...)
		if out := leaving(client, stream...); !strings.Contains(out, "final") || written == messagesState(returned) && !strings.Contains(out, `"h1"`) {
			t.Errorf("of the graph around the node, this leaves:\n%s", out)
		}
	}
}

// TestHumanMessagesInNextRun has an internal node return a message of the type human, which the next run of the thread repeats.
func TestHumanMessagesInNextRun(t *testing.T) {
	const ofRun = `{"type":"ai","id":"lc_run--019a0000-0000-7000-8000-000000000003","content":"a"}`
	const human = `{"type":"human","id":"h2","content":"secret"}`
	for written, leaves := range map[string]bool{messagesState(human): false, messagesState(ofRun, human): false, messagesState(ai(`"m1"`, "a"), human): true} {
		memory := new(event.Withheld)
		begun := sent{"metadata", `{"run_id":"019a0000-0000-7000-8000-000000000002","attempt":1}`}
		leavingOf(client, &event.Stream{Identity: inThread(threadID, ""), Withheld: memory}, begun, sent{"updates", `{"internal_x":` + written + `}`})
		out := leavingOf(client, &event.Stream{Identity: inThread(threadID, ""), Withheld: memory}, sent{"metadata", nextRun}, sent{"values", messagesState(askedBefore, human)})
		if strings.Contains(out, "secret") != leaves {
			t.Errorf("after %s, this leaves of the next run:\n%s", written, out)
		}
	}
}
