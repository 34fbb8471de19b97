# Shortcuts for people. The logic is in xtask and .ci.

# Lists the recipes.
default:
    @just --list

# What to run before a pull request.
check:
    cargo fmt --all --check
    cargo clippy --workspace --all-targets -- -D warnings
    cargo xtask test
    cargo xtask generate --check
    cargo xtask tidy

# Every test that needs no more than a Rust toolchain.
test *arguments:
    cargo xtask test {{arguments}}

# The README's first command.
demo:
    cargo run --release -p trainyard -- run examples/01-mnist-sample.yaml

# Renews the generated files.
generate:
    cargo xtask generate

# Trains beside TensorFlow, PyTorch and JAX (installs them outside the clone) and prints ratios.
bench *arguments:
    cargo build --release
    "$(testbed/keras/setup.sh --rivals)" benches/train/run.py --bin target/release/trainyard {{arguments}}

# Serves beside Flask + Keras and FastAPI + PyTorch (needs wrk) and prints ratios.
bench-serve *arguments:
    cargo build --release
    "$(testbed/keras/setup.sh --rivals)" benches/serve/run.py --bin target/release/trainyard {{arguments}}

# Kills, stops and sends away processes for minutes; tells what was survived and how fast.
soak *arguments:
    cargo build --release
    benches/soak/run.py target/release/trainyard {{arguments}}

# A real Kubernetes of three nodes on this machine: up, down, status, env, ... (needs root).
cluster *arguments:
    testbed/kubernetes/setup.sh
    testbed/kubernetes/cluster {{arguments}}

# Everything that CI does, or the stages named.
ci *stages:
    .ci/run {{stages}}
