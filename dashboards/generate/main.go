// Command generate writes Delegraph's Grafana dashboards into a folder.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/delegraph/delegraph/dashboards/grafana"
)

func main() {
	folder := flag.String("out", ".", "folder for the dashboards")
	flag.Parse()
	if err := write(*folder); err != nil {
		fmt.Fprintln(os.Stderr, "generate:", err)
		os.Exit(1)
	}
}

func write(folder string) error {
	boards, err := files()
	if err != nil {
		return err
	}
	for name, content := range boards {
		err = errors.Join(err, os.WriteFile(filepath.Join(folder, name), content, 0o644))
	}
	return err
}

// files returns the encoded dashboards by file name.
func files() (map[string][]byte, error) {
	agents, errAgents := agentsDashboard().Encode()
	itself, errItself := itselfDashboard().Encode()
	return map[string][]byte{"agents.json": agents, "delegraph.json": itself}, errors.Join(errAgents, errItself)
}

// tag is on all our dashboards. Each uses it to link to the others.
const tag = "delegraph"

func newDashboard(uid, title, description string, variables []grafana.Variable, rows []row) grafana.Dashboard {
	return grafana.Dashboard{
		UID: uid, Title: title, Description: description, Tags: []string{tag},
		GraphTooltip: 1, Refresh: "30s", Time: grafana.Time{From: "now-3h", To: "now"},
		Links:       []grafana.Link{{Title: "Delegraph", Type: "dashboards", Icon: "external link", Tags: []string{tag}, IncludeVars: true, KeepTime: true}},
		Annotations: grafana.Annotations{List: []grafana.Annotation{alerts}},
		Templating: grafana.Templating{List: slices.Concat([]grafana.Variable{{
			Name: "datasource", Label: "Data source", Type: "datasource", Query: "prometheus", Refresh: 1,
		}}, variables, []grafana.Variable{pageVariable})},
		Panels: place(rows),
	}
}

// alerts marks the times at which an alert of ours began to fire. An alert that concerns no single source, or no job, does
// not have that label.
var alerts = grafana.Annotation{
	Name: "Alerts", Datasource: prometheus, Enable: true, IconColor: "red", Step: "60s",
	Expr:        `ALERTS{alertname=~"Delegraph.*", alertstate="firing", namespace=~"$namespace|", job=~"$job|", source=~"$source|"}`,
	TitleFormat: "{{alertname}}", TextFormat: "{{severity}} {{source}}", TagKeys: "severity,source",
}

// pageVariable is the address of Delegraph's page, to which panels link.
var pageVariable = grafana.Variable{
	Name: "delegraph", Label: "Page of Delegraph", Type: "textbox", Query: defaultPage, Current: &grafana.Option{Text: defaultPage, Value: defaultPage},
}

const defaultPage = "http://127.0.0.1:10477"

// variable returns a variable with the values of a label. The parameter all is the regular
// expression for the selection All. It is ".*" if some series do not have the label.
func variable(name, label, query, all string) grafana.Variable {
	return grafana.Variable{
		Name: name, Label: label, Type: "query", Query: query, Datasource: &prometheus,
		Refresh: 2, IncludeAll: true, Multi: true, AllValue: all, Sort: 1, Current: &grafana.Option{Text: "All", Value: "$__all"},
	}
}

// The variables. They are read from delegraph_build_info where possible, because every instance has it.
var (
	namespaceVariable = variable("namespace", "Namespace", `label_values(delegraph_build_info, namespace)`, ".*")
	jobVariable       = variable("job", "Job", `label_values(delegraph_build_info{namespace=~"$namespace"}, job)`, ".+")
	instanceVariable  = variable("instance", "Instance", `label_values(delegraph_build_info{namespace=~"$namespace", job=~"$job"}, instance)`, ".+")
	sourceVariable    = variable("source", "Source", `label_values(delegraph_runs_started_total{namespace=~"$namespace", job=~"$job"}, source)`, ".+")
	agentVariable     = variable("agent", "Agent", `label_values({__name__=~"gen_ai_invoke_agent_duration_seconds(_count)?", namespace=~"$namespace", job=~"$job", source=~"$source"}, gen_ai_agent_name)`, ".*")
)

const (
	ofNamespace = `namespace=~"$namespace"`
	ofJob       = `job=~"$job"`
	ofInstance  = `instance=~"$instance"`
	ofSource    = `source=~"$source"`
	ofAgent     = `agent=~"$agent"`
)
