//! The launchers of parallel programs, recognised by the environment variables that they set for the started processes.

use std::env;

/// A family of MPI libraries and launchers that work together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Family {
    /// MPICH, Intel MPI, Cray MPICH, MVAPICH.
    Mpich,
    /// Open MPI.
    OpenMpi,
}

/// The launcher that started this process as one of several processes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Launcher {
    /// The name of the launcher.
    name: &'static str,
    /// The environment variable that contains the number of started processes.
    variable: &'static str,
    /// The number of started processes.
    pub size: usize,
    /// The rank of this process, if the launcher sets it.
    pub rank: Option<usize>,
    /// The family of the launcher; `None` if it is unknown.
    pub family: Option<Family>,
}

/// For each known launcher: its name, the environment variables that hold the number of ranks and the rank, and its
/// family. A launcher precedes all launchers that can start it. For example, Slurm starts the launchers of MPI
/// libraries, once on every machine.
const KNOWN: [(&str, &str, &str, Option<Family>); 6] = [
    ("mpiexec of Open MPI", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK", Some(Family::OpenMpi)),
    ("mpiexec of MVAPICH", "MV2_COMM_WORLD_SIZE", "MV2_COMM_WORLD_RANK", Some(Family::Mpich)),
    // the protocol of MPICH, Intel MPI and Cray MPI, which Slurm also implements
    ("mpiexec", "PMI_SIZE", "PMI_RANK", Some(Family::Mpich)),
    ("flux run", "FLUX_JOB_SIZE", "FLUX_TASK_RANK", None),
    ("jsrun", "JSM_NAMESPACE_SIZE", "JSM_NAMESPACE_RANK", None),
    // SLURM_NTASKS is not used, because it is also set in a job script that starts no process by `srun`
    ("srun", "SLURM_STEP_NUM_TASKS", "SLURM_PROCID", None),
];

/// The launcher that started this process, if any.
pub(super) fn launcher() -> Option<Launcher> {
    launcher_of(|name| env::var(name).ok())
}

fn launcher_of(variable: impl Fn(&str) -> Option<String>) -> Option<Launcher> {
    let number = |name: &str| variable(name)?.trim().parse::<usize>().ok();
    KNOWN.into_iter().find_map(|(name, size, rank, family)| {
        Some(Launcher { name, variable: size, size: number(size)?, rank: number(rank), family })
    })
}

impl std::fmt::Display for Launcher {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} started {} ranks ({}={})", self.name, self.size, self.variable, self.size)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(variables: &[(&str, &str)]) -> Option<Launcher> {
        launcher_of(|name| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| value.to_string()))
    }

    #[test]
    fn launchers_are_known_by_what_they_set() {
        assert_eq!(of(&[]), None);
        let hydra = of(&[("PMI_SIZE", "4"), ("PMI_RANK", "3"), ("SLURM_STEP_NUM_TASKS", "2")]).unwrap();
        assert_eq!((hydra.size, hydra.rank, hydra.family), (4, Some(3), Some(Family::Mpich)));
        assert_eq!(hydra.to_string(), "mpiexec started 4 ranks (PMI_SIZE=4)");
        let prte = of(&[("OMPI_COMM_WORLD_SIZE", "2"), ("SLURM_STEP_NUM_TASKS", "1")]).unwrap();
        assert_eq!((prte.size, prte.rank, prte.family), (2, None, Some(Family::OpenMpi)));
        let slurm = of(&[("SLURM_STEP_NUM_TASKS", "8"), ("SLURM_PROCID", "0")]).unwrap();
        assert_eq!((slurm.size, slurm.rank, slurm.family), (8, Some(0), None));
    }

    #[test]
    fn a_script_of_a_job_was_not_started_as_several() {
        assert_eq!(of(&[("SLURM_NTASKS", "8"), ("SLURM_PROCID", "0")]), None);
        assert_eq!(of(&[("PMI_SIZE", "several")]), None);
    }
}
