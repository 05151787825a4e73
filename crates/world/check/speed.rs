//! Measures the time that each call takes.

use backends_world::{DType, Join, Result, World, bytes};
use std::time::Instant;

pub fn all(world: &World) -> Result<()> {
    let (rank, size, dtype) = (world.rank(), world.size(), DType::Float64);
    if rank == 0 {
        println!("{}, {size} ranks: microseconds a call, least of 5 rounds", world.name());
        println!(
            "{:>9} {:>12} {:>12} {:>12} {:>12}",
            "float64", "all_reduce", "all_gather", "all_to_all", "there, back"
        );
    }
    for n in [1_usize, 1000, 100_000, 1_000_000] {
        let mut best = [f64::MAX; 4];
        let part = n.div_ceil(size);
        let (mut x, mut all) = (vec![1.0; part * size], vec![0.0; part * size * size]);
        let (parts, whole) = (vec![part; size], vec![part * size; size]);
        for _ in 0..5 {
            let rounds = (200_000 / n).clamp(5, 2000);
            let mut time = |at: usize, call: &mut dyn FnMut() -> Result<()>| -> Result<()> {
                world.barrier()?;
                let start = Instant::now();
                for _ in 0..rounds {
                    call()?;
                }
                best[at] = best[at].min(start.elapsed().as_secs_f64() * 1e6 / rounds as f64);
                Ok(())
            };
            time(0, &mut || world.all_reduce(bytes::of_mut(&mut x), dtype, Join::Sum))?;
            time(1, &mut || world.all_gather(bytes::of(&x), bytes::of_mut(&mut all), &whole, dtype))?;
            let turned = &mut all[..part * size];
            time(2, &mut || world.all_to_all(bytes::of(&x), &parts, bytes::of_mut(turned), &parts, dtype))?;
            time(3, &mut || match rank {
                _ if size == 1 => Ok(()),
                0 => {
                    world.send(bytes::of(&x), dtype, 1)?;
                    world.recv(bytes::of_mut(&mut x), dtype, 1)
                }
                1 => {
                    world.recv(bytes::of_mut(&mut x), dtype, 0)?;
                    world.send(bytes::of(&x), dtype, 0)
                }
                _ => Ok(()),
            })?;
            // resets the values, which would otherwise grow to infinity
            x.fill(1.0);
        }
        if rank == 0 {
            println!("{n:>9} {:>12.2} {:>12.2} {:>12.2} {:>12.2}", best[0], best[1], best[2], best[3]);
        }
    }
    Ok(())
}
