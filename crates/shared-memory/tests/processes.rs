//! Tests of shared arrays between several processes. The test program starts itself again as another process, whose
//! role is set by an environment variable.
#![cfg(target_os = "linux")]

use backend_runtime::{DType, Error, Slice};
use backends_shared::{Descriptor, SharedArray, SharedBuffer};
use ndarray::{ArrayD, arr1, arr2};
use std::{
    env, fs,
    io::{BufRead, BufReader, Write},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
    sync::{Mutex, MutexGuard, PoisonError},
};

/// The environment variable that contains the role of the process.
const ROLE: &str = "BACKENDS_SHARED_ROLE";

/// Prefix of the lines that a test's process prints. It distinguishes them from lines of the test harness.
const SAID: &str = "said: ";

/// Another process of a test, which is killed when the test ends.
struct Process {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Process {
    /// Starts a process in the given role.
    fn new(role: &str) -> Process {
        let mut command = Command::new(env::current_exe().unwrap());
        command.args(["--exact", "in_a_role", "--nocapture"]).env(ROLE, role);
        let alone = alone();
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        drop(alone);
        let (input, output) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
        Process { child, input, output }
    }

    fn tell(&mut self, line: impl ToString) {
        writeln!(self.input, "{}", line.to_string()).unwrap();
    }

    /// Waits for the next line that the process prints.
    fn hear(&mut self) -> String {
        let mut line = String::new();
        loop {
            line.clear();
            assert_ne!(self.output.read_line(&mut line).unwrap(), 0, "the process has ended");
            // the harness prints the name of the test first, on the same line
            if let Some((_, said)) = line.trim_end().split_once(SAID) {
                return said.into();
            }
        }
    }

    fn descriptor(&mut self) -> Descriptor {
        self.hear().parse().unwrap()
    }

    /// Kills the process with SIGKILL, which it cannot handle.
    fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Waits for the process to end.
    fn end(mut self) {
        assert!(self.child.wait().unwrap().success());
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = (self.child.kill(), self.child.wait());
    }
}

fn say(line: impl ToString) {
    println!("{SAID}{}", line.to_string());
}

fn told() -> String {
    let mut line = String::new();
    std::io::stdin().read_line(&mut line).unwrap();
    line.trim_end().into()
}

fn numbers() -> ArrayD<f64> {
    ArrayD::from_shape_fn(vec![300, 40], |i| (i[0] * 40 + i[1]) as f64)
}

/// Runs in the role that the environment sets, as another process of a test. Does nothing if no role is set.
#[test]
fn in_a_role() {
    let Ok(role) = env::var(ROLE) else { return };
    match role.split_whitespace().collect::<Vec<_>>()[..] {
        // holds an array until the test sends the command to drop it
        ["owner"] => {
            let array = SharedArray::new(&numbers()).unwrap();
            say(array.descriptor());
            told();
            drop(array);
            say("dropped");
            told();
        }
        ["reader"] => {
            let array = SharedArray::open(&told().parse().unwrap()).unwrap();
            say(array.view::<f64>().unwrap().sum());
            told();
            say(array.view::<f64>().unwrap().sum());
            say(array.descriptor());
            told();
        }
        ["writer", rows] => {
            let (first, end) = rows.split_once("..").unwrap();
            let buffer = SharedBuffer::open(&told().parse().unwrap()).unwrap();
            for row in first.parse().unwrap()..end.parse().unwrap() {
                buffer.write(&[row, 0], &ArrayD::from_elem(vec![1, 50], row as f32)).unwrap();
            }
        }
        ["adder", times] => {
            let buffer = SharedBuffer::open(&told().parse().unwrap()).unwrap();
            for _ in 0..times.parse::<u32>().unwrap() {
                let lock = buffer.lock().unwrap();
                let sum: ArrayD<i64> = lock.read(..).unwrap();
                lock.write(&[0], &(sum + 1)).unwrap();
            }
        }
        ["locker"] => {
            let buffer = SharedBuffer::open(&told().parse().unwrap()).unwrap();
            let lock = buffer.lock().unwrap();
            lock.write(&[0], &arr1(&[7_u8]).into_dyn()).unwrap();
            say("locked");
            told();
        }
        _ => panic!("there is no role {role}"),
    }
}

/// Takes the lock under which tests start processes and count the processes that hold the memory. A starting process
/// inherits the open files of this process for a moment, so it would be counted as well.
fn alone() -> MutexGuard<'static, ()> {
    static ONE: Mutex<()> = Mutex::new(());
    ONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The number of processes that have the memory of this descriptor open or mapped.
fn holders(descriptor: &Descriptor) -> usize {
    let _alone = alone();
    let text = descriptor.to_string();
    let id = text.split(':').nth(3).unwrap();
    let mut count = 0;
    for process in fs::read_dir("/proc").unwrap().flatten() {
        let path = process.path();
        // skips `self` and `thread-self`, which are links
        if process.file_name().to_string_lossy().parse::<u32>().is_err() {
            continue;
        }
        let files = fs::read_dir(path.join("fd")).into_iter().flatten().flatten();
        let open =
            files.filter_map(|file| fs::read_link(file.path()).ok()).any(|link| link.to_string_lossy().contains(id));
        let mapped = fs::read_to_string(path.join("maps")).is_ok_and(|maps| maps.contains(id));
        count += usize::from(open || mapped);
    }
    for entry in fs::read_dir("/dev/shm").into_iter().flatten().flatten() {
        assert!(!entry.file_name().to_string_lossy().contains(id), "{:?} is left behind", entry.path());
    }
    count
}

#[test]
fn others_see_what_one_shares() {
    let array = SharedArray::new(&numbers()).unwrap();
    let mut readers = [Process::new("reader"), Process::new("reader")];
    for reader in &mut readers {
        reader.tell(array.descriptor());
        assert_eq!(reader.hear(), numbers().sum().to_string());
    }
    assert_eq!(holders(&array.descriptor()), 3);
    let descriptor = array.descriptor();
    drop(array);
    // the readers still have the array open, and can send its descriptor to other processes
    for reader in &mut readers {
        reader.tell("again");
        assert_eq!(reader.hear(), numbers().sum().to_string());
        let passed_on = SharedArray::open(&reader.descriptor()).unwrap();
        assert_eq!(passed_on.view::<f64>().unwrap(), numbers());
    }
    assert_eq!(holders(&descriptor), 2);
    readers.iter_mut().for_each(Process::kill);
    assert_eq!(holders(&descriptor), 0, "nothing is left");
}

#[test]
fn results_come_from_several_processes() {
    let results = SharedBuffer::zeros::<f32>(&[60, 50]).unwrap();
    let mut writers = ["writer 0..20", "writer 20..45", "writer 45..59"].map(Process::new);
    writers.iter_mut().for_each(|writer| writer.tell(results.descriptor()));
    writers.into_iter().for_each(Process::end);
    let expected = ArrayD::from_shape_fn(vec![60, 50], |i| if i[0] < 59 { i[0] as f32 } else { 0.0 });
    assert_eq!(results.read::<f32>(&[0..60, 0..50]).unwrap(), expected);
    assert_eq!(results.read::<f32>(&[44..46, 49..50]).unwrap(), arr2(&[[44.0], [45.0]]).into_dyn());
}

#[test]
fn what_goes_together_is_locked() {
    let sums = SharedBuffer::zeros::<i64>(&[2]).unwrap();
    let mut adders = ["adder 500"; 3].map(Process::new);
    adders.iter_mut().for_each(|adder| adder.tell(sums.descriptor()));
    // also tests threads of this process: two with the same handle, and one with a handle that was opened separately
    std::thread::scope(|scope| {
        for handle in [sums.clone(), sums.clone(), SharedBuffer::open(&sums.descriptor()).unwrap()] {
            scope.spawn(move || {
                for _ in 0..500 {
                    let lock = handle.lock().unwrap();
                    let sum: ArrayD<i64> = lock.read(..).unwrap();
                    lock.write(&[0], &(sum + 1)).unwrap();
                }
            });
        }
    });
    adders.into_iter().for_each(Process::end);
    assert_eq!(sums.read::<i64>(..).unwrap(), arr1(&[3000, 3000]).into_dyn());
    let lock = sums.lock().unwrap();
    let twice = sums.clone().lock().unwrap_err();
    assert_eq!(twice.to_string(), "SharedBuffer::lock: this thread already holds the lock");
    drop(lock);
    assert!(sums.lock().is_ok());
}

#[test]
fn a_process_that_is_killed_gives_the_lock_back() {
    let buffer = SharedBuffer::zeros::<u8>(&[1]).unwrap();
    let mut locker = Process::new("locker");
    locker.tell(buffer.descriptor());
    assert_eq!(locker.hear(), "locked");
    assert_eq!(holders(&buffer.descriptor()), 2);
    let waiting = buffer.clone();
    let other = std::thread::spawn(move || waiting.lock().map(|lock| lock.read::<u8>(..).unwrap()[[0]]));
    locker.kill();
    assert_eq!(other.join().unwrap(), Ok(7), "what it wrote stays");
    assert_eq!(holders(&buffer.descriptor()), 1);
}

#[test]
fn an_owner_that_is_killed_takes_nothing_from_those_who_have_it() {
    let mut owner = Process::new("owner");
    let descriptor = owner.descriptor();
    let array = SharedArray::open(&descriptor).unwrap();
    let view = array.view::<f64>().unwrap();
    owner.kill();
    assert_eq!(view, numbers());
    let gone = SharedArray::open(&descriptor).unwrap_err();
    assert!(matches!(&gone, Error::Unavailable { backend: "shared memory", .. }), "{gone}");
    assert!(gone.to_string().contains("has ended or has closed it"), "{gone}");
    assert_eq!(SharedArray::open(&array.descriptor()).unwrap().view::<f64>().unwrap(), numbers());
    assert_eq!(holders(&descriptor), 1);
    drop(array);
    assert_eq!(holders(&descriptor), 0, "nothing is left");
}

#[test]
fn an_owner_that_is_killed_alone_leaves_nothing() {
    let mut owner = Process::new("owner");
    let descriptor = owner.descriptor();
    assert_eq!(holders(&descriptor), 1);
    owner.kill();
    assert_eq!(holders(&descriptor), 0);
}

#[test]
fn what_its_process_has_dropped_is_gone() {
    let mut owner = Process::new("owner");
    let descriptor = owner.descriptor();
    owner.tell("drop it");
    assert_eq!(owner.hear(), "dropped");
    let gone = SharedArray::open(&descriptor).unwrap_err();
    assert!(gone.to_string().contains("has ended or has closed it"), "{gone}");
    owner.kill();
    let gone = SharedArray::open(&descriptor).unwrap_err();
    assert!(gone.to_string().contains(&format!("the process {}", owner.child.id())), "{gone}");
}

/// Returns the descriptor with one field replaced.
fn changed(descriptor: &Descriptor, field: usize, to: &str) -> Descriptor {
    let text = descriptor.to_string();
    let mut fields: Vec<&str> = text.split(':').collect();
    fields[field] = to;
    fields.join(":").parse().unwrap()
}

#[test]
fn descriptors_that_do_not_fit_are_refused() {
    let array = SharedArray::new(&arr2(&[[1.0_f32, 2.0, 3.0], [4.0, 5.0, 6.0]]).into_dyn()).unwrap();
    let right = array.descriptor();
    let why = |field, to: &str| SharedArray::open(&changed(&right, field, to)).unwrap_err();
    // descriptors with another dtype or shape
    assert_eq!(
        why(4, "int32").to_string(),
        "SharedArray::open: the descriptor says array:int32:2x3, the memory begins with array:float32:2x3"
    );
    for shape in ["3x2", "6", "2x3x1", "1000000000", ""] {
        let why = why(5, shape);
        assert!(
            matches!(why, Error::Argument { .. }) && why.to_string().contains("begins with array:float32:2x3"),
            "{why}"
        );
    }
    assert!(matches!(why(5, "18446744073709551615x2"), Error::Memory { .. }));
    // descriptors of a process, file or array that does not exist
    for (field, to) in [(1, "4294967295"), (1, "0"), (2, "4294967295"), (2, "0"), (3, &"0".repeat(32))] {
        let why = why(field, to);
        assert!(matches!(why, Error::Unavailable { .. }), "{field} {to}: {why}");
    }
    // a buffer cannot be opened as an array, and an array cannot be opened as a buffer
    assert!(
        SharedBuffer::open(&right)
            .unwrap_err()
            .to_string()
            .contains("belongs to a shared array; open it by SharedArray::open")
    );
    assert!(matches!(SharedBuffer::open(&changed(&right, 0, "buffer")), Err(Error::Unavailable { .. })));
    let buffer = SharedBuffer::zeros::<f32>(&[2, 3]).unwrap().descriptor();
    assert!(
        SharedArray::open(&buffer)
            .unwrap_err()
            .to_string()
            .contains("belongs to a shared buffer; open it by SharedBuffer::open")
    );
    // a view with another dtype
    let why = array.view::<f64>().unwrap_err().to_string();
    assert_eq!(why, "SharedArray::view: the shared elements are float32, but must be float64");
}

/// Makes memory with a valid name and the given bytes, which may be invalid contents. Seals the memory if `sealed` is
/// true. Also returns the descriptor of the memory.
fn made_otherwise(bytes: &[u8], sealed: bool, layout: &str) -> (std::fs::File, Descriptor) {
    use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, memfd_create};
    use std::os::fd::AsRawFd;
    let id = "0123456789abcdef0123456789abcdef";
    let kind = layout.split(':').next().unwrap();
    let file = memfd_create(format!("backends-{kind}-{id}"), MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING).unwrap();
    let mut file = fs::File::from(file);
    file.write_all(bytes).unwrap();
    if sealed {
        fcntl_add_seals(&file, SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL | SealFlags::WRITE).unwrap();
    }
    let rest = layout.split_once(':').unwrap().1;
    let descriptor = format!("{kind}:{}:{}:{id}:{rest}", std::process::id(), file.as_raw_fd());
    (file, descriptor.parse().unwrap())
}

/// The bytes that precede the elements of an array with this layout.
fn head(layout: &str) -> Vec<u8> {
    let mut head = [b"backends", &64_u64.to_ne_bytes()[..], layout.as_bytes()].concat();
    head.resize(64, b' ');
    head
}

#[test]
fn memory_of_others_is_checked() {
    let layout = "array:float64:2";
    let whole = [head(layout), vec![0; 16]].concat();
    let (_right, descriptor) = made_otherwise(&whole, true, layout);
    assert_eq!(SharedArray::open(&descriptor).unwrap().view::<f64>().unwrap(), arr1(&[0.0, 0.0]).into_dyn());
    let (_open, descriptor) = made_otherwise(&whole, false, layout);
    assert!(SharedArray::open(&descriptor).unwrap_err().to_string().contains("the memory is not sealed"));
    // memory that is too short or too long, or has no header
    for length in [72, 64, 63, 20, 7, 0] {
        let (_short, descriptor) = made_otherwise(&whole[..length], true, layout);
        let why = SharedArray::open(&descriptor).unwrap_err();
        assert!(matches!(why, Error::Argument { .. }), "{length}: {why}");
    }
    let (_long, descriptor) = made_otherwise(&[&whole[..], &[0]].concat(), true, layout);
    assert!(SharedArray::open(&descriptor).unwrap_err().to_string().contains("has 81 bytes"));
    let (_other, descriptor) = made_otherwise(&[1; 80], true, layout);
    assert!(
        SharedArray::open(&descriptor)
            .unwrap_err()
            .to_string()
            .contains("does not begin with the header of a shared array")
    );
    // bytes that are not valid bools
    let layout = "array:bool:2";
    let (_flags, descriptor) = made_otherwise(&[head(layout), vec![1, 2]].concat(), true, layout);
    assert!(SharedArray::open(&descriptor).unwrap_err().to_string().contains("a byte of a bool must be 0 or 1"));
    // memory that is sealed against writing is not a buffer
    let layout = "buffer:float64:2";
    let (_fixed, descriptor) = made_otherwise(&[head(layout), vec![0; 16]].concat(), true, layout);
    assert!(SharedBuffer::open(&descriptor).is_err());
}

#[test]
fn nobody_can_cut_or_change_what_is_shared() {
    use std::os::unix::fs::FileExt;
    let (array, buffer) =
        (SharedArray::new(&arr1(&[1.0]).into_dyn()).unwrap(), SharedBuffer::zeros::<f64>(&[1]).unwrap());
    for (descriptor, writable) in [(array.descriptor(), false), (buffer.descriptor(), true)] {
        let text = descriptor.to_string();
        let fields: Vec<&str> = text.split(':').collect();
        let path = format!("/proc/{}/fd/{}", fields[1], fields[2]);
        let file = fs::OpenOptions::new().read(true).write(true).open(path).unwrap();
        let length = file.metadata().unwrap().len();
        assert!(file.set_len(length - 1).is_err() && file.set_len(0).is_err() && file.set_len(length + 1).is_err());
        assert_eq!(file.write_at(&[1], length - 1).is_ok(), writable);
    }
    assert_eq!(array.view::<f64>().unwrap()[[0]], 1.0);
}

#[test]
fn shapes_of_every_kind() {
    for shape in [vec![], vec![0], vec![3, 0, 2], vec![1; 40], vec![7]] {
        let x = ArrayD::from_elem(shape.clone(), 2.5_f64);
        let array = SharedArray::new(&x).unwrap();
        let opened = SharedArray::open(&array.descriptor()).unwrap();
        assert_eq!((opened.shape(), opened.dtype()), (&shape[..], DType::Float64));
        assert_eq!(opened.view::<f64>().unwrap(), x);
        let buffer = SharedBuffer::zeros::<f64>(&shape).unwrap();
        let all: Vec<_> = shape.iter().map(|&n| 0..n).collect();
        buffer.write(&vec![0; shape.len()], &x).unwrap();
        assert_eq!(SharedBuffer::open(&buffer.descriptor()).unwrap().read::<f64>(&all).unwrap(), x);
    }
    // an array that is not in C order, and an array that is longer than a block
    let x = numbers().reversed_axes();
    assert_eq!(SharedArray::new(&x).unwrap().view::<f64>().unwrap(), x);
    let large = ArrayD::from_shape_fn(vec![3, 40_000], |i| (i[0] * 7 + i[1]) as u16).reversed_axes();
    assert_eq!(SharedArray::new(&large).unwrap().view::<u16>().unwrap(), large);
    let buffer = SharedBuffer::zeros::<u16>(large.shape()).unwrap();
    buffer.write(&[0, 0], &large).unwrap();
    assert_eq!(buffer.read::<u16>(&[0..40_000, 0..3]).unwrap(), large);
    // requests more memory than the machine has
    for shape in [&[1 << 58][..], &[1 << 62], &[usize::MAX, 2]] {
        assert!(matches!(SharedBuffer::zeros::<f64>(shape), Err(Error::Memory { .. })), "{shape:?}");
    }
    assert!(SharedBuffer::zeros::<u8>(&vec![1; 200_000]).unwrap_err().to_string().contains("200000 axes are more"));
}

#[test]
fn parts_that_are_none_are_refused_and_nothing_is_written() {
    let buffer = SharedBuffer::zeros::<u8>(&[2, 3]).unwrap();
    let part = arr2(&[[1_u8, 2], [3, 4]]).into_dyn();
    for start in [&[0, 2][..], &[1, 0], &[0], &[usize::MAX, 0]] {
        assert!(
            matches!(buffer.write(start, &part), Err(Error::Argument { op: "SharedBuffer::write", .. })),
            "{start:?}"
        );
    }
    assert!(
        buffer
            .write(&[0, 0], &part.mapv(f32::from))
            .unwrap_err()
            .to_string()
            .contains("are uint8, but must be float32")
    );
    assert!(buffer.read::<u8>(&[0..2, 0..4]).unwrap_err().to_string().contains("must lie within shape [2, 3]"));
    assert!(buffer.read::<u8>([Slice::at(1)]).is_err() && buffer.read::<i8>(&[0..2, 0..3]).is_err());
    assert_eq!(buffer.read::<u8>(&[0..2, 0..3]).unwrap(), ArrayD::zeros(vec![2, 3]));
    buffer.write(&[0, 1], &part).unwrap();
    assert_eq!(buffer.read::<u8>(&[0..2, 0..3]).unwrap(), arr2(&[[0, 1, 2], [0, 3, 4]]).into_dyn());
    assert_eq!(buffer.read::<u8>(&[1..1, 0..3]).unwrap().shape(), [0, 3]);
}
