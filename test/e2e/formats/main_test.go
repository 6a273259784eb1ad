package formats_test

import (
	"testing"

	"github.com/delegraph/delegraph/test/e2e/harness"
)

func TestMain(m *testing.M) { harness.Main(m) }
