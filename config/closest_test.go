package config

import (
	"strings"
	"testing"
)

// TestClosest checks which misspelled words get a suggestion.
func TestClosest(t *testing.T) {
	words := []string{"name", "proxy", "dialect", "agents_as_tools"}
	for word, want := range map[string]string{
		"names": "name", "naem": "name", "Name": "name", "porxy": "proxy", "proxi": "proxy", "dialekt": "dialect",
		"agents-as-tools": "agents_as_tools", "agentsAsTools": "agents_as_tools", "agent_as_tool": "agents_as_tools",
		"": "", "tail": "", "file": "", "colour": "", "tools": "", "dia": "", strings.Repeat("a", 100): "",
	} {
		if got := closest(word, words); got != want {
			t.Errorf("closest(%q) = %q; want %q", word, got, want)
		}
	}
	if got := closest("name", nil); got != "" {
		t.Errorf("closest() without words = %q, want none", got)
	}
}
