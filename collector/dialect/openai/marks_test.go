package openai_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/delegraph/delegraph/collector/dialect/dialecttest"
	"github.com/delegraph/delegraph/collector/dialect/openai"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/exporter/stream/filter"
)

// chatLevels are the beginnings of the objects of a chunk that may say something about a message.
var chatLevels = []string{`{"id":"c"`, `{"index":0`, `"delta":{"x":0`, `"message":{"x":0`}

// chatFirst is a first chunk, and chatNext a second one of the same choice.
var (
	chatFirst = choice(`{"index":0,"delta":{"x":0,"content":""},"message":{"x":0}}`)
	chatNext  = choice(`{"index":0,"delta":{"content":"secret"}}`)
)

// mark adds a member to the object that begins at a place.
func mark(data, at, member string) string { return strings.Replace(data, at, at+","+member, 1) }

// TestRolesOfChoices names the role of a message for models at each level of a chunk. The message's other chunks do not leave either.
func TestRolesOfChoices(t *testing.T) {
	for _, level := range chatLevels {
		for _, role := range []string{`"role":"system"`, `"Role":"developer"`, `"role":["system"]`, `"author":{"role":"system"}`} {
			first := mark(chatFirst, level, role)
			checkStaysIn(t, []filter.Settings{client, public}, first, chatNext)
			checkStaysIn(t, []filter.Settings{client, public}, choice(`{"index":0,"delta":{"role":"assistant"}}`), strings.Replace(first, `"content":""`, `"content":"secret"`, 1), chatNext)
		}
	}
	checkStaysIn(t, []filter.Settings{client, public}, `{"id":"c","object":"chat.completion.chunk","role":"system","choices":[]}`, chatNext)
	checkStaysIn(t, []filter.Settings{client, public}, choice(`[{"index":0,"delta":{"role":"system"}}]`), chatNext)
	checkStaysIn(t, []filter.Settings{client, public}, choice(`{"index":0,"delta":[{"role":"system"}]}`), chatNext)
}

// TestMarkedChoices marks a message of a chat as a thought, or as no answer, at each level of its first chunk only.
func TestMarkedChoices(t *testing.T) {
	for _, level := range chatLevels {
		for _, member := range []string{
			`"channel":"analysis"`, `"Channel":"Analysis"`, `"phase":"analysis"`, `"thought":true`, `"adk_thought":1`, `"x-thought":true`, `"type":"thinking"`, `"type":"reasoning"`,
			`"phase":"think"`, `"phase":"thoughts"`, `"phase":5`, `"channel":"scratchpad"`, `"channel":["analysis"]`, `"role":"tool"`, `"role":"user"`,
			`"role":"assistant","channel":"analysis"`,
		} {
			settings := []filter.Settings{public, withoutThoughts}
			if strings.Contains(member, "tool") {
				settings = []filter.Settings{public, {Policy: event.PolicyClient, Thoughts: event.ThoughtsDetailed, Exclude: []event.Kind{event.KindToolEnded}}}
			} else if strings.Contains(member, "user") {
				settings = settings[:1]
			}
			first := mark(chatFirst, level, member)
			marked := strings.Replace(first, `"content":""`, `"content":"secret"`, 1)
			beside := strings.Replace(chatNext, `"choices":[`, `"choices":[{"index":1,"delta":{"role":"assistant","content":"open"}},`, 1)
			for _, sent := range [][]string{{first, chatNext}, {marked, chatNext}, {first, beside}, {first, strings.Replace(chatNext, `"c"`, `"d"`, 1)}, {first, strings.Replace(chatNext, `"delta":{`, `"delta":{"role":"assistant",`, 1)}} {
				if isRole := strings.Contains(member, `"role":"user"`) || strings.Contains(member, "tool"); isRole && strings.Contains(sent[1], `"role":"assistant"`) {
					continue // it names another role
				}
				checkStaysIn(t, settings, sent...)
				if facts := dialecttest.Facts(openai.Dialect{}, &event.Stream{SingleRun: true}, stream(sent...)); strings.Contains(facts, ` text "secret"`) {
					t.Errorf("of %s\nthis is reported as an answer:\n%s", strings.Join(sent, "\n"), facts)
				}
				if level != chatLevels[0] || !strings.Contains(member, `"type"`) { // such a frame is no chunk
					if out := leaving(t, client, stream(sent...)); !strings.Contains(out, "secret") {
						t.Errorf("the client does not get %s", strings.Join(sent, "\n"))
					}
				}
			}
		}
	}
	checkStaysIn(t, []filter.Settings{public, withoutThoughts}, `{"id":"c","object":"chat.completion.chunk","channel":"analysis","choices":[]}`, chatNext)
	var many []string // more choices than are recorded
	for i := range 40 {
		number := `"index":` + strconv.Itoa(i)
		many = append(many, strings.Replace(mark(chatFirst, `"delta":{"x":0`, `"thought":true`), `"index":0`, number, 1))
		checkStaysIn(t, []filter.Settings{public, withoutThoughts}, append(many[:len(many):len(many)], strings.Replace(chatNext, `"index":0`, number, 1))...)
	}
}

// TestTypesOfChoices names a type in a choice or in an object of it. Only one that is known as that of an answer leaves.
func TestTypesOfChoices(t *testing.T) {
	for _, level := range chatLevels[1:] {
		for _, kind := range []string{"think", "thought", "thinking_delta", "chain_of_thought", "plan"} {
			first := mark(chatFirst, level, `"type":"`+kind+`"`)
			checkStaysIn(t, []filter.Settings{public, withoutThoughts}, first, chatNext)
			checkStaysIn(t, []filter.Settings{public, withoutThoughts}, strings.Replace(first, `"content":""`, `"content":"secret"`, 1))
		}
		for _, kind := range []string{"content", "text", "answer", "message", "output_text", "text_delta"} {
			if out := leaving(t, public, stream(mark(chatFirst, level, `"type":"`+kind+`"`), chatNext)); !strings.Contains(out, "secret") {
				t.Errorf("the public does not get text of the type %q", kind)
			}
		}
	}
}

// TestMarksBesideIDs marks a message of a chat in a chunk without its ID.
func TestMarksBesideIDs(t *testing.T) {
	begun := choice(`{"index":0,"delta":{"role":"assistant","content":"open"}}`)
	for _, member := range []string{`"channel":"analysis"`, `"thought":true`, `"role":"tool"`, `"type":"reasoning"`} {
		for _, id := range []string{``, `"id":"",`, `"id":null,`, `"id":5,`, `"id":"d",`} {
			if id == `"id":"d",` && strings.Contains(member, "role") {
				continue // another completion begins
			}
			marked := strings.Replace(choice(`{"index":0,"delta":{"content":"",`+member+`}}`), `"id":"c",`, id, 1)
			checkStaysIn(t, []filter.Settings{public}, begun, marked, chatNext)
			if !strings.Contains(member, "role") {
				checkStaysIn(t, []filter.Settings{withoutThoughts}, begun, marked, chatNext)
			}
			if id != `"id":"d",` {
				checkStaysIn(t, []filter.Settings{public}, begun, `{"a":1,"a":2}`, marked, chatNext)
			}
		}
	}
}

// TestAnswersAfterThoughts sends an answer after thoughts of the same choice, as each server does. Everybody gets the answer.
func TestAnswersAfterThoughts(t *testing.T) {
	thought := choice(`{"index":0,"delta":{"role":"assistant","channel":"analysis","content":"hidden"}}`)
	finished := choice(`{"index":0,"delta":{},"finish_reason":"tool_calls"}`)
	begun := choice(`{"index":0,"delta":{"role":"assistant","content":"secret"}}`)
	bare, other := strings.NewReplacer(`"id":"c",`, ""), strings.NewReplacer(`"id":"c"`, `"id":"d"`)
	for name, sent := range map[string][]string{
		"channel":            {thought, choice(`{"index":0,"delta":{"channel":"final","content":"secret"}}`)},
		"channel, then text": {thought, choice(`{"index":0,"delta":{"channel":"final"}}`), chatNext},
		"commentary":         {thought, choice(`{"index":0,"channel":"commentary","delta":{"content":"secret"}}`)},
		"type":               {choice(`{"index":0,"delta":{"type":"thinking","content":"hidden"}}`), choice(`{"index":0,"delta":{"type":"text","content":"secret"}}`)},
		"Qwen":               {choice(`{"delta":{"role":"assistant","content":"hidden","phase":"think","status":"typing"}}`), choice(`{"delta":{"role":"assistant","content":"","phase":"think","status":"finished"}}`), choice(`{"delta":{"role":"assistant","content":"secret","phase":"answer","status":"typing"}}`)},
		"Zhipu":              {choice(`{"index":0,"delta":{"role":"assistant","type":"think","content":"hidden"}}`), choice(`{"index":0,"delta":{"type":"content","content":"secret"}}`)},
		"mark":               {choice(`{"index":0,"delta":{"thought":true,"content":"hidden"}}`), choice(`{"index":0,"delta":{"thought":false,"content":"secret"}}`)},
		"Gemini":             {choice(`{"index":0,"delta":{"role":"assistant","content":"hidden","extra_content":{"google":{"thought":true}}}}`), begun},
		"reasoning_content":  {choice(`{"index":0,"delta":{"role":"assistant","content":null,"reasoning_content":"hidden"}}`), chatNext},
		"Groq":               {choice(`{"index":0,"delta":{"role":"assistant","content":""}}`), choice(`{"index":0,"delta":{"reasoning":"hidden","channel":"analysis"}}`), chatNext},
		"Mistral":            {choice(`{"index":0,"delta":{"role":"assistant","content":[{"type":"thinking","thinking":[{"type":"text","text":"hidden"}]}]}}`), chatNext},
		"next completion":    {thought, finished, other.Replace(begun)},
		"interleaved":        {thought, other.Replace(begun), other.Replace(chatNext)},
		"without IDs":        {bare.Replace(thought), bare.Replace(finished), bare.Replace(begun)},
		"role":               {choice(`{"index":0,"delta":{"role":"tool","content":"hidden"}}`), begun},
	} {
		for _, s := range []filter.Settings{public, withoutThoughts} {
			if out := leaving(t, s, stream(sent...)); !strings.Contains(out, "secret") || strings.Contains(out, "hidden") && (name != "role" || s.Policy == event.PolicyPublic) {
				t.Errorf("%s: under %s this leaves: %s", name, s.Policy, out)
			}
		}
	}
	for _, mark := range []string{`"channel":"analysis"`, `"reasoning":"hidden","channel":"analysis","content":"open"`, `"reasoning":"","channel":"analysis"`} { // of the message
		checkStaysIn(t, []filter.Settings{public, withoutThoughts}, choice(`{"index":0,"delta":{`+mark+`}}`), choice(`{"index":0,"delta":{"reasoning":"hidden","channel":"analysis"}}`), chatNext)
	}
	checkStaysIn(t, []filter.Settings{public, withoutThoughts}, choice(`{"index":0,"delta":{"reasoning":"hidden","channel":"analysis"}}`), choice(`{"index":0,"delta":{"channel":"analysis","content":"secret"}}`))
	checkStaysIn(t, []filter.Settings{public, withoutThoughts}, choice(`{"index":0,"delta":{"reasoning":"hidden","channel":"analysis"},"message":{"content":"secret"}}`))
	checkStaysIn(t, []filter.Settings{public, withoutThoughts}, thought, other.Replace(strings.Replace(begun, "secret", "open", 1)), chatNext)
}

// TestMarkedEvents marks an item at each level of one of its events. What follows of the item is that, too.
func TestMarkedEvents(t *testing.T) {
	part := `{"type":"response.content_part.added","output_index":0,"item_id":"i","content_index":0,"part":{"type":"output_text","text":""}}`
	empty := strings.Replace(delta, "secret", "", 1)
	next := []string{
		delta, strings.Replace(delta, `"output_index":0,`, "", 1), strings.Replace(delta, `"item_id":"i",`, "", 1), strings.Replace(delta, `"delta":`, `"content_index":0,"delta":`, 1),
		strings.NewReplacer("delta", "done", `"secret"`, `"","text":"secret"`).Replace(delta), ended,
		strings.Replace(part, `"text":""`, `"text":"secret"`, 1), strings.Replace(strings.Replace(part, "added", "done", 1), `"text":""`, `"text":"secret"`, 1),
	}
	for _, c := range []struct {
		frame  string
		levels []string
	}{{added, []string{`{"type":"response.output_item.added"`, `"item":{"id":"i"`}}, {empty, []string{`{"type":"response.output_text.delta"`}}, {part, []string{`{"type":"response.content_part.added"`, `"text":""`}}} {
		for _, level := range c.levels {
			for _, member := range []string{`"channel":"analysis"`, `"phase":"think"`, `"Thought":true`, `"author":{"role":"system"}`, `"role":"developer"`, `"role":"tool"`} {
				if level == `"item":{"id":"i"` && strings.Contains(member, `"role":"`) && !strings.Contains(member, "author") {
					continue // it has a role
				}
				settings := []filter.Settings{public}
				switch {
				case strings.Contains(member, "system"), strings.Contains(member, "developer"):
					settings = append(settings, client)
				case !strings.Contains(member, "tool"):
					settings = append(settings, withoutThoughts)
				}
				first := mark(c.frame, level, member)
				for _, second := range next {
					sent := []string{created, added, first, second}
					if c.frame == added {
						sent = []string{created, first, second}
					}
					checkStaysIn(t, settings, sent...)
					for i := range sent {
						sent[i] = `{"type":"raw_response_event","data":` + sent[i] + `}`
					}
					checkStaysIn(t, settings, sent...)
				}
				checkStaysIn(t, settings, created, added, first, strings.Replace(added, `[]`, `[{"type":"output_text","text":"secret"}]`, 1), delta)
			}
		}
	}
	for _, sent := range [][]string{
		{created, `{"type":"raw_response_event","role":"system","data":` + added + `}`, `{"type":"raw_response_event","data":` + delta + `}`},
		{`{"type":"response.in_progress","role":"system","response":{"id":"r","output":[{"id":"i","type":"message","role":"assistant","content":[]}]}}`, delta},
		{created, `{"type":"run_item_stream_event","name":"message_output_created","role":"system","item":{"type":"message_output_item","raw_item":{"id":"i","type":"message","role":"assistant","content":"secret"}}}`},
		{created, `{"type":"run_item_stream_event","name":"message_output_created","item":{"type":"message_output_item","role":"system","raw_item":{"id":"i","type":"message","role":"assistant"}}}`, delta},
	} {
		checkStaysIn(t, []filter.Settings{client, public}, sent...)
	}
	marked := `{"id":"i","type":"message","role":"assistant","channel":"analysis","content":[{"type":"output_text","text":"TEXT"}]}`
	inPart := `{"id":"i","type":"message","role":"assistant","content":[{"type":"output_text","channel":"analysis","text":"TEXT"}]}`
	for _, item := range []string{marked, inPart} {
		item = strings.Replace(item, "TEXT", "secret", 1)
		blank := strings.Replace(item, "secret", "", 1)
		for _, sent := range [][]string{
			{created, `{"type":"response.completed","response":{"id":"r","status":"completed","output":[` + item + `]}}`},
			{created, `{"type":"response.output_item.done","output_index":0,"item":` + item + `}`},
			{`{"type":"response.in_progress","response":{"id":"r","output":[` + blank + `]}}`, delta},
			{`{"type":"response.in_progress","response":{"id":"r","output":[` + blank + `]}}`, strings.Replace(delta, `"item_id":"i",`, "", 1)},
			{created, `{"type":"run_item_stream_event","name":"message_output_created","item":{"type":"message_output_item","raw_item":` + item + `}}`},
			{created, `{"type":"run_item_stream_event","name":"message_output_created","item":{"type":"message_output_item","raw_item":` + blank + `}}`, delta},
			{created, `{"type":"run_item_stream_event","name":"reasoning_item_created","item":{"type":"reasoning_item","raw_item":` + strings.Replace(item, `"channel":"analysis",`, "", 1) + `}}`},
		} {
			checkStaysIn(t, []filter.Settings{public, withoutThoughts}, sent...)
		}
	}
	thought := mark(added, `"item":{"id":"i"`, `"channel":"analysis"`)
	for name, sent := range map[string][]string{
		"another item at the number":    {created, thought, strings.Replace(added, `"i"`, `"j"`, 1), strings.Replace(delta, `"i"`, `"j"`, 1)},
		"another response":              {created, strings.Replace(thought, `"id":"i",`, "", 1), ended, strings.Replace(created, `"r"`, `"s"`, 1), added, delta},
		"another channel":               {created, thought, mark(delta, `"output_index":0`, `"channel":"final"`)},
		"an item after a reasoning one": {created, strings.NewReplacer(`"message","role":"assistant"`, `"reasoning"`, `"i"`, `"q"`).Replace(added), strings.Replace(added, `:0`, `:1`, 1), strings.Replace(delta, `:0`, `:1`, 1)},
	} {
		for _, s := range []filter.Settings{public, withoutThoughts} {
			if out := leaving(t, s, stream(sent...)); !strings.Contains(out, `"delta":"secret"`) {
				t.Errorf("%s: under %s this leaves: %s", name, s.Policy, out)
			}
		}
	}
}

// TestManyMarkedItems marks more items than are remembered. The text of the others is no answer then.
func TestManyMarkedItems(t *testing.T) {
	sent := []string{created}
	for i := range 3100 {
		sent = append(sent, strings.NewReplacer(`"id":"i"`, `"channel":"analysis","id":"n`+strconv.Itoa(i)+`"`, `"output_index":0,`, "").Replace(added))
	}
	last := mark(strings.Replace(added, `"i"`, `"last"`, 1), `"id":"last"`, `"channel":"analysis"`)
	checkStaysIn(t, []filter.Settings{public, withoutThoughts}, append(sent, last, strings.NewReplacer(`"i"`, `"last"`, `"output_index":0,`, "").Replace(delta))...)
}

// TestManyCalls sends an answer after many calls. Everybody gets it.
func TestManyCalls(t *testing.T) {
	sent := []string{created}
	for i := range 1000 {
		n := strconv.Itoa(i)
		sent = append(sent, `{"type":"response.output_item.added","output_index":`+n+`,"item":{"type":"function_call","id":"f`+n+`","call_id":"c`+n+`","name":"f","arguments":""}}`)
	}
	last := strings.NewReplacer(`"i"`, `"last"`, `"output_index":0`, `"output_index":1000`)
	for _, s := range []filter.Settings{public, withoutThoughts} {
		if out := leaving(t, s, stream(append(sent, last.Replace(added), last.Replace(delta))...)); !strings.Contains(out, "secret") {
			t.Errorf("under %s the answer does not leave", s.Policy)
		}
	}
}

// TestExcludedMembers sends thoughts, calls and text in members that repeat an answer or come beside it. They leave only where their kind may.
func TestExcludedMembers(t *testing.T) {
	without := func(k event.Kind) filter.Settings {
		return filter.Settings{Policy: event.PolicyClient, Thoughts: event.ThoughtsDetailed, Exclude: []event.Kind{k}}
	}
	sent := map[event.Kind][]string{}
	for kind, names := range map[event.Kind][]string{
		event.KindThought:     {"reasoning_content", "reasoning", "reasoning_text", "reasoning_opaque", "reasoning_details", "reasoning_items", "thinking", "thinking_blocks", "thought", "Thoughts"},
		event.KindToolStarted: {"tool_calls", "function_call"},
		event.KindText:        {"content", "refusal"},
	} {
		for _, name := range names {
			for _, level := range chatLevels {
				sent[kind] = append(sent[kind], mark(strings.Replace(chatFirst, `,"content":""`, "", 1), level, `"`+name+`":"secret"`))
			}
			if kind == event.KindThought {
				sent[kind] = append(sent[kind], mark(added, `"item":{"id":"i"`, `"`+name+`":"secret"`), mark(strings.Replace(delta, "secret", "", 1), `"output_index":0`, `"`+name+`":"secret"`),
					`{"type":"response.content_part.done","output_index":0,"item_id":"i","content_index":0,"part":{"type":"output_text","text":"","`+name+`":"secret"}}`,
					`{"type":"run_item_stream_event","name":"message_output_created","item":{"type":"message_output_item","raw_item":{"id":"m","type":"message","role":"assistant","`+name+`":"secret"}}}`,
					`{"type":"response.completed","response":{"id":"r","output":[{"id":"m","type":"message","role":"assistant","`+name+`":"secret"}]}}`,
					choice(`{"index":0,"provider_specific_fields":{"`+name+`":"secret"}}`), choice(`{"index":0,"message":{"content":[{"type":"text","`+name+`":"secret"}]}}`))
			}
		}
	}
	messages := func(message string) string {
		return `{"type":"response.completed","response":{"id":"r","status":"completed","reasoning":{"effort":"low","summary":"auto"},"output":[],"output_messages":[` + message + `]}}`
	}
	sent[event.KindThought] = append(sent[event.KindThought], messages(`{"role":"assistant","channel":"analysis","content":[{"type":"text","text":"secret"}]}`), messages(`{"type":"raw_message_tokens","message":"secret","tokens":[]}`))
	sent[event.KindToolStarted] = append(sent[event.KindToolStarted], messages(`{"author":{"role":"assistant"},"channel":"commentary","recipient":"functions.f","content":[{"text":"secret"}]}`))
	sent[event.KindToolEnded] = []string{messages(`{"author":{"role":"tool","name":"f"},"content":[{"text":"secret"}]}`)}
	sent[event.KindText] = append(sent[event.KindText], messages(`{"author":{"role":"assistant"},"channel":"final","content":[{"text":"secret"}]}`))
	marked := mark(chatFirst, `"delta":{"x":0`, `"thought":true`)
	for _, level := range chatLevels { // text in other places of a thought
		checkStaysIn(t, []filter.Settings{public, withoutThoughts}, marked, mark(strings.Replace(chatFirst, `,"content":""`, "", 1), level, `"content":"secret"`))
	}
	for kind, frames := range sent {
		for _, frame := range frames {
			checkStaysIn(t, []filter.Settings{without(kind)}, created, frame)
			if out := leaving(t, client, stream(created, frame)); !strings.Contains(out, "secret") {
				t.Errorf("the client does not get %s", frame)
			}
		}
	}
}
