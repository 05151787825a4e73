//! Tests a program whose allocator keeps the memory pages of large freed arrays for reuse.

use backends::{Result, alloc, prelude::*};
use std::thread;

#[global_allocator]
static PAGES: alloc::Pages = alloc::Pages::keeping(64 << 20);

const N: usize = 1 << 19;

fn program(seed: u64) -> Result<f64> {
    let b = Numpyish::seeded(seed);
    let x = b.random_uniform::<f64>([N])?;
    let mut sum = 0.0;
    for step in 0..20 {
        // `zeros` may get memory that other arrays have used, and must clear it
        let z = b.zeros::<f64>([N])?;
        let y = b.add(b.multiply(&x, f64::from(step))?, &z)?;
        sum += b.item(&b.sum(&b.subtract(&y, b.multiply(&x, f64::from(step))?)?, ..)?)?;
    }
    Ok(sum)
}

#[test]
fn arrays_take_the_pages_of_those_before() {
    // four threads allocate at the same time
    thread::scope(|scope| {
        let all: Vec<_> = (0..4).map(|seed| scope.spawn(move || program(seed))).collect();
        all.into_iter().for_each(|one| assert_eq!(one.join().unwrap(), Ok(0.0)));
    });
    assert_eq!(program(9), Ok(0.0));
    let after = alloc::usage();
    assert!(after.kept >= N * 8 && after.kept <= 64 << 20 && after.in_use < N * 8, "{after:?}");
    assert!(after.peak >= 3 * N * 8, "{after:?}");
    let x = Numpyish::new().ones::<f64>([N]).unwrap();
    let with = alloc::usage();
    assert_eq!((with.kept, with.in_use), (after.kept - N * 8, after.in_use + N * 8));
    drop(x);
    Numpyish::new().free_cache().unwrap();
    assert_eq!(alloc::usage().kept, 0);
}
