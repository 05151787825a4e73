//! Checks that the crates can be published, and that the archives alone are enough to build and run a program.

use crate::run::{Outcome, cargo, create, root, run, write};
use std::{fs, process::Command};

/// Crates that the check does not compile, because they contain a call by name of every op. Compiling these calls takes
/// minutes.
const NOT_COMPILED: [&str; 2] = ["backends-cli", "backends-dynamic"];

/// The task `release [--pack]`: packs all crates as for publication, and runs the first example and the template with the
/// unpacked archives. With `--pack`, only packs the crates.
pub fn task(args: &[String]) -> Outcome {
    let only_packs = match args {
        [] => false,
        [option] if option == "--pack" => true,
        _ => return Err("usage: cargo xtask release [--pack]".into()),
    };
    run(cargo().args(["publish", "--workspace", "--dry-run", "--no-verify", "--allow-dirty", "--quiet"]))?;
    if only_packs {
        return Ok(());
    }
    let (packages, version) = (published()?, env!("CARGO_PKG_VERSION"));
    let mut package = cargo();
    package.args(["package", "--no-verify", "--allow-dirty", "--quiet"]);
    packages.iter().for_each(|name| _ = package.args(["--package", name]));
    run(&mut package)?;

    let folder = root().join("target/release-check");
    let _ = fs::remove_dir_all(folder.join("packages"));
    create(&folder.join("packages"))?;
    create(&folder.join("user/src/bin"))?;
    let (mut dependencies, mut patches) = (String::new(), String::new());
    for name in &packages {
        let archive = root().join(format!("target/package/{name}-{version}.crate"));
        run(Command::new("tar").arg("xzf").arg(&archive).arg("-C").arg(folder.join("packages")))?;
        patches.push_str(&format!("{name} = {{ path = \"../packages/{name}-{version}\" }}\n"));
        if !NOT_COMPILED.contains(&name.as_str()) {
            dependencies.push_str(&format!("{name} = \"={version}\"\n"));
        }
    }
    let manifest = format!(
        "[workspace]\n\n[package]\nname = \"user\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n\
         [dependencies]\n{dependencies}\n[patch.crates-io]\n{patches}"
    );
    write(&folder.join("user/Cargo.toml"), &manifest)?;
    let example = folder.join(format!("packages/backends-{version}/examples/quickstart.rs"));
    fs::copy(&example, folder.join("user/src/main.rs")).map_err(|why| format!("{}: {why}", example.display()))?;
    let template = root().join("examples/template/src/main.rs");
    fs::copy(&template, folder.join("user/src/bin/template.rs"))
        .map_err(|why| format!("{}: {why}", template.display()))?;
    // uses the same versions of other crates as this repository
    let _ = fs::copy(root().join("Cargo.lock"), folder.join("user/Cargo.lock"));
    println!("release: compiling a program with the archives of {}", packages.join(", "));
    for name in ["user", "template"] {
        let mut program = cargo();
        program.current_dir(folder.join("user")).args(["run", "--quiet", "--bin", name]).env("BACKENDS_QUIET", "1");
        run(program.env("CARGO_TARGET_DIR", folder.join("target")))?;
    }
    Ok(())
}

/// The names of the workspace's packages that may be published.
fn published() -> Outcome<Vec<String>> {
    let listed = cargo().args(["metadata", "--no-deps", "--format-version", "1"]).output();
    let listed = listed.map_err(|why| format!("cargo cannot be run: {why}"))?;
    let metadata: serde_json::Value =
        serde_json::from_slice(&listed.stdout).map_err(|why| format!("cargo metadata: {why}"))?;
    let packages = metadata["packages"].as_array().into_iter().flatten();
    // `publish` is null if the manifest says nothing, and an empty list if it says `false`
    let may_be = packages.filter(|package| package["publish"].is_null());
    Ok(may_be.filter_map(|package| package["name"].as_str().map(String::from)).collect())
}
