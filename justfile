# Shortcuts for people. The logic is in xtask and .ci.

# Lists the recipes.
default:
    @just --list

# What to run before a pull request.
check:
    cargo fmt --all --check
    cargo clippy --workspace --all-targets -- -D warnings
    cargo test --workspace
    cargo xtask generate --check
    cargo xtask tidy

# All tests that need nothing from outside.
test:
    cargo test --workspace

# Renews the generated files.
generate:
    cargo xtask generate
