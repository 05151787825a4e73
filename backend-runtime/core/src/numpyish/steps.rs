//! Computes formulas whose dtypes are known only at run time, in one pass over their arrays. The loops of the formula's
//! ops run on short blocks, so that intermediate results stay in the first-level cache.

use super::{
    casting::Cast,
    copy::fill,
    kernel::{Kernel, Loop, MAX_OPERANDS, stretch},
    raw::{RawArray, View},
    simd::SETS,
    source::{Fused, Source},
    typed::Typed,
};
use crate::{
    At, DType, DynArray, Result, dispatch,
    entry::ArrayValue,
    formula::{self, Numbers, Step, Steps},
    raw::RawElement,
};
use std::{mem::MaybeUninit, ptr};

/// Number of elements in a block.
const BLOCK: usize = 512;

/// Maximum size on the stack of the blocks of intermediate results, in units of [`Line`].
const ON_STACK: usize = 256;

/// A cache line.
#[derive(Clone, Copy)]
#[repr(align(64))]
#[allow(dead_code)] // only loops access the bytes, by their address
struct Line([u8; 64]);

/// An operand of a call.
#[derive(Clone, Copy)]
enum Operand {
    /// An array of the formula, by its index.
    Array(usize),
    /// A number, by its index.
    Number(usize),
    /// The block of an earlier result, by the index of its first line.
    Block(usize),
}

/// A call of an op's loop.
struct Call {
    kernel: &'static Kernel,
    /// The address of the op, from which the loop reads the op's parameters.
    op: *const u8,
    operands: [Operand; 3],
    /// Number of operands.
    count: usize,
    /// The index of the first line of the result's block; `None` for the result of the formula.
    to: Option<usize>,
}

/// A formula as a list of calls.
struct Program {
    calls: Vec<Call>,
    numbers: Vec<RawElement>,
    /// Numbers that are repeated in a block, because a loop accepts only an array in their place. Each item is the
    /// index of the number and the index of the block's first line.
    repeated: Vec<(usize, usize)>,
    /// Dtypes of the arrays.
    inputs: [DType; MAX_OPERANDS],
    /// Number of lines that the blocks of intermediate results need.
    lines: usize,
}

/// A subexpression of a formula. Equal subexpressions share one value.
enum Value {
    Array(usize),
    Number(RawElement),
    Call { kernel: &'static Kernel, op: *const u8, params: Vec<RawElement>, operands: Vec<usize> },
}

impl Value {
    /// Returns whether both subexpressions have the same value for all arrays.
    fn is(&self, other: &Value) -> bool {
        match (self, other) {
            (Value::Array(x), Value::Array(y)) => x == y,
            (Value::Number(x), Value::Number(y)) => is(x, y),
            (Value::Call { kernel, params, operands, .. }, Value::Call { kernel: k, params: p, operands: o, .. }) => {
                let same_params = params.len() == p.len() && params.iter().zip(p).all(|(x, y)| is(x, y));
                ptr::eq(*kernel, *k) && operands == o && same_params
            }
            _ => false,
        }
    }

    fn operands(&self) -> &[usize] {
        if let Value::Call { operands, .. } = self { operands } else { &[] }
    }
}

fn is(x: &RawElement, y: &RawElement) -> bool {
    x.dtype() == y.dtype() && x.bytes() == y.bytes()
}

/// The blocks that are free, and the number of lines that have been used so far.
#[derive(Default)]
struct Blocks {
    free: Vec<(usize, usize)>,
    lines: usize,
}

impl Blocks {
    /// Takes a block for elements of this size. Returns the index of its first line.
    fn take(&mut self, size: usize) -> usize {
        let lines = lines_of(size);
        match self.free.iter().position(|(_, many)| *many == lines) {
            Some(place) => self.free.swap_remove(place).0,
            None => self.new_block(size),
        }
    }

    /// Takes a block that no call has used.
    fn new_block(&mut self, size: usize) -> usize {
        let start = self.lines;
        self.lines += lines_of(size);
        start
    }

    fn give_back(&mut self, start: usize, size: usize) {
        self.free.push((start, lines_of(size)));
    }
}

/// Number of lines of a block of elements of this size.
fn lines_of(size: usize) -> usize {
    (size * BLOCK).div_ceil(size_of::<Line>())
}

/// Lists the subexpressions of a formula. The operands of an op come before the op. Returns `None` if an op has no
/// loop.
fn values(steps: &Steps, numbers: &Numbers, inputs: &[DType; MAX_OPERANDS]) -> Option<Vec<Value>> {
    let (mut elements, mut ops) = (numbers.elements(), numbers.ops());
    let mut values: Vec<Value> = Vec::with_capacity(steps.steps.len());
    // for each step, the index of its value
    let mut of_steps: Vec<usize> = Vec::with_capacity(steps.steps.len());
    for step in &steps.steps {
        let value = match step {
            Step::Element(array) => Value::Array(*array),
            Step::Number(_) => Value::Number(elements.next()?),
            Step::Call { row, gradient: None, of, out, operands } => {
                let op = if row.params.is_empty() { ptr::dangling() } else { ops.next()? };
                let params = elements.by_ref().take(row.params.len()).collect();
                let operands: Vec<usize> = operands.iter().map(|&operand| of_steps[operand]).collect();
                let (kernel, op, is_identity) = if row.converts {
                    let cast = Cast { from: *of, to: *out };
                    let (kernel, op) = (cast.kernel(), ptr::from_ref(cast.in_table()).cast());
                    (kernel, op, of == out)
                } else {
                    let each = row.row?.loops?(*of)?;
                    (each.kernel(), op, each.is_identity())
                };
                if is_identity {
                    of_steps.push(*operands.first()?);
                    continue;
                }
                for (i, &operand) in operands.iter().enumerate() {
                    let dtype = match &values[operand] {
                        Value::Array(array) => inputs[*array],
                        Value::Number(number) => number.dtype(),
                        Value::Call { kernel, .. } => kernel.output(),
                    };
                    if i >= 3 || dtype != kernel.input(i) {
                        return None;
                    }
                }
                Value::Call { kernel, op, params, operands }
            }
            Step::Call { .. } | Step::Sum(..) => return None,
        };
        let known = values.iter().position(|other| other.is(&value));
        of_steps.push(known.unwrap_or(values.len()));
        if known.is_none() {
            values.push(value);
        }
    }
    // a formula that is only an array has no loop; any other formula has its value in the last subexpression
    let is_last = of_steps.last() == values.len().checked_sub(1).as_ref();
    (is_last && matches!(values.last(), Some(Value::Call { .. }))).then_some(values)
}

impl Program {
    /// Converts a formula; `None` if one of its ops has no loop, or if it has too many arrays.
    fn new(steps: &Steps, numbers: &Numbers, arrays: &[View<'_>]) -> Option<Program> {
        if arrays.len() > MAX_OPERANDS {
            return None;
        }
        let mut inputs = [DType::Bool; MAX_OPERANDS];
        inputs.iter_mut().zip(arrays).for_each(|(dtype, view)| *dtype = view.dtype);
        let values = values(steps, numbers, &inputs)?;
        let mut last_use = vec![0; values.len()];
        for (place, value) in values.iter().enumerate() {
            value.operands().iter().for_each(|&operand| last_use[operand] = place);
        }
        let mut program = Program { calls: Vec::new(), numbers: Vec::new(), repeated: Vec::new(), inputs, lines: 0 };
        let mut blocks = Blocks::default();
        let mut made: Vec<Operand> = Vec::with_capacity(values.len());
        for (place, value) in values.iter().enumerate() {
            made.push(match value {
                Value::Array(array) => Operand::Array(*array),
                Value::Number(number) => {
                    program.numbers.push(*number);
                    Operand::Number(program.numbers.len() - 1)
                }
                Value::Call { kernel, op, operands, .. } => {
                    let mut all = [Operand::Number(0); 3];
                    all.iter_mut().zip(operands).for_each(|(all, &operand)| *all = made[operand]);
                    program.repeat_numbers(kernel, &mut all[..operands.len()], &mut blocks);
                    let to = blocks.take(kernel.output().size());
                    for (i, &operand) in operands.iter().enumerate() {
                        let is_first = !operands[..i].contains(&operand);
                        if let Operand::Block(start) = made[operand]
                            && is_first
                            && last_use[operand] == place
                        {
                            blocks.give_back(start, kernel.input(i).size());
                        }
                    }
                    program.calls.push(Call { kernel, op: *op, operands: all, count: operands.len(), to: Some(to) });
                    Operand::Block(to)
                }
            });
        }
        program.lines = blocks.lines;
        program.calls.last_mut()?.to = None;
        Some(program)
    }

    /// Replaces numbers by blocks, if the loop accepts no numbers in their places.
    fn repeat_numbers(&mut self, kernel: &Kernel, operands: &mut [Operand], blocks: &mut Blocks) {
        let is_number = |(i, operand): (usize, &Operand)| u8::from(matches!(operand, Operand::Number(_))) << i;
        if kernel.takes(operands.iter().enumerate().map(is_number).sum()) {
            return;
        }
        for (i, operand) in operands.iter_mut().enumerate() {
            if let Operand::Number(number) = *operand {
                let known = self.repeated.iter().find(|(other, _)| *other == number);
                // earlier calls write to the blocks that are free here
                let start = known.map_or_else(|| blocks.new_block(kernel.input(i).size()), |(_, start)| *start);
                if known.is_none() {
                    self.repeated.push((number, start));
                }
                *operand = Operand::Block(start);
            }
        }
    }

    /// The kernel that runs this program.
    fn kernel(&self, arrays: usize) -> Option<Kernel> {
        const LOOP: Loop = run;
        Some(Kernel {
            name: formula::NAME,
            operands: arrays as u8,
            inputs: self.inputs,
            output: self.calls.last()?.kernel.output(),
            scalar_forms: false,
            loops: [LOOP; SETS],
            near: None,
        })
    }
}

/// # Safety
/// The conditions of [`Loop`] hold; the op is a [`Program`].
unsafe fn run(op: *const u8, x: &[*const u8; MAX_OPERANDS], _: u8, out: *mut u8, n: usize) {
    // SAFETY: the op of this loop is a program.
    let program = unsafe { &*op.cast::<Program>() };
    if program.lines <= ON_STACK {
        let mut room = [const { MaybeUninit::<Line>::uninit() }; ON_STACK];
        // SAFETY: the room has as many lines as the program needs; the caller guarantees the operands and the result.
        unsafe { run_blocks(program, x, room.as_mut_ptr().cast(), out, n) }
    } else {
        let mut room = vec![MaybeUninit::<Line>::uninit(); program.lines];
        // SAFETY: as above.
        unsafe { run_blocks(program, x, room.as_mut_ptr().cast(), out, n) }
    }
}

/// # Safety
/// Every operand has `n` elements, `out` has room for `n` results, and `room` has the lines that the program needs.
unsafe fn run_blocks(program: &Program, x: &[*const u8; MAX_OPERANDS], room: *mut Line, out: *mut u8, n: usize) {
    for &(number, start) in &program.repeated {
        let number = &program.numbers[number];
        // SAFETY: the room has the lines of a block of elements of this dtype.
        unsafe {
            fill(number.dtype(), ptr::from_ref(number.bytes_ref()).cast(), room.add(start).cast(), n.min(BLOCK));
        }
    }
    for done in (0..n).step_by(BLOCK) {
        let len = BLOCK.min(n - done);
        for call in &program.calls {
            let (mut operands, mut scalars) = ([ptr::null(); MAX_OPERANDS], 0_u8);
            for (i, operand) in call.operands[..call.count].iter().enumerate() {
                operands[i] = match *operand {
                    // SAFETY: the block lies within the array.
                    Operand::Array(array) => unsafe { x[array].add(done * call.kernel.input(i).size()) },
                    Operand::Number(number) => {
                        scalars |= 1 << i;
                        ptr::from_ref(program.numbers[number].bytes_ref()).cast()
                    }
                    // SAFETY: the room has the lines of the block.
                    Operand::Block(start) => unsafe { room.add(start).cast_const().cast() },
                };
            }
            // SAFETY: every operand has `len` elements from here on, or is a number, and the result's block, which is
            // none of the operands, has room for `len` elements.
            unsafe {
                let to = match call.to {
                    Some(start) => room.add(start).cast(),
                    None => out.add(done * call.kernel.output().size()),
                };
                stretch(call.kernel, call.op, operands, scalars, to, len);
            }
        }
    }
}

/// Computes a formula over arrays in host memory; `None` if one of its ops has no loop.
///
/// `numbers` must have been collected from the formula of `steps`, which must still exist.
pub fn evaluate(steps: &Steps, numbers: &Numbers, arrays: &[View<'_>]) -> Option<Result<ArrayValue>> {
    let program = Program::new(steps, numbers, arrays)?;
    let kernel = program.kernel(arrays.len())?;
    Some(dispatch!(kernel.output(), T => {
        // SAFETY: the kernel belongs to the program, whose operands are these arrays; `T` is the dtype of its result.
        let result = unsafe { T::numpyish_run(&kernel, ptr::from_ref(&program).cast(), arrays, At::default()) };
        result.map(|x| ArrayValue::Numpyish(DynArray::of::<T>(x)))
    }))
}

/// Reduces the values of a formula over arrays in host memory by `of`, without storing them; `None` if one of the
/// formula's ops has no loop. `factors` are the arrays whose product is the formula, if it is a product.
///
/// `numbers` must have been collected from the formula of `steps`, which must still exist.
pub fn reduce(
    steps: &Steps,
    numbers: &Numbers,
    arrays: &[View<'_>],
    factors: Option<[usize; 2]>,
    of: &dyn Fn(Source<'_>) -> Result<RawArray>,
) -> Option<Result<RawArray>> {
    let program = Program::new(steps, numbers, arrays)?;
    let kernel = program.kernel(arrays.len())?;
    // SAFETY: the kernel belongs to the program, whose operands are these arrays; both outlive the call of `of`.
    let fused = unsafe { Fused::new(&kernel, ptr::from_ref(&program).cast(), arrays, true, factors) };
    Some(fused.and_then(|fused| of(fused.source())))
}

#[cfg(test)]
mod tests {
    use super::{
        super::{entry::each, raw::view, testing::array},
        *,
    };
    use crate::{
        Each, EachSource, Numeric,
        entry::{EachLoop, Row},
        formula::RowSource,
    };

    /// An op with a number as its field: `x1 + scale * x2`.
    struct Scaled {
        scale: f64,
    }

    impl EachSource for Scaled {
        const NAME: &'static str = "scaled";
        const CUDA: &'static str = "";
        const INPUTS: &'static [&'static str] = &["x1", "x2"];
        const PARAMS: &'static [&'static str] = &["scale"];
        const ROW: Option<&'static Row> = Some(
            &Row::new(&crate::OpInfo::new("scaled", "", "", "", &[], &[], "", "", "", None))
                .with_loops(|dtype| (dtype == DType::Float64).then(EachLoop::new::<2, f64, Scaled>))
                .with_numpyish(|b, call| each(b, call, &Scaled { scale: call.f64(2) }, &[0, 1])),
        );

        fn params(&self) -> Vec<f64> {
            vec![self.scale]
        }
    }

    impl<T: Numeric> Each<2, T> for Scaled {
        type Out = T;
        #[inline(always)]
        fn apply(&self, &[x, y]: &[T; 2]) -> T {
            x.plus(T::from_f64(self.scale).times(y))
        }
    }

    /// An op that converts to float64.
    struct Widened;

    impl EachSource for Widened {
        const NAME: &'static str = "widened";
        const CUDA: &'static str = "";
        const INPUTS: &'static [&'static str] = &["x"];
        const PARAMS: &'static [&'static str] = &[];
        const CONVERTS: bool = true;
    }

    fn call<F: EachSource>(of: DType, operands: &[usize]) -> Step {
        let row = const { &RowSource::of::<F>() };
        Step::Call { row, gradient: None, of, out: DType::Float64, operands: operands.to_vec() }
    }

    #[test]
    fn blocks_give_the_results_of_whole_arrays() {
        // (x + 2 y) + 3 (widened(z) + 4 * 0.5), with an array of float32 and one in another order
        let (inner, outer, last) = (Scaled { scale: 2.0 }, Scaled { scale: 4.0 }, Scaled { scale: 3.0 });
        let steps = Steps {
            steps: vec![
                Step::Element(0),
                Step::Element(1),
                call::<Scaled>(DType::Float64, &[0, 1]),
                Step::Element(2),
                call::<Widened>(DType::Float32, &[3]),
                Step::Number(DType::Float64),
                call::<Scaled>(DType::Float64, &[4, 5]),
                call::<Scaled>(DType::Float64, &[2, 6]),
            ],
            value: Some(7),
        };
        let mut numbers = Numbers::default();
        numbers.params(&inner);
        numbers.number(0.5);
        numbers.params(&outer);
        numbers.params(&last);
        for n in [0, 1, 10, BLOCK, 3 * BLOCK + 7] {
            let x = array("test", &[2, n], (0..2 * n).map(|i| i as f64 * 0.25).collect()).unwrap();
            let y = array("test", &[n, 2], (0..2 * n).map(|i| i as f64 - 7.0).collect()).unwrap().reversed_axes();
            let z = array("test", &[n], (0..n).map(|i| i as f32 / 3.0).collect()).unwrap();
            let result = evaluate(&steps, &numbers, &[view(&x), view(&y), view(&z)]).unwrap().unwrap();
            let ArrayValue::Numpyish(result) = result else { unreachable!("an array of the CPU") };
            let result = result.into_typed::<f64>().unwrap();
            assert_eq!(result.shape(), [2, n]);
            for ((i, j), &found) in result.view().into_dimensionality::<ndarray::Ix2>().unwrap().indexed_iter() {
                let expected = (x[[i, j]] + 2.0 * y[[i, j]]) + 3.0 * (f64::from(z[[j]]) + 4.0 * 0.5);
                assert_eq!(found, expected, "{i} {j}");
            }
        }
    }

    /// An op whose loop takes no number as its first operand: `x1 + x2 * x3`.
    struct Sum3;

    impl EachSource for Sum3 {
        const NAME: &'static str = "sum3";
        const CUDA: &'static str = "";
        const INPUTS: &'static [&'static str] = &["x1", "x2", "x3"];
        const PARAMS: &'static [&'static str] = &[];
        const ROW: Option<&'static Row> = Some(
            &Row::new(&crate::OpInfo::new("sum3", "", "", "", &[], &[], "", "", "", None))
                .with_loops(|_| Some(EachLoop::new::<3, f64, Sum3>())),
        );
    }

    impl<T: Numeric> Each<3, T> for Sum3 {
        type Out = T;
        #[inline(always)]
        fn apply(&self, &[x, y, z]: &[T; 3]) -> T {
            x.plus(y.times(z))
        }
    }

    #[test]
    fn numbers_in_blocks_are_kept_for_all_blocks() {
        // 0.5 + ((x + 2 x) + 2 x) * x: the block of the inner sum is free when the number gets its block
        let op = Scaled { scale: 2.0 };
        let steps = Steps {
            steps: vec![
                Step::Number(DType::Float64),
                Step::Element(0),
                call::<Scaled>(DType::Float64, &[1, 1]),
                call::<Scaled>(DType::Float64, &[2, 1]),
                call::<Sum3>(DType::Float64, &[0, 3, 1]),
            ],
            value: Some(4),
        };
        let mut numbers = Numbers::default();
        numbers.number(0.5);
        numbers.params(&op);
        numbers.params(&op);
        let n = 4 * BLOCK;
        let x = array("test", &[n], (0..n).map(|i| i as f64).collect()).unwrap();
        let result = evaluate(&steps, &numbers, &[view(&x)]).unwrap().unwrap();
        let ArrayValue::Numpyish(result) = result else { unreachable!("an array of the CPU") };
        let result = result.into_typed::<f64>().unwrap();
        assert!(result.iter().zip(&x).all(|(&found, x)| found == 0.5 + 5.0 * x * x));
    }

    #[test]
    fn dtypes_without_a_loop_are_left_to_the_entries_of_ops() {
        let x = array("test", &[2], vec![1.0_f32, 2.0]).unwrap();
        let steps = Steps {
            steps: vec![Step::Element(0), Step::Element(0), call::<Scaled>(DType::Float32, &[0, 1])],
            value: Some(2),
        };
        let (op, mut numbers) = (Scaled { scale: 2.0 }, Numbers::default());
        numbers.params(&op);
        assert!(evaluate(&steps, &numbers, &[view(&x)]).is_none());
    }
}
