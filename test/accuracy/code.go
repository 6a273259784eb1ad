package accuracy

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/delegraph/delegraph/test/agents/adkshapes"
)

// checkCode fails the test unless an account has an operation for each piece of code that the run executed, and takes these out: ADK has
// no spans of them, whoever executed the code, so that there is nothing to compare them with.
func (a *Account) checkCode(t testing.TB, run adkshapes.Recording) {
	t.Helper()
	isCode := func(o Operation) bool { return o.Kind == "execute_tool" && o.Name == "code_execution" }
	executed := 0
	for i := len(a.Operations) - 1; i >= 0; i-- {
		if !isCode(a.Operations[i]) {
			continue
		}
		executed++
		a.Operations = slices.Delete(a.Operations, i, i+1)
		for j := range a.Operations {
			if a.Operations[j].Parent > i {
				a.Operations[j].Parent--
			}
		}
	}
	if want := codeIn(run); executed != want {
		t.Errorf("%d operations of executed code, not %d", executed, want)
	}
}

// codeIn counts the pieces of code in a run's whole frames: partial ones are repeated.
func codeIn(run adkshapes.Recording) (n int) {
	for _, f := range run.Frames {
		var e struct {
			Partial bool
			Content struct {
				Parts []struct{ ExecutableCode *struct{} }
			}
		}
		if json.Unmarshal([]byte(f.Data), &e) != nil || e.Partial {
			continue
		}
		for _, p := range e.Content.Parts {
			if p.ExecutableCode != nil {
				n++
			}
		}
	}
	return n
}
