# envfix: make alone lists the targets.
# -z lazy: go-nvml leaves NVML's symbols unresolved until dlopen; a toolchain that
# binds eagerly (-z now) would make a binary that dies before main.
export GOFLAGS := -ldflags=-extldflags=-Wl,-z,lazy
export CGO_CFLAGS := -Wno-deprecated-declarations

.DEFAULT_GOAL := help
help: ## list the targets
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 12

build: ## build bin/envfix
	go build -o bin/envfix ./cmd/envfix

test: ## run the tests
	go test -shuffle=on ./...
