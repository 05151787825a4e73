//! Evaluates a whole formula in one elementwise kernel, whose expression is the formula. Also reduces the values of a
//! formula without storing them.

use super::{
    Cuda, CudaArray,
    array::RawArray,
    kernel::Bytes,
    map::{Input, Members, map, map_into, result_strides},
    program::{Formula, Program, ProgramSource},
    reduction::{self, Values},
    text,
};
use backend_core::{
    DType, Element, Result,
    element::dynamic,
    formula::{self, Layout, Node, Numbers, Reduction, Steps, Typed},
    rules,
};
use backend_load::cache::hash;
use std::{
    any::{Any, TypeId},
    collections::HashMap,
    sync::{LazyLock, RwLock},
};

/// Evaluates a formula; `arrays` are its arrays, in order. If `over` is an array, the result overwrites it. Returns
/// `None` if an array belongs to another backend, if `over` cannot store the result, or if the formula has more numbers
/// than a kernel can take.
pub(super) fn run<L: Layout, E: Node<L::Elements> + Typed<Out = T>, T: Element>(
    b: &Cuda,
    e: &E,
    scalars: &L::Scalars,
    arrays: &[&dyn Any],
    over: Option<&dyn Any>,
) -> Option<Result<CudaArray<T>>> {
    Some(run_written(b, &Written::of::<L, E>(e, scalars), arrays, over, T::dtype())?.map(CudaArray::of))
}

fn run_written(
    b: &Cuda,
    written: &Written,
    arrays: &[&dyn Any],
    over: Option<&dyn Any>,
    dtype: DType,
) -> Option<Result<RawArray>> {
    let inputs = arrays.iter().map(|x| x.downcast_ref().map(Input::Array)).collect::<Option<Vec<_>>>()?;
    let over = match over {
        Some(over) => Some(over.downcast_ref::<RawArray>().filter(|x| takes(x, dtype, &inputs))?),
        None => None,
    };
    let members = &written.members[..];
    if size_of_val(members) > Members::MAX_BYTES {
        return None;
    }
    let program = Program { name: formula::NAME, source: ProgramSource::Formula(written.formula) };
    Some(match over {
        Some(out) => map_into(b, formula::NAME, &program, members.into(), &inputs, out).map(|()| out.clone()),
        None => map(b, formula::NAME, &program, members.into(), &inputs, dtype),
    })
}

/// Reduces a formula over its arrays, without storing the formula's values; `None` in the same cases as [`run`], or if
/// the reduction is not supported.
pub(super) fn reduce<L: Layout, E: Node<L::Elements> + Typed<Out = T>, T: Element, U: Element>(
    b: &Cuda,
    e: &E,
    scalars: &L::Scalars,
    arrays: &[&dyn Any],
    reduction: &Reduction,
) -> Option<Result<CudaArray<U>>> {
    let written = Written::of::<L, E>(e, scalars);
    Some(reduce_written(b, &written, arrays, reduction, T::dtype(), U::dtype())?.map(CudaArray::of))
}

fn reduce_written(
    b: &Cuda,
    written: &Written,
    arrays: &[&dyn Any],
    reduction: &Reduction,
    dtype: DType,
    out: DType,
) -> Option<Result<RawArray>> {
    let arrays = arrays.iter().map(|x| x.downcast_ref()).collect::<Option<Vec<&RawArray>>>()?;
    let members = &written.members[..];
    if size_of_val(members) > Values::MAX_MEMBER_BYTES {
        return None;
    }
    let laid_out = || -> Result<(RawArray, Vec<RawArray>)> {
        arrays.iter().try_for_each(|x| b.check(formula::NAME, x))?;
        let shape = rules::broadcast_all(formula::NAME, arrays.iter().map(|x| &x.shape[..]))?;
        let inputs = arrays.iter().map(|x| x.broadcast(formula::NAME, &shape)).collect::<Result<_>>()?;
        let strides = result_strides(&shape, &arrays.iter().map(|x| Input::Array(x)).collect::<Vec<_>>());
        // `x` describes the formula's values for the reduction, but has no memory, because the values are not stored
        let memory = b.device.allocate(formula::NAME, 0)?;
        Ok((RawArray { dtype, shape, strides, offset: 0, memory }, inputs))
    };
    let (x, inputs) = match laid_out() {
        Ok(laid_out) => laid_out,
        Err(why) => return Some(Err(why)),
    };
    let values = Values { formula: written.formula, members: members.into(), inputs: &inputs };
    reduction::of_formula(b, reduction, &x, &values, out)
}

/// Returns whether a formula over `inputs` can write its result over `x`.
fn takes(x: &RawArray, dtype: DType, inputs: &[Input<'_>]) -> bool {
    let shape = rules::broadcast_all(formula::NAME, inputs.iter().map(Input::shape));
    x.dtype == dtype && x.is_overwritable() && shape.is_ok_and(|shape| shape == x.shape)
}

/// The text of a formula in CUDA C++, and the numbers in the formula, which are the members of the text's struct.
struct Written {
    formula: Formula,
    members: Vec<Bytes>,
}

impl Written {
    fn of<L: Layout, E: Node<L::Elements>>(e: &E, scalars: &L::Scalars) -> Written {
        // the dtypes that an element type stands for are part of the text
        let dtypes = if L::IS_DYNAMIC { dynamic::dtypes() } else { (DType::Bool, DType::Bool) };
        let of = (TypeId::of::<(L, E)>(), dtypes);
        Written::with(of, formula::steps::<L::Elements, E>, L::ARRAYS, &formula::numbers::<L, E>(e, scalars))
    }

    fn with(of: Key, steps: fn() -> Steps, arrays: usize, numbers: &Numbers) -> Written {
        let (formula, count) = text_of(of, steps, arrays);
        let members: Vec<Bytes> = numbers.bytes().iter().copied().map(Bytes::from).collect();
        assert_eq!(members.len(), count, "the numbers of a formula are not those of its text");
        Written { formula, members }
    }
}

/// The type of a formula, and the dtypes that its element types stand for.
type Key = (TypeId, (DType, DType));

/// The CUDA C++ text of each formula type, with the number of members of its struct. The texts live until the process
/// ends.
static TEXTS: LazyLock<RwLock<HashMap<Key, (Formula, usize)>>> = LazyLock::new(RwLock::default);

/// Returns the CUDA C++ text of a formula with `arrays` arrays. The text is generated on first use.
fn text_of(of: Key, steps: fn() -> Steps, arrays: usize) -> (Formula, usize) {
    let known = TEXTS.read().unwrap_or_else(|poisoned| poisoned.into_inner()).get(&of).copied();
    known.unwrap_or_else(|| {
        let (structs, members) = text::written(&steps(), arrays);
        let mut texts = TEXTS.write().unwrap_or_else(|poisoned| poisoned.into_inner());
        *texts.entry(of).or_insert_with(|| {
            let key = format!("{:032x}", hash(&[structs.as_bytes()]));
            (Formula { structs: structs.leak(), key: key.leak() }, members)
        })
    })
}

#[cfg(test)]
mod tests {
    use super::{
        super::{nvrtc, program::Instance, text::STRUCT},
        *,
    };
    use backend_core::{Arrays, Complex, Each, EachSource, Numeric, formula::*, numpyish::Numpyish};

    /// An op with a parameter, and with a separate expression for complex dtypes.
    #[derive(Clone, Copy)]
    struct Scaled(f64);

    impl<T: Numeric> Each<2, T> for Scaled {
        type Out = T;
        fn apply(&self, &[x, y]: &[T; 2]) -> T {
            x.times(T::from_f64(self.0)).plus(y)
        }
    }

    impl EachSource for Scaled {
        const NAME: &'static str = "scaled";
        const CUDA: &'static str = "x * by + y";
        const CUDA_COMPLEX: &'static str = "op_plus(op_times(x, op_of<T>(by)), y)";
        const INPUTS: &'static [&'static str] = &["x", "y"];
        const PARAMS: &'static [&'static str] = &["by"];
        fn params(&self) -> Vec<f64> {
            vec![self.0]
        }
    }

    /// The text and numbers of a formula over `leaves`.
    fn written<'a, L: Leaves<'a, Numpyish>, E: Node<<L::Layout as Layout>::Elements>>(
        e: E,
        leaves: &L,
    ) -> (Formula, Numbers) {
        let scalars = leaves.scalars();
        (Written::of::<L::Layout, E>(&e, &scalars).formula, numbers::<L::Layout, E>(&e, &scalars))
    }

    #[test]
    fn rows_are_structs_and_numbers_are_members() {
        let b = Numpyish::new();
        let (x, y) = (ndarray::arr0(1.0_f32).into_dyn().into_shared(), ndarray::arr0(2.0_f32).into_dyn().into_shared());
        let of = |s: f64, by: f64, literal: f64| {
            let (x, s, y) = (leaf(&b, &x), leaf(&b, &s), leaf(&b, &y));
            let at = (place(&b, Head, &x), place(&b, Tail::new(Head), &s), place(&b, Tail::new(Tail::new(Head)), &y));
            // s * by + 2 is computed on the host, in the dtype of `s`
            let scalar = op2(Scaled(by), at.1, Whole(2));
            let e = op2(Scaled(by), op2(Scaled(1.0), at.0, scalar), op2(Scaled(by), at.2, Literal(literal)));
            written(e, &(x, (s, (y, ()))))
        };
        let (formula, numbers) = of(3.0, 0.5, 0.1);
        assert_eq!(
            formula.structs,
            "struct row0 { double by; template <typename U, typename X0, typename X1> U apply(X0 x, X1 y) const \
             { typedef X0 T; return static_cast<U>(x * by + y); } };\n\
             struct k_row { alignas(16) float n0; alignas(16) double n1; alignas(16) float n2; alignas(16) double n3; \
             alignas(16) double n4; template <typename U, typename X0, typename X1> U apply(X0 x0, X1 x1) const \
             { return row0{n4}.apply<float>(row0{n1}.apply<float>(x0, n0), row0{n3}.apply<float>(x1, n2)); } };\n"
        );
        let mut expected = Numbers::default();
        expected.number(3.5_f32);
        expected.number(1.0_f64);
        expected.number(0.1_f32);
        expected.number(0.5_f64);
        expected.number(0.5_f64);
        assert_eq!(numbers, expected);
        assert_eq!(of(7.0, -1.0, 8.0).0.key, formula.key, "one text for all numbers");
    }

    #[test]
    fn complex_rows_have_their_own_form() {
        let b = Numpyish::new();
        let z = ndarray::arr0(Complex::new(1.0_f64, 2.0)).into_dyn().into_shared();
        let z = leaf(&b, &z);
        let e = op2(Scaled(2.0), place(&b, Head, &z), Whole(1));
        let (formula, numbers) = written(e, &(z, ()));
        assert!(formula.structs.contains("op_plus(op_times(x, op_of<T>(by)), y)"), "{}", formula.structs);
        assert!(formula.structs.contains("alignas(16) complex<double> n0;"), "{}", formula.structs);
        let mut expected = Numbers::default();
        expected.number(Complex::new(1.0_f64, 0.0));
        expected.number(2.0_f64);
        assert_eq!(numbers, expected);
    }

    /// An op with more parameters than a kernel takes.
    #[derive(Clone, Copy)]
    struct Wide;

    impl<T: Numeric> Each<1, T> for Wide {
        type Out = T;
        fn apply(&self, &[x]: &[T; 1]) -> T {
            x
        }
    }

    impl EachSource for Wide {
        const NAME: &'static str = "wide";
        const CUDA: &'static str = "x";
        const INPUTS: &'static [&'static str] = &["x"];
        const PARAMS: &'static [&'static str] = &["by"; 129];
        fn params(&self) -> Vec<f64> {
            vec![0.0; 129]
        }
    }

    #[test]
    fn more_numbers_than_a_kernel_takes_are_not_fused() {
        let Some(b) = crate::testing::device() else { return };
        let x = b.from_ndarray(ndarray::arr0(1.0_f64).into_dyn().into_shared()).unwrap();
        let leaves = (leaf(&b, &x), ());
        let e = op1(Wide, place(&b, Head, &leaves.0));
        fn fused<'a, L: Leaves<'a, Cuda>, E>(b: &Cuda, e: &E, leaves: &L, x: &RawArray) -> bool
        where
            E: Node<<L::Layout as Layout>::Elements> + Typed<Out = f64>,
        {
            super::run::<L::Layout, E, f64>(b, e, &leaves.scalars(), &[x], None).is_some()
        }
        assert!(!fused(&b, &e, &leaves, &x.raw));
        assert!(fused(&b, &place(&b, Head, &leaves.0), &leaves, &x.raw));
    }

    #[test]
    fn kernels_of_formulas_and_of_their_reductions_compile_to_machine_code() {
        let Some(target) = crate::testing::compiler() else { return };
        fn kernels<T: Numeric>(target: &nvrtc::Target, fold: &'static str) {
            let b = Numpyish::new();
            let [x, y] = [1, 2].map(|i| ndarray::arr0(T::from_i64(i)).into_dyn().into_shared());
            let (x, y) = (leaf(&b, &x), leaf(&b, &y));
            let at = (place(&b, Head, &x), place(&b, Tail::new(Head), &y));
            let (formula, _) = written(op2(Scaled(0.5), op2(Scaled(2.0), at.0, Whole(3)), at.1), &(x, (y, ())));
            let compile = |source, kernels: &[Instance]| {
                let names: Vec<String> = kernels.iter().map(Instance::expression).collect();
                let compiled = nvrtc::compile(&Program { name: "expr", source }.text(), &names, target).unwrap();
                assert!(compiled.image.starts_with(b"\x7fELF"));
            };
            let of = [T::DTYPE; 3];
            let [flat, strided] = [("flat", STRUCT), ("strided", "2, k_row")];
            compile(ProgramSource::Formula(formula), &[flat, strided].map(|(name, tag)| Instance::new(name, tag, &of)));
            let folds = [Instance::new("reduce_formula", fold, &of), Instance::new("join_parts", "Sum", &of[..1])];
            compile(ProgramSource::FormulaFold(formula, None), &folds);
        }
        kernels::<backend_core::f16>(&target, "Mean, k_row");
        kernels::<Complex<f64>>(&target, "Any, k_row");
    }
}
