//! Parses the subscripts of an Einstein sum for operands of given shapes, and determines the order of products.

use super::count;
use crate::{Error, Result};
use std::collections::BTreeMap;

/// An Einstein sum. The labels of the axes (the letters in the subscripts, and the axes of the ellipsis) are numbered
/// from 0.
#[derive(Debug, PartialEq)]
pub struct Einsum {
    /// The label of each axis of each operand.
    pub operands: Vec<Vec<usize>>,
    /// The label of each axis of the result.
    pub output: Vec<usize>,
    /// The length of each label's axes. An axis of length 1 may have the same label as a longer axis.
    pub lengths: Vec<usize>,
}

/// A label in the subscripts: a letter, or an axis of the ellipsis, counted from the ellipsis's last axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Label {
    Letter(char),
    Rest(usize),
}

/// An item of the subscripts of one operand or of the result: a letter or the ellipsis.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Subscript {
    Letter(char),
    Rest,
}

/// Splits the subscripts of one operand, or of the result, into letters and ellipsis.
fn parts(op: &'static str, term: &str) -> Result<Vec<Subscript>> {
    let (mut parts, mut left) = (Vec::new(), term);
    while let Some(first) = left.chars().next() {
        if let Some(after) = left.strip_prefix("...") {
            parts.push(Subscript::Rest);
            left = after;
        } else if first.is_ascii_alphabetic() {
            parts.push(Subscript::Letter(first));
            left = &left[1..];
        } else {
            let why =
                format!("the subscripts contain `{}`, but must consist of letters and `...`", first.escape_debug());
            return Err(Error::argument(op, why));
        }
    }
    if parts.iter().filter(|part| **part == Subscript::Rest).count() > 1 {
        return Err(Error::argument(op, format!("`{term}` must have at most one `...`")));
    }
    Ok(parts)
}

/// Returns the labels of an operand with `ndim` axes; `None` if the subscripts describe another number of axes.
fn labels(parts: &[Subscript], ndim: usize) -> Option<Vec<Label>> {
    let has_rest = parts.contains(&Subscript::Rest);
    let letters = parts.len() - usize::from(has_rest);
    let rest = ndim.checked_sub(letters).filter(|rest| has_rest || *rest == 0)?;
    let label = |part: &Subscript| match part {
        Subscript::Letter(letter) => vec![Label::Letter(*letter)],
        Subscript::Rest => (0..rest).rev().map(Label::Rest).collect(),
    };
    Some(parts.iter().flat_map(label).collect())
}

impl Einsum {
    /// Parses subscripts such as `"ij,jk->ik"` for operands of these shapes. `size` is the size of an element in bytes.
    pub fn of(op: &'static str, subscripts: &str, shapes: &[&[usize]], size: usize) -> Result<Einsum> {
        let text: String = subscripts.chars().filter(|c| !c.is_whitespace()).collect();
        let (inputs, output) = match text.split_once("->") {
            Some((inputs, output)) => (inputs, Some(parts(op, output)?)),
            None => (&text[..], None),
        };
        let terms: Vec<&str> = inputs.split(',').collect();
        if shapes.is_empty() {
            return Err(Error::argument(op, "there must be at least one operand"));
        }
        if terms.len() != shapes.len() {
            let why = format!("the subscripts name {} operands, but {} were given", terms.len(), shapes.len());
            return Err(Error::argument(op, why));
        }
        let mut operands = Vec::with_capacity(terms.len());
        for (term, shape) in terms.iter().zip(shapes) {
            let found = labels(&parts(op, term)?, shape.len());
            operands.push(found.ok_or_else(|| {
                Error::shape(op, shape, format!("must have the axes that the subscripts `{term}` name"))
            })?);
        }
        let lengths = lengths(op, &operands, shapes)?;
        let output = match output {
            Some(parts) => explicit(op, &parts, &lengths)?,
            None => implicit(&operands),
        };
        let numbers: BTreeMap<Label, usize> = lengths.keys().enumerate().map(|(i, label)| (*label, i)).collect();
        let number = |labels: &[Label]| labels.iter().map(|label| numbers[label]).collect::<Vec<_>>();
        let sum = Einsum {
            operands: operands.iter().map(|labels| number(labels)).collect(),
            output: number(&output),
            lengths: lengths.into_values().collect(),
        };
        count(op, &sum.output.iter().map(|&label| sum.lengths[label]).collect::<Vec<_>>(), size)?;
        Ok(sum)
    }

    /// Determines the order in which operands with these labels are multiplied. Each returned pair has the indices of
    /// two operands in the list of remaining operands. The two operands are removed from the list, and their product is
    /// appended. The next pair is always the pair that needs the fewest multiplications.
    pub fn order(&self, operands: &[Vec<usize>]) -> Vec<(usize, usize)> {
        let (mut left, mut order) = (operands.to_vec(), Vec::new());
        while left.len() > 1 {
            let mut best: Option<(f64, (usize, usize))> = None;
            for j in 1..left.len() {
                for i in 0..j {
                    let cost = self.products(&left[i], &left[j]);
                    if best.is_none_or(|(least, _)| cost < least) {
                        best = Some((cost, (i, j)));
                    }
                }
            }
            let Some((_, (i, j))) = best else { break };
            let (second, first) = (left.remove(j), left.remove(i));
            left.push(self.kept(&first, &second, &left));
            order.push((i, j));
        }
        order
    }

    /// Returns the labels of the product of two operands: all their labels that the result or another operand has.
    pub fn kept(&self, first: &[usize], second: &[usize], others: &[Vec<usize>]) -> Vec<usize> {
        let all = first.iter().chain(second.iter().filter(|label| !first.contains(label)));
        all.copied().filter(|label| self.is_wanted(*label, others)).collect()
    }

    /// Returns whether the result or one of these operands has the label.
    pub fn is_wanted(&self, label: usize, others: &[Vec<usize>]) -> bool {
        self.output.contains(&label) || others.iter().any(|labels| labels.contains(&label))
    }

    /// Returns the number of multiplications in the product of two operands with these labels.
    fn products(&self, first: &[usize], second: &[usize]) -> f64 {
        let all = first.iter().chain(second.iter().filter(|label| !first.contains(label)));
        all.map(|&label| self.lengths[label] as f64).product()
    }
}

/// Returns the length of the axes with each label. Returns an error if two axes with the same label have different
/// lengths, unless they belong to two operands and one of the lengths is 1.
fn lengths(op: &'static str, operands: &[Vec<Label>], shapes: &[&[usize]]) -> Result<BTreeMap<Label, usize>> {
    let mut lengths: BTreeMap<Label, (usize, usize)> = BTreeMap::new();
    for (i, (labels, shape)) in operands.iter().zip(shapes).enumerate() {
        for (k, (label, &length)) in labels.iter().zip(*shape).enumerate() {
            let first = labels.iter().position(|other| other == label).unwrap_or(k);
            if shape[first] != length {
                return Err(Error::shape(
                    op,
                    shape,
                    format!("must have the same length along axes {first} and {k}, which share a label"),
                ));
            }
            let (known, of) = lengths.entry(*label).or_insert((length, i));
            match (*known, length) {
                (1, _) => (*known, *of) = (length, i),
                (_, 1) => {}
                (known, length) if known == length => {}
                _ => return Err(Error::shapes(op, shapes[*of], shape)),
            }
        }
    }
    Ok(lengths.into_iter().map(|(label, (length, _))| (label, length)).collect())
}

/// Returns the labels of the result, which the subscripts list after `->`.
fn explicit(op: &'static str, parts: &[Subscript], lengths: &BTreeMap<Label, usize>) -> Result<Vec<Label>> {
    let rest = lengths.keys().filter(|label| matches!(label, Label::Rest(_))).count();
    if rest > 0 && !parts.contains(&Subscript::Rest) {
        return Err(Error::argument(
            op,
            "the result must have `...`, because an operand has axes that its `...` stands for",
        ));
    }
    let labels: Vec<Label> = parts
        .iter()
        .flat_map(|part| match part {
            Subscript::Letter(letter) => vec![Label::Letter(*letter)],
            Subscript::Rest => (0..rest).rev().map(Label::Rest).collect(),
        })
        .collect();
    for (k, label) in labels.iter().enumerate() {
        let Label::Letter(letter) = label else { continue };
        if labels[..k].contains(label) {
            return Err(Error::argument(op, format!("the result has `{letter}` twice, but must have each label once")));
        }
        if !lengths.contains_key(label) {
            return Err(Error::argument(op, format!("the result has `{letter}`, but no operand has that label")));
        }
    }
    Ok(labels)
}

/// Returns the labels of the result if the subscripts have no `->`: the axes of the ellipsis, followed by the letters
/// that occur only once, in alphabetical order.
fn implicit(operands: &[Vec<Label>]) -> Vec<Label> {
    let mut times: BTreeMap<Label, usize> = BTreeMap::new();
    operands.iter().flatten().for_each(|label| *times.entry(*label).or_insert(0) += 1);
    let rest = times.keys().filter(|label| matches!(label, Label::Rest(_))).rev();
    let letters = times.iter().filter(|(label, n)| matches!(label, Label::Letter(_)) && **n == 1);
    rest.copied().chain(letters.map(|(label, _)| *label)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(subscripts: &str, shapes: &[&[usize]]) -> Result<Einsum> {
        Einsum::of("einsum", subscripts, shapes, 8)
    }

    fn shape(subscripts: &str, shapes: &[&[usize]]) -> Vec<usize> {
        let sum = of(subscripts, shapes).unwrap();
        sum.output.iter().map(|&label| sum.lengths[label]).collect()
    }

    #[test]
    fn results_have_the_axes_that_are_written_or_meant() {
        assert_eq!(shape("ij,jk->ik", &[&[2, 3], &[3, 4]]), [2, 4]);
        assert_eq!(shape("ij , jk", &[&[2, 3], &[3, 4]]), [2, 4]);
        assert_eq!(shape("ba", &[&[2, 3]]), [3, 2]);
        assert_eq!(shape("ii", &[&[3, 3]]), []);
        assert_eq!(shape("aB", &[&[2, 3]]), [3, 2], "capitals come first");
        assert_eq!(shape("...ij,...jk", &[&[5, 1, 2, 3], &[7, 3, 4]]), [5, 7, 2, 4]);
        assert_eq!(shape("i...->...i", &[&[2, 3, 4]]), [3, 4, 2]);
        assert_eq!(shape(",i", &[&[], &[3]]), [3]);
        assert_eq!(shape("i,i->i", &[&[1], &[3]]), [3]);
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let why = |subscripts: &str, shapes: &[&[usize]]| of(subscripts, shapes).unwrap_err().to_string();
        assert!(why("ij", &[]).contains("at least one operand"));
        assert!(why("ij,j", &[&[2, 3]]).contains("name 2 operands, but 1 were given"));
        assert!(why("ij", &[&[3]]).contains("must have the axes that the subscripts `ij` name"));
        assert!(why("i...j", &[&[3]]).contains("must have the axes that the subscripts `i...j` name"));
        assert!(why("i?", &[&[3]]).contains("`?`"));
        assert!(why("...i...", &[&[3]]).contains("at most one `...`"));
        assert!(why("ij->ii", &[&[2, 3]]).contains("`i` twice"));
        assert!(why("ij->k", &[&[2, 3]]).contains("`k`, but no operand has that label"));
        assert!(why("...i->i", &[&[2, 3]]).contains("must have `...`"));
        assert!(why("ii", &[&[2, 3]]).contains("share a label"));
        assert_eq!(of("i,i", &[&[2], &[3]]), Err(Error::shapes("einsum", &[2], &[3])));
        assert!(matches!(of("i,j->ij", &[&[1 << 31], &[1 << 31]]), Err(Error::Memory { .. })));
    }

    #[test]
    fn the_cheapest_product_comes_first() {
        let chain = of("ij,jk,kl->il", &[&[100, 2], &[2, 100], &[100, 2]]).unwrap();
        assert_eq!(chain.order(&chain.operands), [(1, 2), (0, 1)]);
        let chain = of("ij,jk,kl->il", &[&[2, 100], &[100, 2], &[2, 100]]).unwrap();
        assert_eq!(chain.order(&chain.operands), [(0, 1), (0, 1)]);
        let one = of("ij->i", &[&[2, 3]]).unwrap();
        assert_eq!(one.order(&one.operands), []);
    }
}
