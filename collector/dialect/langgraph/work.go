package langgraph

import (
	"bytes"
	"maps"
	"slices"

	"github.com/delegraph/delegraph/collector/dialect/wire"
	"github.com/delegraph/delegraph/collector/lenient"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// internalState is what a run's stream has shown of internal work that other frames may repeat without its place.
type internalState struct {
	working  map[string][]string // internal tasks and runs of LangChain that have not ended, and those around them; at most wire.MaxSet
	failures wire.Set[string]    // hashes of the errors of internal work
	placed   wire.Set[string]    // questions of tasks that are not internal

	hasWorked bool                // internal work has begun, as events show
	hasSpoken bool                // an internal frame came after the last state of the run's own graph
	read      map[uint64]struct{} // messages in checkpoints and events, by messageKey; at most maxSeen
}

// maxAround limits how many tasks or runs around an internal one are kept. If there are more, any may be around it.
const maxAround = 64

// size returns the approximate size in bytes.
func (s *internalState) size() int {
	const ofID, ofEntry = 64, 256
	n := ofEntry*len(s.working) + ofID*(s.failures.Len()+s.placed.Len()+len(s.read))
	for _, around := range s.working {
		n += ofID * len(around)
	}
	return n
}

// beginWork records that an internal task or run works.
func (s *internalState) beginWork(id string, around []string) {
	if id == "" || len(s.working) >= wire.MaxSet {
		return
	}
	if s.working == nil {
		s.working = make(map[string][]string)
	}
	s.working[id] = around[:min(len(around), maxAround)]
}

// endWork records that a task or a run has ended, and with it what worked within it. An exception may end that without a frame.
func (s *internalState) endWork(id string) {
	maps.DeleteFunc(s.working, func(inner string, around []string) bool { return inner == id || slices.Contains(around, id) })
}

// mayBeAround reports whether an internal task or run may work within a task or a run.
func (s *internalState) mayBeAround(id string) bool {
	for _, around := range s.working {
		if len(around) == maxAround || slices.Contains(around, id) {
			return true
		}
	}
	return len(s.working) >= wire.MaxSet
}

// trackTask records the beginning or the end of a task. Only the end has a list of questions.
//
// Source: langgraph/pregel/debug.py, map_debug_tasks and map_debug_task_results.
func (d *decoder) trackTask(name []byte, task strictjson.Value, isInternal bool) {
	id, questions := d.name(task.Get("id")), task.Get("interrupts")
	isInternal = isInternal || mayName(&d.internalWork, task.Get("id"))
	switch hasEnded := questions.Kind() == strictjson.Array; {
	case !hasEnded && isInternal:
		_, namespace, _ := bytes.Cut(name, []byte("|"))
		d.beginWork(id, d.placesAround(namespace))
	case hasEnded:
		d.endWork(id)
		for question := range questions.Elements() {
			if asked := d.name(questionID(question)); asked != "" && !isInternal {
				d.placed.Add(asked)
			}
		}
	}
}

// Prefixes of places around internal work that are neither tasks nor runs: a node of a graph, and the next step of a graph.
const (
	nodePrefix = "node "
	nextPrefix = "next "
)

// placesAround returns the tasks and nodes in a namespace, and the next steps of the graphs around the graph of the namespace.
func (d *decoder) placesAround(namespace []byte) (around []string) {
	for rest := namespace; len(rest) > 0; {
		outer := string(bytes.TrimSuffix(namespace[:len(namespace)-len(rest)], []byte("|")))
		segment, inner, _ := bytes.Cut(rest, []byte("|"))
		node, task := splitSegment(segment)
		around = append(around, task, nodePrefix+outer+"|"+string(node), nextPrefix+outer)
		rest = inner
	}
	return around
}

// trackCheckpoint records whether an internal node runs after a saved state. The node, and what works within it, ends with the graph's
// next state.
func (d *decoder) trackCheckpoint(name []byte, state strictjson.Value) {
	_, namespace, _ := bytes.Cut(name, []byte("|"))
	next := nextPrefix + string(namespace)
	d.endWork(next)
	if isInternalScope(state.Get("next")) {
		d.beginWork(next, d.placesAround(namespace))
	}
}

// trackRun records the beginning or the end of a run of LangChain.
func (d *decoder) trackRun(v strictjson.Value, isInternal bool) {
	id, kind := d.name(v.Get("run_id")), v.Get("event").Text()
	switch {
	case isCustomEvent(v):
	case lenient.HasSuffix(kind, "end", "error"):
		d.endWork(id)
	case isInternal && lenient.HasSuffix(kind, "start"):
		d.hasWorked = true
		outer, _ := splitLast(v.Get("metadata").Get("langgraph_checkpoint_ns").Text())
		around := d.placesAround(outer)
		for above := range v.Get("parent_ids").Elements() {
			around = append(around, d.name(above))
		}
		d.beginWork(id, around)
	}
}

// errorIn returns the error in a frame, and the task or run that it ends. The error of the whole run has none.
func (d *decoder) errorIn(mode string, v strictjson.Value) (err strictjson.Value, ended string) {
	switch mode {
	case modeError:
		return v, ""
	case modeDebug:
		v = v.Get("payload")
		return v.Get("error"), d.name(v.Get("id"))
	case modeTasks:
		return v.Get("error"), d.name(v.Get("id"))
	case modeEvents:
		return v.Get("data").Get("error"), d.name(v.Get("run_id"))
	}
	return err, ""
}

// noteFailure records an error of internal work, because the errors of what is around the work repeat it.
func (d *decoder) noteFailure(mode string, v strictjson.Value) {
	err, _ := d.errorIn(mode, v)
	if key := errorKey(err); key != "" {
		d.failures.Add(key)
	}
}

// repeatsFailure reports whether a frame has, or may have, the error of internal work.
func (d *decoder) repeatsFailure(mode string, v strictjson.Value) bool {
	err, ended := d.errorIn(mode, v)
	if err.Kind() <= strictjson.Null {
		return false
	}
	key := errorKey(err)
	return key != "" && d.failures.MayContain(key) || mode == modeError && len(d.working) > 0 || d.mayBeAround(ended)
}

// errorKey returns a hash of the text of an error, or "" if there is none.
func errorKey(err strictjson.Value) string {
	if message := err.Get("message"); message.Exists() {
		err = message
	}
	return contentKey(err)
}

// mayAskWithin reports whether a question may be of an internal task that works. Without a namespace, only its ID places it.
func (d *decoder) mayAskWithin(question strictjson.Value) bool {
	return len(d.working) > 0 && !d.placed.Contains(d.name(questionID(question)))
}
