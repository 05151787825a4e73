//! Tests the ops of `my_ops.toml` on arrays split over ranks, and ops of the base table on ranks that compute with
//! this crate's backend.

use backends::{Error, Result, prelude::*};
use backends_sharded::{Policy, Sharded, World, world::threads};
use demo_ops::{counted::Counted, naive::Naive, *};

/// A policy that splits even the small arrays of the tests.
const POLICY: Policy = Policy::new().least(2);

type Ranks = Sharded<Counted<Numpyish>>;

fn alone() -> Result<Ranks> {
    Sharded::with(Counted::new(Numpyish::new()), World::alone(), POLICY)
}

fn on_ranks(check: &(dyn Fn(&Ranks) + Sync)) {
    threads::run(3, |world| check(&Sharded::with(Counted::new(Numpyish::seeded(0)), world.clone(), POLICY).unwrap()));
}

backends::conformance! {
    table = "my_ops.toml", trait = MyOps, golden = "tests/golden/my_ops.golden",
    backend = alone(), type = Ranks, ranks = on_ranks, dtypes = ["float32", "float64", "int64"]
}

/// Checks that each op splits its arrays over the ranks as the table says. If each element of a result depends on only
/// one part of an array, nothing is gathered.
#[test]
fn rows_are_split_as_their_table_says() {
    threads::run(3, |world| {
        let b = Sharded::with(Counted::new(Numpyish::seeded(0)), world.clone(), POLICY).unwrap();
        let x = b.asarray([[1.0_f32, -2.0], [3.0, -4.0], [5.0, -6.0], [7.0, -8.0]]).unwrap();
        assert_eq!(x.split(), Some(0));
        let rows = b.leaky(b.between(&x, &x).unwrap()).unwrap();
        let means: ShardedOf<f32> = b.power_mean(&rows, 1).unwrap();
        let counts = b.within().calls();
        for op in ["between", "leaky", "power_mean"] {
            assert_eq!(counts.get(op), Some(&1), "{op}, by its kernel and not by what it is composed of: {counts:?}");
        }
        assert_eq!((rows.split(), means.split(), b.gathered().count), (Some(0), Some(0), 0));
        // a reduction of all elements gathers the array on every rank
        let mean: f32 = b.item(&b.power_mean(&x, ..).unwrap()).unwrap();
        assert!((mean - 25.5_f32.sqrt()).abs() < 1e-6 && b.gathered().count == 1, "{mean}, {:?}", b.gathered());
    });
}

type ShardedOf<T> = backends_sharded::ShardedArray<Counted<Numpyish>, T>;

/// A backend that has only some ops works on ranks. For an op that it lacks, all ranks return an error.
#[test]
fn ranks_compute_on_any_backend() {
    let all = threads::run(2, |world| {
        let b = Sharded::with(Naive, world.clone(), POLICY)?;
        let x = b.from_ndarray(ndarray::arr1(&[1.0, 2.0, 3.0, 4.0]).into_dyn().into_shared())?;
        let y = b.add(&x, &x)?;
        let why = b.getitem(&y, slices![1..]).unwrap_err();
        Ok::<_, Error>((y.split(), b.to_vec(y)?, why.to_string()))
    });
    for result in all {
        assert_eq!(result, Ok((Some(0), vec![2.0, 4.0, 6.0, 8.0], "getitem: the op is not available on naive".into())));
    }
}
