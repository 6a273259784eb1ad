package wire

import (
	"testing"
	"time"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/sse"
)

// TestHashValue checks which values count as the same.
func TestHashValue(t *testing.T) {
	hash := func(data string) uint64 {
		b := new(event.Batch)
		b.Begin(&event.Stream{}, sse.Frame{Data: []byte(`{"v":` + data + `}`)}, time.Time{})
		if refused := b.Parse(64); refused != "" {
			t.Fatalf("%s: %s", data, refused)
		}
		return hashValue(b, b.JSON.Get("v"))
	}
	for _, c := range []struct {
		a, b string
		same bool
	}{
		{`{"a":1,"b":[true,"x"]}`, `{ "b": [true, "x"], "a": 1.0 }`, true},
		{`{"a":"x"}`, `"{\"a\": \"\\u0078\"}"`, true},
		{`["x"]`, `"[\"x\"]"`, true},
		{`"x"`, `"\"x\""`, true},
		{`2800000`, `"2.8e6"`, true},
		{`"a b"`, `" a  b\n"`, true},
		{`{"a":"{\"b\":1}"}`, `{"a":{"b":1}}`, true},
		{`{"a":1,"b":2}`, `{"a":2,"b":1}`, false},
		{`["a","b"]`, `["b","a"]`, false},
		{`{"a":{"b":1}}`, `{"b":{"a":1}}`, false},
		{`"x"`, `["x"]`, false},
		{`1`, `true`, false},
		{`"[x"`, `["x"]`, false},
	} {
		if same := hash(c.a) == hash(c.b); same != c.same {
			t.Errorf("%s and %s count as the same: %t", c.a, c.b, same)
		}
	}
	for _, empty := range []string{`""`, `" "`, `{}`, `[]`, `null`, `"{}"`} {
		if hash(empty) != 0 {
			t.Errorf("%s does not count as empty", empty)
		}
	}
}
