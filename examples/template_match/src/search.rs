//! The main part of the program: searches a volume for a template, generic over the backend and the precision.

use crate::{
    cli::{Options, Split},
    joined::joined,
    picture::Subject,
};
use backends::{Backend, MaxFilterCoordinatesOptions, Precision, Real};
use backends_npz::{NpyReader, NpyWriter, encode};
use backends_sharded::{World, cuts};
use examples_common::{
    console::Console,
    output::{Begun, File, Output},
    ranks::Ranks,
    workers,
};
use ndarray::{Array3, ArrayD, SliceInfoElem};
use std::{error::Error, fmt::Write, io, ops::Range, path::Path, time::Instant};
use template_match::{
    chunks::{self, Chunk},
    matching::{Best, Matcher, Score, Template},
    peaks::{Peak, Peaks},
    rotations::{self, Matrix},
    volume::Volume,
};

/// The names of the result files.
pub fn file_names() -> Vec<String> {
    ["scores.npy", "rotation.npy", "rotations.npy", "peaks.csv", "target.png", "scores.png"].map(String::from).into()
}

/// The data that are read before the computation.
pub struct Inputs {
    pub target: Volume,
    template: ArrayD<f64>,
    mask: ArrayD<f64>,
    rotations: Vec<Matrix>,
}

impl Inputs {
    /// Reads the files, and checks that the template fits into the volume and that the mask has the template's shape.
    pub fn read(options: &Options) -> Result<Inputs, Box<dyn Error>> {
        let target = Volume::open(&options.target)?;
        let mut template = Volume::open(&options.template)?;
        let (large, small) = (target.shape(), template.shape());
        if small.iter().zip(&large).any(|(s, l)| s > l) {
            return Err(format!("the template {template} is larger than the volume {target}").into());
        }
        let mask = match &options.mask {
            None => sphere(small),
            Some(path) => {
                let mut mask = Volume::open(path)?;
                if mask.shape() != small {
                    return Err(format!("the mask {mask} does not have the shape of the template {template}").into());
                }
                mask.whole()?
            }
        };
        let template = template.whole()?;
        if options.score != Score::Cc {
            let under = || template.iter().zip(&mask).filter(|(_, m)| **m != 0.0).map(|(t, _)| *t);
            let first = under().next();
            if first.is_none() {
                return Err("the mask is zero everywhere".into());
            }
            if under().all(|t| Some(t) == first) {
                return Err("the template has the same value everywhere under its mask".into());
            }
        }
        let rotations = match (&options.rotations, options.cone) {
            (Some(path), _) => read_rotations(path)?,
            (None, Some(cone)) => rotations::cone(cone, options.step),
            (None, None) => rotations::uniform(options.step),
        };
        Ok(Inputs { target, template, mask, rotations })
    }
}

/// An array of shape `shape` that is 1 within the largest sphere around its centre, otherwise 0.
fn sphere(shape: [usize; 3]) -> ArrayD<f64> {
    let middle = shape.map(|n| (n as f64 - 1.0) / 2.0);
    let radius = shape.into_iter().min().unwrap_or(0) as f64 / 2.0;
    let inside = |at: [usize; 3]| (0..3).map(|k| (at[k] as f64 - middle[k]).powi(2)).sum::<f64>() <= radius * radius;
    Array3::from_shape_fn(shape, |(z, y, x)| f64::from(u8::from(inside([z, y, x])))).into_dyn()
}

fn read_rotations(path: &Path) -> Result<Vec<Matrix>, Box<dyn Error>> {
    let mut reader = NpyReader::open(path)?;
    let &[n, 3, 3] = reader.shape() else {
        return Err(format!("{}: the shape {:?} is not (n, 3, 3)", path.display(), reader.shape()).into());
    };
    let values = reader.read::<f64>(&[0..n, 0..3, 0..3])?;
    let all: Vec<Matrix> = (0..n).map(|i| [0, 1, 2].map(|j| [0, 1, 2].map(|k| values[[i, j, k]]))).collect();
    match all.iter().position(|m| !rotations::is_rotation(m)) {
        Some(i) => Err(format!("{}: matrix {i} is not a rotation", path.display()).into()),
        None if all.is_empty() => Err(format!("{}: there are no rotations", path.display()).into()),
        None => Ok(all),
    }
}

/// The part of the search that this rank computes, and the memory for it.
pub struct Share {
    /// The ranks that share the search, if rotations are divided among ranks.
    world: Option<World>,
    /// The memory in bytes for the arrays of a part of the volume. If these arrays are split over ranks, this is the
    /// total over all these ranks.
    memory: u64,
    /// The number of threads among which this rank's rotations are divided. Dividing the loops over a part of the
    /// volume among threads would gain less, because these loops are short.
    threads: usize,
}

impl Share {
    /// Determines the part of the search that this rank computes. A single rank computes the whole search.
    pub fn new(options: &Options, ranks: &Ranks, threads: usize) -> Result<Share, Box<dyn Error>> {
        let half = ranks.memory()?.map_or(u64::MAX, |free| free / 2);
        let memory = options.memory.unwrap_or(half);
        Ok(match options.split {
            Split::Volume => Share { world: None, memory: memory.saturating_mul(ranks.size() as u64), threads },
            Split::Rotations => Share { world: ranks.world().cloned(), memory, threads },
        })
    }

    /// The parts of the volume, and the number of threads among which the rotations are divided. Each thread has its
    /// own arrays. If these arrays fit into memory only with more parts, or if there are few rotations, the second
    /// value is 1: all threads work together on one rotation at a time.
    fn divided(
        &self,
        shape: [usize; 3],
        template: [usize; 3],
        size: usize,
        rotations: usize,
    ) -> Result<(Vec<Chunk>, usize), String> {
        let parts = chunks::split(shape, template, size, self.memory)?;
        let of_threads = chunks::split(shape, template, size, self.memory / self.threads as u64);
        let fit = of_threads.is_ok_and(|of_threads| of_threads.len() == parts.len());
        Ok((parts, if fit && rotations >= 2 * self.threads { self.threads } else { 1 }))
    }
}

/// The best scores over these rotations. The rotations are divided among threads.
fn best<B: Backend, T: Precision>(
    b: &B,
    matcher: &Matcher<'_, B, T>,
    rotations: Range<usize>,
    threads: usize,
    done: impl Fn() + Sync,
) -> backends::Result<Best<B, T>> {
    let parts = cuts(rotations.len(), threads).into_iter();
    let parts = parts.map(|part| rotations.start + part.start..rotations.start + part.end);
    let mut found = workers::each(parts, |part| matcher.best(part, &done)).into_iter();
    let first = found.next().expect("there is one part at least")?;
    found.try_fold(first, |best, other| best.or(b, &other?))
}

/// The files of all scores and their rotations, while they are being written.
struct Volumes<T> {
    scores: NpyWriter<T>,
    rotations: NpyWriter<i32>,
    begun: [Begun; 2],
}

impl<T: Precision> Volumes<T> {
    fn begin(output: &Output, shape: [usize; 3]) -> io::Result<Volumes<T>> {
        let (scores, scores_begun) = output.begin("scores.npy")?;
        let (rotations, rotations_begun) = output.begin("rotation.npy")?;
        Ok(Volumes {
            scores: NpyWriter::new(scores, &shape)?,
            rotations: NpyWriter::new(rotations, &shape)?,
            begun: [scores_begun, rotations_begun],
        })
    }
}

/// Searches, and writes the files to `output`. Only one of several ranks has an `output`.
pub fn run<B: Backend, T: Precision>(
    b: &B,
    options: &Options,
    mut inputs: Inputs,
    share: &Share,
    output: Option<&Output>,
    console: &mut Console,
) -> Result<(), Box<dyn Error>> {
    let start = Instant::now();
    let shape = inputs.target.shape();
    let template_shape = [0, 1, 2].map(|axis| inputs.template.shape()[axis]);
    let rotations = inputs.rotations.len();
    let (chunks, threads) = share.divided(shape, template_shape, size_of::<T>(), rotations)?;
    console.say(format!("{rotations} rotations, the volume in {} parts", chunks.len()));

    let template =
        Template::<B, T>::new(b, &inputs.template, &inputs.mask, &inputs.rotations, options.score, options.order)?;
    let mut volumes = output.map(|output| Volumes::<T>::begin(output, shape)).transpose()?;
    let shortest = template_shape.into_iter().min().unwrap_or(1);
    let distance = options.distance.unwrap_or((shortest as f64 / 2.0).max(1.0));
    let mut peaks = Peaks::new(options.peaks, distance);
    let own =
        share.world.as_ref().map_or(0..rotations, |world| cuts(rotations, world.size()).swap_remove(world.rank()));
    let bar = console.progress("match", own.len() * chunks.len());
    for chunk in &chunks {
        let matcher = Matcher::new(&template, chunk.read(&mut inputs.target)?)?;
        let mut found = best(b, &matcher, own.clone(), threads, || bar.inc(1))?;
        if let Some(world) = &share.world {
            found = joined(b, world, &found)?;
        }
        let part = chunk.places.clone().map(|r| SliceInfoElem::from(0..r.len()));
        let scores = b.to_ndarray(&found.scores)?.slice(&part[..]).to_owned();
        let best_rotations = b.to_ndarray(&found.rotations)?.slice(&part[..]).to_owned();
        // a plan, which predicts communication and memory, has meaningless scores; they are not checked
        let is_planned = options.plans.are_asked_for();
        if let Some(score) = scores.iter().map(|s| s.to_f64()).find(|s| !s.is_finite() && !is_planned) {
            return Err(format!("the data lead to the score {score}").into());
        }
        let at = chunk.places.clone().map(|r| r.start);
        let near = MaxFilterCoordinatesOptions::new();
        let places = b.max_filter_coordinates_with(b.asarray(scores.clone())?, distance.round() as usize, near)?;
        let places = b.to_ndarray(&places)?;
        let places: Vec<_> = places.rows().into_iter().map(|p| [0, 1, 2].map(|k| p[k] as usize)).collect();
        peaks.add(at, &places, &scores.mapv(Real::to_f64).view(), &best_rotations.view());
        if let Some(volumes) = &mut volumes {
            volumes.scores.write(&at, &scores)?;
            volumes.rotations.write(&at, &best_rotations)?;
        }
    }
    bar.finish_and_clear();
    let mut peaks = peaks.into_vec();
    let least = options.min_score.or_else(|| peaks.first().map(|best| best.score / 2.0)).unwrap_or(0.0);
    peaks.retain(|peak| peak.score >= least);
    console.say(format!("{:.2} s", start.elapsed().as_secs_f64()));
    for (rank, peak) in peaks.iter().enumerate().take(SAID) {
        let ([z, y, x], score) = (peak.place, peak.score);
        console.say(format!(
            "{:2}. score {score:.4} at z = {z}, y = {y}, x = {x}, rotation {}",
            rank + 1,
            peak.rotation
        ));
    }
    match output.zip(volumes) {
        Some((output, volumes)) => write(inputs, &peaks, output, volumes.begun.into()),
        None => Ok(()),
    }
}

/// The maximum number of peaks that are printed.
const SAID: usize = 10;

fn write(mut inputs: Inputs, peaks: &[Peak], output: &Output, begun: Vec<Begun>) -> Result<(), Box<dyn Error>> {
    let mut scores = Volume::open_npy(begun[0].path())?;
    let matrices: Vec<f64> = inputs.rotations.iter().flatten().flatten().copied().collect();
    let matrices = ArrayD::from_shape_vec(vec![inputs.rotations.len(), 3, 3], matrices)?;
    let files = [
        ("rotations.npy", encode(&matrices)),
        ("peaks.csv", table(peaks, &inputs.rotations).into_bytes()),
        ("target.png", Subject::target().picture(&mut inputs.target, peaks)?),
        ("scores.png", Subject::scores().picture(&mut scores, peaks)?),
    ];
    output.write(&files.map(|(name, bytes)| File { name: name.into(), bytes }), begun)?;
    Ok(())
}

/// A table of the peaks, their scores and rotations, as comma-separated values.
fn table(peaks: &[Peak], rotations: &[Matrix]) -> String {
    let mut text = String::from("rank,z,y,x,score,rotation,r00,r01,r02,r10,r11,r12,r20,r21,r22\n");
    for (rank, peak) in peaks.iter().enumerate() {
        let [z, y, x] = peak.place;
        let (rank, score, rotation) = (rank + 1, peak.score, peak.rotation);
        let _ = write!(text, "{rank},{z},{y},{x},{score},{rotation}");
        rotations[rotation].iter().flatten().for_each(|r| {
            let _ = write!(text, ",{r}");
        });
        text.push('\n');
    }
    text
}
