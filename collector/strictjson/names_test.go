package strictjson

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode"
)

// TestFold checks for all of Unicode that keys are equal exactly if strings.EqualFold reports it, and that a
// key is not longer than its name.
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
			t.Errorf("%U and %U have the same key", first, r)
		}
		if next := unicode.SimpleFold(r); string(appendKey(nil, []byte(string(next)))) != key {
			t.Errorf("%U and %U have different keys", r, next)
		}
		if len(key) > len(name) {
			t.Errorf("%U: the key is longer than the name", r)
		}
	}
}

// TestHashesAgree checks that the hash computed while reading a name is that of its key.
func TestHashesAgree(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for range 10_000 {
		name := make([]byte, random.IntN(30))
		for i := range name {
			name[i] = "abcXYZ019_-. $~\x7f"[random.IntN(16)]
		}
		_, hash := scanName([]byte(`"`+string(name)+`":12345678`), 0)
		if want := cheapHash(appendKey(nil, name)); hash != want {
			t.Fatalf("scanName(%q) has the hash %x, want %x as of its key", name, hash, want)
		}
	}
}

// collidingName returns the name number i of the given length. All names of a length have the same cheap
// hash.
func collidingName(bits, i int) string {
	name := make([]byte, bits)
	for bit := range name {
		name[bit] = "_\x7f"[i>>bit&1]
	}
	return string(name)
}

// TestCollidingNames checks names with one hash, which must all use the table.
func TestCollidingNames(t *testing.T) {
	if cheapHash([]byte(collidingName(9, 0))) != cheapHash([]byte(collidingName(9, 5))) {
		t.Fatal("the names of collidingName have different hashes")
	}
	testRepeats(t, func(i int) string { return collidingName(9, i) })
}

// TestNamesAfterCollision checks names after a collision of the first two. They must use the table although
// their bits are not set.
func TestNamesAfterCollision(t *testing.T) {
	testRepeats(t, func(i int) string {
		if i < 2 {
			return collidingName(1, i)
		}
		return fmt.Sprintf("n%d", i)
	})
}

// TestNamesWithAllBits checks names that set all bits before two of them share one. The table must exist and
// have room by then.
func TestNamesWithAllBits(t *testing.T) {
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

// TestNames checks ASCII, other and escaped names.
func TestNames(t *testing.T) {
	testRepeats(t, func(i int) string { return fmt.Sprintf("name%d", i) })
	testRepeats(t, func(i int) string { return fmt.Sprintf("имя%d", i) })
	testRepeats(t, func(i int) string { return fmt.Sprintf(`\u0418мя%d`, i) })
}

// testRepeats checks that each name is rejected if it is repeated at the end of an object, unchanged or in
// capitals. The objects have about the sizes where the comparison changes.
func testRepeats(t *testing.T, name func(i int) string) {
	t.Helper()
	var d Doc
	for _, size := range []int{1, 2, 3, 15, 16, 17, 18, 31, 32, 33, 34, 64, 65, 200} {
		var members []string
		for i := range size {
			// Nested objects separate names in the index and stack tables.
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
			t.Errorf("Len() = %d, want %d", d.Root().Len(), size)
		}
		for i := range size {
			checkError(t, object+`,"`+name(i)+`":0}`, DuplicateName, len(object)+1)
			if capital := strings.ToUpper(name(i)); capital != name(i) {
				capital = strings.ReplaceAll(capital, `\U`, `\u`)
				checkError(t, object+`,"`+capital+`":0}`, FoldedName, len(object)+1)
			}
		}
	}
}

func checkError(t *testing.T, input string, reason Reason, offset int) {
	t.Helper()
	err := new(Doc).Parse([]byte(input), 9)
	if e, ok := err.(*Error); !ok || *e != (Error{reason, offset}) {
		t.Errorf("Parse(%q) = %v, want %s at byte %d", input, err, reason, offset)
	}
}

// TestFreeMembers parses objects with names that differ only by case, which are allowed in the members that a caller lists.
func TestFreeMembers(t *testing.T) {
	many := `"b":1,"c":2,"d":3,"e":4,"f":5,"g":6,"h":7,"i":8,"j":9,"k":10,"l":11,"m":12,"n":13,"o":14,"p":15,"q":16,"r":17,"Q":18,"R":19`
	for input, want := range map[string]Reason{
		`{"free":{"Q":1,"q":2}}`:                 "",
		`{"a":[{"free":[{"x":{"Q":1,"q":2}}]}]}`: "",
		`{"free":{"x":1,` + many + `}}`:          "",
		`{"free":{"\u0051":1,"q":2}}`:            "",
		`{"free":{"é":1,"É":2}}`:                 "",
		`{"free":{"q":1,"q":2}}`:                 DuplicateName,
		`{"free":{"q":1,"\u0071":2}}`:            DuplicateName,
		`{"free":{"x":1,` + many + `,"R":1}}`:    DuplicateName,
		`{"free":{"é":1,"\u00e9":2}}`:            DuplicateName,
		`{"free":1,"Q":1,"q":2}`:                 FoldedName,
		`{"free":{"Q":1},"Q":1,"q":2}`:           FoldedName,
		`{"free":1,"Free":2}`:                    FoldedName,
		`{"Free":{"Q":1,"q":2}}`:                 FoldedName,
		`{"fr\u0065e":{"Q":1,"q":2}}`:            FoldedName,
		`{"a":{"x":1,` + many + `}}`:             FoldedName,
	} {
		var d Doc
		var got Reason
		if err := d.Parse([]byte(input), 8, "free"); err != nil {
			got = err.(*Error).Reason
		}
		if got != want {
			t.Errorf("%s is refused for %q, want %q", input, got, want)
		}
	}
	var d Doc
	if err := d.Parse([]byte(`{"Q":1,"q":2}`), 8, ""); err != nil {
		t.Errorf("anywhere: %v", err)
	}
	if err := d.Parse([]byte(`{"Q":1,"q":2}`), 8); err == nil {
		t.Error("a later Parse does not forget the members")
	}
}
