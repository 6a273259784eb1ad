package a2a_test

import (
	"strings"
	"testing"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/exporter/stream/filter"
)

// Parts and metadata of an ADK agent's events.
const (
	markedEvent  = `,"metadata":{"adk_author":"a","adk_custom_metadata":"{\"kind\": \"internal:payment\"}"}`
	internalMark = `,"metadata":{"kind":"internal:note"}`
	callMetadata = `"metadata":{"adk_type":"function_call"}`
	hiddenCall   = `{"kind":"data","data":{"id":"c","name":"pay","args":{"x":"CANARY"}},"metadata":{"adk_type":"function_call","kind":"internal"}}`
	plainCall    = `{"kind":"data","data":{"id":"c","name":"pay","args":{"x":"CANARY"}},` + callMetadata + `}`
	otherCall    = `{"kind":"data","data":{"id":"d","name":"look"},` + callMetadata + `}`
	confirmation = `{"kind":"data","data":{"id":"q","name":"adk_request_confirmation","args":{"originalFunctionCall":{"id":"c","args":{"x":"CANARY"}},"toolConfirmation":{"hint":"CANARY"}}},` + callMetadata + `}`
	credential   = `{"kind":"data","data":{"id":"q","name":"adk_request_credential","args":{"functionCallId":"c","x":"CANARY"}},` + callMetadata + `}`
)

func respondedTo(id string) string {
	return `{"kind":"data","data":{"id":"` + id + `","name":"pay","response":{"r":"CANARY"}},"metadata":{"adk_type":"function_response"}}`
}

// The updates of a task of an ADK agent.
func stateOf(state, id, parts, more string) [3]string {
	return [3]string{"status-update", "statusUpdate", ids + `,"status":{"state":"` + state + `","message":{"kind":"message","role":"agent","messageId":"` + id + `","parts":[` + parts + `]}}` + more}
}

func artifactOf(parts, more string) [3]string {
	return [3]string{"artifact-update", "artifactUpdate", ids + `,"artifact":{"artifactId":"a","parts":[` + parts + `]}` + more}
}

func taskOf(more string) [3]string {
	return [3]string{"task", "task", `"id":"t","contextId":"c","status":{"state":"working"}` + more}
}

// TestCallsOfWithheldEvents checks what repeats or answers a call that was withheld. It may be marked as a part, or with its event.
func TestCallsOfWithheldEvents(t *testing.T) {
	marked := stateOf("working", "m", plainCall, markedEvent)
	part := stateOf("working", "m", hiddenCall, "")
	inHistory := func(parts string) [3]string {
		return taskOf(`,"history":[{"kind":"message","role":"agent","messageId":"h","parts":[` + parts + `]}]`)
	}
	pieceOf := func(id string) string {
		return `{"kind":"data","data":{` + id + `"partialArgs":[{"jsonPath":"$.x","stringValue":"CANARY"}],"willContinue":true},` + callMetadata + `}`
	}
	piece := func(author, id string) [3]string {
		return stateOf("working", "n", pieceOf(id), `,"metadata":{"adk_author":"`+author+`","adk_partial":true}`)
	}
	start := func(more string) [3]string {
		return stateOf("working", "o", `{"kind":"data","data":{"id":"c","name":"pay","willContinue":true},`+callMetadata+`}`, more)
	}
	internalText := artifactOf(`{"kind":"text","text":"x"}`, markedEvent)
	asks := func(parts string) [3]string { return stateOf("input-required", "n", parts, "") }
	askingTask := func(parts string) [3]string {
		return [3]string{"task", "task", `"id":"t","contextId":"c","status":{"state":"input-required","message":{"kind":"message","role":"agent","messageId":"n","parts":[` + parts + `]}}`}
	}
	unreadable := [3]string{"status-update", "statusUpdate", ids + `,"US":1,"us":2,"metadata":{"kind":"internal"}`}
	for name, c := range map[string]struct {
		sent   [][3]string
		leaves bool // the last frame, under client
	}{
		"the response":                         {[][3]string{part, stateOf("working", "n", respondedTo("c"), "")}, false},
		"the response to a marked event":       {[][3]string{marked, stateOf("working", "n", respondedTo("c"), "")}, false},
		"the response in an artifact":          {[][3]string{marked, artifactOf(respondedTo("c"), "")}, false},
		"a nested response":                    {[][3]string{part, artifactOf(strings.Replace(nested(respondedTo("c")), `"data":{`, `"data":{"x":1,`, 1), "")}, false},
		"a confirmation":                       {[][3]string{part, stateOf("working", "n", confirmation, "")}, false},
		"a confirmation of a marked event":     {[][3]string{marked, stateOf("input-required", "n", confirmation, "")}, false},
		"a credential":                         {[][3]string{marked, stateOf("auth-required", "n", credential, "")}, false},
		"the call in the question":             {[][3]string{marked, stateOf("input-required", "n", plainCall, "")}, false},
		"the call in an artifact":              {[][3]string{marked, artifactOf(plainCall, "")}, false},
		"the call in a snapshot":               {[][3]string{marked, inHistory(plainCall)}, false},
		"a hint in the actions":                {[][3]string{marked, stateOf("working", "n", "", `,"metadata":{"adk_actions":{"requestedToolConfirmations":{"c":{"hint":"CANARY"}}}}`)}, false},
		"a hint in encoded actions":            {[][3]string{marked, stateOf("working", "n", "", `,"metadata":{"adk_actions":"{\"requestedToolConfirmations\":{\"c\":{\"hint\":\"CANARY\"}}}"}`)}, false},
		"a widget":                             {[][3]string{marked, stateOf("working", "n", "", `,"metadata":{"adk_actions":{"renderUiWidgets":[{"id":"c","payload":{"tool_args":{"x":"CANARY"}}}]}}`)}, false},
		"an agent that the call runs":          {[][3]string{marked, stateOf("working", "n", `{"kind":"text","text":"CANARY"}`, `,"metadata":{"adk_author":"b","adk_branch":"pay@c"}`)}, false},
		"the response after its confirmation":  {[][3]string{marked, stateOf("working", "n", confirmation, ""), stateOf("working", "o", respondedTo("q"), "")}, false},
		"of a marked snapshot":                 {[][3]string{inHistory(hiddenCall), stateOf("working", "n", respondedTo("c"), "")}, false},
		"of a marked message of one":           {[][3]string{taskOf(`,"history":[{"messageId":"h","kind":"message","role":"agent","metadata":{"kind":"internal"},"parts":[` + plainCall + `]}]`), stateOf("working", "n", respondedTo("c"), "")}, false},
		"of an unknown kind":                   {[][3]string{{"weird", "weird", `"x":{"y":{"parts":[` + plainCall + `]}}`}, stateOf("working", "n", respondedTo("c"), "")}, false},
		"after an unreadable frame":            {[][3]string{unreadable, stateOf("working", "n", respondedTo("c"), "")}, false},
		"a known call after one":               {[][3]string{stateOf("working", "m", plainCall, ""), unreadable, stateOf("working", "n", respondedTo("c"), "")}, true},
		"the branch after one":                 {[][3]string{unreadable, stateOf("working", "n", `{"kind":"text","text":"CANARY"}`, `,"metadata":{"adk_author":"b","adk_branch":"a@1.pay@c.d@2"}`)}, false},
		"an artifact of the branch after one":  {[][3]string{unreadable, artifactOf(`{"kind":"text","text":"CANARY"}`, `,"metadata":{"adk_author":"b","adk_branch":"pay@c"}`)}, false},
		"the branch of a known call":           {[][3]string{stateOf("working", "m", plainCall, ""), unreadable, stateOf("working", "n", `{"kind":"text","text":"hi"}`, `,"metadata":{"adk_author":"b","adk_branch":"pay@c"}`)}, true},
		"the branch of an invocation":          {[][3]string{unreadable, stateOf("working", "n", `{"kind":"text","text":"hi"}`, `,"metadata":{"adk_author":"b","adk_branch":"a@1"}`)}, true},
		"the result of code":                   {[][3]string{stateOf("working", "m", `{"kind":"data","data":{"code":"x"},"metadata":{"adk_type":"executable_code"}}`, markedEvent), stateOf("working", "n", `{"kind":"data","data":{"output":"CANARY"},"metadata":{"adk_type":"code_execution_result"}}`, "")}, false},
		"the result of code with an ID":        {[][3]string{stateOf("working", "m", `{"kind":"data","data":{"id":"k","code":"x"},"metadata":{"adk_type":"executable_code"}}`, markedEvent), stateOf("working", "n", `{"kind":"data","data":{"id":"k","output":"CANARY"},"metadata":{"adk_type":"code_execution_result"}}`, "")}, false},
		"the result of that without one":       {[][3]string{stateOf("working", "m", `{"kind":"data","data":{"id":"k","code":"x"},"metadata":{"adk_type":"executable_code"}}`, markedEvent), stateOf("working", "n", `{"kind":"data","data":{"output":"CANARY"},"metadata":{"adk_type":"code_execution_result"}}`, "")}, false},
		"the result of other code":             {[][3]string{marked, stateOf("working", "k", `{"kind":"data","data":{"code":"x"},"metadata":{"adk_type":"executable_code"}}`, ""), stateOf("working", "n", `{"kind":"data","data":{"output":"1"},"metadata":{"adk_type":"code_execution_result"}}`, "")}, true},
		"a piece of the call":                  {[][3]string{start(markedEvent), piece("a", "")}, false},
		"a piece with another ID":              {[][3]string{start(markedEvent), piece("a", `"id":"p",`)}, false},
		"a piece in an artifact":               {[][3]string{start(markedEvent), artifactOf(pieceOf(`"id":"p",`), `,"metadata":{"adk_author":"a","adk_partial":true}`)}, false},
		"a piece of another agent's call":      {[][3]string{start(markedEvent), piece("b", `"id":"p",`)}, true},
		"a piece of a call that left":          {[][3]string{start(`,"metadata":{"adk_author":"a"}`), piece("a", `"id":"p",`)}, true},
		"a piece after the call":               {[][3]string{start(markedEvent), marked, piece("a", `"id":"p",`)}, false},
		"a piece of the next call":             {[][3]string{start(markedEvent), replaced(replaced(start(`,"metadata":{"adk_author":"a"}`), `"c","name"`, `"d","name"`), `"messageId":"o"`, `"messageId":"l"`), piece("a", `"id":"p",`)}, true},
		"another response":                     {[][3]string{marked, stateOf("working", "n", otherCall, ""), stateOf("working", "o", strings.ReplaceAll(respondedTo("d"), "pay", "look"), "")}, true},
		"beside a marked message of one":       {[][3]string{taskOf(`,"history":[{"messageId":"h","role":"agent","parts":[` + strings.ReplaceAll(hiddenCall, `"c"`, `"e"`) + `]},{"messageId":"i","role":"agent","parts":[` + plainCall + `]}]`), stateOf("working", "n", respondedTo("c"), "")}, true},
		"the call of an internal response":     {[][3]string{stateOf("working", "m", plainCall, ""), stateOf("working", "n", respondedTo("c"), markedEvent), stateOf("working", "o", confirmation, "")}, true},
		"a call sent later":                    {[][3]string{internalText, asks(plainCall)}, false},
		"a call sent later, of no text":        {[][3]string{stateOf("working", "m", "", markedEvent), asks(plainCall)}, false},
		"a call sent later in a snapshot":      {[][3]string{internalText, askingTask(plainCall)}, false},
		"a call after a marked snapshot":       {[][3]string{inHistory(`{"kind":"text","text":"x","metadata":{"kind":"internal"}}`), asks(plainCall)}, false},
		"a call sent after an unreadable":      {[][3]string{unreadable, asks(plainCall)}, false},
		"the response to a call sent later":    {[][3]string{internalText, asks(plainCall), stateOf("working", "o", respondedTo("c"), "")}, false},
		"a call that was shown":                {[][3]string{internalText, stateOf("working", "o", plainCall, `,"metadata":{"adk_author":"a"}`), asks(plainCall + "," + respondedTo("c"))}, true},
		"a call of the status's own event":     {[][3]string{internalText, replaced(asks(plainCall), `"kind":"message"`, `"kind":"message","metadata":{"adk_author":"a"}`)}, true},
		"a call after an event with its calls": {[][3]string{artifactOf(`{"kind":"text","text":"x"}`, strings.Replace(markedEvent, `{"adk`, `{"adk_is_long_running":false,"adk`, 1)), asks(plainCall)}, true},
		"a call after an internal status":      {[][3]string{stateOf("working", "m", `{"kind":"text","text":"x"}`, markedEvent), asks(plainCall)}, true},
		"a call after an internal piece":       {[][3]string{artifactOf(`{"kind":"text","text":"x"}`, strings.Replace(markedEvent, `{"adk`, `{"adk_partial":true,"adk`, 1)), asks(plainCall)}, true},
		"a confirmation of a call that left":   {[][3]string{internalText, stateOf("working", "o", plainCall, `,"metadata":{"adk_author":"a"}`), asks(confirmation)}, true},
		"a call without an internal event":     {[][3]string{asks(plainCall + "," + respondedTo("c"))}, true},
		"a response without its call":          {[][3]string{stateOf("working", "n", respondedTo("c"), "")}, true},
	} {
		for envelope, wrap := range envelopes {
			var stream strings.Builder
			for _, one := range c.sent {
				stream.WriteString("data: " + wrap(one[0], one[1], one[2]) + "\n\n")
			}
			for _, s := range []filter.Settings{client, public} {
				got := filterStream(t, s, stream.String())
				last := got[len(got)-1]
				if isWithheld := !hasContent(last); !isWithheld && !c.leaves || isWithheld && c.leaves && s.Policy == client.Policy {
					t.Errorf("%s, %s, under %s: the output is %q", name, envelope, s.Policy, got)
				}
			}
		}
	}
}

// TestCallsOfOtherStreams answers a withheld call on another stream of its task, or of another one.
func TestCallsOfOtherStreams(t *testing.T) {
	const unique = "adk-11111111-2222-4333-8444-555555555555"
	wrap := envelopes["1.0"]
	frame := func(task string, update [3]string) string {
		return "data: " + strings.ReplaceAll(wrap(update[0], update[1], update[2]), `"taskId":"t"`, `"taskId":"`+task+`"`) + "\n\n"
	}
	for _, c := range []struct {
		id, task string
		leaves   bool
	}{{"c", "t", false}, {"c", "u", true}, {unique, "t", false}, {unique, "u", false}} {
		memory := new(event.Withheld)
		filterStreamOf(t, &event.Stream{Withheld: memory}, client, frame("t", stateOf("working", "m", strings.ReplaceAll(plainCall, `"c"`, `"`+c.id+`"`), markedEvent)))
		got := filterStreamOf(t, &event.Stream{Withheld: memory}, client, frame(c.task, stateOf("working", "n", respondedTo(c.id), "")))[0]
		if leaves := !strings.HasPrefix(got, withheld); leaves != c.leaves {
			t.Errorf("the response to %q of task %s leaves as %s", c.id, c.task, got)
		}
	}
	for task, want := range map[string]bool{"t": false, "u": true} {
		memory := new(event.Withheld)
		filterStreamOf(t, &event.Stream{Withheld: memory}, client, frame("t", artifactOf(`{"kind":"text","text":"x"}`, markedEvent)))
		got := filterStreamOf(t, &event.Stream{Withheld: memory}, client, frame(task, stateOf("input-required", "n", plainCall, "")))[0]
		if leaves := hasContent(got); leaves != want {
			t.Errorf("a call that task %s sends after its event leaves as %s", task, got)
		}
	}
}

// replaced replaces a text in an update.
func replaced(update [3]string, from, to string) [3]string {
	update[2] = strings.ReplaceAll(update[2], from, to)
	return update
}

// TestErrorsOfWithheldCalls fails a task while an internal call has no response. The error may quote the arguments of the call.
func TestErrorsOfWithheldCalls(t *testing.T) {
	marked, text := stateOf("working", "m", plainCall, markedEvent), `{"kind":"text","text":"CANARY"}`
	failed, working := stateOf("failed", "n", text, ""), stateOf("working", "n", text, `,"metadata":{"adk_author":"a","adk_error_code":"ValueError"}`)
	errorOf := func(text string) string { return `"metadata":{"adk_author":"a","adk_error_message":"w: ` + text + `"}` }
	inMetadata := artifactOf(`{"kind":"text","text":"x"}`, ","+errorOf("CANARY"))
	ofEvent := stateOf("working", "n", text, `,"metadata":{"adk_author":"a","adk_event_id":"1","adk_error_code":"ValueError"}`)
	for name, c := range map[string]struct {
		sent   [][3]string
		leaves bool // the text of the last frame, under client
	}{
		"the end":                  {[][3]string{marked, failed}, false},
		"the error of an event":    {[][3]string{marked, working}, false},
		"the end after an event":   {[][3]string{marked, working, failed}, false},
		"the event's content":      {[][3]string{marked, ofEvent, ofEvent}, false},
		"of a marked part":         {[][3]string{stateOf("working", "m", hiddenCall, ""), failed}, false},
		"after a pending response": {[][3]string{marked, stateOf("working", "r", strings.Replace(respondedTo("c"), `"r":"CANARY"`, `"status":"pending"`, 1), ""), failed}, false},
		"after the response":       {[][3]string{marked, stateOf("working", "r", respondedTo("c"), ""), failed}, false},
		"the end again":            {[][3]string{marked, failed, failed}, false},
		"of the result":            {[][3]string{replaced(marked, "CANARY", "1"), stateOf("working", "r", respondedTo("c"), ""), failed}, false},
		"of an internal error":     {[][3]string{stateOf("working", "k", text, `,"metadata":{"adk_author":"a","adk_error_code":"ValueError","adk_custom_metadata":{"kind":"internal:x"}}`), replaced(failed, `"CANARY"`, `"w: CANARY"`)}, false},
		"a result of another call": {[][3]string{marked, replaced(stateOf("working", "r", respondedTo("d"), ""), `"r":`, `"error":`)}, false},
		"after another response":   {[][3]string{replaced(marked, "CANARY", "1"), stateOf("working", "r", strings.ReplaceAll(respondedTo("c"), "CANARY", "other"), ""), failed}, true},
		"in metadata":              {[][3]string{marked, stateOf("working", "r", respondedTo("c"), ""), inMetadata}, false},
		"in metadata, still open":  {[][3]string{replaced(marked, "CANARY", "other text"), inMetadata}, false},
		"in a snapshot's metadata": {[][3]string{marked, stateOf("working", "r", respondedTo("c"), ""), taskOf(`,"artifacts":[{"artifactId":"a","parts":[],` + errorOf("CANARY") + `}]`)}, false},
		"metadata of another":      {[][3]string{replaced(marked, "CANARY", "1"), stateOf("working", "r", strings.ReplaceAll(respondedTo("c"), "CANARY", "other"), ""), inMetadata}, true},
		"of an internal metadata":  {[][3]string{stateOf("working", "m", "", `,"metadata":{"adk_author":"a","adk_error_message":"CANARY","adk_is_long_running":false,"adk_custom_metadata":{"kind":"internal:x"}}`), failed}, false},
		"of a call not yet sent":   {[][3]string{artifactOf(`{"kind":"text","text":"x"}`, markedEvent), failed}, false},
		"of an answer":             {[][3]string{replaced(stateOf("working", "m", text, markedEvent), "CANARY", "the CANARY costs"), replaced(failed, "CANARY", "no, the CANARY costs")}, false},
		"of another server":        {[][3]string{replaced(stateOf("working", "m", text, internalMark), "CANARY", "the CANARY costs"), replaced(failed, "CANARY", "no, the CANARY costs")}, false},
		"of such an artifact":      {[][3]string{replaced(artifactOf(text, internalMark), "CANARY", "the CANARY costs"), replaced(failed, "CANARY", "no, the CANARY costs")}, false},
		"of such data":             {[][3]string{artifactOf(`{"kind":"data","data":{"x":"the CANARY costs"}}`, internalMark), replaced(failed, "CANARY", "no, the CANARY costs")}, false},
		"of the next piece":        {[][3]string{artifactOf(`{"kind":"text","text":"x"}`, internalMark), replaced(artifactOf(text, `,"append":true`), "CANARY", "the CANARY costs"), replaced(failed, "CANARY", "no, the CANARY costs")}, false},
		"of a marked message":      {[][3]string{taskOf(`,"history":[{"kind":"message","role":"agent","messageId":"m","parts":[{"kind":"text","text":"the CANARY costs"}]` + internalMark + `}]`), replaced(failed, "CANARY", "no, the CANARY costs")}, false},
		"of a public one":          {[][3]string{replaced(stateOf("working", "m", text, ""), "CANARY", "the CANARY costs"), replaced(failed, "CANARY", "no, the CANARY costs")}, true},
		"a model that retries":     {[][3]string{marked, stateOf("working", "r", respondedTo("c"), ""), stateOf("working", "s", adkPart("call", `"id":"e","name":"adk_handle_model_error","args":{"x":"no CANARY"}`), "")}, false},
		"a word of an answer":      {[][3]string{stateOf("working", "m", text, markedEvent), replaced(failed, "CANARY", "no CANARY")}, true},
		"of a visible call":        {[][3]string{stateOf("working", "m", otherCall, ""), failed}, true},
		"no error":                 {[][3]string{marked, stateOf("completed", "n", text, "")}, true},
	} {
		for envelope, wrap := range envelopes {
			var stream strings.Builder
			for _, one := range c.sent {
				stream.WriteString("data: " + wrap(one[0], one[1], one[2]) + "\n\n")
			}
			got := filterStream(t, client, stream.String())
			if last := got[len(got)-1]; strings.HasPrefix(last, withheld) || strings.Contains(last, "CANARY") != c.leaves {
				t.Errorf("%s, %s: the last frame leaves as %s", name, envelope, last)
			}
		}
	}
}
