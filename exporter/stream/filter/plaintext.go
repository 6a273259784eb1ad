package filter

import (
	"slices"

	"github.com/delegraph/delegraph/collector/event"
)

// applyText applies the policy to a frame of plain text. It returns the text, or the replacement of
// its rule. Under public, a frame that begins or ends a run passes without its text if the text may
// not pass. But the frame is withheld if the settings exclude its rule's Fact, because its name may
// show that fact.
func (f *Filter) applyText(b *event.Batch, rules event.Type) (Frame, Reason) {
	data, kinds, hidden := b.Frame.Data, statedKinds(b), f.hiddenKinds(b)
	if rules.Public != nil {
		kinds |= kindBit(rules.Public.Fact)
	}
	switch policy := f.settings.Policy; {
	case policy == event.PolicyClient && rules.Client:
		if kinds&hidden != 0 || f.textIsExcluded(b, rules) {
			return Frame{}, ReasonSetting
		}
	case policy == event.PolicyPublic && rules.Public != nil:
		var why Reason
		hidesFact := rules.Public.Fact != event.KindOther && hidden&kindBit(rules.Public.Fact) != 0
		if data, why = f.publicText(b, rules, kinds&hidden != 0); why != Passed && (hidesFact || kinds&^hidden&runBoundaries == 0) {
			return Frame{}, why
		}
	default:
		return Frame{}, ReasonPolicy
	}
	return Frame{Data: data, Kinds: orOtherKind(unrepeatedKinds(b) &^ hidden)}, Passed
}

// publicText returns the text that may pass under public, perhaps none. The reason is not Passed if
// the frame may pass only as the begin or end of a run. isExcluded says that the settings exclude a
// kind that it states.
func (f *Filter) publicText(b *event.Batch, rules event.Type, isExcluded bool) ([]byte, Reason) {
	data, rule := b.Frame.Data, rules.Public
	isConstant := slices.Contains(rule.AllowedValues, string(data))
	if !isConstant && rule.Replacement != "" {
		data, isConstant = []byte(rule.Replacement), true
	}
	switch {
	case isConstant && isExcluded:
		return data, ReasonSetting // a text such as [DONE] states nothing that is excluded
	case !isConstant && !hasForm(rule.Form, data):
		return nil, ReasonEmpty
	case !isConstant && (isExcluded || f.textIsExcluded(b, rules)):
		return nil, ReasonSetting
	}
	return data, Passed
}

// textIsExcluded reports whether the frame's text has words that the settings exclude.
func (f *Filter) textIsExcluded(b *event.Batch, rules event.Type) bool {
	return len(b.Frame.Data) > 0 && f.hasExcludedWords(b, rules)
}
