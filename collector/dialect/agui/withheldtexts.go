package agui

import (
	"github.com/delegraph/delegraph/collector/dialect/wire"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// quotesWithheld reports whether a frame has an error that quotes something withheld, or may quote it. The result of a call is searched
// only if it says that the tool failed.
func (d *decoder) quotesWithheld(k *kind, v strictjson.Value, b *event.Batch) bool {
	switch k.name {
	case typeRunError, typeSubagentError:
		return d.mayQuote(v)
	case typeToolResult:
		return (wire.HasError(v) || wire.HasError(b.Embedded(v.Get("content")))) && d.texts.MayBeIn(v.Get("content"), v.Get("error"))
	}
	return false
}

// mayQuote reports whether an error may quote something withheld: the arguments of a call without a result, or a text that is
// remembered.
func (d *decoder) mayQuote(failure strictjson.Value) bool {
	for i := range d.calls {
		if d.calls[i].isHidden {
			return true
		}
	}
	return d.texts.MayBeIn(failure.Get("message"), failure.Get("error"), failure.Get("code"))
}

// addWithheldTexts remembers the texts of a withheld frame that an error may quote. Those of messages are not remembered: a model writes
// them for the user.
func (d *decoder) addWithheldTexts(k *kind, v strictjson.Value, b *event.Batch) {
	if k.name != typeRaw && k.entity != entityMessage {
		d.texts.Add(b, v.Get("message"), v.Get("error"), v.Get("content"), v.Get("value"), v.Get("patch"))
	}
}

// hideCall records that a frame of a call is withheld. If the call is not remembered, its arguments are not either.
func (d *decoder) hideCall(of *call) {
	switch isWithheld := d.startWithheld || d.filtered; {
	case isWithheld && of == nil:
		d.texts.Overflow()
	case isWithheld:
		of.isHidden = true
	}
}

// addWithheldArgs remembers the arguments of a withheld call.
func (d *decoder) addWithheldArgs(ended *call, b *event.Batch) {
	switch args := ended.arguments(); {
	case !ended.isHidden:
	case args.Exists():
		d.texts.Add(b, args)
	case len(ended.args) > 0: // cut, or no JSON
		d.texts.Overflow()
	}
}
