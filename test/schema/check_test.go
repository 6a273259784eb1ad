package schema

import (
	"encoding/json"
	"testing"
)

// TestCheck checks each keyword with a value that passes and one that does not.
func TestCheck(t *testing.T) {
	for s, c := range map[string]struct{ good, bad string }{
		`{"type":"string"}`:                {`"a"`, `1`},
		`{"type":["integer","null"]}`:      {`null`, `1.5`},
		`{"type":"number"}`:                {`1.5`, `"1.5"`},
		`{"type":"boolean"}`:               {`true`, `"true"`},
		`{"type":"array"}`:                 {`[]`, `{}`},
		`{"type":"object"}`:                {`{}`, `[]`},
		`{"enum":["a",1]}`:                 {`1`, `2`},
		`{"const":"a"}`:                    {`"a"`, `"b"`},
		`{"minimum":1}`:                    {`1`, `0`},
		`{"maximum":1}`:                    {`"text"`, `2`},
		`{"minItems":1}`:                   {`[1]`, `[]`},
		`{"maxItems":1}`:                   {`7`, `[1,2]`},
		`{"minProperties":1}`:              {`{"a":1}`, `{}`},
		`{"maxProperties":1}`:              {`9`, `{"a":1,"b":2}`},
		`{"minLength":2}`:                  {`"äö"`, `"a"`},
		`{"maxLength":1}`:                  {`"ä"`, `"ab"`},
		`{"pattern":"^a+$"}`:               {`"aa"`, `"ab"`},
		`{"required":["a"]}`:               {`{"a":null}`, `{}`},
		`{"items":{"type":"string"}}`:      {`["a"]`, `["a",1]`},
		`{"properties":{"a":{"const":1}}}`: {`{"b":2}`, `{"a":2}`},
		`{"properties":{"a":{}},"additionalProperties":false}`:                {`{"a":2}`, `{"b":2}`},
		`{"additionalProperties":{"type":"string"}}`:                          {`{"a":"b"}`, `{"a":2}`},
		`{"propertyNames":{"enum":["a"]}}`:                                    {`{"a":1}`, `{"b":1}`},
		`{"allOf":[{"minimum":1},{"maximum":2}]}`:                             {`2`, `3`},
		`{"anyOf":[{"const":1},{"const":2}]}`:                                 {`2`, `3`},
		`{"oneOf":[{"minimum":1},{"minimum":2}]}`:                             {`1`, `2`},
		`{"if":{"const":1},"then":{"type":"string"}}`:                         {`2`, `1`},
		`{"$ref":"#/$defs/A","$defs":{"A":{"type":"string"}},"title":"text"}`: {`"a"`, `1`},
	} {
		var parsed Schema
		var good, bad any
		for text, into := range map[string]any{s: &parsed, c.good: &good, c.bad: &bad} {
			if err := json.Unmarshal([]byte(text), into); err != nil {
				t.Fatal(err)
			}
		}
		if fault := Check(parsed, good); fault != "" {
			t.Errorf("%s refuses %s: %s", s, c.good, fault)
		}
		if Check(parsed, bad) == "" {
			t.Errorf("%s takes %s", s, c.bad)
		}
	}
	if Check(Schema{"unevaluatedItems": false}, 1.0) == "" {
		t.Error("an unknown keyword is ignored")
	}
}
