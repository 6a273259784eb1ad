package langgraph

import (
	"testing"

	"github.com/delegraph/delegraph/collector/dialect/dialecttest"
)

func TestContract(t *testing.T) { dialecttest.Run(t, Dialect{}, "testdata") }
