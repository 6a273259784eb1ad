package agui

import (
	"bytes"
	"strconv"

	"github.com/delegraph/delegraph/collector/dialect/wire"
	"github.com/delegraph/delegraph/collector/lenient"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// copies finds the arguments and results of withheld calls in activities. Middleware makes activities from calls without naming them.
//
// Source: src/index.ts of @ag-ui/mcp-apps-middleware.
type copies struct {
	hashes      wire.Set[uint64]
	texts       wire.WithheldTexts // the same values as texts, which may be parts of longer ones
	missed      int                // the size from which an activity may have arguments that are not in hashes, in bytes; 0 if none may
	afterResult bool               // the last result of a call was withheld, or may have been
}

// minCopy is the least size of a value that counts as a copy, in bytes of its texts. A smaller one may be anything else.
const minCopy = minLong

// appActivities are activities that middleware makes from the last result of a call.
var appActivities = []string{"mcp-apps"}

// miss records that activities of at least a number of bytes may have arguments that are not remembered.
func (c *copies) miss(size int) {
	if c.missed == 0 || size < c.missed {
		c.missed = size
	}
}

// addArgs remembers the arguments of a withheld call, as far as they are known.
func (c *copies) addArgs(of *call) {
	switch args := of.arguments(); {
	case args.Exists():
		c.add(args)
	case of.lacksArgs:
		c.miss(1)
	case len(of.args) > maxArgs:
		c.miss(maxArgs / 8) // escapes and blanks may make arguments longer than an activity with them
	}
}

// addResult remembers a withheld result, which is a text or a list of parts with texts.
func (c *copies) addResult(content strictjson.Value) {
	c.add(content)
	for part := range content.Elements() {
		c.add(part.Get("text"))
	}
}

// add remembers a value, or the first line of a text that is no JSON.
func (c *copies) add(v strictjson.Value) {
	value := decoded(v)
	hash, size := hashOf(value, nil)
	if size < minCopy {
		return
	}
	c.hashes.Add(hash)
	text := value.Raw()
	if value.Kind() == strictjson.String {
		text, _, _ = bytes.Cut(bytes.TrimSpace(value.Text()), []byte("\n"))
	}
	c.texts.AddText(text)
}

// mayBeIn reports whether a value contains a copy, or may contain one.
func (c *copies) mayBeIn(v strictjson.Value) bool {
	if c.missed > 0 && len(v.Raw()) >= c.missed {
		return true
	}
	return c.texts.MayBeInLong(v) || c.areIn(v)
}

// areIn reports whether a value contains a copy, not as a part of a longer text.
func (c *copies) areIn(v strictjson.Value) (found bool) {
	if c.hashes.Len() > 0 {
		hashOf(v, func(_ strictjson.Value, hash uint64, size int) {
			found = found || size >= minCopy && c.hashes.MayContain(hash)
		})
	}
	return found
}

// hashOf returns a hash of a value and the size of its texts. It calls visit, if it is not nil, for each value in v and in strings with
// JSON, and with the part of v that is or contains it. The order of members and the form of numbers do not count. Of a text, only the
// first line does.
func hashOf(v strictjson.Value, visit func(part strictjson.Value, hash uint64, size int)) (hash uint64, size int) {
	var text []byte
	switch v.Kind() {
	case strictjson.Object:
		sum := uint64(0)
		for name, value := range v.Members() {
			h, n := hashOf(value, visit)
			sum, size = sum+wire.Hash(name.String()+":"+strconv.FormatUint(h, 36)), size+len(name.Text())+n
		}
		text = strconv.AppendUint([]byte("{"), sum, 36)
	case strictjson.Array:
		text = []byte("[")
		for element := range v.Elements() {
			h, n := hashOf(element, visit)
			text, size = append(strconv.AppendUint(text, h, 36), ','), size+n
		}
	case strictjson.Number:
		number, _ := strconv.ParseFloat(string(v.Raw()), 64)
		text = strconv.AppendFloat(nil, number, 'g', -1, 64)
		size = len(text)
	case strictjson.String:
		if inner := decoded(v); inner != v && visit != nil {
			hashOf(inner, func(_ strictjson.Value, hash uint64, size int) { visit(v, hash, size) })
		}
		line, _, _ := bytes.Cut(bytes.TrimSpace(v.Text()), []byte("\n"))
		text, size = append([]byte(`"`), line...), len(line)
	default:
		text = v.Raw()
	}
	if hash = wire.Hash(string(text)); visit != nil {
		visit(v, hash, size)
	}
	return hash, size
}

// repeatsCall reports whether a value of an activity contains the arguments or the result of a withheld call, or may contain them.
func (d *decoder) repeatsCall(v strictjson.Value) bool {
	for i := range d.calls {
		if open := &d.calls[i]; open.isHidden && !open.areArgsCopied {
			d.copies.addArgs(open)
			open.areArgsCopied = true
		}
	}
	return d.copies.mayBeIn(v)
}

// isMadeFromWithheld reports whether a frame of an activity is, or may be, made from something withheld that it does not name.
func (d *decoder) isMadeFromWithheld(activity strictjson.Value) bool {
	if d.copies.afterResult && activity.Get("content").Exists() && lenient.MatchesAny(activity.Get("activityType").Text(), appActivities) {
		return true
	}
	for _, v := range [...]strictjson.Value{activity.Get("content"), activity.Get("patch")} {
		if anyObject(v, d.isAboutUnread) || d.repeatsCall(v) {
			return true
		}
	}
	return false
}

// addResultCopy remembers a result if it is withheld, wholly or in part.
func (d *decoder) addResultCopy(k *kind, v strictjson.Value, isWithheld bool) {
	if k.name != typeToolResult {
		return
	}
	call := d.name(v.Get(k.idMember))
	d.addAnswered(call)
	if d.copies.afterResult = isWithheld; isWithheld {
		d.addWithheldResult(call, v.Get("content"))
	}
}

// addWithheldResult remembers a withheld result of a call. If it is the answer of an internal delegate, the result of a call around that
// one may repeat it: a team of Agno answers with all that its members said.
//
// Source: adelegate_task_to_member in agno/team/_default_tools.py of agno 3.1.
func (d *decoder) addWithheldResult(call string, content strictjson.Value) {
	d.copies.addResult(content)
	if d.withheld.answers.Contains(call) {
		d.answers.addResult(content)
	}
}
