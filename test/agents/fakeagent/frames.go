package fakeagent

import (
	"io"
	"net/http"
	"os"
)

// CallFrame, ResponseFrame and FinalFrame are the frames of one ADK run. Its tool works between the first and the second.
const (
	CallFrame     = `data: {"author":"coordinator","invocationId":"e-1","content":{"role":"model","parts":[{"functionCall":{"id":"c-1","name":"survey","args":{}}}]},"finishReason":"STOP","modelVersion":"m-1"}` + "\n\n"
	ResponseFrame = `data: {"author":"coordinator","invocationId":"e-1","content":{"role":"user","parts":[{"functionResponse":{"id":"c-1","name":"survey","response":{"ok":true}}}]}}` + "\n\n"
	FinalFrame    = `data: {"author":"coordinator","invocationId":"e-1","content":{"role":"model","parts":[{"text":"done"}]},"finishReason":"STOP","modelVersion":"m-2"}` + "\n\n"
)

// Run is a whole ADK run.
const Run = CallFrame + ResponseFrame + FinalFrame

// RunMain is the program "run-agent ADDRESS". It answers each request with Run, a frame at a time.
func RunMain() {
	panic(http.ListenAndServe(os.Args[1], http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		for _, frame := range []string{CallFrame, ResponseFrame, FinalFrame} {
			_, _ = io.WriteString(w, frame)
			_ = http.NewResponseController(w).Flush()
		}
	})))
}
