//! Compares results for stacks with results of `lu`, with the definition, and with results for
//! single matrices, for every instruction set.

use super::{determinants_with, solve_all_with};
use crate::{Alone, Determinant, Failure, Result, SMALL, Scalar, instructions::Set, lu};
use std::ops::Range;

/// Pseudorandom numbers in [-1, 1).
fn noise(seed: u64, count: usize) -> Vec<f64> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let next = |_| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    };
    (0..count).map(next).collect()
}

/// The bits of numbers; the bits of a NaN do not matter.
fn bits(x: &[f64]) -> Vec<u64> {
    x.iter().map(|x| if x.is_nan() { u64::MAX } else { x.to_bits() }).collect()
}

fn bits_of(all: &[Determinant<f64>]) -> Vec<u64> {
    all.iter().flat_map(|d| bits(&[d.value, d.sign, d.log])).collect()
}

fn determinants(set: Set, a: &[f64], n: usize) -> Vec<Determinant<f64>> {
    let mut to = vec![Determinant { value: 7.0, sign: 7.0, log: 7.0 }; a.len() / (n * n)];
    determinants_with(set, &mut a.to_vec(), n, &mut to, &Alone).unwrap();
    to
}

fn solutions(set: Set, a: &[f64], b: &[f64], n: usize, k: usize) -> Result<Vec<f64>> {
    let mut x = b.to_vec();
    solve_all_with(set, &mut a.to_vec(), &mut x, n, k, &Alone).map(|()| x)
}

/// Stacks of these numbers of matrices are tested. Matrices that are left over from a group of eight may be alone.
const STACKS: [usize; 5] = [1, 7, 8, 9, 20];

/// Compares the results for a stack, `each` numbers per matrix, with the results for parts of the stack: the first
/// matrices, and the last nine with every instruction set. `of_part` computes the results for some of the matrices.
fn compare_parts(stack: &[f64], each: usize, of_part: impl Fn(Set, Range<usize>) -> Vec<f64>) {
    let matrices = stack.len() / each;
    let first = STACKS.iter().filter(|&&some| some < matrices).map(|&some| (Set::best(), 0..some));
    let last = Set::all().into_iter().map(|set| (set, matrices.saturating_sub(9)..matrices));
    for (set, part) in first.chain(last) {
        let whole = &stack[part.start * each..part.end * each];
        assert_eq!(bits(&of_part(set, part.clone())), bits(whole), "{set:?} {part:?} of {matrices}");
    }
}

/// Computes determinants. Checks that they have the same bits in parts of the stack.
fn same_determinants(a: &[f64], n: usize) -> Vec<Determinant<f64>> {
    let stack = determinants(Set::best(), a, n);
    let numbers = |all: Vec<Determinant<f64>>| all.iter().flat_map(|d| [d.value, d.sign, d.log]).collect::<Vec<_>>();
    let of_part = |set, part: Range<usize>| numbers(determinants(set, &a[part.start * n * n..part.end * n * n], n));
    compare_parts(&numbers(stack.clone()), 3, of_part);
    stack
}

/// Computes solutions. Checks that they have the same bits in parts of the stack.
fn same_solutions(a: &[f64], b: &[f64], n: usize, k: usize) -> Vec<f64> {
    let stack = solutions(Set::best(), a, b, n, k).unwrap();
    compare_parts(&stack, n * k, |set, part| {
        let (a, b) = (&a[part.start * n * n..part.end * n * n], &b[part.start * n * k..part.end * n * k]);
        solutions(set, a, b, n, k).unwrap()
    });
    stack
}

fn largest(x: &[f64]) -> f64 {
    x.iter().fold(0.0, |largest, x| x.abs().max(largest))
}

/// The largest element of `a x - b`, relative to `n` times the product of the largest elements of `a` and `x`.
fn residual(a: &[f64], x: &[f64], b: &[f64], n: usize) -> f64 {
    let element = |j: usize, i: usize| {
        let product: f64 = (0..n).map(|l| a[l * n + i] * x[j * n + l]).sum();
        (product - b[j * n + i]).abs()
    };
    let error = (0..b.len() / n).flat_map(|j| (0..n).map(move |i| (j, i))).fold(0.0, |e, (j, i)| element(j, i).max(e));
    error / (largest(a) * largest(x) * n as f64)
}

fn near(found: &Determinant<f64>, expected: &Determinant<f64>, what: &str) {
    let error = (found.value / expected.value - 1.0).abs();
    let of_log = (found.log - expected.log).abs();
    assert!(error < 1e-9 && of_log < 1e-9 && found.sign == expected.sign, "{what}: {found:?} {expected:?}");
}

#[test]
fn random_stacks_of_every_size() {
    for n in 1..=SMALL + 1 {
        let matrices = if n < 13 { 20 } else { 9 + n % 3 };
        let a = noise(n as u64, matrices * n * n);
        let found = same_determinants(&a, n);
        for (a, found) in a.chunks_exact(n * n).zip(&found).step_by(1 + n / 3) {
            near(found, &lu::determinant(&mut a.to_vec(), n, &Alone).unwrap(), &format!("{n}"));
        }
        for k in [1, 1 + n % 5] {
            let b = noise((n * 10 + k) as u64, matrices * n * k);
            let x = same_solutions(&a, &b, n, k);
            let systems = a.chunks_exact(n * n).zip(x.chunks_exact(n * k).zip(b.chunks_exact(n * k)));
            for (a, (x, b)) in systems.step_by(1 + n / 3) {
                let mut of_lu = b.to_vec();
                lu::solve(&mut a.to_vec(), &mut of_lu, n, k, &Alone).unwrap();
                let [ours, theirs] = [x, &of_lu].map(|x| residual(a, x, b, n));
                assert!(ours < 4.0 * theirs + 4.0 * f64::EPSILON, "{n} {k}: {ours} {theirs}");
            }
        }
    }
}

#[test]
fn inverses() {
    for n in [1, 2, 3, 4, 5, 8, 13, SMALL] {
        let a = noise(n as u64, 9 * n * n);
        let mut identities = vec![0.0; 9 * n * n];
        (0..9 * n).for_each(|i| identities[i / n * n * n + i % n * (n + 1)] = 1.0);
        let inverses = same_solutions(&a, &identities, n, n);
        for ((a, x), b) in a.chunks_exact(n * n).zip(inverses.chunks_exact(n * n)).zip(identities.chunks_exact(n * n)) {
            assert!(residual(a, x, b, n) < 4.0 * f64::EPSILON, "{n}");
        }
    }
}

#[test]
fn many_right_hand_sides() {
    for k in [SMALL - 1, SMALL, SMALL + 1] {
        let (a, b) = (noise(1, 9 * 25), noise(2, 9 * 5 * k));
        let x = same_solutions(&a, &b, 5, k);
        for (a, (x, b)) in a.chunks_exact(25).zip(x.chunks_exact(5 * k).zip(b.chunks_exact(5 * k))) {
            assert!(residual(a, x, b, 5) < 4.0 * f64::EPSILON);
        }
    }
    for set in Set::all() {
        assert_eq!(solutions(set, &noise(1, 36), &[], 3, 0), Ok(vec![]));
        assert_eq!(solutions(set, &[0.0; 36], &[], 3, 0), Err(Failure::Singular));
        assert_eq!(solve_all_with(set, &mut [], &mut [], 0, 3, &Alone), Ok(()));
        assert_eq!(solve_all_with(set, &mut [], &mut [], 3, 3, &Alone), Ok(()));
        let mut to = [Determinant::zero(); 3];
        determinants_with(set, &mut [], 0, &mut to, &Alone).unwrap();
        assert_eq!(to, [Determinant::one(); 3]);
    }
}

/// Pseudorandom permutations: the row of the 1 in each column, and the sign.
fn permutation(seed: u64, n: usize) -> (Vec<usize>, f64) {
    let (mut rows, mut sign) = ((0..n).collect::<Vec<_>>(), 1.0);
    for (k, x) in noise(seed, n).iter().enumerate().skip(1) {
        let other = ((x + 1.0) / 2.0 * (k + 1) as f64) as usize;
        if other != k {
            rows.swap(k, other);
            sign = -sign;
        }
    }
    (rows, sign)
}

#[test]
fn permutations_and_ties() {
    for n in (1..12).chain([16, 21, SMALL]) {
        let all: Vec<_> = (0..20).map(|seed| permutation(seed + 20 * n as u64, n)).collect();
        let mut a = vec![0.0; 20 * n * n];
        for (a, (rows, _)) in a.chunks_exact_mut(n * n).zip(&all) {
            rows.iter().enumerate().for_each(|(j, i)| a[j * n + i] = 1.0);
        }
        for (found, (_, sign)) in same_determinants(&a, n).iter().zip(&all) {
            assert_eq!(*found, Determinant { value: *sign, sign: *sign, log: 0.0 }, "{n}");
        }
        let b: Vec<f64> = (0..20 * n).map(|i| i as f64).collect();
        let x = same_solutions(&a, &b, n, 1);
        for ((x, b), (rows, _)) in x.chunks_exact(n).zip(b.chunks_exact(n)).zip(&all) {
            assert!(rows.iter().zip(x).all(|(&i, x)| b[i] == *x), "{n}");
        }
        // elements 1 and -1: all candidates for the first pivots are equally large
        let signs: Vec<f64> = noise(n as u64, 20 * n * n).iter().map(|&x| 1_f64.copysign(x)).collect();
        for (a, found) in signs.chunks_exact(n * n).zip(same_determinants(&signs, n)) {
            let expected = lu::determinant(&mut a.to_vec(), n, &Alone).unwrap();
            let scale = (n as f64).powf(n as f64 / 2.0);
            assert!((found.value - expected.value).abs() <= 1e-13 * scale, "{n}: {found:?} {expected:?}");
            assert!(n > 12 || found.value.round() == expected.value.round(), "{n}");
        }
    }
}

/// Changes one matrix of a stack to an unusual one: with a zero row, with two equal rows, zero, with NaN, with
/// infinity, with large numbers, with small numbers, or with both large and small columns.
fn unusual(a: &mut [f64], n: usize, kind: usize) {
    match kind {
        0 => a.iter_mut().step_by(n).for_each(|x| *x = 0.0),
        1 => a.chunks_exact_mut(n).for_each(|column| column[n - 1] = column[0]),
        2 => a.fill(0.0),
        3 => a[n * n / 2] = f64::NAN,
        4 => a[n * n - 1] = f64::NEG_INFINITY,
        5 => a.iter_mut().for_each(|x| *x *= 1e250),
        6 => a.iter_mut().for_each(|x| *x *= 1e-310),
        _ => a.iter_mut().enumerate().for_each(|(i, x)| *x *= [1e200, 1e-200][i / n % 2]),
    }
}

#[test]
fn unusual_matrices_in_some_lanes() {
    for n in [2, 3, 4, 5, 8, 9, 17, SMALL] {
        for matrices in STACKS {
            for first in if n < 6 { 0..8 } else { 3..4 } {
                let ordinary = noise((n * 7 + matrices) as u64, matrices * n * n);
                let usual = determinants(Set::best(), &ordinary, n);
                let mut a = ordinary;
                let mut kinds = vec![None; matrices];
                for (step, i) in (first % matrices..matrices).step_by(3).enumerate() {
                    kinds[i] = Some((first + step) % 8);
                    unusual(&mut a[i * n * n..][..n * n], n, (first + step) % 8);
                }
                // other instruction sets are slow in a build without optimization, so only some stacks are compared
                let found = if n < 6 { same_determinants(&a, n) } else { determinants(Set::best(), &a, n) };
                for ((a, kind), (found, usual)) in a.chunks_exact(n * n).zip(&kinds).zip(found.iter().zip(&usual)) {
                    match kind {
                        None => assert_eq!(bits_of(&[*found]), bits_of(&[*usual]), "{n}"),
                        Some(0..=2) => assert_eq!(*found, Determinant::zero(), "{n} {kind:?}"),
                        Some(_) => {
                            let of_lu = lu::determinant(&mut a.to_vec(), n, &Alone).unwrap();
                            assert_eq!(bits_of(&[*found]), bits_of(&[of_lu]), "{n} {kind:?}");
                        }
                    }
                }
                let b = noise(3, matrices * n * 2);
                if kinds.iter().flatten().any(|kind| *kind < 3) {
                    assert_eq!(solutions(Set::best(), &a, &b, n, 2), Err(Failure::Singular), "{n}");
                    continue;
                }
                let x =
                    if n < 6 { same_solutions(&a, &b, n, 2) } else { solutions(Set::best(), &a, &b, n, 2).unwrap() };
                for (i, (a, kind)) in a.chunks_exact(n * n).zip(&kinds).enumerate() {
                    let part = i * n * 2..(i + 1) * n * 2;
                    if kind.is_some() {
                        let mut of_lu = b[part.clone()].to_vec();
                        lu::solve(&mut a.to_vec(), &mut of_lu, n, 2, &Alone).unwrap();
                        assert_eq!(bits(&x[part]), bits(&of_lu), "{n} {kind:?}");
                    } else {
                        assert!(residual(a, &x[part.clone()], &b[part], n) < 8.0 * f64::EPSILON, "{n}");
                    }
                }
            }
        }
    }
}

#[test]
fn infinite_right_hand_sides() {
    for n in [1, 3, 8, 11] {
        let (a, mut b) = (noise(5, 10 * n * n), noise(6, 10 * n));
        let usual = same_solutions(&a, &b, n, 1);
        (b[n], b[9 * n]) = (f64::NAN, f64::INFINITY);
        let x = same_solutions(&a, &b, n, 1);
        for (i, (x, usual)) in x.chunks_exact(n).zip(usual.chunks_exact(n)).enumerate() {
            assert_eq!(x.iter().all(|x| x.is_finite()), i != 1 && i != 9, "{n}");
            assert!(i == 1 || i == 9 || x == usual, "{n}");
        }
    }
}

#[test]
fn determinants_near_the_limits_of_doubles() {
    let diagonal = |x: &[f64]| {
        let n = x.len();
        (0..n * n).map(|i| if i % (n + 1) == 0 { x[i / n] } else { 0.0 }).collect::<Vec<_>>()
    };
    let cases = [
        (vec![1e50, -1e50, 1e50, 1e50, 1e50, 1e50, 1e50], f64::NEG_INFINITY, 350.0),
        (vec![1e50, 1e50, 1e50, 1e50, 1e50, 1e50, 1e-50], 1e250, 250.0),
        (vec![-1e-50, 1e-50, 1e-50, 1e-50, 1e-50, 1e-50, 1e40], -1e-260, -260.0),
        (vec![1e-50, 1e-50, 1e-50, 1e-50, 1e-50, 1e-50, 1e-10], 1e-310, -310.0),
        (vec![1e-50, 1e-50, 1e-50, 1e-50, 1e-50, 1e-50, 1e-50], 0.0, -350.0),
        (vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0], 5040.0, 5040_f64.log10()),
    ];
    let stack: Vec<f64> = (0..9).flat_map(|i| diagonal(&cases[i % cases.len()].0)).collect();
    for (i, found) in same_determinants(&stack, 7).iter().enumerate() {
        let (x, value, log) = &cases[i % cases.len()];
        let same = found.value == *value || (found.value / value - 1.0).abs() < 1e-13;
        assert!(same && found.sign == x[0].signum() * x[1].signum(), "{x:?}: {found:?}");
        assert!((found.log - log * 10_f64.ln()).abs() < 1e-11, "{x:?}: {found:?}");
    }
}

#[test]
fn inverses_do_not_depend_on_the_stack() {
    for n in [1, 2, 5, 8, 25, 26, 33] {
        let a = noise(n as u64, 11 * n * n);
        let mut stack = vec![f64::NAN; a.len()];
        f64::inverse_all(&mut a.clone(), &mut stack, n, &Alone).unwrap();
        for (a, found) in a.chunks_exact(n * n).zip(stack.chunks_exact(n * n)) {
            let mut single = vec![f64::NAN; n * n];
            f64::inverse_all(&mut a.to_vec(), &mut single, n, &Alone).unwrap();
            assert_eq!(bits(found), bits(&single), "{n}");
            let product = |i: usize, j: usize| (0..n).map(|k| a[k * n + i] * found[j * n + k]).sum::<f64>();
            let error = (0..n * n).map(|at| (product(at % n, at / n) - f64::from(u8::from(at % n == at / n))).abs());
            let size = found.iter().fold(1.0_f64, |most, x| most.max(x.abs()));
            assert!(error.fold(0.0, f64::max) < 1e-13 * size * n as f64, "{n}");
        }
    }
    assert_eq!(f64::inverse_all(&mut [0.0; 4], &mut [0.0; 4], 2, &Alone), Err(Failure::Singular));
    assert_eq!(f64::inverse_all(&mut [], &mut [], 0, &Alone), Ok(()));
}
