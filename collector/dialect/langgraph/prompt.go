package langgraph

import (
	"slices"

	"github.com/delegraph/delegraph/collector/lenient"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// promptTypes are the types and classes of LangChain's prompts. The text of a prompt may instruct a model. promptModules are
// the modules of these classes.
//
// Source: langchain_core/prompt_values.py, langchain_core/prompts.
var (
	promptTypes = []string{
		"StringPromptValue", "ChatPromptValue", "ChatPromptValueConcrete", "ImagePromptValue",
		"PromptTemplate", "ChatPromptTemplate", "StructuredPrompt", "SystemMessagePromptTemplate", "HumanMessagePromptTemplate", "AIMessagePromptTemplate",
		"ChatMessagePromptTemplate", "FewShotPromptTemplate", "FewShotChatMessagePromptTemplate", "FewShotPromptWithTemplates", "ImagePromptTemplate",
		"DictPromptTemplate", "PipelinePromptTemplate",
	}
	promptModules = []string{"prompts", "prompt_values"}
)

func isPromptType(v strictjson.Value) bool { return lenient.MatchesAny(v.Text(), promptTypes) }

// namesPrompt reports whether the path of a class is that of a prompt.
func namesPrompt(class strictjson.Value) bool {
	return class.Kind() == strictjson.Array && slices.ContainsFunc(elementsOf(class), func(part strictjson.Value) bool {
		return isPromptType(part) || lenient.MatchesAny(part.Text(), promptModules)
	})
}

// promptMembers hold the texts that a completion model gets.
var promptMembers = []string{"prompts"}

// showsPrompt reports whether a frame of a mode shows the prompt of a completion model.
func showsPrompt(mode string, v strictjson.Value, found findings) bool {
	switch mode {
	case modeEvents:
		return found.prompts || isPromptEvent(v)
	case modeTasks, modeDebug:
		return found.prompts
	}
	return false
}

// isPromptEvent reports whether an event of the mode events shows a prompt: that of a template, or the input of
// a completion model. In such a text, instructions cannot be told from the user's words.
//
// Source: langchain_core/tracers/event_stream.py.
func isPromptEvent(v strictjson.Value) bool {
	kind := v.Get("event").Text()
	return lenient.HasPrefix(kind, "on_prompt_") || lenient.HasPrefix(kind, "on_llm_start") ||
		lenient.HasPrefix(kind, "on_llm_") && v.Get("data").Get("input").Kind() > strictjson.Null
}
