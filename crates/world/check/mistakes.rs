//! Mistakes of one rank, which the other ranks must detect. The last rank makes the mistake, unless a comment names
//! another rank. The other ranks then make calls that would wait for this rank forever.

use backends_world::{DType, Error, Join, Result, World, bytes};
use std::{thread, time::Duration};

pub fn make(world: &World, what: &str) -> Result<()> {
    let (rank, last) = (world.rank(), world.size() - 1);
    world.barrier()?;
    if rank == last {
        match what {
            "panic" => panic!("on purpose"),
            "passed-on" => std::panic::resume_unwind(Box::new("from elsewhere".to_owned())),
            "error" => world.broadcast(&mut [0], DType::UInt8, 99)?,
            "exit" => std::process::exit(0),
            "exit-of-a-thread" => {
                // exits while this rank is in a call on another thread
                thread::spawn(|| {
                    thread::sleep(Duration::from_millis(100));
                    std::process::exit(0)
                });
                world.recv(&mut [0], DType::UInt8, 0)?;
            }
            "kill" => std::process::abort(),
            // returns, although the other ranks wait for this rank in a collective call, or for its message
            "leaves" | "leaves-message" => return Ok(()),
            #[cfg(unix)]
            "leaves-without-launcher" => {
                // the parent is the launcher, or its process for this machine
                let launcher = std::os::unix::process::parent_id().to_string();
                let stopped = std::process::Command::new("kill").args(["-STOP", &launcher]).status();
                assert!(stopped.is_ok_and(|status| status.success()), "the launcher cannot be stopped");
                return Ok(());
            }
            "extra" => world.barrier()?,
            // returns after a barrier that all ranks pass; the other ranks continue without this rank
            "leaves-in-order" => {
                world.barrier()?;
                return Ok(());
            }
            "abort" => world.abort(42),
            "diverge" => {
                world.broadcast(&mut [0; 24], DType::Float64, 0)?;
            }
            // sleeps while the other ranks wait for this rank in a barrier
            "timeout" => thread::sleep(Duration::from_secs(20)),
            "drop" => {
                // unwinds while a call is pending and a group exists
                let _group = world.group(Some(0), 0)?;
                let _pending = world.start_recv(8, DType::Float64, 0)?;
                panic!("on purpose");
            }
            _ => {}
        }
    }
    match what {
        "drop" => drop(world.group(Some(0), 0)?),
        "op" => world.agree(if rank == last { "getitem" } else { "add" }, || "of (3, 4)".into())?,
        "counts" => {
            let ones = vec![1; last + 1];
            let mut to = ones.clone();
            to[0] += usize::from(rank == last);
            let send = vec![0; to.iter().sum()];
            world.all_to_all(&send, &to, &mut vec![0; last + 1], &ones, DType::UInt8)?;
        }
        // each rank waits for a message from the next rank, and the last rank for a message from rank 0
        "ring" => world
            .agree("roll", String::new)
            .and_then(|()| world.recv(&mut [0], DType::UInt8, (rank + 1) % (last + 1)))?,
        "threads" => several_threads(world)?,
        "many" => many_elements(world)?,
        "short-counts" => short_counts(world)?,
        "leaves-message" => world.recv(&mut [0], DType::UInt8, last)?,
        "leaves-in-order" => {
            world.barrier()?;
            thread::sleep(Duration::from_secs(if rank == 0 { 3 } else { 0 }));
            match rank {
                0 => world.send(&[7], DType::UInt8, 1)?,
                _ => world.recv(&mut [0], DType::UInt8, 0)?,
            }
            println!("rank {rank} came through");
            return Ok(());
        }
        "listen" => thread::sleep(Duration::from_millis(1500)),
        _ => {}
    }
    world.barrier()?;
    world.barrier()?;
    println!("rank {rank} came through");
    Ok(())
}

/// Makes calls from several threads at once. The calls must run one after another.
fn several_threads(world: &World) -> Result<()> {
    thread::scope(|scope| {
        let call = || -> Result<()> {
            for _ in 0..50 {
                let mut x = [1_u64];
                world.all_reduce(bytes::of_mut(&mut x), DType::UInt64, Join::Sum)?;
                assert_eq!(x, [world.size() as u64]);
            }
            Ok(())
        };
        let threads: Vec<_> = (0..3).map(|_| scope.spawn(call)).collect();
        threads.into_iter().try_for_each(|thread| thread.join().expect("a thread that does not panic"))
    })
}

/// Makes a call with more elements than a C int can count.
fn many_elements(world: &World) -> Result<()> {
    let n = (1_usize << 31) + 10;
    let mut x = vec![if world.rank() == 0 { 7_u8 } else { 0 }; n];
    world.broadcast(&mut x, DType::UInt8, 0)?;
    assert!(x.iter().all(|element| *element == 7));
    // a reduction that MPI lacks and this crate implements, with the same number of elements
    x.iter_mut().for_each(|element| *element = u8::from(world.rank() == 0));
    world.all_reduce(&mut x, DType::Bool, Join::Max)?;
    assert!(x.iter().all(|element| *element == 1));
    Ok(())
}

/// Tests a library that can count only a limited number of elements per call. A longer call that cannot be split gives
/// the same error on all ranks.
fn short_counts(world: &World) -> Result<()> {
    let size = world.size();
    let counts = vec![1000; size];
    let (part, mut all) = (vec![0; 1000], vec![0; 1000 * size]);
    let too_many = |call| Err(Error::Count { call, count: 1000 * size });
    let (is_root, dtype) = (world.rank() == 0, DType::UInt8);
    let copy = all.clone();
    assert_eq!(world.gather(&part, is_root.then_some(&mut all), &counts, dtype, 0), too_many("MPI_Gatherv"));
    assert_eq!(world.scatter(is_root.then_some(&copy), &counts, &mut part.clone(), dtype, 0), too_many("MPI_Scatterv"));
    assert_eq!(world.all_to_all(&copy, &counts, &mut all, &counts, dtype), too_many("MPI_Alltoallv"));
    let pending = world.start_all_reduce(copy, dtype, Join::Sum);
    assert_eq!(pending.map(drop), too_many("MPI_Iallreduce"));
    // each of the following calls is split into several calls of the library
    let mut recv = all.clone();
    world.all_gather(&vec![world.rank() as u8; 1000], &mut recv, &counts, dtype)?;
    assert!(recv.chunks(1000).enumerate().all(|(rank, part)| part.iter().all(|element| *element == rank as u8)));
    let mut mine = vec![0; 1000];
    world.reduce_scatter(&vec![1; 1000 * size], &mut mine, &counts, dtype, Join::Sum)?;
    assert_eq!(mine, vec![size as u8; 1000]);
    let mut x = vec![1.0_f64; 1000];
    world.all_reduce(bytes::of_mut(&mut x), DType::Float64, Join::Max)?;
    world.scan(bytes::of_mut(&mut x), DType::Float64, Join::Sum)?;
    assert_eq!(x, vec![(world.rank() + 1) as f64; 1000]);
    world.broadcast(bytes::of_mut(&mut x), DType::Float64, size - 1)?;
    assert_eq!(x, vec![size as f64; 1000]);
    world.reduce(bytes::of_mut(&mut x), DType::Float64, Join::Sum, size - 1)?;
    let expected = if world.rank() == size - 1 { size * size } else { size };
    assert_eq!(x, vec![expected as f64; 1000]);
    Ok(())
}
