package accuracy

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/delegraph/delegraph/test/agents/adkshapes"
)

// The fields in which two accounts can differ.
const (
	inAgents     = "agents"
	inTree       = "tree"
	inTools      = "tools"
	inToolErrors = "tool errors"
	inChats      = "chats"
	inTokens     = "tokens"
	inStatus     = "status"
	inTimes      = "times"
)

// Check compares Delegraph's account of a run with the agent's own. It fails the test if a field differs that the table
// of known differences does not list. It also fails if a listed field other than the times does not differ. Durations
// are compared only if timed. Check reports whether any field differs.
func Check(t testing.TB, run adkshapes.Recording, ours Account, timed bool) (differs bool) {
	t.Helper()
	ours.checkCode(t, run)
	theirs := truth(run)
	align(run, &ours, &theirs)
	found := differences(ours, theirs)
	if timed && timesCount(run) && len(found) == 0 {
		if late := times(ours, theirs); len(late) > 0 {
			found[inTimes] = strings.Join(late, "; ")
		}
	}
	wrong := false
	known := knownDifference(run)
	for _, field := range slices.Sorted(maps.Keys(found)) {
		if !slices.Contains(known.fields, field) {
			wrong = true
			t.Errorf("%s: %s", field, found[field])
		}
	}
	for _, field := range known.fields {
		if _, differs := found[field]; !differs && field != inTimes {
			t.Errorf("%s do not differ, although the table says so", field)
		}
	}
	if wrong {
		t.Logf("ours\n%s  the agent's\n%s", ours.draw(), theirs.draw())
	}
	return len(found) > 0
}

// differences names the fields in which the two differ, with what each has.
func differences(ours, theirs Account) map[string]string {
	found := map[string]string{}
	check := func(field string, of func(Account) []string) {
		if a, b := of(ours), of(theirs); !slices.Equal(a, b) {
			found[field] = fmt.Sprintf("ours %q, the agent's %q", a, b)
		}
	}
	check(inAgents, Account.agents)
	check(inTools, func(a Account) []string { return a.names("execute_tool", false) })
	check(inToolErrors, func(a Account) []string { return a.names("execute_tool", true) })
	check(inChats, func(a Account) []string { return []string{fmt.Sprint(len(a.names("chat", false)))} })
	check(inStatus, func(a Account) []string { return []string{fmt.Sprint("failed ", a.Failed)} })
	check(inTokens, Account.tokens)
	handed := theirs.handedTo()
	check(inTree, func(a Account) []string { return a.tree(handed) })
	return found
}

func (a Account) names(kind string, failed bool) (names []string) {
	for _, o := range a.Operations {
		if o.Kind == kind && (o.Failed || !failed) {
			names = append(names, o.Name)
		}
	}
	slices.Sort(names)
	return names
}

func (a Account) agents() (names []string) {
	for _, o := range a.Operations {
		if strings.HasPrefix(o.Kind, "invoke_") {
			names = append(names, o.Kind+" "+o.Name)
		}
	}
	slices.Sort(names)
	return names
}

func (a Account) tokens() []string {
	input, output := 0, 0
	for _, o := range a.Operations {
		input, output = input+o.Input, output+o.Output
	}
	return []string{fmt.Sprint(input, " in"), fmt.Sprint(output, " out")}
}

// handedTo are the agents that ADK 2 shows beside the one that handed over to them or that called them. The stream says more: their paths.
func (a Account) handedTo() map[string]bool {
	handed := map[string]bool{}
	roots := 0
	for _, o := range a.Operations {
		if o.Parent == -1 {
			roots++
		}
	}
	for _, o := range a.Operations {
		if roots > 1 && o.Parent == -1 {
			handed[o.Name] = true
		}
		if o.Kind == "execute_tool" && o.Name == "transfer_to_agent" && o.Parent >= 0 {
			if name := a.after(o.Parent); name != "" {
				handed[name] = true
			}
		}
	}
	return handed
}

// after names the agent that runs beside an operation after it has ended, if any.
func (a Account) after(ended int) (name string) {
	p := a.Operations[ended]
	for _, o := range slices.Backward(a.Operations) {
		if o.Kind == "invoke_agent" && o.Parent == p.Parent && p.Parent >= 0 && o.Start >= p.End {
			name = o.Name
		}
	}
	return name
}

// tree names each operation with what runs it: the next operation above that is no tool.
func (a Account) tree(anywhere map[string]bool) (lines []string) {
	for _, o := range a.Operations {
		above := ""
		for up := o.Parent; up >= 0; up = a.Operations[up].Parent {
			if p := a.Operations[up]; p.Kind != "execute_tool" {
				if p.Kind != "application" && p.Kind != "root" {
					above = p.Name
				}
				break
			}
		}
		switch {
		case o.Kind == "application" || o.Kind == "root":
			continue
		case o.Kind == "invoke_agent" && anywhere[o.Name]:
			above = "anything"
		}
		name := o.Name
		if o.Kind == "chat" {
			name = ""
		}
		lines = append(lines, fmt.Sprintf("%s %s of %s", o.Kind, name, above))
	}
	slices.Sort(lines)
	return lines
}

// times compares the durations of operations that pair, where all do. What begins first may begin with its request, which the agent's
// server reads before it begins. An operation is held against the time from the first to the last of what is part of it.
func times(ours, theirs Account) (found []string) {
	mine, other := ours.byKindAndStart(), theirs.byKindAndStart()
	if len(mine) != len(other) {
		return []string{"they do not pair"}
	}
	pair := make([]Operation, len(ours.Operations))
	for i := range mine {
		pair[mine[i]] = theirs.Operations[other[i]]
	}
	for i := range ours.Operations {
		t := pair[i]
		for up := ours.Operations[i].Parent; up >= 0; up = ours.Operations[up].Parent {
			pair[up].Start, pair[up].End = min(pair[up].Start, t.Start), max(pair[up].End, t.End)
		}
	}
	first := theirs.Operations[0].Start
	for i, o := range ours.Operations {
		t := pair[i]
		if o.Untimed || o.Kind == "application" {
			continue
		}
		took, want := o.End-max(o.Start, min(first, t.Start)), t.End-t.Start
		if off := (took - want).Abs(); off > 60*time.Millisecond+want/4 {
			found = append(found, fmt.Sprintf("%s %s from %v to %v, the agent's from %v to %v", o.Kind, o.Name, o.Start, o.End, t.Start, t.End))
		}
	}
	return found
}

// byKindAndStart orders indexes of operations so that those of both sides pair.
func (a Account) byKindAndStart() []int {
	at := make([]int, len(a.Operations))
	for i := range at {
		at[i] = i
	}
	slices.SortStableFunc(at, func(i, j int) int {
		x, y := a.Operations[i], a.Operations[j]
		return cmp.Or(cmp.Compare(x.Kind, y.Kind), cmp.Compare(x.Name, y.Name), cmp.Compare(x.Start, y.Start), cmp.Compare(x.End, y.End))
	})
	return slices.DeleteFunc(at, func(i int) bool { return a.Operations[i].Kind == "application" })
}

// draw shows an account as a tree.
func (a Account) draw() string {
	var out strings.Builder
	var below func(parent int, indent string)
	below = func(parent int, indent string) {
		for i, o := range a.Operations {
			if o.Parent != parent || i == parent {
				continue
			}
			fmt.Fprintf(&out, "%s%s %s %d..%d ms", indent, o.Kind, o.Name, o.Start.Milliseconds(), o.End.Milliseconds())
			if o.Failed {
				out.WriteString(" failed")
			}
			out.WriteByte('\n')
			below(i, indent+"  ")
		}
	}
	below(-1, "    ")
	return out.String()
}
