package main

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/delegraph/delegraph/test/subprocess"
)

// alerted starts a Prometheus with the rules, which scrapes as Kubernetes would have it done: the targets have a namespace. The
// job native gets protobuf, the job classic OpenMetrics text.
func alerted(t *testing.T, binary string, admin http.Handler) *prometheusServer {
	t.Helper()
	native := httptest.NewServer(admin)
	t.Cleanup(native.Close)
	classic := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Header.Set("Accept", "application/openmetrics-text;version=1.0.0")
		admin.ServeHTTP(w, r)
	}))
	t.Cleanup(classic.Close)
	rules, err := filepath.Abs("../../dashboards/rules/delegraph.yml")
	if err != nil {
		t.Fatal(err)
	}
	flags, histograms := []string{"--enable-feature=exemplar-storage,native-histograms"}, ""
	if version, err := subprocess.CommandContext(t.Context(), binary, "--version").Output(); err != nil {
		t.Fatal(err)
	} else if !bytes.HasPrefix(version, []byte("prometheus, version 2.")) {
		flags, histograms = []string{"--enable-feature=exemplar-storage"}, ", scrape_native_histograms: true"
	}
	configured := fmt.Sprintf("global: {scrape_interval: 1s, scrape_timeout: 1s, evaluation_interval: 1s%s}\nrule_files: [%q]\nscrape_configs:\n", histograms, rules)
	for job, target := range map[string]*httptest.Server{"native": native, "classic": classic} {
		configured += fmt.Sprintf("- {job_name: %s, static_configs: [{targets: [%q], labels: {namespace: agents}}]}\n", job, target.Listener.Addr())
	}
	folder := t.TempDir()
	file := filepath.Join(folder, "prometheus.yml")
	if err := os.WriteFile(file, []byte(configured), 0o600); err != nil {
		t.Fatal(err)
	}
	free := listen(t)
	free.Close()
	address := free.Addr().String()
	command := subprocess.Command(binary, append(flags, "--config.file="+file, "--storage.tsdb.path="+filepath.Join(folder, "data"), "--web.listen-address="+address)...)
	server := &prometheusServer{url: "http://" + address, log: &journal{}}
	command.Stdout, command.Stderr = server.log, server.log
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = command.Process.Signal(syscall.SIGTERM)
		_ = command.Wait()
	})
	server.until(t, `sum by (job) (up)`, "job", map[string]float64{"native": 1, "classic": 1})
	return server
}
