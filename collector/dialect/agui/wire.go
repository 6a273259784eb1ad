package agui

import (
	"slices"
	"strings"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/dialect/wire"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// readUsage reads the token counts of one model. Cached and reasoning tokens are included in the
// input and output counts.
func readUsage(v strictjson.Value) event.Usage {
	usage := event.Usage{
		Input: dialect.Count(v.Get("inputTokens")), Output: dialect.Count(v.Get("outputTokens")),
		CacheRead: dialect.Count(v.Get("cachedInputTokens")), Reasoning: dialect.Count(v.Get("reasoningTokens")),
	}
	return wire.WithTotal(usage, dialect.Count(v.Get("totalTokens")))
}

// readPatch returns the keys that a JSON Patch changes.
func readPatch(v strictjson.Value) (s event.State) {
	for op := range v.Elements() {
		key, _, _ := strings.Cut(strings.TrimPrefix(op.Get("path").String(), "/"), "/")
		if key = dialect.Name(unescape.Replace(key)); key != "" && len(s.Keys) < wire.MaxKeys && !slices.Contains(s.Keys, key) {
			s.Keys = append(s.Keys, key)
		}
	}
	return s
}

// unescape decodes a reference token of RFC 6901.
var unescape = strings.NewReplacer("~1", "/", "~0", "~")
