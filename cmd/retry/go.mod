module github.com/seed-89b3229b/retry/cmd/retry

go 1.26.0

require github.com/alecthomas/kong v1.17.0

require (
	github.com/gofrs/flock v0.13.2
	github.com/seed-89b3229b/retry v0.0.0
	go.yaml.in/yaml/v3 v3.0.6
	golang.org/x/sys v0.50.0
	golang.org/x/term v0.48.0
)

replace github.com/seed-89b3229b/retry => ../..
