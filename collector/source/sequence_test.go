package source

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
)

// TestMissedFrames checks the number of frames missed between connections for several kinds of ids.
func TestMissedFrames(t *testing.T) {
	ids := func(format string, from, to int) (out []string) {
		for i := from; i <= to; i++ {
			out = append(out, fmt.Sprintf(format, i))
		}
		return out
	}
	for name, c := range map[string]struct {
		connections [][]string
		want        int64
	}{
		"numbers":                         {[][]string{ids("%d", 1, 10), ids("%d", 14, 15)}, 3},
		"numbers after a prefix":          {[][]string{ids("ctx-%d", 0, 9), ids("ctx-%d", 12, 15)}, 2},
		"two interruptions":               {[][]string{ids("%d", 1, 10), ids("%d", 12, 15), ids("%d", 18, 19)}, 3},
		"consecutive numbers":             {[][]string{ids("%d", 1, 10), ids("%d", 11, 15)}, 0},
		"repeated frames":                 {[][]string{ids("%d", 1, 10), ids("%d", 8, 15)}, 0},
		"repeated frames, then a skip":    {[][]string{ids("%d", 1, 10), append(ids("%d", 8, 10), ids("%d", 12, 13)...), ids("%d", 20, 21)}, 0},
		"frames without ids between":      {[][]string{append(ids("%d", 1, 10), "10", "10"), append([]string{"10", "10"}, ids("%d", 12, 13)...)}, 1},
		"an interruption without a frame": {[][]string{ids("%d", 1, 10), nil, ids("%d", 12, 13)}, 1},
		"too few frames":                  {[][]string{ids("%d", 1, 9), ids("%d", 14, 15)}, 0},
		"a skip within a connection":      {[][]string{append(ids("%d", 1, 10), "12"), ids("%d", 14, 15)}, 0},
		"numbers that start again":        {[][]string{append(ids("%d", 1, 10), ids("%d", 1, 10)...), ids("%d", 14, 15)}, 0},
		"several streams in one":          {[][]string{append(ids("a-%d", 1, 10), ids("b-%d", 1, 10)...), ids("b-%d", 14, 15)}, 0},
		"another numbering":               {[][]string{ids("a-%d", 1, 10), ids("b-%d", 14, 24), ids("b-%d", 26, 27)}, 1},
		"a jump too far":                  {[][]string{ids("%d", 1, 10), ids("17000000%02d", 1, 12)}, 0},
		"no numbers":                      {[][]string{{"a", "b", "c"}, {"e"}}, 0},
		"numbers too long":                {[][]string{ids("1%018d", 1, 10), ids("1%018d", 14, 15)}, 0},
		"no ids":                          {[][]string{{"", ""}, {""}}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			var q idSequence
			var got int64
			for _, connection := range c.connections {
				q.resume()
				for _, id := range connection {
					got += q.countMissed([]byte(id))
				}
			}
			if got != c.want {
				t.Errorf("%d frames are missed, want %d", got, c.want)
			}
		})
	}
}

// TestTailCountsMissedFrames checks that a tail counts frames that the server drops during an interruption.
func TestTailCountsMissedFrames(t *testing.T) {
	var before []string
	for i := 1; i <= minConsecutive; i++ {
		before = append(before, says(fmt.Sprint(i), "a"))
	}
	a := runTail(t, 5, nil, streams(before...), streams(says("13", "a"), says("14", "a")), answers(http.StatusNoContent))
	if i := slices.Index(a.got, "missed 2"); i < 0 || !strings.HasPrefix(a.got[i+1], "13 ") {
		t.Errorf("the tail reports %s", strings.Join(a.got, ", "))
	}
}
