package harness

import (
	"os"
	"testing"

	"github.com/delegraph/delegraph/internal/settings"
	"github.com/delegraph/delegraph/test/agents/recorded"
)

// OtherRecordings returns the recordings of every dialect but ADK and Looopy, by dialect.
func OtherRecordings(t *testing.T) map[string][][]byte {
	t.Helper()
	all := map[string][][]byte{}
	for _, name := range settings.DialectNames() {
		if name == "adk" || name == "looopy" {
			continue
		}
		for _, file := range recorded.Files(t, "../../../collector/dialect/"+name+"/testdata") {
			content, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			all[name] = append(all[name], content)
		}
	}
	return all
}
