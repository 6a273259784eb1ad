package waterfall_test

import (
	"strings"
	"testing"

	"github.com/delegraph/delegraph/exporter/waterfall"
)

// TestText checks harmless names, and names with characters that do more than show text.
func TestText(t *testing.T) {
	const longest = 40
	for sent, want := range map[string]string{
		"plain": "plain", "שָׁלוֹם": "שָׁלוֹם", "日本語": "日本語", "nai\u0308ve": "nai\u0308ve", "می\u200cخواهم": "می\u200cخواهم", "👩\u200d🚒 ✈\ufe0f": "👩\u200d🚒 ✈\ufe0f",
		"\x1b[31mred\x07": "�[31mred�", "a\u202eb\u2066c\u200fd\u061c": "a�b�c�d�", "two\nlines\r": "two�lines�", "\u2028\u2029": "��", "a\x00b": "a�b",
		"bad\xffutf8\xc3": "bad�utf8�", "no\u00a0break\u3000": "no break ",
		"\u200b": "�", "\ufeffbom": "�bom", "so\u00adft": "so�ft", "\u115f\u3164\uffa0\u2800": "����", "\U000e0041": "�", "\ud7ff": "�",
		"\u200d\u200c\ufe0f": "�\u200c\ufe0f", "\u0301": "�", " \u0301": " �", "\u034f": "�",
		"z" + strings.Repeat("\u0335", 15) + "y": "z" + strings.Repeat("\u0335", 4) + "y",
		strings.Repeat("a", 40):                  strings.Repeat("a", 40), strings.Repeat("a", 41): strings.Repeat("a", 40) + "…",
		strings.Repeat("a", 39) + "ü": strings.Repeat("a", 39) + "…", strings.Repeat("\xff", 100): "�…", strings.Repeat("\x80", 100): "�…",
	} {
		if got := waterfall.Sanitize(sent, longest); got != want {
			t.Errorf("%q becomes %q, want %q", sent, got, want)
		}
	}
}
