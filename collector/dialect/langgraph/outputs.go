package langgraph

import (
	"hash/maphash"
	"slices"
	"strconv"
	"strings"

	"github.com/delegraph/delegraph/collector/dialect/wire"
	"github.com/delegraph/delegraph/collector/lenient"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// withholdOutputs records the messages that an internal node has made, for other streams too: their ids, or the contents
// of messages without an id. isOfInternal says that the frame is the node's own, and returnsAll that the frame has all that the
// node returns. The node may also return messages of earlier runs, but these precede the user's last message, and its input has them.
//
// Source: langgraph/graph/message.py, add_messages, which gives an id to messages without one.
func (d *decoder) withholdOutputs(mode string, v strictjson.Value, isOfInternal, returnsAll bool) {
	showsInput := isOfInternal && slices.Contains(inputModes, mode) && len(d.read) > 0
	for _, output := range outputsOf(mode, v, isOfInternal) {
		messages := messagesIn(output, false, 0)
		lastOfUser := -1
		for i, m := range messages {
			if m.Get("type").Is("human") {
				lastOfUser = i
			}
		}
		for i, m := range messages {
			isOld := mode == modeCheckpoints && (len(d.read) == 0 || d.wasRead(m)) // a stream that joins a run has read nothing
			isUnread := showsInput && !d.wasRead(m)
			isNew := d.shown.knowsHistory() || mode == modeMessages || isUnread || mode != modeValues && (i > lastOfUser || d.isOfThisRun(d.name(m.Get("id"))))
			switch id := m.Get("id"); {
			case len(id.Text()) == 0:
				if mode != modeValues && !isOld {
					d.withholdContent(m)
				}
			case isNew && !isOld && !d.shown.contains(id), d.shown.replaces(m), returnsAll && !isOfUser(m) && d.shown.hasOnlyPieces(id):
				d.withholdMessage(m, true)
			case mode == modeUpdates && returnsAll && isOfUser(m) && !d.shown.contains(id) && !d.wasRead(m):
				isOwn := len(messages) == 1 || i > 0 && d.isOfThisRun(d.name(messages[i-1].Get("id")))
				d.withholdMessage(m, isOwn) // else it may be the user's
			}
		}
	}
}

// inputModes have the input of a node before what it returns.
var inputModes = []string{modeEvents, modeTasks, modeDebug}

// isOfThisRun reports whether the ID of a message says that a model was asked for it after the run had begun: both have a UUID that begins
// with the time.
//
// Source: langchain_core/utils/uuid.py, uuid7.
func (d *decoder) isOfThisRun(message string) bool {
	_, asked, _ := strings.Cut(message, "run-")
	asked = strings.TrimPrefix(asked, "-") // LangGraph.js has only one dash
	asked, begun := uuidKey(asked[:min(len(asked), len("00000000-0000-7000-8000-000000000000"))]), uuidKey(d.run)
	hasTime := func(id string) bool { return len(id) == uuidDigits && id[12] == '7' }
	return hasTime(asked) && hasTime(begun) && asked > begun
}

// outputsOf returns the values in a frame that contain what a node has made. isOfInternal says that the whole frame is an
// internal node's.
func outputsOf(mode string, v strictjson.Value, isOfInternal bool) []strictjson.Value {
	switch {
	case mode == modeMessages:
		message, _ := tuple(v)
		return []strictjson.Value{message}
	case mode == modeEvents:
		return []strictjson.Value{v.Get("data").Get("chunk"), v.Get("data").Get("output")}
	case !isOfInternal:
	case mode == modeUpdates, mode == modeValues:
		return []strictjson.Value{v}
	case mode == modeCheckpoints:
		return []strictjson.Value{v.Get("values")}
	case mode == modeTasks:
		return []strictjson.Value{v.Get("result")}
	case mode == modeDebug:
		return []strictjson.Value{v.Get("payload").Get("result")}
	}
	return nil
}

// messagesIn returns the messages in a value, except those that remove others. A pair of a role and a text is a message
// too, and so is a text in a list of messages.
func messagesIn(v strictjson.Value, inList bool, depth int) (all []strictjson.Value) {
	switch {
	case depth > maxScan || isRemoval(v):
		return nil
	case isMessageForm(v, inList):
		return []strictjson.Value{v}
	}
	for name, member := range v.Members() {
		if slices.ContainsFunc(savedMembers, name.Is) && member.Get("content").Exists() {
			all = append(all, member)
			continue
		}
		isList := name.Is("messages") || inList && (name.Is(writesKey) || name.Is(overwriteKey) || name.Is(overwriteValue))
		all = append(all, messagesIn(member, isList, depth+1)...)
	}
	for element := range v.Elements() {
		all = append(all, messagesIn(element, inList, depth+1)...)
	}
	return all
}

// isMessageForm reports whether messagesIn returns a value itself.
func isMessageForm(v strictjson.Value, inList bool) bool {
	return !isRemoval(v) && (inList && isText(v) || isPair(v) || v.Get("content").Exists() && v.First("id", "type", "role").Exists())
}

func isRemoval(v strictjson.Value) bool { return v.Get("type").Is("remove") }

// pairRoles are the roles in pairs. Source: langchain_core/messages/utils.py, _create_message_from_message_type.
var pairRoles = []string{"ai", "assistant", "human", "user"}

func isPair(v strictjson.Value) bool {
	role, text := tuple(v)
	return isText(text) && slices.Contains(pairRoles, role.String())
}

// withholdContent records the content of a message or question without an ID.
func (d *decoder) withholdContent(v strictjson.Value) {
	if content := contentKey(v); content != "" {
		d.unnamed.Add(content)
	}
}

// contentKey returns a hash of the content of a message or of the value of a question. It returns "" if there is none. All agents of
// langgraph-supervisor return control with the same texts, so the key also has the agent or the call.
func contentKey(v strictjson.Value) string {
	candidates := []strictjson.Value{v.Get("content"), v.Get("content_blocks"), v.Get("value")}
	switch v.Kind() {
	case strictjson.String:
		candidates = []strictjson.Value{v}
	case strictjson.Array:
		_, text := tuple(v)
		candidates = []strictjson.Value{text}
	}
	by := ""
	if isHandoffBack(v) {
		by = "\n" + v.First("tool_call_id", "name").String()
	}
	for _, content := range candidates {
		text := lenient.Text(appendTexts(nil, content))
		switch {
		case len(text) > 0:
			return strconv.FormatUint(maphash.Bytes(seed, text), 36) + by
		case content.Len() > 0:
			return strconv.FormatUint(wire.ExactHash(content), 36) + by
		}
	}
	return ""
}

// appendTexts appends the text of a content: a string, or the texts of blocks. The blocks are joined, because the state may
// divide the same text into other blocks.
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

// repeatsUnnamed reports whether a message or question repeats a withheld one without an id: it has the same content and
// was neither shown nor vouched for. If it has an id, the id is recorded, and forgetNamed forgets the content.
func (d *decoder) repeatsUnnamed(v strictjson.Value) bool {
	id := v.First("id", "interrupt_id")
	if d.unnamed.IsEmpty() || d.shown.contains(id) || slices.Contains(d.shown.vouched, v) {
		return false
	}
	content := contentKey(v)
	if content == "" || !d.unnamed.MayContain(content) {
		return false
	}
	if len(id.Text()) > 0 {
		d.withholdMessage(v, true)
		d.withholdID(id, true)
		d.named = append(d.named, content)
	}
	return true
}

// forgetNamed forgets the contents to which the current frame gives an id.
func (d *decoder) forgetNamed() {
	for _, content := range d.named {
		d.unnamed.Remove(content)
	}
	d.named = d.named[:0]
}
