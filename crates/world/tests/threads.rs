//! Tests of worlds whose ranks are threads: results of all calls, wrong arguments, and mistakes of programs.

mod calls;

use backends_world::{DType, Error, Join, Pending, Result, Transport, World, bytes, threads};
use std::{
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
    time::Duration,
};

/// Numbers of ranks: one, two, and two numbers that are not powers of two.
const SIZES: [usize; 4] = [1, 2, 3, 7];

#[test]
fn all_calls_on_all_kinds() {
    for size in SIZES {
        threads::run(size, |world| calls::all(world).unwrap());
    }
    calls::all(&World::alone()).unwrap();
}

#[test]
fn all_calls_with_checks() {
    threads::run(3, |world| {
        world.set_check(true);
        calls::all(world).unwrap();
    });
}

#[test]
fn wrong_arguments_are_refused_before_anything_is_sent() {
    calls::wrong_arguments(&World::alone());
    threads::run(3, calls::wrong_arguments);
}

#[test]
fn results_do_not_depend_on_who_comes_first() {
    let sums = |delay: usize| {
        threads::run(3, |world| {
            std::thread::sleep(Duration::from_millis((world.rank() * delay % 3) as u64 * 5));
            let mut x = [[1e16, 1.0, -1e16][world.rank()]];
            world.all_reduce(bytes::of_mut(&mut x), DType::Float64, Join::Sum).unwrap();
            x[0]
        })
    };
    assert_eq!(sums(1), [0.0; 3], "in the order of ranks");
    assert_eq!(sums(2), [0.0; 3]);
}

/// Runs `f` on three ranks, and returns the result of each rank.
fn on_three(f: impl Fn(&World) -> Result<()> + Sync) -> Vec<Result<()>> {
    threads::run(3, f)
}

#[test]
fn ranks_that_call_different_things_are_told_so() {
    let results = on_three(|world| match world.rank() {
        2 => world.broadcast(&mut [0; 24], DType::Float64, 0),
        _ => world.barrier(),
    });
    let diverged =
        |mine: &str, theirs: &str, rank| Err(Error::Diverged { mine: mine.into(), theirs: theirs.into(), rank });
    let broadcast = "broadcast of 3 float64 from rank 0";
    assert_eq!(
        results,
        [diverged("barrier", broadcast, 2), diverged("barrier", broadcast, 2), diverged(broadcast, "barrier", 0)]
    );

    // one call for each property on which ranks must agree
    let ones = [1; 3];
    type Call<'a> = &'a (dyn Fn(&World, bool) -> Result<()> + Sync);
    let calls: [(&str, Call); 9] = [
        ("length", &|w, odd| w.all_reduce(&mut vec![0; if odd { 4 } else { 8 }], DType::Int32, Join::Sum)),
        ("dtype", &|w, odd| w.all_reduce(&mut [0; 4], if odd { DType::UInt32 } else { DType::Int32 }, Join::Sum)),
        ("join", &|w, odd| w.all_reduce(&mut [0; 4], DType::Int32, if odd { Join::Max } else { Join::Sum })),
        ("root", &|w, odd| w.broadcast(&mut [0; 4], DType::Int32, usize::from(odd))),
        ("counts", &|w, odd| {
            let counts = if odd { [1, 1, 2] } else { [1, 1, 1] };
            let mut recv = vec![0; counts.iter().sum()];
            w.all_gather(&vec![0; counts[w.rank()]], &mut recv, &counts, DType::UInt8)
        }),
        ("counts of an all-to-all", &|w, odd| {
            let to = if odd { [1, 2, 1] } else { [1; 3] };
            w.all_to_all(&vec![0; to.iter().sum()], &to, &mut [0; 3], &ones, DType::UInt8)
        }),
        ("call", &|w, odd| {
            if odd { w.scan(&mut [0], DType::UInt8, Join::Sum) } else { w.exscan(&mut [0], DType::UInt8, Join::Sum) }
        }),
        ("waiting", &|w, odd| if odd { w.start_barrier()?.wait().map(drop) } else { w.barrier() }),
        ("op", &|w, odd| w.agree(if odd { "getitem" } else { "add" }, || "of (3, 4)".into())),
    ];
    for (what, call) in calls {
        let results = on_three(|world| {
            world.set_check(what == "op");
            call(world, world.rank() == 0)
        });
        assert!(results.iter().all(|result| matches!(result, Err(Error::Diverged { .. }))), "{what}: {results:?}");
    }
}

#[test]
fn checks_compare_texts_of_any_length() {
    let results = on_three(|world| {
        world.set_check(true);
        let more = if world.rank() == 1 { "b".repeat(1000) } else { String::new() };
        world.agree("a", || more)
    });
    let text = format!("a {}", "b".repeat(1000));
    let diverged =
        |mine: &str, theirs: &str, rank| Err(Error::Diverged { mine: mine.into(), theirs: theirs.into(), rank });
    assert_eq!(results, [diverged("a", &text, 1), diverged(&text, "a", 0), diverged("a", &text, 1)]);
    assert_eq!(
        on_three(|world| world.agree("a", || format!("{}", world.rank()))),
        [Ok(()), Ok(()), Ok(())],
        "no checks"
    );
}

#[test]
fn counts_of_an_exchange_that_goes_another_way_are_compared_too() {
    // rank 2 expects more elements from rank 0 than rank 0 sends
    let counts = |world: &World| {
        let more = usize::from(world.rank() == 2);
        world.agree_counts(&[1, 2, 3], &[[1, 1, 1], [2, 2, 2], [3 + more, 3, 3]][world.rank()])
    };
    let results = on_three(|world| {
        world.set_check(true);
        counts(world)
    });
    assert!(results.iter().all(|result| matches!(result, Err(Error::Diverged { .. }))), "{results:?}");
    assert_eq!(on_three(counts), [Ok(()), Ok(()), Ok(())], "no checks");
    assert!(matches!(World::alone().agree_counts(&[1, 2], &[1]), Err(Error::Argument { .. })));
}

#[test]
fn a_rank_that_left_or_panicked_is_missed_at_once() {
    let gone = |call, why: &str| Err(Error::Gone { call, rank: 1, why: why.into() });
    let left = on_three(|world| if world.rank() == 1 { Ok(()) } else { world.barrier() });
    assert_eq!(left, [gone("barrier", "it has returned"), Ok(()), gone("barrier", "it has returned")]);
    let received = on_three(|world| if world.rank() == 1 { Ok(()) } else { world.recv(&mut [0], DType::UInt8, 1) });
    assert_eq!(received[0], gone("recv", "it has returned"));
    let sent = on_three(|world| if world.rank() == 1 { Ok(()) } else { world.send(&[0], DType::UInt8, 1) });
    assert_eq!(sent[2], gone("send", "it has returned"));

    let seen = Mutex::new(Vec::new());
    let panicked = std::panic::catch_unwind(|| {
        on_three(|world| {
            if world.rank() == 1 {
                panic!("on purpose");
            }
            let result = world.barrier();
            seen.lock().unwrap().push(result.clone());
            // a rank that panics only because of this error must not be reported as the cause
            result.unwrap();
            Ok(())
        })
    });
    assert_eq!(panicked.unwrap_err().downcast_ref(), Some(&"on purpose"));
    assert_eq!(*seen.lock().unwrap(), [gone("barrier", "it panicked"), gone("barrier", "it panicked")]);
}

#[test]
fn a_deadlock_is_found_and_named_on_every_rank() {
    // in one ring all ranks receive first; in the other ring all ranks send first
    for (call, sends) in [("recv", false), ("send", true)] {
        let results = on_three(|world| {
            let (next, before) = ((world.rank() + 1) % 3, (world.rank() + 2) % 3);
            if sends {
                world.send(&[1], DType::UInt8, next)?
            } else {
                world.recv(&mut [0], DType::UInt8, before)?
            }
            world.barrier()
        });
        for result in results {
            let Err(Error::Deadlock { call: found, waits }) = result else { panic!("{result:?}") };
            assert_eq!(found, call);
            assert!((0..3).all(|rank| waits.contains(&format!("rank {rank} in {call} for rank "))), "{waits}");
        }
    }
    // one rank waits in another call; all later calls fail as well
    let results = on_three(|world| {
        if world.rank() == 0 { world.recv(&mut [0], DType::UInt8, 1) } else { world.barrier() }.unwrap_err();
        world.barrier()
    });
    assert!(results.iter().all(|result| matches!(result, Err(Error::Deadlock { .. }))), "{results:?}");
    // a deadlock arises when the last rank that could help leaves
    let results = on_three(|world| match world.rank() {
        0 => world.recv(&mut [0], DType::UInt8, 1),
        1 => world.recv(&mut [0], DType::UInt8, 0),
        _ => {
            std::thread::sleep(Duration::from_millis(30));
            Ok(())
        }
    });
    assert!(matches!(&results[..], [Err(Error::Deadlock { .. }), Err(Error::Deadlock { .. }), Ok(())]), "{results:?}");
    let alone = World::alone().recv(&mut [0], DType::UInt8, 0);
    assert!(matches!(alone, Err(Error::Deadlock { .. })), "{alone:?}");
}

#[test]
fn a_group_is_missed_and_waited_for_like_the_world() {
    let results = on_three(|world| {
        let group = world.group(Some(world.rank() / 2), 0)?.unwrap();
        match world.rank() {
            0 => group.barrier(),
            1 => Ok(()),
            _ => world.barrier(),
        }
    });
    assert!(matches!(&results[0], Err(Error::Gone { rank: 1, .. })), "{results:?}");
    assert!(matches!(&results[2], Err(Error::Gone { .. })), "{results:?}");
}

#[test]
fn a_call_that_takes_longer_than_the_limit_ends() {
    let ended = AtomicUsize::new(0);
    let results = on_three(|world| {
        world.set_timeout(Some(Duration::from_millis(50)));
        if world.rank() == 0 {
            // makes no call until the other ranks have given up
            while ended.load(SeqCst) < 2 {
                std::thread::sleep(Duration::from_millis(1));
            }
            return Ok(());
        }
        let result = world.barrier();
        ended.fetch_add(1, SeqCst);
        result
    });
    for result in &results[1..] {
        let Err(Error::Timeout { call: "barrier", seconds }) = result else { panic!("{results:?}") };
        assert!(*seconds >= 0.05, "{seconds}");
    }
}

#[test]
fn time_between_calls_is_not_that_of_a_call() {
    let results = on_three(|world| {
        world.set_timeout(Some(Duration::from_millis(1500)));
        for _ in 0..5 {
            std::thread::sleep(Duration::from_millis(400));
            world.barrier()?;
        }
        world.set_timeout(None);
        world.barrier()
    });
    assert_eq!(results, [Ok(()), Ok(()), Ok(())]);
}

#[test]
fn calls_of_several_threads_of_a_rank_are_made_one_after_the_other() {
    let results = threads::run(2, |world| {
        let sums = Mutex::new(Vec::new());
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..50 {
                        let mut x = [1_u64];
                        world.all_reduce(bytes::of_mut(&mut x), DType::UInt64, Join::Sum).unwrap();
                        sums.lock().unwrap().push(x[0]);
                    }
                });
            }
        });
        sums.into_inner().unwrap()
    });
    assert_eq!(results, [vec![2; 200], vec![2; 200]]);
}

#[test]
fn what_calls_took_is_counted_for_the_rank_and_its_groups() {
    threads::run(2, |world| {
        let group = world.group(Some(0), 0).unwrap().unwrap();
        world.reset_spent();
        world.all_reduce(&mut [0; 8], DType::Float64, Join::Sum).unwrap();
        group.all_to_all(&[0; 4], &[2, 2], &mut [0; 4], &[2, 2], DType::UInt8).unwrap();
        if world.rank() == 0 {
            std::thread::sleep(Duration::from_millis(20));
        }
        world.barrier().unwrap();
        let spent = world.spent();
        assert_eq!((spent.bytes, spent.calls), (10, 3));
        assert!(world.rank() == 0 || spent.seconds >= 0.015, "{spent:?}");
        assert_eq!(group.spent(), world.spent());
    });
    let alone = World::alone();
    alone.barrier().unwrap();
    assert_eq!((alone.spent().calls, alone.spent().seconds), (1, 0.0));
}

#[test]
fn no_rank_is_no_result() {
    assert_eq!(threads::run(0, |_| 1), []);
}

/// A transport with only the required methods, which passes calls on to another world.
struct Least {
    over: World,
    sent: Mutex<Vec<Pending>>,
}

impl Transport for Least {
    fn name(&self) -> String {
        "the least".into()
    }
    fn rank(&self) -> usize {
        self.over.rank()
    }
    fn size(&self) -> usize {
        self.over.size()
    }
    fn all_to_all(&self, send: &[u8], to: &[usize], recv: &mut [u8], from: &[usize], dtype: DType) -> Result<()> {
        self.over.all_to_all(send, to, recv, from, dtype)
    }
    fn all_reduce(&self, buf: &mut [u8], dtype: DType, join: Join) -> Result<()> {
        self.over.all_reduce(buf, dtype, join)
    }
    fn send(&self, buf: &[u8], dtype: DType, to: usize) -> Result<()> {
        self.sent.lock().unwrap().push(self.over.start_send(buf.to_vec(), dtype, to)?);
        Ok(())
    }
    fn recv(&self, buf: &mut [u8], dtype: DType, from: usize) -> Result<()> {
        self.over.recv(buf, dtype, from)
    }
    fn abort(&self, code: i32) -> ! {
        self.over.abort(code)
    }
}

#[test]
fn a_transport_needs_few_calls_to_have_all_collectives() {
    for size in SIZES {
        threads::run(size, |over| {
            let world = World::new(Box::new(Least { over: over.clone(), sent: Mutex::default() }));
            calls::collectives(&world).unwrap();
            calls::wrong_arguments(&world);
            let lacks = |call| Err(Error::Unsupported { call, transport: "the least".into() });
            assert_eq!(world.group(Some(0), 0).map(drop), lacks("group"));
            assert_eq!(
                world.local_rank(),
                Err(Error::Unsupported { call: "local_rank", transport: "the least".into() })
            );
            if size > 1 {
                let (next, before) = ((world.rank() + 1) % size, (world.rank() + size - 1) % size);
                assert_eq!(world.start_recv(1, DType::UInt8, next).map(drop), lacks("start_recv"));
                world.start_send(vec![7], DType::UInt8, next).unwrap().wait().unwrap();
                let mut buf = [0];
                world.recv(&mut buf, DType::UInt8, before).unwrap();
                assert_eq!(buf, [7]);
            }
        });
    }
}
