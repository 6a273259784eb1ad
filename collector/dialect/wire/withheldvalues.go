package wire

import (
	"bytes"
	"iter"
	"slices"
	"strconv"
	"strings"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// ResponseTool is the tool with whose arguments a model answers if it has other tools and its answer must fit a schema. ADK repeats them
// as the agent's text.
//
// Source: google/adk/tools/set_model_response_tool.py of google-adk 2.13.
const ResponseTool = "set_model_response"

// FinishTool is the tool to which the model of a task passes the result. If the arguments have only one member, that may be the result.
//
// Source: google/adk/agents/llm/task/_finish_task_tool.py of google-adk 2.13.
const FinishTool = "finish_task"

// IsAnswer reports whether an event is an agent's answer: it has said something and called no tool, or called one that answers.
func IsAnswer(hasSaid bool, tools ...strictjson.Value) bool {
	return hasSaid && len(tools) == 0 || slices.ContainsFunc(tools, func(tool strictjson.Value) bool { return tool.Is(ResponseTool) || tool.Is(FinishTool) })
}

// WithheldValues remembers the answers of ADK agents that were withheld, because ADK copies them into events without a mark: into a text
// (ResponseTool), into the response of the call that ran the agent, into the output of the nodes after it, and into the state of the
// session. Errors may quote one.
type WithheldValues struct {
	values    SharedSet     // keys of answers
	responses SharedSet     // keys of the arguments and results of ResponseTool, with their authors
	names     SharedSet     // of agents and nodes of which something was withheld, and the IDs of the calls that ran them
	authors   SharedSet     // of the withheld events, in all runs of the session
	session   SharedSet     // sessionKey if something of the session was withheld
	remote    SharedSet     // keys of what remote agents said in withheld events, in all runs of the session
	shown     Set[string]   // keys of what they said in other events
	kept      SharedSet     // messages and artifacts of remote agents that were withheld with their marks, by keptKey
	answered  Set[string]   // IDs of calls whose agents' last answers were withheld
	quotes    WithheldTexts // lines of answers, which errors may quote
	texts     WithheldTexts // texts of answers, which a state may contain
	unread    bool          // an unreadable frame may have been internal
	missed    bool          // such a frame may have had a call of ResponseTool
}

// NewWithheldValues returns an empty memory.
func NewWithheldValues(s *event.Stream) WithheldValues {
	return WithheldValues{
		values: NewSharedSet(s, "adk value"), responses: NewSharedSet(s, "adk response"), names: NewSharedSet(s, "adk name"), authors: NewSharedSet(s, "adk author"), session: NewSharedSet(s, "adk session"), remote: NewSharedSet(s, "adk remote"), kept: NewSharedSet(s, "adk kept"),
		quotes: WithheldTexts{AreAnswers: true}, texts: WithheldTexts{AreAnswers: true},
	}
}

// SetScopes sets the scopes of the answers (see SharedSet.SetScopes). The first one that is not empty should be the session, because a
// later run may copy the answers of an earlier one from the state.
func (w *WithheldValues) SetScopes(scopes ...string) {
	for _, set := range []*SharedSet{&w.values, &w.responses, &w.names, &w.authors, &w.session, &w.remote, &w.kept} {
		set.SetScopes(scopes...)
	}
}

// IsEmpty reports whether no frame can repeat an answer.
func (w *WithheldValues) IsEmpty() bool {
	return w.values.IsEmpty() && w.responses.IsEmpty() && w.authors.IsEmpty() && w.remote.IsEmpty() && !w.unread
}

// Miss records a frame that cannot be read.
func (w *WithheldValues) Miss(f dialect.Frame) {
	if MayHideInternal(f) {
		w.unread, w.missed = true, w.missed || bytes.Contains(f.Data, []byte(ResponseTool))
	}
}

// AddText remembers the text of an answer, which may be in several parts.
func (w *WithheldValues) AddText(b *event.Batch, parts []strictjson.Value) {
	if hash := HashAnswer(b, parts); hash != 0 {
		w.values.Add(valueKey(hash))
	}
	w.quotes.Add(b, parts...)
	w.texts.addLine(joined(parts))
}

// AddCall remembers what the model of an agent passes to a tool if that is the agent's answer.
func (w *WithheldValues) AddCall(b *event.Batch, author string, tool, args strictjson.Value) {
	switch {
	case tool.Is(ResponseTool):
		w.AddResponse(b, author, args)
	case tool.Is(FinishTool):
		w.Add(b, args)
		for _, member := range args.Members() {
			if args.Len() == 1 {
				w.Add(b, member)
			}
		}
	}
}

// Add remembers answers of an agent or node.
func (w *WithheldValues) Add(b *event.Batch, answers ...strictjson.Value) {
	for _, answer := range answers {
		if hash := hashValue(b, answer); hash != 0 {
			w.values.Add(valueKey(hash))
		}
	}
	w.quotes.Add(b, answers...)
	for _, answer := range answers {
		w.texts.addLine(answer.Text())
	}
}

// AddPlaces remembers where something was withheld: its author, and the branches and paths in which the author works.
func (w *WithheldValues) AddPlaces(author string, places ...strictjson.Value) {
	w.authors.Add(dialect.Name(author))
	w.addName(author)
	w.addPlaces(places)
}

func (w *WithheldValues) addPlaces(places []strictjson.Value) {
	for name, id := range segments(places) {
		w.addName(name)
		w.addName(id)
	}
}

// segments yields the names in branches, paths and scopes, each with the ID of the call that runs it, or "".
func segments(places []strictjson.Value) iter.Seq2[string, string] {
	return func(yield func(name, id string) bool) {
		for _, place := range places {
			for name, id := range segments(slices.Collect(place.Elements())) {
				if !yield(name, id) {
					return
				}
			}
			for segment := range strings.FieldsFuncSeq(place.String(), func(r rune) bool { return r == '.' || r == '/' }) {
				name, id, _ := strings.Cut(segment, "@")
				if mayBeInvocation(id) {
					id = ""
				}
				if !yield(name, id) {
					return
				}
			}
		}
	}
}

// SetAnswer records whether the latest answer of an agent was withheld, for the responses to the calls that run it at its places.
func (w *WithheldValues) SetAnswer(isWithheld bool, author string, places ...strictjson.Value) {
	for name, id := range segments(places) {
		switch {
		case name != author || id == "":
		case isWithheld:
			w.answered.Add(dialect.Name(id))
		default:
			w.answered.Remove(dialect.Name(id))
		}
	}
}

func (w *WithheldValues) addName(name string) {
	if name != "" {
		w.names.Add(dialect.Name(name))
	}
}

// AddResponse remembers what an agent passes to ResponseTool, or gets from it. An answer that is no object is a member of both. The author
// is "" if the frame does not name it, and may then be any.
func (w *WithheldValues) AddResponse(b *event.Batch, author string, response strictjson.Value) {
	for _, answer := range []strictjson.Value{response, response.Get("items"), response.Get("response"), response.Get("result")} {
		if answer.Kind() > strictjson.Null {
			key := valueKey(hashValue(b, answer))
			w.responses.Add(responseKey(author, key))
			w.responses.Add(responseKey(anyAuthor, key))
		}
	}
}

// anyAuthor is the author in a key of what any author has answered. No author has this name.
const anyAuthor = "\x00"

// IsResponse reports whether a text of an agent repeats what was passed to ResponseTool, or may. The author is "" if the frame does not
// name it, and may then be any.
func (w *WithheldValues) IsResponse(b *event.Batch, author string, text strictjson.Value) bool {
	trimmed := bytes.TrimSpace(text.Text())
	switch {
	case len(trimmed) == 0 || w.responses.IsEmpty() && !w.missed:
		return false
	case w.missed || w.responses.IsFull():
		if trimmed[0] == '{' || trimmed[0] == '[' {
			return true
		}
	}
	key := valueKey(hashValue(b, text))
	if author == "" {
		return w.responses.Contains(responseKey(anyAuthor, key))
	}
	return w.responses.Contains(responseKey(author, key)) || w.responses.Contains(responseKey("", key))
}

// IsNamed reports whether something was withheld of one of the agents, nodes or calls.
func (w *WithheldValues) IsNamed(names ...string) bool {
	return slices.ContainsFunc(names, func(name string) bool { return name != "" && w.names.MayContain(dialect.Name(name)) })
}

// MayBeInResult reports whether the result of a call repeats an answer of the agents that the call ran: the last one, which a schema may
// have changed, or any other.
func (w *WithheldValues) MayBeInResult(b *event.Batch, tool, id, response strictjson.Value) bool {
	if !w.IsNamed(tool.String(), id.String()) {
		return false
	}
	if w.answered.MayContain(dialect.Name(id.String())) {
		return true
	}
	for _, result := range []strictjson.Value{response, response.Get("result"), response.Get("output")} { // ADK puts a result that is no object into a member
		if w.MayBeIn(b, result, true) {
			return true
		}
	}
	return false
}

// mayBeInResult is MayBeInResult for the data of a part of an A2A message, if that is the result of a call.
func (w *WithheldValues) mayBeInResult(b *event.Batch, data strictjson.Value) bool {
	response := data.Get("response")
	return response.Exists() && w.MayBeInResult(b, data.Get("name"), data.Get("id"), response)
}

// MayBeIn reports whether a value is an answer that was withheld, or contains one. isRelated says that the value, or its elements, may be
// of an agent whose answers were withheld. Any other value counts only if few values are equal to it.
func (w *WithheldValues) MayBeIn(b *event.Batch, v strictjson.Value, isRelated bool) bool {
	found := false
	walkValue(b, v, isRelated, w.IsNamed, func(hash uint64, mayCount bool) {
		found = found || mayCount && w.values.MayContain(valueKey(hash))
	})
	return found
}

func valueKey(hash uint64) string { return strconv.FormatUint(hash, 16) }

func responseKey(author, key string) string { return dialect.Name(author) + " " + key }
