package a2a_test

import (
	"strings"
	"testing"

	"github.com/delegraph/delegraph/collector/event"
)

// of returns the metadata of an event of an ADK agent.
func of(author string) string { return `,"metadata":{"adk_author":"` + author + `"}` }

func adkPart(kind, data string) string {
	return `{"kind":"data","data":{` + data + `},"metadata":{"adk_type":"function_` + kind + `"}}`
}

// TestCopies checks the texts and results in which ADK repeats the answer of an internal event.
func TestCopies(t *testing.T) {
	text := func(text string) string {
		return `{"kind":"text","text":"` + strings.ReplaceAll(text, `"`, `\"`) + `"}`
	}
	response := adkPart("call", `"id":"s","name":"set_model_response","args":{"x":"CANARY"}`)
	hidden := stateOf("working", "m", response, markedEvent)
	marked := stateOf("working", "m", strings.Replace(response, `"metadata":{`, `"metadata":{"kind":"internal",`, 1), "")
	const repeated, branch = `{"x": "CANARY"}`, `{"adk_branch":"b@c","adk`
	answer := func(parts string) [3]string {
		return replaced(stateOf("working", "m", parts, markedEvent), `{"adk`, branch)
	}
	result := func(id, name, response string) [3]string {
		return stateOf("working", "n", adkPart("response", `"id":"`+id+`","name":"`+name+`","response":`+response), of("r"))
	}
	task := adkPart("call", `"id":"f","name":"finish_task","args":{"result":"CANARY"}`)
	for name, c := range map[string]struct {
		sent           [][3]string
		leaves, hasAll bool // the last frame leaves, with CANARY
	}{
		"a text":                        {[][3]string{hidden, stateOf("working", "n", text(repeated), of("a"))}, false, false},
		"a text in an artifact":         {[][3]string{hidden, artifactOf(text(repeated), of("a"))}, false, false},
		"a text without an author":      {[][3]string{hidden, stateOf("completed", "n", text(repeated), "")}, true, false},
		"a text in a snapshot":          {[][3]string{hidden, taskOf(`,"artifacts":[{"artifactId":"z","parts":[` + text(repeated) + `]}]` + of("z"))}, false, false},
		"a text after a marked part":    {[][3]string{marked, stateOf("working", "n", text(repeated), of("a"))}, false, false},
		"the result of the tool":        {[][3]string{replaced(hidden, `"x"`, `"y"`), result("s", "set_model_response", repeated), stateOf("working", "o", text(repeated), of("r"))}, false, false},
		"the text of another agent":     {[][3]string{hidden, stateOf("working", "n", text(repeated), of("b"))}, true, true},
		"another text":                  {[][3]string{hidden, stateOf("working", "n", text(`{"y":"CANARY"}`), of("a"))}, true, true},
		"a text without a mark":         {[][3]string{stateOf("working", "m", response, of("a")), stateOf("working", "n", text(repeated), of("a"))}, true, true},
		"an unreadable call":            {[][3]string{replaced(hidden, `"x"`, `"X":1,"x"`), stateOf("working", "n", text(repeated), of("a"))}, false, false},
		"a result":                      {[][3]string{answer(text("CANARY")), result("d", "a", `{"result":"CANARY"}`)}, true, false},
		"the result of a call":          {[][3]string{answer(text("CANARY")), result("c", "tool", `{"result":"CANARY"}`)}, true, false},
		"the result of its branch":      {[][3]string{answer(text("CANARY")), result("d", "b", `{"result":"CANARY"}`)}, true, false},
		"an object":                     {[][3]string{answer(text(repeated)), result("c", "a", repeated)}, true, false},
		"of a task":                     {[][3]string{answer(task), result("c", "a", `{"output":"CANARY"}`)}, true, false},
		"in an artifact":                {[][3]string{answer(text("CANARY")), artifactOf(adkPart("response", `"id":"c","name":"a","response":{"result":"CANARY"}`), of("r"))}, true, false},
		"in a history":                  {[][3]string{answer(text("CANARY")), taskOf(`,"history":[{"kind":"message","messageId":"h","role":"agent","parts":[` + adkPart("response", `"id":"c","name":"a","response":{"result":"CANARY"}`) + `]}]`)}, true, false},
		"the result of an unknown tool": {[][3]string{answer(text("CANARY")), result("d", "tool", `{"result":"CANARY"}`)}, true, true},
		"in the result of another tool": {[][3]string{replaced(answer(text("CANARY")), "CANARY", "the CANARY costs"), result("d", "tool", `{"x":["no, the CANARY costs"]}`)}, true, false},
		"an event in such a result":     {[][3]string{replaced(replaced(answer(text("x")), `{"adk`, `{"adk_event_id":"event-01","adk`), "CANARY", ""), result("d", "tool", `{"x":[{"id":"event-01","y":"CANARY"}]}`)}, true, false},
		"another event":                 {[][3]string{replaced(answer(text("x")), `{"adk`, `{"adk_event_id":"event-01","adk`), result("d", "tool", `{"x":[{"id":"event-02","y":"CANARY"}]}`)}, true, true},
		"a question":                    {[][3]string{replaced(answer(text("CANARY")), "CANARY", "the CANARY costs"), stateOf("working", "n", adkPart("call", `"id":"q","name":"adk_request_confirmation","args":{"toolConfirmation":{"payload":"the CANARY costs"}}`), of("r"))}, true, false},
		"arguments of a model":          {[][3]string{replaced(answer(text("CANARY")), "CANARY", "the CANARY costs"), stateOf("working", "n", adkPart("call", `"id":"q","name":"look","args":{"x":"the CANARY costs"}`), of("r"))}, true, true},
		"another result":                {[][3]string{answer(text("CANARY")), result("c", "a", `{"result":"no CANARY"}`)}, true, true},
		"a changed result":              {[][3]string{replaced(answer(text("x CANARY")), "b@c", "a@c"), result("c", "a", `{"s":"CANARY"}`)}, true, false},
		"the result after an answer":    {[][3]string{replaced(answer(text("x CANARY")), "b@c", "a@c"), replaced(stateOf("working", "k", text("hi"), of("a")), `{"adk`, `{"adk_branch":"a@c","adk`), result("c", "a", `{"s":"CANARY"}`)}, true, true},
		"the result after a snapshot":   {[][3]string{replaced(answer(text("x CANARY")), "b@c", "a@c"), taskOf(`,"artifacts":[{"artifactId":"z","parts":[` + text("hi") + `]}],"metadata":{"adk_author":"a","adk_branch":"a@c"}`), result("c", "a", `{"s":"CANARY"}`)}, true, false},
		"the result after a piece":      {[][3]string{replaced(replaced(answer(text("x CANARY")), "b@c", "a@c"), `{"adk_branch`, `{"adk_partial":true,"adk_branch`), result("c", "a", `{"s":"CANARY"}`)}, true, true},
		"the result after a call":       {[][3]string{replaced(answer(text("x CANARY")+","+otherCall), "b@c", "a@c"), result("c", "a", `{"s":"CANARY"}`)}, true, true},
		"a result without a mark":       {[][3]string{stateOf("working", "m", text("CANARY"), of("a")), result("c", "a", `{"result":"CANARY"}`)}, true, true},
	} {
		for envelope, wrap := range envelopes {
			var stream strings.Builder
			for _, one := range c.sent {
				stream.WriteString("data: " + wrap(one[0], one[1], one[2]) + "\n\n")
			}
			sent := c.sent[len(c.sent)-1]
			got := filterStream(t, client, stream.String())
			last := got[len(got)-1]
			if leaves := !strings.HasPrefix(last, withheld); leaves != c.leaves || strings.Contains(last, "CANARY") != c.hasAll || c.hasAll && last != wrap(sent[0], sent[1], sent[2]) {
				t.Errorf("%s, %s: the last frame leaves as %s", name, envelope, last)
			}
		}
	}
}

// TestMessagesOfFunctions checks events with the text of an internal one. A workflow's function repeats its input, and a model says its own.
func TestMessagesOfFunctions(t *testing.T) {
	artifact := func(id, text, more string) [3]string {
		one := artifactOf(`{"kind":"text","text":"`+text+`"}`, more)
		return replaced(replaced(one, `"artifactId":"a"`, `"artifactId":"`+id+`"`), `"metadata":{`, `"metadata":{"adk_event_id":"`+id+`",`)
	}
	hidden := artifact("1", "the CANARY costs", markedEvent)
	for name, c := range map[string]struct {
		hidden, sent [3]string
		leaves       bool
	}{
		"an artifact":            {hidden, artifact("2", "the CANARY costs", of("w")), false},
		"a status":               {hidden, stateOf("working", "n", `{"kind":"text","text":"the CANARY costs"}`, of("w")), false},
		"a piece":                {hidden, artifact("2", "the CANARY costs", `,"append":true`+of("w")), true},
		"a partial event":        {hidden, artifact("2", "the CANARY costs", `,"metadata":{"adk_partial":true,"adk_author":"w"}`), true},
		"a model's text":         {hidden, artifact("2", "the CANARY costs", `,"metadata":{"adk_usage_metadata":{"promptTokenCount":1},"adk_author":"w"}`), true},
		"another text":           {hidden, artifact("2", "no, the CANARY costs", of("w")), true},
		"a short text by chance": {artifact("1", "CANARY", markedEvent), artifact("2", "CANARY", of("w")), true},
	} {
		for envelope, wrap := range envelopes {
			sent := wrap(c.sent[0], c.sent[1], c.sent[2])
			got := filterStream(t, client, "data: "+wrap(c.hidden[0], c.hidden[1], c.hidden[2])+"\n\ndata: "+sent+"\n\n")[1]
			if (got == sent) != c.leaves || !c.leaves && !strings.HasPrefix(got, withheld) {
				t.Errorf("%s, %s: the event leaves as %s", name, envelope, got)
			}
		}
	}
}

// TestCopiesOnOtherStreams repeats an answer on another stream of its task, or of another task, with or without the same context. ADK keeps
// the state of a context.
func TestCopiesOnOtherStreams(t *testing.T) {
	const text = `{"kind":"text","text":"the CANARY costs"}`
	hidden := stateOf("working", "m", text, markedEvent)
	for name, copied := range map[string][3]string{
		"a result":  stateOf("working", "n", adkPart("response", `"id":"c","name":"look","response":{"result":"the CANARY costs"}`), of("r")),
		"a state":   stateOf("working", "n", hi, `,"metadata":{"adk_author":"r","adk_actions":{"stateDelta":{"x":"the CANARY costs"}}}`),
		"a request": stateOf("working", "n", adkPart("call", `"id":"q","name":"adk_request_confirmation","args":{"toolConfirmation":{"hint":"the CANARY costs"}}`), of("r")),
		"a message": stateOf("working", "n", text, of("w")),
	} {
		for ids, leaves := range map[string]bool{`"taskId":"t","contextId":"c"`: false, `"taskId":"u","contextId":"c"`: false, `"taskId":"u"`: true, `"taskId":"u","contextId":"d"`: true} {
			for envelope, wrap := range envelopes {
				memory := new(event.Withheld)
				filterStreamOf(t, &event.Stream{Withheld: memory}, client, "data: "+wrap(hidden[0], hidden[1], hidden[2])+"\n\n")
				sent := strings.ReplaceAll(wrap(copied[0], copied[1], copied[2]), `"taskId":"t","contextId":"c"`, ids)
				if got := filterStreamOf(t, &event.Stream{Withheld: memory}, client, "data: "+sent+"\n\n")[0]; strings.Contains(got, "CANARY") != leaves || leaves && got != sent {
					t.Errorf("%s with %s, %s: leaves as %s", name, ids, envelope, got)
				}
			}
		}
	}
	wrap := envelopes["1.0"]
	memory := new(event.Withheld)
	for _, sent := range [][3]string{hidden, stateOf("working", "n", text, of("w"))} { // the server does not send the context
		frame := strings.ReplaceAll(wrap(sent[0], sent[1], sent[2]), `,"contextId":"c"`, "")
		if got := filterStreamOf(t, &event.Stream{Withheld: memory}, client, "data: "+frame+"\n\n")[0]; !strings.HasPrefix(got, withheld) {
			t.Errorf("without a context, the answer leaves as %s", got)
		}
	}
}

// TestCopiesOfCode checks the event of a code executor with the code that it takes from a response, and that with the result.
func TestCopiesOfCode(t *testing.T) {
	text := func(text string) string { return `{"kind":"text","text":"` + text + `"}` }
	said := func(words string) [3]string { return stateOf("working", "m", text(words), markedEvent) }
	const part, result = `{"kind":"data","data":{"code":"CANARY()\n"},"metadata":{"adk_type":"executable_code"}}`, `{"kind":"data","data":{"output":"CANARY"},"metadata":{"adk_type":"code_execution_result"}}`
	code := stateOf("working", "n", text("I run")+","+part, of("a"))
	for name, c := range map[string]struct {
		sent   [][3]string
		leaves bool // the last frame, unchanged
	}{
		"the code":            {[][3]string{said("I run ```CANARY()```"), code}, false},
		"in pieces":           {[][3]string{said("I run ```CAN"), said("ARY()```"), code}, false},
		"in partial pieces":   {[][3]string{replaced(said("I run ```CANARY()```"), `{"adk_author`, `{"adk_partial":true,"adk_author`), code}, false},
		"in an artifact":      {[][3]string{said("I run ```CANARY()```"), artifactOf(part, of("a"))}, false},
		"the result":          {[][3]string{said("I run ```CANARY()```"), code, stateOf("working", "o", result, of("a"))}, false},
		"of a long response":  {[][3]string{said("I run ```CANARY()```" + strings.Repeat("x", 64<<10)), code}, false},
		"other code":          {[][3]string{said("I run ```CANARY(1)```"), code}, true},
		"of another agent":    {[][3]string{said("I run ```CANARY()```"), stateOf("working", "n", part, of("b"))}, true},
		"after another text":  {[][3]string{said("I run ```CANARY()```"), stateOf("working", "k", text("hi"), of("a")), code}, true},
		"of the model":        {[][3]string{said("I run ```CANARY()```"), replaced(code, `{"adk_author"`, `{"adk_usage_metadata":{"promptTokenCount":1},"adk_author"`)}, true},
		"of a public text":    {[][3]string{stateOf("working", "m", text("I run ```CANARY()```"), of("a")), code}, true},
		"of a later long one": {[][3]string{said(strings.Repeat("x", 40<<10)), stateOf("working", "k", text("hi"), of("a")), said(strings.Repeat("x", 40<<10)), code}, true},
	} {
		checkLast(t, name, c.leaves, c.sent...)
	}
}

// TestCopiesOfOutputs checks artifacts with the outputs of a node in a list.
func TestCopiesOfOutputs(t *testing.T) {
	texts := func(texts ...string) (parts string) {
		for i, text := range texts {
			texts[i] = `{"kind":"text","text":"` + text + `"}`
		}
		return strings.Join(texts, ",")
	}
	hidden, short := artifactOf(texts("CANARY"), markedEvent), artifactOf(texts("ok"), markedEvent)
	later := func(parts, author string) [3]string {
		if author != "" {
			author += `","adk_is_long_running":"`
		}
		return replaced(replaced(artifactOf(parts, of(author)), `"artifactId":"a"`, `"artifactId":"b"`), `running":""`, `running":false`)
	}
	object := artifactOf(texts(`{\"s\":\"CANARY\"}`), markedEvent)
	const list = `[{\"s\":\"CANARY\"},1]`
	for name, c := range map[string]struct {
		sent   [][3]string
		leaves bool // the last frame, unchanged
	}{
		"a list":                {[][3]string{hidden, later(texts("x", "CANARY"), "b")}, false},
		"a list in a text":      {[][3]string{object, later(texts(list), "b")}, false},
		"another list":          {[][3]string{object, later(texts(`[{\"s\":\"x\"}]`), "b")}, true},
		"an object":             {[][3]string{replaced(object, `{"adk_author"`, `{"adk_event_id":"1","adk_author"`), later(texts(`{\"s\":\"CANARY\"}`), "b")}, true},
		"a list in Python":      {[][3]string{object, replaced(later(texts(list), "b"), "is_long_running", "x")}, true},
		"texts in Python":       {[][3]string{hidden, replaced(later(texts("x", "CANARY"), "b"), "is_long_running", "x")}, true},
		"short outputs":         {[][3]string{short, later(texts("ok", "no"), "a")}, false},
		"short ones by chance":  {[][3]string{short, later(texts("ok", "no"), "b")}, true},
		"one text":              {[][3]string{replaced(hidden, `{"adk_author"`, `{"adk_event_id":"1","adk_author"`), later(texts("CANARY"), "b")}, true},
		"other texts":           {[][3]string{hidden, later(texts("x", "no CANARY"), "b")}, true},
		"a thought and a text":  {[][3]string{hidden, later(`{"kind":"text","text":"x","metadata":{"adk_thought":true}},`+texts("CANARY"), "b")}, true},
		"a response of a model": {[][3]string{hidden, replaced(later(texts("x", "CANARY"), "b"), `{"adk_author"`, `{"adk_usage_metadata":{"promptTokenCount":1},"adk_author"`)}, true},
		"a piece":               {[][3]string{hidden, replaced(later(texts("x", "CANARY"), "b"), `{"adk_author"`, `{"adk_partial":true,"adk_author"`)}, true},
		"of another protocol":   {[][3]string{hidden, later(texts("x", "CANARY"), "")}, true},
		"without a mark":        {[][3]string{artifactOf(texts("CANARY"), of("a")), later(texts("x", "CANARY"), "b")}, true},
	} {
		checkLast(t, name, c.leaves, c.sent...)
	}
}

// TestAnswersWithCode sends code, its result and an answer in one event, or in several, after internal code.
func TestAnswersWithCode(t *testing.T) {
	const code, result = `{"kind":"data","data":{"code":"x"},"metadata":{"adk_type":"executable_code"}}`, `{"kind":"data","data":{"output":"1"},"metadata":{"adk_type":"code_execution_result"}}`
	const text = `{"kind":"text","text":"hi"}`
	hidden := stateOf("working", "m", code+","+result, markedEvent)
	said := func(id, author, parts string) [3]string { return stateOf("working", id, parts, of(author)) }
	for name, c := range map[string]struct {
		sent   [][3]string
		leaves bool // the last frame, unchanged
	}{
		"an answer":               {[][3]string{hidden, said("n", "a", code+","+result+","+text)}, true},
		"of another agent":        {[][3]string{hidden, said("n", "b", code+","+result+","+text)}, true},
		"in an artifact":          {[][3]string{hidden, artifactOf(code+","+result+","+text, of("a"))}, true},
		"in an artifact of none":  {[][3]string{hidden, artifactOf(code+","+result+","+text, "")}, true},
		"in a snapshot":           {[][3]string{hidden, taskOf(`,"artifacts":[{"artifactId":"z","parts":[` + code + "," + result + "," + text + `]}]`)}, true},
		"a result":                {[][3]string{hidden, said("n", "a", code), said("o", "a", result)}, true},
		"another agent's result":  {[][3]string{hidden, said("n", "b", code), said("o", "b", result)}, true},
		"another one's without":   {[][3]string{hidden, said("o", "b", result)}, true},
		"a result of none":        {[][3]string{hidden, said("o", "", result)}, false},
		"the result":              {[][3]string{stateOf("working", "m", code, markedEvent), said("o", "a", result)}, false},
		"the result of a later":   {[][3]string{said("k", "a", code), said("l", "a", result), hidden, said("o", "a", result)}, false},
		"a result after it":       {[][3]string{said("k", "a", code), said("l", "a", result), hidden, said("n", "a", code), said("o", "a", result)}, true},
		"a result beside a text":  {[][3]string{stateOf("working", "m", code, markedEvent), said("o", "a", result+","+text)}, false},
		"the result without mark": {[][3]string{said("m", "a", code), said("o", "a", result)}, true},
	} {
		checkLast(t, name, c.leaves, c.sent...)
	}
}

// TestRequestsToRemoteAgents checks what a remote agent's event has of the request, which quotes the events of other agents. JSON in a
// string is withheld as a whole.
func TestRequestsToRemoteAgents(t *testing.T) {
	text := func(text string) string { return `{"kind":"text","text":"` + text + `"}` }
	hidden := stateOf("working", "m", text("CANARY"), markedEvent)
	request := func(parts string) string {
		return `{"a2a:request":{"messageId":"q","role":"user","parts":[` + parts + `]}}`
	}
	quoting, rest := request(text("go")+","+text("[a] said: CANARY")), request(text("go"))
	quoted := func(custom string) string { return `"` + strings.ReplaceAll(custom, `"`, `\"`) + `"` }
	for name, c := range map[string]struct{ custom, want string }{
		"an object":        {quoting, rest},
		"a string":         {quoted(quoting), ""},
		"of another agent": {request(text("[b] said: hi")), request(text("[b] said: hi"))},
	} {
		for envelope, wrap := range envelopes {
			later := stateOf("working", "n", text("hi"), `,"metadata":{"adk_author":"b","adk_custom_metadata":`+c.custom+`}`)
			want := replaced(later, c.custom, c.want)
			if c.want == "" {
				want = replaced(later, `,"adk_custom_metadata":`+c.custom, "")
			}
			got := filterStream(t, client, "data: "+wrap(hidden[0], hidden[1], hidden[2])+"\n\ndata: "+wrap(later[0], later[1], later[2])+"\n\n")
			if want := wrap(want[0], want[1], want[2]); got[1] != want {
				t.Errorf("%s, %s: the update leaves as %s, want %s", name, envelope, got[1], want)
			}
		}
	}
}

// TestRequestsOfLaterTasks quotes an internal event in another task of its context, or of another one.
func TestRequestsOfLaterTasks(t *testing.T) {
	wrap := envelopes["1.0"]
	for context, leaves := range map[string]bool{"c": false, "d": true} {
		memory := new(event.Withheld)
		hidden := stateOf("working", "m", `{"kind":"text","text":"CANARY"}`, markedEvent)
		later := stateOf("working", "n", "", `,"metadata":{"adk_author":"b","adk_custom_metadata":{"a2a:request":{"messageId":"q","role":"user","parts":[{"text":"[a] said: CANARY"}]}}}`)
		filterStreamOf(t, &event.Stream{Withheld: memory}, client, "data: "+wrap(hidden[0], hidden[1], hidden[2])+"\n\n")
		sent := strings.NewReplacer(`"taskId":"t"`, `"taskId":"u"`, `"contextId":"c"`, `"contextId":"`+context+`"`).Replace(wrap(later[0], later[1], later[2]))
		if got := filterStreamOf(t, &event.Stream{Withheld: memory}, client, "data: "+sent+"\n\n")[0]; strings.Contains(got, "CANARY") != leaves {
			t.Errorf("in the context %s, the update leaves as %s", context, got)
		}
	}
}

// TestEqualAnswers checks the artifact that repeats an answer with the words of an internal one.
func TestEqualAnswers(t *testing.T) {
	const text = `{"kind":"text","text":"OK"}`
	id := func(id string) string { return `,"metadata":{"adk_author":"b","adk_event_id":"` + id + `"}` }
	hidden := stateOf("working", "m", text, strings.Replace(markedEvent, `{"adk`, `{"adk_event_id":"1","adk`, 1))
	for name, c := range map[string]struct {
		sent   [][3]string
		leaves bool // the last frame, unchanged
	}{
		"the answer":              {[][3]string{hidden, stateOf("working", "n", text, id("2")), artifactOf(text, id("2"))}, true},
		"of an event without one": {[][3]string{hidden, artifactOf(text, id("2"))}, false},
		"of another event":        {[][3]string{hidden, stateOf("working", "n", text, id("2")), artifactOf(text, id("3"))}, false},
		"after another answer":    {[][3]string{hidden, stateOf("working", "n", `{"kind":"text","text":"no"}`, id("2")), artifactOf(text, id("2"))}, false},
		"without an ID":           {[][3]string{hidden, stateOf("working", "n", text, of("b")), artifactOf(text, of("b"))}, false},
		"of the internal event":   {[][3]string{hidden, stateOf("working", "n", text, id("2")), artifactOf(text, id("1"))}, false},
	} {
		checkLast(t, name, c.leaves, c.sent...)
	}
}

// TestQuestionsOfWorkflows checks the last status, which asks what a node of a workflow asked. The event of the node has no content.
func TestQuestionsOfWorkflows(t *testing.T) {
	const question = `{"kind":"data","data":{"id":"q","name":"adk_request_input","args":{"message":"Go on?"}},` + callMetadata + `}`
	empty := func(id, members, actions string) [3]string {
		return stateOf("working", id, "", `,"metadata":{"adk_author":"w",`+members+`"adk_actions":{`+actions+`}}`)
	}
	const mark, checkpoint = `"adk_custom_metadata":{"kind":"internal:x"},`, `"agentState":{"x":1}`
	text := artifactOf(`{"kind":"text","text":"CANARY"}`, markedEvent)
	asks := stateOf("input-required", "o", question, "")
	node := empty("n", "", `"stateDelta":{}`)
	for name, c := range map[string]struct {
		sent   [][3]string
		leaves bool // the last frame, unchanged
	}{
		"after an internal text":        {[][3]string{text, node, asks}, true},
		"before an internal text":       {[][3]string{node, text, asks}, true},
		"after an internal checkpoint":  {[][3]string{text, empty("k", mark, checkpoint), node, asks}, true},
		"an internal one":               {[][3]string{text, empty("n", mark, ""), asks}, false},
		"beside an internal one":        {[][3]string{empty("k", mark, ""), node, asks}, false},
		"beside a public checkpoint":    {[][3]string{text, empty("k", "", checkpoint), asks}, false},
		"of no event":                   {[][3]string{text, asks}, false},
		"after a marked snapshot":       {[][3]string{taskOf(`,"history":[{"messageId":"h","role":"agent","parts":[{"kind":"text","text":"x","metadata":{"kind":"internal"}}]}]`), node, asks}, false},
		"another call":                  {[][3]string{text, node, stateOf("input-required", "o", plainCall, "")}, false},
		"a question beside such a call": {[][3]string{text, node, stateOf("input-required", "o", question+","+plainCall, "")}, false},
	} {
		checkLast(t, name, c.leaves, c.sent...)
	}
}

// TestCopiesInActions checks the actions of an event with the answer in an internal one. JSON in a string is withheld as a whole.
func TestCopiesInActions(t *testing.T) {
	text := func(text string) string { return `{"kind":"text","text":"` + text + `"}` }
	const state = `{"stateDelta":{"x":"an answer with CANARY and more"}}`
	for name, c := range map[string]struct{ said, actions, want string }{
		"an object":           {"hi", state, `{"stateDelta":{}}`},
		"a string":            {"hi", `"` + strings.ReplaceAll(state, `"`, `\"`) + `"`, ""},
		"what the event says": {"an answer with CANARY and more", state, state},
	} {
		for envelope, wrap := range envelopes {
			hidden, later := stateOf("working", "m", text("an answer with CANARY"), markedEvent), stateOf("working", "n", text(c.said), `,"metadata":{"adk_author":"b","adk_actions":`+c.actions+`}`)
			want := replaced(later, c.actions, c.want)
			if c.want == "" {
				want = replaced(later, `,"adk_actions":`+c.actions, "")
			}
			got := filterStream(t, client, "data: "+wrap(hidden[0], hidden[1], hidden[2])+"\n\ndata: "+wrap(later[0], later[1], later[2])+"\n\n")
			if want := wrap(want[0], want[1], want[2]); got[1] != want {
				t.Errorf("%s, %s: the update leaves as %s, want %s", name, envelope, got[1], want)
			}
		}
	}
}

// checkLast checks whether the last update leaves unchanged, in each envelope, or is withheld, if need be except for its state.
func checkLast(t *testing.T, name string, leaves bool, sent ...[3]string) {
	t.Helper()
	for envelope, wrap := range envelopes {
		var stream strings.Builder
		for _, one := range sent {
			stream.WriteString("data: " + wrap(one[0], one[1], one[2]) + "\n\n")
		}
		got, last := filterStream(t, client, stream.String()), sent[len(sent)-1]
		rest := withheld
		if state := stateIn(last[2]); state != "" {
			rest = wrap(last[0], last[1], ids+`,"status":{"state":"`+state+`"}`)
		}
		if out := got[len(got)-1]; leaves != (out == wrap(last[0], last[1], last[2])) || !leaves && !strings.HasPrefix(out, rest) {
			t.Errorf("%s, %s: the last frame leaves as %.300s", name, envelope, out)
		}
	}
}
