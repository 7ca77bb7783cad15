module github.com/seed-89b3229b/retry/examples/config

go 1.26.0

require (
	github.com/seed-89b3229b/retry v0.0.0
	github.com/sethvargo/go-envconfig v1.4.3
	github.com/stretchr/testify v1.12.1
	go.uber.org/goleak v1.3.0
)

require go.yaml.in/yaml/v3 v3.0.5 // indirect

replace github.com/seed-89b3229b/retry => ../../
