package adk_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/delegraph/delegraph/collector/event"
)

// unread is an internal event with the call u that cannot be read.
var unread = by("a", `"id":"e",`+internal+content(called("u", "secret"))+`,"US":1,"us":2`)

// checkLast checks whether the last of some frames leaves under client.
func checkLast(t *testing.T, name string, leaves bool, sent ...string) {
	t.Helper()
	for spelling, spelled := range spellings {
		frames := make([]string, len(sent))
		for i, frame := range sent {
			frames[i] = spelled(frame)
		}
		got := leavesOf(t, &event.Stream{}, event.PolicyClient, frames...)
		if last := got[len(got)-1]; (last == frames[len(frames)-1]) != leaves || !leaves && last != withheld {
			t.Errorf("%s, %s: the last frame leaves as %s", name, spelling, last)
		}
	}
}

// TestWorkOfUnreadCalls checks what is withheld after an unreadable event that may have an internal call.
func TestWorkOfUnreadCalls(t *testing.T) {
	text := content(`{"text":"hi"}`)
	known := by("a", content(called("c", "1")))
	for name, c := range map[string]struct {
		sent   []string
		leaves bool // the last frame
	}{
		"its branch":             {[]string{unread, by("b", `"branch":"a.pay@u.d@1",`+text)}, false},
		"its scope":              {[]string{unread, by("b", `"isolationScope":"u",`+text)}, false},
		"a scope that counts":    {[]string{by("a", `"branch":"a@1",`+text), unread, by("b", `"isolationScope":"1",`+text)}, false},
		"its path":               {[]string{unread, by("b", `"nodeInfo":{"path":"a@1/pay@u"},`+text)}, false},
		"a scope with its path":  {[]string{unread, by("b", `"isolationScope":"a@1/pay@u",`+text)}, false},
		"its output":             {[]string{unread, by("b", `"nodeInfo":{"path":"a@1","outputFor":["a@1/pay@u"]},`+text)}, false},
		"its confirmation":       {[]string{unread, by("a", `"actions":{"requestedToolConfirmations":{"u":{"hint":"x"}}}`)}, false},
		"its long-running ID":    {[]string{unread, by("a", `"longRunningToolIds":["u"],`+text)}, false},
		"its event":              {[]string{unread, by("a", `"id":"e",`+text)}, false},
		"its built-in tool":      {[]string{unread, by("a", content(`{"toolResponse":{"id":"u","response":{"x":"secret"}}}`))}, false},
		"its code":               {[]string{unread, by("a", content(`{"codeExecutionResult":{"output":"secret"}}`))}, false},
		"another event":          {[]string{unread, by("a", `"id":"f",`+text)}, true},
		"a known branch":         {[]string{known, unread, by("b", `"branch":"a.pay@c",`+text)}, true},
		"a later call's branch":  {[]string{unread, known, by("b", `"branch":"a.pay@c.d@1",`+text)}, true},
		"a known scope":          {[]string{known, unread, by("b", `"isolationScope":"c",`+text)}, true},
		"a known path":           {[]string{known, unread, by("b", `"nodeInfo":{"path":"a@1/pay@c/d@2"},`+text)}, true},
		"a place that left":      {[]string{by("b", `"nodeInfo":{"path":"a@order"},`+text), unread, by("b", `"nodeInfo":{"path":"a@order/d@1"},`+text)}, true},
		"numbers":                {[]string{unread, by("b", `"branch":"a@1.b@2","nodeInfo":{"path":"a@1/b@2","outputFor":["a@1"]},`+text)}, true},
		"a long-running call":    {[]string{unread, by("a", `"longRunningToolIds":["d"],`+content(called("d", "1")))}, true},
		"without such an event":  {[]string{known, by("b", `"branch":"a.pay@u","isolationScope":"u",`+text)}, true},
		"a path of a known call": {[]string{by("a", internal+content(called("c", "secret"))), by("b", `"nodeInfo":{"path":"a@1/pay@c"},`+text)}, false},
		"a long place":           {[]string{by("a", internal+content(called("c", "secret"))), by("b", `"branch":"a@`+strings.Repeat("1.a@", 2000)+`c",`+text)}, false},
	} {
		checkLast(t, name, c.leaves, c.sent...)
	}
	frames := []string{}
	for i := range 1024 {
		frames = append(frames, by("a", internal+content(called(fmt.Sprintf("i%d", i), "secret"))))
	}
	checkLast(t, "beyond the limit", false, append(frames, by("b", `"branch":"pay@i1023",`+text))...)
}

// TestResultsOfServerTools withholds the results of tools that the model's server runs.
func TestResultsOfServerTools(t *testing.T) {
	call := func(id string) string {
		return `{"toolCall":{"id":"` + id + `","toolType":"GOOGLE_SEARCH_WEB","args":{"x":1}}}`
	}
	result := func(id string) string {
		return `{"toolResponse":{"id":"` + id + `","toolType":"GOOGLE_SEARCH_WEB","response":{"x":"secret"}}}`
	}
	code := func(id string) string { return `{"executableCode":{` + id + `"code":"x"}}` }
	output := func(id string) string {
		return `{"codeExecutionResult":{` + id + `"outcome":"OUTCOME_OK","output":"secret"}}`
	}
	hidden := by("a", internal+content(code("")))
	for name, c := range map[string]struct {
		sent   []string
		leaves bool // the last frame
	}{
		"the response":                 {[]string{by("a", internal+content(call("s"))), by("a", content(result("s")))}, false},
		"beside a text":                {[]string{by("a", internal+content(call("s"))), by("a", content(`{"text":"x","toolResponse":{"id":"s"}}`))}, false},
		"the response of another":      {[]string{by("a", internal+content(call("s"))), by("a", content(call("t"))), by("a", content(result("t")))}, true},
		"code with an ID":              {[]string{by("a", internal+content(code(`"id":"k",`))), by("a", content(output(`"id":"k",`)))}, false},
		"code without an ID":           {[]string{hidden, by("a", content(output("")))}, false},
		"in pieces":                    {[]string{hidden, by("a", `"partial":true,`+content(output(""))), by("a", content(output("")))}, false},
		"of another agent":             {[]string{hidden, by("b", content(code(""))), by("b", content(output("")))}, true},
		"of another branch":            {[]string{by("a", `"branch":"p.q",`+internal+content(code(""))), by("a", `"branch":"p.r",`+content(output("")))}, true},
		"of the next code":             {[]string{hidden, by("a", content(output(""))), by("a", content(code(""))), by("a", content(output("")))}, true},
		"of code beside a waiting one": {[]string{hidden, by("a", content(code(""))), by("a", content(output("")))}, true},
	} {
		checkLast(t, name, c.leaves, c.sent...)
	}
}

// TestAnswersWithCode sends code, its result and an answer in one event, or in several.
func TestAnswersWithCode(t *testing.T) {
	code := func(id string) string { return `{"executableCode":{` + id + `"code":"x","language":"PYTHON"}}` }
	output := func(id string) string { return `{"codeExecutionResult":{` + id + `"output":"1"}}` }
	const text, id, piece = `{"text":"hi"}`, `"id":"k",`, `"partial":true,`
	hidden := by("a", internal+content(code(""), output("")))
	shown, ran := by("a", content(code(""))), by("a", content(output("")))
	answer := by("a", content(code(""), output(""), text))
	for name, c := range map[string]struct {
		sent   []string
		leaves bool // the last frame
	}{
		"an answer":                    {[]string{hidden, answer}, true},
		"after code":                   {[]string{by("a", internal+content(code(""))), answer}, true},
		"after a result":               {[]string{by("a", internal+content(output(""))), answer}, true},
		"with an ID":                   {[]string{hidden, by("a", content(code(id), output(id), text))}, true},
		"after code with an ID":        {[]string{by("a", internal+content(code(id), output(id))), answer}, true},
		"with the ID of internal code": {[]string{by("a", internal+content(code(id))), by("a", content(code(id), output(id), text))}, false},
		"in pieces":                    {[]string{hidden, by("a", piece+content(code(""))), by("a", piece+content(output(""))), by("a", piece+content(text))}, true},
		"the result in a piece":        {[]string{hidden, by("a", piece+content(code(""))), by("a", piece+content(output("")))}, true},
		"the whole of public pieces":   {[]string{hidden, by("a", piece+content(code(""))), answer}, true},
		"the whole of internal pieces": {[]string{by("a", `"id":"1",`+piece+internal+content(code(""))), by("a", `"id":"2",`+piece+internal+content(output(""))), by("a", `"usageMetadata":{"promptTokenCount":1},`+content(code(""), output("")))}, false},
		"other code than in pieces":    {[]string{by("a", `"id":"1",`+piece+internal+content(code(""))), by("a", `"usageMetadata":{"promptTokenCount":1},`+content(strings.Replace(code(""), `"x"`, `"y"`, 1), output("")))}, true},
		"beside a result":              {[]string{by("a", internal+content(code(""))), by("a", content(output(""), text))}, false},
		"a result between":             {[]string{shown, ran, by("a", internal+content(code(""))), ran}, false},
		"a later result":               {[]string{shown, ran, by("a", internal+content(code(""))), ran, shown, ran}, true},
		"a result of another branch":   {[]string{by("a", `"branch":"p.q",`+content(code(""))), by("a", `"branch":"p.r",`+internal+content(code(""))), by("a", `"branch":"p.q",`+content(output("")))}, true},
		"after internal calls":         {[]string{by("a", internal+content(code(""), output(""), called("c", "x"))), by("a", content(code(""), output(""), called("d", "x"))), by("a", content(responded("d")))}, true},
		"an error after it":            {[]string{hidden, by("a", `"errorCode":"E","errorMessage":"a message"`)}, true},
	} {
		checkLast(t, name, c.leaves, c.sent...)
	}
}

// TestReusedIDs begins a call with the ID of an internal one, as models do that count the calls of an answer.
func TestReusedIDs(t *testing.T) {
	hidden, ended, visible := by("a", internal+content(called("0", "secret"))), by("a", content(responded("0"))), by("a", content(called("0", "1")))
	pending := by("a", content(`{"functionResponse":{"id":"0","name":"pay","response":{"status":"pending"}}}`))
	paused := by("a", content(responded("0"))+`,"actions":{"requestedToolConfirmations":{"0":{"hint":"secret"}}}`)
	branch := by("b", `"branch":"pay@0",`+content(`{"text":"hi"}`))
	many := []string{hidden, ended}
	for i := range 1024 {
		many = append(many, by("a", internal+content(called(fmt.Sprintf("i%d", i), "secret"))))
	}
	for name, c := range map[string]struct {
		sent   []string
		leaves bool // the last frame
	}{
		"the call":                    {[]string{hidden, ended, visible}, true},
		"its response":                {[]string{hidden, ended, visible, ended}, true},
		"its branch":                  {[]string{hidden, ended, visible, branch}, true},
		"before it":                   {[]string{hidden, ended, branch}, false},
		"a repeat":                    {[]string{hidden, visible}, false},
		"after a piece":               {[]string{hidden, by("a", `"partial":true,`+content(responded("0"))), visible}, false},
		"while it waits":              {[]string{hidden, pending, visible}, false},
		"while it is to be confirmed": {[]string{hidden, paused, visible}, false},
		"another internal one":        {[]string{hidden, ended, hidden, visible}, false},
		"its response, internal":      {[]string{hidden, ended, visible, ended, hidden, ended}, false},
		"after a request":             {[]string{hidden, by("a", content(confirmation("0"))), visible}, false},
		"calls without an ID":         {[]string{by("a", internal+content(`{"functionCall":{"name":"pay"}}`)), by("a", content(`{"functionResponse":{"name":"pay"}}`)), by("a", content(`{"functionCall":{"name":"pay"}}`)), by("a", content(`{"functionResponse":{"name":"pay"}}`))}, false},
		"beyond the limit":            {append(many, visible), false},
		"an invocation's number":      {[]string{by("a", internal+content(called("1", "secret"))), by("b", `"branch":"root@1","nodeInfo":{"path":"root@1"},`+content(`{"text":"hi"}`))}, true},
		"no invocation's number":      {[]string{hidden, by("b", `"branch":"root@0",`+content(`{"text":"hi"}`))}, false},
		"a long number":               {[]string{by("a", internal+content(called("12345", "secret"))), by("b", `"branch":"root@12345",`+content(`{"text":"hi"}`))}, false},
		"a call's number":             {[]string{by("a", internal+content(called("1", "secret"))), by("b", `"branch":"root@1.pay@1",`+content(`{"text":"hi"}`))}, false},
	} {
		checkLast(t, name, c.leaves, c.sent...)
	}
}

// TestWholesOfInternalPieces checks that a whole text or call is withheld after its pieces, although only they are marked.
func TestWholesOfInternalPieces(t *testing.T) {
	text := func(author, id, more, text string) string {
		return by(author, `"id":"`+id+`",`+more+content(`{"text":"`+text+`"}`))
	}
	const piece = `"partial":true,`
	one, two, shown := text("a", "1", piece+internal, "one "), text("a", "2", piece+internal, "two"), text("a", "1", piece, "one ")
	callPiece, whole := by("a", `"id":"1",`+piece+internal+content(called("c", "1"))), by("a", `"id":"2",`+content(called("d", "1")))
	for name, c := range map[string]struct {
		sent   []string
		leaves bool // the last frame
	}{
		"a text":                    {[]string{one, two, text("a", "3", "", " one  two\\n")}, false},
		"a text of which one is":    {[]string{shown, two, text("a", "3", "", "one two")}, false},
		"another text":              {[]string{one, two, text("a", "3", "", "other")}, true},
		"a text of visible pieces":  {[]string{shown, text("a", "3", "", "one ")}, true},
		"a text of another agent":   {[]string{one, two, text("b", "3", "", "one two")}, true},
		"a text after another":      {[]string{one, two, text("a", "3", "", "other"), text("a", "4", "", "one two")}, true},
		"a call":                    {[]string{callPiece, whole}, false},
		"the response to it":        {[]string{callPiece, whole, by("a", content(responded("d")))}, false},
		"a call of another agent":   {[]string{callPiece, strings.Replace(whole, `"a"`, `"b"`, 1)}, true},
		"a call after the whole":    {[]string{callPiece, whole, by("a", `"id":"3",`+content(called("e", "1")))}, true},
		"a call of a visible piece": {[]string{strings.Replace(callPiece, internal, "", 1), whole}, true},
	} {
		checkLast(t, name, c.leaves, c.sent...)
	}
}
