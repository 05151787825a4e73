//! Compares convolutions with their definitions, for shapes that need several blocks and several threads. Elements are
//! small integers, so that sums are exact.

use super::{
    typed::{avg_pool, conv, conv_transpose, max_pool},
    *,
};
use backend_core::{
    Complex, Element, f16,
    numpyish::{Numpyish, testing::Dice, testing::layouts},
};
use ndarray::{ArrayD, Axis, IxDyn};

const B: Numpyish = Numpyish::new();

fn values<T: Element>(dice: &mut Dice, shape: &[usize]) -> ArrayD<T> {
    let n = shape.iter().product();
    let values = (0..n).map(|_| T::from_i64(dice.below(7) as i64 - 3)).collect();
    ArrayD::from_shape_vec(IxDyn(shape), values).unwrap()
}

/// Inserts axes of length 1, so that the array has three axes besides batch and channel.
fn wide<T: Element>(x: &ArrayD<T>) -> ArrayD<T> {
    let mut x = x.clone();
    while x.ndim() < 5 {
        x = x.insert_axis(Axis(2));
    }
    x
}

/// Calls `f` for each product in a convolution. The arguments are the indices of the result, of the element and of the
/// kernel's element, and the input channel and the output channel within the group.
fn products(plan: &Convolution, mut f: impl FnMut([usize; 5], [usize; 5], [usize; 5], usize, usize)) {
    let sizes = plan.axes.map(|axis| (axis.windows, axis.taps));
    let places: Vec<[usize; 3]> =
        ndarray::indices((sizes[0].0, sizes[1].0, sizes[2].0)).into_iter().map(|(z, y, x)| [z, y, x]).collect();
    let taps: Vec<[usize; 3]> =
        ndarray::indices((sizes[0].1, sizes[1].1, sizes[2].1)).into_iter().map(|(z, y, x)| [z, y, x]).collect();
    for place in &places {
        for tap in &taps {
            let at: [isize; 3] =
                std::array::from_fn(|k| plan.axes[k].start(place[k]) + (tap[k] * plan.axes[k].dilation) as isize);
            if (0..3).any(|k| at[k] < 0 || at[k] >= plan.axes[k].len as isize) {
                continue;
            }
            let at = at.map(|at| at as usize);
            for group in 0..plan.groups {
                for output in 0..plan.outputs {
                    for input in 0..plan.inputs {
                        for n in 0..plan.batch {
                            let five = |channel: usize, place: [usize; 3]| [n, channel, place[0], place[1], place[2]];
                            let (output_channel, input_channel) =
                                (group * plan.outputs + output, group * plan.inputs + input);
                            f(five(output_channel, *place), five(input_channel, at), five(0, *tap), input, output);
                        }
                    }
                }
            }
        }
    }
}

fn naive<T: Numeric>(plan: &Convolution, x: &ArrayD<T>, weight: &ArrayD<T>, bias: Option<&ArrayD<T>>) -> Vec<T> {
    let (x, weight) = (wide(x), wide(weight));
    let lengths = plan.axes.map(|axis| axis.windows);
    let mut y = ArrayD::from_elem(
        IxDyn(&[plan.batch, plan.groups * plan.outputs, lengths[0], lengths[1], lengths[2]]),
        T::ZERO,
    );
    if let Some(bias) = bias {
        y.indexed_iter_mut().for_each(|(at, y)| *y = bias[[at[1]]]);
    }
    products(plan, |to, from, tap, input, _| {
        let weight = weight[IxDyn(&[to[1], input, tap[2], tap[3], tap[4]])];
        y[IxDyn(&to)] = y[IxDyn(&to)].plus(weight.times(x[IxDyn(&from)]));
    });
    y.into_raw_vec_and_offset().0
}

fn naive_transposed<T: Numeric>(
    plan: &Convolution,
    x: &ArrayD<T>,
    weight: &ArrayD<T>,
    bias: Option<&ArrayD<T>>,
) -> Vec<T> {
    let (x, weight) = (wide(x), wide(weight));
    let lengths = plan.axes.map(|axis| axis.len);
    let mut y = ArrayD::from_elem(
        IxDyn(&[plan.batch, plan.groups * plan.outputs, lengths[0], lengths[1], lengths[2]]),
        T::ZERO,
    );
    if let Some(bias) = bias {
        y.indexed_iter_mut().for_each(|(at, y)| *y = bias[[at[1]]]);
    }
    products(plan, |window, place, tap, input, output| {
        let group = window[1] / plan.outputs;
        let element = x[IxDyn(&[window[0], group * plan.inputs + input, window[2], window[3], window[4]])];
        let weight = weight[IxDyn(&[group * plan.inputs + input, output, tap[2], tap[3], tap[4]])];
        let to = IxDyn(&[place[0], window[1], place[2], place[3], place[4]]);
        y[&to] = y[&to].plus(weight.times(element));
    });
    y.into_raw_vec_and_offset().0
}

fn check<T: Numeric>(
    dice: &mut Dice,
    x: &[usize],
    taps: &[usize],
    [groups, inputs, outputs]: [usize; 3],
    steps: WindowSteps,
) {
    let shape = [&[x[0], groups * inputs], &x[1..]].concat();
    let (x, weight) = (values::<T>(dice, &shape), values::<T>(dice, &[&[groups * outputs, inputs], taps].concat()));
    let bias = (dice.below(2) == 1).then(|| values::<T>(dice, &[groups * outputs]));
    let bias_shape = bias.as_ref().map(|bias| bias.shape());
    let (given, size) = (bias.clone().map(ArrayD::into_shared), size_of::<T>());
    let (x1, WindowSteps { stride, padding, dilation }) = (x.clone().into_shared(), steps);
    if let Ok(plan) = rules::convolution("conv", x.shape(), weight.shape(), bias_shape, &steps, groups, size) {
        let w = weight.clone().into_shared();
        let y = conv(&B, &x1, &w, given.as_ref(), stride, padding, dilation, groups).unwrap();
        assert_eq!(y.shape(), plan.shape);
        assert!(y.iter().eq(&naive(&plan, &x, &weight, bias.as_ref())), "{} {plan:?}", T::DTYPE);
    }
    let weight = values::<T>(dice, &[&[groups * inputs, outputs], taps].concat());
    if let Ok(plan) =
        rules::transposed_convolution("conv", x.shape(), weight.shape(), bias_shape, &steps, None, groups, size)
    {
        let w = weight.clone().into_shared();
        let y = conv_transpose(&B, &x1, &w, given.as_ref(), stride, padding, None, dilation, groups).unwrap();
        assert_eq!(y.shape(), plan.shape);
        assert!(y.iter().eq(&naive_transposed(&plan, &x, &weight, bias.as_ref())), "{} {plan:?}", T::DTYPE);
    }
}

fn steps(stride: usize, padding: usize, dilation: usize) -> WindowSteps {
    WindowSteps { stride: Some(stride.into()), padding: Some(padding.into()), dilation: Some(dilation.into()) }
}

fn shapes<T: Numeric>() {
    let mut dice = Dice(7);
    // the rows are long enough for whole blocks, for a last block that begins earlier, for edges on both sides, and for
    // several tasks
    for (n, taps) in [(63, 3), (64, 64), (65, 1), (150, 40), (530, 20), (1500, 5)] {
        for (stride, padding, dilation) in [(1, 0, 1), (1, taps - 1, 1), (2, 1, 1), (3, 4, 2)] {
            check::<T>(&mut dice, &[1, n], &[taps], [1, 1, 1], steps(stride, padding, dilation));
        }
    }
    check::<T>(&mut dice, &[2, 4, 70], &[3, 3], [3, 1, 1], steps(1, 1, 1));
    check::<T>(&mut dice, &[2, 5, 33], &[2, 3], [2, 3, 2], steps(2, 1, 2));
    // convolutions that are computed as matrix products: with several blocks, with one tap, with groups, and with more
    // channels than one task computes
    check::<T>(&mut dice, &[1, 10, 11], &[3, 3], [1, 64, 4], steps(1, 1, 1));
    check::<T>(&mut dice, &[1, 12, 11], &[3, 2], [2, 5, 6], steps(2, 2, 2));
    check::<T>(&mut dice, &[3, 9, 8], &[1, 1], [1, 7, 5], steps(1, 0, 1));
    check::<T>(&mut dice, &[1, 3, 4, 5], &[2, 3, 3], [1, 4, 130], steps(1, 1, 1));
}

#[test]
fn every_kind_of_dtype() {
    shapes::<f64>();
    shapes::<f32>();
    shapes::<Complex<f64>>();
    shapes::<i8>();
}

#[test]
fn half_precision_and_layouts() {
    let mut dice = Dice(3);
    check::<f16>(&mut dice, &[2, 9, 9], &[3, 3], [1, 4, 4], steps(1, 1, 1));
    let (x, weight) = (values::<f64>(&mut dice, &[2, 4, 9]), values::<f64>(&mut dice, &[5, 4, 3]));
    let expected =
        conv(&B, &x.clone().into_shared(), &weight.clone().into_shared(), None, None, None, None, 1).unwrap();
    for x in layouts(&x) {
        for weight in layouts(&weight) {
            assert_eq!(conv(&B, &x, &weight, None, None, None, None, 1).unwrap(), expected);
        }
    }
}

#[test]
fn pools_of_long_rows() {
    let mut dice = Dice(11);
    let x = values::<f64>(&mut dice, &[2, 3, 50, 211]);
    for (taps, stride, padding, dilation) in
        [([2, 2], 2, 0, 1), ([3, 5], 1, 1, 1), ([4, 3], 3, 1, 2), ([1, 7], 2, 0, 1)]
    {
        let steps =
            WindowSteps { stride: Some(stride.into()), padding: Some(padding.into()), dilation: Some(dilation.into()) };
        let plan = rules::pool("max_pool", x.shape(), &taps, &steps, 8).unwrap();
        let (mut largest, mut sums) =
            (vec![f64::NEG_INFINITY; plan.shape.iter().product()], vec![(0.0, 0.0); plan.shape.iter().product()]);
        let planes = x.to_shape((6, 50, 211)).unwrap();
        let at = |to: [usize; 5]| (to[0] * plan.axes[1].windows + to[3]) * plan.axes[2].windows + to[4];
        products(&plan, |to, from, _, _, _| {
            let element = planes[[from[0], from[3], from[4]]];
            largest[at(to)] = largest[at(to)].max(element);
            sums[at(to)].0 += element;
            sums[at(to)].1 += 1.0;
        });
        let shared = x.clone().into_shared();
        let y = max_pool(&B, &shared, &taps, steps.stride, steps.padding, steps.dilation).unwrap();
        assert!(y.iter().eq(&largest));
        if dilation == 1 {
            let y = avg_pool(&B, &shared, &taps, steps.stride, steps.padding, false).unwrap();
            assert!(y.iter().zip(&sums).all(|(y, (sum, count))| *y == sum / count));
        }
    }
}
