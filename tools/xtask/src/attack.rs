//! Tests attacks by another user of the same machine. Each attack plants files as that user, and then starts a program
//! that uses this library. The program must neither run the planted files nor overwrite files of its own user.
//!
//! Acting as the other user needs root on Linux. Attacks that need no other user are covered by ordinary tests.

use crate::run::Outcome;

/// The task `attack`: runs all attacks.
pub fn task(args: &[String]) -> Outcome {
    match args {
        [] => all(),
        _ => Err("usage: cargo xtask attack".into()),
    }
}

#[cfg(not(target_os = "linux"))]
fn all() -> Outcome {
    Err("the attacks are made for Linux".into())
}

#[cfg(target_os = "linux")]
use linux::all;

#[cfg(target_os = "linux")]
mod linux {
    use crate::{
        run::{Outcome, cargo, root, run},
        setup,
    };
    use std::{
        env, fs,
        os::unix::{
            fs::{MetadataExt, PermissionsExt, lchown, symlink},
            process::CommandExt,
        },
        path::{Path, PathBuf},
        process::Command,
    };

    /// The attacker: the user `nobody`.
    const NOBODY: u32 = 65534;

    /// C code of the planted library. When the library is loaded, it creates the file that `ATTACK_MARK` names.
    const PAYLOAD: &str = r#"
#include <stdio.h>
#include <stdlib.h>
__attribute__((constructor)) static void loaded(void) {
  const char* mark = getenv("ATTACK_MARK");
  FILE* file = mark ? fopen(mark, "w") : NULL;
  if (file) fclose(file);
}
"#;

    /// The attacked program, which is an example of the runtime crate.
    const VICTIM: &str = "load_libraries";

    /// The attack guesses the process ids of future programs: it plants links for this number of ids after the current
    /// one.
    const PROCESSES: u32 = 2000;

    type Attack = fn(&Scene) -> Outcome<Vec<String>>;

    const ATTACKS: [(&str, Attack); 7] = [
        ("a shim in the shared folder of temporary files", shared_folder),
        ("links in the shared folder of temporary files", links),
        ("libtorch above the working folder", libtorch_above),
        ("NVRTC above the working folder", nvrtc_above),
        ("MPI of an environment, and beside a launcher, that others wrote", mpi_of_another),
        ("root with the home of another user", home_of_another),
        ("libtorch in a project's folder that all can write", open_project),
    ];

    pub fn all() -> Outcome {
        let is_root = fs::metadata("/proc/self").is_ok_and(|me| me.uid() == 0);
        if !is_root {
            return Err("the attacks need another user: run this as root".into());
        }
        setup::task(&[])?;
        run(cargo().args(["build", "--package", "backends-runtime", "--example", VICTIM]))?;
        let mut succeeded = 0;
        for (name, attack) in ATTACKS {
            let scene = Scene::new()?;
            let harm = attack(&scene)?;
            println!("{name}: {}", if harm.is_empty() { "refused".into() } else { harm.join("; ") });
            succeeded += usize::from(!harm.is_empty());
        }
        if succeeded == 0 { Ok(()) } else { Err(format!("{succeeded} of {} attacks succeed", ATTACKS.len())) }
    }

    /// A folder with everything that an attack needs. It is removed when the value is dropped.
    struct Scene(PathBuf);

    impl Drop for Scene {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    fn said(path: &Path) -> impl Fn(std::io::Error) -> String + '_ {
        move |why| format!("{}: {why}", path.display())
    }

    impl Scene {
        /// Creates the folder in the system's folder of temporary files, because the other user may have no access to
        /// other folders.
        fn new() -> Outcome<Scene> {
            let made = Command::new("mktemp").args(["-d", "-t", "backends-attack-XXXXXX"]).output();
            let path =
                made.ok().filter(|made| made.status.success()).and_then(|made| String::from_utf8(made.stdout).ok());
            let scene = Scene(PathBuf::from(path.ok_or("mktemp makes no folder")?.trim()));
            chmod(&scene.0, 0o755)?;
            for (folder, mode) in [("tmp", 0o1777), ("bin", 0o755), ("mine", 0o700)] {
                let path = scene.at(folder);
                fs::create_dir(&path).map_err(said(&path))?;
                chmod(&path, mode)?;
            }
            let program = root().join("target/debug/examples").join(VICTIM);
            fs::copy(program, scene.at("bin/program")).map_err(said(&scene.at("bin/program")))?;
            let (source, payload) = (scene.at("bin/payload.c"), scene.payload());
            fs::write(&source, PAYLOAD).map_err(said(&source))?;
            run(Command::new("cc").args(["-shared", "-fPIC", "-o"]).arg(&payload).arg(&source))?;
            Ok(scene)
        }

        fn at(&self, path: &str) -> PathBuf {
            self.0.join(path)
        }

        fn payload(&self) -> PathBuf {
            self.at("bin/payload.so")
        }

        /// Runs shell commands as the other user, in a folder that everyone can write to.
        fn plant(&self, commands: &str) -> Outcome {
            let mut shell = Command::new("sh");
            shell.args(["-ec", commands]).uid(NOBODY).gid(NOBODY).env("PAYLOAD", self.payload());
            run(shell.current_dir(self.at("tmp")))
        }

        /// Returns a command that starts the attacked program. The environment contains only `ATTACK_MARK`, `PATH` and
        /// `TMPDIR`.
        fn victim(&self, program: &Path) -> Command {
            let mut command = Command::new(program);
            command.env_clear().env("ATTACK_MARK", self.at("mine/mark"));
            command.env("PATH", env::var_os("PATH").unwrap_or_default()).env("TMPDIR", self.at("tmp"));
            command.current_dir(self.at("mine"));
            command
        }

        /// Returns a command that starts the attacked program, with the repository's libtorch selected by `LIBTORCH`.
        fn torch_victim(&self) -> Command {
            let mut command = self.victim(&self.at("bin/program"));
            command.env("LIBTORCH", root().join("libtorch/torch"));
            command
        }

        /// Runs the attacked program and returns a description of the harm done.
        fn harm(&self, victim: &mut Command) -> Outcome<Vec<String>> {
            let output = victim.output().map_err(|why| why.to_string())?;
            for line in String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).lines() {
                println!("    {line}");
            }
            let mut harm = Vec::new();
            if !output.status.success() {
                harm.push(format!("the program ended with {}", output.status));
            }
            if self.at("mine/mark").exists() {
                harm.push("the planted library was loaded".into());
            }
            Ok(harm)
        }

        /// The name of the shim (the compiled libtorch adapter) in the cache. Any user can find out this name by
        /// running the program.
        fn name_of_shim(&self) -> Outcome<String> {
            let folder = self.at("mine/cache");
            run(self.torch_victim().env("BACKENDS_CACHE", &folder).stdout(std::process::Stdio::null()))?;
            let mut names = fs::read_dir(&folder).map_err(said(&folder))?.flatten().map(|entry| entry.file_name());
            let shim = names.find(|name| name.to_string_lossy().starts_with("backends-torch"));
            Ok(shim.ok_or("no shim was built")?.to_string_lossy().into_owned())
        }
    }

    fn chmod(path: &Path, mode: u32) -> Outcome {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).map_err(said(path))
    }

    fn shared_folder(scene: &Scene) -> Outcome<Vec<String>> {
        let name = scene.name_of_shim()?;
        scene.plant(&format!("mkdir backends; chmod 777 backends; cp $PAYLOAD backends/{name}"))?;
        scene.harm(&mut scene.torch_victim())
    }

    fn links(scene: &Scene) -> Outcome<Vec<String>> {
        let name = scene.name_of_shim()?;
        let precious = scene.at("mine/precious");
        fs::write(&precious, "precious").map_err(said(&precious))?;
        scene.plant("mkdir backends; chmod 777 backends")?;
        // file names that end in a process id can be predicted; this process makes the links itself, because other
        // commands would use up process ids
        for process in (1..=PROCESSES).map(|ahead| std::process::id() + ahead) {
            for end in ["", ".cpp"] {
                let link = scene.at(&format!("tmp/backends/{name}.{process}{end}"));
                symlink(&precious, &link).map_err(said(&link))?;
                lchown(&link, Some(NOBODY), Some(NOBODY)).map_err(said(&link))?;
            }
        }
        let mut harm = scene.harm(&mut scene.torch_victim())?;
        if fs::read(&precious).map_err(said(&precious))? != b"precious" {
            harm.push("a file of this user was overwritten".into());
        }
        Ok(harm)
    }

    fn libtorch_above(scene: &Scene) -> Outcome<Vec<String>> {
        scene.plant("mkdir -p libtorch/torch/lib some/folder; cp $PAYLOAD libtorch/torch/lib/libtorch_cpu.so")?;
        scene.harm(scene.victim(&scene.at("bin/program")).current_dir(scene.at("tmp/some/folder")))
    }

    fn nvrtc_above(scene: &Scene) -> Outcome<Vec<String>> {
        scene.plant("mkdir -p cuda/nvidia/cu13/lib some/folder; cp $PAYLOAD cuda/nvidia/cu13/lib/libnvrtc.so.13")?;
        scene.harm(scene.victim(&scene.at("bin/program")).current_dir(scene.at("tmp/some/folder")))
    }

    fn mpi_of_another(scene: &Scene) -> Outcome<Vec<String>> {
        scene.plant("for home in his lib64; do mkdir -p $home/lib $home/bin; cp $PAYLOAD $home/lib/libmpi_abi.so.1; touch $home/bin/mpiexec; done")?;
        scene.plant("mkdir lib; cp $PAYLOAD lib/libmpi.so.12; cp $PAYLOAD libmpi_abi.so.1")?;
        let his = scene.at("tmp/his");
        let mut harm = Vec::new();
        for (name, value) in [("VIRTUAL_ENV", his.clone()), ("CONDA_PREFIX", his.clone()), ("PATH", his.join("bin"))] {
            harm.extend(scene.harm(scene.victim(&scene.at("bin/program")).env(name, value))?);
        }
        // the working folder of the program belongs to the attacker
        harm.extend(
            scene.harm(scene.victim(&scene.at("bin/program")).current_dir(scene.at("tmp")).env("PATH", ":bin:."))?,
        );
        // a folder that everyone can write to is rejected even if the user names it explicitly
        scene.plant("chmod -R a+rwX his")?;
        for (name, value) in [("MPI_HOME", his.clone()), ("WORLD_MPI", his.join("lib/libmpi_abi.so.1"))] {
            harm.extend(scene.harm(scene.victim(&scene.at("bin/program")).env(name, value))?);
        }
        Ok(harm)
    }

    fn home_of_another(scene: &Scene) -> Outcome<Vec<String>> {
        let name = scene.name_of_shim()?;
        scene.plant(&format!("mkdir -p user/.cache/backends; cp $PAYLOAD user/.cache/backends/{name}"))?;
        // also plants a torch package in the attacker's home folder, for any version of Python
        scene.plant(
            "for minor in $(seq 8 20); do lib=user/.local/lib/python3.$minor/site-packages/torch/lib; mkdir -p $lib; \
             cp $PAYLOAD $lib/libtorch_cpu.so; touch $lib/../__init__.py; done",
        )?;
        let home = scene.at("tmp/user");
        let mut harm = scene.harm(scene.torch_victim().env("HOME", &home))?;
        harm.extend(scene.harm(scene.victim(&scene.at("bin/program")).env("HOME", &home))?);
        Ok(harm)
    }

    /// Puts the program into the target folder of a cargo project to which the other user can write.
    fn open_project(scene: &Scene) -> Outcome<Vec<String>> {
        let project = scene.at("project");
        fs::create_dir_all(project.join("target/debug")).map_err(said(&project))?;
        for file in ["Cargo.toml", "target/CACHEDIR.TAG"] {
            fs::write(project.join(file), "").map_err(said(&project))?;
        }
        let program = project.join("target/debug/program");
        fs::copy(scene.at("bin/program"), &program).map_err(said(&program))?;
        chmod(&project, 0o777)?;
        scene.plant(
            "mkdir -p ../project/libtorch/torch/lib; cp $PAYLOAD ../project/libtorch/torch/lib/libtorch_cpu.so",
        )?;
        let mut harm = scene.harm(&mut scene.victim(&program))?;
        // now only the project's owner can write to the project, but the project contains a link to a folder of the
        // attacker
        chmod(&project, 0o755)?;
        let link = project.join("libtorch");
        fs::rename(&link, scene.at("tmp/his")).map_err(said(&link))?;
        symlink(scene.at("tmp/his"), &link).map_err(said(&link))?;
        harm.extend(scene.harm(&mut scene.victim(&program))?);
        Ok(harm)
    }
}
