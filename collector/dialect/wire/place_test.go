package wire_test

import (
	"strings"
	"testing"

	"github.com/delegraph/delegraph/collector/dialect/wire"
)

// TestLeftoverBranch checks that the branch of a parallel agent adds no nodes to what follows in another place.
func TestLeftoverBranch(t *testing.T) {
	for name, c := range map[string]struct{ first, then, want string }{
		"at the next node of a workflow":   {"left graph@1/fan@1 fan.left", "one graph@1/pair@1 fan.left", "graph pair one"},
		"not where it began":               {"left boss@1/team@1 fan.left", "merger boss@1/team@1 fan.left", "boss team fan left merger"},
		"not in another round":             {"one boss@1/team@1 fan.left", "two boss@2/team@1 fan.left", "boss team fan left two"},
		"not if the path names it":         {"one boss@1/team@1 fan.left", "two boss@1/fan@1 fan.left", "boss fan left two"},
		"not of the agent that it names":   {"left boss@1/a@1 fan.left", "left boss@1/b@1 fan.left", "boss b fan left"},
		"not of a node, which continues":   {"left graph@1/left@1 left@1", "next graph@1/next@1 left@1", "graph next"},
		"not without a path":               {"left  fan.left", "next  fan.left", "fan left next"},
		"not of a branch that a node adds": {"s graph@1/a@1 fan.left", "s graph@1/b@1 side.s", "graph b side s"},
	} {
		t.Run(name, func(t *testing.T) {
			var places wire.Places
			var got []string
			for _, s := range []string{c.first, c.then} {
				part := strings.Split(s, " ")
				got = nil
				for _, n := range places.Of(wire.Speaker{Author: part[0], Path: part[1], Branch: part[2], HasPath: true}).Nodes {
					got = append(got, n.Name)
				}
			}
			if strings.Join(got, " ") != c.want {
				t.Errorf("%q", got)
			}
		})
	}
}

// TestLongPaths checks that the place of a speaker with a long path has the nodes of the complete segments.
func TestLongPaths(t *testing.T) {
	for _, c := range []struct{ run, separator string }{{"", "."}, {"@1", "/"}} {
		path := "root" + c.run + c.separator + "step" + c.run + c.separator
		path += strings.Repeat("x", wire.MaxPath-len(path))
		nodes := new(wire.Places).Of(wire.Speaker{Author: "a", Path: path, HasPath: true}).Nodes
		if len(nodes) != 3 || nodes[0].Name != "root" || nodes[1].Name != "step" || nodes[2].Name != "a" {
			t.Errorf("%.12s has the nodes %v, want root, step and a", path, nodes)
		}
	}
}

// TestBranchWithoutPath checks the nodes of a branch where no path says which nodes there are. A node with a call or a run has it
// after its name, and its lane in brackets.
func TestBranchWithoutPath(t *testing.T) {
	for _, c := range []struct{ author, branch, want string }{
		{"a", "a@c1", "a@c1[a@c1]"},
		{"b", "a@c1.b@c2", "a@c1[a@c1] b@c2[a@c1.b@c2]"},
		{"a", "a@c1.tool@c2", "a@c1[a@c1]"},
		{"a", "tool@c2", "a[]"},
		{"left", "left@1", "left@1[left@1]"},
		{"next", "left@1", "next[]"},
		{"x", "a@c1.fan.x", "a@c1[a@c1] fan[a@c1] x[a@c1.fan.x]"},
	} {
		var got []string
		for _, n := range new(wire.Places).Of(wire.Speaker{Author: c.author, Branch: c.branch}).Nodes {
			name := n.Name
			if n.Run != "" {
				name += "@" + n.Run
			}
			got = append(got, name+"["+n.Lane+"]")
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s in the branch %s: the nodes %q, want %s", c.author, c.branch, got, c.want)
		}
	}
}
