//! Packs the tests and benchmarks of the CUDA backend for a machine with a GPU, without cargo and network, that is
//! available only for minutes.

use crate::run::{Outcome, cargo, create, root, run, write};
use crate::{binaries::BENCHES, gpu_try, setup, soft_cuda};
use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
    time::Instant,
};

/// Largest size of the packed bundle, in bytes.
const LIMIT: u64 = 24 << 20;

/// The command that compresses the archive. The programs share code at large distances within the archive, so a large
/// dictionary halves the size.
const PACKER: &str = "xz --x86 --lzma2=preset=6,dict=256MiB";

/// The architecture for which kernels are compiled in advance: H100 and H200.
const ARCH: &str = "sm_90";

/// The test programs: tests of all ops in all dtypes, and other tests that need a GPU.
const TESTS: [&str; 8] =
    ["cuda", "cuda_bounds", "cuda_formulas", "device_memory", "dlpack", "formulas", "ops", "programs"];

/// The example of the crate `backends` that compiles kernels in advance.
const COMPILER: &str = "compile_kernels";

/// The script that runs the bundle.
const SCRIPT: &str = include_str!("gpu_bundle.sh");

/// The script that makes the benchmark's calls in CuPy and PyTorch.
const PEERS: &str = include_str!("../peers_gpu.py");

/// The task `gpu-bundle [--try [--plant]]`: packs the bundle. With `--try`, rehearses the run on a GPU machine.
pub fn task(args: &[String]) -> Outcome {
    let usage = "usage: cargo xtask gpu-bundle [--try [--plant]]";
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let (try_it, plant) = match args[..] {
        [] => (false, false),
        ["--try"] => (true, false),
        ["--try", "--plant"] => (true, true),
        _ => return Err(usage.into()),
    };
    setup::task(&[])?;
    let begin = Instant::now();
    let said = |what: &str| println!("[{} s] {what}", begin.elapsed().as_secs());
    let folder = root().join("target/gpu-bundle");
    let _ = fs::remove_dir_all(&folder);
    for sub in ["tests", "benches", "kernels"] {
        create(&folder.join(sub))?;
    }
    let (compilers, programs): (Vec<_>, Vec<_>) =
        built("carried", &tests())?.into_iter().partition(|(name, _)| name == COMPILER);
    for (name, program) in programs {
        copy(&program, &folder.join("tests").join(name))?;
    }
    said("the tests are built");
    // builds the benchmark with the release profile, because users build the library with this profile
    for (name, program) in built("release", &["build", "-p", BENCHES, "--bench", "gpu"].map(String::from))? {
        copy(&program, &folder.join("benches").join(name))?;
    }
    said("the bench is built");
    for data in ["tests/data", "examples/data"] {
        let to = folder.join(data);
        create(&to)?;
        for file in fs::read_dir(root().join(data)).map_err(|why| format!("{data}: {why}"))?.flatten() {
            copy(&file.path(), &to.join(file.file_name()))?;
        }
    }
    let asked = root().join("target/gpu-kernels");
    harvest(&folder, &asked)?;
    said("the kernels that they ask for are known");
    let (_, compiler) = compilers.first().ok_or_else(|| format!("cargo names no program for {COMPILER}"))?;
    compile_kernels(compiler, &folder.join("kernels"), &asked)?;
    said("the kernels are compiled");
    write(&folder.join("run.sh"), SCRIPT)?;
    write(&folder.join("peers_gpu.py"), PEERS)?;
    let packed = root().join("target/gpu-bundle.tar.xz");
    pack(&folder, &packed)?;
    let size = fs::metadata(&packed).map_err(|why| format!("{}: {why}", packed.display()))?.len();
    said(&format!("{}: {:.1} MiB", packed.display(), size as f64 / (1 << 20) as f64));
    if size > LIMIT {
        return Err(format!("the bundle is larger than {} MiB", LIMIT >> 20));
    }
    if try_it { gpu_try::task(&packed, plant) } else { Ok(()) }
}

/// Packs a folder with user 0 as the owner of the files. If root unpacks the archive, the files then belong to root,
/// and not to whichever user has the packing user's number.
fn pack(folder: &Path, packed: &Path) -> Outcome {
    let name = folder.file_name().ok_or("the folder has no name")?;
    run(Command::new("tar")
        .args(["--owner=0", "--group=0", "--numeric-owner", "--mode=go-w", "-I", PACKER, "-C"])
        .arg(folder.parent().unwrap_or(folder))
        .arg("-cf")
        .arg(packed)
        .arg(name))
}

fn tests() -> Vec<String> {
    let names = TESTS.iter().flat_map(|name| ["--test", name]);
    // builds the example in one command with the tests; a separate command would build the example and the libraries
    // again with other features
    let packages = ["test", "--no-run", "-p", "backends", "-p", "backends-runtime", "--example", COMPILER];
    packages.into_iter().chain(names).map(String::from).collect()
}

/// Builds programs without symbols. Returns their names and paths.
fn built(profile: &str, args: &[String]) -> Outcome<Vec<(String, PathBuf)>> {
    let mut command = cargo();
    command.args(args).args(["--profile", profile, "--message-format", "json-render-diagnostics"]);
    command.env("CARGO_PROFILE_RELEASE_STRIP", "true");
    let out = command.stderr(std::process::Stdio::inherit()).output().map_err(|why| why.to_string())?;
    if !out.status.success() {
        return Err("the programs of the bundle do not compile".into());
    }
    let text = String::from_utf8_lossy(&out.stdout);
    let paths = text.lines().filter_map(|line| line.split_once("\"executable\":\"")?.1.split('"').next());
    // removes the hash that cargo adds to the name
    let named = |path: PathBuf| {
        let stem = path.file_stem()?.to_string_lossy().into_owned();
        Some((stem.rsplit_once('-').map_or(stem.clone(), |(name, _)| name.into()), path))
    };
    Ok(paths.map(PathBuf::from).filter_map(named).collect())
}

/// Runs the programs on the software device, to record the names and sources of all kernels that they request,
/// including kernels of formulas. The compiled kernels are stored, so that a rehearsal compiles nothing.
fn harvest(bundle: &Path, asked: &Path) -> Outcome {
    let _ = fs::remove_dir_all(asked);
    create(asked)?;
    let on_software = |program: &Path| -> Outcome<Command> {
        let mut command = Command::new(program);
        soft_cuda::on(&mut command)?;
        command
            .env("CARGO_MANIFEST_DIR", root())
            .env("BACKENDS_CUDA_KERNELS", asked)
            .env("CUDA_HOME", root().join("cuda"));
        Ok(command)
    };
    for name in TESTS {
        run(on_software(&bundle.join("tests").join(name))?.arg("--quiet"))?;
    }
    run(on_software(&bundle.join("benches/gpu"))?.args(["--once", "--small"]))
}

/// Compiles the kernels in two processes, because within one process the compiler uses one thread.
fn compile_kernels(program: &Path, folder: &Path, asked: &Path) -> Outcome {
    let start = |part: &str| Command::new(program).args([ARCH, part]).arg(asked).env("BACKENDS_CACHE", folder).spawn();
    let running = ["0/2", "1/2"].map(start);
    for child in running {
        let status = child.and_then(|mut child| child.wait()).map_err(|why| format!("{COMPILER}: {why}"))?;
        if !status.success() {
            return Err(format!("{COMPILER}: {status}"));
        }
    }
    Ok(())
}

fn copy(from: &Path, to: &Path) -> Outcome {
    fs::copy(from, to).map(drop).map_err(|why| format!("{}: {why}", from.display()))
}

/// Tests of the script `gpu_bundle.sh`, with fake test programs.
#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use crate::gpu_results::Results;

    /// Runs a bundle that consists of the script and a fake test program. The names of its tests say in which way each
    /// test fails. Returns the results and the output.
    fn ran(name: &str, settings: &[(&str, &str)]) -> (Results, String) {
        let folder = root().join("target/tests/gpu-bundle").join(name);
        let _ = fs::remove_dir_all(&folder);
        for sub in ["bundle/tests", "bundle/kernels/cuda", "out"] {
            create(&folder.join(sub)).unwrap();
        }
        let bundle = folder.join("bundle");
        write(&bundle.join("run.sh"), SCRIPT).unwrap();
        let program = bundle.join("tests/cuda");
        write(&program, include_str!("gpu_bundle_fake.sh")).unwrap();
        use std::os::unix::fs::PermissionsExt;
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        let mut command = Command::new("bash");
        command.arg(bundle.join("run.sh")).arg("correctness").arg(folder.join("out")).env("TEST_LIMIT", "1");
        command.env("PYTHONPATH", "").env("CUDA_HOME", "unused").envs(settings.iter().copied());
        if settings.iter().any(|(name, _)| *name == "BLOCKED") {
            create(&folder.join("out/.correctness.new")).unwrap();
        }
        let output = command.output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let results = Results::of(&folder.join("out/correctness.tar.gz")).unwrap_or_default();
        (results, text)
    }

    #[test]
    fn each_fault_is_named_and_costs_no_other_result() {
        let (results, text) = ran("faults", &[]);
        for said in [
            "failed: cuda sum::wrong: case `x`: 1 of 2 elements: [0]: expected 1.0, got 2.0",
            "failed: cuda tril::faulty: tril: DriverError(CUDA_ERROR_ILLEGAL_ADDRESS)",
            "hung: cuda scan::hangs",
            "crashed: cuda label::crashes",
            "cuda: 10 passed, 2 failed, 1 hung, 1 crashed, 0 not run, of 14",
            "kernels were compiled here",
        ] {
            assert!(text.contains(said), "{said}:\n{text}");
        }
        let table = results.table();
        assert!(table.contains("| cuda | 10 | 2 | 1 | 1 | 0 |"), "{table}");
        assert!(results.summary.contains("hung: cuda scan::hangs"), "{}", results.summary);
    }

    #[test]
    fn where_the_first_ops_fail_nothing_else_is_tried() {
        let (results, text) = ran("smoke", &[("FAKE", "no device")]);
        assert!(text.contains("there is no driver") && text.contains("the rest is left out"), "{text}");
        assert!(results.summary.contains("smoke failed"), "it came back: {}", results.summary);
    }

    #[test]
    fn the_budget_is_kept_and_what_was_not_run_is_said() {
        let (_, text) = ran("budget", &[("FAKE", "many"), ("BUDGET", "8"), ("JOBS", "1"), ("TEST_LIMIT", "100")]);
        assert!(text.contains("rows: stopped after"), "{text}");
        assert!(!text.contains(" 0 not run") && text.contains("not run, of 614"), "{text}");
    }

    #[test]
    fn a_program_that_writes_without_end_is_stopped() {
        let (_, text) = ran("writes", &[("FAKE", "writes"), ("FILE_LIMIT", "100")]);
        assert!(text.contains("smoke: ended by signal 25"), "{text}");
    }

    #[test]
    fn a_place_for_results_that_takes_none_is_said() {
        let (_, text) = ran("full", &[("BLOCKED", "1")]);
        assert!(text.contains("the results cannot be packed into"), "{text}");
        assert!(text.contains("cuda: 10 passed"), "the steps go on: {text}");
    }
}
