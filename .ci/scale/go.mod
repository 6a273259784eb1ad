module github.com/delegraph/delegraph/scale

go 1.26.0
