package tracker_test

import (
	"testing"
	"time"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/exporter/tracker"
)

func response(name string) fact { return func(b *event.Batch) { b.Response = name } }

// TestChatStarts checks when a model response starts.
func TestChatStarts(t *testing.T) {
	tell(t, []story{
		{"with the request", proxied(), []*event.Batch{says("app", responds("m"), final)}, `
completed
invoke_agent app ok 0-2
  chat m ok 0-1`},
		{"with the first frame where there is no request", file(), []*event.Batch{says("", text), says("app", responds("m"), final)}, `
completed
invoke_agent app ok 1-2
  chat m ok 1-2`},
		{"with the last whole frame, whoever spoke, and with no partial one", proxied(), []*event.Batch{
			says("app", calls("c1", "tool")), says("", returns("c1", "tool")), says("b", partial, text), says("app", responds("m"), final)}, `
completed
invoke_agent app ok 0-5
  execute_tool tool ok 1-2
  invoke_agent b ok 3-3
  chat m ok 2-4`},
		{"before its own partial frames", proxied(), []*event.Batch{
			says("app", begins("m")), says("app", partial, text), says("app", responds("m"), text, final)}, `
completed
invoke_agent app ok 0-4
  chat m ok 0-3`},
		{"at the same time as another", proxied(), []*event.Batch{
			says("app", begins("m")), says("app", response("2"), begins("n")), says("app", partial, text), says("app", responds("m"), text),
			says("app", response("2"), responds("n"), text, final)}, `
completed
invoke_agent app ok 0-6
  chat m ok 0-4
  chat n ok 0-5`},
		{"with the last whole frame of its branch", proxied(), []*event.Batch{
			says("x", branch("p.x"), text), says("y", branch("p.y"), text), says("x", branch("p.x"), responds("m"), final)}, `
completed
invoke_workflow app ok 0-4
  invoke_agent p ok 0-3
    invoke_agent x ok 0-3
      chat m ok 1-3
    invoke_agent y ok 0-2`},
		{"with the run where the branch is new", proxied(), []*event.Batch{
			says("x", branch("p.x"), text), says("y", branch("p.y"), responds("m"), final)}, `
completed
invoke_workflow app ok 0-3
  invoke_agent p ok 0-2
    invoke_agent x ok 0-1
    invoke_agent y ok 0-2
      chat m ok 0-2`},
		{"with the last whole frame of the run where there is no branch", proxied(), []*event.Batch{
			says("app", text), says("y", branch("p.y"), text), says("app", responds("m"), final)}, `
completed
invoke_workflow app ok 0-4
  invoke_agent p ok 1-2
    invoke_agent y ok 1-2
  chat m ok 2-3`},
		{"with the transfer where that is the latest", proxied(), []*event.Batch{
			says("app", branch(""), responds("n")), says("app", branch(""), handsOver("", "x")), says("x", branch(""), responds("m"), final)}, `
completed
invoke_agent app ok 0-4
  chat n ok 0-1
  invoke_agent x ok 2-3
    chat m ok 2-3`},
		{"with the frame of its lane where that is later than the transfer", proxied(), []*event.Batch{
			says("app", branch(""), handsOver("", "x")), says("x", branch(""), text), says("x", branch(""), responds("m"), final)}, `
completed
invoke_agent app ok 0-4
  invoke_agent x ok 1-3
    chat m ok 2-3`},
	})
}

// TestChats checks that partial frames are joined with the whole frame that repeats them.
func TestChats(t *testing.T) {
	tell(t, []story{
		{"by agent and branch", proxied(), []*event.Batch{
			says("w", branch("p.x"), begins("x")), says("w", branch("p.y"), begins("y")), says("app", begins("app")),
			says("w", branch("p.y"), responds("y")), says("w", branch("p.x"), responds("x")), says("app", responds("app"), final)}, `
completed
invoke_workflow app ok 0-7
  invoke_agent p ok 0-5
    invoke_agent x ok 0-5
      invoke_agent w ok 0-5
        chat x ok 0-5
    invoke_agent y ok 0-4
      invoke_agent w ok 0-4
        chat y ok 0-4
  chat app ok 0-6`},
		{"one that is cut off before an answer is unfinished", proxied(), []*event.Batch{
			says("app", begins("one")), says("app", response("2"), begins("two")), says("app", response("2"), responds("two"), final)}, `
completed
invoke_agent app ok 0-4
  chat one unfinished 0-1
  chat two ok 0-3`},
		{"one that is cut off before the answer of the agent above is unfinished", proxied(), []*event.Batch{
			says("app", calls("c1", "ask")), says("helper", branch("ask@c1"), begins("one")), says("app", returns("c1", "ask")), says("app", responds("two"), final)}, `
completed
invoke_workflow app ok 0-5
  execute_tool ask ok 1-3
  invoke_agent helper unfinished 1-2
    chat one unfinished 1-2
  chat two ok 3-4`},
		{"one that is cut off before the answer of its agent is unfinished, but not the agent", proxied(), []*event.Batch{
			says("app", calls("c1", "ask")), says("helper", branch("ask@c1"), begins("one")), says("helper", branch("ask@c1"), text, final), says("app", returns("c1", "ask")), says("app", responds("two"), final)}, `
completed
invoke_workflow app ok 0-6
  execute_tool ask ok 1-4
  invoke_agent helper ok 1-3
    chat one unfinished 1-2
  chat two ok 4-5`},
		{"one that is cut off before the end of its agent is unfinished", proxied(), []*event.Batch{
			says("a", branch("a"), begins("one")), says("a", branch("a"), ends), says("b", branch("b"), responds("two"), final)}, `
completed
invoke_workflow app ok 0-4
  invoke_agent a ok 0-2
    chat one unfinished 0-1
  invoke_agent b ok 2-3
    chat two ok 2-3`},
		{"one that goes on after an answer is not cut off", proxied(), []*event.Batch{
			says("app", begins("one")), says("app", response("2"), responds("two"), final), says("app", partial, text)}, `
incomplete, stream_ended
invoke_agent app unfinished 0-4
  chat one unfinished 0-4
  chat two ok 0-2`},
		{"each whole frame ends one", proxied(), []*event.Batch{
			says("app", begins("one")), says("app", responds("one")), says("app", responds("two"), final)}, `
completed
invoke_agent app ok 0-4
  chat one ok 0-2
  chat two ok 2-3`},
		{"the model may stand only in the partial frames", proxied(), []*event.Batch{
			says("app", begins("m")), says("app", responds(""), final)}, `
completed
invoke_agent app ok 0-3
  chat m ok 0-2`},
		{"the whole frame names the model last", proxied(), []*event.Batch{
			says("app", begins("preview")), says("app", responds("m"), final)}, `
completed
invoke_agent app ok 0-3
  chat m ok 0-2`},
		{"a second beginning is the first", proxied(), []*event.Batch{
			says("app", begins("m")), says("app", begins("m")), says("app", responds("m"), final)}, `
completed
invoke_agent app ok 0-4
  chat m ok 0-3`},
		{"partial frames without a whole one are unfinished", proxied(), []*event.Batch{
			says("a", begins("m")), says("app", begins("n"))}, `
incomplete, stream_ended
invoke_agent app unfinished 0-3
  invoke_agent a unfinished 0-3
    chat m unfinished 0-3
  chat n unfinished 0-3`},
		{"and an error where an error frame follows", proxied(), []*event.Batch{
			says("a", begins("m")), says("", fails)}, `
failed, error_frame
invoke_agent app error agent_error 0-3
  invoke_agent a error agent_error 0-2
    chat m error model_error 0-2`},
		{"but not where several are open", proxied(), []*event.Batch{
			says("a", begins("m")), says("app", begins("n")), says("", fails)}, `
failed, error_frame
invoke_agent app error agent_error 0-4
  invoke_agent a unfinished 0-4
    chat m unfinished 0-4
  chat n unfinished 0-4`},
		{"or where something else failed", proxied(), []*event.Batch{
			says("a", begins("m")), says("", elsewhere)}, `
failed, error_frame
invoke_agent app error agent_error 0-3
  invoke_agent a unfinished 0-3
    chat m unfinished 0-3`},
		{"or a call that began before", proxied(), []*event.Batch{
			says("app", calls("c1", "tool")), says("app", begins("n")), says("", fails)}, `
failed, error_frame
invoke_agent app error agent_error 0-4
  execute_tool tool unfinished 1-4
  chat n unfinished 1-4`},
		{"and an error after one that was cut off", proxied(), []*event.Batch{
			says("app", begins("m")), says("app", response("2"), responds("n"), final), says("app", response("2"), begins("n")), says("", fails)}, `
failed, error_frame
invoke_agent app error agent_error 0-5
  chat m unfinished 0-1
  chat n ok 0-2
  chat n error model_error 2-4`},
		{"but no error of an agent that goes on", proxied(), []*event.Batch{
			says("a", begins("m")), says("", fails), says("a", final)}, `
completed
invoke_agent app ok 0-4
  invoke_agent a ok 0-3
    chat m error model_error 0-2`},
		{"but not where an error code of another does", proxied(), []*event.Batch{
			says("a", begins("m")), says("app", errorCode)}, `
failed, error_code
invoke_agent app error agent_error 0-3
  invoke_agent a unfinished 0-3
    chat m unfinished 0-3`},
		{"after an error frame a whole one is another", proxied(), []*event.Batch{
			says("app", begins("m")), says("", fails), says("app", responds("m"), final)}, `
completed
invoke_agent app ok 0-4
  chat m error model_error 0-2
  chat m ok 2-3`},
		{"a response may be an error itself", proxied(), []*event.Batch{says("a", responds("m"), wrong(event.ModelError), errorCode, final)}, `
failed, error_code
invoke_agent app error agent_error 0-2
  invoke_agent a error agent_error 0-1
    chat m error model_error 0-1`},
	})
}

// TestChatDetails checks the fields of a response, and their sum in the run.
func TestChatDetails(t *testing.T) {
	usage := func(in, out int64) fact {
		return func(b *event.Batch) {
			e := &b.Events[len(b.Events)-1]
			e.FinishReason, e.Usage = "STOP", event.Usage{Input: event.Count{N: in, Known: true}, Output: event.Count{N: out, Known: true}}
		}
	}
	r := follow(t, proxied(), says("a", branch("p.a"), responds("m"), usage(10, 1)), says("a", branch("p.a"), responds("m")), says("app", responds("n"), usage(20, 2), final))
	chat := findOperation(t, r, tracker.Chat, "m")
	if chat.Agent != "a" || chat.Branch != "p.a" || chat.Response.FinishReason != "STOP" || chat.Response.Usage.Input.N != 10 || chat.Response.Usage.Output.N != 1 {
		t.Errorf("%+v %+v", chat, chat.Response)
	}
	if want := (event.Usage{Input: event.Count{N: 30, Known: true}, Output: event.Count{N: 3, Known: true}}); r.Usage != want {
		t.Errorf("the run's usage %+v", r.Usage)
	}
}

// TestFirstText checks that the first text is text of an answer, partial or not, and not a thought.
func TestFirstText(t *testing.T) {
	thought := func(b *event.Batch) { b.Add(event.KindThought) }
	r := follow(t, proxied(), says("app", thought), says("app", partial, text), says("app", text, final))
	if !r.FirstText.At.Equal(second(2)) || r.FirstText.Frame != 2 {
		t.Errorf("%+v", r.FirstText)
	}
}

// TestFirstChunk checks the time from the request to the first partial frame of a response.
func TestFirstChunk(t *testing.T) {
	for name, c := range map[string]struct {
		stream *event.Stream
		frames []*event.Batch
		want   time.Duration
		known  bool
	}{
		"a response in chunks":        {proxied(), []*event.Batch{says("app", partial, begins("m"), text), says("app", partial, text), says("app", responds("m"), text, final)}, time.Second, true},
		"a response after a result":   {proxied(), []*event.Batch{says("app", calls("c", "t")), says("app", returns("c", "t")), says("app", partial, text), says("app", partial, begins("m"), text), says("app", responds("m"), text, final)}, 2 * time.Second, true},
		"a response that comes whole": {proxied(), []*event.Batch{says("app", responds("m"), text, final)}, 0, false},
		"a request that was not seen": {file(), []*event.Batch{says("app", partial, begins("m"), text), says("app", responds("m"), text, final)}, 0, false},
	} {
		var got time.Duration
		var known bool
		for _, op := range follow(t, c.stream, c.frames...).Operations {
			if op.Kind == tracker.Chat {
				got, known = op.FirstChunk()
			}
		}
		if got != c.want || known != c.known {
			t.Errorf("%s: %v, %t", name, got, known)
		}
	}
}

// TestReportOrder checks the order by first frame, then agents before responses before calls.
func TestReportOrder(t *testing.T) {
	r := follow(t, proxied(),
		says("b", begins("first")),
		says("a", calls("c2", "tool two"), calls("c1", "tool one"), responds("m"), handsOver("", "z")),
		says("b", responds("first")),
		says("z", returns("c1", "tool one"), returns("c2", "tool two"), settles, responds("last"), final))
	var got []string
	for _, op := range r.Operations {
		got = append(got, op.Name)
	}
	equal(t, lines(got...), lines("app", "b", "first", "a", "z", "m", "tool two", "tool one", "last"))
}
