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
// blocks. For some models, LangChain puts the thought beside the content, and may repeat it as a block. In a
// marked message, every text is a thought.
//
// Source: langchain_core/messages/content.py.
func contentOf(message strictjson.Value, marked bool) iter.Seq[part] {
	marked = marked || isMarked(message)
	return func(yield func(part) bool) {
		parts, hasThought := readContent(message.Get("content"), marked)
		if !hasThought {
			for _, thought := range firstThoughts(message.Get("additional_kwargs"), besideMembers) {
				if !yield(part{thought, true}) {
					return
				}
			}
		}
		for _, found := range parts {
			if !yield(found) {
				return
			}
		}
	}
}

// readContent returns the texts and thoughts of a content, and reports whether a block is a thought.
func readContent(content strictjson.Value, marked bool) (parts []part, hasThought bool) {
	blocks := []strictjson.Value{content}
	if content.Kind() == strictjson.Array {
		blocks = elementsOf(content)
	}
	for _, block := range blocks {
		switch {
		case isText(block):
			parts = append(parts, part{block, marked})
		case isThoughtBlock(block):
			for _, thought := range firstThoughts(block, thoughtBodies) {
				parts, hasThought = append(parts, part{thought, true}), true
			}
		case block.Get("type").Is("text") && isText(block.Get("text")):
			parts = append(parts, part{block.Get("text"), marked})
		}
	}
	return parts, hasThought
}

// thoughtBodies are the members of a block that hold its thought: a text, a block or a list of these. Several may hold the
// same thought. besideMembers are those of a message's additional_kwargs.
//
// Source: langchain_openai/chat_models/base.py (reasoning, summary, content), langchain_aws/chat_models/bedrock_converse.py
// (reasoning_content), langchain_deepseek/chat_models.py (reasoning_content beside the content).
var (
	thoughtBodies = []string{"thinking", "reasoning", "reasoning_content", "summary", "content", "text"}
	besideMembers = []string{"reasoning_content", "reasoning", "reasoning_details", "thinking_blocks"}
)

// firstThoughts returns the texts in the first of the members that has any.
func firstThoughts(v strictjson.Value, members []string) (texts []strictjson.Value) {
	for _, name := range members {
		if texts = thoughtsIn(v.Get(name)); len(texts) > 0 {
			break
		}
	}
	return texts
}

func thoughtsIn(v strictjson.Value) (texts []strictjson.Value) {
	switch {
	case isText(v):
		return []strictjson.Value{v}
	case v.Kind() == strictjson.Object:
		return firstThoughts(v, thoughtBodies)
	}
	for element := range v.Elements() {
		texts = append(texts, thoughtsIn(element)...)
	}
	return texts
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

// appendTexts appends the text of a content: a string, or the texts of blocks.
func appendTexts(dst []byte, content strictjson.Value) []byte {
	switch content.Kind() {
	case strictjson.String:
		dst = append(dst, content.Text()...)
	case strictjson.Object:
		dst = append(dst, content.Get("text").Text()...)
	}
	for block := range content.Elements() {
		if block.Kind() != strictjson.Array {
			dst = appendTexts(dst, block)
		}
	}
	return dst
}
