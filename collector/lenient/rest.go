package lenient

import (
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// CheckRest replaces the result of CheckNames by that for rest: the frame without parts that the decoder withholds.
func CheckRest(b *event.Batch, p *Prefilter, rest []byte) event.NameCheck {
	var doc strictjson.Doc
	if doc.Parse(rest, MaxEncodedDepth) == nil {
		b.Names = checkNames(b.Table, p, doc.Root(), b.Table.Types[b.Type].Labels)
	}
	return b.Names
}
