package subprocess_test

import (
	"bufio"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/delegraph/delegraph/test/subprocess"
)

// TestEndsWithItsParent kills a process that has started a program. The program ends too: it closes the pipe that it holds.
func TestEndsWithItsParent(t *testing.T) {
	if os.Getenv("SUBPROCESS_TEST_PARENT") != "" {
		child := subprocess.Command("sleep", "600")
		child.Stdout = os.Stdout
		if err := child.Start(); err != nil {
			t.Fatal(err)
		}
		os.Stdout.WriteString(strconv.Itoa(child.Process.Pid) + "\n")
		select {}
	}
	parent := exec.Command(os.Args[0], "-test.run=^TestEndsWithItsParent$")
	parent.Env = append(os.Environ(), "SUBPROCESS_TEST_PARENT=1")
	out, err := parent.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	read := bufio.NewReader(out)
	line, err := read.ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	child, err := strconv.Atoi(strings.TrimSpace(line))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = syscall.Kill(child, syscall.SIGKILL) }() // if it is still there
	if err := parent.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if rest, err := read.ReadString('\n'); err == nil { // returns at the end of the pipe
		t.Errorf("the program wrote %q", rest)
	}
	_ = parent.Wait()
}
