package langgraph

import (
	"slices"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/dialect/wire"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/lenient"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// mayName reports whether a member states an id of the set, or may: other modes repeat messages and calls, often
// without the name or the mark that says what they are.
func mayName(set *wire.Set[string], id strictjson.Value) bool {
	return set.Len() > 0 && id.Kind() == strictjson.String && set.MayContain(dialect.Name(string(id.Text())))
}

// judge marks a frame, or parts of it, internal, and says whether it has thoughts. It runs before the
// rest of the decoder, because the rest adds the frame's messages to the set of seen ones.
func (d *decoder) judge(name []byte, mode string, v strictjson.Value, b *event.Batch) {
	missed := false
	d.shown.begin(mode, v)
	if mode == modeValues && v.Kind() == strictjson.Object {
		d.judgeState(v, b)
	} else {
		found := d.examine(v, 0)
		b.Internal, b.HasThoughts = found.internal, found.hasThought
		missed = found.missed
	}
	b.Internal = b.Internal || anySegment(name, lenient.IsInternal) || namesInternal(mode, v) || showsPrompt(mode, v)
	if b.Internal {
		d.withholdFrame(mode, v)
	}
	b.Internal = b.Internal || missed
	d.shown.keep(!b.Internal)
}

// withholdFrame remembers the new messages of an internal frame.
func (d *decoder) withholdFrame(mode string, v strictjson.Value) {
	switch mode {
	case modeMessagesMetadata:
		for id := range v.Members() {
			d.withholdID(id)
		}
	case modeEvents: // the input of a model has messages of others
		d.withholdNew(v.Get("data").Get("chunk"), 0)
		d.withholdNew(v.Get("data").Get("output"), 0)
	default:
		d.withholdNew(v, 0)
	}
}

// judgeState marks the messages of a state, and its other members, that may not leave.
func (d *decoder) judgeState(v strictjson.Value, b *event.Batch) {
	for name, value := range v.Members() {
		if name.Is("messages") && value.Kind() == strictjson.Array {
			place := 0
			for message := range value.Elements() {
				found := d.examine(message, 0)
				leaves := !found.internal && !found.missed
				if !leaves {
					b.WithheldMessages = append(b.WithheldMessages, place)
				}
				d.shown.keep(leaves)
				b.HasThoughts = b.HasThoughts || found.hasThought
				place++
			}
			continue
		}
		found := d.examine(value, 0)
		b.HasThoughts = b.HasThoughts || found.hasThought
		leaves := !found.internal && !found.missed
		d.shown.keep(leaves)
		switch {
		case leaves:
		case name.Is(interruptKey) || len(b.WithheldMembers) >= maxKeys:
			b.Internal = true
		default:
			b.WithheldMembers = append(b.WithheldMembers, name.String())
		}
	}
}

// withholdNew remembers the messages of models and tools in an internal frame, except those that left
// before.
func (d *decoder) withholdNew(v strictjson.Value, depth int) {
	if depth > maxScan {
		return
	}
	if mayBeMessage(v) && !v.Get("type").Is("human") {
		if id := d.name(v.Get("id")); !d.seen.contains(seenMessage, id) {
			d.withholdMessage(v)
		}
		return
	}
	for _, member := range v.Members() {
		d.withholdNew(member, depth+1)
	}
	for element := range v.Elements() {
		d.withholdNew(element, depth+1)
	}
}

func mayBeMessage(v strictjson.Value) bool { return v.Get("content").Exists() && v.Get("id").Exists() }

func (d *decoder) withholdID(id strictjson.Value) {
	if name := d.name(id); name != "" {
		d.withheld.Add(name)
	}
}

// withholdMessage remembers a message that is withheld, and the calls in it.
func (d *decoder) withholdMessage(v strictjson.Value) {
	d.withholdID(v.Get("id"))
	for c := range v.Get("tool_calls").Elements() {
		d.withholdID(c.Get("id"))
	}
	for c := range v.Get("tool_call_chunks").Elements() {
		d.withholdID(c.Get("id"))
	}
}

// findings says what a value contains at any depth.
type findings struct {
	internal   bool // a message that is internal, instructs a model, or was withheld; or data of an internal node
	hasThought bool // a model's thought
	missed     bool // a message or call that may be from an unreadable frame
}

func (f *findings) add(other findings) {
	f.internal, f.hasThought, f.missed = f.internal || other.internal, f.hasThought || other.hasThought, f.missed || other.missed
}

// maxScan bounds how deep messages are looked for. Deeper values count as internal.
const maxScan = 100

func (d *decoder) examine(v strictjson.Value, depth int) (found findings) {
	switch v.Kind() {
	case strictjson.Object:
		if depth > maxScan {
			return findings{internal: true}
		}
		found = d.examineObject(v)
		for _, member := range v.Members() {
			found.add(d.examine(member, depth+1))
		}
	case strictjson.Array:
		if depth > maxScan || isInstructionPair(v) {
			return findings{internal: true}
		}
		for element := range v.Elements() {
			found.add(d.examine(element, depth+1))
		}
	}
	return found
}

// Members that examineObject looks for.
var (
	messageMembers = []string{"content", "content_blocks", "tool_calls", "tool_call_id"}
	// savedMembers contain the members of a message that LangChain has serialized: kwargs next to its class, or
	// data next to its type. Source: langchain_core/load/serializable.py, messages_to_dict and their JavaScript
	// counterparts.
	savedMembers = []string{"kwargs", "data"}
	typeMembers  = []string{"type", "role"}
	nameMembers  = []string{"name"}
	idMembers    = []string{"id", "tool_call_id"}
	// resultMembers make an object the result of a call, whatever its type.
	resultMembers = []string{"tool_call_id"}
	scopeMembers  = []string{"langgraph_node", "lc_agent_name", "langgraph_checkpoint_ns", "checkpoint_ns", "langgraph_path", "ns"}
	// thoughtMembers hold thoughts. Source: langchain_core/messages/content.py, langchain_deepseek,
	// langchain_openai and langchain_aws, chat_models.
	thoughtMembers = []string{"thinking", "reasoning", "reasoning_content", "reasoningContent", "redacted_thinking", "thought", "adk_thought"}
	thoughtTypes   = []string{"thinking", "reasoning", "reasoning_content", "redacted_thinking"}

	// memberPrefilter rules out most names of members.
	memberPrefilter = lenient.NewPrefilter(&event.Table{
		Labels: slices.Concat(messageMembers, savedMembers, typeMembers, nameMembers), Envelopes: slices.Concat(idMembers, scopeMembers), DeepMembers: thoughtMembers,
	})
)

// examineObject returns what the members of an object say about it.
func (d *decoder) examineObject(v strictjson.Value) (found findings) {
	spoken, labeled, isResponse, isResult := false, false, false, false
	for name, value := range v.Members() {
		text := name.Text()
		if !memberPrefilter.MayMatch(text) {
			continue
		}
		spoken = spoken || lenient.MatchesAny(text, messageMembers) || lenient.MatchesAny(text, savedMembers) && hasAny(value, messageMembers)
		switch {
		case lenient.MatchesAny(text, typeMembers):
			labeled = labeled || isInstruction(value) || lenient.ContainsInternal(value)
			found.internal = found.internal || isPromptType(value)
			isResponse = isResponse || lenient.MatchesAny(value.Text(), responseTypes)
			found.hasThought = found.hasThought || lenient.MatchesAny(value.Text(), thoughtTypes)
		case lenient.MatchesAny(text, nameMembers):
			labeled = labeled || lenient.ContainsInternal(value)
		case lenient.MatchesAny(text, idMembers):
			labeled = labeled || mayName(&d.withheld, value) || namesInstruction(value)
			found.internal = found.internal || namesPrompt(value)
			found.hasThought = found.hasThought || mayName(&d.thoughts, value)
			isResult = isResult || lenient.MatchesAny(text, resultMembers)
		case lenient.MatchesAny(text, scopeMembers):
			found.internal = found.internal || isInternalScope(value)
		case lenient.MatchesAny(text, thoughtMembers):
			found.hasThought = found.hasThought || holdsThought(value)
		}
	}
	switch {
	case !spoken:
	case labeled:
		found.internal = true
		d.withholdMessage(v)
	case d.shown.isFromMissed(v, isResponse, isResult):
		found.missed = true
	default:
		d.shown.noteMessage(v)
	}
	return found
}

// holdsThought reports whether the value of one of thoughtMembers is not empty.
func holdsThought(v strictjson.Value) bool {
	on, isBool := v.Bool()
	return v.Kind() > strictjson.Null && (on || !isBool) && len(v.Raw()) > len(`""`)
}

// isInternalScope reports whether a node, an agent, a namespace or a path of nodes is internal.
func isInternalScope(v strictjson.Value) bool {
	if v.Kind() == strictjson.String {
		return anySegment(v.Text(), lenient.IsInternal)
	}
	for element := range v.Elements() {
		if isInternalScope(element) {
			return true
		}
	}
	return false
}

// namesInternal reports whether a frame of a mode names an internal node, or an event of the
// application that calls itself internal.
func namesInternal(mode string, v strictjson.Value) bool {
	switch mode {
	case modeUpdates, modeStateUpdate:
		return hasInternalMember(v)
	case modeTasks, modeEvents:
		return lenient.IsInternal(v.Get("name").Text())
	case modeDebug:
		payload := v.Get("payload")
		return lenient.IsInternal(payload.Get("name").Text()) || isInternalCheckpoint(payload)
	case modeCheckpoints:
		return isInternalCheckpoint(v)
	case modeCustom:
		for _, event := range append([]strictjson.Value{v}, elementsOf(v)...) {
			for name, value := range event.Members() {
				if lenient.MatchesAny(name.Text(), []string{"type", "kind", "event"}) && lenient.ContainsInternal(value) {
					return true
				}
			}
		}
	}
	return false
}

func elementsOf(v strictjson.Value) (all []strictjson.Value) {
	for element := range v.Elements() {
		all = append(all, element)
	}
	return all
}

// isInternalCheckpoint reports whether an internal node wrote to a saved state, or is to run next.
func isInternalCheckpoint(v strictjson.Value) bool {
	if hasInternalMember(v.Get("metadata").Get("writes")) || isInternalScope(v.Get("next")) {
		return true
	}
	for task := range v.Get("tasks").Elements() {
		if lenient.IsInternal(task.Get("name").Text()) {
			return true
		}
	}
	return false
}

func hasInternalMember(v strictjson.Value) bool {
	for name := range v.Members() {
		if lenient.IsInternal(name.Text()) {
			return true
		}
	}
	return false
}

// instructionRoles are the types and roles of messages that instruct a model.
var instructionRoles = []string{"system", "developer", "SystemMessage", "SystemMessageChunk", "DeveloperMessage", "DeveloperMessageChunk"}

func isInstruction(role strictjson.Value) bool {
	return lenient.MatchesAny(role.Text(), instructionRoles)
}

// namesInstruction reports whether the path of a class contains the name of an instruction's class.
func namesInstruction(class strictjson.Value) bool {
	return class.Kind() == strictjson.Array && slices.ContainsFunc(elementsOf(class), isInstruction)
}

func hasAny(v strictjson.Value, names []string) bool {
	for name := range v.Members() {
		if lenient.MatchesAny(name.Text(), names) {
			return true
		}
	}
	return false
}

// isInstructionPair reports whether v is a message that instructs a model, in LangChain's other form: a
// list of the role and the text.
func isInstructionPair(v strictjson.Value) bool {
	if v.Len() != 2 {
		return false
	}
	role, text := tuple(v)
	return text.Kind() != strictjson.Object && isInstruction(role)
}
