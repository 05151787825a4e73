//! Compares the reconstructions of `backends-epr` with the results of PyEPRI, on every backend.

use crate::common::*;
use backends::{Error, prelude::*};
use backends_epr::{
    FilteredBackProjection, Projector, Reason, Scan, Solution, SpectralProjector, Step, Tv, TvOptions, divergence,
    gradient,
};
use backends_npz::Npz;

const EPS: f64 = 1e-14;

fn scan(data: &Npz) -> std::result::Result<Scan, Box<dyn std::error::Error>> {
    // data for the spectral-spatial model have no reference spectrum, so the field is used instead
    let reference = if data.contains("h") { data.vector("h")? } else { data.vector("B")? };
    Ok(Scan::new(&data.vector("B")?, &reference, &data.rows("fgrad")?)?)
}

fn dot(x: &ndarray::ArrayD<f64>, y: &ndarray::ArrayD<f64>) -> f64 {
    (x * y).sum()
}

fn operators<B: Backend>(b: &B) -> Checked {
    for name in ["pyepri_2d_24", "pyepri_2d_20x28_odd", "pyepri_3d_10x12x8"] {
        let data = data(name);
        let (u, v) = (data.get::<f64>("u")?, data.get::<f64>("v")?);
        let projector = Projector::<B, f64>::new(b, &scan(&data)?, u.shape(), data.scalar("delta")?, EPS)?;
        assert_eq!(projector.nodes() as f64, data.scalar("nodes_used")?, "{name}");

        let projections = host(b, &projector.apply(&array(b, &u)?)?)?;
        near(&format!("{name}: A u"), &projections, &data.get::<f64>("Au")?, 1e-9);
        let back = host(b, &projector.adjoint(&array(b, &v)?)?)?;
        near(&format!("{name}: A* v"), &back, &data.get::<f64>("Atv")?, 1e-9);
        near_scalar(&format!("{name}: <A u, v> = <u, A* v>"), dot(&projections, &v), dot(&u, &back), 1e-11);
        near_scalar(&format!("{name}: <A u, v>"), dot(&projections, &v), data.scalar("dot_Au_v")?, 1e-9);

        let kernel = host(b, &projector.toeplitz_kernel()?)?;
        near(&format!("{name}: kernel"), &kernel, &data.get::<f64>("phi")?, 1e-9);
        let normal = host(b, &projector.toeplitz()?.apply(&array(b, &u)?)?)?;
        near(&format!("{name}: kernel applied"), &normal, &data.get::<f64>("toeplitz_u")?, 1e-9);
        near(&format!("{name}: A* A u"), &normal, &data.get::<f64>("AtAu")?, 1e-9);
    }
    Ok(())
}

#[test]
fn projection_back_projection_and_toeplitz_kernel() {
    on_every_backend!(operators);
}

fn operators_f32<B: Backend>(b: &B) -> Checked {
    let data = data("pyepri_2d_24");
    let u = data.get::<f64>("u")?;
    let projector = Projector::<B, f32>::new(b, &scan(&data)?, u.shape(), data.scalar("delta")?, 1e-6)?;
    near("A u", &host(b, &projector.apply(&array(b, &u)?)?)?, &data.get::<f64>("Au")?, 3e-5);
    near("A* v", &host(b, &projector.adjoint(&array(b, &data.get::<f64>("v")?)?)?)?, &data.get::<f64>("Atv")?, 3e-5);
    near("A* A u", &host(b, &projector.toeplitz()?.apply(&array(b, &u)?)?)?, &data.get::<f64>("AtAu")?, 3e-5);
    Ok(())
}

#[test]
fn operators_in_single_precision() {
    on_every_backend!(operators_f32);
}

fn spectral_operators<B: Backend>(b: &B) -> Checked {
    let data = data("pyepri_4d_small");
    let (u, v) = (data.get::<f64>("u")?, data.get::<f64>("v")?);
    let projector = SpectralProjector::<B, f64>::new(b, &scan(&data)?, &u.shape()[1..], data.scalar("delta")?, EPS)?;
    let projections = host(b, &projector.apply(&array(b, &u)?)?)?;
    near("A u", &projections, &data.get::<f64>("Au")?, 1e-9);
    let back = host(b, &projector.adjoint(&array(b, &v)?)?)?;
    near("A* v", &back, &data.get::<f64>("Atv")?, 1e-9);
    near_scalar("<A u, v> = <u, A* v>", dot(&projections, &v), dot(&u, &back), 1e-11);
    Ok(())
}

#[test]
fn spectral_spatial_operators() {
    on_every_backend!(spectral_operators);
}

/// Compares the filtered back-projection of `measured` with the image `fbp` in `expected`.
fn fbp<B: Backend>(b: &B, measured: &Npz, expected: &Npz) -> Checked {
    let image = expected.get::<f64>("fbp")?;
    let x = expected.vector("xgrid")?;
    let cutoff = expected.scalar("frequency_cutoff")?;
    let method = FilteredBackProjection::<B, f64>::new(b, &scan(measured)?, image.shape(), x[1] - x[0], cutoff)?;
    let mut done = 0;
    let found = method.reconstruct(&array(b, &measured.get::<f64>("proj")?)?, |k| done = k)?;
    assert_eq!(done, measured.get::<f64>("proj")?.shape()[0]);
    near(&expected.path().display().to_string(), &host(b, &found)?, &image, 1e-9);
    Ok(())
}

fn every_fbp<B: Backend>(b: &B) -> Checked {
    for name in ["pyepri_fbp2d_small", "pyepri_fbp3d_small"] {
        fbp(b, &data(name), &data(name))?;
    }
    fbp(b, &phalanx(), &data("pyepri_phalanx_fbp_small"))
}

#[test]
fn filtered_back_projection() {
    on_every_backend!(every_fbp);
}

/// Compares the TV reconstruction of `measured` with the images and energies in `expected`.
fn tv<B: Backend>(b: &B, measured: &Npz, expected: &Npz) -> Checked {
    let file = expected.path().display();
    let image = expected.get::<f64>("tv_u")?;
    let delta = expected.scalar("delta")?;
    let projector = Projector::<B, f64>::new(b, &scan(measured)?, image.shape(), delta, 1e-13)?;
    let problem = Tv::new(&projector, &array(b, &measured.get::<f64>("proj")?)?, expected.scalar("lbda")?)?;
    near_scalar(&format!("{file}: weight"), problem.weight(), expected.scalar("tv_lbda_unrm")?, 1e-12);
    near_scalar(&format!("{file}: Lf"), problem.lipschitz(), expected.scalar("tv_Lf")?, 1e-10);
    near(&format!("{file}: start"), &host(b, problem.initial())?, &expected.get::<f64>("tv_init")?, 1e-9);
    let descent = problem.misfit_gradient(problem.initial())?;
    near(&format!("{file}: gradient"), &host(b, &descent)?, &expected.get::<f64>("tv_gradf_init")?, 1e-9);

    let every = expected.vector("tv_E_iter")?[1] as usize;
    let mut shown = Ok(());
    let solution = problem.solve(expected.scalar("tv_iter")? as usize, every, |Step { iteration, image }| {
        let key = format!("tv_u_{iteration}");
        if expected.contains(&key) {
            let snapshot = host(b, image)?;
            shown = expected.get(&key).map(|reference| near_l2(&key, &snapshot, &reference, 1e-6));
        }
        Ok(())
    })?;
    shown?;
    near_l2(&format!("{file}: image"), &host(b, &solution.image)?, &image, 1e-6);
    let energies = expected.vector("tv_E")?;
    assert_eq!(solution.energies.len(), energies.len());
    for (i, (found, energy)) in solution.energies.iter().zip(&energies).enumerate() {
        near_scalar(&format!("{file}: energy {i}"), *found, *energy, 1e-8);
    }
    Ok(())
}

fn every_tv<B: Backend>(b: &B) -> Checked {
    tv(b, &data("pyepri_tv_small"), &data("pyepri_tv_small"))?;
    tv(b, &data("pyepri_fbp3d_small"), &data("pyepri_tv3d_small"))?;
    tv(b, &phalanx(), &data("pyepri_phalanx_tv_small"))
}

#[test]
fn total_variation() {
    on_every_backend!(every_tv);
}

/// Reconstructs in single precision. The image's error may be at most three times the error of PyEPRI's image in
/// float32, which is 0.000695.
fn tv_f32<B: Backend>(b: &B) -> Checked {
    let (data, expected) = (phalanx(), data("pyepri_phalanx_tv_small"));
    let image = expected.get::<f64>("tv_u")?;
    let projector = Projector::<B, f32>::new(b, &scan(&data)?, image.shape(), expected.scalar("delta")?, 1e-6)?;
    let problem = Tv::new(&projector, &array(b, &data.get::<f64>("proj")?)?, expected.scalar("lbda")?)?;
    let solution = problem.solve(expected.scalar("tv_iter")? as usize, 0, |_| Ok(()))?;
    near_l2("image", &host(b, &solution.image)?, &image, 3.0 * 0.000695);
    assert!(solution.energies.is_empty());
    Ok(())
}

#[test]
fn total_variation_in_single_precision() {
    on_every_backend!(tv_f32);
}

fn refusals<B: Backend>(b: &B) -> Checked {
    let data = data("pyepri_2d_24");
    let scan = scan(&data)?;
    assert!(Projector::<B, f64>::new(b, &scan, &[24], 0.02, 1e-6).is_err(), "a 1-D image");
    assert!(Projector::<B, f64>::new(b, &scan, &[24, 0], 0.02, 1e-6).is_err(), "an empty image");
    assert!(Projector::<B, f64>::new(b, &scan, &[24, 24], -1.0, 1e-6).is_err(), "a negative pixel");
    assert!(Projector::<B, f64>::new(b, &scan, &[24, 24], 0.02, 0.0).is_err(), "eps of 0");
    let projector = Projector::<B, f64>::new(b, &scan, &[24, 24], 0.02, 1e-6)?;
    assert!(projector.apply(&b.zeros([24, 23])?).is_err());
    assert!(projector.adjoint(&b.zeros([12, 99])?).is_err());
    assert!(projector.toeplitz()?.apply(&b.zeros([25, 24])?).is_err());
    assert!(Tv::new(&projector, &b.zeros([12, 100])?, 1.0).is_err(), "data of nothing but zeros");
    assert!(Tv::new(&projector, &b.ones([12, 100])?, 0.0).is_err(), "no regularisation");
    for cutoff in [0.0, 1.5, f64::NAN] {
        assert!(FilteredBackProjection::<B, f64>::new(b, &scan, &[24, 24], 0.02, cutoff).is_err());
    }
    Ok(())
}

#[test]
fn what_does_not_fit_is_refused() {
    on_every_backend!(refusals);
}

/// Returns a scan whose field gradients have many directions, and an image that is 1 in a rectangular block and 0
/// elsewhere.
fn block(dims: usize) -> std::result::Result<(Scan, ndarray::ArrayD<f64>), Box<dyn std::error::Error>> {
    let field: Vec<f64> = (0..40).map(|i| 3500.0 + 0.5 * i as f64).collect();
    let spectrum: Vec<f64> = field.iter().map(|f| -(f - 3510.0) * (-(f - 3510.0).powi(2)).exp()).collect();
    let turn = |k: usize, golden: f64| (k as f64 + 0.5) * golden;
    let along = |axis: usize| -> Vec<f64> {
        let of = |k: usize| match (dims, axis) {
            (2, 0) => turn(k, 0.31).cos(),
            (2, _) => turn(k, 0.31).sin(),
            (_, 2) => 1.0 - turn(k, 0.1),
            _ => {
                let (z, phi) = (1.0 - turn(k, 0.1), turn(k, 2.4));
                (1.0 - z * z).sqrt() * if axis == 0 { phi.cos() } else { phi.sin() }
            }
        };
        (0..if dims == 2 { 10 } else { 20 }).map(|k| 18.0 * of(k)).collect()
    };
    let scan = Scan::new(&field, &spectrum, &(0..dims).map(along).collect::<Vec<_>>())?;
    let shape = if dims == 2 { vec![8, 7] } else { vec![5, 4, 3] };
    let image = ndarray::ArrayD::from_shape_fn(shape, |i| {
        let is_inside = (0..dims).all(|k| (1..=5 - dims).contains(&i[k]));
        if is_inside { 1.0 } else { 0.0 }
    });
    Ok((scan, image))
}

/// Pseudorandom numbers from -1 to 1.
fn noise(shape: &[usize]) -> ndarray::ArrayD<f64> {
    let mut state = 12345_u64;
    ndarray::ArrayD::from_shape_simple_fn(shape, || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    })
}

/// Returns the problem of reconstructing the image of [`block`] from its projections, to which noise is added. The
/// projections and the weight `lambda` are multiplied by `scale`.
fn noisy<B: Backend, T: Precision>(
    b: &B,
    dims: usize,
    (scale, lambda): (f64, f64),
) -> std::result::Result<Tv<B, T>, Box<dyn std::error::Error>> {
    let (scan, image) = block(dims)?;
    let projector = Projector::<B, T>::new(b, &scan, image.shape(), 0.06, 1e-12)?;
    let exact = host(b, &projector.apply(&array(b, &image)?)?)?;
    let largest = exact.iter().fold(0.0, |m: f64, x| m.max(x.abs()));
    let measured = (&exact + 0.2 * largest * noise(exact.shape())) * scale;
    Ok(Tv::new(&projector, &array(b, &measured)?, lambda * scale)?)
}

/// Asserts the Karush-Kuhn-Tucker conditions, which hold only at the minimum. The slope is `f'(u) - w div p`, where the
/// dual field `p` has the direction of the gradient of `u`. The slope must be 0 at unconstrained pixels, and must not
/// be negative at pixels that the positivity constraint keeps at 0.
fn is_least(
    problem: &Tv<Numpyish, f64>,
    u: &Solution<HostArray<f64>>,
    mask: Option<&HostArray<bool>>,
    positivity: bool,
) {
    let b = Numpyish::new();
    let w = problem.weight();
    let f = problem.misfit_gradient(&u.image).unwrap();
    let p = divergence(&b, &u.dual).unwrap();
    let slope = expr!(b, f - w * p).unwrap();
    let most = 1e-5 * b.item(b.max(b.abs(&f).unwrap(), ..).unwrap()).unwrap().max(w);
    for (index, &u) in u.image.indexed_iter() {
        let g = slope[index.clone()];
        let is_free = mask.is_none_or(|mask| mask[index.clone()]);
        match u {
            u if !is_free => assert_eq!(u, 0.0),
            u if positivity && u <= 0.0 => assert!(u == 0.0 && g >= -most, "{index:?}: {u} and {g:e} of {most:e}"),
            _ => assert!(g.abs() <= most, "{index:?}: {u} and {g:e} of {most:e}"),
        }
    }
    let lengths: f64 = backends_epr::total_variation(&b, &u.image).unwrap();
    let mut along = 0.0;
    for (p, d) in u.dual.iter().zip(gradient(&b, &u.image).unwrap()) {
        along += b.item(expr!(b, sum(p * d, ..)).unwrap()).unwrap();
    }
    assert!((lengths - along).abs() <= 1e-5 * lengths, "{lengths} and {along}");
    let mut squares = b.zeros_like(&u.image).unwrap();
    u.dual.iter().for_each(|p| expr!(b, squares += p * p).unwrap());
    assert!(squares.iter().all(|s| *s <= 1.0 + 1e-12));
}

#[test]
fn constrained_images_are_the_least() {
    let b = Numpyish::new();
    for (dims, lambda) in [(2, 1e-5), (3, 1e-5)] {
        let problem = noisy::<_, f64>(&b, dims, (1.0, lambda)).unwrap();
        let (_, truth) = block(dims).unwrap();
        let mut mask = truth.mapv(|x| x > 0.0);
        mask.iter_mut().take(20).for_each(|m| *m = true);
        let mask = b.asarray(mask).unwrap();
        let options = || TvOptions::new().max_iter(3000).tol(1e-8).energy_every(50);
        let free = problem.solve_with(options()).unwrap();
        assert!(free.image.iter().any(|u| *u < -0.01), "no constraint is at work");
        is_least(&problem, &free, None, false);
        let mut least = vec![*free.energies.last().unwrap()];
        for (masked, positivity) in [(false, true), (true, false), (true, true)] {
            let mut constrained = options().positivity(positivity);
            if masked {
                constrained = constrained.mask(&mask);
            }
            let found = problem.solve_with(constrained).unwrap();
            assert!(found.converged && found.reason == Reason::Converged, "{}", found.reason);
            is_least(&problem, &found, masked.then_some(&mask), positivity);
            least.push(*found.energies.last().unwrap());
        }
        // each constraint excludes some images, so the minimum is higher with constraints than without
        assert!(least[0] < least[1].min(least[2]) && least[1].max(least[2]) < (1.0 + 1e-7) * least[3], "{least:?}");
    }
}

#[test]
fn solves_end_where_the_image_hardly_changes() {
    let b = Numpyish::new();
    let problem = noisy::<_, f64>(&b, 2, (1.0, 0.02)).unwrap();
    for tol in [1e-2, 1e-4, 1e-6] {
        let mut images = vec![problem.initial().clone()];
        let options = TvOptions::new().max_iter(50_000).tol(tol).positivity(true);
        let options = options.callback(|step: Step<'_, HostArray<f64>>| {
            images.push(step.image.clone());
            std::ops::ControlFlow::Continue(())
        });
        let found = problem.solve_with(options).unwrap();
        assert_eq!((found.iterations, found.converged), (images.len() - 1, true));
        let norm = |x: &ndarray::ArrayD<f64>| x.iter().map(|x| x * x).sum::<f64>().sqrt();
        let changes: Vec<f64> = images.windows(2).map(|u| norm(&(&u[1] - &u[0])) / norm(&u[1].to_owned())).collect();
        assert_eq!(changes.iter().position(|change| *change <= tol), Some(found.iterations - 1));
        near_scalar("change", found.change.unwrap(), changes[found.iterations - 1], 1e-9);
    }
    // first with a tolerance of 0, which is never reached, and then without a tolerance
    let used_up = problem.solve_with(TvOptions::new().max_iter(7).tol(0.0).energy_every(2)).unwrap();
    assert_eq!((used_up.iterations, used_up.reason, used_up.energies.len()), (7, Reason::MaxIter, 4));
    let plain = problem.solve(7, 2, |_| Ok(())).unwrap();
    assert_eq!((&plain.image, &plain.energies, plain.change), (&used_up.image, &used_up.energies, None));
    // restarted at the minimum, the solve takes one iteration
    let options = || TvOptions::new().max_iter(100_000).positivity(true);
    let least = problem.solve_with(options().tol(1e-11)).unwrap();
    let again = problem.solve_with(options().tol(1e-9).resume(&least)).unwrap();
    assert_eq!((again.iterations, again.converged), (1, true));
    // the result does not depend on the initial image
    let start = b.asarray(noise(&[8, 7])).unwrap();
    assert_eq!(problem.solve_with(options().max_iter(0).init(&start)).unwrap().image, start);
    let other = problem.solve_with(options().tol(1e-11).init(&start)).unwrap();
    near_l2("image", &other.image.to_owned(), &least.image.to_owned(), 1e-6);
    // if the mask keeps every pixel at zero, the image does not change
    let nowhere = b.full([8, 7], false).unwrap();
    let zeros = problem.solve_with(TvOptions::new().tol(1e-3).mask(&nowhere)).unwrap();
    assert!(zeros.iterations == 2 && zeros.converged && zeros.image.iter().all(|u| *u == 0.0));
    // the callback can end the solve, and an error of the callback is returned
    let two = |step: Step<'_, HostArray<f64>>| match step.iteration {
        2 => std::ops::ControlFlow::Break(()),
        _ => std::ops::ControlFlow::Continue(()),
    };
    let ended = problem.solve_with(TvOptions::new().callback(two)).unwrap();
    assert_eq!((ended.iterations, ended.reason), (2, Reason::Callback));
    let why = problem.solve(9, 0, |_| Err(Error::argument("mine", "enough"))).unwrap_err();
    assert!(why.to_string().contains("enough"));
}

fn options<B: Backend, T: Precision>(b: &B, most: f64) -> Checked {
    for dims in [2, 3] {
        let (_, truth) = block(dims)?;
        let mask = truth.mapv(|x| x > 0.0);
        let start = noise(truth.shape());
        let reference = {
            let b = Numpyish::new();
            let problem = noisy::<_, f64>(&b, dims, (1.0, 0.02))?;
            let options = TvOptions::new().max_iter(12).energy_every(4).positivity(true);
            problem.solve_with(options.mask(&b.asarray(mask.clone())?).init(&b.asarray(start.clone())?).tol(0.0))?
        };
        // squares of the scaled data underflow in float32; scaling by a power of two causes no rounding
        let mut images = vec![];
        for scale in [1.0, 2.0_f64.powi(-70)] {
            let problem = noisy::<B, T>(b, dims, (scale, 0.02))?;
            let init = b.multiply(array(b, &start)?, T::of(scale))?;
            let mask = b.asarray(mask.clone())?;
            let options = TvOptions::new().max_iter(12).energy_every(4).positivity(true).mask(&mask).init(&init);
            let found = problem.solve_with(options.tol(0.0))?;
            let image = host(b, &found.image)? / scale;
            near_l2("image", &image, &host(&Numpyish::new(), &reference.image)?, most);
            near_scalar("change", found.change.unwrap(), reference.change.unwrap(), 100.0 * most);
            if scale == 1.0 {
                for (energy, expected) in found.energies.iter().zip(&reference.energies) {
                    near_scalar("energy", *energy, *expected, most);
                }
            }
            images.push(image);
        }
    }
    Ok(())
}

fn options_in_both_precisions<B: Backend>(b: &B) -> Checked {
    options::<B, f64>(b, 1e-9)?;
    options::<B, f32>(b, 2e-4)
}

#[test]
fn options_of_every_backend() {
    on_every_backend!(options_in_both_precisions);
}

#[test]
fn options_that_cannot_be_are_refused() {
    let b = Numpyish::new();
    let problem = noisy::<_, f64>(&b, 2, (1.0, 0.02)).unwrap();
    let why = |options: TvOptions<'_, Numpyish, f64>| problem.solve_with(options.max_iter(1)).unwrap_err().to_string();
    for tol in [-1e-3, f64::NAN] {
        assert!(why(TvOptions::new().tol(tol)).contains(&format!("tol is {tol}, but must be 0 or more")));
    }
    let text = why(TvOptions::new().mask(&b.full([7, 8], true).unwrap()));
    assert!(text.contains("`mask`") && text.contains("[7, 8]") && text.contains("[8, 7]"), "{text}");
    let text = why(TvOptions::new().init(&b.zeros([8]).unwrap()));
    assert!(text.contains("`init`") && text.contains("[8, 7]"), "{text}");
    let other = noisy::<_, f64>(&b, 3, (1.0, 0.02)).unwrap().solve(0, 0, |_| Ok(())).unwrap();
    assert!(why(TvOptions::new().resume(&other)).contains("`init`"));
    let text = why(TvOptions::new().init(&b.full([8, 7], f64::NAN).unwrap()).tol(1e-3));
    assert!(text.contains("not finite"), "{text}");
}
