package wire

import (
	"slices"
	"strconv"
	"testing"
)

// TestContinuations checks which frames are of a withheld item. Each frame has the items that begin in it, those that it continues, and
// whether it is withheld anyway. The last one is checked.
func TestContinuations(t *testing.T) {
	type ids []string
	type frame struct {
		begun, continued ids
		isWithheld       bool
	}
	hidden, shown := frame{begun: ids{"a"}, isWithheld: true}, frame{begun: ids{"b"}}
	many := []frame{shown}
	for i := range MaxSet + 1 {
		many = append(many, frame{begun: ids{strconv.Itoa(i)}, isWithheld: true})
	}
	many = slices.Clip(many)
	for name, c := range map[string]struct {
		frames []frame
		is     bool // the last frame is of a withheld item
	}{
		"what continues it":            {[]frame{hidden, {continued: ids{"a"}}}, true},
		"the item again":               {[]frame{hidden, {begun: ids{"a"}}}, true},
		"beside another":               {[]frame{hidden, shown, {continued: ids{"b", "a"}}}, true},
		"another":                      {[]frame{hidden, shown, {continued: ids{"b"}}}, false},
		"an unknown one":               {[]frame{hidden, {continued: ids{"c"}}}, false},
		"the frame itself":             {[]frame{hidden}, false},
		"of an item about it":          {[]frame{hidden, {begun: ids{"q"}, continued: ids{"a"}}, {continued: ids{"q"}}}, true},
		"of one that left":             {[]frame{shown, {continued: ids{"b"}, isWithheld: true}, {continued: ids{"b"}}}, false},
		"of one that was not seen":     {[]frame{{continued: ids{"c"}, isWithheld: true}, {continued: ids{"c"}}}, true},
		"of many":                      {append(many, frame{continued: ids{"0"}}), true},
		"beyond the limit":             {append(many, frame{continued: ids{strconv.Itoa(MaxSet)}}), true},
		"one that left, before many":   {append(many, frame{continued: ids{"b"}}), false},
		"one that leaves, after many":  {append(many, frame{begun: ids{"c"}, continued: ids{"c"}}), false},
		"one that is not seen of many": {append(many, frame{continued: ids{"c"}}), true},
	} {
		var got bool
		var continuations Continuations
		for _, f := range c.frames {
			got = continuations.Check(f.begun, f.continued, f.isWithheld)
		}
		if got != c.is {
			t.Errorf("%s: Check() = %t, want %t", name, got, c.is)
		}
	}
}
