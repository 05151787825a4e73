//! Tests that go beyond the small arrays of the op table's test cases: results that must not depend on the number of
//! ranks, the data that is sent or gathered, and plans.
#![allow(clippy::reversed_empty_ranges)] // in `1..-1`, -1 counts from the end of the axis

use backends::{Error, Result, prelude::*};
use backends_sharded::{
    Collectives, Policy, Sharded, World,
    world::{Join, threads},
};

/// Runs a program on `ranks` ranks. All ranks must return the same result.
fn on<R: PartialEq + std::fmt::Debug + Send>(
    ranks: usize,
    policy: Policy,
    program: impl Fn(&Sharded<Numpyish>) -> Result<R> + Sync,
) -> R {
    let mut all = threads::run(ranks, |world| {
        let b = Sharded::with(Numpyish::seeded(0), world.clone(), policy).unwrap();
        b.seed(7);
        program(&b).unwrap()
    });
    let last = all.pop().unwrap();
    assert!(all.iter().all(|other| *other == last), "ranks have different results");
    last
}

fn same_on_all<R: PartialEq + std::fmt::Debug + Send>(program: impl Fn(&Sharded<Numpyish>) -> Result<R> + Sync) {
    let alone = on(1, Policy::new(), &program);
    for ranks in [2, 3, 4, 7] {
        assert_eq!(on(ranks, Policy::new(), &program), alone, "{ranks} ranks");
    }
}

fn bits<B: Backend>(b: &B, x: &B::Array<f64>) -> Result<Vec<u64>> {
    Ok(b.to_vec(x)?.into_iter().map(f64::to_bits).collect())
}

#[test]
fn random_numbers_and_sums_have_the_same_bits_on_any_number_of_ranks() {
    same_on_all(|b| {
        let x = b.random_normal::<f64>([1003, 17])?;
        let y = b.random_uniform::<f64>([3, 5, 700])?;
        let z = b.random_integers([5000], -9, 9)?;
        let mut all = vec![bits(b, &x)?, bits(b, &y)?, bits(b, &b.astype(&z)?)?];
        for axis in [Axes::All, 0.into(), 1.into(), [0, 1].into()] {
            all.push(bits(b, &b.sum(&x, axis)?)?);
            all.push(bits(b, &b.mean(&x, axis)?)?);
            all.push(bits(b, &b.var(&x, axis)?)?);
            all.push(bits(b, &b.prod(&b.add(&b.multiply(&x, 1e-3)?, 1.0)?, axis)?)?);
        }
        all.push(bits(b, &b.sum(&y, [0, 2])?)?);
        Ok(all)
    });
}

#[test]
fn the_numbers_are_those_of_the_backend_within() {
    let within = Numpyish::seeded(7);
    let expected = within.random_normal::<f64>([1003, 17]).unwrap();
    let got = on(3, Policy::new(), |b| b.to_ndarray(&b.random_normal::<f64>([1003, 17])?));
    assert_eq!(got, expected);
}

#[test]
fn moves_sorts_and_searches() {
    same_on_all(|b| {
        let x = b.random_normal::<f64>([2001])?;
        let m = b.random_normal::<f64>([300, 90])?;
        let i = b.random_integers([400], -2001_i64, 2001)?;
        Ok([
            bits(b, &b.sort(&x)?)?,
            bits(b, &b.astype(&b.argsort_with(&x, ArgsortOptions::new().descending(true))?)?)?,
            bits(b, &b.take(&x, &i, 0)?)?,
            bits(b, &b.roll(&m, [7, -3], [0, 1])?)?,
            bits(b, &b.flip(&m, 0)?)?,
            bits(b, &b.get(&m, ix![-1..10;-7, 3..])?)?,
            bits(b, &b.pad_with(&m, [[400, 5], [0, 1]], PadOptions::new().mode(PadMode::Reflect))?)?,
            bits(b, &b.concat([&m, &b.multiply(&m, 2.0)?, &b.getitem(&m, slices![5..9])?])?)?,
            bits(b, &b.reshape(&m, [27, 1000])?)?,
            bits(b, &b.reshape(&b.transpose(&m)?, [-1])?)?,
            bits(b, &b.tile(&m, [2, 3])?)?,
            bits(b, &b.repeat(&m, 3, 0)?)?,
            bits(b, &b.boolean_mask(&m, &b.greater(&m, 0.5)?)?)?,
            bits(b, &b.astype(&b.argwhere(&b.greater(&m, 2.0)?)?)?)?,
            bits(b, &b.max(&m, 0)?)?,
            bits(b, &b.astype(&b.argmin(&m, 0)?)?)?,
            bits(b, &b.searchsorted(&b.sort(&x)?, &m)?.pipe(|places| b.astype(&places))?)?,
        ])
    });
}

trait Pipe: Sized {
    fn pipe<R>(self, f: impl FnOnce(Self) -> R) -> R {
        f(self)
    }
}

impl<T> Pipe for T {}

/// One step of the heat equation. The slices of the array exchange only their edges.
fn heat<B: Backend>(b: &B, u: &B::Array<f64>) -> Result<B::Array<f64>> {
    let inner = b.getitem(u, slices![1..-1, 1..-1])?;
    let around = b.add(
        b.add(b.getitem(u, slices![..-2, 1..-1])?, b.getitem(u, slices![2.., 1..-1])?)?,
        b.add(b.getitem(u, slices![1..-1, ..-2])?, b.getitem(u, slices![1..-1, 2..])?)?,
    )?;
    let next = b.add(&inner, b.multiply(b.subtract(around, b.multiply(&inner, 4.0)?)?, 0.1)?)?;
    let mut u = u.clone();
    b.set(&mut u, ix![1..-1, 1..-1], &next)?;
    Ok(u)
}

#[test]
fn a_stencil_sends_its_edges_alone() {
    let program = |b: &Sharded<Numpyish>| {
        let mut u = b.random_uniform::<f64>([256, 100])?;
        b.world().reset_spent();
        for _ in 0..10 {
            u = heat(b, &u)?;
        }
        // for each shifted slice, a rank sends only one row to each neighbour
        let sent = b.world().spent().bytes;
        assert!(sent < 10 * 4 * 2 * 100 * 8, "{sent} bytes");
        assert_eq!(b.gathered().count, 0);
        bits(b, &u)
    };
    same_on_all(program);
}

#[test]
fn slices_in_a_formula_exchange_their_edges_in_one_message() {
    let program = |b: &Sharded<Numpyish>| {
        let u = b.random_uniform::<f64>([1000, 3])?;
        let mask = b.less(&u, 0.5)?;
        let (left, inner, right) =
            (b.getitem(&u, slices![..-4])?, b.getitem(&u, slices![2..-2])?, b.getitem(&u, slices![4..])?);
        let shifted = b.getitem(&mask, slices![..-4])?;
        b.world().reset_spent();
        // the parts of all arrays are moved to the row ranges of the first array
        let fused = expr!(b, inner * 0.5 + where(shifted, left, right))?;
        let calls = b.world().spent().calls;
        // one call for the arrays of numbers, and one call for the mask
        assert_eq!(calls, if b.world().size() == 1 { 0 } else { 2 });
        let by_ops = b.add(b.multiply(inner, 0.5)?, b.r#where(shifted, left, right)?)?;
        assert_eq!(bits(b, &fused)?, bits(b, &by_ops)?);
        bits(b, &fused)
    };
    same_on_all(program);
}

#[test]
fn what_needs_whole_arrays_has_a_limit_and_is_counted() {
    let program = |b: &Sharded<Numpyish>| {
        let x = b.random_normal::<f64>([1000, 100])?;
        let why = b.unique_values(&x).unwrap_err().to_string();
        assert_eq!(b.gathered().count, 0);
        let few = b.getitem(&x, slices![..100, ..10])?;
        b.unique_values(&few)?;
        assert_eq!((b.gathered().count, b.gathered().bytes), (1, 8000));
        Ok(why)
    };
    let why = on(3, Policy::new().whole(100_000), program);
    assert_eq!(
        why,
        "unique_values: every rank needs all of an array of shape [1000, 100] and 800000 bytes; the policy lets an op gather 100000"
    );
}

#[test]
fn values_go_to_the_ranks_that_have_their_rows() {
    let program = |b: &Sharded<Numpyish>| {
        let (grid, values) = (b.random_normal::<f64>([1000])?, b.random_normal::<f64>([3000])?);
        let places = b.random_integers([3000], -1000_i64, 1000)?;
        // most of the indexed rows are on a few ranks
        let crowded = b.remainder(&b.abs(&places)?, 60)?;
        let mut all = Vec::new();
        for places in [&places, &crowded, &b.resplit(&places, None)?] {
            all.push(bits(b, &b.scatter_add(&grid, places, &values, 0)?)?);
            all.push(bits(b, &b.scatter(&grid, places, &values, 0)?)?);
            all.push(bits(b, &b.scatter_max(&grid, places, &b.resplit(&values, None)?, 0)?)?);
        }
        // an array that is too narrow to be split along its second axis, and a slice of it
        let rows = b.random_normal::<f64>([1000, 5])?;
        let part = b.getitem(&rows, slices![100..])?;
        let (places, values) = (b.random_integers([300], 0_i64, 900)?, b.random_normal::<f64>([300, 5])?);
        all.push(bits(b, &b.scatter_mul(&part, &places, &values, 0)?)?);
        let few = (b.asarray([3_i64, -1, 899])?, b.getitem(&values, slices![..3])?);
        all.push(bits(b, &b.scatter_add(&part, &few.0, &few.1, 0)?)?);
        all.push(bits(b, &b.scatter_add(&part, b.zeros::<i64>([0])?, b.zeros::<f64>([0, 5])?, 0)?)?);
        assert_eq!(b.gathered().count, 0);
        // an index on one rank is out of range, and all ranks return the error
        let mut wrong = places.clone();
        b.set(&mut wrong, ix![217], 900)?;
        let why = b.scatter_add(&part, &wrong, &values, 0).unwrap_err();
        assert_eq!(why.to_string(), "scatter_add: index 900 is out of range for axis 0 of length 900");
        Ok(all)
    };
    same_on_all(program);
}

/// In NumPy, a mask axis of length 0 matches an axis of any length, and nothing is selected.
#[test]
fn masks_of_length_0_choose_nothing() {
    same_on_all(|b| {
        for lengths in [vec![1, 3], vec![1001, 3], vec![3000, 2, 2]] {
            let mut x = b.random_normal::<f64>(lengths.clone())?;
            let before = bits(b, &x)?;
            for mask in [vec![0], vec![0, 0], vec![lengths[0], 0], vec![0, lengths[1]]] {
                let mut shape = vec![0];
                shape.extend(&lengths[mask.len()..]);
                let mask = b.zeros::<bool>(mask)?;
                let chosen = b.get(&x, ix![&mask])?;
                assert_eq!(chosen.shape(), shape, "of {lengths:?} by {:?}", mask.shape());
                b.set(&mut x, ix![&mask], 7.0)?;
                b.set(&mut x, ix![&mask], &chosen)?;
                b.add_at(&mut x, ix![&mask], 7.0)?;
            }
            assert_eq!(bits(b, &x)?, before, "{lengths:?}");
        }
        Ok(())
    });
}

#[test]
fn products_of_matrices_that_are_split_in_every_way() {
    let within = Numpyish::seeded(1);
    let random = |shape: &[usize]| within.random_integers(shape, -9_i64, 9).unwrap();
    for (m, k, n) in [(70, 80, 90), (70, 3, 90), (3, 100, 5), (1, 200, 1), (100, 70, 2)] {
        let (x, y) = (random(&[m, k]), random(&[k, n]));
        let expected = within.matmul(&x, &y).unwrap();
        for ranks in [2, 3, 5] {
            // the second policy forbids gathering, so ranks send their matrices to other ranks in blocks
            for policy in [Policy::new(), Policy::new().whole(0)] {
                for (split1, split2) in
                    [(None, None), (Some(0), Some(0)), (Some(1), Some(0)), (Some(0), Some(1)), (Some(1), Some(1))]
                {
                    let got = on(ranks, policy, |b| {
                        let x = b.resplit(&b.from_ndarray(x.clone())?, split1)?;
                        let y = b.resplit(&b.from_ndarray(y.clone())?, split2)?;
                        b.to_ndarray(&b.matmul(&x, &y)?)
                    });
                    assert_eq!(got, expected, "{m} {k} {n}, {ranks} ranks, {split1:?} {split2:?}");
                }
            }
        }
    }
}

#[test]
fn fourier_transforms_are_those_of_the_backend_within() {
    let within = Numpyish::seeded(3);
    let x = within.random_normal::<Complex<f64>>([72, 80]).unwrap();
    let expected = within.fftn(&x).unwrap();
    let got = on(3, Policy::new(), |b| {
        let y = b.fftn(&b.from_ndarray(x.clone())?)?;
        let back = b.to_ndarray(&b.ifftn(&y)?)?;
        assert!(back.iter().zip(&x).all(|(a, b)| (a - b).norm() < 1e-12));
        b.to_ndarray(&y)
    });
    assert!(got.iter().zip(&expected).all(|(a, b)| (a - b).norm() < 1e-10));
}

#[test]
fn collective_calls_over_arrays() {
    let all = threads::run(3, |world| {
        let b = Numpyish::new();
        let rank = world.rank();
        let x = b.add(b.arange(0.0, 6.0, 1.0)?, rank as f64 * 10.0)?;
        let x = b.reshape(x, [2, 3])?;
        let own = b.full([rank + 1, 2], rank as i32)?;
        let gathered = world.all_gather_array(&b, &own, 0)?;
        assert_eq!(b.to_vec(&gathered)?, [0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2]);
        assert_eq!(b.to_vec(world.all_reduce_array(&b, &x, Join::Max)?)?[0], 20.0);
        assert_eq!(b.to_vec(world.all_reduce_array_by(&b, &x, |a, v| a - v)?)?[0], -30.0);
        let root = world.reduce_array(&b, &x, Join::Sum, 1)?;
        assert_eq!(
            root.map(|x| b.to_vec(x)).transpose()?,
            (rank == 1).then(|| vec![30.0, 33.0, 36.0, 39.0, 42.0, 45.0])
        );
        assert_eq!(b.to_vec(world.reduce_scatter_array(&b, &x, 1, Join::Sum)?)?.len(), 2);
        assert_eq!(b.to_vec(world.scan_array(&b, &x, Join::Sum)?)?[0], [0.0, 10.0, 30.0][rank]);
        assert_eq!(b.to_vec(world.exscan_array(&b, &x, Join::Sum)?)?[0], [0.0, 0.0, 10.0][rank]);
        let given = (rank == 2).then_some(&x);
        assert_eq!(b.to_vec(world.broadcast_array(&b, given, 2)?)?, b.to_vec(b.add(b.arange(0.0, 6.0, 1.0)?, 20.0)?)?);
        assert_eq!(b.shape(&world.scatter_array(&b, given, 1, 2)?), [2, 1]);
        assert_eq!(b.shape(&world.all_to_all_array(&b, &x, 1, 0)?), [6, 1]);
        assert_eq!(world.gather_array(&b, &x, 0, 0)?.map(|x| b.shape(&x).to_vec()), (rank == 0).then(|| vec![6, 3]));
        let pending = world.start_all_reduce_array(&b, &x, Join::Sum)?;
        assert_eq!(b.to_vec(pending.wait()?)?[5], 45.0);
        match rank {
            0 => world.send_array(&b, &own, 2)?,
            2 => assert_eq!(b.to_vec(world.recv_array::<_, i32>(&b, 0)?)?, [0, 0]),
            _ => {}
        }
        // every rank returns the error about the different shapes
        let odd = b.zeros::<f64>([2 + rank])?;
        assert!(world.all_reduce_array(&b, &odd, Join::Sum).unwrap_err().to_string().contains("shape [3]"));
        assert!(world.broadcast_array::<_, f64>(&b, None, 0).unwrap_err().to_string().contains("must give an array"));
        Ok::<_, Error>(())
    });
    all.into_iter().for_each(|result| result.unwrap());
}

#[test]
fn parts_by_hand_and_of_other_programs() {
    let program = |b: &Sharded<Numpyish>| {
        let rows = b.range(500);
        let part =
            b.within().reshape(b.within().arange(rows.start as f64 * 2.0, rows.end as f64 * 2.0, 1.0)?, [-1, 2])?;
        let x = b.from_parts(&[500, 2], 0, part)?;
        let doubled = b.map_parts(&x, |b, part| b.multiply(part, 2.0))?;
        assert!(b.map_parts(&x, |b, part| b.sum(part, 0)).is_err());
        assert!(b.from_parts(&[500, 3], 0, x.part().clone()).is_err());
        bits(b, &doubled)
    };
    same_on_all(program);
}

#[test]
fn a_plan_says_what_many_ranks_would_send() {
    let (world, plan) = World::plan(256);
    let b = Sharded::new(Numpyish::seeded(0), world).unwrap();
    let mut u = b.zeros::<f64>([8192, 64]).unwrap();
    plan.reset();
    for _ in 0..5 {
        u = heat(&b, &u).unwrap();
    }
    let report = plan.report();
    // each rank has two neighbours, and each neighbour needs the row next to it
    assert!(report.total().messages <= 5 * 4 * 2, "{report}");
    assert!(report.total().sent <= 5 * 4 * 2 * 64 * 8, "{report}");
    assert_eq!(b.largest_part(), 8192 / 256 * 64 * 8);
}

#[test]
fn files_are_read_and_written_by_parts() {
    let folder = std::env::temp_dir().join(format!("backends-sharded-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let program = |b: &Sharded<Numpyish>| {
        let path = folder.join(format!("{}.npy", b.world().size()));
        let x = b.random_normal::<f64>([900, 7])?;
        // also tests a slice whose rows are not in the default ranges
        let part = b.getitem(&x, slices![3.., ..])?;
        b.write_npy(&part, &path)?;
        let back = b.read_npy::<f64>(&path)?;
        assert_eq!(back.split(), Some(0));
        assert_eq!(bits(b, &back)?, bits(b, &part)?);
        let small = b.getitem(&x, slices![..3, ..])?;
        b.write_npy(&small, &path)?;
        assert_eq!(bits(b, &b.read_npy(&path)?)?, bits(b, &small)?);
        assert!(b.read_npy::<f64>(folder.join("none.npy")).is_err());
        bits(b, &back)
    };
    same_on_all(program);
    std::fs::remove_dir_all(&folder).unwrap();
}

/// The environment variable that makes a process a rank of a test. Its value is the mistake that the rank makes.
const MISTAKE: &str = "BACKENDS_MISTAKE";

/// Mistakes of rank 1, each with the error text that every rank returns. All other ranks make the same call with the
/// same arguments.
const MISTAKES: [(&str, &str); 19] = [
    ("data", "asarray of float64, x host data float64[1000] with the hash"),
    ("data of one element", "asarray of float64, x host data float64[1000] with the hash"),
    ("minus zero", "asarray of float64, x host data float64[3] with the hash"),
    ("ndarray", "from_ndarray of host data float64[5] with the hash"),
    ("iterator", "from_ndarray of host data int64[10] with the hash"),
    ("dtype", "asarray of float32, x host data float32[100]"),
    ("shape", "asarray of float64, x host data float64[101]"),
    ("scalar", "multiply of float64, x1 float64[1000], x2 = 1.0"),
    ("scalar of minus zero", "multiply of float64, x1 float64[1000], x2 = -0.0"),
    ("fill", "full of float64"),
    ("option", "std of float64"),
    ("axis", "sum of float64"),
    ("index", "getitem of float64"),
    ("shift", "roll of float64"),
    ("seed", "seed 8"),
    ("formula", "scalars"),
    ("op", "prod"),
    ("op of elements", "subtract of float64"),
    ("one draws more", "random"),
];

/// A program that is correct, except for the mistake of one rank.
fn program<B: Backend>(b: &B, mistake: &str, is_wrong: bool) -> Result<()> {
    let pick = |right: f64, wrong: f64| if is_wrong { wrong } else { right };
    let x = b.linspace(0.0, 1.0, 1000)?;
    match mistake {
        "data" => drop(b.asarray(vec![pick(2.0, 1.0); 1000])?),
        "data of one element" => {
            let mut all = vec![2.0; 1000];
            all[999] = pick(2.0, 2.0 + f64::EPSILON * 2.0);
            b.asarray(all)?;
        }
        "minus zero" => drop(b.asarray([1.0, f64::NAN, pick(0.0, -0.0)])?),
        "ndarray" => drop(b.from_ndarray(ndarray::arr1(&[pick(1.0, 2.0); 5]).into_dyn().into_shared())?),
        "iterator" => drop(b.from_iter((0..10_i64).map(|k| k + i64::from(is_wrong)))?),
        "dtype" if is_wrong => drop(b.asarray(vec![1.0_f32; 100])?),
        "dtype" => drop(b.asarray(vec![1.0_f64; 100])?),
        "shape" => drop(b.asarray(vec![1.0; if is_wrong { 101 } else { 100 }])?),
        "scalar" => drop(b.multiply(&x, pick(0.0, 1.0))?),
        "scalar of minus zero" => drop(b.multiply(&x, pick(0.0, -0.0))?),
        "fill" => drop(b.full([100], pick(0.0, 1.0))?),
        "option" => drop(b.std_with(&x, .., StdOptions::new().correction(pick(0.0, 1.0)))?),
        "axis" => {
            let x = b.reshape(&x, [10, 100])?;
            b.sum(&x, if is_wrong { 0 } else { 1 })?;
        }
        "index" => drop(b.getitem(&x, slices![if is_wrong { 1 } else { 0 }..])?),
        "shift" => drop(b.roll(&x, if is_wrong { 3 } else { 2 }, 0)?),
        "seed" => {
            b.seed(if is_wrong { 8 } else { 9 });
            b.random_normal::<f64>([100])?;
        }
        "formula" => {
            let s = pick(1.0, 2.0);
            let y: B::Array<f64> = expr!(b, x * s + 1.0)?;
            drop(y);
        }
        "op" if is_wrong => drop(b.prod(&x, ..)?),
        "op" => drop(b.sum(&x, ..)?),
        "op of elements" if is_wrong => drop(b.subtract(&x, 1.0)?),
        "op of elements" => drop(b.add(&x, 1.0)?),
        "one draws more" => {
            if is_wrong {
                b.random_uniform::<f64>([100])?;
            }
            b.random_normal::<f64>([100])?;
        }
        "none" => {
            // checks that all NaNs count as equal
            b.asarray([f64::NAN, 1.0])?;
            b.multiply(&x, f64::NAN)?;
        }
        // rank 1 skips a call of a loop, or makes an additional one
        "skip" | "extra" => {
            for k in 0..10 {
                if mistake == "extra" || !is_wrong || k != 5 {
                    b.sum(b.multiply(&x, f64::from(k))?, ..)?;
                }
            }
            if mistake == "extra" && is_wrong {
                b.sum(&x, ..)?;
            }
        }
        "panic" if is_wrong => panic!("on purpose"),
        "panic" => drop(b.sum(&x, ..)?),
        other => panic!("no mistake: {other}"),
    }
    b.to_vec(&b.sum(&x, ..)?)?;
    Ok(())
}

#[test]
fn with_checks_every_rank_names_what_one_gives_that_others_do_not() {
    for ranks in [2, 4] {
        let run = |mistake: &str| {
            threads::run(ranks, |world| {
                world.set_check(true);
                let b = Sharded::new(Numpyish::seeded(0), world.clone()).unwrap();
                b.seed(7);
                program(&b, mistake, world.rank() == 1).map_err(|why| why.to_string())
            })
        };
        assert!(run("none").iter().all(|result| result.is_ok()), "{:?}", run("none"));
        for (mistake, text) in MISTAKES {
            for (rank, result) in run(mistake).into_iter().enumerate() {
                let why = result.expect_err(mistake);
                assert!(why.contains("ranks diverged") && why.contains(text), "{mistake}, rank {rank}: {why}");
            }
        }
    }
}

#[test]
fn without_checks_an_exchange_for_another_op_is_an_error() {
    for (ranks, n) in [(2, 1000), (3, 1000), (4, 1_000_000)] {
        let results = threads::run(ranks, |world| {
            let b = Sharded::new(Numpyish::seeded(0), world.clone()).unwrap();
            let x = b.ones::<f64>([n]).unwrap();
            let rank = world.rank();
            let product = if rank == 1 { b.prod(&x, ..) } else { b.sum(&x, ..) };
            product.map(drop).map_err(|why| why.to_string())
        });
        for why in results.into_iter().map(|result| result.unwrap_err()) {
            assert!(why.contains("diverged") && why.contains("prod") && why.contains("sum"), "{why}");
        }
    }
}

#[test]
fn what_was_gathered_is_said_by_op() {
    on(3, Policy::new(), |b| {
        let x = b.arange(0.0, 1000.0, 1.0)?;
        b.unique_values(&x)?;
        b.unique_values(&x)?;
        b.median(&x, ..)?;
        let gathered = b.gathered();
        let text = gathered.to_string();
        assert!(gathered.ops.iter().any(|by| (by.op, by.count, by.bytes) == ("unique_values", 2, 16000)), "{text}");
        assert!(text.contains("2 of 16000 bytes by unique_values"), "{text}");
        assert_eq!(gathered.count, gathered.ops.iter().map(|by| by.count).sum::<u64>());
        Ok(())
    });
}

/// Runs one rank under a launcher. Does nothing unless the test below has started this process.
#[test]
fn a_mistake_of_a_rank() {
    let Ok(mistake) = std::env::var(MISTAKE) else { return };
    backends_sharded::run(|world: &World| -> Result<()> {
        let b = Sharded::new(Numpyish::seeded(0), world.clone())?;
        b.seed(7);
        program(&b, &mistake, world.rank() == 1)
    })
}

#[test]
fn mistakes_end_under_each_library_of_mpi() {
    use mpiexec::{Mpi, finish, folder, mpiexec};
    let Some(folder) = folder() else { return };
    let program = std::env::current_exe().unwrap();
    for mpi in Mpi::ALL {
        // the mistake, the setting of the checks, the exit status, and the text that at least one rank prints
        for (mistake, check, code, text) in [
            ("data", "1", 1, "asarray of float64, x host data float64[1000] with the hash"),
            ("scalar", "1", 1, "multiply of float64, x1 float64[1000], x2 = 1.0"),
            ("op", "0", 1, "prod"),
            ("skip", "0", 70, "rank 1 has left without it"),
            ("extra", "0", 70, "rank 0 has left without it"),
            ("skip", "1", 1, "ranks diverged"),
            ("panic", "0", 101, "on purpose"),
            ("none", "1", 0, ""),
        ] {
            let mut command = mpiexec(mpi, &folder, 2);
            command.env("WORLD_CHECK", check).env(MISTAKE, mistake).env("RAYON_NUM_THREADS", "1").arg(&program);
            command.args(["--exact", "a_mistake_of_a_rank", "--nocapture", "--test-threads=1"]);
            let finished = finish(&mut command, std::time::Duration::from_secs(30)).unwrap();
            let found = finished.status.and_then(|status| status.code());
            assert_eq!(found, Some(code), "{mpi}, {mistake}, {check}: {}", finished.output);
            assert!(finished.output.contains(text), "{mpi}, {mistake}, {check}: {}", finished.output);
        }
    }
}
