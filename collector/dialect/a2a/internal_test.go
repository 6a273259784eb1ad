package a2a_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/delegraph/delegraph/exporter/stream/filter"
)

// Parts and metadata of events.
const (
	markedEvent  = `,"metadata":{"adk_author":"a","adk_custom_metadata":"{\"kind\": \"internal:payment\"}"}`
	internalMark = `,"metadata":{"kind":"internal:note"}`
	hiddenText   = `{"kind":"text","text":"x","metadata":{"type":"internal:x"}}`
	canary       = `{"kind":"text","text":"CANARY"}`
	unreadable   = `"US":1,"us":2`
)

// callOf returns a part that begins a call, and responseTo one with the result of a call.
func callOf(id, more string) string {
	return callPart("function_call", id, `"args":{"x":"CANARY"}`, more)
}

func responseTo(id string) string {
	return callPart("function_response", id, `"response":{"r":"CANARY"}`, "")
}

func callPart(kind, id, content, more string) string {
	return `{"kind":"data","data":{"id":"` + id + `","name":"pay",` + content + `},"metadata":{"adk_type":"` + kind + `"` + more + `}}`
}

// The updates of task t, as in envelopes.
func stateOf(state, id, parts, more string) [3]string {
	return [3]string{"status-update", "statusUpdate", ids + `,"status":{"state":"` + state + `","message":` + messageOf(id, parts) + `}` + more}
}

func messageOf(id, parts string) string {
	return `{"kind":"message","role":"agent","messageId":"` + id + `","parts":[` + parts + `]}`
}

func artifactOf(parts, more string) [3]string {
	return [3]string{"artifact-update", "artifactUpdate", ids + `,"artifact":{"artifactId":"a","parts":[` + parts + `]}` + more}
}

func taskOf(more string) [3]string {
	return [3]string{"task", "task", `"id":"t","contextId":"c","status":{"state":"working"}` + more}
}

// replaced replaces a text in an update.
func replaced(update [3]string, from, to string) [3]string {
	update[2] = strings.ReplaceAll(update[2], from, to)
	return update
}

// streamOf returns a stream of updates in an envelope.
func streamOf(wrap func(kind, wrapper, members string) string, updates ...[3]string) string {
	var stream strings.Builder
	for _, one := range updates {
		stream.WriteString("data: " + wrap(one[0], one[1], one[2]) + "\n\n")
	}
	return stream.String()
}

// TestInternalItems sends internal messages, artifacts and calls, and then more with their IDs. The last frame has CANARY.
func TestInternalItems(t *testing.T) {
	const more, ofADK, inTask = `,"append":true`, `,"metadata":{"adk_author":"x"}`, `,"metadata":{"a":[{"kind":"internal:x"}]}`
	numbered := func(id, parts string) [3]string { return replaced(artifactOf(parts, ""), `"a"`, id) }
	nameless := func(parts, more string) [3]string { return replaced(artifactOf(parts, more), `"artifactId":"a",`, "") }
	inHistory := func(id, parts string) [3]string { return taskOf(`,"history":[` + messageOf(id, parts) + `]`) }
	inArtifacts := func(id, parts string) [3]string {
		return taskOf(`,"artifacts":[{"artifactId":"` + id + `","parts":[` + parts + `]}]`)
	}
	begun, piece, again := artifactOf(hi, ""), artifactOf(canary, more), artifactOf(canary, "")
	called := stateOf("working", "m", callOf("c", ""), markedEvent)
	asks := func(name, args string) string {
		return strings.Replace(callPart("function_call", "q", `"args":{`+args+`}`, ""), `"pay"`, `"`+name+`"`, 1)
	}
	eventOf := func(id, more string) string {
		return `,"metadata":{"adk_author":"a","adk_event_id":"` + id + `"` + more + `}`
	}
	event := stateOf("working", "m", hi, eventOf("e", `,"adk_custom_metadata":"{\"event\":\"internal.x\"}"`))
	code := func(kind, id string) string { return callPart(kind, id, `"output":"CANARY"`, "") }
	for name, c := range map[string]struct {
		sent   [][3]string
		leaves bool // the last frame, under client
	}{
		"a piece of an artifact":                 {[][3]string{artifactOf(hiddenText, `,"append":false`), piece}, false},
		"a piece of a marked update":             {[][3]string{artifactOf(hi, internalMark), piece}, false},
		"an artifact again":                      {[][3]string{artifactOf(hiddenText, ""), again}, false},
		"an artifact in a snapshot":              {[][3]string{artifactOf(hiddenText, ""), inArtifacts("a", canary)}, false},
		"an artifact of another task":            {[][3]string{artifactOf(hiddenText, ""), replaced(again, `"taskId":"t"`, `"taskId":"u"`)}, true},
		"another artifact":                       {[][3]string{artifactOf(hiddenText, ""), replaced(again, `"a"`, `"b"`)}, true},
		"the next piece":                         {[][3]string{begun, artifactOf(hiddenText, more), piece}, false},
		"an internal piece in a snapshot":        {[][3]string{begun, artifactOf(hiddenText, more), inArtifacts("a", canary)}, false},
		"an ADK agent's next event":              {[][3]string{begun, artifactOf(hiddenText, more+ofADK), piece}, true},
		"the artifact of such events again":      {[][3]string{begun, artifactOf(hiddenText, more+ofADK), again}, false},
		"an ADK agent's event after an internal": {[][3]string{artifactOf(hiddenText, ofADK), artifactOf(canary, more+ofADK)}, false},
		"an artifact without an ID":              {[][3]string{nameless(hiddenText, ""), nameless(canary, more)}, false},
		"an artifact with an ID":                 {[][3]string{nameless(hiddenText, ""), again}, true},
		"a number as ID":                         {[][3]string{numbered("5", hiddenText), numbered("5", canary)}, false},
		"a number, then its digits":              {[][3]string{numbered("5.0", hiddenText), numbered(`"5"`, canary)}, false},
		"digits, then the number":                {[][3]string{numbered(`"0.5"`, hiddenText), numbered("0.5", canary)}, false},
		"null as ID":                             {[][3]string{numbered("null", hiddenText), numbered("null", canary)}, false},
		"a message again":                        {[][3]string{stateOf("working", "m", hiddenText, ""), stateOf("working", "m", canary, "")}, false},
		"a message in a history":                 {[][3]string{stateOf("working", "m", hiddenText, ""), inHistory("m", canary)}, false},
		"a message without an ID":                {[][3]string{replaced(stateOf("working", "m", hiddenText, ""), `"messageId":"m",`, ""), replaced(stateOf("working", "m", canary, ""), `"messageId":"m",`, "")}, true},
		"another message":                        {[][3]string{stateOf("working", "m", canary, internalMark), stateOf("working", "n", canary, "")}, true},
		"an artifact with a message's ID":        {[][3]string{stateOf("working", "a", hiddenText, ""), again}, true},
		"an artifact with a message's text":      {[][3]string{stateOf("working", "m", canary, markedEvent), again}, true},
		"a message of a snapshot":                {[][3]string{inHistory("m", hiddenText), stateOf("working", "m", canary, "")}, false},
		"an artifact of a snapshot":              {[][3]string{inArtifacts("a", hiddenText), piece}, false},
		"beside an internal artifact":            {[][3]string{replaced(inArtifacts("a", hi), `[{"artifactId":"a"`, `[{"artifactId":"b","parts":[`+hiddenText+`]},{"artifactId":"a"`), again}, true},
		"an artifact of an internal task":        {[][3]string{taskOf(inTask + `,"artifacts":[{"artifactId":"b","kind":"internal"},{"artifactId":"a","parts":[]}]`), again}, false},
		"a piece of such an artifact":            {[][3]string{taskOf(inTask + `,"artifacts":[{"artifactId":"a","parts":[]}]`), piece}, false},
		"a piece of one that had begun":          {[][3]string{begun, taskOf(inTask + `,"artifacts":[{"artifactId":"a","parts":[]}]`), piece}, true},
		"the history of an internal task":        {[][3]string{taskOf(inTask + `,"history":[` + messageOf("m", "") + `]`), stateOf("working", "m", canary, "")}, false},
		"the message of an internal status":      {[][3]string{replaced(taskOf(""), `"working"`, `"working","type":"internal","message":`+messageOf("m", "")), stateOf("working", "m", canary, "")}, false},
		"an artifact of an unknown kind":         {[][3]string{{"weird", "weird", artifactOf("", "")[2]}, piece}, false},
		"the response to a call":                 {[][3]string{called, stateOf("working", "n", responseTo("c"), "")}, false},
		"the response to a marked part":          {[][3]string{stateOf("working", "m", callOf("c", `,"kind":"internal"`), ""), stateOf("working", "n", responseTo("c"), "")}, false},
		"a call again":                           {[][3]string{called, stateOf("working", "n", callOf("c", ""), "")}, false},
		"the response in an artifact":            {[][3]string{called, artifactOf(responseTo("c"), ofADK)}, false},
		"the response in a history":              {[][3]string{called, inHistory("n", responseTo("c"))}, false},
		"the response to another call":           {[][3]string{called, stateOf("working", "n", responseTo("d"), "")}, true},
		"the message of the response":            {[][3]string{called, stateOf("working", "n", responseTo("c"), ""), stateOf("working", "n", canary, "")}, false},
		"a call of a marked message":             {[][3]string{replaced(inHistory("h", callOf("c", "")), `"role"`, `"metadata":{"kind":"internal"},"role"`), stateOf("working", "n", responseTo("c"), "")}, false},
		"a call beside a marked message":         {[][3]string{replaced(inHistory("h", hiddenText), `[{"kind":"message"`, `[`+messageOf("i", callOf("c", ""))+`,{"kind":"message"`), stateOf("working", "n", responseTo("c"), "")}, true},
		"a call that had begun":                  {[][3]string{stateOf("working", "k", callOf("c", ""), ""), called, stateOf("working", "n", responseTo("c"), "")}, true},
		"a call of an internal response":         {[][3]string{stateOf("working", "m", responseTo("c"), markedEvent), stateOf("working", "n", callOf("c", ""), "")}, true},
		"the result of code":                     {[][3]string{stateOf("working", "m", code("executable_code", "k"), markedEvent), stateOf("working", "n", code("code_execution_result", "k"), "")}, false},
		"a request to confirm a call":            {[][3]string{called, stateOf("working", "n", asks("adk_request_confirmation", `"originalFunctionCall":{"id":"c"}`), "")}, false},
		"a request for a call's credential":      {[][3]string{called, stateOf("working", "n", asks("adk_request_credential", `"functionCallId":"c"`), "")}, false},
		"the answer to such a request":           {[][3]string{called, stateOf("working", "n", asks("adk_request_credential", `"functionCallId":"c"`), ""), stateOf("working", "o", responseTo("q"), "")}, false},
		"a tool with such an argument":           {[][3]string{called, stateOf("working", "n", asks("look", `"functionCallId":"c"`), "")}, true},
		"a text in the branch of a call":         {[][3]string{called, stateOf("working", "n", canary, `,"metadata":{"adk_author":"b","adk_branch":"pay@c"}`)}, true},
		"the artifact of an ADK event":           {[][3]string{event, artifactOf(canary, eventOf("e", ""))}, false},
		"the artifact of another event":          {[][3]string{event, artifactOf(canary, eventOf("f", ""))}, true},
		"the next artifact of an event":          {[][3]string{event, artifactOf(hi, eventOf("e", "")), replaced(artifactOf(canary, eventOf("e", "")), `"a"`, `"b"`)}, false},
		"another message of an event":            {[][3]string{event, stateOf("working", "n", canary, eventOf("e", ""))}, false},
		"the rest of an event's artifact":        {[][3]string{artifactOf(hi, eventOf("e", `,"kind":"internal"`)), artifactOf(canary, more+eventOf("e", ""))}, false},
		"an event with metadata in the message":  {[][3]string{event, replaced(stateOf("working", "n", canary, ""), `"parts"`, eventOf("e", "")[1:]+`,"parts"`)}, false},
		"a question that left before an event":   {[][3]string{stateOf("working", "q", callOf("c", ""), eventOf("d", "")), event, stateOf("input-required", "q", callOf("c", ""), eventOf("e", ""))}, true},
		"a message of an internal task":          {[][3]string{taskOf(inTask), stateOf("working", "m", canary, "")}, false},
		"an artifact of such a task":             {[][3]string{taskOf(inTask), stateOf("working", "m", canary, ""), again}, false},
		"a later snapshot of such a task":        {[][3]string{taskOf(inTask), inHistory("m", canary)}, false},
		"a message of another task":              {[][3]string{taskOf(inTask), replaced(stateOf("working", "m", canary, ""), `"taskId":"t"`, `"taskId":"u"`)}, true},
		"a task with a status's metadata":        {[][3]string{stateOf("working", "m", hi, internalMark), taskOf(inTask), stateOf("working", "n", canary, "")}, true},
		"a task with an internal message":        {[][3]string{inHistory("m", hiddenText), stateOf("working", "n", canary, "")}, true},
		"a piece after an unreadable frame":      {[][3]string{{"x", "x", unreadable}, piece}, false},
		"the start after such a piece":           {[][3]string{{"x", "x", unreadable}, piece, again}, false},
		"a start after an unreadable frame":      {[][3]string{{"x", "x", unreadable}, again}, true},
		"a piece of a later artifact":            {[][3]string{{"x", "x", unreadable}, begun, piece}, true},
		"a piece of an earlier artifact":         {[][3]string{begun, {"x", "x", unreadable}, piece}, true},
		"a snapshot after an unreadable frame":   {[][3]string{{"x", "x", unreadable}, inArtifacts("a", canary)}, true},
		"a response after an unreadable frame":   {[][3]string{{"x", "x", unreadable}, stateOf("working", "n", responseTo("c"), "")}, true},
	} {
		for envelope, wrap := range envelopes {
			for _, s := range []filter.Settings{client, public} {
				got := filterStream(t, s, streamOf(wrap, c.sent...))
				sent := c.sent[len(c.sent)-1]
				if last := got[len(got)-1]; !c.leaves && !strings.HasPrefix(last, withheld) || c.leaves && s.Policy == client.Policy && last != wrap(sent[0], sent[1], sent[2]) {
					t.Errorf("%s, %s, under %s: the last frame becomes %s", name, envelope, s.Policy, last)
				}
			}
		}
	}
}

// TestOrdinaryMetadata sends marks that are not an agent's: the caller's, which servers repeat, those of data to confirm, and schemas.
func TestOrdinaryMetadata(t *testing.T) {
	const mark = `{"type":"internal request","source":{"kind":"internal-service"}}`
	ofUser := strings.ReplaceAll(messageOf("u", hi), `"role":"agent"`, `"role":"user","metadata":`+mark)
	for name, sent := range map[string][3]string{
		"the request's":            stateOf("working", "m", hi, `,"metadata":{"adk_author":"a","adk_custom_metadata":{"a2a_metadata":`+mark+`}}`),
		"the request's, in text":   stateOf("working", "m", hi, `,"metadata":{"adk_author":"a","adk_custom_metadata":"{\"a2a_metadata\":{\"type\":\"internal\"}}"}`),
		"the user's":               taskOf(`,"history":[` + ofUser + `]`),
		"the user's, in 1.0":       taskOf(`,"history":[` + strings.Replace(ofUser, `"user"`, `"ROLE_USER"`, 1) + `]`),
		"data to confirm":          stateOf("working", "m", responseTo("c"), `,"metadata":{"adk_author":"a","adk_actions":{"requestedToolConfirmations":{"c":{"hint":"ok?","payload":`+mark+`}}}}`),
		"an object":                stateOf("working", "m", hi, `,"metadata":{"kind":{"name":"internal audit","internal":1}}`),
		"a schema":                 artifactOf(strings.Replace(hi, "}", `,"metadata":{"json_schema":{"properties":{"kind":{"title":"Internal","enum":["internal"]}},"default":{"kind":"internal"}}}}`, 1), ""),
		"a property, not so named": artifactOf(strings.Replace(hi, "}", `,"metadata":{"schema":{"type":"object","properties":{"type":{"default":"internal","description":"internal type"}}}}}`, 1), ""),
	} {
		for envelope, wrap := range envelopes {
			if got, want := filterStream(t, client, streamOf(wrap, sent))[0], wrap(sent[0], sent[1], sent[2]); got != want {
				t.Errorf("%s, %s: %s becomes %s", name, envelope, want, got)
			}
		}
	}
	for name, sent := range map[string][3]string{
		"an agent's message":  taskOf(`,"history":[` + strings.Replace(ofUser, `"user"`, `"agent"`, 1) + `]`),
		"of an unknown role":  taskOf(`,"history":[` + strings.Replace(ofUser, `"user"`, `"User"`, 1) + `]`),
		"as one object":       taskOf(`,"History":` + strings.Replace(ofUser, `"user"`, `"agent"`, 1)),
		"a status":            stateOf("working", "m", hi, `,"metadata":{"adk_custom_metadata":{"a2a_metadata":{},"type":"internal"}}`),
		"a list":              stateOf("working", "m", hi, `,"metadata":{"type":["x",["internal"]]}`),
		"data within a mark":  stateOf("working", "m", hi, `,"metadata":{"type":{"kind":"internal"}}`),
		"the user's status":   replaced(stateOf("working", "m", hi, internalMark), `"agent"`, `"user"`),
		"the user's response": replaced(stateOf("working", "m", responseTo("c"), markedEvent), `"agent"`, `"user"`),
	} {
		for envelope, wrap := range envelopes {
			if got := filterStream(t, client, streamOf(wrap, sent))[0]; !strings.HasPrefix(got, withheld) {
				t.Errorf("%s, %s: %s leaves", name, envelope, got)
			}
		}
	}
}

// TestInternalEnvelopes sends a snapshot with an internal artifact in an internal envelope. The other artifact is internal too.
func TestInternalEnvelopes(t *testing.T) {
	const task = `"task":{"id":"t","contextId":"c","status":{"state":"working"},"artifacts":[{"artifactId":"b","kind":"internal"},{"artifactId":"a","parts":[]}]}`
	again := streamOf(envelopes["1.0, bare"], artifactOf(canary, ""))
	for _, sent := range []string{`data: {` + task + `,"internalEvent":{}}`, "event: internal:x\ndata: {" + task + "}"} {
		if got := filterStream(t, client, sent+"\n\n"+again); !strings.HasPrefix(got[1], withheld) {
			t.Errorf("after %s, the artifact becomes %s", sent, got[1])
		}
	}
}

// TestUnreadableFrames sends a piece of an artifact that another frame may have begun.
func TestUnreadableFrames(t *testing.T) {
	piece := envelopes["1.0"]("", "artifactUpdate", ids+`,"append":true,"artifact":{"artifactId":"a","parts":[]}`)
	for data, leaves := range map[string]bool{
		"ping":                           true,
		`"ping"`:                         true,
		"{" + strings.Repeat("x", 2<<20): false,
		`"{\"artifact\":{\"artifactId\":\"a\"}}"`: false,
		`{"data":"{\"artifact\":{}}"}`:            false,
		`[["\u007b\"artifact\":{}}"]]`:            false,
		"\x1e{}":                                  false,
		")]}',{}":                                 false,
	} {
		got := filterStream(t, client, "data: "+data+"\n\ndata: "+piece+"\n\n")
		if (got[1] == piece) != leaves {
			t.Errorf("after %.40s, the piece becomes %s", data, got[1])
		}
	}
}

// TestManyInternalItems checks that after more internal items than are remembered, only what has begun continues.
func TestManyInternalItems(t *testing.T) {
	artifact := func(id, more string) [3]string { return replaced(artifactOf("", more), `"a"`, `"`+id+`"`) }
	snapshot := func(id string) [3]string {
		return replaced(taskOf(`,"artifacts":[{"artifactId":"a","parts":[]}]`), `"a"`, `"`+id+`"`)
	}
	const piece = `,"append":true`
	for _, c := range []struct {
		sent   [3]string
		leaves bool
	}{
		{artifact("b", piece), false}, {artifact("0", piece), true}, {artifact("b", ""), true},
		{snapshot("b"), false}, {snapshot("0"), true}, {taskOf(""), true},
		{stateOf("working", "n", responseTo("c"), ""), false}, {stateOf("working", "n", responseTo("0"), ""), true}, {stateOf("working", "n", hi, ""), true},
	} {
		for _, many := range []int{1024, 1025} {
			sent := [][3]string{artifact("0", ""), stateOf("working", "m", callOf("0", ""), "")}
			for i := range many {
				sent = append(sent, artifact(fmt.Sprint("x", i), internalMark))
			}
			got := filterStream(t, client, streamOf(envelopes["0.3"], append(sent, c.sent)...))
			if leaves := !strings.HasPrefix(got[len(got)-1], withheld); leaves != (c.leaves || many == 1024) {
				t.Errorf("after %d internal artifacts, %s becomes %s", many, c.sent, got[len(got)-1])
			}
		}
	}
}

// TestManyInternalEvents checks that the rest of an internal ADK event stays in after other such events.
func TestManyInternalEvents(t *testing.T) {
	eventOf := func(id int, more string) string {
		return fmt.Sprintf(`,"metadata":{"adk_author":"a","adk_event_id":"e%d"%s}`, id, more)
	}
	var sent [][3]string
	for i := range 1025 {
		sent = append(sent, stateOf("working", "m", hi, eventOf(i, `,"kind":"internal"`)))
	}
	for _, i := range []int{1, 1023, 1024} {
		got := filterStream(t, client, streamOf(envelopes["0.3"], append(sent, stateOf("working", "n", canary, eventOf(i, "")))...))
		if last := got[len(got)-1]; !strings.HasPrefix(last, withheld) {
			t.Errorf("the rest of event %d becomes %s", i, last)
		}
	}
}

// TestManyMessages checks that, after many messages, a question that left may leave again with the ID of an internal ADK event.
func TestManyMessages(t *testing.T) {
	const meta = `,"metadata":{"adk_author":"a","adk_event_id":"e"`
	var sent [][3]string
	for i := range 1100 {
		sent = append(sent, stateOf("working", fmt.Sprint("m", i), hi, ""))
	}
	sent = append(sent, stateOf("working", "q", hi, ""), stateOf("working", "n", hi, meta+`,"kind":"internal"}`), stateOf("input-required", "q", hi, meta+"}"))
	got := filterStream(t, client, streamOf(envelopes["0.3"], sent...))
	if last := sent[len(sent)-1]; got[len(got)-1] != envelopes["0.3"](last[0], last[1], last[2]) {
		t.Errorf("the question becomes %s", got[len(got)-1])
	}
}

// TestInternalNames checks that nothing is withheld because of a name.
func TestInternalNames(t *testing.T) {
	const meta = `,"metadata":{"adk_author":"internal_x","adk_branch":"internal_x@c.internal_y@1","adk_app_name":"internal_app","adk_invocation_id":"e-1","adk_event_id":"internal-1","adk_actions":{"transferToAgent":"internal_y","stateDelta":{"internal_key":"internal"}},"adk_custom_metadata":{"a2a:response":{"artifact":{"name":"internal_z","parts":[],"metadata":{"adk_author":"internal_z"}}}}}`
	name := func(part string) string { return strings.Replace(part, `"pay"`, `"internal_tool"`, 1) }
	sent := [][3]string{
		taskOf(`,"history":[` + messageOf("internal-m", hi) + `],"metadata":{"internal_key":1}`),
		stateOf("working", "internal-m", name(callOf("c", "")), meta),
		stateOf("working", "n", name(responseTo("c")), meta),
		replaced(artifactOf(hi, `,"append":false`+meta), `"artifactId"`, `"name":"internal_file","artifactId"`),
		artifactOf(`{"kind":"text","text":"internal: see above"}`, `,"append":true,"lastChunk":true`+meta),
		stateOf("failed", "o", `{"kind":"text","text":"internal_tool failed"}`, strings.Replace(meta, `{"adk`, `{"adk_error_code":"InternalError","adk`, 1)),
	}
	for envelope, wrap := range envelopes {
		for i, got := range filterStream(t, client, streamOf(wrap, sent...)) {
			if want := wrap(sent[i][0], sent[i][1], sent[i][2]); got != want {
				t.Errorf("%s: frame %d becomes %s, want %s", envelope, i+1, got, want)
			}
		}
	}
}

// TestInternalRecordings checks that the internal events of real servers do not leave, and neither do the responses to their calls. All other
// frames leave.
func TestInternalRecordings(t *testing.T) {
	for file, internal := range map[string][]int{ // the frames that do not leave
		"adk-js-worker-rest":                    {4, 5},
		"adk-python-schema-tools-v03":           {3, 4, 5, 6},
		"adk-python-schema-tools-extension-v10": {3, 4, 5, 6},
		"adk-python-task-v10":                   {4, 5, 6, 7},
	} {
		recorded, err := os.ReadFile("testdata/internal/" + file + ".sse")
		if err != nil {
			t.Fatal(err)
		}
		for name, spelled := range map[string]func(string) string{"ADK": strings.Clone, "kagent": asKagent.Replace} {
			stream := spelled(string(recorded))
			frames := strings.Split(strings.TrimSpace(stream), "\r\n\r\n")
			for _, settings := range []filter.Settings{client, public} {
				for i, got := range filterStream(t, settings, stream) {
					want, isWithheld := strings.TrimPrefix(frames[i], "data: "), strings.HasPrefix(got, withheld)
					if isWithheld != slices.Contains(internal, i+1) || settings.Policy == client.Policy && !isWithheld && got != want {
						t.Errorf("%s, %s, frame %d, under %s: the output is %s", file, name, i+1, settings.Policy, got)
					}
				}
			}
		}
	}
}
