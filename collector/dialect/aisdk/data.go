package aisdk

import (
	"bytes"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/dialect/wire"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/lenient"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// data reports a part that the application defines as an artifact. A later part with the same name and ID
// replaces it. A transient part is not reported, because the message does not keep it.
func (d *decoder) data(v strictjson.Value, b *event.Batch) {
	name := typeOf(v)[len(dataPrefix):]
	b.Internal = lenient.IsInternal(name)
	if transient, _ := v.Get("transient").Bool(); transient || b.Internal {
		return
	}
	content := v.Get("data")
	e := b.Add(event.KindArtifact)
	e.ID, e.Name = d.name(v.Get("id")), d.names.Truncate(name, dialect.MaxName)
	e.Artifact.Kind = event.ArtifactData
	if content.Exists() {
		e.Artifact.Bytes = event.Count{N: int64(len(content.Raw())), Known: true}
	}
	if content.Kind() > strictjson.Null {
		e.AddPiece(event.Piece{Kind: event.PieceData, Value: content})
	}
}

// file reports a file as an artifact. Its size is known only if its URL contains it.
func (d *decoder) file(v strictjson.Value, b *event.Batch) {
	d.continueResponse(nil, b)
	url := v.Get("url")
	e := b.Add(event.KindArtifact)
	e.Artifact.Kind, e.Artifact.Complete = event.ArtifactFile, true
	if _, digits, isData := bytes.Cut(url.Text(), []byte(";base64,")); isData && bytes.HasPrefix(url.Text(), []byte("data:")) {
		e.Artifact.Bytes = event.Count{N: wire.Base64Length(digits), Known: true}
	}
	if url.Kind() == strictjson.String {
		e.AddPiece(event.Piece{Kind: event.PieceURI, Media: d.name(v.Get("mediaType")), Value: url})
	}
}

// maxQuote bounds the texts of a citation, in bytes.
const maxQuote = 512

// source reports a source that the model used.
func (d *decoder) source(v strictjson.Value, b *event.Batch) {
	d.continueResponse(nil, b)
	d.cite(v, v.Get("sourceId"), b)
}

// cite reports a source, unless the answer has named it before.
func (d *decoder) cite(v, id strictjson.Value, b *event.Batch) {
	key := d.key(id)
	if d.cited.Contains(key) {
		return
	}
	if !d.hides() && key != "" {
		d.cited.Add(key)
	}
	e := b.Add(event.KindCitation)
	e.Name = d.agent
	e.Citation = event.Citation{
		Source: event.LimitText(v.First("title", "url").String(), maxQuote), Reference: event.LimitText(v.Get("filename").String(), maxQuote),
		URI: event.LimitText(v.Get("url").String(), maxQuote), Origin: event.OriginStructured,
	}
}

// readUsage reads the SDK's token counts of an answer from an application's metadata, if it names them as
// the SDK does. Cached and reasoning tokens are included in the others. The usage beside a total is that of the last step.
//
// Source: ai/src/types/usage.ts, LanguageModelUsage.
func readUsage(metadata strictjson.Value) event.Usage {
	v := metadata.First("totalUsage", "usage")
	usage := event.Usage{
		Input: dialect.Count(v.Get("inputTokens")), Output: dialect.Count(v.Get("outputTokens")),
		CacheRead: dialect.Count(v.Get("cachedInputTokens")), Reasoning: dialect.Count(v.Get("reasoningTokens")),
	}
	if known := dialect.Count(v.Get("inputTokenDetails").Get("cacheReadTokens")); known.Known {
		usage.CacheRead = known
	}
	if known := dialect.Count(v.Get("outputTokenDetails").Get("reasoningTokens")); known.Known {
		usage.Reasoning = known
	}
	return wire.WithTotal(usage, dialect.Count(v.Get("totalTokens")))
}
