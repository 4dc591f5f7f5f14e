# `make demo` and `make test` are all that a newcomer needs; `make help` lists the rest.

.DEFAULT_GOAL := help
.PHONY: help setup ui build release sbom dist dist-test docs docs-reference cluster demo demo-down test lint audit bench scale chaos chaos-cluster takeovers upgrade-test soak sequences differ hostile clean

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | expand -t 12

setup: ## install what is missing on this machine
	@e2e/setup.sh

ui: setup ## build the page of the manager into target/ui
	@manager/ui/run.sh build

build: ui ## build all programs, for development
	cargo build --workspace --bins

release: ui sbom docs ## build all programs, optimised, into target/release, with their bill of materials, and the book
	DM_UI_REQUIRED=1 cargo build --workspace --bins --release

sbom: setup ## list every package in the programs, as CycloneDX, in target/release/sbom.cdx.json
	@mkdir -p target/release
	@dm/dist/sbom.sh >target/release/sbom.cdx.json.part
	@mv target/release/sbom.cdx.json.part target/release/sbom.cdx.json

dist: ui docs ## make a release in target/dist: an archive, a Debian package, a container image, with sums and bill of materials
	@dm/dist/build.sh

dist-test: ## install the results of `make dist` into fresh roots, run them there, and build them again (needs root)
	@dm/dist/test/test.sh

docs: setup ## build the book into target/docs
	@e2e/tool.sh mdbook 0.5.4 build docs

docs-reference: build ## generate the reference pages of the book (commands, flags, API, codes, metrics)
	SNAPSHOTS=overwrite cargo test --workspace --test book reference

cluster: ## build the local control plane, once
	@e2e/cluster/build.sh

demo: build cluster ## start everything, and deploy an example
	@e2e/demo.sh up

demo-down: ## stop the demo
	@e2e/demo.sh down

lint: setup ## formatting and lints, warnings denied
	cargo fmt --all --check
	cargo clippy --workspace --all-targets -- -D warnings
	@manager/ui/run.sh lint
	@e2e/audit.sh

audit: setup ## check the dependencies: licences, sources, known vulnerabilities (needs the network)
	@e2e/audit.sh --complete

test: lint build cluster ## everything: formatting, lints, unit, integration and end-to-end tests
	@manager/ui/run.sh test
	cargo test --workspace --no-fail-fast

chaos: build cluster ## kill every service at 300 random instants under load; DM_CHAOS_KILLS sets how often, DM_CHAOS_SEED sets when
	cargo test -p e2e --test journeys chaos::hundreds -- --ignored --nocapture

chaos-cluster: build cluster ## kill, pause and cut off three managers and three members of etcd 300 times under load; DM_CHAOS_FAULTS, DM_CHAOS_SEED
	cargo test -p e2e --test journeys chaos::fleet::hundreds -- --ignored --nocapture

takeovers: build cluster ## measure how long callers wait when the manager that has the store on etcd is stopped, killed or paused, alone and with etcd's leader
	cargo test -p e2e --test journeys chaos::fleet::takeover -- --ignored --nocapture

upgrade-test: build cluster ## managers of the release before this one (built once, some minutes) and of this one have a store in turn, under load
	@e2e/earlier/build.sh >/dev/null
	cargo test -p e2e --test journeys chaos::fleet::upgrade -- --ignored --nocapture

sequences: build cluster ## random sequences of all writes with interference, checked and shrunk; SEED=… MINUTES=… (ten)
	DM_SEQUENCES_SEED=$(SEED) DM_SEQUENCES_MINUTES=$(MINUTES) cargo test -p e2e --test sequences many_random -- --ignored --nocapture

soak: build ## 500 clients for ten minutes, a tenth of them hostile; DM_SOAK_SECONDS for less
	cargo test -p e2e --test attacks soak::a_long -- --ignored --nocapture

differ: setup ## random templates, YAML and schemas beside the real Jinja2, PyYAML, jsonschema, text/template, Sprig and OpenShift, for SECONDS=600; SEED sets which, DM_DIFFER_SHOWN how many differences end a run (15)
	DM_DIFFER_SECONDS=$(or $(SECONDS),600) DM_DIFFER_SEED=$(or $(SEED),1) cargo test -p expandybird -p expandybird-gotemplate -p expandybird-sprig -p expandybird-templateobject --test differ -- --nocapture

hostile: build ## send random hostile templates, schemas and results to expandybird, for SECONDS=600; SEED repeats a run
	DM_HOSTILE_SECONDS=$(or $(SECONDS),600) DM_HOSTILE_SEED=$(or $(SEED),2) cargo test -p expandybird --test unharmed as_long_as_one_likes -- --ignored --nocapture

bench: release cluster ## measure the figures in the README, and those of other tools
	cargo bench -p expandybird
	cargo bench -p e2e --bench deployments
	cargo bench -p e2e --bench registries
	cargo bench -p e2e --bench broker
	cargo bench -p e2e --bench template_objects

scale: release cluster ## the manager with 100,000 deployments in its store (DM_SCALE=10000 for fewer), STORE=sled or etcd
	DM_SCALE_STORE=$(or $(STORE),sled) cargo bench -p e2e --bench scale

clean: demo-down ## remove build results (the cached control plane stays)
	cargo clean
