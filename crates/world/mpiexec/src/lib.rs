//! Runs programs under MPI, for tests. This crate starts the `mpiexec` of a given MPI library, ends a job that takes
//! too long, and leaves no process behind.
//!
//! The libraries are in the folder `mpi` of the repository, which `cargo xtask setup` creates. Each library has its own
//! folder, with `bin` and `lib`: `mpi/mpich` and `mpi/openmpi`.

use std::{
    env, fmt, io,
    path::{Path, PathBuf},
    process::{Child, Command, ExitStatus, Stdio},
    sync::mpsc,
    thread,
    time::{Duration, Instant},
};

/// An MPI library and the binary interface through which it is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mpi {
    /// MPICH, used through the interface of the standard.
    Standard,
    /// MPICH, used through its own interface.
    Mpich,
    /// Open MPI, used through its own interface.
    OpenMpi,
}

impl fmt::Display for Mpi {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Mpi::Standard => "MPICH, standard interface",
            Mpi::Mpich => "MPICH",
            Mpi::OpenMpi => "Open MPI",
        })
    }
}

impl Mpi {
    /// All variants of this enum.
    pub const ALL: [Mpi; 3] = [Mpi::Standard, Mpi::Mpich, Mpi::OpenMpi];

    /// The folder in which this MPI library is installed: `mpich` or `openmpi` in `folder`, which is the folder `mpi`
    /// of the repository.
    pub fn home(self, folder: &Path) -> PathBuf {
        folder.join(if self == Mpi::OpenMpi { "openmpi" } else { "mpich" })
    }

    /// The path of the library file.
    pub fn library(self, folder: &Path) -> PathBuf {
        let name = match self {
            Mpi::Standard => "libmpi_abi.so.1",
            Mpi::Mpich => "libmpi.so.12",
            Mpi::OpenMpi => "libmpi.so.40",
        };
        self.home(folder).join("lib").join(name)
    }
}

/// The folder with the libraries: `BACKENDS_MPI`, or otherwise `mpi` in the workspace of the package that cargo runs.
/// `None` if a library is missing in the folder.
pub fn folder() -> Option<PathBuf> {
    let set = |name: &str| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let in_workspace = || {
        let package = set("CARGO_MANIFEST_DIR")?;
        let root = package.ancestors().find(|folder| folder.join("Cargo.lock").is_file())?;
        Some(root.join("mpi"))
    };
    let folder = set("BACKENDS_MPI").or_else(in_workspace)?;
    Mpi::ALL.iter().all(|mpi| mpi.library(&folder).is_file()).then_some(folder)
}

/// Returns the command `mpiexec -n ranks`, to which the caller adds the program and its arguments. The ranks
/// communicate through the memory of this machine and open no port to other machines. Each launcher opens one port for
/// processes on other machines. No setting closes this port. On Linux, if this process may create networks (as root),
/// the job runs in a separate network with only a loopback interface. This process's environment variables for MPI and
/// for ranks are not passed on.
pub fn mpiexec(mpi: Mpi, folder: &Path, ranks: usize) -> Command {
    let home = mpi.home(folder);
    let mut command = Command::new(home.join("bin/mpiexec"));
    let of_ranks =
        ["PMI_", "PMIX_", "OMPI_", "PRTE_", "OPAL_", "HYDRA_", "HYDI_", "MPICH_", "MPIR_", "WORLD_", "SLURM_"];
    let inherited = env::vars_os().map(|(name, _)| name);
    for name in inherited.filter(|name| of_ranks.iter().any(|begin| name.to_string_lossy().starts_with(begin))) {
        command.env_remove(name);
    }
    command.env("WORLD_MPI", mpi.library(folder));
    if mpi == Mpi::OpenMpi {
        // Open MPI, as installed by a package manager, does not know the folder in which it is installed
        command.env("OPAL_PREFIX", &home);
        // Open MPI refuses to run as root without these variables, and in containers the only user is often root
        command.envs([("OMPI_ALLOW_RUN_AS_ROOT", "1"), ("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")]);
        command.args(["--oversubscribe", "--bind-to", "none", "--prtemca", "if_include", "lo"]);
        // avoids the search for networks, which takes a second and opens ports
        command.args(["--mca", "pml", "ob1", "--mca", "btl", "self,sm"]);
    } else {
        // avoids the search for networks, as above for Open MPI
        command.envs([("UCX_TLS", "self,sm"), ("UCX_NET_DEVICES", "lo"), ("FI_TCP_IFACE", "lo")]);
    }
    command.args(["-n", &ranks.to_string()]);
    #[cfg(target_os = "linux")]
    // SAFETY: the closure only makes system calls and allocates nothing, as required between `fork` and `exec`.
    unsafe {
        std::os::unix::process::CommandExt::pre_exec(&mut command, || {
            own_network();
            Ok(())
        });
    }
    command
}

/// Moves this process and its children into a separate network with only a loopback interface. Does nothing if this is
/// not allowed.
#[cfg(target_os = "linux")]
fn own_network() {
    // SAFETY: the arguments are numbers, `interface` has the length that the call expects, and the socket is closed.
    unsafe {
        if libc::unshare(libc::CLONE_NEWNET) != 0 {
            return;
        }
        let socket = libc::socket(libc::AF_INET, libc::SOCK_DGRAM | libc::SOCK_CLOEXEC, 0);
        if socket < 0 {
            return;
        }
        let mut interface: libc::ifreq = std::mem::zeroed();
        for (to, from) in interface.ifr_name.iter_mut().zip(b"lo") {
            *to = *from as libc::c_char;
        }
        interface.ifr_ifru.ifru_flags = (libc::IFF_UP | libc::IFF_RUNNING) as libc::c_short;
        libc::ioctl(socket, libc::SIOCSIFFLAGS as _, &interface);
        libc::close(socket);
    }
}

/// A finished program.
#[derive(Debug)]
pub struct Finished {
    /// The exit status; `None` if the program exceeded the limit and was killed.
    pub status: Option<ExitStatus>,
    /// The output on stdout and stderr.
    pub output: String,
    /// The running time.
    pub time: Duration,
}

/// Runs a program, usually `mpiexec`, until it ends or its running time reaches the limit.
///
/// # Errors
/// An error if the program cannot be started.
pub fn finish(command: &mut Command, limit: Duration) -> io::Result<Finished> {
    finish_or(command, limit, || {})
}

/// Like [`finish`], but calls `at_limit` before a program that has reached the limit is killed.
///
/// # Errors
/// An error if the program cannot be started.
pub fn finish_or(command: &mut Command, limit: Duration, at_limit: impl FnOnce()) -> io::Result<Finished> {
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(command, 0);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let start = Instant::now();
    let mut child = command.spawn()?;
    let (sender, printed) = mpsc::channel();
    let read = |stream: Option<Box<dyn io::Read + Send>>| {
        let (Some(mut stream), sender) = (stream, sender.clone()) else { return };
        thread::spawn(move || {
            let mut part = [0; 4096];
            while let Ok(n @ 1..) = stream.read(&mut part) {
                // the receiver may have been dropped after the limit
                let _ = sender.send(part[..n].to_vec());
            }
        });
    };
    read(child.stdout.take().map(|stream| Box::new(stream) as Box<dyn io::Read + Send>));
    read(child.stderr.take().map(|stream| Box::new(stream) as Box<dyn io::Read + Send>));
    drop(sender);
    let status = wait(&mut child, limit);
    if status.is_none() {
        at_limit();
        end(&mut child);
    }
    let time = start.elapsed();
    let mut bytes = Vec::new();
    // reads to the end of stdout and stderr; stops after 5 s if processes that were left behind keep them open
    let last = Instant::now() + Duration::from_secs(5);
    while let Ok(part) = printed.recv_timeout(last.saturating_duration_since(Instant::now())) {
        bytes.extend(part);
    }
    Ok(Finished { status, output: String::from_utf8_lossy(&bytes).into_owned(), time })
}

fn wait(child: &mut Child, limit: Duration) -> Option<ExitStatus> {
    let start = Instant::now();
    while start.elapsed() < limit {
        if let Ok(Some(status)) = child.try_wait() {
            return Some(status);
        }
        thread::sleep(Duration::from_millis(5));
    }
    None
}

/// Asks all processes in the process group of a launcher to end, and then kills the processes that remain in the group.
fn end(child: &mut Child) {
    #[cfg(unix)]
    if let Ok(group) = libc::pid_t::try_from(child.id()) {
        // SAFETY: `kill` takes only numbers. The child leads its process group and has not been waited for, so no other
        // group has this number.
        unsafe { libc::kill(-group, libc::SIGTERM) };
        wait(child, Duration::from_secs(3));
        // SAFETY: `kill` takes only numbers. This call follows moments after the first, and the system reuses a process
        // number only after all other numbers.
        unsafe { libc::kill(-group, libc::SIGKILL) };
    }
    let _ = child.kill();
    let _ = child.wait();
}
