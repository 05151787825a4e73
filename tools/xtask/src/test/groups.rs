//! Named groups of tests. The tests of a group run within minutes.

/// A group of the workspace's tests.
pub struct Group {
    /// The name on the command line.
    pub name: &'static str,
    /// The description in the list of groups.
    pub of: &'static str,
    /// The test programs of the group.
    targets: &'static [&'static str],
    /// Further arguments of `cargo test` that select tests.
    others: &'static [&'static str],
}

/// All groups, beginning with the slowest. Together they contain all tests.
pub const GROUPS: [Group; 13] = [
    Group {
        name: "cuda",
        of: "rows, kernels and memory on a GPU or the software device, and that device",
        targets: &[
            "calls",
            "cuda",
            "cuda_bounds",
            "cuda_errors",
            "cuda_formulas",
            "cuda_kernels",
            "cuda_words",
            "device_memory",
            "kernels",
            "planted",
        ],
        others: &[],
    },
    Group {
        name: "ranks",
        of: "arrays split over ranks, threads, and processes that share memory",
        targets: &["agreement", "conformance", "libraries", "mpi", "nccl", "nufft", "processes", "ranks", "threads"],
        others: &[],
    },
    Group { name: "doc", of: "examples in the documentation", targets: &[], others: &["--doc"] },
    Group {
        name: "table",
        of: "op tables, calls by name, mistakes that must not compile",
        targets: &["any_backend", "broken", "by_name", "compile_fail", "shapes"],
        others: &[],
    },
    Group {
        name: "programs",
        of: "example programs, the command line, tables of users",
        targets: &[
            "any_of",
            "bare",
            "cli",
            "counted",
            "intercepted",
            "kinds",
            "naive",
            "odd_names",
            "program",
            "programs",
        ],
        others: &["--examples"],
    },
    Group { name: "unit", of: "unit tests of the libraries and programs", targets: &[], others: &["--lib", "--bins"] },
    Group {
        name: "torch",
        of: "rows on libtorch, and arrays that libraries exchange",
        targets: &["dlpack", "dlpack_python", "torch"],
        others: &[],
    },
    Group { name: "gradients", of: "derivatives", targets: &["derivatives", "gradients"], others: &[] },
    Group { name: "formulas", of: "formulas and lazy arrays", targets: &["formulas"], others: &[] },
    Group {
        name: "ops",
        of: "ops on every library, beyond their rows' cases",
        targets: &["methods", "ops"],
        others: &[],
    },
    Group {
        name: "solvers",
        of: "equations, minima, differential equations, sparse matrices",
        targets: &["linear", "minimize", "ode", "sparse", "sparse_gradients", "spatial"],
        others: &[],
    },
    Group {
        name: "cpu",
        of: "rows and kernels on the CPU",
        targets: &["cpu", "memory", "numpyish", "pages", "unoptimized"],
        others: &[],
    },
    Group {
        name: "files",
        of: "files, values that are stored, and pictures",
        targets: &[
            "backends",
            "damaged_images",
            "fuzz",
            "mrc",
            "nifti",
            "npz",
            "numpy",
            "pictures",
            "safetensors",
            "serde",
            "tiff",
            "unpacking",
        ],
        others: &[],
    },
];

impl Group {
    /// The arguments of `cargo test --workspace` that select the group.
    pub fn args(&self) -> impl Iterator<Item = String> {
        let targets = self.targets.iter().flat_map(|target| ["--test", target]);
        targets.chain(self.others.iter().copied()).map(String::from)
    }
}

/// A list of the groups, with one group per line.
pub fn list() -> String {
    GROUPS.iter().map(|group| format!("  {:12} {}\n", group.name, group.of)).collect()
}

/// The group of this name.
pub fn named(name: &str) -> Option<&'static Group> {
    GROUPS.iter().find(|group| group.name == name)
}

/// The arguments that select the tests of one op on each library, and the tests of the op's gradients.
pub fn row(name: &str, args: &[String]) -> Vec<String> {
    let programs = ["--test", "numpyish", "--test", "torch", "--test", "cuda", "--test", "gradients"].map(String::from);
    let (options, filters) = match args.iter().position(|arg| arg == "--") {
        Some(at) => (&args[..at], &args[at + 1..]),
        None => (args, &[][..]),
    };
    let filter = ["--".into(), format!("{name}::")];
    programs.into_iter().chain(options.iter().cloned()).chain(filter).chain(filters.iter().cloned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::cargo;

    #[test]
    fn every_test_program_is_in_one_group() {
        // a program with `test = false` runs only if it is named
        let output = cargo().args(["metadata", "--no-deps", "--format-version", "1"]).output().unwrap();
        let metadata: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        let targets = metadata["packages"].as_array().unwrap().iter().flat_map(|p| p["targets"].as_array().unwrap());
        let tests = targets.filter(|target| target["kind"][0] == "test" && target["test"] == true);
        let mut names: Vec<&str> = tests.map(|target| target["name"].as_str().unwrap()).collect();
        names.sort_unstable();
        names.dedup();
        let mut grouped: Vec<&str> = GROUPS.iter().flat_map(|group| group.targets).copied().collect();
        grouped.sort_unstable();
        assert_eq!(names, grouped);
    }

    #[test]
    fn a_row_is_a_filter() {
        let args = row("add", &["--no-fail-fast".into(), "--".into(), "--nocapture".into()]);
        assert_eq!(args[8..], ["--no-fail-fast", "--", "add::", "--nocapture"]);
    }
}
