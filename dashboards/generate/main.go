// Command generate writes Delegraph's Grafana dashboards into the folder that it is given.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"

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
	for name, content := range boards {
		err = errors.Join(err, os.WriteFile(filepath.Join(folder, name), content, 0o644))
	}
	return err
}

// files are the dashboards by the names of their files.
func files() (map[string][]byte, error) {
	agents, errAgents := agentsDashboard().Encode()
	itself, errItself := itselfDashboard().Encode()
	return map[string][]byte{"agents.json": agents, "delegraph.json": itself}, errors.Join(errAgents, errItself)
}

// tag is that of all our dashboards, by which each links to the others.
const tag = "delegraph"

func newDashboard(uid, title, description string, variables []grafana.Variable, rows []row) grafana.Dashboard {
	return grafana.Dashboard{
		UID: uid, Title: title, Description: description, Tags: []string{tag},
		GraphTooltip: 1, Refresh: "30s", Time: grafana.Time{From: "now-3h", To: "now"},
		Links: []grafana.Link{{Title: "Delegraph", Type: "dashboards", Icon: "external link", Tags: []string{tag}, IncludeVars: true, KeepTime: true}},
		Templating: grafana.Templating{List: append([]grafana.Variable{{
			Name: "datasource", Label: "Data source", Type: "datasource", Query: "prometheus", Refresh: 1,
		}}, variables...)},
		Panels: place(rows),
	}
}

// variable is the values of a label. Where a series may lack it, all of them are any and none.
func variable(name, label, query, all string) grafana.Variable {
	return grafana.Variable{
		Name: name, Label: label, Type: "query", Query: query, Datasource: &prometheus,
		Refresh: 2, IncludeAll: true, Multi: true, AllValue: all, Sort: 1, Current: &grafana.Option{Text: "All", Value: "$__all"},
	}
}

// The variables. Every Delegraph has its build's series, whatever else it has.
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
