package strictjson

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode"
)

// TestFold goes through all of Unicode: equal keys must mean what
// strings.EqualFold means, and a key must not be longer than its name.
func TestFold(t *testing.T) {
	keys := map[string]rune{}
	for r := range rune(unicode.MaxRune + 1) {
		if 0xd800 <= r && r <= 0xdfff || r == '\\' {
			continue
		}
		name := []byte(string(r))
		key := string(appendKey(nil, name))
		if first, ok := keys[key]; !ok {
			keys[key] = r
		} else if !strings.EqualFold(string(first), string(r)) {
			t.Errorf("%U and %U have one key", first, r)
		}
		if next := unicode.SimpleFold(r); string(appendKey(nil, []byte(string(next)))) != key {
			t.Errorf("%U and %U have two keys", r, next)
		}
		if len(key) > len(name) {
			t.Errorf("%U: the key is longer", r)
		}
	}
}

func TestHashesAgree(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for range 10_000 {
		name := make([]byte, random.IntN(30))
		for i := range name {
			name[i] = "abcXYZ019_-. $~\x7f"[random.IntN(16)]
		}
		_, hash := scanName([]byte(`"`+string(name)+`":12345678`), 0)
		if want := cheapHash(appendKey(nil, name)); hash != want {
			t.Fatalf("%q: hash %x while reading, %x from the key", name, hash, want)
		}
	}
}

// alike is a name of the length of bits whose cheap hash depends on that length
// only: a name that is not among the others by the cheap hash alone.
func alike(bits, i int) string {
	name := make([]byte, bits)
	for bit := range name {
		name[bit] = "_\x7f"[i>>bit&1]
	}
	return string(name)
}

// TestNamesOfOneHash makes every name go through the table.
func TestNamesOfOneHash(t *testing.T) {
	if cheapHash([]byte(alike(9, 0))) != cheapHash([]byte(alike(9, 5))) {
		t.Fatal("alike no longer makes names of one hash")
	}
	testRepeats(t, func(i int) string { return alike(9, i) })
}

// TestNamesAfterCollision lets the table begin with the second name, so that the
// names after it have to get there too though their bits are free.
func TestNamesAfterCollision(t *testing.T) {
	testRepeats(t, func(i int) string {
		if i < 2 {
			return alike(1, i)
		}
		return fmt.Sprintf("n%d", i)
	})
}

// TestNamesOfAllBits has as many names as there are bits before two of them share
// one: by then the table must long be there, with room.
func TestNamesOfAllBits(t *testing.T) {
	var names []string
	seen := map[uint32]bool{}
	for i := 0; len(names) < 64; i++ {
		name := fmt.Sprintf("n%d", i)
		if bit := cheapHash([]byte(name)) % 64; !seen[bit] {
			seen[bit] = true
			names = append(names, name)
		}
	}
	testRepeats(t, func(i int) string {
		if i < len(names) {
			return names[i]
		}
		return fmt.Sprintf("m%d", i)
	})
}

func TestNames(t *testing.T) {
	testRepeats(t, func(i int) string { return fmt.Sprintf("name%d", i) })
	testRepeats(t, func(i int) string { return fmt.Sprintf("имя%d", i) })
	testRepeats(t, func(i int) string { return fmt.Sprintf(`\u0418мя%d`, i) })
}

// testRepeats repeats each name of objects below, at and above the sizes where
// the way of comparing changes, as the last name: as sent, and in capitals.
func testRepeats(t *testing.T, name func(i int) string) {
	t.Helper()
	var d Doc
	for _, size := range []int{1, 2, 3, 15, 16, 17, 18, 31, 32, 33, 34, 64, 65, 200} {
		var members []string
		for i := range size {
			// Objects within make names that are not neighbours in the index,
			// and tables on top of tables.
			value := "0"
			if i%7 == 3 {
				value = `{"x":{"_":0,"` + "\x7f" + `":[]},"y":0}`
			}
			members = append(members, fmt.Sprintf(`"%s":%s`, name(i), value))
		}
		object := "{" + strings.Join(members, ",")
		if err := d.Parse([]byte(object+"}"), 9); err != nil {
			t.Fatalf("%d names: %v", size, err)
		}
		if d.Root().Len() != size {
			t.Errorf("%d names: Len() = %d", size, d.Root().Len())
		}
		for i := range size {
			check(t, object+`,"`+name(i)+`":0}`, DuplicateName, len(object)+1)
			if capital := strings.ToUpper(name(i)); capital != name(i) {
				capital = strings.ReplaceAll(capital, `\U`, `\u`)
				check(t, object+`,"`+capital+`":0}`, FoldedName, len(object)+1)
			}
		}
	}
}

func check(t *testing.T, input string, reason Reason, offset int) {
	t.Helper()
	err := new(Doc).Parse([]byte(input), 9)
	if e, ok := err.(*Error); !ok || *e != (Error{reason, offset}) {
		t.Errorf("Parse(%q) = %v, want %s at byte %d", input, err, reason, offset)
	}
}
