//! Tests all calls under real launchers, with each MPI library, and tests the end of jobs after a failure.
#![cfg(target_os = "linux")]

mod processes;

use backends_world::{DType, Join, World, bytes, status};
use mpiexec::{Finished, Mpi};
use processes::Job;
use std::{
    os::unix::process::ExitStatusExt,
    path::{Path, PathBuf},
    process::Command,
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

/// The program that tries every call, and makes mistakes on request.
const PROGRAM: &str = env!("CARGO_BIN_EXE_world_check");

/// The time within which a failed job must end. It normally ends within a second after the failure, but the start of a
/// job takes time, especially on a busy machine.
const SOON: Duration = Duration::from_secs(15);

/// The folder with the MPI libraries. If it does not exist, tests are skipped, or fail if `BACKENDS_REQUIRE` contains
/// `mpi`.
fn folder() -> Option<PathBuf> {
    let folder = mpiexec::folder();
    if folder.is_none() {
        let required = std::env::var("BACKENDS_REQUIRE").unwrap_or_default();
        let is_required = required == "1" || required.split(',').any(|part| part.trim() == "mpi");
        assert!(!is_required, "there is no MPI: `cargo xtask setup` fetches it");
        eprintln!("the test is skipped: there is no MPI, which `cargo xtask setup` fetches");
        if let Some(path) = std::env::var_os("BACKENDS_SKIPPED") {
            let file = std::fs::OpenOptions::new().append(true).create(true).open(path);
            let _ = file.and_then(|mut file| std::io::Write::write_all(&mut file, b"mpi\n"));
        }
    }
    folder
}

/// Ensures that only one job runs at a time, because waiting ranks keep processors busy.
static TURN: Mutex<()> = Mutex::new(());

fn turn() -> MutexGuard<'static, ()> {
    // a failed test leaves nothing that affects other tests, so a poisoned lock is ignored
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Maximum number of runs of a job. A job is repeated if its launcher dies of a segmentation fault, or hangs after all
/// ranks have ended. The launcher of Open MPI 5 dies after 3 of 100 jobs in which ranks abort on a busy machine, and has
/// hung once in about a thousand such jobs. By then the ranks have printed all their output. Failures of ranks do not
/// cause repetitions: a segmentation fault of a rank does not end the launcher in this way, and a rank that hangs is still
/// there when the time limit ends.
const RUNS: usize = 4;

/// Runs the program, and checks that no process of the job is left.
fn run(command: &mut Command, args: &[&str]) -> Finished {
    let _turn = turn();
    let job = Job::of(command);
    command.arg(PROGRAM).args(args);
    let rank = Path::new(PROGRAM).file_name().unwrap();
    for _ in 0..RUNS {
        let mut left = Vec::new();
        let finished = mpiexec::finish_or(command, Duration::from_secs(120), || left = job.programs()).unwrap();
        job.has_ended();
        let Some(status) = finished.status else {
            assert!(!left.iter().any(|name| **name == *rank), "it took too long; {left:?} ran: {}", finished.output);
            continue;
        };
        if status.signal() != Some(libc::SIGSEGV) {
            return finished;
        }
    }
    panic!("the launcher died of a segmentation fault or hung each time")
}

#[track_caller]
fn succeeds(finished: &Finished) {
    assert!(finished.status.is_some_and(|status| status.success()), "{:?}: {}", finished.status, finished.output);
}

#[track_caller]
fn has(finished: &Finished, text: &str) {
    assert!(finished.output.contains(text), "no {text:?} in: {}", finished.output);
}

#[track_caller]
fn once(finished: &Finished, text: &str) {
    assert_eq!(finished.output.matches(text).count(), 1, "{text:?} in: {}", finished.output);
}

#[track_caller]
fn fails(finished: &Finished, code: i32) {
    assert_eq!(finished.status.and_then(|status| status.code()), Some(code), "{}", finished.output);
    assert!(!finished.output.contains("came through"), "{}", finished.output);
    assert!(finished.time < SOON, "{:?}: {}", finished.time, finished.output);
}

#[test]
fn all_calls_with_each_library_on_one_to_four_ranks() {
    let Some(folder) = folder() else { return };
    for mpi in Mpi::ALL {
        for ranks in 1..=4 {
            let finished = run(&mut mpiexec::mpiexec(mpi, &folder, ranks), &[]);
            succeeds(&finished);
            once(&finished, &format!("all calls on {ranks} ranks are as they have to be"));
            let interface = match mpi {
                Mpi::Standard => "MPICH Version: 5.0.2 (standard binary interface, long counts",
                Mpi::Mpich => "MPICH Version: 5.0.2 (MPICH binary interface, long counts",
                Mpi::OpenMpi => "Open MPI v5.0.11 (Open MPI binary interface, short counts",
            };
            once(&finished, interface);
        }
    }
}

#[test]
fn all_calls_with_checks_with_short_counts_and_with_a_limit() {
    let Some(folder) = folder() else { return };
    for mpi in Mpi::ALL {
        let mut command = mpiexec::mpiexec(mpi, &folder, 3);
        succeeds(&run(command.env("WORLD_CHECK", "1").env("WORLD_TIMEOUT", "100"), &[]));
        // no call of this program has more elements (or bytes, for messages) than this limit
        let finished = run(mpiexec::mpiexec(mpi, &folder, 2).env("WORLD_SHORT_COUNTS", "2000000"), &[]);
        succeeds(&finished);
        has(&finished, "short counts");
        let finished = run(mpiexec::mpiexec(mpi, &folder, 3).env("WORLD_SHORT_COUNTS", "700"), &["short-counts"]);
        succeeds(&finished);
    }
}

#[test]
fn a_rank_that_fails_ends_all_and_says_why_once() {
    let Some(folder) = folder() else { return };
    for mpi in Mpi::ALL {
        let run = |mistake| run(mpiexec::mpiexec(mpi, &folder, 3).env("RUST_BACKTRACE", "0"), &[mistake]);
        for mistake in ["panic", "drop"] {
            let finished = run(mistake);
            fails(&finished, status::PANICKED);
            once(&finished, "rank 2 panicked");
            once(&finished, "on purpose");
        }
        let finished = run("passed-on");
        fails(&finished, status::PANICKED);
        once(&finished, "rank 2: panicked: from elsewhere");
        let finished = run("error");
        fails(&finished, status::FAILED);
        once(&finished, "rank 2: broadcast: `root` is rank 99, but the ranks are 0 to 2");
        for mistake in ["exit", "exit-of-a-thread"] {
            let finished = run(mistake);
            fails(&finished, status::LEFT);
            once(&finished, "rank 2 of 3 called exit before its end");
        }
        fails(&run("abort"), 42);
        // after a signal, the exit status depends on the launcher
        let finished = run("kill");
        assert!(finished.status.is_some_and(|status| !status.success()) && finished.time < SOON, "{finished:?}");
        assert!(!finished.output.contains("came through"), "{}", finished.output);
    }
}

#[test]
fn a_rank_that_is_killed_ends_all() {
    let Some(folder) = folder() else { return };
    for mpi in Mpi::ALL {
        let _turn = turn();
        let mut command = mpiexec::mpiexec(mpi, &folder, 3);
        let job = Job::of(&mut command);
        let killer = std::thread::spawn({
            let job = job.clone();
            move || job.kill_a_rank("world_check")
        });
        // all ranks wait forever
        let finished = mpiexec::finish(command.args([PROGRAM, "ring"]), Duration::from_secs(60)).unwrap();
        assert!(killer.join().unwrap(), "there was a rank to kill: {}", finished.output);
        job.has_ended();
        assert!(finished.status.is_some_and(|status| !status.success()), "{mpi}: {finished:?}");
    }
}

#[test]
fn checks_name_what_ranks_call() {
    let Some(folder) = folder() else { return };
    for mpi in Mpi::ALL {
        let run = |mistake| run(mpiexec::mpiexec(mpi, &folder, 3).env("WORLD_CHECK", "1"), &[mistake]);
        // if three ranks fail, at least the message of the first failing rank must appear
        let one_of = |finished: &Finished, texts: &[&str]| {
            fails(finished, status::FAILED);
            assert!(
                texts.iter().any(|text| finished.output.contains(text)),
                "none of {texts:?} in: {}",
                finished.output
            );
        };
        let broadcast = "broadcast of 3 float64 from rank 0";
        one_of(
            &run("diverge"),
            &[
                &format!("this one calls barrier, rank 2 calls {broadcast}"),
                &format!("this one calls {broadcast}, rank 0 calls barrier"),
            ],
        );
        one_of(
            &run("op"),
            &[
                "this one calls add of (3, 4), rank 2 calls getitem of (3, 4)",
                "this one calls getitem of (3, 4), rank 0 calls add of (3, 4)",
            ],
        );
        one_of(&run("counts"), &["sends 2 elements to rank 0", "wants 1 elements of rank 2"]);
    }
}

#[test]
fn a_time_limit_names_the_calls_that_wait() {
    let Some(folder) = folder() else { return };
    for mpi in Mpi::ALL {
        let run = |mistake| run(mpiexec::mpiexec(mpi, &folder, 3).env("WORLD_TIMEOUT", "1"), &[mistake]);
        let ring = run("ring");
        fails(&ring, status::TIMED_OUT);
        for rank in 0..3 {
            once(&ring, &format!("rank {rank} of 3 has waited for 1."));
        }
        assert_eq!(ring.output.matches(" s in recv, in the op roll: ").count(), 3, "{}", ring.output);
        let timeout = run("timeout");
        fails(&timeout, status::TIMED_OUT);
        for rank in 0..2 {
            once(&timeout, &format!("rank {rank} of 3 has waited for 1."));
        }
        assert!(!timeout.output.contains("rank 2 of 3 has waited"), "{}", timeout.output);
    }
}

#[test]
fn a_rank_that_leaves_ends_those_that_wait_for_it_and_nobody_else() {
    let Some(folder) = folder() else { return };
    for mpi in Mpi::ALL {
        for (mistake, call) in [("leaves", "barrier"), ("leaves-message", "recv")] {
            let finished = run(&mut mpiexec::mpiexec(mpi, &folder, 3), &[mistake]);
            fails(&finished, status::LEFT);
            for rank in 0..2 {
                once(&finished, &format!("rank {rank} of 3 has waited for "));
            }
            assert_eq!(finished.output.matches(&format!(" s in {call}: rank 2 has left without it")).count(), 2);
        }
        let finished = run(&mut mpiexec::mpiexec(mpi, &folder, 2), &["extra"]);
        assert_eq!(finished.status.and_then(|status| status.code()), Some(status::LEFT), "{}", finished.output);
        once(&finished, "rank 1 of 2 has waited for ");
        has(&finished, "s in barrier: rank 0 has left without it, all ranks end");
        assert!(finished.time < SOON, "{finished:?}");
        let finished = run(&mut mpiexec::mpiexec(mpi, &folder, 3), &["leaves-in-order"]);
        succeeds(&finished);
        assert_eq!(finished.output.matches("came through").count(), 2, "{}", finished.output);
    }
}

#[test]
fn ranks_end_without_their_launcher() {
    let Some(folder) = folder() else { return };
    for mpi in Mpi::ALL {
        let _turn = turn();
        let mut command = mpiexec::mpiexec(mpi, &folder, 3);
        let job = Job::of(&mut command);
        let watcher = std::thread::spawn(move || job.ends_without_launcher("world_check"));
        // rank 2 stops the launcher and leaves, while the other ranks wait for it
        let finished = mpiexec::finish(command.args([PROGRAM, "leaves-without-launcher"]), Duration::from_secs(90));
        let finished = finished.unwrap();
        assert!(watcher.join().unwrap(), "{mpi}: a rank is left, or has not started: {}", finished.output);
        let signal = finished.status.and_then(|status| status.signal());
        assert_eq!(signal, Some(libc::SIGKILL), "{mpi}: the launcher was not stopped: {}", finished.output);
    }
}

#[test]
fn ranks_that_all_wait_end_without_a_limit() {
    let Some(folder) = folder() else { return };
    for mpi in Mpi::ALL {
        let ring = run(mpiexec::mpiexec(mpi, &folder, 3).env("WORLD_DEADLOCK", "1"), &["ring"]);
        fails(&ring, status::TIMED_OUT);
        for rank in 0..3 {
            once(&ring, &format!("rank {rank} of 3 has waited for "));
        }
        has(&ring, "s in recv, in the op roll: no rank computes (rank 0 is in recv, rank 1 is in recv)");
        // a rank computes and may answer later, so this is no deadlock
        let finished = run(
            mpiexec::mpiexec(mpi, &folder, 3).env("WORLD_DEADLOCK", "0.3").env("WORLD_TIMEOUT", "none"),
            &["listen"],
        );
        succeeds(&finished);
    }
}

#[test]
fn calls_of_several_threads_are_made_one_after_the_other() {
    let Some(folder) = folder() else { return };
    for mpi in Mpi::ALL {
        let finished = run(&mut mpiexec::mpiexec(mpi, &folder, 2), &["threads"]);
        succeeds(&finished);
        assert_eq!(finished.output.matches("came through").count(), 2, "{}", finished.output);
    }
}

#[test]
fn a_library_of_another_family_is_an_error_that_says_what_to_set() {
    let Some(folder) = folder() else { return };
    // Open MPI and the launcher of MPICH belong to different families, so each process would be a separate world of
    // one rank
    let mut command = mpiexec::mpiexec(Mpi::Mpich, &folder, 2);
    command.env("WORLD_MPI", Mpi::OpenMpi.library(&folder)).env("OPAL_PREFIX", Mpi::OpenMpi.home(&folder));
    let finished = run(&mut command, &[]);
    fails(&finished, status::NOT_BEGUN);
    once(&finished, "mpiexec started 2 ranks (PMI_SIZE=2), but Open MPI v5");
    has(&finished, "set WORLD_MPI to the path of the launcher's library");
    // MPICH refuses to start under the launcher of Open MPI
    let mut command = mpiexec::mpiexec(Mpi::OpenMpi, &folder, 2);
    let finished = run(command.env("WORLD_MPI", Mpi::Standard.library(&folder)), &[]);
    assert!(finished.status.is_some_and(|status| !status.success()), "{finished:?}");
    once(&finished, "mpiexec of Open MPI started 2 ranks (OMPI_COMM_WORLD_SIZE=2), and MPICH Version: 5.0.2");
    // the search finds only a library of the wrong family
    let mut command = mpiexec::mpiexec(Mpi::Mpich, &folder, 2);
    command.env("PATH", "/usr/bin:/bin").env_remove("WORLD_MPI").env_remove("VIRTUAL_ENV").env_remove("CONDA_PREFIX");
    command.env("MPI_HOME", Mpi::OpenMpi.home(&folder)).env("OPAL_PREFIX", Mpi::OpenMpi.home(&folder));
    let finished = run(&mut command, &[]);
    fails(&finished, status::NOT_BEGUN);
    once(&finished, "mpiexec started 2 ranks (PMI_SIZE=2), but Open MPI v5");
}

#[test]
fn the_library_is_that_of_the_launcher() {
    let Some(folder) = folder() else { return };
    // the search finds both libraries, first the library of the wrong family
    for (mpi, other, version) in
        [(Mpi::OpenMpi, Mpi::Mpich, "Open MPI v5"), (Mpi::Mpich, Mpi::OpenMpi, "MPICH Version")]
    {
        let mut command = mpiexec::mpiexec(mpi, &folder, 2);
        let path =
            std::env::join_paths([other.home(&folder).join("bin"), mpi.home(&folder).join("bin"), "/bin".into()]);
        command.env_remove("WORLD_MPI").env_remove("VIRTUAL_ENV").env("PATH", path.unwrap());
        command.env("CONDA_PREFIX", other.home(&folder));
        let finished = run(&mut command, &[]);
        succeeds(&finished);
        has(&finished, version);
        has(&finished, "all calls on 2 ranks");
    }
}

#[test]
fn no_library_is_an_error_under_a_launcher_and_one_rank_without() {
    let Some(folder) = folder() else { return };
    let mut command = mpiexec::mpiexec(Mpi::Mpich, &folder, 3);
    let finished = run(command.env("WORLD_MPI", "none"), &[]);
    fails(&finished, status::NOT_BEGUN);
    once(&finished, "mpiexec started 3 ranks (PMI_SIZE=3), but no MPI library was found");
    let mut command = mpiexec::mpiexec(Mpi::Mpich, &folder, 2);
    let finished = run(command.env("WORLD_MPI", folder.join("libmpi.so")), &[]);
    fails(&finished, status::NOT_BEGUN);
    has(&finished, "libmpi.so: No such file");

    let alone = |named: PathBuf| {
        let finished = mpiexec::finish(Command::new(PROGRAM).env("WORLD_MPI", named), Duration::from_secs(60)).unwrap();
        assert!(finished.time < SOON);
        finished
    };
    let finished = alone("none".into());
    succeeds(&finished);
    has(&finished, "one rank alone\n");
    // a program that is started without a launcher can also use a library
    for mpi in [Mpi::Standard, Mpi::Mpich] {
        let finished = alone(mpi.library(&folder));
        succeeds(&finished);
        has(&finished, "all calls on 1 ranks");
    }
    // if a file is named, it must exist and be an MPI library
    for (named, why) in [
        (folder.join("nothing"), "No such file"),
        (PROGRAM.into(), "world_check: "),
        ("libm.so.6".into(), "has no MPI_"),
    ] {
        let finished = alone(named);
        assert_eq!(finished.status.and_then(|status| status.code()), Some(status::NOT_BEGUN), "{finished:?}");
        has(&finished, why);
    }
}

#[test]
fn a_limit_that_is_no_number_is_an_error() {
    let mut command = Command::new(PROGRAM);
    command.env("WORLD_TIMEOUT", "soon").env("WORLD_MPI", "none");
    let finished = mpiexec::finish(&mut command, Duration::from_secs(60)).unwrap();
    assert_eq!(finished.status.and_then(|status| status.code()), Some(status::NOT_BEGUN));
    has(&finished, "WORLD_TIMEOUT is \"soon\"");
}

/// Returns whether this process has the capability to administer the system, which includes its networks.
fn may_make_networks() -> bool {
    const CAP_SYS_ADMIN: u64 = 1 << 21;
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| u64::from_str_radix(line.strip_prefix("CapEff:")?.trim(), 16).ok());
    mask.is_some_and(|mask| mask & CAP_SYS_ADMIN != 0)
}

#[test]
fn ranks_on_one_machine_open_no_port_to_others() {
    let Some(folder) = folder() else { return };
    for mpi in Mpi::ALL {
        let _turn = turn();
        let mut command = mpiexec::mpiexec(mpi, &folder, 2);
        let job = Job::of(&mut command);
        let ports = std::thread::spawn({
            let job = job.clone();
            // each launcher opens one port for its processes on other machines; no setting closes this port
            let except = if mpi == Mpi::OpenMpi { "prterun" } else { "mpiexec" };
            move || (job.interfaces("world_check"), job.open_ports("world_check", except))
        });
        let finished = mpiexec::finish(command.args([PROGRAM, "listen"]), Duration::from_secs(60)).unwrap();
        succeeds(&finished);
        let (interfaces, (ranks, ports)) = ports.join().unwrap();
        assert_eq!(ranks, 2, "the ranks were looked at");
        if may_make_networks() {
            assert_eq!(interfaces, ["lo"], "what the launcher listens at is in a network without others");
        }
        assert!(ports.is_empty(), "{mpi} listens at {ports:?}");
        job.has_ended();
    }
}

#[test]
fn a_job_that_takes_too_long_is_ended() {
    /// The time that a shell may take to start on a busy machine.
    const BUSY: Duration = Duration::from_secs(4);
    // one program ends after SIGTERM, and the other ignores it
    for script in ["sleep 60", "trap '' TERM; while true; do sleep 1; done"] {
        let mut command = Command::new("sh");
        let job = Job::of(command.args(["-c", &format!("echo begun; {script}")]));
        let finished = mpiexec::finish(&mut command, BUSY).unwrap();
        assert_eq!(finished.status, None);
        assert!(finished.output.contains("begun") && finished.time < SOON, "{finished:?}");
        job.has_ended();
    }
    assert!(mpiexec::finish(&mut Command::new("/nothing"), SOON).is_err());
}

/// The test harness ends by `exit`, after worlds were dropped. With `WORLD_TESTS=1` this is not a failure.
#[test]
fn tests_under_a_launcher_end_well() {
    let Some(folder) = folder() else { return };
    for mpi in Mpi::ALL {
        for (setting, program, code) in
            [("1", "tests", 0), ("0", "tests", 1), ("0", "forgets", status::LEFT), ("0", "drops", 0)]
        {
            let finished = run(mpiexec::mpiexec(mpi, &folder, 2).env("WORLD_TESTS", setting), &[program]);
            let found = finished.status.and_then(|status| status.code());
            assert_eq!(found, Some(code), "{mpi}, {program}, {setting}: {}", finished.output);
            if (setting, program) == ("0", "tests") {
                has(&finished, "MPI was finalised when the last handle of the world was dropped");
            }
        }
    }
}

/// The environment variable that marks a process as a rank started by another test.
const AS_RANK: &str = "BACKENDS_AS_RANK";

/// The tests on each rank share one world, whether the harness runs them on one thread or on two.
#[test]
fn tests_share_a_world() {
    let Some(folder) = folder() else { return };
    let program = std::env::current_exe().unwrap();
    for mpi in Mpi::ALL {
        let _turn = turn();
        for threads in ["1", "2"] {
            let mut command = mpiexec::mpiexec(mpi, &folder, 2);
            command.env("WORLD_TESTS", "1").env(AS_RANK, "1").arg(&program);
            command.args(["rank_in_a_test", &format!("--test-threads={threads}")]);
            let finished = mpiexec::finish(&mut command, Duration::from_secs(60)).unwrap();
            succeeds(&finished);
            assert_eq!(finished.output.matches("2 passed").count(), 2, "{}", finished.output);
        }
    }
}

#[test]
fn rank_in_a_test() {
    sum_over_ranks();
}

#[test]
fn rank_in_a_test_that_follows() {
    sum_over_ranks();
}

fn sum_over_ranks() {
    if std::env::var_os(AS_RANK).is_none() {
        return;
    }
    let world = World::init().unwrap();
    let mut x = [1.0_f64];
    world.all_reduce(bytes::of_mut(&mut x), DType::Float64, Join::Sum).unwrap();
    assert_eq!((x, world.size()), ([2.0], 2));
}

/// Exchanges four gigabytes between two ranks.
#[test]
#[ignore = "needs 6 GB of memory"]
fn more_elements_than_an_int_counts() {
    let Some(folder) = folder() else { return };
    for mpi in Mpi::ALL {
        succeeds(&run(&mut mpiexec::mpiexec(mpi, &folder, 2), &["many"]));
    }
}
