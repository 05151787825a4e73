//! Finds the remaining processes of a job, and the ports on which processes listen, by reading `/proc` on Linux.

use std::{
    collections::BTreeSet,
    fs,
    process::Command,
    sync::atomic::{AtomicUsize, Ordering::Relaxed},
    thread,
    time::{Duration, Instant},
};

/// A job, whose processes are identified by a mark in their environment.
#[derive(Clone, Debug)]
pub struct Job(String);

impl Job {
    /// Marks the processes that a command starts.
    pub fn of(command: &mut Command) -> Job {
        static NUMBER: AtomicUsize = AtomicUsize::new(0);
        let mark = format!("{}-{}", std::process::id(), NUMBER.fetch_add(1, Relaxed));
        command.env("BACKENDS_JOB", &mark);
        Job(format!("BACKENDS_JOB={mark}"))
    }

    /// The process number and program name of each process of the job.
    fn processes(&self) -> Vec<(u32, String)> {
        let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
        let numbers = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
        let of_job = |number: &u32| {
            let environment = fs::read(format!("/proc/{number}/environ")).unwrap_or_default();
            environment.split(|byte| *byte == 0).any(|variable| variable == self.0.as_bytes())
        };
        let named = |number: u32| {
            let name = fs::read_to_string(format!("/proc/{number}/comm")).unwrap_or_default();
            (number, name.trim().to_owned())
        };
        numbers.filter(of_job).map(named).collect()
    }

    /// The program names of the processes of the job.
    pub fn programs(&self) -> Vec<String> {
        self.processes().into_iter().map(|(_, name)| name).collect()
    }

    /// Checks that all processes of the job end within 5 s.
    #[track_caller]
    pub fn has_ended(&self) {
        let start = Instant::now();
        while !self.processes().is_empty() {
            assert!(start.elapsed() < Duration::from_secs(5), "left: {:?}", self.processes());
            thread::sleep(Duration::from_millis(20));
        }
    }

    /// Waits up to 30 s for at least `least` processes of a program.
    fn ranks(&self, program: &str, least: usize) -> Vec<u32> {
        let start = Instant::now();
        loop {
            let ranks: Vec<u32> =
                self.processes().into_iter().filter(|(_, name)| name == program).map(|(number, _)| number).collect();
            if ranks.len() >= least || start.elapsed() > Duration::from_secs(30) {
                return ranks;
            }
            thread::sleep(Duration::from_millis(20));
        }
    }

    /// Lets a program run for half a second on at least three ranks, and kills one of its processes. Returns whether a
    /// process was killed.
    pub fn kill_a_rank(&self, program: &str) -> bool {
        let ranks = self.ranks(program, 3);
        thread::sleep(Duration::from_millis(500));
        let Some(rank) = ranks.last() else { return false };
        Command::new("kill").args(["-KILL", &rank.to_string()]).status().is_ok_and(|status| status.success())
    }

    /// Waits until a program runs on three ranks, and then until none of them is left, for up to 30 s. Kills the
    /// launcher. Returns whether all three ranks ended.
    pub fn ends_without_launcher(&self, program: &str) -> bool {
        let has_started = self.ranks(program, 3).len() == 3;
        let start = Instant::now();
        let is_left = || self.processes().iter().any(|(_, name)| name == program);
        while is_left() && start.elapsed() < Duration::from_secs(30) {
            thread::sleep(Duration::from_millis(20));
        }
        let has_ended = !is_left();
        for (number, _) in self.processes() {
            let _ = Command::new("kill").args(["-KILL", &number.to_string()]).status();
        }
        has_started && has_ended
    }

    /// The network interfaces visible to a process of a program.
    pub fn interfaces(&self, program: &str) -> Vec<String> {
        let Some(rank) = self.ranks(program, 1).first().copied() else { return Vec::new() };
        let text = fs::read_to_string(format!("/proc/{rank}/net/dev")).unwrap_or_default();
        text.lines().filter_map(|line| Some(line.split_once(':')?.0.trim().to_owned())).collect()
    }

    /// Waits until a program runs on two ranks, and lets it run for a while. Returns the number of its processes, and
    /// the open ports of the launcher and the ranks. Ports on loopback addresses, and ports of processes named
    /// `except`, are left out.
    pub fn open_ports(&self, program: &str, except: &str) -> (usize, Vec<String>) {
        let ranks = self.ranks(program, 2);
        thread::sleep(Duration::from_millis(700));
        let sockets_of = |number: u32| {
            let files = fs::read_dir(format!("/proc/{number}/fd")).into_iter().flatten().flatten();
            let targets = files.filter_map(|file| fs::read_link(file.path()).ok()?.to_str().map(String::from));
            let number = |target: String| Some(target.strip_prefix("socket:[")?.strip_suffix(']')?.to_owned());
            targets.filter_map(number).collect::<Vec<_>>()
        };
        let (excepted, others): (Vec<_>, Vec<_>) = self.processes().into_iter().partition(|(_, name)| name == except);
        let mut sockets: BTreeSet<String> = others.into_iter().flat_map(|(number, _)| sockets_of(number)).collect();
        // the ranks inherit the sockets of the process `except`, so these sockets are left out
        for socket in excepted.into_iter().flat_map(|(number, _)| sockets_of(number)) {
            sockets.remove(&socket);
        }
        let mut open = Vec::new();
        for table in ["tcp", "tcp6", "udp", "udp6"] {
            // reads the socket tables of the network in which the ranks run
            let Some(rank) = ranks.first() else { break };
            let text = fs::read_to_string(format!("/proc/{rank}/net/{table}")).unwrap_or_default();
            for line in text.lines().skip(1) {
                // the fields are sl local_address rem_address st .. inode
                let fields: Vec<&str> = line.split_whitespace().collect();
                let [_, local, _, state, ..] = fields[..] else { continue };
                let listens = if table.starts_with("tcp") { state == "0A" } else { true };
                let is_loopback =
                    local.starts_with("0100007F:") || local.starts_with("00000000000000000000000001000000:");
                if listens && !is_loopback && fields.get(9).is_some_and(|inode| sockets.contains(*inode)) {
                    open.push(format!("{table} {local}"));
                }
            }
        }
        (ranks.len(), open)
    }
}
