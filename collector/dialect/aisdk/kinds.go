package aisdk

import (
	"bytes"

	"github.com/delegraph/delegraph/collector/dialect/wire"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/lenient"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// Types of chunks.
//
// Source: ai/src/ui-message-stream/ui-message-chunks.ts of ai 6.0 and 7.0.
const (
	typeStart            = "start"
	typeFinish           = "finish"
	typeAbort            = "abort"
	typeError            = "error"
	typeStartStep        = "start-step"
	typeFinishStep       = "finish-step"
	typeResetStep        = "reset-step" // 7.0: removes what the current step has brought
	typeTextStart        = "text-start"
	typeTextDelta        = "text-delta"
	typeTextEnd          = "text-end"
	typeReasoningStart   = "reasoning-start"
	typeReasoningDelta   = "reasoning-delta"
	typeReasoningEnd     = "reasoning-end"
	typeReasoningFile    = "reasoning-file" // 7.0
	typeToolInputStart   = "tool-input-start"
	typeToolInputDelta   = "tool-input-delta"
	typeToolInput        = "tool-input-available"
	typeToolInputError   = "tool-input-error"
	typeApprovalRequest  = "tool-approval-request"
	typeApprovalResponse = "tool-approval-response" // 7.0: the server itself decided
	typeToolOutput       = "tool-output-available"
	typeToolOutputError  = "tool-output-error"
	typeToolOutputDenied = "tool-output-denied"
	typeSourceURL        = "source-url"
	typeSourceDocument   = "source-document"
	typeFile             = "file"
	typeMetadata         = "message-metadata"
	typeCustom           = "custom"           // 7.0: of a provider of models
	typeSteering         = "steering-message" // 7.0: a user's message during the answer
)

// Types of frames that the protocol does not name.
const (
	dataPrefix = "data-"          // a part that the application defines; it chooses the rest of the name
	typeData   = dataPrefix + "*" // any such part
	typeDone   = "[DONE]"         // the end of the stream, which is not JSON

	typeCutOffTextEnd      = "end of a cut-off text" // the end of a part whose start left and of which a piece was withheld
	typeCutOffReasoningEnd = "end of a cut-off thought"

	typeContinuedText    = "text of an earlier stream" // a piece of a text whose start was on another stream
	typeContinuedThought = "thought of an earlier stream"
)

// kind describes a type of chunk.
type kind struct {
	name      string
	required  []string // required string members
	present   []string // required members of any type
	ambiguous bool     // other protocols could use this type
	decode    func(*decoder, strictjson.Value, *event.Batch)
}

// dataKind describes the parts that the application defines. Their types begin with dataPrefix.
var dataKind = kind{name: typeData, present: []string{"data"}, ambiguous: true, decode: (*decoder).data}

// kinds holds the other types of chunks, by name.
var kinds = wire.IndexByName(func(k *kind) string { return k.name },
	kind{name: typeStart, ambiguous: true, decode: (*decoder).start},
	kind{name: typeFinish, ambiguous: true, decode: (*decoder).finish},
	kind{name: typeAbort, ambiguous: true, decode: (*decoder).abort},
	kind{name: typeError, required: []string{"errorText"}, decode: (*decoder).fail},
	kind{name: typeStartStep, decode: (*decoder).startStep},
	kind{name: typeFinishStep, decode: (*decoder).finishStep},
	kind{name: typeResetStep, decode: (*decoder).resetStep},
	kind{name: typeTextStart, required: []string{"id"}, decode: (*decoder).partStart},
	kind{name: typeTextDelta, required: []string{"id", "delta"}, decode: (*decoder).partDelta},
	kind{name: typeTextEnd, required: []string{"id"}, decode: (*decoder).partEnd},
	kind{name: typeReasoningStart, required: []string{"id"}, decode: (*decoder).partStart},
	kind{name: typeReasoningDelta, required: []string{"id", "delta"}, decode: (*decoder).partDelta},
	kind{name: typeReasoningEnd, required: []string{"id"}, decode: (*decoder).partEnd},
	kind{name: typeReasoningFile, required: []string{"url", "mediaType"}, decode: (*decoder).modelPart},
	kind{name: typeToolInputStart, required: []string{"toolCallId", "toolName"}, decode: (*decoder).toolInputStart},
	kind{name: typeToolInputDelta, required: []string{"toolCallId", "inputTextDelta"}, decode: (*decoder).toolInputDelta},
	kind{name: typeToolInput, required: []string{"toolCallId", "toolName"}, decode: (*decoder).toolInput},
	kind{name: typeToolInputError, required: []string{"toolCallId", "toolName", "errorText"}, decode: (*decoder).toolInputError},
	kind{name: typeApprovalRequest, required: []string{"approvalId", "toolCallId"}, decode: (*decoder).approvalRequest},
	kind{name: typeApprovalResponse, required: []string{"approvalId"}, decode: (*decoder).approvalResponse},
	kind{name: typeToolOutput, required: []string{"toolCallId"}, decode: (*decoder).toolOutput},
	kind{name: typeToolOutputError, required: []string{"toolCallId", "errorText"}, decode: (*decoder).toolOutputError},
	kind{name: typeToolOutputDenied, required: []string{"toolCallId"}, decode: (*decoder).toolOutputDenied},
	kind{name: typeSourceURL, required: []string{"sourceId", "url"}, decode: (*decoder).source},
	kind{name: typeSourceDocument, required: []string{"sourceId", "mediaType", "title"}, decode: (*decoder).source},
	kind{name: typeFile, required: []string{"url", "mediaType"}, ambiguous: true, decode: (*decoder).file},
	kind{name: typeMetadata, present: []string{"messageMetadata"}, decode: (*decoder).other},
	kind{name: typeCustom, required: []string{"kind"}, ambiguous: true, decode: (*decoder).modelPart},
	kind{name: typeSteering, required: []string{"id"}, present: []string{"parts"}, decode: (*decoder).other},
)

// typeOf returns the type of a chunk. It removes the mark "internal": internal-text-delta is read as text-delta.
func typeOf(v strictjson.Value) []byte { return lenient.WithoutMark(v.Get("type").Text()) }

// kindOf returns the kind of a chunk, or nil if the protocol has none of its type.
func kindOf(v strictjson.Value) *kind {
	name := typeOf(v)
	if bytes.HasPrefix(name, []byte(dataPrefix)) {
		return &dataKind
	}
	return kinds[string(name)]
}
