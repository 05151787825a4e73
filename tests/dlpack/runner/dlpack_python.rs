//! Runs `exchange.py` with the library of this crate. The environment variable `BACKENDS_NUMPY` names the Python
//! interpreter.

use backend_runtime::{Error, available, cuda::Cuda, torch::Torch};
use std::{env, path::Path, process::Command};

#[test]
fn numpy_exchanges_arrays_with_every_backend() {
    let python = env::var_os("BACKENDS_NUMPY");
    let missing =
        || Error::unavailable("numpy", "BACKENDS_NUMPY names no Python with it: `cargo xtask test` makes one");
    let Some(python) = available("numpy", python.ok_or_else(missing)) else { return };
    let mut backends = vec!["numpyish"];
    backends.extend(available("torch", Torch::cpu()).map(|_| "torch"));
    backends.extend(available("cuda", Cuda::new(0)).map(|_| "cuda"));
    let built = env::current_exe().expect("the test's own program");
    let name = format!("{}backends_dlpack_tests{}", env::consts::DLL_PREFIX, env::consts::DLL_SUFFIX);
    let library = built.parent().expect("it is in a folder").join(name);
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("exchange.py");
    let output = Command::new(python).arg("-B").arg(script).arg(library).args(backends).output().expect("Python runs");
    let (said, wrong) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    println!("{said}");
    assert!(output.status.success(), "{}:\n{wrong}", output.status);
    assert!(said.contains("exchanged with NumPy"), "{said}");
}
