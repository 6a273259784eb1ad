package a2a

import (
	"github.com/delegraph/delegraph/collector/dialect/wire"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// isSummary reports whether an update has the summary of an ADK agent's session, also that of a remote agent.
func (d *decoder) isSummary(u update) bool {
	return u.shape == shapeArtifact && (wire.IsSummary(u.body) || d.remote.IsSummary)
}

// readSummary reads a summary, which is no answer. It remembers the artifact, because snapshots do not say that it has a summary.
func (d *decoder) readSummary(u update, b *event.Batch) {
	t := d.task(u.body.Get("taskId"), u.body.Get("contextId"))
	d.setRun(t, b)
	t.seen, b.Type = true, typeSummary
	t.resume(b)
	d.summaries.Add(d.summaryID(u.body.Get("taskId"), d.idOf(u.body.Get("artifact"), artifactIDs)))
}

// summaryID returns the ID of an artifact in summaries, in the scope of its task.
func (d *decoder) summaryID(task strictjson.Value, artifact string) string {
	name := d.name(task)
	d.summaries.SetScopes(name)
	return name + " " + artifact
}
