module github.com/seed-89b3229b/retry/cmd/retry

go 1.26.0

require (
	github.com/alecthomas/kong v1.17.0
	github.com/seed-89b3229b/retry v0.0.0
	github.com/stretchr/testify v1.12.1
	go.uber.org/goleak v1.3.0
	go.yaml.in/yaml/v3 v3.0.5
	golang.org/x/time v0.16.0
)

replace github.com/seed-89b3229b/retry => ../..
