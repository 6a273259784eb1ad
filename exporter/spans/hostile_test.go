package spans

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	common "go.opentelemetry.io/proto/otlp/common/v1"
	otlp "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/exporter/tracker"
)

// hostile has strings that an agent or the path of a request may contain.
var hostile = map[string]string{
	"control characters": "\x00\x01\x1b[31m\r\n\u2028\u202e",
	"markup":             `<script>alert("1")</script>`,
	"not UTF-8":          "a\xff\xfeb\xc3",
	"half UTF-8":         strings.Repeat("a\xff", event.MaxText),
	"cut in a rune":      strings.Repeat("a", event.MaxText-1) + "\u00fc",
	"long":               strings.Repeat("long ", 1<<18),
	"long and not UTF-8": strings.Repeat("\xff", 1<<20),
}

// TestHostile checks that hostile strings give valid OTLP of limited length.
func TestHostile(t *testing.T) {
	for name, s := range hostile {
		t.Run(name, func(t *testing.T) {
			r := delegation()
			fill(reflect.ValueOf(r), s)
			checkOTLP(t, lines(t, r))
		})
	}
}

// FuzzHostile checks that no string makes OTLP invalid.
func FuzzHostile(f *testing.F) {
	for _, s := range hostile {
		f.Add(s[:min(len(s), 4*event.MaxText)])
	}
	f.Fuzz(func(t *testing.T, s string) {
		r := delegation()
		fill(reflect.ValueOf(r), s)
		checkOTLP(t, lines(t, r))
	})
}

// fill sets every string that is reachable from v.
func fill(v reflect.Value, s string) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			fill(v.Elem(), s)
		}
	case reflect.Slice:
		for i := range v.Len() {
			fill(v.Index(i), s)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				fill(v.Field(i), s)
			}
		}
	case reflect.String:
		// Enumerations have types of their own and never come from the wire.
		if v.Type() == reflect.TypeFor[string]() {
			v.SetString(s)
		}
	}
}

// lines returns a run as OTLP/JSON.
func lines(t *testing.T, r *tracker.Run) []byte {
	t.Helper()
	var out bytes.Buffer
	l, err := NewJSONLines(t.Context(), &out)
	if err != nil {
		t.Fatal(err)
	}
	o := newObserver(NewProvider(sdktrace.NeverSample(), l, resource.Empty()))
	for _, op := range r.Operations {
		o.OperationEnded(r, op)
	}
	if err := l.ForceFlush(t.Context()); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// parse reads one line of OTLP/JSON. OTLP writes ids in hexadecimal, where ProtoJSON expects base64, which accepts the same
// digits.
func parse(t *testing.T, line []byte) []*otlp.Span {
	t.Helper()
	var data otlp.TracesData
	if err := protojson.Unmarshal(line, &data); err != nil {
		t.Fatalf("%v in %.200s", err, line)
	}
	if _, err := proto.Marshal(&data); err != nil {
		t.Fatal(err)
	}
	var spans []*otlp.Span
	for _, resource := range data.ResourceSpans {
		for _, scope := range resource.ScopeSpans {
			spans = append(spans, scope.Spans...)
		}
	}
	return spans
}

func hexID(t *testing.T, id []byte) string {
	t.Helper()
	digits := strings.ToLower(base64.StdEncoding.EncodeToString(id))
	if _, err := hex.DecodeString(digits); err != nil {
		t.Errorf("the id %s: %v", digits, err)
	}
	return digits
}

func checkOTLP(t *testing.T, line []byte) {
	t.Helper()
	spans := parse(t, line)
	if len(spans) != 7 {
		t.Errorf("the line has %d spans", len(spans))
	}
	for _, s := range spans {
		_, name, _ := strings.Cut(s.Name, " ")
		checkText(t, "name", name)
		checkAttributes(t, s.Attributes)
		for _, e := range s.Events {
			checkAttributes(t, e.Attributes)
		}
	}
}

func checkAttributes(t *testing.T, attributes []*common.KeyValue) {
	t.Helper()
	for _, a := range attributes {
		checkText(t, a.Key, a.Value.GetStringValue())
		for _, v := range a.Value.GetArrayValue().GetValues() {
			checkText(t, a.Key, v.GetStringValue())
		}
	}
}

func checkText(t *testing.T, name, s string) {
	t.Helper()
	if len(s) > event.MaxText || !utf8.ValidString(s) {
		t.Errorf("%s has %d bytes: %.40q", name, len(s), s)
	}
}
