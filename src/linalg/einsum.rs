//! Einstein summation, computed by diagonals, sums, and matrix products.

use super::signed;
use crate::{Backend, DiagonalOptions, Error, Numeric, Result, SumOptions, runtime::rules::Einsum};
use std::borrow::Cow;

const OP: &str = "einsum";

/// Sum of products of the operands, whose axes are labelled by `subscripts`.
pub fn einsum<B: Backend, T: Numeric>(b: &B, subscripts: &str, operands: &[&B::Array<T>]) -> Result<B::Array<T>> {
    let shapes: Vec<&[usize]> = operands.iter().map(|x| b.shape(*x)).collect();
    let sum = Einsum::of(OP, subscripts, &shapes, T::dtype().size())?;
    let mut terms = Vec::with_capacity(operands.len());
    for (x, labels) in operands.iter().zip(&sum.operands) {
        terms.push(Term { array: Cow::Borrowed(*x), labels: labels.clone() }.distinct(b, &sum)?);
    }
    let labels: Vec<Vec<usize>> = terms.iter().map(|term| term.labels.clone()).collect();
    for (i, j) in sum.order(&labels) {
        let (second, first) = (terms.remove(j), terms.remove(i));
        let others: Vec<Vec<usize>> = terms.iter().map(|term| term.labels.clone()).collect();
        terms.push(first.times(second, b, &sum, &others)?);
    }
    let Some(last) = terms.pop() else { return Err(Error::argument(OP, "there must be at least one operand")) };
    let last = last.summed(b, |label| sum.output.contains(&label))?;
    last.permuted(b, &sum.output).map(Cow::into_owned)
}

/// An operand, or a product of several operands, with one label per axis.
struct Term<'a, B: Backend, T: Numeric> {
    array: Cow<'a, B::Array<T>>,
    labels: Vec<usize>,
}

impl<'a, B: Backend, T: Numeric> Term<'a, B, T> {
    /// Makes all labels distinct: replaces axes with equal labels by their diagonal, and drops axes of length 1 that
    /// broadcast.
    fn distinct(mut self, b: &B, sum: &Einsum) -> Result<Self> {
        let repeated = |labels: &[usize]| {
            (0..labels.len()).find_map(|j| labels[..j].iter().position(|label| *label == labels[j]).map(|i| (i, j)))
        };
        while let Some((i, j)) = repeated(&self.labels) {
            let options = DiagonalOptions::new().axis1(i).axis2(j);
            self.array = Cow::Owned(b.diagonal_with(&*self.array, options)?);
            let label = self.labels.remove(j);
            self.labels.remove(i);
            self.labels.push(label);
        }
        let shape = b.shape(&*self.array).to_vec();
        let single: Vec<usize> =
            (0..shape.len()).filter(|&k| shape[k] == 1 && sum.lengths[self.labels[k]] != 1).collect();
        if !single.is_empty() {
            let kept = |k: &usize| !single.contains(k);
            let left: Vec<usize> = (0..shape.len()).filter(kept).map(|k| shape[k]).collect();
            self.labels = (0..shape.len()).filter(kept).map(|k| self.labels[k]).collect();
            self.array = Cow::Owned(b.reshape(&*self.array, signed(&left))?);
        }
        Ok(self)
    }

    /// Sums over the axes for whose labels `is_wanted` returns false.
    fn summed(self, b: &B, is_wanted: impl Fn(usize) -> bool) -> Result<Self> {
        let axes: Vec<usize> = (0..self.labels.len()).filter(|&k| !is_wanted(self.labels[k])).collect();
        if axes.is_empty() {
            return Ok(self);
        }
        let labels = self.labels.iter().copied().filter(|label| is_wanted(*label)).collect();
        let summed = b.sum_with(&*self.array, axes, SumOptions::new())?;
        // integer sums have a wider dtype; the low bits of such a sum are the sum in the original dtype
        Ok(Term { array: Cow::Owned(b.astype::<T, _>(&summed)?), labels })
    }

    /// The array, with its axes permuted to this order of labels.
    fn permuted(&self, b: &B, order: &[usize]) -> Result<Cow<'_, B::Array<T>>> {
        if self.labels == order {
            return Ok(Cow::Borrowed(&*self.array));
        }
        let place = |label: &usize| self.labels.iter().position(|known| known == label).unwrap_or(0);
        let axes: Vec<usize> = order.iter().map(place).collect();
        b.permute_dims(&*self.array, axes).map(Cow::Owned)
    }

    /// Multiplies this term by `other`, and sums over the labels that occur neither in the remaining terms (`others`)
    /// nor in the result.
    fn times(self, other: Self, b: &B, sum: &Einsum, others: &[Vec<usize>]) -> Result<Self> {
        let wanted = |label: usize| sum.is_wanted(label, others);
        let x = self.with_own_summed(b, &other.labels, wanted)?;
        let y = other.with_own_summed(b, &x.labels, wanted)?;
        let (shared, left): (Vec<usize>, Vec<usize>) = x.labels.iter().partition(|label| y.labels.contains(label));
        let right: Vec<usize> = y.labels.iter().copied().filter(|label| !x.labels.contains(label)).collect();
        let (batch, summed): (Vec<usize>, Vec<usize>) = shared.into_iter().partition(|&label| wanted(label));
        let lengths = |labels: &[usize]| labels.iter().map(|&label| sum.lengths[label]).collect::<Vec<usize>>();
        let labels = [&batch[..], &left, &right].concat();
        let ones = |labels: &[usize]| vec![1; labels.len()];
        let (first, second) = if summed.is_empty() {
            // no label is summed, so this is an elementwise product
            let first = [lengths(&batch), lengths(&left), ones(&right)].concat();
            (first, [lengths(&batch), ones(&left), lengths(&right)].concat())
        } else {
            let [rows, inner, columns] = [&left, &summed, &right].map(|labels| length(&lengths(labels)));
            let (rows, inner, columns) = (rows?, inner?, columns?);
            ([lengths(&batch), vec![rows, inner]].concat(), [lengths(&batch), vec![inner, columns]].concat())
        };
        let x = x.permuted(b, &[&batch[..], &left, &summed].concat())?.into_owned();
        let y = y.permuted(b, &[&batch[..], &summed, &right].concat())?.into_owned();
        let (x, y) = (b.reshape(x, signed(&first))?, b.reshape(y, signed(&second))?);
        let product = if summed.is_empty() { b.multiply(x, y)? } else { b.matmul(x, y)? };
        Ok(Term { array: Cow::Owned(b.reshape(product, signed(&lengths(&labels)))?), labels })
    }

    /// Sums this factor over the labels that occur neither in `other` (the labels of the other factor) nor in the rest
    /// of the computation, where `wanted` returns true for the labels of the rest.
    fn with_own_summed(self, b: &B, other: &[usize], wanted: impl Fn(usize) -> bool) -> Result<Self> {
        self.summed(b, |label| other.contains(&label) || wanted(label))
    }
}

/// The length of the axis that results from merging several axes.
fn length(lengths: &[usize]) -> Result<usize> {
    let all = lengths.iter().try_fold(1_usize, |n, &length| n.checked_mul(length));
    all.filter(|&n| isize::try_from(n).is_ok()).ok_or_else(|| Error::memory(OP, usize::MAX))
}
