package wire

import (
	"slices"
	"testing"
)

// TestWithMetadata checks that the members of metadata, in any spelling, follow the member that holds them.
func TestWithMetadata(t *testing.T) {
	var got []string
	for m := range WithMetadata(value(t, `{"a":1,"Metadata":{"b":2,"metadata":{"c":3}},"d":{"e":4}}`)) {
		name := m.Name.String()
		if m.InMetadata {
			name = "in " + name
		}
		got = append(got, name)
	}
	if want := []string{"a", "Metadata", "in b", "in metadata", "d"}; !slices.Equal(got, want) {
		t.Errorf("WithMetadata yields %q, want %q", got, want)
	}
}
