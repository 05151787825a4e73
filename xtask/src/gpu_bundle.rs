//! The Cuda and Torch tests and benches, packed for a machine that has a GPU but neither cargo nor network.

use crate::run::{Outcome, cargo, root, run};
use crate::{measure::BENCHES, setup, soft_cuda};
use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

/// The most that the packed bundle may be.
const LIMIT: u64 = 60 << 20;

/// What packs the bundle. The programs have much in common, at distances that take a large dictionary to see: that makes it half as large.
const PACKER: &str = "xz --x86 --lzma2=preset=6,dict=256MiB";

/// The architectures whose kernels are compiled ahead: H100 and H200.
const ARCH: &str = "sm_90";

/// The tests that run on a GPU; beside them, those of the functions inside the runtime.
const TESTS: [&str; 14] = [
    "cuda",
    "cuda_bounds",
    "cuda_formulas",
    "device_memory",
    "dlpack",
    "epr_reference",
    "exchange",
    "formulas",
    "grad_formulas",
    "indexing",
    "linalg",
    "mlp",
    "nufft",
    "torch",
];

/// What the bundle is started with.
const SCRIPT: &str = include_str!("gpu_bundle.sh");

/// `gpu-bundle [--try]`
pub fn task(args: &[String]) -> Outcome {
    let try_it = match args {
        [] => false,
        [flag] if flag == "--try" => true,
        _ => return Err("usage: cargo xtask gpu-bundle [--try]".into()),
    };
    setup::task(&[])?;
    let folder = root().join("target/gpu-bundle");
    let _ = fs::remove_dir_all(&folder);
    for sub in ["tests", "benches", "kernels"] {
        create(&folder.join(sub))?;
    }
    for (name, program) in built(&tests())? {
        copy(&program, &folder.join("tests").join(name))?;
    }
    for (name, program) in built(&["build", "-p", BENCHES, "--bench", "rows"].map(String::from))? {
        copy(&program, &folder.join("benches").join(name))?;
    }
    for data in ["tests/data", "examples/data"] {
        let to = folder.join(data);
        create(&to)?;
        for file in fs::read_dir(root().join(data)).map_err(|why| format!("{data}: {why}"))?.flatten() {
            copy(&file.path(), &to.join(file.file_name()))?;
        }
    }
    compile_kernels(&folder.join("kernels"))?;
    fs::write(folder.join("run.sh"), SCRIPT).map_err(|why| format!("run.sh: {why}"))?;
    let packed = root().join("target/gpu-bundle.tar.xz");
    // of user 0: where root unpacks it, the files are root's, and not of whoever made them here
    let owner = ["--owner=0", "--group=0", "--numeric-owner"];
    run(Command::new("tar")
        .args(owner)
        .args(["-I", PACKER, "-C"])
        .arg(root().join("target"))
        .arg("-cf")
        .arg(&packed)
        .arg("gpu-bundle"))?;
    let size = fs::metadata(&packed).map_err(|why| format!("{}: {why}", packed.display()))?.len();
    println!("{}: {:.1} MiB", packed.display(), size as f64 / (1 << 20) as f64);
    if size > LIMIT {
        return Err(format!("the bundle is larger than {} MiB", LIMIT >> 20));
    }
    if try_it { run_on_software(&packed) } else { Ok(()) }
}

fn tests() -> Vec<String> {
    let names = TESTS.iter().flat_map(|name| ["--test", name]);
    let packages = ["test", "--no-run", "-p", "backends", "-p", "backend-runtime", "--lib"];
    packages.into_iter().chain(names).map(String::from).collect()
}

/// Builds programs, small and fast; their names and where they are.
fn built(args: &[String]) -> Outcome<Vec<(String, PathBuf)>> {
    let mut command = cargo();
    command.args(args).args(["--release", "--message-format", "json-render-diagnostics"]);
    command.env("CARGO_PROFILE_RELEASE_STRIP", "true");
    let out = command.stderr(std::process::Stdio::inherit()).output().map_err(|why| why.to_string())?;
    if !out.status.success() {
        return Err("the programs of the bundle do not compile".into());
    }
    let text = String::from_utf8_lossy(&out.stdout);
    let paths = text.lines().filter_map(|line| line.split_once("\"executable\":\"")?.1.split('"').next());
    // cargo adds a hash to the name
    let named = |path: PathBuf| {
        let stem = path.file_stem()?.to_string_lossy().into_owned();
        Some((stem.rsplit_once('-').map_or(stem.clone(), |(name, _)| name.into()), path))
    };
    Ok(paths.map(PathBuf::from).filter_map(named).collect())
}

/// Compiles the kernels in two processes: the compiler does one thing at a time in each.
fn compile_kernels(folder: &Path) -> Outcome {
    let programs = built(&["build", "--example", "compile_kernels"].map(String::from))?;
    let (_, program) = programs.first().ok_or("cargo names no program for compile_kernels")?;
    let start = |part: &str| Command::new(program).args([ARCH, part]).env("BACKENDS_CACHE", folder).spawn();
    let running = ["0/2", "1/2"].map(start);
    for child in running {
        let status = child.and_then(|mut child| child.wait()).map_err(|why| format!("compile_kernels: {why}"))?;
        if !status.success() {
            return Err(format!("compile_kernels: {status}"));
        }
    }
    Ok(())
}

/// Unpacks the bundle in an empty folder and runs it on the software device.
fn run_on_software(packed: &Path) -> Outcome {
    let empty = root().join("target/gpu-bundle-try");
    let _ = fs::remove_dir_all(&empty);
    create(&empty)?;
    run(Command::new("tar").arg("-C").arg(&empty).arg("-xf").arg(packed))?;
    let mut command = Command::new("bash");
    command.arg("gpu-bundle/run.sh").current_dir(&empty);
    // the rest of the benches takes hours there
    command.env("BENCH_ARGS", "--test n.=.1000/");
    command.env("CUDA_HOME", root().join("cuda")).env("LIBTORCH", root().join("libtorch/torch"));
    run(soft_cuda::as_gpu_of(&mut command)?)
}

fn create(folder: &Path) -> Outcome {
    fs::create_dir_all(folder).map_err(|why| format!("{}: {why}", folder.display()))
}

fn copy(from: &Path, to: &Path) -> Outcome {
    fs::copy(from, to).map(drop).map_err(|why| format!("{}: {why}", from.display()))
}
