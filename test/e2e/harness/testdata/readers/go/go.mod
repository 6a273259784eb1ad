module github.com/delegraph/delegraph/test/e2e/harness/testdata/readers/go

go 1.26

require github.com/tmaxmax/go-sse v0.11.0
