package a2a

import (
	"slices"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/dialect/wire"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// addSaid adds the texts of parts.
func (r *contentReader) addSaid(parts strictjson.Value) {
	for v := range parts.Elements() {
		text := v.Get("text")
		if !text.Exists() {
			continue
		}
		isThought := wire.IsMarkedThought(v)
		if r.d.relayed.Any() { // the calling agent marks all texts
			isThought = r.d.relayed.Have(text)
		}
		if r.said = append(r.said, text); !isThought {
			r.spoken = append(r.spoken, text)
		}
	}
}

// answers returns the texts of an update without thoughts and, if it has some, also with them. ADK copies an answer without its thoughts.
// If all texts are thoughts, they may be the answer of a remote agent: what it sends while its task works is marked so.
func (r *contentReader) answers() [][]strictjson.Value {
	if len(r.spoken) == 0 || len(r.spoken) == len(r.said) {
		return [][]strictjson.Value{r.said}
	}
	return [][]strictjson.Value{r.spoken, r.said}
}

// addHidden adds the texts and the data of parts.
func (r *contentReader) addHidden(parts strictjson.Value) {
	for v := range parts.Elements() {
		r.hidden = append(r.hidden, v.Get("text"), v.Get("data"))
	}
}

// addCopied adds a call, a result or a piece of code.
func (r *contentReader) addCopied(call strictjson.Value, as wire.CallRole) {
	switch as {
	case wire.CodeBegins:
		r.codes = append(r.codes, call.Get("code"))
	case wire.CodeEnds:
	case wire.CallRepeated:
		r.results = append(r.results, call)
	default:
		r.made = append(r.made, call)
	}
}

// addMetadata adds what the metadata of an update, or of an object in it, states about an ADK agent's event.
func (r *contentReader) addMetadata(metadata strictjson.Value) {
	if actions := metadata.First(wire.ADKActions...); actions.Exists() && r.findCopies {
		r.actions = append(r.actions, actions)
	}
	if custom := metadata.First(wire.ADKCustom...); custom.Exists() {
		r.customs = append(r.customs, custom)
	}
}

// checkRemote checks the custom metadata of remote agents' events in an update.
func (d *decoder) checkRemote(content contentReader, b *event.Batch, isWithheld bool) {
	for _, custom := range content.customs {
		d.values.CheckRemote(b, custom, isWithheld, &d.calls)
	}
}

// acceptKept accepts the marks of a remote agent's earlier events in its task, which is in the custom metadata of an update.
func (d *decoder) acceptKept(u update, b *event.Batch) {
	var customs []strictjson.Value
	hasContent := false
	for _, object := range []strictjson.Value{u.body, u.body.Get("status").Get("message"), u.body.Get("artifact")} {
		if custom := object.Get("metadata").First(wire.ADKCustom...); custom.Exists() {
			customs = append(customs, custom)
		}
		hasContent = hasContent || partsOf(object).contain(func(p part) bool { return p.kind != partCall && p.kind != partResponse })
	}
	if u.shape != shapeTask {
		d.values.AcceptKept(b, prefilter, hasContent, customs...)
	}
}

// author returns the agent that an update names, or "". A snapshot may have texts of several.
func (r *contentReader) author() string {
	if r.isSnapshot {
		return ""
	}
	return r.adk.author.String()
}

// isCopy reports whether an update repeats the answer in a withheld event, in one of these forms:
//   - the arguments of wire.ResponseTool,
//   - the message of a function, or of a server without ADK,
//   - one of the outputs in a list,
//   - a piece of code in the answer.
func (d *decoder) isCopy(content contentReader, u update, b *event.Batch) bool {
	if d.values.IsEmpty() && d.code.IsEmpty() && d.wholeTexts.isEmpty() {
		return false
	}
	author := content.author()
	if slices.ContainsFunc(content.said, func(text strictjson.Value) bool { return d.values.IsResponse(b, author, text) }) {
		return true
	}
	if content.isSnapshot || content.adk.usage.Len() > 0 { // a model's own
		return false
	}
	isWhole := !content.isError && !content.isPartial && u.extent() != extentPiece
	isSaid := func(texts []strictjson.Value) bool {
		return d.values.IsTellingAnswer(b, texts) || d.wholeTexts.have(texts)
	}
	return isWhole && slices.ContainsFunc(content.answers(), isSaid) || d.isOutputs(content, u, b) || slices.ContainsFunc(content.codes, func(code strictjson.Value) bool { return d.code.MayHave(content.place, code) })
}

// isOutputs reports whether an update is the output of a node with a withheld answer in a list. JavaScript's servers write a part for each
// text in the list, as models need not, or the list as JSON in one text.
//
// Source: dist/esm/workflow/base_node.js of @google/adk 2.0, toContent.
func (d *decoder) isOutputs(content contentReader, u update, b *event.Batch) bool {
	parts := partsOfArtifact(u.body.Get("artifact"), false)
	if u.extent() == extentPiece || !content.adk.isEvent || !content.adk.hasAllCalls || !textOnly(parts) {
		return false
	}
	texts, isList, hasAnswer, isNamed := 0, false, false, d.values.IsNamed(content.author())
	for p := range parts.all() {
		if p.kind == partText {
			texts++
			isList = isList || b.Embedded(p.text).Kind() == strictjson.Array
			hasAnswer = hasAnswer || d.values.MayBeIn(b, p.text, isNamed)
		}
	}
	return (texts > 1 || isList) && hasAnswer
}

// cutCopies withholds the parts of an update that repeat the answer in a withheld event: results of calls that ran its agent, and values in
// the actions. The rest of the update leaves, so that the call ends.
//
// Source: google/adk/tools/agent_tool.py and workflow/_llm_agent_wrapper.py of google-adk 2.13.
func (d *decoder) cutCopies(content contentReader, b *event.Batch) {
	if d.values.IsEmpty() {
		return
	}
	for _, call := range slices.Concat(content.made, content.results) {
		d.values.CutCall(b, call, func(id string) bool {
			_, isWithheld := d.withheld.of(contentKey{contentEvent, dialect.Name(id)})
			return isWithheld
		})
	}
	for _, result := range content.results {
		if response := result.Get("response"); d.values.MayBeInResult(b, result.Get("name"), result.Get("id"), response) {
			b.Cut(response)
		}
	}
	said := wire.HashAnswer(b, content.answers()[0])
	for _, actions := range content.actions {
		d.values.CutActions(b, actions, said)
	}
}

// trackAnswer records whether an ADK agent's answer in an update was withheld.
func (d *decoder) trackAnswer(content contentReader, u update, isWithheld bool) {
	tools := make([]strictjson.Value, len(content.made))
	for i, call := range content.made {
		tools[i] = call.Get("name")
	}
	if wire.IsAnswer(len(content.said) > 0, tools...) && !content.isSnapshot && !content.isPartial && u.extent() != extentPiece {
		d.values.SetAnswer(isWithheld, content.author(), content.adk.branch)
	}
}

// endCode forgets the code in withheld responses of an agent of which another response leaves.
func (d *decoder) endCode(content contentReader, u update) {
	if content.adk.isEvent && !content.isSnapshot && !content.isPartial && u.extent() != extentPiece {
		d.code.End(content.place)
	}
}

// addAnswers remembers the answer in a withheld event.
func (d *decoder) addAnswers(content contentReader, u update, b *event.Batch) {
	isADK := content.adk.isEvent || len(content.made)+len(content.results) > 0
	if !isADK {
		d.values.AddQuotes(b, content.hidden...)
	}
	if isPiece := u.extent() == extentPiece; !isADK && len(content.said) > 0 && len(content.ids) > 0 && (u.shape == shapeArtifact || isPiece) {
		d.wholeTexts.add(content.ids[0].id, !isPiece, &content)
	}
	if content.isSnapshot {
		return
	}
	isWhole := !content.isPartial && u.extent() != extentPiece
	if isWhole {
		for _, texts := range content.answers() {
			d.values.AddText(b, texts)
		}
	}
	if !isADK {
		return
	}
	author := content.author()
	d.trackAnswer(content, u, true)
	d.values.AddPlaces(author, content.adk.branch)
	d.code.Add(content.place, content.said)
	for _, call := range content.made {
		d.values.AddCall(b, author, call.Get("name"), call.Get("args"))
	}
	for _, result := range content.results {
		if result.Get("name").Is(wire.ResponseTool) {
			d.values.AddResponse(b, author, result.Get("response"))
		}
	}
	if isWhole {
		for _, actions := range content.actions {
			if len(content.said) > 0 {
				d.values.AddState(b, actions)
			}
		}
	}
}
