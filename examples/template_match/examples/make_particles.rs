//! Makes the program's data, `examples/data/particle.mrc` and `particles.mrc`: a particle, and a volume with six copies
//! of the particle in noise. The positions and rotations of the copies are written to `particles.csv`.
//!
//!     cargo run --release -p template_match --example make_particles

#[path = "../src/rotations.rs"]
#[allow(dead_code)]
mod rotations;

use backends::prelude::*;
use backends_images::{MrcFiles, MrcInfo};
use ndarray::{Array3, ArrayD, s};
use std::{error::Error, fmt::Write, fs};

type Outcome = std::result::Result<(), Box<dyn Error>>;

/// Edge lengths of the particle and of the volume, in voxels.
const PARTICLE: usize = 17;
const VOLUME: usize = 64;

/// For each part of the particle: its position relative to the particle's centre (z, y, x, in voxels), its width in
/// voxels, and its weight. The particle has no symmetry.
const PARTS: [[f64; 5]; 6] = [
    [0.0, 0.0, 0.0, 1.8, 1.0],
    [4.0, 1.0, 0.0, 1.2, 0.9],
    [-1.0, 4.5, 1.0, 1.3, 0.8],
    [-2.0, -2.0, 4.0, 1.1, 1.0],
    [2.5, -4.0, -1.5, 1.2, 0.7],
    [-4.5, 0.5, -2.5, 1.1, 0.9],
];

/// The centres of the six particles, each with the index of its rotation.
const PLACES: [([usize; 3], usize); 6] = [
    ([14, 15, 17], 11),
    ([16, 44, 24], 202),
    ([31, 20, 45], 333),
    ([46, 48, 48], 47),
    ([48, 17, 20], 150),
    ([33, 46, 12], 424),
];

/// The standard deviation of the noise; the largest density of the particle is 1.
const NOISE: f64 = 0.45;

fn main() -> Outcome {
    let b = Numpyish::seeded(2026);
    let middle = (PARTICLE as f64 - 1.0) / 2.0;
    let particle = Array3::from_shape_fn((PARTICLE, PARTICLE, PARTICLE), |(z, y, x)| {
        let at = [z, y, x].map(|i| i as f64 - middle);
        let part = |[pz, py, px, width, weight]: &[f64; 5]| {
            let square = [at[0] - pz, at[1] - py, at[2] - px].iter().map(|d| d * d).sum::<f64>();
            weight * (-square / (2.0 * width * width)).exp()
        };
        PARTS.iter().map(part).sum::<f64>()
    });
    let particle = particle.into_dyn();
    let all = rotations::uniform(28.0);
    let noise = RandomNormalOptions::new().std(NOISE);
    let mut volume = b.to_ndarray(&b.random_normal_with::<f64>([VOLUME; 3], noise)?)?.into_owned();
    let mut table = String::from("z,y,x,r00,r01,r02,r10,r11,r12,r20,r21,r22\n");
    for ([z, y, x], rotation) in PLACES {
        let rotation = all[rotation];
        let turned = b.rigid_transform(b.asarray(particle.clone())?, b.asarray(rotation)?)?;
        let [near, far] = [PARTICLE / 2, PARTICLE / 2 + 1];
        let mut part = volume.slice_mut(s![z - near..z + far, y - near..y + far, x - near..x + far]);
        part += &b.to_ndarray(&turned)?.view().into_dimensionality::<ndarray::Ix3>()?;
        write!(table, "{z},{y},{x}")?;
        rotation.iter().flatten().try_for_each(|r| write!(table, ",{r:.6}"))?;
        table.push('\n');
    }
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../data");
    save(&format!("{folder}/particle.mrc"), &particle)?;
    save(&format!("{folder}/particles.mrc"), &volume)?;
    fs::write(format!("{folder}/particles.csv"), table)?;
    Ok(())
}

/// Saves values as 8-bit integers, scaled so that the largest magnitude is 127.
fn save(path: &str, values: &ArrayD<f64>) -> Outcome {
    let largest = values.iter().fold(0.0, |m: f64, v| m.max(v.abs()));
    let bytes = values.mapv(|v| (v / largest * 127.0).round() as i8);
    Ok(Numpyish::new().save_mrc(path, bytes.into_shared(), &MrcInfo::new())?)
}
