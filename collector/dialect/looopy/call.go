package looopy

import (
	"slices"
	"strings"

	"github.com/delegraph/delegraph/collector/dialect/wire"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// call is an open tool call.
type call struct {
	id, tool, provider string
	hasTask            bool          // an agent's task is known to run in the call
	paused             bool          // that task waits for input
	failure            event.Failure // how that task ended
	code               string
}

func (t *task) call(id string) *call {
	if i := slices.IndexFunc(t.calls, func(c call) bool { return c.id == id }); i >= 0 {
		return &t.calls[i]
	}
	return nil
}

// findCall returns the open call that started an agent, or nil if none or several may have started it.
// The protocol does not say to which of several parallel calls of an agent a task belongs.
func (t *task) findCall(agent string) *call {
	var all, free []*call
	for i := range t.calls {
		if c := &t.calls[i]; c.starts(agent) {
			all = append(all, c)
			if !c.hasTask {
				free = append(free, c)
			}
		}
	}
	switch {
	case len(free) == 1:
		return free[0]
	case len(all) == 1:
		return all[0]
	}
	return nil
}

// starts reports whether the call starts an agent. Today's tool for that is agent__NAME__invoke,
// with a sanitized name.
func (c *call) starts(agent string) bool {
	if c.tool == agent || c.provider == agent {
		return true
	}
	name, prefixed := strings.CutPrefix(c.tool, "agent__")
	name, suffixed := strings.CutSuffix(name, "__invoke")
	return prefixed && suffixed && name == sanitize(agent)
}

// sanitize spells a name as the servers do in names of tools: in lower case, with one dash for each
// run of characters other than letters, digits and dashes.
func sanitize(name string) string {
	var s strings.Builder
	inside := false
	for _, c := range name {
		plain := c == '-' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
		if plain {
			s.WriteRune(c)
		} else if !inside {
			s.WriteByte('-')
		}
		inside = !plain
	}
	return strings.ToLower(s.String())
}

func (d *decoder) toolStart(t *task, fr frame, b *event.Batch) {
	id, tool := d.member(fr, "toolCallId"), d.member(fr, "toolName")
	t.pendingCalls = max(t.pendingCalls-1, 0)
	d.resume(t, id, b)
	if id != "" && t.call(id) == nil {
		if len(t.calls) == maxCalls {
			t.calls = t.calls[1:]
		}
		t.calls = append(t.calls, call{id: id, tool: tool, provider: d.name(fr.metadata.Get("provider").Text())})
	}
	e := b.Add(event.KindToolStarted)
	e.CallID, e.Name = id, tool
	e.SetPayload(fr.data.Get("arguments"))
}

func (d *decoder) toolProgress(_ *task, fr frame, b *event.Batch) {
	e := b.Add(event.KindToolProgress)
	e.CallID = d.member(fr, "toolCallId")
	e.Progress.Value, e.Progress.Known = fr.data.Get("progress").Float()
}

func (d *decoder) toolComplete(t *task, fr frame, b *event.Batch) {
	id, tool := d.member(fr, "toolCallId"), d.member(fr, "toolName")
	t.mayRespond()
	answered := d.resume(t, id, b)
	c := t.call(id)
	if c == nil && tool == inputTool {
		if !answered {
			b.Add(event.KindInputAnswered).CallID = id
		}
		return
	}
	var ended call
	if c != nil {
		ended = *c
		t.forget(id)
	}
	if ended.paused {
		b.Add(event.KindToolPaused).CallID = id
	}
	e := b.Add(event.KindToolEnded)
	e.CallID, e.Name = id, tool
	e.SetPayload(fr.data.Get("result"))
	e.Duration = fr.duration()
	switch {
	case hasFailed(fr.data):
		e.Error, e.Code = event.ToolError, wire.MostSpecific(wire.ErrorCode(fr.data.Get("error")), ended.code)
	case ended.failure == event.AgentError:
		e.Error, e.Code = event.ToolError, ended.code
	default:
		e.Error = ended.failure
	}
}

// hasFailed reports whether a result says that its call failed: by success or, without it, by an error that is not empty.
func hasFailed(data strictjson.Value) bool {
	if success, isSet := data.Get("success").Bool(); isSet {
		return !success
	}
	failure := data.Get("error")
	return len(failure.Text()) > 0 || failure.Len() > 0
}

func (t *task) forget(id string) {
	t.calls = slices.DeleteFunc(t.calls, func(c call) bool { return c.id == id })
}
