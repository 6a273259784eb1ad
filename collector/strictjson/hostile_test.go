package strictjson

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

// TestHostile checks inputs with up to a million names or values, which quadratic code would not finish, and
// the memory that they take.
func TestHostile(t *testing.T) {
	inputs := hostile(1 << 20)
	for name, input := range hostile(8 << 20) {
		if strings.HasPrefix(name, "members") {
			inputs[name] = input
		}
	}
	for name, input := range inputs {
		t.Run(name, func(t *testing.T) {
			var d Doc
			err := d.Parse(input, 128)
			if name == "too deep" {
				if e, ok := err.(*Error); !ok || *e != (Error{Depth, 128}) {
					t.Errorf("Parse() = %v, want %v", err, Error{Depth, 128})
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			walked := 0
			for range d.Root().Elements() {
				walked++
			}
			for range d.Root().Members() {
				walked++
			}
			if got := d.Root().Len(); got != walked {
				t.Errorf("Len() = %d, want %d", got, walked)
			}
			memory := 16*cap(d.nodes) + 4*cap(d.table)
			if limit := 8*len(input) + 64<<10; memory > limit {
				t.Errorf("the index and tables take %d bytes for %d bytes of input, want at most %d", memory, len(input), limit)
			}
			if err := d.Parse([]byte("0"), 0); err != nil {
				t.Fatal(err)
			}
			if kept := 16*cap(d.nodes) + 4*cap(d.table) + cap(d.key); kept > 288<<10 {
				t.Errorf("the Doc keeps %d bytes, want at most 288 KiB", kept)
			}
		})
	}
}

// TestTooLarge checks that an input over maxSize is rejected.
func TestTooLarge(t *testing.T) {
	if testing.Short() {
		t.Skip("takes half a gigabyte of address space")
	}
	input := make([]byte, maxSize+1)
	if e, ok := new(Doc).Parse(input, 1).(*Error); !ok || *e != (Error{Syntax, maxSize}) {
		t.Errorf("Parse() = %v, want %v", e, Error{Syntax, maxSize})
	}
}

// hostile returns inputs of about size bytes that are meant to cost time or memory.
func hostile(size int) map[string][]byte {
	members := func(member func(i int) string) []byte {
		var b bytes.Buffer
		b.WriteByte('{')
		for i := 0; b.Len() < size; i++ {
			if i > 0 {
				b.WriteByte(',')
			}
			b.WriteString(member(i))
		}
		b.WriteByte('}')
		return b.Bytes()
	}
	repeat := func(before, unit, after string) []byte {
		return []byte(before + strings.Repeat(unit, size/len(unit)) + after)
	}
	long := strings.Repeat("k", size/smallObject)
	return map[string][]byte{
		"long string":                 repeat(`"`, "x", `"`),
		"long string escaped":         repeat(`"`, `\u006a`, `"`),
		"long string Cyrillic":        repeat(`"`, "ж", `"`),
		"long name Cyrillic":          repeat(`{"`, "ж", `":0}`),
		"long name escaped":           repeat(`{"`, `\u0416`, `":0}`),
		"long number":                 repeat("", "7", ""),
		"numbers":                     repeat("[0", ",0", "]"),
		"strings":                     repeat(`[""`, `,""`, "]"),
		"spaces":                      repeat("", " ", "0"),
		"too deep":                    repeat("", "[", ""),
		"members":                     members(func(i int) string { return fmt.Sprintf(`"%x":0`, i) }),
		"members escaped":             members(func(i int) string { return fmt.Sprintf(`"\u0416%x":0`, i) }),
		"members with one cheap hash": members(func(i int) string { return fmt.Sprintf(`"%s":0`, collidingName(20, i)) }),
		"long similar names":          members(func(i int) string { return fmt.Sprintf(`"%s_%d":0`, long, i) }),
		"many tables":                 repeat(`[0`, `,{"_":0,"`+"\x7f"+`":0}`, "]"),
		"nested tables": []byte(strings.Repeat(`{"_":0,"`+"\x7f"+`":0,"x":`, 128) +
			"0" + strings.Repeat("}", 128)),
	}
}
