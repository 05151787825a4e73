//! Support for programs that run on many ranks: `mpiexec -n 4 program --ranks`.
//!
//! Every rank runs the whole program. Only rank 0 prints and writes files, but all ranks compute the output, because
//! the computation may need all of them.

use crate::{
    console::{self, Console},
    library::Library,
    memory,
};
use backends::{AnyBackend, Arrays};
use backends_sharded::{
    Sharded, World,
    world::{DType, Join, bytes},
};
use std::{env, error::Error, fmt, process::ExitCode, thread, time::Duration};

/// The time that ranks other than rank 0 wait before they report an error. If all ranks meet the same error, rank 0
/// reports the error and ends the other ranks during this time.
const FIRST_SPEAKS: Duration = Duration::from_millis(500);

/// The ranks of a program: with `--ranks`, the ranks that an MPI launcher has started; otherwise this process alone.
pub struct Ranks(Option<World>);

/// The main function of a program that may run on many ranks. Unlike [`console::main`], it runs on the ranks that a
/// launcher has started, if `are_asked_for` returns true for the options.
///
/// An error is printed once, by the first rank that meets it, and ends all ranks.
pub fn main<O>(
    parsed: Result<Option<O>, impl fmt::Display>,
    help: &str,
    are_asked_for: impl Fn(&O) -> bool,
    run: impl FnOnce(&O, &Ranks, &mut Console) -> Result<(), Box<dyn Error>>,
) -> ExitCode {
    let on_ranks = match &parsed {
        Ok(Some(options)) => are_asked_for(options),
        // only one rank prints the help, or an error in the arguments
        _ => env::args_os().any(|argument| argument == "--ranks"),
    };
    if !on_ranks {
        return console::main(parsed, help, |options, console| run(options, &Ranks(None), console));
    }
    backends_sharded::run(|world| {
        let ranks = Ranks(Some(world.clone()));
        let mut console = if ranks.is_first() { Console::default() } else { Console::silent() };
        let outcome = match parsed {
            Ok(Some(options)) => run(&options, &ranks, &mut console),
            Ok(None) => {
                console.say(help.trim_end());
                Ok(())
            }
            Err(why) => Err(format!("{why}\n\nTry --help.").into()),
        };
        outcome.and_then(|()| Ok(console.finish()?)).map_err(|why| {
            if !ranks.is_first() {
                thread::sleep(FIRST_SPEAKS);
            }
            format!("error: {why}")
        })
    })
}

impl Ranks {
    /// Uses the ranks of an existing or planned world.
    pub fn of(world: World) -> Ranks {
        Ranks(Some(world))
    }

    /// The world of the ranks; `None` if this process is alone.
    pub fn world(&self) -> Option<&World> {
        self.0.as_ref()
    }

    /// The number of this rank.
    pub fn rank(&self) -> usize {
        self.0.as_ref().map_or(0, World::rank)
    }

    /// The number of ranks.
    pub fn size(&self) -> usize {
        self.0.as_ref().map_or(1, World::size)
    }

    /// Returns whether this is the rank that prints and writes.
    pub fn is_first(&self) -> bool {
        self.rank() == 0
    }

    /// The number of this rank among the ranks of its machine, and the number of ranks on the machine.
    fn local(&self) -> Result<(usize, usize), Box<dyn Error>> {
        match &self.0 {
            None => Ok((0, 1)),
            Some(world) => Ok((world.local_rank()?, world.local_size()?)),
        }
    }

    /// Sets the number of threads for the CPU's loops, before any loop runs: `asked` if given, else the number in
    /// `RAYON_NUM_THREADS`, else this rank's equal share of the machine's processors.
    pub fn set_threads(&self, asked: Option<usize>) -> Result<(), Box<dyn Error>> {
        let is_said = env::var_os("RAYON_NUM_THREADS").is_some_and(|number| !number.is_empty());
        let shared = || -> Result<Option<usize>, Box<dyn Error>> {
            if is_said || self.0.is_none() {
                return Ok(None);
            }
            let processors = thread::available_parallelism().map_or(1, usize::from);
            Ok(Some((processors / self.local()?.1).max(1)))
        };
        let number = asked.map_or_else(shared, |number| Ok(Some(number)))?;
        if let Some(number) = number {
            rayon::ThreadPoolBuilder::new().num_threads(number).build_global()?;
        }
        Ok(())
    }

    /// Opens the backend of this rank.
    pub fn open(&self, library: Library, device: Option<&str>) -> Result<AnyBackend, Box<dyn Error>> {
        library.open(device, self.local()?.0)
    }

    /// Creates a backend whose arrays are split over the ranks; `None` if this process is alone.
    pub fn sharded(&self, within: &AnyBackend) -> backends::Result<Option<Sharded<AnyBackend>>> {
        self.0.as_ref().map(|world| Sharded::new(within.clone(), world.clone())).transpose()
    }

    /// A text with the library, the device and the number of ranks on which the program runs.
    pub fn place(&self, b: &AnyBackend) -> String {
        let (library, device) = (b.name(), b.device());
        match &self.0 {
            None => format!("{library} ({device})"),
            Some(world) => {
                let plural = if world.size() == 1 { "" } else { "s" };
                format!("{library} ({device}), {} rank{plural} over {}", world.size(), world.name())
            }
        }
    }

    /// The minimum of `number` over all ranks.
    pub fn least(&self, number: u64) -> Result<u64, Box<dyn Error>> {
        let mut least = [number];
        if let Some(world) = &self.0 {
            world.all_reduce(bytes::of_mut(&mut least), DType::UInt64, Join::Min)?;
        }
        Ok(least[0])
    }

    /// The memory in bytes that each rank can use. The ranks of a machine share its available memory equally, and the
    /// smallest of all shares is the result on every rank. `None` if no machine reports its memory.
    pub fn memory(&self) -> Result<Option<u64>, Box<dyn Error>> {
        let share =
            memory::available().map_or(u64::MAX, |bytes| bytes / self.local().map_or(1, |(_, ranks)| ranks as u64));
        let least = self.least(share)?;
        Ok((least < u64::MAX).then_some(least))
    }

    /// Prints statistics of the communication of rank 0, and the number of times that ops had to gather whole arrays.
    pub fn report(&self, b: Option<&Sharded<AnyBackend>>, console: &mut Console) {
        let Some(world) = &self.0 else { return };
        let (spent, gathered) = (world.spent(), b.map(Sharded::gathered).unwrap_or_default());
        let mib = |bytes: u64| bytes as f64 / f64::from(1 << 20);
        let ops: Vec<String> = gathered.ops.iter().map(|by| format!("{} by {}", by.count, by.op)).collect();
        let by = if ops.is_empty() { String::new() } else { format!(": {}", ops.join(", ")) };
        console.say(format!(
            "rank 0: {:.2} s in {} calls between ranks, {:.1} MiB sent; {} whole arrays of {:.1} MiB gathered{by}",
            spent.seconds,
            spent.calls,
            mib(spent.bytes),
            gathered.count,
            mib(gathered.bytes),
        ));
    }
}
