package agui

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/event"
)

// TestMemory checks that the memory of long messages is freed when they turn out not to be answers.
func TestMemory(t *testing.T) {
	const times = 200
	long := strings.Repeat("x", 64<<10)
	d := Dialect{}.New(&event.Stream{}).(*decoder)
	send := func(format string, args ...any) {
		d.Decode(dialect.Frame{JSON: parse(t, fmt.Sprintf(format, args...))}, &event.Batch{Table: &table})
	}
	send("%s", start)
	before := heap()
	for i := range times {
		send(`{"type":"TEXT_MESSAGE_CHUNK","messageId":"m%d","delta":"%s"}`, i, long)
		send(`{"type":"TEXT_MESSAGE_CHUNK","messageId":"m%d","role":"system"}`, i)
		send(`{"type":"TEXT_MESSAGE_END","messageId":"m%d"}`, i)
	}
	if each := (int64(heap()) - int64(before)) / times; each > 8<<10 || len(d.messages.closed) != times {
		t.Errorf("%d messages are closed and keep %d bytes each, want %d messages and at most 8 KiB each", len(d.messages.closed), each, times)
	}
	runtime.KeepAlive(d)
}

func heap() uint64 {
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.HeapAlloc
}
