//! Compilation of CUDA C++ to machine code with NVRTC. Needs no driver and no GPU.

use super::{error::Checked, library::Library};
use backend_core::{Error, Result};
use cudarc::nvrtc::sys;
use std::{
    ffi::{CStr, CString, c_char},
    sync::OnceLock,
};

/// The target of a compilation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// The architecture: `sm_90`, for example, means machine code, and `compute_90` means PTX.
    pub arch: String,
    /// Whether compilation should be fast, at the cost of slow kernels, for checks of the source. Set this only in a
    /// separate process, because the compiler may then also produce slow code for other threads.
    pub quick: bool,
}

impl Target {
    /// Returns the target for a device of this compute capability. If the compiler knows the device, the target is
    /// machine code for the device. Otherwise the target is PTX of the newest known architecture that is older than the
    /// device.
    pub fn of(capability: (u32, u32)) -> Result<Target> {
        let device = capability.0 * 10 + capability.1;
        let known = known_archs()?;
        if known.contains(&device) {
            return Ok(Target::named(format!("sm_{device}")));
        }
        let older = known.iter().filter(|&&arch| arch < device).max();
        let why =
            || format!("the compiler knows no architecture for compute capability {}.{}", capability.0, capability.1);
        older.map(|arch| Target::named(format!("compute_{arch}"))).ok_or_else(|| Error::unavailable("cuda", why()))
    }

    /// Returns the target for the architecture named `arch`.
    pub fn named(arch: impl Into<String>) -> Target {
        Target { arch: arch.into(), quick: false }
    }

    fn is_ptx(&self) -> bool {
        self.arch.starts_with("compute_")
    }
}

/// A compiled program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Compiled {
    /// Machine code (a cubin), or PTX text with its final NUL.
    pub image: Vec<u8>,
    /// The names of the requested kernels in the image, in the order of the requests.
    pub names: Vec<String>,
}

/// Options for the compilation of every program.
///
/// The compiler must not contract a product and a sum to one operation, so that results equal the CPU's results. Where
/// `x * y + z` must be rounded only once, the source calls `fma`.
const OPTIONS: &[&CStr] = &[c"-std=c++17", c"-fmad=false", c"-default-device", c"-minimal"];

/// Returns a text that contains everything besides the source on which a compiled program depends: compiler version,
/// target and options. The text is part of the cache key.
pub(crate) fn fingerprint(target: &Target) -> Result<String> {
    static VERSION: OnceLock<(i32, i32)> = OnceLock::new();
    Library::Nvrtc.load()?;
    let (major, minor) = *VERSION.get_or_init(|| {
        let (mut major, mut minor) = (0, 0);
        // SAFETY: the library is loaded, and both pointers point to integers, which stay 0 on failure.
        unsafe { sys::nvrtcVersion(&mut major, &mut minor) };
        (major, minor)
    });
    Ok(format!("{major}.{minor} {target:?} {OPTIONS:?}"))
}

/// The architectures that the compiler supports, such as 90 for `sm_90`.
fn known_archs() -> Result<Vec<u32>> {
    Library::Nvrtc.load()?;
    let mut count = 0;
    // SAFETY: the library is loaded, and the pointer points to an integer.
    unsafe { sys::nvrtcGetNumSupportedArchs(&mut count) }.result().checked("compile")?;
    let mut archs = vec![0_i32; count.max(0) as usize];
    // SAFETY: the array has room for as many integers as the library reported.
    unsafe { sys::nvrtcGetSupportedArchs(archs.as_mut_ptr()) }.result().checked("compile")?;
    Ok(archs.into_iter().map(|arch| arch as u32).collect())
}

/// Compiles `source`; `kernels` are the C++ names of the requested kernels, such as `take<float>`.
///
/// An error contains the compiler's messages.
pub fn compile(source: &str, kernels: &[String], target: &Target) -> Result<Compiled> {
    Library::Nvrtc.load()?;
    let text = |s: &str| CString::new(s).map_err(|_| Error::argument("compile", "the source must not contain a NUL"));
    let source = text(source)?;
    let kernels = kernels.iter().map(|kernel| text(kernel)).collect::<Result<Vec<_>>>()?;
    let arch = text(&format!("-arch={}", target.arch))?;
    let program = Program::new(&source)?;
    for kernel in &kernels {
        // SAFETY: the program is alive and not yet compiled; the string ends with a NUL.
        unsafe { sys::nvrtcAddNameExpression(program.0, kernel.as_ptr()) }.result().checked("compile")?;
    }
    let quick: &[&CStr] = if target.quick { &[c"--Ofast-compile=max"] } else { &[] };
    let options = OPTIONS.iter().chain(quick).copied().chain([&*arch]);
    let options: Vec<*const c_char> = options.map(CStr::as_ptr).collect();
    // SAFETY: the program is alive; `options` has as many strings as the call says, and they outlive the call.
    let result = unsafe { sys::nvrtcCompileProgram(program.0, options.len() as i32, options.as_ptr()) }.result();
    result
        .map_err(|error| Error::library("compile", "cuda", format!("{error}\n{}", program.log())).caused_by(error))?;
    let names = kernels.iter().map(|kernel| program.lowered(kernel)).collect::<Result<_>>()?;
    Ok(Compiled { image: program.image(target)?, names })
}

/// NVRTC's program object, destroyed on drop.
struct Program(sys::nvrtcProgram);

impl Program {
    fn new(source: &CStr) -> Result<Program> {
        let mut program = std::ptr::null_mut();
        let none = std::ptr::null();
        // SAFETY: the library is loaded; the strings end with a NUL; there are no headers.
        let result =
            unsafe { sys::nvrtcCreateProgram(&mut program, source.as_ptr(), c"backends.cu".as_ptr(), 0, none, none) };
        result.result().checked("compile")?;
        Ok(Program(program))
    }

    fn log(&self) -> String {
        let mut size = 0;
        // SAFETY: the program is alive, and the pointer points to an integer.
        if unsafe { sys::nvrtcGetProgramLogSize(self.0, &mut size) }.result().is_err() {
            return String::new();
        }
        let mut log = vec![0_u8; size + 1];
        // SAFETY: the buffer is larger than the log.
        unsafe { sys::nvrtcGetProgramLog(self.0, log.as_mut_ptr().cast()) };
        String::from_utf8_lossy(&log).trim_end_matches('\0').trim_end().to_string()
    }

    fn lowered(&self, kernel: &CStr) -> Result<String> {
        let mut name = std::ptr::null();
        // SAFETY: the program is compiled, and `kernel` was added to it before.
        unsafe { sys::nvrtcGetLoweredName(self.0, kernel.as_ptr(), &mut name) }.result().checked("compile")?;
        // SAFETY: on success, the name is a string that lives as long as the program.
        Ok(unsafe { CStr::from_ptr(name) }.to_string_lossy().into_owned())
    }

    fn image(&self, target: &Target) -> Result<Vec<u8>> {
        let (size_of, read): (unsafe fn(_, _) -> _, unsafe fn(_, _) -> _) = if target.is_ptx() {
            (sys::nvrtcGetPTXSize, sys::nvrtcGetPTX)
        } else {
            (sys::nvrtcGetCUBINSize, sys::nvrtcGetCUBIN)
        };
        let mut size = 0_usize;
        // SAFETY: the program is compiled, and the pointer points to an integer.
        unsafe { size_of(self.0, &mut size) }.result().checked("compile")?;
        let mut image = vec![0_u8; size];
        // SAFETY: the buffer has the size that the library reported.
        unsafe { read(self.0, image.as_mut_ptr().cast::<c_char>()) }.result().checked("compile")?;
        Ok(image)
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // SAFETY: the program is alive and not used again.
        unsafe { sys::nvrtcDestroyProgram(&mut self.0) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::compiler;

    #[test]
    fn errors_hold_the_log() {
        let Some(target) = compiler() else { return };
        let error = compile("__global__ void k() { nonsense; }", &[], &target).unwrap_err().to_string();
        assert!(error.contains("nonsense"), "{error}");
    }

    #[test]
    fn kernels_are_found_by_their_names() {
        let Some(target) = compiler() else { return };
        let source = "template <typename T> __global__ void fill(T* out, T x) { out[threadIdx.x] = x; }";
        let compiled = compile(source, &["fill<float>".into(), "fill<int>".into()], &target).unwrap();
        assert_eq!(compiled.names.len(), 2);
        assert_ne!(compiled.names[0], compiled.names[1]);
        assert!(compiled.image.starts_with(b"\x7fELF"));
        let ptx = compile(source, &["fill<int>".into()], &Target::named("compute_90")).unwrap();
        assert!(String::from_utf8_lossy(&ptx.image).contains(&ptx.names[0]));
    }

    #[test]
    fn unknown_devices_get_ptx_of_an_older_architecture() {
        if compiler().is_none() {
            return;
        }
        assert_eq!(Target::of((9, 0)).unwrap().arch, "sm_90");
        assert_eq!(Target::of((9, 1)).unwrap().arch, "compute_90");
        assert!(Target::of((99, 0)).unwrap().arch.starts_with("compute_"));
        assert!(matches!(Target::of((1, 0)), Err(Error::Unavailable { .. })));
    }
}
