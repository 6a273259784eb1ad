package accuracy

import (
	"fmt"
	"slices"
	"strings"
	"time"
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

// differences names the fields in which the two differ, with what each has.
func differences(ours, theirs account) map[string]string {
	found := map[string]string{}
	check := func(field string, of func(account) []string) {
		if a, b := of(ours), of(theirs); !slices.Equal(a, b) {
			found[field] = fmt.Sprintf("ours %q, the agent's %q", a, b)
		}
	}
	check(inAgents, account.agents)
	check(inTools, func(a account) []string { return a.names("execute_tool", false) })
	check(inToolErrors, func(a account) []string { return a.names("execute_tool", true) })
	check(inChats, func(a account) []string { return []string{fmt.Sprint(len(a.names("chat", false)))} })
	check(inStatus, func(a account) []string { return []string{fmt.Sprint("failed ", a.failed)} })
	check(inTokens, account.tokens)
	handed := theirs.handedTo()
	check(inTree, func(a account) []string { return a.tree(handed) })
	return found
}

func (a account) names(kind string, failed bool) (names []string) {
	for _, o := range a.operations {
		if o.kind == kind && (o.failed || !failed) {
			names = append(names, o.name)
		}
	}
	slices.Sort(names)
	return names
}

func (a account) agents() (names []string) {
	for _, o := range a.operations {
		if strings.HasPrefix(o.kind, "invoke_") {
			names = append(names, o.kind+" "+o.name)
		}
	}
	slices.Sort(names)
	return names
}

func (a account) tokens() []string {
	input, output := 0, 0
	for _, o := range a.operations {
		input, output = input+o.input, output+o.output
	}
	return []string{fmt.Sprint(input, " in"), fmt.Sprint(output, " out")}
}

// handedTo are the agents that ADK 2 shows beside the one that handed over to them or that called them. The stream says more: their paths.
func (a account) handedTo() map[string]bool {
	handed := map[string]bool{}
	roots := 0
	for _, o := range a.operations {
		if o.parent == -1 {
			roots++
		}
	}
	for _, o := range a.operations {
		if roots > 1 && o.parent == -1 {
			handed[o.name] = true
		}
	}
	return handed
}

// tree names each operation with what runs it: the next operation above that is no tool.
func (a account) tree(anywhere map[string]bool) (lines []string) {
	for _, o := range a.operations {
		above := ""
		for up := o.parent; up >= 0; up = a.operations[up].parent {
			if p := a.operations[up]; p.kind != "execute_tool" {
				if p.kind != "application" && p.kind != "root" {
					above = p.name
				}
				break
			}
		}
		switch {
		case o.kind == "application" || o.kind == "root":
			continue
		case o.kind == "invoke_agent" && anywhere[o.name]:
			above = "anything"
		}
		name := o.name
		if o.kind == "chat" {
			name = ""
		}
		lines = append(lines, fmt.Sprintf("%s %s of %s", o.kind, name, above))
	}
	slices.Sort(lines)
	return lines
}

// times compares the durations of operations that pair, where all do. What begins first may begin with its request, which the agent's
// server reads before it begins. An operation is held against the time from the first to the last of what is part of it.
func times(ours, theirs account) (found []string) {
	mine, other := ours.byKindAndStart(), theirs.byKindAndStart()
	if len(mine) != len(other) {
		return []string{"they do not pair"}
	}
	pair := make([]operation, len(ours.operations))
	for i := range mine {
		pair[mine[i]] = theirs.operations[other[i]]
	}
	for i := range ours.operations {
		t := pair[i]
		for up := ours.operations[i].parent; up >= 0; up = ours.operations[up].parent {
			pair[up].start, pair[up].end = min(pair[up].start, t.start), max(pair[up].end, t.end)
		}
	}
	first := theirs.operations[0].start
	for i, o := range ours.operations {
		t := pair[i]
		if o.untimed || o.kind == "application" {
			continue
		}
		took, want := o.end-max(o.start, min(first, t.start)), t.end-t.start
		if off := (took - want).Abs(); off > 60*time.Millisecond+want/4 {
			found = append(found, fmt.Sprintf("%s %s from %v to %v, the agent's from %v to %v", o.kind, o.name, o.start, o.end, t.start, t.end))
		}
	}
	return found
}

// draw shows an account as a tree.
func (a account) draw() string {
	var out strings.Builder
	var below func(parent int, indent string)
	below = func(parent int, indent string) {
		for i, o := range a.operations {
			if o.parent != parent || i == parent {
				continue
			}
			fmt.Fprintf(&out, "%s%s %s %d..%d ms", indent, o.kind, o.name, o.start.Milliseconds(), o.end.Milliseconds())
			if o.failed {
				out.WriteString(" failed")
			}
			out.WriteByte('\n')
			below(i, indent+"  ")
		}
	}
	below(-1, "    ")
	return out.String()
}
