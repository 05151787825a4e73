//! The reconstructions of `backends-epr` against the numbers of PyEPRI, on every backend.

mod common;

use backends::prelude::*;
use backends_epr::{FilteredBackProjection, Projector, Scan, SpectralProjector, Step, Tv};
use backends_npz::Npz;
use common::*;

const EPS: f64 = 1e-14;

fn scan(data: &Npz) -> std::result::Result<Scan, Box<dyn std::error::Error>> {
    // the spectral-spatial model has no reference spectrum
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

/// Filtered back-projection of `measured`, compared with the `fbp` of `expected`.
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

/// Reconstruction of `measured`, compared with the images and energies of `expected`.
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

/// In single precision, the image within three times the change that float32 makes in PyEPRI.
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
