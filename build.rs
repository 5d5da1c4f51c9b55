//! Records what the program was built from, for the provenance of results.
//!
//! Works in a checkout, from a tarball (no git) and from a published package. `PSTSWM_GIT`
//! overrides: a commit, with `-dirty` appended where the sources differ from it.

use std::path::Path;
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-env-changed=PSTSWM_GIT");
    for path in ["build.rs", "src", "Cargo.toml", "Cargo.lock"] {
        watch(path);
    }
    let git = std::env::var("PSTSWM_GIT")
        .ok()
        .filter(|text| !text.trim().is_empty())
        .or_else(from_checkout)
        .or_else(from_package)
        .unwrap_or_default();
    let (commit, dirty) = match git.trim().strip_suffix("-dirty") {
        Some(commit) => (commit, "true"),
        None => (git.trim(), "false"),
    };
    set("GIT_COMMIT", commit);
    set("GIT_DIRTY", if commit.is_empty() { "" } else { dirty });

    let rustc = std::env::var("RUSTC").unwrap_or_else(|_| "rustc".into());
    set("RUSTC", &output(&rustc, &["--version"]).unwrap_or_default());
    for (name, variable) in [
        ("PROFILE", "PROFILE"),
        ("OPT_LEVEL", "OPT_LEVEL"),
        ("TARGET", "TARGET"),
        ("TARGET_FEATURES", "CARGO_CFG_TARGET_FEATURE"),
    ] {
        set(name, &std::env::var(variable).unwrap_or_default());
    }
    let mut features: Vec<String> = std::env::vars()
        .filter_map(|(key, _)| key.strip_prefix("CARGO_FEATURE_").map(str::to_lowercase))
        .filter(|name| name != "default")
        .collect();
    features.sort();
    set("FEATURES", &features.join(","));
}

/// Makes a value readable by `env!("PSTSWM_BUILD_<name>")`.
fn set(name: &str, value: &str) {
    println!(
        "cargo::rustc-env=PSTSWM_BUILD_{name}={}",
        value.replace('\n', " ")
    );
}

/// Runs this script again when the path changes; a missing path would run it every time.
fn watch(path: &str) {
    if Path::new(path).exists() {
        println!("cargo::rerun-if-changed={path}");
    }
}

/// First line of a command's output, if it succeeds.
fn output(program: &str, arguments: &[&str]) -> Option<String> {
    let output = Command::new(program).args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_owned())
}

/// The commit of the checkout that holds this manifest, if git tracks it: a tarball unpacked
/// inside some other repository must not borrow that one's commit.
fn from_checkout() -> Option<String> {
    output(
        "git",
        &["ls-files", "--error-unmatch", "Cargo.toml", "build.rs"],
    )?;
    let commit = output("git", &["rev-parse", "HEAD"])?;
    // The log of HEAD grows with every commit and checkout, whatever the branch.
    for name in ["HEAD", "logs/HEAD"] {
        if let Some(path) = output("git", &["rev-parse", "--git-path", name]) {
            watch(&path);
        }
    }
    // Not refreshing the index: that would touch a file of the user's repository.
    let changes = output(
        "git",
        &[
            "--no-optional-locks",
            "status",
            "--porcelain",
            "--untracked-files=no",
        ],
    )?;
    Some(if changes.is_empty() {
        commit
    } else {
        format!("{commit}-dirty")
    })
}

/// The commit that `cargo package` wrote into the package.
fn from_package() -> Option<String> {
    let text = std::fs::read_to_string(".cargo_vcs_info.json").ok()?;
    let after = text.split("\"sha1\"").nth(1)?;
    let commit = after.split('"').nth(1)?;
    let is_hex = !commit.is_empty() && commit.chars().all(|c| c.is_ascii_hexdigit());
    let dirty = text.contains("\"dirty\": true") || text.contains("\"dirty\":true");
    is_hex.then(|| format!("{commit}{}", if dirty { "-dirty" } else { "" }))
}
