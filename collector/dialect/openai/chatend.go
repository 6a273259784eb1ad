package openai

import (
	"cmp"
	"slices"
	"strings"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/dialect/wire"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// finishReason returns why a choice finishes in a chunk, or a value that does not exist if it does not.
func finishReason(choice strictjson.Value) strictjson.Value {
	return wire.FinishReason(choice.Get("finish_reason"))
}

// finishChoice ends a choice. The last one ends the answer.
func (d *decoder) finishChoice(c *choice, reason strictjson.Value, b *event.Batch) {
	if c.done {
		d.endChoice(c, b) // some servers send more after a reason
		return
	}
	c.done, c.reason, c.code = true, d.name(reason), d.chat.chunkError
	d.endChoice(c, b)
	if !d.chat.finished && !slices.ContainsFunc(d.chat.choices, func(other *choice) bool { return !other.done }) {
		d.endChat(b)
	}
}

// endChoice reports the whole text of an answer and its calls.
func (d *decoder) endChoice(c *choice, b *event.Batch) {
	c.text.Report(b)
	b.NameTexts(c.name)
	d.reportCall(c, b)
	c.text = dialect.TextTail{}
}

// endChat ends the model's answer. Its usage may follow.
func (d *decoder) endChat(b *event.Batch) {
	d.chat.finished = true
	how := d.chat.outcome()
	e := b.Add(event.KindModelEnded)
	e.Model, e.FinishReason, e.UsageIncomplete = d.chat.model, how.reason, true
	switch e.Error, e.Code = how.failure(); {
	case d.chat.stopped:
		e.Error, e.Code = event.ModelError, d.chat.chunkError
	case d.chat.hasFault && how.reason == "":
		e.Error, e.Code = event.ModelError, d.chat.fault
	}
	if d.chat.failure, d.chat.code = e.Error, e.Code; e.Error == event.NoFailure {
		if !d.response.hasCalls { // else they are left to be executed
			b.Add(event.KindFinal)
		}
		return
	}
	e = b.Add(event.KindError)
	e.Error, e.Code, e.Inline = d.chat.failure, d.chat.code, d.chat.failure != event.FailureCanceled // a canceled answer cancels its run
}

// outcome returns the choice that says how the answer ended: the first one that did not fail, else the first one. The order in which
// choices finish does not matter.
func (c *chat) outcome() (best choice) {
	for _, one := range c.choices {
		switch {
		case one.reason == "":
		case best.reason == "", best.hasFailed() && !one.hasFailed(), best.hasFailed() == one.hasFailed() && one.index < best.index:
			best = *one
		}
	}
	return best
}

// failure returns the failure with which a choice finished, and its code.
func (c *choice) failure() (event.Failure, string) {
	failure, code := wire.FinishFailure(c.reason)
	if failure == event.ModelError {
		code = cmp.Or(code, c.code)
	}
	return failure, code
}

func (c *choice) hasFailed() bool {
	failure, _ := c.failure()
	return failure != event.NoFailure
}

// isFailure reports whether all choices that finish in a chunk fail.
func isFailure(chunk strictjson.Value) (fails bool) {
	for one := range chunk.Get("choices").Elements() {
		if reason := finishReason(one); reason.Exists() {
			if failure, _ := wire.FinishFailure(reason.String()); failure == event.NoFailure {
				return false
			}
			fails = true
		}
	}
	return fails
}

// maxUnfinished limits the choices whose texts finishChat reports whole.
const maxUnfinished = 2

// finishChat ends an answer in which some choices have no finish reason, and reports what others sent after theirs. LiteLLM sends a
// reason only for the first choice.
func (d *decoder) finishChat(b *event.Batch) {
	if !d.chat.started {
		return
	}
	n := 0
	for _, c := range d.chat.choices {
		switch {
		case c.done && c.call == nil && c.text.Len() == 0:
		case n < maxUnfinished:
			d.endChoice(c, b)
			n++
		default:
			d.reportCall(c, b)
		}
	}
	if !d.chat.finished {
		d.endChat(b)
	}
}

// readUsage reads the tokens so far, which may come before the end. They are beside the choices, in a choice (Moonshot), or in x_groq.
//
// Source: openai/types/completion_usage.py of openai 3.54.
func (c *chat) readUsage(v strictjson.Value) {
	c.addUsage(v.Get("usage"))
	c.addUsage(v.Get("x_groq").Get("usage"))
	for one := range v.Get("choices").Elements() {
		c.addUsage(one.Get("usage"))
	}
}

// addUsage adds the tokens that earlier chunks did not count. Some servers send the usage so far in every chunk.
func (c *chat) addUsage(v strictjson.Value) {
	total := dialect.Count(v.Get("total_tokens"))
	used := wire.WithTotal(event.Usage{
		Input: dialect.Count(v.Get("prompt_tokens")), Output: dialect.Count(v.Get("completion_tokens")),
		CacheRead: dialect.Count(v.Get("prompt_tokens_details").Get("cached_tokens")),
		Reasoning: dialect.Count(v.Get("completion_tokens_details").Get("reasoning_tokens")),
	}, total)
	if strings.Contains(c.model, "gemini") {
		used = countThoughts(used, total)
	}
	c.usage = c.usage.Add(used.Since(c.usage))
}

// countThoughts adds Gemini's thoughts to the output. Its API for OpenAI's clients counts them only in the total. The total of another
// model may exceed the sum for other reasons, such as tokens of a cache.
//
// Source: https://github.com/Clarifai/clarifai-python/pull/978, with counts of that API.
func countThoughts(used event.Usage, total event.Count) event.Usage {
	if used.Input.Known && used.Output.Known && !used.Reasoning.Known && total.N > used.Input.N+used.Output.N {
		used.Output.N = total.N - used.Input.N
	}
	return used
}

// unreported returns the tokens that were not reported before.
func (c *chat) unreported() event.Usage {
	added := c.usage.Since(c.reported)
	c.reported = c.usage
	return added
}

// reportUsage reports the tokens of an answer that has ended.
func (d *decoder) reportUsage(b *event.Batch) {
	if !d.chat.finished {
		return
	}
	if added := d.chat.unreported(); added != (event.Usage{}) {
		e := b.Add(event.KindUsage)
		e.Model, e.Usage, e.UsageIncomplete = d.chat.model, added, true
	}
}
