package dashboards_test

import (
	"fmt"
	"net/http"
	"path/filepath"
	"testing"

	"github.com/delegraph/delegraph/test/e2e/harness"
)

// alerted starts a Prometheus with our rules. Its targets have a namespace, as in Kubernetes.
func alerted(t *testing.T, admin http.Handler) *harness.PrometheusServer {
	t.Helper()
	rules, err := filepath.Abs("../../../dashboards/rules/delegraph.yml")
	if err != nil {
		t.Fatal(err)
	}
	return harness.StartPrometheus(t, admin, "namespace: agents", fmt.Sprintf("rule_files: [%q]", rules))
}
