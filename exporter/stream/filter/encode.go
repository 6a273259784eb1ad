package filter

import (
	"slices"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/lenient"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// encoder writes a new value with the parts of the source that a rule allows. It copies bytes of the source only
// for numbers, booleans and null, which strict parsing has checked.
type encoder struct {
	stateKeys      []string
	discriminators []string // the discriminator members of the frame's table
	buf            []byte
	statedKinds    uint64                          // event kinds that the frame's decoder found
	hiddenKinds    uint64                          // event kinds that may not pass; set before each frame
	outputKinds    uint64                          // event kinds of the written values
	mayEndResponse bool                            // the frame is a piece of a model's response, or the decoder found its end
	inThought      bool                            // inside a thought
	hasThoughts    bool                            // the decoder found thoughts in the frame
	lostContent    bool                            // a value, a required member, or every element of a list was withheld
	textKinds      map[strictjson.Value]event.Kind // of the frame's batch
	dryRun         bool                            // collect outputKinds only; the output is not used

	cuts        map[strictjson.Value]struct{} // parts of the frame that may not pass
	substitutes map[strictjson.Value]string   // JSON that replaces parts of the frame

	instructions *event.Instructions // of the frame's table

	thoughtInfos map[*event.Rule]*thoughtInfo
}

// runBoundaries are kinds that let a frame pass without its content, so that a reader sees where a
// run begins and ends. If not even the frame's type may pass, there is nothing to send, and the
// frame is withheld.
var runBoundaries = kindBit(event.KindRunStarted) | kindBit(event.KindRunEnded)

// encode returns the part of a frame that the rule allows, or the reason why nothing may pass.
func (e *encoder) encode(b *event.Batch, rule *event.Rule) (Frame, Reason) {
	e.dryRun = false
	kept := e.apply(b, rule)
	shown := unrepeatedKinds(b) &^ e.hiddenKinds & (e.outputKinds | typeKinds)
	switch {
	case !kept, e.lostContent && e.outputKinds == 0 && shown&runBoundaries == 0:
		return Frame{}, ReasonEmpty
	case (e.outputKinds|shown) == 0 && e.hiddenKinds&(kindBit(event.KindOther)|e.statedKinds&^wordKinds) != 0:
		return Frame{}, ReasonSetting
	}
	return Frame{Data: e.buf, Kinds: orOtherKind(shown)}, Passed
}

// wordKinds are the kinds of text. If a setting excludes one, the frame may leave without its words.
const wordKinds = 1<<event.KindText | 1<<event.KindThought

// typeKinds are the kinds that a frame may state by its type or by its place in the stream, not by a value that a rule may drop.
// KindText is one of them: the decoder reports the whole text at the frame that ends it, even if that frame does not contain it.
var typeKinds = kindBit(event.KindText) | kindBit(event.KindThought) | kindBit(event.KindFinal) | kindBit(event.KindOutcome) |
	kindBit(event.KindModelStarted) | kindBit(event.KindModelEnded) | kindBit(event.KindToolPaused) | kindBit(event.KindChildRun) |
	kindBit(event.KindAgentStarted) | kindBit(event.KindAgentEnded) | kindBit(event.KindRunStarted) | kindBit(event.KindRunEnded)

// findKinds returns the event kinds that a rule finds in a frame.
func (e *encoder) findKinds(b *event.Batch, rule *event.Rule) uint64 {
	e.hiddenKinds, e.dryRun = 0, true
	e.apply(b, rule)
	return e.outputKinds
}

// maxReusedBuffer is the largest buffer, in bytes, that is reused for the next frame.
const maxReusedBuffer = 64 << 10

func (e *encoder) apply(b *event.Batch, rule *event.Rule) (kept bool) {
	e.statedKinds, e.outputKinds, e.inThought, e.lostContent = statedKinds(b), 0, false, false
	e.mayEndResponse = b.Partial || e.statedKinds&kindBit(event.KindModelEnded) != 0
	if e.discriminators = b.Table.Discriminators; len(b.Table.PartDiscriminators) > 0 {
		e.discriminators = b.Table.PartDiscriminators
	}
	e.textKinds, e.hasThoughts, e.cuts, e.substitutes, e.instructions = b.TextKinds, b.HasThoughts, b.Cuts, b.Substitutes, b.Table.Instructions
	e.buf, kept = e.value(e.begin(), b.JSON, rule)
	return kept
}

// begin returns an empty buffer.
func (e *encoder) begin() []byte {
	if cap(e.buf) > maxReusedBuffer {
		e.buf = nil
	}
	return e.buf[:0]
}

// value appends the parts of v that the rule allows, or else the rule's fallback. It returns false, and dst
// unchanged, if it appends nothing.
func (e *encoder) value(dst []byte, v strictjson.Value, rule *event.Rule) ([]byte, bool) {
	isUnstated := rule.StatedOnly && e.statedKinds&kindBit(rule.Fact) == 0
	if isUnstated || !e.dryRun && (rule.FindOnly || rule.EndsResponse && !e.mayEndResponse) {
		return dst, false
	}
	if slices.ContainsFunc(rule.AllowedValues, v.Is) && !e.excludesCode(rule) {
		return v.AppendQuoted(dst), true
	}
	if rule.DropNull && v.Kind() == strictjson.Null {
		return dst, false
	}
	_, isCut := e.cuts[v]
	kinds := e.kindsOf(v, rule)
	if isCut || kinds&e.hiddenKinds != 0 || e.instructions != nil && v.Kind() == strictjson.Object && lenient.IsInstruction(e.instructions, v) {
		e.lostContent = true
		return e.fallback(dst, v, rule)
	}
	if e.dryRun { // the value counts, even if none of it has the form that the rule requires
		e.outputKinds |= kinds
	}
	if substitute, ok := e.substitutes[v]; ok {
		e.outputKinds |= kinds
		return append(dst, substitute...), true
	}
	out, kept := e.byRule(dst, v, rule)
	if !kept {
		return e.fallback(out, v, rule)
	}
	e.outputKinds |= kinds
	return out, true
}

// excludesCode reports whether the settings exclude the fact that a code states: an allowed value where a replacement would stand.
func (e *encoder) excludesCode(rule *event.Rule) bool {
	return rule.Replacement != "" && rule.Fact != event.KindOther && kindBit(rule.Fact)&e.statedKinds&e.hiddenKinds != 0
}

// fallback appends the fallback of a value's rule for a value that may not pass, and reports whether there is one. State without
// configured keys has no fallback. Null stays null. If {} replaced a null tool call, the frame would report a call that
// did not happen.
func (e *encoder) fallback(dst []byte, v strictjson.Value, rule *event.Rule) ([]byte, bool) {
	switch {
	case rule.Fallback == "", (rule.State || rule.Patch) && len(e.stateKeys) == 0:
		return dst, false
	case v.Kind() == strictjson.Null:
		return append(dst, v.Raw()...), true
	}
	return append(dst, rule.Fallback...), true
}

// refinements maps a kind that rules find to the bits of more specific kinds, which only the decoder finds.
var refinements = map[event.Kind]uint64{
	event.KindToolStarted: kindBit(event.KindInputRequested),
	event.KindToolEnded:   kindBit(event.KindInputAnswered) | kindBit(event.KindToolProgress),
}

// kindsOf returns the event kinds that a value may state under a rule. It returns none if the value is empty,
// and several if the decoder found both the rule's kind and a refinement of it in the frame.
func (e *encoder) kindsOf(v strictjson.Value, rule *event.Rule) uint64 {
	kind := rule.Fact
	if kind == event.KindOther || v.Kind() == strictjson.Null || rule.Replacement == "" && isBlank(v) {
		return 0
	}
	if kind == event.KindText && e.inThought {
		kind = event.KindThought
	}
	if refined := refinements[kind] & e.statedKinds; refined != 0 {
		return refined | e.statedKinds&kindBit(kind)
	}
	return kindBit(kind)
}

func isBlank(v strictjson.Value) bool {
	switch v.Kind() {
	case strictjson.String:
		return len(v.Raw()) == len(`""`)
	case strictjson.Object, strictjson.Array:
		return v.Len() == 0
	}
	return v.Kind() == strictjson.Null
}

func (e *encoder) byRule(dst []byte, v strictjson.Value, rule *event.Rule) ([]byte, bool) {
	byType := rule.ByType[string(typeIn(v, rule).Text())]
	switch {
	case rule.Replacement != "" && v.Kind() != strictjson.Null:
		return append(dst, rule.Replacement...), true
	case rule.AllowAny:
		return e.anyValue(dst, v)
	case rule.String != nil && v.Kind() == strictjson.String:
		return e.value(dst, v, rule.String)
	case byType != nil && v.Kind() == strictjson.Object:
		return e.value(dst, v, byType)
	case rule.Elements != nil && (rule.Members == nil || v.Kind() == strictjson.Array):
		return e.array(dst, v, func(strictjson.Value) *event.Rule { return rule.Elements })
	case rule.Members != nil:
		return e.members(dst, v, rule)
	case rule.AnyMember != nil:
		return e.object(dst, v, func(name, value strictjson.Value) *event.Rule { return anyMember(rule, name, value) })
	case rule.ByType != nil: // no rule for this type, or for a value that is no object
		return dst, false
	case rule.State:
		return e.state(dst, v)
	case rule.Patch:
		return e.patch(dst, v)
	}
	return scalar(dst, v, rule.Form)
}

// typeIn returns the value of the member that a rule's ByType is about.
func typeIn(v strictjson.Value, rule *event.Rule) strictjson.Value {
	if rule.TypePath == nil {
		return v.Get("type")
	}
	for _, names := range rule.TypePath {
		v = v.First(names...)
	}
	return v
}

// memberRule returns the rule for a member of an object, or nil.
func memberRule(rule *event.Rule, name, value strictjson.Value) *event.Rule {
	if own := rule.Members[string(name.Text())]; own != nil {
		return own
	}
	return anyMember(rule, name, value)
}

// anyMember returns the rule for a member of an object whose names are data, or nil.
func anyMember(rule *event.Rule, name, value strictjson.Value) *event.Rule {
	if rule.AnyMember == nil || !hasForm(rule.Form, name.Text()) {
		return nil
	}
	// An integer is a version or a count. A string would be content and is dropped.
	if _, number := value.Int(); !number && value.Kind() != strictjson.Object && value.Kind() != strictjson.Array {
		return nil
	}
	return rule.AnyMember
}

// members writes an object's members. Inside a thought, text counts as a thought too.
func (e *encoder) members(dst []byte, v strictjson.Value, rule *event.Rule) ([]byte, bool) {
	byName := func(name, value strictjson.Value) *event.Rule { return memberRule(rule, name, value) }
	if !e.dryRun && !e.allowsType(v, rule) {
		e.lostContent = true
		return dst, false
	}
	kind, listed := e.textKinds[v]
	if listed && !e.dryRun { // the output would not say what kind of text it is: see Batch.TextKinds
		e.lostContent = true
		return dst, false
	}
	if listed && kind != event.KindThought {
		e.outputKinds |= kindBit(kind)
	}
	foreign := kind == event.KindThought || e.hasForeignMarker(v, rule)
	if e.inThought || !foreign && !e.isThought(v, rule) {
		return e.object(dst, v, byName)
	}
	if e.hidesThoughts() || foreign && !e.dryRun {
		// The output has no foreign marker. Without one, the thought would look like an answer.
		e.lostContent = true
		return dst, false
	}
	e.inThought = true
	dst, kept := e.object(dst, v, byName)
	e.inThought = false
	if kept {
		e.outputKinds |= kindBit(event.KindThought)
	}
	return dst, kept
}

// allowsType reports whether the discriminators of an object are those that the rule allows.
func (e *encoder) allowsType(v strictjson.Value, rule *event.Rule) bool {
	if len(rule.AllowedTypes) == 0 || v.Kind() != strictjson.Object {
		return true
	}
	hasAllowed := slices.ContainsFunc(e.discriminators, func(name string) bool { return slices.ContainsFunc(rule.AllowedTypes, v.Get(name).Is) })
	return (hasAllowed || !rule.TypeRequired) && !lenient.HasOtherValue(v, e.discriminators, rule.AllowedTypes)
}

var anyValueRule = event.Rule{AllowAny: true}

// anyValue writes a value of any kind, without objects that are marked as thoughts if these may not pass.
func (e *encoder) anyValue(dst []byte, v strictjson.Value) ([]byte, bool) {
	switch v.Kind() {
	case strictjson.Object:
		if hasThoughtMarker(v) {
			if e.hidesThoughts() {
				e.lostContent = true
				return dst, false
			}
			e.outputKinds |= kindBit(event.KindThought)
		}
		return e.object(dst, v, func(_, _ strictjson.Value) *event.Rule { return &anyValueRule })
	case strictjson.Array:
		return e.array(dst, v, func(strictjson.Value) *event.Rule { return &anyValueRule })
	}
	return scalar(dst, v, event.FormText)
}

// object writes the members for which there is a rule. It writes nothing if a required member that is not null was dropped.
func (e *encoder) object(dst []byte, v strictjson.Value, ruleOf func(name, value strictjson.Value) *event.Rule) ([]byte, bool) {
	if v.Kind() != strictjson.Object {
		return dst, false
	}
	start, kinds := len(dst), e.outputKinds
	dst = append(dst, '{')
	kept, incomplete := false, false
	for name, value := range v.Members() {
		rule := ruleOf(name, value)
		if rule == nil || rule.RenameTo != "" && v.Get(rule.RenameTo).Exists() {
			continue
		}
		before, ok := len(dst), false
		dst = append(appendName(separate(dst), name, rule), ':')
		if e.instructions != nil && lenient.MatchesAny(name.Text(), e.instructions.Members) {
			e.lostContent = true
		} else {
			dst, ok = e.value(dst, value, rule)
		}
		if !ok {
			dst = dst[:before]
			incomplete = incomplete || rule.Required && value.Kind() != strictjson.Null
			continue
		}
		kept = true
	}
	switch {
	case incomplete && !e.dryRun:
		e.outputKinds, e.lostContent = kinds, true
		return dst[:start], false
	case !kept && v.Len() > 0:
		return dst[:start], false
	}
	return append(dst, '}'), true
}

// appendName appends the name under which a member is written.
func appendName(dst []byte, name strictjson.Value, rule *event.Rule) []byte {
	if rule.RenameTo == "" {
		return name.AppendQuoted(dst)
	}
	return strictjson.AppendQuoted(dst, rule.RenameTo)
}

// array writes the elements for which there is a rule.
func (e *encoder) array(dst []byte, v strictjson.Value, ruleOf func(element strictjson.Value) *event.Rule) ([]byte, bool) {
	if v.Kind() != strictjson.Array {
		return dst, false
	}
	start := len(dst)
	dst = append(dst, '[')
	kept := false
	for element := range v.Elements() {
		rule := ruleOf(element)
		if rule == nil {
			continue
		}
		before := len(dst)
		var ok bool
		if dst, ok = e.value(separate(dst), element, rule); !ok {
			dst = dst[:before]
			continue
		}
		kept = true
	}
	if !kept && v.Len() > 0 {
		e.lostContent = true
		return dst[:start], false
	}
	return append(dst, ']'), true
}
