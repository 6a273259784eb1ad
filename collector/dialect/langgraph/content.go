package langgraph

import (
	"iter"
	"slices"

	"github.com/delegraph/delegraph/collector/lenient"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// part is a text or a thought in a message.
type part struct {
	text    strictjson.Value
	thought bool
}

// contentOf returns the texts and thoughts of a message. Its content is a string, a block or a list of
// blocks. For some models, LangChain puts the thought beside the content. In a marked message, every text
// is a thought.
//
// Source: langchain_core/messages/content.py; langchain_deepseek/chat_models.py (reasoning_content);
// langchain_openai/chat_models/base.py (reasoning).
func contentOf(message strictjson.Value, marked bool) iter.Seq[part] {
	marked = marked || isMarked(message)
	return func(yield func(part) bool) {
		beside := message.Get("additional_kwargs")
		if thought := beside.Get("reasoning_content"); isText(thought) && !yield(part{thought, true}) {
			return
		}
		for summary := range beside.Get("reasoning").Get("summary").Elements() {
			if thought := summary.Get("text"); isText(thought) && !yield(part{thought, true}) {
				return
			}
		}
		content := message.Get("content")
		if content.Kind() != strictjson.Array {
			if found := readBlock(content, marked); isText(found.text) {
				yield(found)
			}
			return
		}
		for block := range content.Elements() {
			if found := readBlock(block, marked); isText(found.text) && !yield(found) {
				return
			}
		}
	}
}

// isMarked reports whether a message says that it is a thought.
func isMarked(message strictjson.Value) bool {
	for name, sign := range message.Members() {
		if lenient.IsThoughtMarker(name, sign) {
			return true
		}
	}
	return lenient.ContainsThoughtMarker(message.Get("additional_kwargs")) || lenient.ContainsThoughtMarker(message.Get("response_metadata"))
}

// middlewareMembers are the members of a message's metadata which say that LangChain's middleware has asked the model, such as
// for a summary of the conversation or for the tools to offer. The answer is none of the agent's.
//
// Source: langchain/agents/middleware, summarization.py and internal_call_transformer.py.
var middlewareMembers = []string{"lc_source", "lc_internal_call"}

// marksThought reports whether the metadata of a message says that the message is a thought.
func marksThought(metadata strictjson.Value) bool {
	return isText(metadata.First(middlewareMembers...)) || lenient.ContainsThoughtMarker(metadata)
}

func isText(v strictjson.Value) bool { return v.Kind() == strictjson.String && len(v.Text()) > 0 }

// thoughtTypes are the types of blocks with a thought, and prefixes of such types. analysisTypes are such types only in
// the content of a message, because an application may use them elsewhere.
var (
	thoughtTypes  = []string{"thinking", "reasoning", "redacted_thinking", "thought"}
	analysisTypes = []string{"analysis"}
)

func isThoughtType(kind strictjson.Value) bool {
	return slices.ContainsFunc(thoughtTypes, func(name string) bool { return lenient.HasPrefix(kind.Text(), name) })
}

// isThoughtBlock reports whether a block of a message's content is a thought.
func isThoughtBlock(block strictjson.Value) bool {
	kind := block.Get("type")
	return isThoughtType(kind) || lenient.MatchesAny(kind.Text(), analysisTypes) || lenient.ContainsThoughtMarker(block)
}

func readBlock(block strictjson.Value, marked bool) part {
	switch {
	case block.Kind() == strictjson.String:
		return part{block, marked}
	case block.Get("type").Is("reasoning_content"): // langchain_aws/chat_models/bedrock_converse.py
		if nested := block.Get("reasoning_content").Get("text"); nested.Exists() {
			return part{nested, true}
		}
		return part{block.Get("text"), true}
	case isThoughtBlock(block):
		return part{block.First("thinking", "reasoning", "text"), true}
	case block.Get("type").Is("text"):
		return part{block.Get("text"), marked}
	}
	return part{}
}
