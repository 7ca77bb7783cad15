module github.com/seed-89b3229b/retry/internal/drivertest

go 1.26.0

require (
	github.com/caarlos0/env/v11 v11.4.2
	github.com/cenkalti/backoff/v4 v4.3.0
	github.com/cenkalti/backoff/v5 v5.0.3
	github.com/cenkalti/backoff/v7 v7.0.3
	github.com/seed-89b3229b/retry v0.0.0
	github.com/sethvargo/go-envconfig v1.4.3
	github.com/stretchr/testify v1.12.1
	go.uber.org/goleak v1.3.0
	go.yaml.in/yaml/v3 v3.0.6
	go.yaml.in/yaml/v4 v4.0.0
)

replace github.com/seed-89b3229b/retry => ../../
