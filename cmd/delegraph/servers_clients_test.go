package main

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/delegraph/delegraph/test/subprocess"
)

// TestServersClients has the clients of real servers ask them directly and through a default proxy: they must get the same.
func TestServersClients(t *testing.T) {
	for _, test := range []struct {
		server, client, modules string
		large                   bool    // is not installed for each change, so it runs only where it is
		runs                    float64 // that the client asks for; 0 where it does not ask one after the other
	}{
		{"a2a-1", "a2a-1.py", "a2a-1", false, 0},
		{"a2a-js", "a2a-js.mjs", "a2a-js", false, 0},
		{"agno", "agno_a2a.py", "agno", true, 0},
		{"llama-index", "llama-index.mjs", "../agui", true, 0},
		{"fasta2a", "fasta2a_talk.py", "fasta2a", true, 3},
		{"adk-a2a", "a2a_talk.py", "a2a-1", true, 3},
	} {
		t.Run(test.server, func(t *testing.T) {
			home := serversHome(t)
			for _, environment := range []string{test.server, test.modules} {
				if _, err := os.Stat(filepath.Join(home, environment, "installed")); err == nil {
					continue
				}
				why := "no " + environment + " in " + home + ": run .ci/install/servers " + test.server + " and .ci/install/agui"
				if test.large {
					t.Skip(why)
				}
				lacking(t, why)
			}
			client := newClient(t, test.client, filepath.Join(home, test.modules))
			agent := serveReal(t, home, test.server)
			car := launch(t, fmt.Sprintf(defaultProxy, agent), map[string]string{"OTEL_TRACES_EXPORTER": "none"})
			direct, through := client(agent), client(car.address())
			if difference := firstDifference(direct, through); difference != "" {
				expectKnown(t, test.client, []string{difference})
			} else {
				expectKnown(t, test.client, nil)
			}
			if car.stop(); car.count(t, "delegraph_frames_total") == 0 {
				t.Error("the client went around the proxy")
			}
			if runs := car.count(t, "delegraph_runs_started_total"); test.runs > 0 && runs != test.runs {
				t.Errorf("%g runs, happened were %g", runs, test.runs)
			}
		})
	}
}

func serversHome(t *testing.T) string {
	t.Helper()
	if home := os.Getenv("DELEGRAPH_SERVERS"); home != "" {
		return home
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(cache, "delegraph", "servers")
}

// serveReal runs a server until the test ends and returns its URL.
func serveReal(t *testing.T, home, server string) string {
	t.Helper()
	command := subprocess.Command(program(t, "python3"), filepath.Join(servers, "record.py"), home, "--serve", server) // it stops its server when its input ends
	command.Env = append(os.Environ(), "PYTHONDONTWRITEBYTECODE=1")
	command.Stderr = t.Output()
	alive, err := command.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = alive.Close()
		_ = command.Wait()
	})
	url, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("%s does not serve: %v", server, err)
	}
	return strings.TrimSpace(url)
}

// newClient returns what a client prints when it asks at a URL.
func newClient(t *testing.T, client, modules string) func(url string) string {
	t.Helper()
	dir := t.TempDir()
	text, err := os.ReadFile(filepath.Join(servers, "clients", client))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, client), text, 0o600); err != nil {
		t.Fatal(err)
	}
	interpreter := filepath.Join(modules, "bin", "python")
	if filepath.Ext(client) == ".mjs" {
		interpreter = program(t, "node")
		if err := os.Symlink(filepath.Join(modules, "node_modules"), filepath.Join(dir, "node_modules")); err != nil {
			t.Fatal(err)
		}
	}
	return func(url string) string {
		t.Helper()
		var said, complained bytes.Buffer
		command := subprocess.CommandContext(t.Context(), interpreter, client, url)
		command.Dir, command.Stdout, command.Stderr = dir, &said, &complained
		if err := command.Run(); err != nil {
			t.Fatalf("%s: %v: %s", client, err, complained.Bytes())
		}
		return said.String()
	}
}

func firstDifference(direct, through string) string {
	want, got := strings.Split(direct, "\n"), strings.Split(through, "\n")
	for i := range want {
		if i >= len(got) || got[i] != want[i] {
			return fmt.Sprintf("line %d is\n%.600s\ndirectly it was\n%.600s", i+1, strings.Join(got[min(i, len(got)):min(i+1, len(got))], ""), want[i])
		}
	}
	if len(got) > len(want) {
		return fmt.Sprintf("%d lines, directly there were %d", len(got), len(want))
	}
	return ""
}
