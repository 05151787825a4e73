//! Runs Miri, a sanitizer, benchmarks, and instruction counts.

use crate::{
    bench,
    binaries::{BENCHES, built},
    ratios,
    run::{Outcome, cargo, root, run},
};
use std::{fs, process::Command};

/// The task `miri [FILTER]`: runs tests of the CPU code in Miri.
pub fn miri(args: &[String]) -> Outcome {
    run(Command::new("rustup").args(["component", "add", "--toolchain", NIGHTLY, "miri", "rust-src"]))?;
    // crossbeam-epoch, which rayon uses, is unsound under Stacked Borrows (crossbeam-rs/crossbeam, issue 545), but
    // sound under Tree Borrows
    run(runtime_tests(&["miri", "test"], args).env("MIRIFLAGS", "-Zmiri-tree-borrows"))
}

/// The task `asan [FILTER]`: runs tests of the CPU code with the address sanitizer.
pub fn asan(args: &[String]) -> Outcome {
    run(Command::new("rustup").args(["toolchain", "install", "--profile", "minimal", NIGHTLY]))?;
    let folder = root().join("target/asan").display().to_string();
    // with an explicit target, cargo does not apply the sanitizer to build scripts and macros
    let target = format!("{}-unknown-linux-gnu", std::env::consts::ARCH);
    let mut command = runtime_tests(&["test", "--target", &target, "--target-dir", &folder], args);
    command.env("RUSTFLAGS", "-Zsanitizer=address");
    // tests request more memory than the machine has, and plans and pools are never freed, so neither counts as an
    // error
    run(command.env("ASAN_OPTIONS", "allocator_may_return_null=1:detect_leaks=0"))
}

/// The task `aarch64 [FILTER]`: runs tests of the CPU code for 64-bit ARM in an emulator.
pub fn aarch64(args: &[String]) -> Outcome {
    const TARGET: &str = "aarch64-unknown-linux-musl";
    run(Command::new("rustup").args(["toolchain", "install", "--profile", "minimal", "--target", TARGET, NIGHTLY]))?;
    // The build for ARM needs no C compiler for ARM, because the target includes a C library, and Rust includes a
    // linker. Some crates link to `libdl`; an empty `libdl.a` is enough, since the C library contains the functions of
    // `libdl`.
    let folder = root().join("target/aarch64");
    let libraries = folder.join("libraries");
    fs::create_dir_all(&libraries)
        .and_then(|()| fs::write(libraries.join("libdl.a"), "!<arch>\n"))
        .map_err(|e| e.to_string())?;
    let mut command = runtime_tests(&["test", "--target", TARGET, "--target-dir", &folder.display().to_string()], args);
    command.env("CARGO_ENCODED_RUSTFLAGS", format!("-Clinker=rust-lld\x1f-Lnative={}", libraries.display()));
    // skips a test that loads a library, because statically linked programs load no libraries
    command.args(["--skip", "elf::tests::a_whole_library"]);
    run(command.env("CARGO_TARGET_AARCH64_UNKNOWN_LINUX_MUSL_RUNNER", "qemu-aarch64-static"))
}

/// The toolchain that has Miri and sanitizers.
const NIGHTLY: &str = "nightly";

/// The crates of the runtime that load no libraries.
const RUNTIME: [&str; 6] = ["-p", "backends-core", "-p", "backends-load", "-p", "backends-numpyish"];

/// The cargo command, with the nightly toolchain, for the tests of code that runs on the CPU.
fn runtime_tests(with: &[&str], args: &[String]) -> Command {
    // `cargo()` is not used, because it selects the toolchain that runs this program
    let mut command = Command::new("cargo");
    command.current_dir(root()).env_remove("RUSTUP_TOOLCHAIN").env_remove("CARGO");
    command.arg(format!("+{NIGHTLY}")).args(with).args(RUNTIME).arg("--lib").args(args);
    // for options of the test programs
    command.arg("--");
    command
}

/// The task `bench [BENCH [ARGS]]`, or `bench peers ..`: runs benchmarks.
pub fn bench(args: &[String]) -> Outcome {
    if let [first, rest @ ..] = args
        && first == "peers"
    {
        return bench::task(rest);
    }
    let mut command = cargo();
    command.args(["bench", "-p", BENCHES]);
    if let [name, args @ ..] = args {
        command.args(["--bench", name, "--"]).args(args);
    }
    run(&mut command)?;
    if args.first().is_some_and(|name| name == "rows") {
        print!("{}", ratios::table(&root().join("target/criterion"))?);
    }
    Ok(())
}

/// The task `callgrind BENCH [ARGS]`: counts the instructions of a benchmark or an example.
pub fn callgrind(args: &[String]) -> Outcome {
    let [name, args @ ..] = args else {
        return Err("usage: cargo xtask callgrind BENCH [ARGS]".into());
    };
    let program = built(name)?;
    let counts = root().join("target").join(format!("callgrind.{name}.out"));
    let out = format!("--callgrind-out-file={}", counts.display());
    run(Command::new("valgrind").args(["--tool=callgrind", &out]).arg(program).args(args))?;
    run(Command::new("callgrind_annotate").args(["--inclusive=yes", "--auto=no"]).arg(&counts))
}
