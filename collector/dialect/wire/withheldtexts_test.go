package wire

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/sse"
	"github.com/delegraph/delegraph/collector/strictjson"
)

func quoted(text string) string { return `{"error":` + strconv.Quote(text) + `}` }

// TestWithheldTexts checks which errors quote a text, whatever is put around it and however it is escaped.
func TestWithheldTexts(t *testing.T) {
	for _, c := range []struct {
		withheld, later string // JSON
		quotes          bool
	}{
		{quoted("no route to db1"), quoted("tool failed: no route to db1"), true},
		{quoted("Error: no route to db1"), quoted("tool failed: no route to db1"), true},
		{quoted("no route to db1."), quoted("No route to db1"), true},
		{quoted("\r\n no route to db1 \r\nat x"), quoted("w: no route to db1"), true},
		{quoted("no route to db1\rat x"), quoted("w: no route to db1"), true},
		{quoted("no route to db1\u2028at x"), quoted("w: no route to db1"), true},
		{quoted("Traceback (most recent call last):\n File x\nValueError: no route"), quoted("ValueError: no route"), true},
		{quoted("bad\nno route to db1"), quoted("no route to db1"), true},
		{quoted(`no route to "db1"`), quoted(`ValueError('no route to "db1"')`), true},
		{quoted(`no route to 'db1' "x"`), quoted(`ValueError('no route to \'db1\' "x"')`), true},
		{quoted(`no route to "db1"`), quoted(`{"message":"no route to \"db1\""}`), true},
		{quoted("café\tdb1"), quoted(`{\"m\":\"caf\\u00e9\\tdb1\"}`), true},
		{quoted("café db1"), quoted(`'caf\xe9 db1'`), true},
		{quoted("key 🔑 of db1"), quoted(`"key \ud83d\udd11 of db1"`), true},
		{quoted("key 🔑 of db1"), quoted(`'key \U0001f511 of db1'`), true},
		{quoted("no <db1> route"), quoted("<p>no &lt;db1&gt; route</p>"), true},
		{quoted(`C:\new\users`), quoted(`no file 'C:\\new\\users'`), true},
		{quoted(`a \ud83d b \q \`), quoted(`w: a \ud83d b \q \`), true},
		{quoted(strings.Repeat("x ", 1000)), quoted("w: " + strings.Repeat("x ", 1000)), true},
		{`{"content":[{"text":"no route to db1"}],"isError":true}`, quoted("no route to db1"), true},
		{`"{\"r\":\"no route to db1\"}"`, quoted("w: no route to db1"), true},
		{`{"pin":12345}`, quoted("no pin 12345"), true},
		{`{"pin":123}`, quoted("no pin 123"), false},
		{`{"pin":"123"}`, quoted("no pin 123"), true},
		{`{"pin":"123"}`, quoted("no pin 1234 x"), false},
		{`{"pin":"123"}`, quoted("no 123 pins"), false},
		{quoted("no route to db1"), `{"code":7,"message":["x",{"m":"no route to db1"}]}`, true},
		{quoted("no route to db1"), quoted("no route to db2"), false},
		{quoted("no route to db1"), `["no route","to db1"]`, false},
		{quoted("no route to db1"), quoted(""), false},
		{quoted("no route to db1"), quoted("..."), false},
		{quoted("no route to db1"), quoted(strings.Repeat("x", 1<<15)), true},
		{quoted("Error"), quoted("RuntimeError: x"), false},
		{quoted("None"), quoted("None: x"), false},
		{quoted("Traceback (most recent call last):\n File x"), quoted("Traceback (most recent call last):\n File y"), false},
		{`{"done":true,"x":null}`, quoted("true"), false},
		{`{"error":"This tool call requires confirmation, please approve or reject."}`, `{"error":"This tool call requires confirmation, please approve or reject."}`, false},
	} {
		var texts WithheldTexts
		texts.Add(new(event.Batch), value(t, c.withheld))
		if got := texts.MayBeIn(value(t, c.later)); got != c.quotes {
			t.Errorf("after %s, MayBeIn(%.80s) = %t, want %t", c.withheld, c.later, got, c.quotes)
		}
	}
}

// TestManyWithheldTexts checks that any error may quote a text if there are more than are remembered.
func TestManyWithheldTexts(t *testing.T) {
	for name, c := range map[string]struct {
		n    int
		text string
		all  bool
	}{
		"the limit": {1024, "a%d", false}, "one more": {1025, "a%d", true}, "one again": {2000, "abc", false},
		"long ones": {300, strings.Repeat("x", 256) + "%d", false}, "many long ones": {300, "%d" + strings.Repeat("x", 256), true},
	} {
		var texts WithheldTexts
		for i := range c.n {
			text := c.text
			if strings.Contains(text, "%d") {
				text = fmt.Sprintf(text, i)
			}
			texts.Add(new(event.Batch), value(t, quoted(text)))
		}
		if got := texts.MayBeIn(value(t, quoted("other"))); got != c.all {
			t.Errorf("%s: MayBeIn = %t, want %t", name, got, c.all)
		}
	}
	var texts WithheldTexts
	texts.Miss(dialect.Frame{Frame: sse.Frame{Data: []byte(`{"kind":"internal"`)}})
	if !texts.MayBeIn(value(t, quoted("other"))) || texts.MayBeIn(strictjson.Value{}) {
		t.Error("after an unreadable frame, an error does not count as a quote, or a frame without an error does")
	}
}
