package harness

import (
	"bufio"
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/delegraph/delegraph/test/subprocess"
)

// ServersHome returns the folder in which .ci/install/servers installs the real agent servers.
func ServersHome(t *testing.T) string {
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

// IsInstalled reports whether .ci/install/servers has installed a server in home, with the versions that the repository names now.
func IsInstalled(t *testing.T, home, server string) bool {
	t.Helper()
	marker, err := os.ReadFile(filepath.Join(home, server, "installed"))
	if err != nil {
		return false
	}
	for _, pins := range []string{"requirements.txt", "package-lock.json", "pom.xml"} {
		wanted, err := os.ReadFile(filepath.Join("../../agents/servers", server, pins))
		if err == nil {
			return bytes.Contains(marker, bytes.TrimSpace(wanted))
		}
	}
	return true // an environment of another installer
}

// ServeReal runs a server of test/agents/servers until the test ends and returns its URL.
func ServeReal(t *testing.T, home, server string) string {
	t.Helper()
	record := filepath.Join("../../../test/agents/servers", "record.py")
	command := subprocess.Command(Program(t, "python3", "readers"), record, home, "--serve", server) // it stops its server when its input ends
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
