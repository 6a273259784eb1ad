// Command schemas writes JSON schemas for kubeconform from the OpenAPI description of a Kubernetes release.
package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
)

// kinds lists what the chart renders, by kubeconform's file names.
var kinds = map[string]string{
	"configmap-v1":                           "io.k8s.api.core.v1.ConfigMap",
	"deployment-apps-v1":                     "io.k8s.api.apps.v1.Deployment",
	"horizontalpodautoscaler-autoscaling-v2": "io.k8s.api.autoscaling.v2.HorizontalPodAutoscaler",
	"networkpolicy-networking-v1":            "io.k8s.api.networking.v1.NetworkPolicy",
	"poddisruptionbudget-policy-v1":          "io.k8s.api.policy.v1.PodDisruptionBudget",
	"pod-v1":                                 "io.k8s.api.core.v1.Pod",
	"secret-v1":                              "io.k8s.api.core.v1.Secret",
	"service-v1":                             "io.k8s.api.core.v1.Service",
	"mutatingadmissionpolicy-admissionregistration-v1":          "io.k8s.api.admissionregistration.v1.MutatingAdmissionPolicy",
	"mutatingadmissionpolicybinding-admissionregistration-v1":   "io.k8s.api.admissionregistration.v1.MutatingAdmissionPolicyBinding",
	"validatingadmissionpolicy-admissionregistration-v1":        "io.k8s.api.admissionregistration.v1.ValidatingAdmissionPolicy",
	"validatingadmissionpolicybinding-admissionregistration-v1": "io.k8s.api.admissionregistration.v1.ValidatingAdmissionPolicyBinding",
}

const prefix = "#/definitions/"

type schema = map[string]any

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: schemas SWAGGER.JSON FOLDER")
		os.Exit(2)
	}
	if err := run(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "schemas:", err)
		os.Exit(1)
	}
}

// run writes a file for each kind that the release has.
func run(swagger, folder string) error {
	text, err := os.ReadFile(swagger)
	if err != nil {
		return err
	}
	var description struct{ Definitions map[string]schema }
	if err := json.Unmarshal(text, &description); err != nil {
		return fmt.Errorf("%s: %w", swagger, err)
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	for file, kind := range kinds {
		if description.Definitions[kind] == nil {
			continue
		}
		used := map[string]any{}
		use(kind, description.Definitions, used)
		text, err := json.Marshal(schema{"$ref": prefix + kind, "definitions": used})
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(folder, file+".json"), text, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// use copies a definition and everything that it refers to.
func use(name string, definitions map[string]schema, used map[string]any) {
	if used[name] != nil {
		return
	}
	used[name] = special(name)
	if used[name] != nil {
		return
	}
	strict := maps.Clone(definitions[name])
	used[name] = strict
	if strict["properties"] != nil && strict["additionalProperties"] == nil {
		strict["additionalProperties"] = false
	}
	follow(strict, func(reference string) { use(reference, definitions, used) })
}

// special returns the schemas of types that OpenAPI describes only as strings.
func special(name string) any {
	switch {
	case strings.HasSuffix(name, ".IntOrString"):
		return schema{"type": []string{"integer", "string"}}
	case strings.HasSuffix(name, ".Quantity"):
		return schema{"type": []string{"number", "string"}}
	}
	return nil
}

// follow visits the references in a schema.
func follow(value any, visit func(string)) {
	switch value := value.(type) {
	case schema:
		if reference, ok := value["$ref"].(string); ok {
			visit(strings.TrimPrefix(reference, prefix))
		}
		for _, member := range value {
			follow(member, visit)
		}
	case []any:
		for _, member := range value {
			follow(member, visit)
		}
	}
}
