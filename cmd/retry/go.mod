module github.com/seed-89b3229b/retry/cmd/retry

go 1.26.0

require github.com/alecthomas/kong v1.17.0

replace github.com/seed-89b3229b/retry => ../..
