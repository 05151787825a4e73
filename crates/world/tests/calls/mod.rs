//! Tests the results of every call of a world. Each transport's tests call this module.

use backends_world::{DType, Error, Join, Result, World, bytes, bytes::Item};
use half::{bf16, f16};
use num_complex::Complex;
use std::fmt::Debug;

/// An element type that can represent small numbers.
trait Number: Item + PartialEq + Debug {
    /// Converts a number to an element. For bools, odd numbers are true.
    fn of(n: usize) -> Self;
}

macro_rules! numbers {
    ($($t:ty, $of:expr;)*) => {$(
        impl Number for $t {
            fn of(n: usize) -> $t {
                let of: fn(usize) -> $t = $of;
                of(n)
            }
        }
    )*};
}
numbers! {
    bool, |n| n % 2 == 1; i8, |n| n as i8; i16, |n| n as i16; i32, |n| n as i32; i64, |n| n as i64;
    u8, |n| n as u8; u16, |n| n as u16; u32, |n| n as u32; u64, |n| n as u64;
    f16, |n| f16::from_f32(n as f32); bf16, |n| bf16::from_f32(n as f32); f32, |n| n as f32; f64, |n| n as f64;
    Complex<f32>, |n| Complex::new(n as f32, 0.0); Complex<f64>, |n| Complex::new(n as f64, 0.0);
}

/// Converts numbers to elements of `T`, as bytes.
fn numbers<T: Number>(of: impl IntoIterator<Item = usize>) -> Vec<u8> {
    bytes::of(&of.into_iter().map(T::of).collect::<Vec<T>>()).to_vec()
}

fn same<T: Number>(bytes: &[u8], of: impl IntoIterator<Item = usize>, call: &str) {
    let (is, should): (Vec<T>, Vec<T>) = (bytes::to_vec(bytes), of.into_iter().map(T::of).collect());
    assert_eq!(is, should, "{call} of {}", T::DTYPE);
}

/// Calls a generic function with every element type.
macro_rules! with_all_kinds {
    ($call:ident, $world:expr) => {
        with_all_kinds!($call, $world, bool i8 i16 i32 i64 u8 u16 u32 u64 f16 bf16 f32 f64 Complex<f32> Complex<f64>)
    };
    ($call:ident, $world:expr, $($t:ty)*) => {
        $($call::<$t>($world)?;)*
    };
}

/// Tests all calls, with elements of every dtype.
pub fn all(world: &World) -> Result<()> {
    collectives(world)?;
    with_all_kinds!(pending, world);
    ring(world)?;
    groups(world)?;
    world.barrier()
}

/// Tests the calls that every transport supports.
pub fn collectives(world: &World) -> Result<()> {
    with_all_kinds!(moves, world);
    with_all_kinds!(reductions, world);
    with_all_kinds!(collectives_later, world);
    special_numbers(world)?;
    unaligned(world)?;
    empty(world)?;
    world.barrier()
}

/// Tests calls that move elements. The parts have different lengths, and some are empty.
fn moves<T: Number>(world: &World) -> Result<()> {
    let (rank, size, dtype) = (world.rank(), world.size(), T::DTYPE);
    for root in [0, size - 1] {
        let mut buf = numbers::<T>(if rank == root { 1..6 } else { 0..5 });
        world.broadcast(&mut buf, dtype, root)?;
        same::<T>(&buf, 1..6, "broadcast");
    }
    // rank r sends r elements, with the values r, r + 1 and so on
    let counts: Vec<usize> = (0..size).collect();
    let all = || (0..size).flat_map(|r| r..2 * r);
    let mine = numbers::<T>(rank..2 * rank);
    let room = vec![0; all().count() * dtype.size()];
    let mut recv = room.clone();
    world.all_gather(&mine, &mut recv, &counts, dtype)?;
    same::<T>(&recv, all(), "all_gather");
    for root in [0, size - 1] {
        let mut recv = room.clone();
        let is_root = rank == root;
        world.gather(&mine, is_root.then_some(&mut recv[..]), &counts, dtype, root)?;
        if is_root {
            same::<T>(&recv, all(), "gather");
        }
        let send = is_root.then(|| numbers::<T>(all()));
        let mut part = vec![0; mine.len()];
        world.scatter(send.as_deref(), &counts, &mut part, dtype, root)?;
        same::<T>(&part, rank..2 * rank, "scatter");
    }
    let (send, to, from, received) = turned::<T>(world);
    let mut recv = vec![0; received.len() * dtype.size()];
    world.all_to_all(&send, &to, &mut recv, &from, dtype)?;
    same::<T>(&recv, received, "all_to_all");
    Ok(())
}

/// Data of an all-to-all in which rank a sends a + 2 b elements to rank b, each with the value 3 a + b. Returns the
/// bytes to send, the counts `to` and `from`, and the expected bytes.
fn turned<T: Number>(world: &World) -> (Vec<u8>, Vec<usize>, Vec<usize>, Vec<usize>) {
    let (rank, size) = (world.rank(), world.size());
    let send = numbers::<T>((0..size).flat_map(|b| vec![3 * rank + b; rank + 2 * b]));
    let (to, from) = ((0..size).map(|b| rank + 2 * b).collect(), (0..size).map(|a| a + 2 * rank).collect());
    (send, to, from, (0..size).flat_map(|a| vec![3 * a + rank; a + 2 * rank]).collect())
}

/// The expected result of joining one number from each rank.
fn joined<T: Number>(join: Join, of: &[usize]) -> usize {
    if T::DTYPE == DType::Bool {
        let odd = |n: &usize| n % 2 == 1;
        let any = matches!(join, Join::Sum | Join::Max | Join::Or);
        return usize::from(if any { of.iter().any(odd) } else { of.iter().all(odd) });
    }
    match join {
        Join::Sum => of.iter().sum(),
        Join::Prod => of.iter().product(),
        Join::Max => of.iter().max().copied().unwrap_or(0),
        _ => of.iter().min().copied().unwrap_or(0),
    }
}

fn has(dtype: DType, join: Join) -> bool {
    let complex = matches!(dtype, DType::Complex64 | DType::Complex128);
    match join {
        Join::Sum | Join::Prod => true,
        Join::Max | Join::Min => !complex,
        Join::And | Join::Or => dtype == DType::Bool,
    }
}

fn reductions<T: Number>(world: &World) -> Result<()> {
    let (rank, size, dtype) = (world.rank(), world.size(), T::DTYPE);
    // the value of element i on rank r; the products over all ranks are at most 12, which every dtype can represent
    let value = |r: usize, i: usize| if r < 3 { (r + i) % 3 + 1 } else { 1 };
    let over =
        |join, ranks: std::ops::Range<usize>, i| joined::<T>(join, &ranks.map(|r| value(r, i)).collect::<Vec<_>>());
    let mine = || numbers::<T>((0..5).map(|i| value(rank, i)));
    for join in Join::ALL {
        if !has(dtype, join) {
            assert_eq!(world.all_reduce(&mut mine(), dtype, join), Err(Error::NoJoin { dtype, join }));
            continue;
        }
        let mut buf = mine();
        world.all_reduce(&mut buf, dtype, join)?;
        same::<T>(&buf, (0..5).map(|i| over(join, 0..size, i)), "all_reduce");
        for root in [0, size - 1] {
            let mut buf = mine();
            world.reduce(&mut buf, dtype, join, root)?;
            let ranks = if rank == root { 0..size } else { rank..rank + 1 };
            same::<T>(&buf, (0..5).map(|i| over(join, ranks.clone(), i)), "reduce");
        }
        // rank r receives r elements
        let counts: Vec<usize> = (0..size).collect();
        let start = rank * rank.saturating_sub(1) / 2;
        let send = numbers::<T>((0..counts.iter().sum()).map(|i| value(rank, i)));
        let mut recv = vec![0; rank * dtype.size()];
        world.reduce_scatter(&send, &mut recv, &counts, dtype, join)?;
        same::<T>(&recv, (start..start + rank).map(|i| over(join, 0..size, i)), "reduce_scatter");
        let mut buf = mine();
        world.scan(&mut buf, dtype, join)?;
        same::<T>(&buf, (0..5).map(|i| over(join, 0..rank + 1, i)), "scan");
        let mut buf = mine();
        world.exscan(&mut buf, dtype, join)?;
        if rank > 0 {
            same::<T>(&buf, (0..5).map(|i| over(join, 0..rank, i)), "exscan");
        } else if matches!(join, Join::Sum | Join::Prod) {
            let identity = usize::from(join == Join::Prod);
            same::<T>(&buf, [identity; 5], "exscan, on rank 0,");
        }
    }
    Ok(())
}

/// Tests pending messages. The last started message is completed first, and collectives run in between.
fn pending<T: Number>(world: &World) -> Result<()> {
    let (rank, size, dtype) = (world.rank(), world.size(), T::DTYPE);
    let (next, before) = ((rank + 1) % size, (rank + size - 1) % size);
    let messages = [world.start_recv(3, dtype, before)?, world.start_recv(1, dtype, before)?];
    let sent = [world.start_send(numbers::<T>(0..3), dtype, next)?, world.start_send(numbers::<T>([7]), dtype, next)?];
    collectives_later::<T>(world)?;
    let [first, mut second] = messages;
    while !second.is_done()? {
        std::thread::yield_now();
    }
    same::<T>(&second.wait()?, [7], "the second message");
    same::<T>(&first.wait()?, 0..3, "the first message");
    let [first, second] = sent;
    same::<T>(&first.wait()?, 0..3, "what was sent");
    drop(second);
    Ok(())
}

/// Tests pending collectives, which are not completed in the order in which they were started.
fn collectives_later<T: Number>(world: &World) -> Result<()> {
    let (rank, size, dtype) = (world.rank(), world.size(), T::DTYPE);
    let barrier = world.start_barrier()?;
    let broadcast = world.start_broadcast(numbers::<T>(if rank == size - 1 { 1..6 } else { 0..5 }), dtype, size - 1)?;
    let counts: Vec<usize> = (0..size).collect();
    let gather = world.start_all_gather(numbers::<T>(rank..2 * rank), &counts, dtype)?;
    let reduce = world.start_all_reduce(numbers::<T>([1, 0]), dtype, Join::Sum)?;
    let scatter = world.start_reduce_scatter(numbers::<T>(vec![1; counts.iter().sum()]), &counts, dtype, Join::Prod)?;
    let (send, to, from, received) = turned::<T>(world);
    let turn = world.start_all_to_all(send, &to, &from, dtype)?;
    same::<T>(&turn.wait()?, received, "start_all_to_all");
    let sum = joined::<T>(Join::Sum, &vec![1; size]);
    same::<T>(&reduce.wait()?, [sum, 0], "start_all_reduce");
    same::<T>(&gather.wait()?, (0..size).flat_map(|r| r..2 * r), "start_all_gather");
    same::<T>(&broadcast.wait()?, 1..6, "start_broadcast");
    same::<T>(&scatter.wait()?, vec![1; rank], "start_reduce_scatter");
    assert_eq!(barrier.wait()?, []);
    Ok(())
}

/// Tests wrapping sums, NaN, infinities, both parts of complex numbers, and identities.
fn special_numbers(world: &World) -> Result<()> {
    let (rank, size) = (world.rank(), world.size());
    macro_rules! wraps {
        ($($t:ty)*) => {$({
            let mut x = [<$t>::MAX, 1];
            world.all_reduce(bytes::of_mut(&mut x), <$t as Item>::DTYPE, Join::Sum)?;
            let sum = (0..size).fold(0, |sum: $t, _| sum.wrapping_add(<$t>::MAX));
            assert_eq!(x, [sum, size as $t]);
            let mut x = [<$t>::MAX];
            world.all_reduce(bytes::of_mut(&mut x), <$t as Item>::DTYPE, Join::Prod)?;
            assert_eq!(x, [(0..size).fold(1, |product: $t, _| product.wrapping_mul(<$t>::MAX))]);
        })*};
    }
    wraps!(i8 i16 i32 i64 u8 u16 u32 u64);
    macro_rules! floats {
        ($($t:ty, $of:expr;)*) => {$(
            for join in [Join::Max, Join::Min] {
                let of: fn(f32) -> $t = $of;
                let extreme = if join == Join::Max { f32::NEG_INFINITY } else { f32::INFINITY };
                let mut x = [of(if rank == size - 1 { f32::NAN } else { 1.0 }), of(extreme)];
                world.all_reduce(bytes::of_mut(&mut x), <$t as Item>::DTYPE, join)?;
                assert!(x[0].is_nan() && x[1] == of(extreme), "{join} of {}: {x:?}", <$t as Item>::DTYPE);
                let mut x = [of(2.0)];
                world.exscan(bytes::of_mut(&mut x), <$t as Item>::DTYPE, join)?;
                assert_eq!(x, [of(if rank == 0 { extreme } else { 2.0 })]);
            }
        )*};
    }
    floats! { f16, f16::from_f32; bf16, bf16::from_f32; f32, |x| x; f64, f64::from; }
    let mut x = [Complex::new(0.0_f32, 1.0)];
    world.all_reduce(bytes::of_mut(&mut x), DType::Complex64, Join::Prod)?;
    assert_eq!(x, [(0..size).fold(Complex::new(1.0, 0.0), |product, _| product * Complex::new(0.0, 1.0))]);
    let mut x = [Complex::new(rank as f64, -1.0)];
    world.all_reduce(bytes::of_mut(&mut x), DType::Complex128, Join::Sum)?;
    assert_eq!(x, [Complex::new((size * (size - 1) / 2) as f64, -(size as f64))]);
    // tests bytes of bools that are neither 0 nor 1
    let mut x = [7, 0];
    world.all_reduce(&mut x, DType::Bool, Join::And)?;
    assert_eq!(bytes::to_vec::<bool>(&x), [true, false]);
    Ok(())
}

/// Tests buffers at unaligned addresses.
fn unaligned(world: &World) -> Result<()> {
    let size = world.size();
    for shift in 1..8 {
        let mut memory = vec![0; shift];
        memory.extend(numbers::<f64>(0..1001));
        world.all_reduce(&mut memory[shift..], DType::Float64, Join::Sum)?;
        same::<f64>(&memory[shift..], (0..1001).map(|i| i * size), "an all_reduce at any address");
        world.all_reduce(&mut memory[shift..], DType::Float64, Join::Max)?;
        let mut part = vec![0; shift + 16];
        let counts = vec![2; size];
        let send = &memory[shift..shift + 16 * size];
        world.reduce_scatter(send, &mut part[shift..], &counts, DType::Float64, Join::Sum)?;
        let start = 2 * world.rank();
        same::<f64>(&part[shift..], (start..start + 2).map(|i| i * size * size), "a reduce_scatter at any address");
    }
    Ok(())
}

/// Tests calls on empty buffers, because some libraries give the address of an empty vector a special meaning.
fn empty(world: &World) -> Result<()> {
    let (rank, size, dtype) = (world.rank(), world.size(), DType::Complex128);
    let nothing = vec![0; size];
    world.broadcast(&mut Vec::new(), dtype, 0)?;
    world.all_gather(&Vec::new(), &mut Vec::new(), &nothing, dtype)?;
    world.gather(&Vec::new(), (rank == 0).then_some(&mut [][..]), &nothing, dtype, 0)?;
    world.scatter((rank == 0).then_some(&[][..]), &nothing, &mut Vec::new(), dtype, 0)?;
    world.all_to_all(&Vec::new(), &nothing, &mut Vec::new(), &nothing, dtype)?;
    world.all_reduce(&mut Vec::new(), dtype, Join::Sum)?;
    world.reduce(&mut Vec::new(), dtype, Join::Sum, 0)?;
    world.reduce_scatter(&Vec::new(), &mut Vec::new(), &nothing, dtype, Join::Sum)?;
    world.scan(&mut Vec::new(), dtype, Join::Sum)?;
    world.exscan(&mut Vec::new(), dtype, Join::Sum)?;
    let all = [
        world.start_broadcast(Vec::new(), dtype, 0)?,
        world.start_all_gather(Vec::new(), &nothing, dtype)?,
        world.start_all_to_all(Vec::new(), &nothing, &nothing, dtype)?,
        world.start_all_reduce(Vec::new(), dtype, Join::Sum)?,
        world.start_reduce_scatter(Vec::new(), &nothing, dtype, Join::Sum)?,
    ];
    for pending in all {
        assert_eq!(pending.wait()?, []);
    }
    // only one rank has an element
    let mut counts = nothing;
    counts[size - 1] = 1;
    let mine = if rank == size - 1 { vec![1; 16] } else { Vec::new() };
    let mut recv = vec![0; 16];
    world.all_gather(&mine, &mut recv, &counts, dtype)?;
    assert_eq!(recv, [1; 16]);
    if size > 1 {
        match rank {
            0 => world.send(&[], dtype, 1)?,
            1 => world.recv(&mut [], dtype, 0)?,
            _ => {}
        }
    }
    Ok(())
}

/// Tests messages between ranks: several messages in order, messages of a rank to itself, and mismatched messages.
fn ring(world: &World) -> Result<()> {
    let (rank, size) = (world.rank(), world.size());
    let (next, before) = ((rank + 1) % size, (rank + size - 1) % size);
    // a message of the second length is longer than the buffers of the libraries, so its send waits for the receiver
    for length in [1, 1 << 17] {
        for message in 0..2 {
            let mine = vec![rank as u64 + message; length];
            let sending = world.start_send(bytes::of(&mine).to_vec(), DType::UInt64, next)?;
            let mut theirs = vec![0_u64; length];
            world.recv(bytes::of_mut(&mut theirs), DType::UInt64, before)?;
            assert_eq!(theirs, vec![before as u64 + message; length]);
            sending.wait()?;
        }
    }
    if size > 1 {
        let text = [5_u8, 6];
        let mut back = [0; 2];
        match rank {
            0 => {
                world.send(&text, DType::UInt8, 1)?;
                world.recv(&mut back, DType::UInt8, 1)?;
                assert_eq!(back, text);
            }
            1 => {
                world.recv(&mut back, DType::UInt8, 0)?;
                world.send(&back, DType::UInt8, 0)?;
            }
            _ => {}
        }
    }
    world.send(&[1], DType::Int8, rank)?;
    world.send(&[2], DType::Int8, rank)?;
    let mut buf = [0];
    for message in [1, 2] {
        world.recv(&mut buf, DType::Int8, rank)?;
        assert_eq!(buf, [message]);
    }
    assert!(matches!(world.recv(&mut buf, DType::Int8, rank), Err(Error::Deadlock { call: "recv", .. })));
    // mismatched messages: another dtype, too short, or too long
    for (dtype, len, text) in [(DType::Int32, 4, "4 uint8"), (DType::UInt8, 5, "4 uint8"), (DType::UInt8, 3, "")] {
        let sending = world.start_send(vec![0; 4], DType::UInt8, next)?;
        let error = world.recv(&mut vec![0; len], dtype, before).unwrap_err();
        let Error::Diverged { mine, theirs, rank } = &error else { panic!("{error}") };
        assert_eq!((mine, *rank), (&format!("recv of {} {dtype}", len / dtype.size()), before));
        assert!(theirs.starts_with("send of ") && theirs.contains(text), "{theirs}");
        sending.wait()?;
    }
    world.barrier()
}

fn groups(world: &World) -> Result<()> {
    let (rank, size) = (world.rank(), world.size());
    // one group for odd and one for even ranks, each in reverse order; a color may be any `usize`
    let color = usize::MAX - rank % 2;
    let group = world.group(Some(color), -(rank as i64))?.unwrap();
    let members: Vec<usize> = (0..size).rev().filter(|other| other % 2 == rank % 2).collect();
    assert_eq!((group.size(), members[group.rank()]), (members.len(), rank));
    let mut ranks = vec![0_u64; group.size()];
    let ones = vec![1; group.size()];
    group.all_gather(bytes::of(&[rank as u64]), bytes::of_mut(&mut ranks), &ones, DType::UInt64)?;
    assert_eq!(ranks, members.iter().map(|rank| *rank as u64).collect::<Vec<_>>());
    assert_eq!((group.local_rank()?, group.local_size()?), (group.rank(), group.size()), "all are on one machine");
    assert_eq!((world.local_rank()?, world.local_size()?), (rank, size));
    // messages of the world and of a group do not mix
    let twin = world.group(Some(0), rank as i64)?.unwrap();
    if size > 1 && rank < 2 {
        let other = 1 - rank;
        let messages =
            [world.start_send(vec![1], DType::UInt8, other)?, twin.start_send(vec![2], DType::UInt8, other)?];
        let mut buf = [0];
        twin.recv(&mut buf, DType::UInt8, other)?;
        assert_eq!(buf, [2]);
        world.recv(&mut buf, DType::UInt8, other)?;
        assert_eq!(buf, [1]);
        for message in messages {
            message.wait()?;
        }
    }
    // a group within a group; it leaves out some ranks and lives longer than the outer groups
    let some = group.group((group.rank() == 0).then_some(3), 0)?;
    assert_eq!(some.is_some(), group.rank() == 0);
    drop((group, twin));
    if let Some(some) = some {
        assert_eq!((some.rank(), some.size()), (0, 1));
        some.barrier()?;
    }
    // creates many groups one after another, which must not exhaust any resource
    for _ in 0..50 {
        world.group(Some(rank % 2), 0)?.unwrap().barrier()?;
    }
    Ok(())
}

/// Tests wrong arguments. Every transport rejects them with the same error, on this rank only, before a message is
/// sent.
pub fn wrong_arguments(world: &World) {
    let (rank, size) = (world.rank(), world.size());
    let (float, sum) = (DType::Float64, Join::Sum);
    let counts = vec![1; size];
    let few = vec![1; size - 1];
    let many = vec![usize::MAX; size + 1];
    let huge = vec![usize::MAX / 2; size];
    // the part of another rank has a huge count
    let mut much = vec![0; size];
    much[(rank + 1) % size] = 1 << 56;
    let all = vec![0; 8 * size];
    let part = || vec![0; 8];
    let mut other = counts.clone();
    other[rank] = 2;
    let mut refusals: Vec<(&str, &str, Result<()>)> = vec![
        ("broadcast", "`buf` has 7 bytes", world.broadcast(&mut [0; 7], float, 0)),
        ("broadcast", "`root` is rank", world.broadcast(&mut part(), float, size)),
        ("all_gather", "`counts` has", world.all_gather(&part(), &mut all.clone(), &few, float)),
        ("all_gather", "`send` has", world.all_gather(&[], &mut all.clone(), &counts, float)),
        ("all_gather", "`recv` has", world.all_gather(&part(), &mut vec![0; 8 * size + 8], &counts, float)),
        ("gather", "`counts` has", world.gather(&part(), None, &many, float, 0)),
        ("gather", "`root` is rank", world.gather(&part(), None, &counts, float, usize::MAX)),
        ("gather", "gives no `recv`", world.gather(&part(), None, &counts, float, rank)),
        ("gather", "`recv` has", world.gather(&part(), Some(&mut []), &counts, float, rank)),
        ("gather", "`send` has", world.gather(&[0], Some(&mut all.clone()), &counts, float, rank)),
        ("scatter", "gives no `send`", world.scatter(None, &counts, &mut part(), float, rank)),
        ("scatter", "`send` has", world.scatter(Some(&[0]), &counts, &mut part(), float, rank)),
        ("scatter", "`recv` has", world.scatter(Some(&all), &counts, &mut [], float, rank)),
        ("scatter", "`root` is rank", world.scatter(Some(&all), &counts, &mut part(), float, size)),
        ("all_to_all", "`to` has", world.all_to_all(&all, &few, &mut all.clone(), &counts, float)),
        ("all_to_all", "`from` has", world.all_to_all(&all, &counts, &mut all.clone(), &few, float)),
        ("all_to_all", "`send` has", world.all_to_all(&[0], &counts, &mut all.clone(), &counts, float)),
        ("all_to_all", "`recv` has", world.all_to_all(&all, &counts, &mut [0], &counts, float)),
        ("all_to_all", "elements to itself", world.all_to_all(&all, &counts, &mut all.clone(), &other, float)),
        ("all_to_all", "more elements in total", world.all_to_all(&all, &huge, &mut [], &huge, float)),
        ("all_reduce", "`buf` has 9 bytes", world.all_reduce(&mut [0; 9], float, sum)),
        ("reduce", "`root` is rank", world.reduce(&mut part(), float, sum, size)),
        ("reduce_scatter", "`counts` has", world.reduce_scatter(&all, &mut part(), &few, float, sum)),
        ("reduce_scatter", "`send` has", world.reduce_scatter(&[0], &mut part(), &counts, float, sum)),
        ("reduce_scatter", "`recv` has", world.reduce_scatter(&all, &mut [0], &counts, float, sum)),
        ("scan", "`buf` has 1 bytes", world.scan(&mut [0], DType::Complex128, sum)),
        ("exscan", "`buf` has 1 bytes", world.exscan(&mut [0], DType::BFloat16, sum)),
        ("send", "`to` is rank", world.send(&part(), float, size)),
        ("send", "`buf` has 1 bytes", world.send(&[0], float, rank)),
        ("recv", "`from` is rank", world.recv(&mut part(), float, size)),
        ("recv", "`buf` has 1 bytes", world.recv(&mut [0], float, rank)),
        ("broadcast", "`root` is rank", world.start_broadcast(part(), float, size).map(drop)),
        ("all_gather", "`send` has", world.start_all_gather(vec![0], &counts, float).map(drop)),
        ("all_to_all", "`to` has", world.start_all_to_all(all.clone(), &few, &counts, float).map(drop)),
        ("all_reduce", "`buf` has 9 bytes", world.start_all_reduce(vec![0; 9], float, sum).map(drop)),
        ("reduce_scatter", "`send` has", world.start_reduce_scatter(vec![0], &counts, float, sum).map(drop)),
        ("send", "`to` is rank", world.start_send(part(), float, size).map(drop)),
        ("recv", "`from` is rank", world.start_recv(1, float, size).map(drop)),
        ("recv", "more than memory", world.start_recv(usize::MAX, float, 0).map(drop)),
        ("recv", "more than memory", world.start_recv(1 << 58, float, rank).map(drop)),
    ];
    if size > 1 {
        let result = world.start_all_to_all(Vec::new(), &vec![0; size], &much, float).map(drop);
        refusals.push(("all_to_all", "more than memory", result));
    }
    for (i, (call, text, result)) in refusals.into_iter().enumerate() {
        let Err(Error::Argument { call: found, why }) = &result else { panic!("refusal {i} of {call}: {result:?}") };
        assert!(*found == call && why.contains(text), "refusal {i}: {found}: {why}, not {call}: {text}");
    }
    let no = Err(Error::NoJoin { dtype: DType::Complex64, join: Join::Max });
    assert_eq!(world.scan(&mut part(), DType::Complex64, Join::Max), no);
    assert_eq!(world.reduce_scatter(&all, &mut part(), &counts, DType::Complex64, Join::Max), no);
    assert_eq!(world.start_all_reduce(part(), DType::Complex64, Join::Max).map(drop), no);
}
