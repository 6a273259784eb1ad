package agui

import (
	"github.com/delegraph/delegraph/collector/dialect/wire"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// activityData finds elements of lists in withheld activities again in other activities. The activity of an agent has the messages that it
// sent, and the activity of the next agent begins with them, without naming the first agent.
//
// Source: agent_framework_ag_ui/_workflow_run.py of agent-framework-ag-ui 1.7.
type activityData struct {
	withheld wire.Set[uint64] // hashes of elements of lists in the content
	left     wire.Set[uint64] // the same of activities that left: an internal agent may pass on what it got
}

// note records the content of an activity, or a change of it.
func (a *activityData) note(activity strictjson.Value, isWithheld bool) {
	for _, list := range activity.Get("content").Members() {
		for element := range list.Elements() {
			a.add(element, isWithheld)
		}
	}
	for c := range changesOf(activity.Get("patch"), nil) {
		if isElement(c.place) {
			a.add(c.value, isWithheld)
		}
		for element := range c.value.Elements() {
			a.add(element, isWithheld)
		}
	}
}

// add records an element. What the user said may be anywhere.
func (a *activityData) add(element strictjson.Value, isWithheld bool) {
	element = decoded(element)
	hash, size := hashOf(element, nil)
	switch {
	case size < minRepeated, element.Get("role").Is(user):
	case isWithheld && !a.left.Contains(hash):
		a.withheld.Add(hash)
	case !isWithheld && !a.withheld.Contains(hash):
		a.left.Add(hash)
	}
}

// copiesIn returns the parts of a value that withheld activities had, or may have had.
func (a *activityData) copiesIn(v strictjson.Value) (parts []strictjson.Value) {
	if a.withheld.Len() == 0 {
		return nil
	}
	hashOf(v, func(part strictjson.Value, hash uint64, size int) {
		if size >= minRepeated && a.withheld.MayContain(hash) {
			parts = append(parts, part)
		}
	})
	return parts
}
