package stream

import (
	"testing"

	"github.com/delegraph/delegraph/collector/budget"
)

// TestUnsentFramesAreBounded checks that frames that are not written yet stay within their memory limit, that one frame
// always has room, and that nothing is charged after the last frame.
func TestUnsentFramesAreBounded(t *testing.T) {
	whole := budget.New(10)
	u := unsentMemory{account: whole.Account("subscribers", 1, 1)}
	if !u.add(20) || u.add(1) {
		t.Error("the first frame must have room, and the second none")
	}
	u.remove(20)
	if !u.add(6) || u.add(6) || !u.add(4) {
		t.Error("frames must have room up to the limit and no further")
	}
	u.remove(6)
	u.remove(4)
	if used := whole.Usage()[0]; used.Bytes != 0 || used.Shed != 0 {
		t.Errorf("%+v is charged without frames", used)
	}
}
