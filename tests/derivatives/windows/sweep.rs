//! Tests windows of all sizes, strides, paddings, dilations and groups over 1 to 3 axes, on every library. A tap is one
//! position within the window, or one weight of the kernel. Values and gradients of convolutions and pools are compared
//! with sums over explicit lists of triples (window, tap, element). The elements are small integers, so sums are exact.

use backends::{Lengths, Result, grad::vjp, prelude::*, runtime::available};
use std::fmt::Write as _;

/// Pseudorandom numbers from a seed.
struct Dice(u64);

impl Dice {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) as usize % n
    }

    /// An array of random integers from -4 to 4.
    fn array(&mut self, shape: &[usize]) -> HostArray<f64> {
        HostArray::from_shape_fn(shape, |_| self.below(9) as f64 - 4.0)
    }
}

/// The parameters of a window along one axis of length `len`.
#[derive(Clone, Copy, Debug)]
struct Along {
    len: usize,
    taps: usize,
    stride: usize,
    padding: usize,
    dilation: usize,
}

/// The parameters of one convolution, transposed convolution or pool: its window along each axis, and its channels.
#[derive(Clone, Debug)]
struct Combination {
    axes: Vec<Along>,
    groups: usize,
    /// Numbers of input channels and of output channels in one group.
    channels: [usize; 2],
    output_padding: usize,
}

/// All triples (window, tap, element) in which the tap of the window is at the element. Each index is a flat index in C
/// order. The struct also has the numbers of windows, taps and elements along each axis.
struct Places {
    places: Vec<[usize; 3]>,
    counts: [Vec<usize>; 3],
}

impl Places {
    fn new() -> Places {
        Places { places: vec![[0; 3]], counts: Default::default() }
    }

    /// Extends the triples by an axis after the existing axes.
    fn along(&mut self, axis: Along, windows: usize) {
        let counts = [windows, axis.taps, axis.len];
        let mut all = Vec::new();
        for outer in &self.places {
            for window in 0..windows {
                for tap in 0..axis.taps {
                    let at = window * axis.stride + tap * axis.dilation;
                    if (axis.padding..axis.padding + axis.len).contains(&at) {
                        let inner = [window, tap, at - axis.padding];
                        all.push(std::array::from_fn(|k| outer[k] * counts[k] + inner[k]));
                    }
                }
            }
        }
        self.places = all;
        self.counts.iter_mut().zip(counts).for_each(|(all, n)| all.push(n));
    }
}

impl Along {
    fn reach(&self) -> usize {
        (self.taps - 1) * self.dilation + 1
    }

    /// Number of windows that fit along the axis, found by counting.
    fn windows(&self) -> usize {
        let end = self.len + 2 * self.padding;
        (0..).take_while(|window| window * self.stride + self.reach() <= end).count()
    }
}

impl Combination {
    fn each(&self, of: fn(&Along) -> usize) -> Lengths {
        Lengths::from(self.axes.iter().map(of).collect::<Vec<_>>())
    }

    /// The triples of the convolution; `None` if no window fits into the array.
    fn places(&self) -> Option<Places> {
        let mut places = Places::new();
        for axis in &self.axes {
            let windows = axis.windows();
            if windows == 0 {
                return None;
            }
            places.along(*axis, windows);
        }
        Some(places)
    }

    /// The triples of the transposed convolution, in which each element of the input is a window. `None` if the result
    /// is empty.
    fn transposed(&self) -> Option<Places> {
        let mut places = Places::new();
        for axis in &self.axes {
            let all = (axis.len - 1) * axis.stride + axis.reach() + self.output_padding;
            let len = all.checked_sub(2 * axis.padding).filter(|len| *len > 0)?;
            places.along(Along { len, ..*axis }, axis.len);
        }
        Some(places)
    }
}

fn shape(batch: usize, channels: usize, lengths: &[usize]) -> Vec<usize> {
    [&[batch, channels], lengths].concat()
}

fn zeros(shape: Vec<usize>) -> HostArray<f64> {
    HostArray::zeros(shape)
}

/// Returns a function that computes the flat index of an element of `x` from the batch, the channel, and the flat index
/// within the channel.
fn at(x: &HostArray<f64>) -> impl Fn(usize, usize, usize) -> usize {
    let (channels, places) = (x.shape()[1], x.shape()[2..].iter().product::<usize>());
    move |batch, channel, place| (batch * channels + channel) * places + place
}

fn slice(x: &mut HostArray<f64>) -> &mut [f64] {
    x.as_slice_mut().expect("arrays of this file are in C order")
}

const BATCH: usize = 2;

/// A result and its gradients, each with a name.
type Parts = Vec<(&'static str, HostArray<f64>)>;

/// Computes the convolution and its gradients as explicit sums: `y[window] += w[tap] * x[element]`, or for the
/// transposed convolution `y[element] += w[tap] * x[window]`. The first axis of the kernel `w` is the output channel;
/// in the transposed convolution it is the input channel.
fn products(c: &Combination, places: &Places, transposed: bool, [x, w, bias, g]: [&HostArray<f64>; 4]) -> Parts {
    let mut y = zeros(g.shape().to_vec());
    let (mut gx, mut gw, mut gb) = (zeros(x.shape().to_vec()), zeros(w.shape().to_vec()), zeros(bias.shape().to_vec()));
    let (x_at, w_at, y_at) = (at(x), at(w), at(g));
    let (results, of_y) = (bias.len(), g.as_slice().unwrap());
    for (batch, channel) in (0..BATCH).flat_map(|batch| (0..results).map(move |channel| (batch, channel))) {
        for place in 0..g.shape()[2..].iter().product() {
            slice(&mut y)[y_at(batch, channel, place)] = bias[[channel]];
            gb[[channel]] += of_y[y_at(batch, channel, place)];
        }
    }
    let (x, w, g) = (x.as_slice().unwrap(), w.as_slice().unwrap(), g.as_slice().unwrap());
    let (y_, gx_, gw_) = (slice(&mut y), slice(&mut gx), slice(&mut gw));
    let [inputs, outputs] = c.channels;
    for &[window, tap, element] in &places.places {
        let (from, to) = if transposed { (window, element) } else { (element, window) };
        for (batch, group) in (0..BATCH).flat_map(|batch| (0..c.groups).map(move |group| (batch, group))) {
            for (input, output) in (0..inputs).flat_map(|input| (0..outputs).map(move |output| (input, output))) {
                let (source, result) = (group * inputs + input, group * outputs + output);
                let k = if transposed { w_at(source, output, tap) } else { w_at(result, input, tap) };
                let (i, j) = (x_at(batch, source, from), y_at(batch, result, to));
                y_[j] += w[k] * x[i];
                gx_[i] += w[k] * g[j];
                gw_[k] += x[i] * g[j];
            }
        }
    }
    vec![("value", y), ("gradient by x", gx), ("by the kernel", gw), ("by the bias", gb)]
}

/// Computes a pool and its gradient. `mean` is `None` for max pooling, in which the gradient goes to the first maximum
/// of each window; `Some(false)` for the mean of a window's elements; `Some(true)` for their sum divided by the number
/// of taps.
fn pooled(places: &Places, x: &HostArray<f64>, g: &HostArray<f64>, mean: Option<bool>) -> Parts {
    let (mut y, mut gx) = (zeros(g.shape().to_vec()), zeros(x.shape().to_vec()));
    let [windows, taps, elements] = places.counts.each_ref().map(|all| all.iter().product::<usize>());
    let mut under = vec![Vec::new(); windows];
    for &[window, _, element] in &places.places {
        under[window].push(element);
    }
    let planes = x.len() / elements;
    let (x, g) = (x.as_slice().unwrap(), g.as_slice().unwrap());
    let (y_, gx_) = (slice(&mut y), slice(&mut gx));
    for (plane, (window, under)) in (0..planes).flat_map(|plane| under.iter().enumerate().map(move |w| (plane, w))) {
        let (j, i) = (plane * windows + window, |element: usize| plane * elements + element);
        if let Some(all) = mean {
            let count = if all { taps } else { under.len() } as f64;
            y_[j] = under.iter().map(|&e| x[i(e)]).sum::<f64>() / count;
            under.iter().for_each(|&e| gx_[i(e)] += g[j] / count);
            continue;
        }
        let largest = under.iter().map(|&e| x[i(e)]).fold(f64::NEG_INFINITY, f64::max);
        y_[j] = largest;
        if let Some(&first) = under.iter().filter(|&&e| x[i(e)] == largest).min() {
            gx_[i(first)] += g[j];
        }
    }
    vec![("value", y), ("gradient by x", gx)]
}

/// Appends a line to `found` if the library's result differs from `right`. If `right` is `None` because no window fits,
/// the library must return an error.
fn compare<B: Backend>(b: &B, found: &mut String, call: &str, got: Result<Vec<B::Array<f64>>>, right: Option<Parts>) {
    let wrong = match (got, right) {
        (Err(_), None) => return,
        (Ok(got), None) => format!("shape {:?} where no window fits", b.shape(&got[0])),
        (Err(why), Some(_)) => why.to_string(),
        (Ok(got), Some(right)) => {
            let differs = got.iter().zip(&right).find_map(|(got, (name, right))| {
                let got = b.to_ndarray(got).unwrap();
                // libraries round the quotients of means differently
                let near = |(a, b): (&f64, &f64)| a == b || (a - b).abs() <= 1e-14 * (1.0 + b.abs());
                let same = got.shape() == right.shape() && got.iter().zip(right).all(near);
                (!same).then(|| format!("{name} is {:?} {got:?}, and not {:?} {right:?}", got.shape(), right.shape()))
            });
            let Some(differs) = differs else { return };
            differs
        }
    };
    writeln!(found, "{}: {call}: {wrong}", B::NAME).unwrap();
}

/// Checks the convolutions and pools of one combination.
fn check<B: Backend>(b: &B, c: &Combination, seed: usize, found: &mut String) -> Result<()> {
    let mut dice = Dice(seed as u64);
    let lengths = |of: fn(&Along) -> usize| c.axes.iter().map(of).collect::<Vec<_>>();
    let (lens, taps) = (lengths(|axis| axis.len), lengths(|axis| axis.taps));
    let (stride, padding, dilation) = (c.each(|a| a.stride), c.each(|a| a.padding), c.each(|a| a.dilation));
    let (sources, results) = (c.groups * c.channels[0], c.groups * c.channels[1]);
    let (x, bias) = (dice.array(&shape(BATCH, sources, &lens)), dice.array(&[results]));
    let put = |x: &HostArray<f64>| b.from_ndarray(x.clone());
    let (x_, bias_) = (put(&x)?, put(&bias)?);

    for transposed in [false, true] {
        let places = if transposed { c.transposed() } else { c.places() };
        let counts = |k: usize| places.as_ref().map_or(vec![1; lens.len()], |places| places.counts[k].clone());
        let channels = if transposed { [sources, c.channels[1]] } else { [results, c.channels[0]] };
        let w = dice.array(&shape(channels[0], channels[1], &taps));
        let g = dice.array(&shape(BATCH, results, &counts(if transposed { 2 } else { 0 })));
        let w_ = put(&w)?;
        let run = vjp(
            b,
            |d, (x, w, bias)| {
                if transposed {
                    let options = ConvTransposeOptions::new().stride(stride).padding(padding).dilation(dilation);
                    let options = options.groups(c.groups).output_padding(c.output_padding).bias(bias);
                    return d.conv_transpose_with(x, w, options);
                }
                let options = ConvOptions::new().stride(stride).padding(padding).dilation(dilation);
                d.conv_with(x, w, options.groups(c.groups).bias(bias))
            },
            (&x_, &w_, &bias_),
        );
        let got = run.and_then(|(y, mut back)| match places {
            // if the result has the wrong shape, its gradient is not computed
            Some(_) if b.shape(&y) == g.shape() => {
                let (by_x, by_w, by_bias) = back.pull(&put(&g)?)?;
                Ok(vec![y, by_x, by_w, by_bias])
            }
            _ => Ok(vec![y]),
        });
        let right = places.as_ref().map(|places| products(c, places, transposed, [&x, &w, &bias, &g]));
        compare(b, found, &format!("{} of {c:?}", if transposed { "conv_transpose" } else { "conv" }), got, right);
    }

    let places = c.places();
    let counts = places.as_ref().map_or(vec![1; lens.len()], |places| places.counts[0].clone());
    let g = dice.array(&shape(BATCH, sources, &counts));
    let halves = c.axes.iter().all(|axis| axis.padding <= axis.taps / 2);
    let dense = c.axes.iter().all(|axis| axis.dilation == 1);
    for mean in [None, Some(true), Some(false)].into_iter().filter(|mean| halves && (mean.is_none() || dense)) {
        let run = vjp(
            b,
            |d, x| match mean {
                None => {
                    let options = MaxPoolOptions::new().stride(stride).padding(padding).dilation(dilation);
                    d.max_pool_with(x, &taps[..], options)
                }
                Some(all) => {
                    let options = AvgPoolOptions::new().stride(stride).padding(padding).count_include_pad(all);
                    d.avg_pool_with(x, &taps[..], options)
                }
            },
            &x_,
        );
        let got = run.and_then(|(y, mut back)| match places {
            Some(_) if b.shape(&y) == g.shape() => Ok(vec![y, back.pull(&put(&g)?)?]),
            _ => Ok(vec![y]),
        });
        let right = places.as_ref().map(|places| pooled(places, &x, &g, mean));
        compare(b, found, &format!("{} of {c:?}", if mean.is_some() { "avg_pool" } else { "max_pool" }), got, right);
    }
    Ok(())
}

/// Returns all combinations of small parameters for one axis, and random combinations for two and three axes.
fn combinations() -> Vec<Combination> {
    let mut all = Vec::new();
    let mut dice = Dice(14);
    for (len, taps, stride) in triples(&[1, 2, 3, 5, 7], &[1, 2, 3], &[1, 2, 3, 1000]) {
        for (padding, dilation, _) in triples(&[0, 1, 2], &[1, 2], &[0]) {
            let axes = vec![Along { len, taps, stride, padding, dilation }];
            all.push((axes, 1 + dice.below(2)));
        }
    }
    for (rank, count) in [(2, 150), (3, 60)] {
        for _ in 0..count {
            let mut along = || Along {
                len: 1 + dice.below(4),
                taps: 1 + dice.below(3),
                stride: [1, 1, 2, 3, 9][dice.below(5)],
                padding: [0, 0, 1, 2][dice.below(4)],
                dilation: 1 + dice.below(2),
            };
            let axes = (0..rank).map(|_| along()).collect();
            all.push((axes, 1 + dice.below(3)));
        }
    }
    let combination = |(axes, groups): (Vec<Along>, usize)| {
        let room = axes.iter().map(|axis| axis.stride.max(axis.dilation)).min().unwrap_or(1).min(3);
        let output_padding = dice.below(room);
        Combination { axes, groups, channels: [1 + dice.below(2), 1 + dice.below(2)], output_padding }
    };
    all.into_iter().map(combination).collect()
}

/// All triples with one element from each list.
fn triples<'a>(a: &'a [usize], b: &'a [usize], c: &'a [usize]) -> impl Iterator<Item = (usize, usize, usize)> {
    a.iter().flat_map(move |&x| b.iter().flat_map(move |&y| c.iter().map(move |&z| (x, y, z))))
}

/// Combinations that failed in the past: a window that is longer than the array along one of three axes, and an array
/// that ends within its second window.
fn known() -> [Combination; 2] {
    let along = |len, taps, stride, padding| Along { len, taps, stride, padding, dilation: 1 };
    let of = |axes| Combination { axes, groups: 2, channels: [1, 2], output_padding: 0 };
    [of(vec![along(1, 2, 1, 1), along(5, 2, 2, 0), along(3, 2, 1, 1)]), of(vec![along(3, 2, 2, 0)])]
}

/// Checks the combinations of [`known`], and every `step`-th combination of [`combinations`].
fn sweep<B: Backend>(b: &B, step: usize) {
    let mut found = String::new();
    known().iter().for_each(|combination| check(b, combination, 0, &mut found).unwrap());
    for (seed, combination) in combinations().iter().enumerate().step_by(step) {
        check(b, combination, seed, &mut found).unwrap();
    }
    assert!(found.is_empty(), "{} calls:\n{found}", found.lines().count());
}

#[test]
fn on_numpyish() {
    sweep(&Numpyish::new(), 1);
}

/// Short calls of libtorch are slow, because they wait for its threads. Therefore only every second combination is
/// tested.
#[test]
fn on_torch() {
    if let Some(b) = available("torch", Torch::cpu()) {
        sweep(&b, 2);
    }
}

/// The software CUDA device is slow, so only every 37th combination is tested.
#[test]
fn on_cuda() {
    if let Some(b) = available("cuda", Cuda::new(0)) {
        sweep(&b, 37);
    }
}
