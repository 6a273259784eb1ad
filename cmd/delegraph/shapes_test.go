package main

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/delegraph/delegraph/collector"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/exporter/tracker"
)

// shapeRun is a recorded run.
type shapeRun struct {
	ADK, Shape, App, Root string
	Streaming             bool
	Arrived, Ended        int64
	Frames                []struct {
		At   int64
		Data string
	}
	Spans []struct {
		Name, ID, Parent, Kind, Status string
		Start, End                     int64
		Attributes                     map[string]any
	}
}

// opView is an operation in the one form in which both sides are compared.
type opView struct {
	kind, name, id, parent string
	start, end             time.Duration
	failed                 bool
	timing                 string
	status                 string
}

func (r *shapeRun) truth() (all []opView, failed bool) {
	byID := map[string]int{}
	for i, s := range r.Spans {
		byID[s.ID] = i
	}
	kindOf := func(i int) (string, string) {
		s := r.Spans[i]
		op, name, _ := strings.Cut(s.Name, " ")
		switch op {
		case "invoke_agent", "invoke_node":
			return op, name
		case "invoke_workflow":
			for _, c := range r.Spans {
				if c.Parent == s.ID && c.Name == "invoke_agent "+name {
					return "", ""
				}
			}
			return op, name
		case "execute_tool":
			if name == "(merged)" {
				return "", ""
			}
			return op, name
		case "generate_content":
			return "chat", ""
		}
		return "", ""
	}
	for i, s := range r.Spans {
		if strings.HasPrefix(s.Name, "invoke_workflow") || s.Name == "invocation" {
			failed = failed || s.Status == "ERROR"
		}
		k, n := kindOf(i)
		if k == "" {
			continue
		}
		v := opView{kind: k, name: n, id: s.ID, start: time.Duration(s.Start - r.Arrived), end: time.Duration(s.End - r.Arrived), failed: s.Status == "ERROR"}
		for at := s.Parent; ; {
			j, ok := byID[at]
			if !ok {
				break
			}
			if pk, _ := kindOf(j); pk != "" && pk != "chat" {
				v.parent = at
				break
			}
			at = r.Spans[j].Parent
		}
		all = append(all, v)
	}
	return withoutHidden(all), failed
}

// withoutHidden leaves out what goes on within a tool.
func withoutHidden(all []opView) (seen []opView) {
	byID := map[string]opView{}
	for _, o := range all {
		byID[o.id] = o
	}
	for _, o := range all {
		hidden := false
		for p, ok := byID[o.parent]; ok; p, ok = byID[p.parent] {
			hidden = hidden || p.kind == "execute_tool" && p.name != "transfer_to_agent"
		}
		if !hidden {
			seen = append(seen, o)
		}
	}
	return seen
}

type collectRun struct {
	reports []tracker.Report
	ops     [][]*tracker.Operation
}

func (c *collectRun) RunStarted(*tracker.Run)                         {}
func (c *collectRun) OperationEnded(*tracker.Run, *tracker.Operation) {}
func (c *collectRun) RunEnded(r *tracker.Run)                         { c.reports = append(c.reports, r.Report()) }
func (c *collectRun) Evicted(string)                                  {}
func (c *collectRun) Expired(string)                                  {}
func (c *collectRun) Late(string)                                     {}

type frameReader struct {
	r   *shapeRun
	at  int
	now time.Time
}

func (f *frameReader) Read(p []byte) (int, error) {
	if f.at == len(f.r.Frames) {
		f.now = time.Unix(0, f.r.Ended)
		return 0, io.EOF
	}
	fr := f.r.Frames[f.at]
	f.at++
	f.now = time.Unix(0, fr.At)
	return copy(p, "data: "+fr.Data+"\n\n"), nil
}

type trackerSink struct{ *tracker.Tracker }

func (r *shapeRun) ours(t *testing.T) tracker.Report {
	c := &collectRun{}
	tr := tracker.New(tracker.Settings{MaxOpen: 10, MaxOperations: 1000, MaxFacts: 100, Idle: time.Hour}, c, c)
	s := &event.Stream{Source: "s", Live: true, Answer: true, Opened: time.Unix(0, r.Arrived), Identity: event.Identity{App: r.App, Session: "x"}}
	in := &frameReader{r: r}
	err := collector.New(collector.Dialects(), collector.Settings{Frame: 1 << 20, JSONDepth: 100}, trackerSink{tr}).Observe(s, collector.Input{Reader: in, Arrival: func() time.Time { return in.now }}, "adk")
	if err != nil && err != io.EOF {
		t.Fatal(err)
	}
	return c.reports[0]
}

func viewOf(rep tracker.Report, arrived int64) (all []opView) {
	at := func(s *string) time.Duration {
		if s == nil {
			return -1
		}
		v, _ := time.Parse(time.RFC3339Nano, *s)
		return time.Duration(v.UnixNano() - arrived)
	}
	for _, op := range rep.Operations {
		v := opView{kind: string(op.Kind), id: op.ID, start: at(op.Started), end: at(op.Ended), failed: op.Status == tracker.Error, timing: op.Timing, status: string(op.Status)}
		if op.Name != nil && op.Kind != tracker.Chat {
			v.name = *op.Name
		}
		if op.Parent != nil {
			v.parent = *op.Parent
		}
		all = append(all, v)
	}
	return all
}

func tree(ops []opView) string {
	var b strings.Builder
	known := map[string]bool{}
	for _, o := range ops {
		known[o.id] = true
	}
	var show func(parent string, depth int)
	show = func(parent string, depth int) {
		var kids []opView
		for _, o := range ops {
			if o.parent == parent || parent == "" && !known[o.parent] {
				kids = append(kids, o)
			}
		}
		slices.SortStableFunc(kids, func(a, b opView) int { return int(a.start - b.start) })
		for _, o := range kids {
			fmt.Fprintf(&b, "    %s%s %s [%d..%d] %v %s %s\n", strings.Repeat("  ", depth), o.kind, o.name, o.start.Milliseconds(), o.end.Milliseconds(), map[bool]string{true: "ERR"}[o.failed], o.status, o.timing)
			show(o.id, depth+1)
		}
	}
	show("", 0)
	return b.String()
}

func TestShapesDraft(t *testing.T) {
	dir := os.Getenv("SHAPES")
	only := os.Getenv("ONLY")
	if dir == "" {
		t.Skip()
	}
	files, _ := filepath.Glob(dir + "/*.json")
	bad := map[string]int{}
	n := 0
	for _, f := range files {
		if only != "" && !slices.Contains(strings.Split(only, ","), strings.TrimSuffix(filepath.Base(f), ".json")) {
			continue
		}
		data, _ := os.ReadFile(f)
		var r shapeRun
		if err := json.Unmarshal(data, &r); err != nil {
			t.Fatal(f, err)
		}
		n++
		truth, failed := r.truth()
		rep := r.ours(t)
		ours := viewOf(rep, r.Arrived)
		truth = r.alignRoot(truth, ours)
		diffs := compareViews(truth, ours)
		if (rep.Status == "failed") != failed {
			diffs = append(diffs, fmt.Sprintf("status: ours %s, truth failed=%v", rep.Status, failed))
		}
		if len(diffs) == 0 {
			diffs = compareTimes(truth, ours)
		}
		for _, d := range diffs {
			k, _, _ := strings.Cut(d, ":")
			bad[k]++
		}
		if len(diffs) > 0 || only != "" {
			reason := ""
			if rep.StatusReason != nil {
				reason = *rep.StatusReason
			}
			fmt.Printf("== %s root=%s status=%s %s agent=%v\n  %s\n  ours\n%s  truth\n%s", strings.TrimSuffix(filepath.Base(f), ".json"), r.Root, rep.Status, reason, text(rep.Agent), strings.Join(diffs, "\n  "), tree(ours), tree(truth))
		}
		if only != "" {
			for _, fr := range r.Frames {
				fmt.Printf("  %d %s\n", (fr.At-r.Arrived)/1e6, fr.Data)
			}
		}
	}
	fmt.Println("RUNS", n, "DIFFS", bad)
	_ = hex.EncodeToString
}

// alignRoot gives both roots one name: a root that never speaks has that of its application in ours.
func (r *shapeRun) alignRoot(truth, ours []opView) []opView {
	named := slices.ContainsFunc(ours[1:], func(o opView) bool { return o.name == r.Root && o.parent == ours[0].id })
	if named || ours[0].kind == "invoke_workflow" && ours[0].name == r.App && r.App != r.Root && !slices.ContainsFunc(truth, func(o opView) bool { return o.name == r.Root && o.parent == "" }) {
		ours[0].kind = "root"
		return truth
	}
	for i, o := range truth {
		if o.name == r.Root && o.parent == "" {
			truth[i].kind, ours[0].kind = "root", "root"
			break
		}
	}
	return truth
}

// compareTimes pairs the operations of one name in their order.
func compareTimes(truth, ours []opView) (diffs []string) {
	order := func(ops []opView) []int {
		at := make([]int, len(ops))
		for i := range at {
			at[i] = i
		}
		slices.SortStableFunc(at, func(a, b int) int {
			x, y := ops[a], ops[b]
			if c := strings.Compare(x.kind+x.name, y.kind+y.name); c != 0 {
				return c
			}
			if x.end != y.end {
				return int(x.end - y.end)
			}
			return int(x.start - y.start)
		})
		return at
	}
	if ours[0].kind == "root" && !slices.ContainsFunc(truth, func(o opView) bool { return o.kind == "root" }) {
		ours = ours[1:]
	}
	mine, theirs := order(ours), order(truth)
	hull := map[string]opView{}
	for i := range mine {
		if len(mine) != len(theirs) || ours[mine[i]].kind+ours[mine[i]].name != truth[theirs[i]].kind+truth[theirs[i]].name && ours[mine[i]].kind != "root" {
			return []string{"pairs: not the same"}
		}
		hull[ours[mine[i]].id] = truth[theirs[i]]
	}
	byID := map[string]opView{}
	for _, o := range ours {
		byID[o.id] = o
	}
	for _, o := range ours {
		t := hull[o.id]
		for p, ok := byID[o.parent]; ok; p, ok = byID[p.parent] {
			h := hull[p.id]
			h.start, h.end = min(h.start, t.start), max(h.end, t.end)
			hull[p.id] = h
		}
	}
	for _, o := range ours {
		t := hull[o.id]
		if o.timing == "unknown" {
			continue
		}
		d, e := o.end-o.start, t.end-t.start
		if diff := (d - e).Abs(); diff > 60*time.Millisecond+e/4 {
			diffs = append(diffs, fmt.Sprintf("time %s %s: ours [%d..%d] truth [%d..%d]", o.kind, o.name, o.start.Milliseconds(), o.end.Milliseconds(), t.start.Milliseconds(), t.end.Milliseconds()))
		}
	}
	return diffs
}

// compareViews says in what the two differ.
func compareViews(truth, ours []opView) (diffs []string) {
	names := func(ops []opView, kinds ...string) (out []string) {
		for _, o := range ops {
			if slices.Contains(kinds, o.kind) {
				out = append(out, o.kind+" "+o.name)
			}
		}
		slices.Sort(out)
		return out
	}
	check := func(what string, a, b []string) {
		if !slices.Equal(a, b) {
			diffs = append(diffs, fmt.Sprintf("%s: truth %v ours %v", what, a, b))
		}
	}
	check("agents", names(truth, "invoke_agent", "invoke_workflow", "invoke_node"), names(ours, "invoke_agent", "invoke_workflow", "invoke_node"))
	check("tools", names(truth, "execute_tool"), names(ours, "execute_tool"))
	check("chats", names(truth, "chat"), names(ours, "chat"))
	failed := func(ops []opView) (out []string) {
		for _, o := range ops {
			if o.failed && o.kind == "execute_tool" {
				out = append(out, o.name)
			}
		}
		slices.Sort(out)
		return
	}
	check("toolerrors", failed(truth), failed(ours))
	handed := map[string]bool{}
	if slices.ContainsFunc(truth, func(o opView) bool { return o.name == "transfer_to_agent" }) {
		for _, o := range truth {
			if o.kind == "invoke_agent" && o.parent == "" {
				handed[o.name] = true
			}
		}
	}
	parents := func(ops []opView) (out []string) {
		byID := map[string]opView{}
		for _, o := range ops {
			byID[o.id] = o
		}
		for _, o := range ops {
			p := byID[o.parent]
			for p.kind == "execute_tool" {
				p = byID[p.parent]
			}
			if p.kind == "root" {
				p.name = ""
			}
			if o.kind == "invoke_agent" && handed[o.name] {
				p.name = "*"
			}
			if o.kind != "root" {
				out = append(out, o.kind+" "+o.name+" < "+p.name)
			}
		}
		slices.Sort(out)
		return
	}
	check("tree", parents(truth), parents(ours))
	return diffs
}
