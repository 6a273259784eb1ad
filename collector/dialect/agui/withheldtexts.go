package agui

import (
	"slices"

	"github.com/delegraph/delegraph/collector/dialect/wire"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/lenient"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// quotesWithheld reports whether a frame has an error that quotes something withheld, or may quote it. The result of a call also counts
// if it names something withheld, or may be the answer of a withheld subagent.
func (d *decoder) quotesWithheld(k *kind, v strictjson.Value, b *event.Batch) bool {
	switch k.name {
	case typeRunError, typeSubagentError:
		return d.mayFailInternally(v) || d.mayQuote(v)
	case typeRunFinished, typeSubagentFinished:
		end := outcomeOf(v)
		return end != outcomeSucceeded && end != outcomeInterrupted && (d.mayFailInternally(v) || d.mayQuote(v))
	case typeToolResult:
		return hasFailed(v, b) && d.mayQuote(v) || d.namesWithheld(v.Get("content")) || d.answers.mayBeIn(v.Get("content")) || hasInternalAgent(v.Get("content")) || d.hasHiddenAnswer(v) || d.isInternalPiece(k, v)
	}
	return false
}

// mayFailInternally reports whether the error of a run or subagent is, or may be, of an internal step or agent.
func (d *decoder) mayFailInternally(failure strictjson.Value) bool {
	owner := d.name(failure.Get("subagentRunId"))
	isStep := slices.ContainsFunc(d.steps.open, func(open step) bool { return open.isInternal && (owner == "" || open.owner == owner) })
	return isStep || d.worksInternally(owner) || d.steps.workedInternally || d.steps.failedInternally
}

// mayQuote reports whether an error may quote something withheld: the arguments or the work of a call without a result, the work of
// an open run, or a text that is remembered.
func (d *decoder) mayQuote(failure strictjson.Value) bool {
	return d.mayQuoteOpen() || d.quotesText(failure)
}

// mayQuoteOpen reports whether an error may quote the arguments or the work of a call without a result, or the work of an open run. Both
// may have been open when the last run ended.
func (d *decoder) mayQuoteOpen() bool {
	isOpen := slices.ContainsFunc(d.calls, func(open call) bool { return open.isHidden || !open.isListed && d.mayDelegateInternally(&open) })
	return isOpen || d.missedDelegation || len(d.memberRuns) > 0 || d.listed.mayGoOn() || slices.ContainsFunc(d.nestedRuns, d.isWithheldRun) || d.unanswered.Len() > 0 || d.ended && d.workLeft
}

// quotesText reports whether an error quotes a text that is remembered, or may quote one.
func (d *decoder) quotesText(failure strictjson.Value) bool {
	for name, value := range failure.Members() {
		isID := slices.ContainsFunc(quotelessMembers, name.Is) || lenient.MatchesAny(name.Text(), table.InternalMembers)
		if !isID && (d.texts.MayBeIn(value) || d.values.MayBeIn(value)) {
			return true
		}
	}
	return false
}

// quotelessMembers hold IDs, names and numbers of an error.
var quotelessMembers = slices.Concat(linkMembers, labelMembers, runIDs, parentRunIDs, []string{"threadId", "timestamp", "usage"})

// hasFailed reports whether the result of a call says that the tool failed.
func hasFailed(result strictjson.Value, b *event.Batch) bool {
	return wire.HasError(result) || wire.HasError(b.Embedded(result.Get("content")))
}

// isQuotingResult reports whether a message of a list is the result of a failed call that quotes something withheld, or may quote it, or
// a result that repeats the answer of an internal delegate. A result that was reported before is older than the
// open calls, so it cannot quote them.
func (d *decoder) isQuotingResult(message strictjson.Value, b *event.Batch) bool {
	switch {
	case isResult(message) && d.answers.mayBeIn(message.Get("content")):
		return true
	case !hasFailed(message, b):
		return false
	case d.calls.find(d.name(message.Get("toolCallId")), "") == nil:
		return d.quotesText(message)
	}
	return d.mayQuote(message)
}

// addListedTexts remembers the texts of withheld messages, or calls, of a list or a value that an error may quote, and that an activity
// may contain.
func (d *decoder) addListedTexts(withheld []strictjson.Value, b *event.Batch) {
	for _, one := range withheld {
		if isResult(one) {
			d.texts.Add(b, one.Get("content"), one.Get("error"))
			d.addWithheldResult(d.memberOf(one, callIDs), one.Get("content"))
		}
		d.addListedArgs(one, b)
		for _, name := range callLists {
			for call := range one.Get(name).Elements() {
				d.addListedArgs(call, b)
			}
		}
	}
}

// addListedArgs is addListedTexts for the arguments of a call. LangChain has them in args.
func (d *decoder) addListedArgs(call strictjson.Value, b *event.Batch) {
	for _, args := range [...]strictjson.Value{call.Get("function").Get("arguments"), call.Get("args")} {
		d.texts.Add(b, args)
		d.copies.add(args)
		if id := d.memberOf(call, ownIDs); args.Exists() && !d.answered.Contains(id) {
			d.asked.withhold(id, d.toolOf(call))
		}
	}
}

// addWithheldTexts remembers the texts of a withheld frame that an error may quote. Those of messages are not remembered: a model writes
// them for the user.
func (d *decoder) addWithheldTexts(k *kind, v strictjson.Value, b *event.Batch) {
	if k.name != typeRaw && k.entity != entityMessage {
		d.texts.Add(b, v.Get("message"), v.Get("error"), v.Get("content"), v.Get("result"), v.Get("value"), v.Get("patch"))
	}
}

// minValue is the least size of a line in d.values. States have many short words, which are in other texts too.
const minValue = 12

// addWithheldValues remembers what a withheld frame has of a state, of questions or of the description of a subagent.
func (d *decoder) addWithheldValues(v strictjson.Value, b *event.Batch) {
	d.values.Add(b, v.Get("snapshot"), v.Get("delta"), v.Get("outcome"), v.Get("interrupt"), v.Get("description"))
}

// addCutValues is addWithheldValues for the parts of a frame that are withheld.
func (d *decoder) addCutValues(k *kind, v strictjson.Value, b *event.Batch) {
	if b.Type == typeRunWithQuestion {
		d.values.Add(b, v.Get("outcome"), v.Get("interrupt"))
	}
	if k.name == typeMessagesSnapshot {
		return // see addListedTexts
	}
	for part := range b.Cuts {
		d.values.Add(b, part)
	}
}

// hideCall records that a frame of a call is withheld. If the call is not remembered, its arguments are not either.
func (d *decoder) hideCall(of *call) {
	switch isWithheld := d.startWithheld || d.filtered; {
	case isWithheld && of == nil:
		d.texts.Overflow()
		d.copies.miss(1)
		d.asked.isFull = true
	case isWithheld:
		of.isHidden = true
		d.asked.withhold(of.id, of.tool)
	}
}

// addWithheldArgs remembers the arguments of a withheld call.
func (d *decoder) addWithheldArgs(ended *call, b *event.Batch) {
	if ended.isHidden {
		d.copies.addArgs(ended)
	}
	switch args := ended.arguments(); {
	case !ended.isHidden:
	case args.Exists():
		d.texts.Add(b, args)
	case len(ended.args) > 0: // cut, or no JSON
		d.texts.Overflow()
	}
}
