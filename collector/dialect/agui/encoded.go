package agui

import (
	"bytes"

	"github.com/delegraph/delegraph/collector/lenient"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// encodesInternal reports whether a string in the application's value of a frame is JSON that calls itself internal. Mastra sends its
// questions as such strings.
//
// Source: src/mastra.ts of @ag-ui/mastra.
func encodesInternal(k *kind, v strictjson.Value) bool {
	switch k.name {
	case typeCustom:
		return lenient.HasEncodedInternal(&table, v.Get("value"))
	case typeActivitySnapshot:
		return lenient.HasEncodedInternal(&table, v.Get("content"))
	case typeActivityDelta:
		return lenient.HasEncodedInternal(&table, v.Get("patch"))
	}
	return false
}

// decoded returns the object or list in a string, or v itself.
func decoded(v strictjson.Value) strictjson.Value {
	for v.Kind() == strictjson.String {
		var doc strictjson.Doc
		text := bytes.TrimSpace(v.Text())
		if len(text) == 0 || bytes.IndexByte([]byte(`{["`), text[0]) < 0 || doc.Parse(text, lenient.MaxEncodedDepth) != nil {
			return v
		}
		v = doc.Root()
	}
	return v
}

// mayEncodeInternal reports whether a text looks like JSON, is not strict JSON, and may have a name that begins with "internal". Other
// readers accept more, such as NaN.
func mayEncodeInternal(text []byte) bool {
	start := bytes.TrimLeft(text, "[ \t\r\n")
	return len(start) > 0 && start[0] == '{' && bytes.Contains(lenient.Text(text), []byte(`"internal`))
}
