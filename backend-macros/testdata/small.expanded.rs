const _: &[u8] = ::core::include_bytes!("ops.toml");
const _: () = assert!(
    crate ::runtime::same_names(crate ::runtime::Side::NAMES, & ["left", "right"]),
    "`[choice.side]` has other names than the runtime's `Side`"
);
/**Element by element.

Each op has its page in [`ops`].*/
pub trait Elementwise: crate::runtime::Arrays {
    /**x1 + x2.

Parameters, dtypes, errors and an example are in [`ops::add`].*/
    #[doc(alias = "plus")]
    #[track_caller]
    fn add<
        'a,
        T: crate::runtime::Float,
        K1,
        K2,
        X1: crate::runtime::OperandBeside<'a, Self, T, X2, K1>,
        X2: crate::runtime::OperandBeside<'a, Self, T, X1, K2>,
    >(&self, x1: X1, x2: X2) -> crate::runtime::Result<Self::Array<T>> {
        let _ = (x1, x2);
        Err(
            crate::runtime::Error::unsupported(
                "add",
                <Self as crate::runtime::Arrays>::NAME,
            ),
        )
    }
    /**x where positive, slope * x elsewhere.

Parameters, dtypes, errors and an example are in [`ops::leaky`].*/
    #[track_caller]
    #[inline]
    fn leaky<'a, T: crate::runtime::Real>(
        &self,
        x: impl crate::runtime::IntoArray<'a, Self::Array<T>>,
    ) -> crate::runtime::Result<Self::Array<T>> {
        self.leaky_with(x, options::LeakyOptions::new())
    }
    ///Like [`leaky`](Self::leaky), with named [options](options::LeakyOptions).
    #[track_caller]
    fn leaky_with<'a, T: crate::runtime::Real>(
        &self,
        x: impl crate::runtime::IntoArray<'a, Self::Array<T>>,
        options: options::LeakyOptions,
    ) -> crate::runtime::Result<Self::Array<T>> {
        let _ = (x, options);
        Err(
            crate::runtime::Error::unsupported(
                "leaky",
                <Self as crate::runtime::Arrays>::NAME,
            ),
        )
    }
    /**x where it is above the limit, the value elsewhere.

Parameters, dtypes, errors and an example are in [`ops::threshold`].*/
    #[track_caller]
    fn threshold<'a, T: crate::runtime::Real>(
        &self,
        x: impl crate::runtime::IntoArray<'a, Self::Array<T>>,
        limit: impl Into<crate::runtime::Scalar<T>>,
        value: impl Into<crate::runtime::Scalar<T>>,
    ) -> crate::runtime::Result<Self::Array<T>> {
        let _ = (x, limit, value);
        Err(
            crate::runtime::Error::unsupported(
                "threshold",
                <Self as crate::runtime::Arrays>::NAME,
            ),
        )
    }
    /**Sum.

Parameters, dtypes, errors and an example are in [`ops::sum`].*/
    #[track_caller]
    #[inline]
    fn sum<'a, T: crate::runtime::Float>(
        &self,
        x: impl crate::runtime::IntoArray<'a, Self::Array<T>>,
        axis: impl Into<crate::runtime::Axes>,
    ) -> crate::runtime::Result<Self::Array<T>> {
        self.sum_with(x, axis, options::SumOptions::new())
    }
    ///Like [`sum`](Self::sum), with named [options](options::SumOptions).
    #[track_caller]
    fn sum_with<'a, T: crate::runtime::Float>(
        &self,
        x: impl crate::runtime::IntoArray<'a, Self::Array<T>>,
        axis: impl Into<crate::runtime::Axes>,
        options: options::SumOptions,
    ) -> crate::runtime::Result<Self::Array<T>> {
        let _ = (x, axis, options);
        Err(
            crate::runtime::Error::unsupported(
                "sum",
                <Self as crate::runtime::Arrays>::NAME,
            ),
        )
    }
    /**A composition.

Parameters, dtypes, errors and an example are in [`ops::rms`].*/
    #[track_caller]
    #[inline]
    fn rms<'a, T: crate::runtime::Float>(
        &self,
        x: impl crate::runtime::IntoArray<'a, Self::Array<T>>,
        axis: impl Into<crate::runtime::Axes>,
    ) -> crate::runtime::Result<Self::Array<T>> {
        self.rms_with(x, axis, options::RmsOptions::new())
    }
    ///Like [`rms`](Self::rms), with named [options](options::RmsOptions).
    #[track_caller]
    fn rms_with<'a, T: crate::runtime::Float>(
        &self,
        x: impl crate::runtime::IntoArray<'a, Self::Array<T>>,
        axis: impl Into<crate::runtime::Axes>,
        options: options::RmsOptions,
    ) -> crate::runtime::Result<Self::Array<T>> {
        let _ = (x, axis, options);
        Err(
            crate::runtime::Error::unsupported(
                "rms",
                <Self as crate::runtime::Arrays>::NAME,
            ),
        )
    }
    /**The ends along an axis, and how many elements are equal to them.

Parameters, dtypes, errors and an example are in [`ops::ends`].*/
    #[track_caller]
    #[inline]
    fn ends<'a, T: crate::runtime::Float>(
        &self,
        x: impl crate::runtime::IntoArray<'a, Self::Array<T>>,
    ) -> crate::runtime::Result<results::EndsResult<Self, T>> {
        self.ends_with(x, options::EndsOptions::new())
    }
    ///Like [`ends`](Self::ends), with named [options](options::EndsOptions).
    #[track_caller]
    fn ends_with<'a, T: crate::runtime::Float>(
        &self,
        x: impl crate::runtime::IntoArray<'a, Self::Array<T>>,
        options: options::EndsOptions<'_, Self::Array<T::Real>, Self::Array<i32>>,
    ) -> crate::runtime::Result<results::EndsResult<Self, T>> {
        let _ = (x, options);
        Err(
            crate::runtime::Error::unsupported(
                "ends",
                <Self as crate::runtime::Arrays>::NAME,
            ),
        )
    }
    /**Whether all elements are equal.

Parameters, dtypes, errors and an example are in [`ops::is_flat`].*/
    #[track_caller]
    fn is_flat<'a, T: IsFlatDtypes>(
        &self,
        x: impl crate::runtime::IntoArray<'a, Self::Array<T>>,
    ) -> crate::runtime::Result<bool> {
        let _ = (x,);
        Err(
            crate::runtime::Error::unsupported(
                "is_flat",
                <Self as crate::runtime::Arrays>::NAME,
            ),
        )
    }
}
#[doc(hidden)]
impl Elementwise for crate::runtime::numpyish::Numpyish {
    #[inline]
    fn add<
        'a,
        T: crate::runtime::Float,
        K1,
        K2,
        X1: crate::runtime::OperandBeside<'a, Self, T, X2, K1>,
        X2: crate::runtime::OperandBeside<'a, Self, T, X1, K2>,
    >(&self, x1: X1, x2: X2) -> crate::runtime::Result<Self::Array<T>> {
        let x1 = x1.operand_beside(self)?;
        let x2 = x2.operand_beside(self)?;
        crate::runtime::numpyish::elementwise::each2(self, &ops::add {}, x1, x2)
    }
    #[inline]
    fn leaky_with<'a, T: crate::runtime::Real>(
        &self,
        x: impl crate::runtime::IntoArray<'a, Self::Array<T>>,
        options: options::LeakyOptions,
    ) -> crate::runtime::Result<Self::Array<T>> {
        let x = x.into_array();
        let options::LeakyOptions { slope, .. } = options;
        crate::runtime::numpyish::elementwise::each1(
            self,
            &ops::leaky { slope },
            crate::runtime::Operand::Array(x),
        )
    }
    #[inline]
    fn threshold<'a, T: crate::runtime::Real>(
        &self,
        x: impl crate::runtime::IntoArray<'a, Self::Array<T>>,
        limit: impl Into<crate::runtime::Scalar<T>>,
        value: impl Into<crate::runtime::Scalar<T>>,
    ) -> crate::runtime::Result<Self::Array<T>> {
        let x = x.into_array();
        let limit: T = limit.into().0;
        let value: T = value.into().0;
        let mut result: crate::runtime::Result<Self::Array<T>> = {
            macro_rules! row_threshold {
                () => {
                    crate ::runtime::numpyish::select::threshold(self, & * x, limit,
                    value)
                };
            }
            row_threshold!()
        };
        crate::runtime::locate(&mut result, (::core::file!(), ::core::line!()));
        result
    }
    #[inline]
    fn sum_with<'a, T: crate::runtime::Float>(
        &self,
        x: impl crate::runtime::IntoArray<'a, Self::Array<T>>,
        axis: impl Into<crate::runtime::Axes>,
        options: options::SumOptions,
    ) -> crate::runtime::Result<Self::Array<T>> {
        let x = x.into_array();
        let axis: crate::runtime::Axes = axis.into();
        let options::SumOptions { keepdims, .. } = options;
        let mut result: crate::runtime::Result<Self::Array<T>> = {
            macro_rules! row_sum {
                () => {
                    crate ::runtime::numpyish::reduction::sum(self, & * x, axis,
                    keepdims)
                };
            }
            row_sum!()
        };
        crate::runtime::locate(&mut result, (::core::file!(), ::core::line!()));
        result
    }
    #[inline]
    fn rms_with<'a, T: crate::runtime::Float>(
        &self,
        x: impl crate::runtime::IntoArray<'a, Self::Array<T>>,
        axis: impl Into<crate::runtime::Axes>,
        options: options::RmsOptions,
    ) -> crate::runtime::Result<Self::Array<T>> {
        let x = x.into_array();
        let axis: crate::runtime::Axes = axis.into();
        let options::RmsOptions { keepdims, .. } = options;
        let mut result: crate::runtime::Result<Self::Array<T>> = {
            __compose::rms(self, &*x, axis, keepdims).map_err(|why| why.within("rms"))
        };
        crate::runtime::locate(&mut result, (::core::file!(), ::core::line!()));
        result
    }
    #[inline]
    fn ends_with<'a, T: crate::runtime::Float>(
        &self,
        x: impl crate::runtime::IntoArray<'a, Self::Array<T>>,
        options: options::EndsOptions<'_, Self::Array<T::Real>, Self::Array<i32>>,
    ) -> crate::runtime::Result<results::EndsResult<Self, T>> {
        let x = x.into_array();
        let options::EndsOptions { weights, first, side, .. } = options;
        let mut result: crate::runtime::Result<results::EndsResult<Self, T>> = {
            macro_rules! row_ends {
                () => {
                    crate ::runtime::numpyish::sort::ends(self, & * x, weights
                    .as_deref(), first.as_deref(), side).map(::core::convert::From::from)
                };
            }
            row_ends!()
        };
        crate::runtime::locate(&mut result, (::core::file!(), ::core::line!()));
        result
    }
    #[inline]
    fn is_flat<'a, T: IsFlatDtypes>(
        &self,
        x: impl crate::runtime::IntoArray<'a, Self::Array<T>>,
    ) -> crate::runtime::Result<bool> {
        let x = x.into_array();
        let mut result: crate::runtime::Result<bool> = {
            macro_rules! row_is_flat {
                () => {
                    crate ::is_flat(self, & * x).map_err(| why | why.within("is_flat"))
                };
            }
            row_is_flat!()
        };
        crate::runtime::locate(&mut result, (::core::file!(), ::core::line!()));
        result
    }
}
#[doc(hidden)]
impl Elementwise for crate::runtime::torch::Torch {
    #[inline]
    fn add<
        'a,
        T: crate::runtime::Float,
        K1,
        K2,
        X1: crate::runtime::OperandBeside<'a, Self, T, X2, K1>,
        X2: crate::runtime::OperandBeside<'a, Self, T, X1, K2>,
    >(&self, x1: X1, x2: X2) -> crate::runtime::Result<Self::Array<T>> {
        let x1 = x1.operand_beside(self)?;
        let x2 = x2.operand_beside(self)?;
        let mut result: crate::runtime::Result<Self::Array<T>> = {
            static ATEN: crate::runtime::torch::Aten = crate::runtime::torch::Aten::new(
                "add",
                "aten::add",
                "Tensor",
                crate::runtime::torch::DtypeStrategy::Direct,
            );
            crate::runtime::torch::aten::<
                T,
                _,
            >(
                self,
                &ATEN,
                &[
                    crate::runtime::torch::Arg::from(&x1),
                    crate::runtime::torch::Arg::from(&x2),
                ],
            )
        };
        crate::runtime::locate(&mut result, (::core::file!(), ::core::line!()));
        result
    }
    #[inline]
    fn leaky_with<'a, T: crate::runtime::Real>(
        &self,
        x: impl crate::runtime::IntoArray<'a, Self::Array<T>>,
        options: options::LeakyOptions,
    ) -> crate::runtime::Result<Self::Array<T>> {
        let x = x.into_array();
        let options::LeakyOptions { slope, .. } = options;
        let mut result: crate::runtime::Result<Self::Array<T>> = {
            static ATEN: crate::runtime::torch::Aten = crate::runtime::torch::Aten::new(
                "leaky",
                "aten::leaky_relu",
                "",
                crate::runtime::torch::DtypeStrategy::Float32,
            );
            crate::runtime::torch::aten::<
                T,
                _,
            >(
                self,
                &ATEN,
                &[
                    crate::runtime::torch::Arg::from(&*x),
                    crate::runtime::torch::Arg::from(slope),
                ],
            )
        };
        crate::runtime::locate(&mut result, (::core::file!(), ::core::line!()));
        result
    }
    #[inline]
    fn threshold<'a, T: crate::runtime::Real>(
        &self,
        x: impl crate::runtime::IntoArray<'a, Self::Array<T>>,
        limit: impl Into<crate::runtime::Scalar<T>>,
        value: impl Into<crate::runtime::Scalar<T>>,
    ) -> crate::runtime::Result<Self::Array<T>> {
        let x = x.into_array();
        let limit: T = limit.into().0;
        let value: T = value.into().0;
        let mut result: crate::runtime::Result<Self::Array<T>> = {
            static ATEN: crate::runtime::torch::Aten = crate::runtime::torch::Aten::new(
                "threshold",
                "aten::threshold",
                "",
                crate::runtime::torch::DtypeStrategy::Direct,
            );
            crate::runtime::torch::aten::<
                T,
                _,
            >(
                self,
                &ATEN,
                &[
                    crate::runtime::torch::Arg::from(&*x),
                    crate::runtime::torch::Arg::element(limit),
                    crate::runtime::torch::Arg::element(value),
                ],
            )
        };
        crate::runtime::locate(&mut result, (::core::file!(), ::core::line!()));
        result
    }
    #[inline]
    fn sum_with<'a, T: crate::runtime::Float>(
        &self,
        x: impl crate::runtime::IntoArray<'a, Self::Array<T>>,
        axis: impl Into<crate::runtime::Axes>,
        options: options::SumOptions,
    ) -> crate::runtime::Result<Self::Array<T>> {
        let x = x.into_array();
        let axis: crate::runtime::Axes = axis.into();
        let options::SumOptions { keepdims, .. } = options;
        let mut result: crate::runtime::Result<Self::Array<T>> = {
            macro_rules! row_sum {
                () => {
                    crate ::runtime::torch::reduction::sum(self, & * x, axis, keepdims)
                };
            }
            row_sum!()
        };
        crate::runtime::locate(&mut result, (::core::file!(), ::core::line!()));
        result
    }
    #[inline]
    fn rms_with<'a, T: crate::runtime::Float>(
        &self,
        x: impl crate::runtime::IntoArray<'a, Self::Array<T>>,
        axis: impl Into<crate::runtime::Axes>,
        options: options::RmsOptions,
    ) -> crate::runtime::Result<Self::Array<T>> {
        let x = x.into_array();
        let axis: crate::runtime::Axes = axis.into();
        let options::RmsOptions { keepdims, .. } = options;
        let mut result: crate::runtime::Result<Self::Array<T>> = {
            __compose::rms(self, &*x, axis, keepdims).map_err(|why| why.within("rms"))
        };
        crate::runtime::locate(&mut result, (::core::file!(), ::core::line!()));
        result
    }
    #[inline]
    fn ends_with<'a, T: crate::runtime::Float>(
        &self,
        x: impl crate::runtime::IntoArray<'a, Self::Array<T>>,
        options: options::EndsOptions<'_, Self::Array<T::Real>, Self::Array<i32>>,
    ) -> crate::runtime::Result<results::EndsResult<Self, T>> {
        let x = x.into_array();
        let options::EndsOptions { weights, first, side, .. } = options;
        let mut result: crate::runtime::Result<results::EndsResult<Self, T>> = {
            macro_rules! row_ends {
                () => {
                    crate ::runtime::torch::sort::ends(self, & * x, weights.as_deref(),
                    first.as_deref(), side).map(::core::convert::From::from)
                };
            }
            row_ends!()
        };
        crate::runtime::locate(&mut result, (::core::file!(), ::core::line!()));
        result
    }
    #[inline]
    fn is_flat<'a, T: IsFlatDtypes>(
        &self,
        x: impl crate::runtime::IntoArray<'a, Self::Array<T>>,
    ) -> crate::runtime::Result<bool> {
        let x = x.into_array();
        let mut result: crate::runtime::Result<bool> = {
            macro_rules! row_is_flat {
                () => {
                    crate ::is_flat(self, & * x).map_err(| why | why.within("is_flat"))
                };
            }
            row_is_flat!()
        };
        crate::runtime::locate(&mut result, (::core::file!(), ::core::line!()));
        result
    }
}
#[doc(hidden)]
impl Elementwise for crate::AnyBackend {
    #[inline]
    fn add<
        'a,
        T: crate::runtime::Float,
        K1,
        K2,
        X1: crate::runtime::OperandBeside<'a, Self, T, X2, K1>,
        X2: crate::runtime::OperandBeside<'a, Self, T, X1, K2>,
    >(&self, x1: X1, x2: X2) -> crate::runtime::Result<Self::Array<T>> {
        let x1 = x1.operand_beside(self)?;
        let x2 = x2.operand_beside(self)?;
        #[inline(never)]
        #[track_caller]
        fn run<'a, T: crate::runtime::Float>(
            backend: &crate::AnyBackend,
            mut x1: crate::runtime::Operand<'a, crate::AnyBackend, T>,
            mut x2: crate::runtime::Operand<'a, crate::AnyBackend, T>,
        ) -> crate::runtime::Result<
            <crate::AnyBackend as crate::runtime::Arrays>::Array<T>,
        > {
            {
                if const { !<T as crate::runtime::Element>::IS_DYNAMIC }
                    && let crate::AnyBackend::Numpyish(_) = backend
                    && let Some(result) = crate::runtime::entry::run_loop::<
                        2usize,
                        _,
                        T,
                        T,
                    >(
                        ops::add::ROW,
                        &ops::add {},
                        || Some([
                            crate::runtime::entry::operand_view(&x1)?,
                            crate::runtime::entry::operand_view(&x2)?,
                        ]),
                    )
                {
                    return crate::runtime::located(
                        result,
                        (::core::file!(), ::core::line!()),
                    );
                }
                crate::runtime::located(
                    {
                        let mut args = [
                            crate::runtime::entry::Arg::operand::<
                                crate::AnyBackend,
                                T,
                            >(&mut x1),
                            crate::runtime::entry::Arg::operand::<
                                crate::AnyBackend,
                                T,
                            >(&mut x2),
                        ];
                        match crate::runtime::entry::run(
                            backend,
                            ops::add::ROW,
                            (
                                <T as crate::runtime::Element>::dtype(),
                                <T as crate::runtime::Element>::dtype(),
                            ),
                            &mut args,
                        ) {
                            Ok(outputs) => {
                                crate::runtime::entry::one::<
                                    crate::AnyBackend,
                                    T,
                                >("add", outputs)
                            }
                            Err(why) => Err(why),
                        }
                    },
                    (::core::file!(), ::core::line!()),
                )
            }
        }
        run::<T>(self, x1, x2)
    }
    #[inline]
    fn leaky_with<'a, T: crate::runtime::Real>(
        &self,
        x: impl crate::runtime::IntoArray<'a, Self::Array<T>>,
        options: options::LeakyOptions,
    ) -> crate::runtime::Result<Self::Array<T>> {
        let x = x.into_array();
        #[inline(never)]
        #[track_caller]
        fn run<'a, T: crate::runtime::Real>(
            backend: &crate::AnyBackend,
            mut x: ::std::borrow::Cow<'a, crate::AnyArray<T>>,
            options: options::LeakyOptions,
        ) -> crate::runtime::Result<
            <crate::AnyBackend as crate::runtime::Arrays>::Array<T>,
        > {
            {
                let options::LeakyOptions { slope, .. } = options;
                if const { !<T as crate::runtime::Element>::IS_DYNAMIC }
                    && let crate::AnyBackend::Numpyish(_) = backend
                    && let Some(result) = crate::runtime::entry::run_loop::<
                        1usize,
                        _,
                        T,
                        T,
                    >(
                        ops::leaky::ROW,
                        &ops::leaky { slope },
                        || Some([crate::runtime::entry::array_view(&x)?]),
                    )
                {
                    return crate::runtime::located(
                        result,
                        (::core::file!(), ::core::line!()),
                    );
                }
                crate::runtime::located(
                    {
                        let mut args = [
                            crate::runtime::entry::Arg::given::<
                                crate::AnyBackend,
                                T,
                            >(&mut x),
                            crate::runtime::entry::Arg::from(slope),
                        ];
                        match crate::runtime::entry::run(
                            backend,
                            ops::leaky::ROW,
                            (
                                <T as crate::runtime::Element>::dtype(),
                                <T as crate::runtime::Element>::dtype(),
                            ),
                            &mut args,
                        ) {
                            Ok(outputs) => {
                                crate::runtime::entry::one::<
                                    crate::AnyBackend,
                                    T,
                                >("leaky", outputs)
                            }
                            Err(why) => Err(why),
                        }
                    },
                    (::core::file!(), ::core::line!()),
                )
            }
        }
        run::<T>(self, x, options)
    }
    #[inline]
    fn threshold<'a, T: crate::runtime::Real>(
        &self,
        x: impl crate::runtime::IntoArray<'a, Self::Array<T>>,
        limit: impl Into<crate::runtime::Scalar<T>>,
        value: impl Into<crate::runtime::Scalar<T>>,
    ) -> crate::runtime::Result<Self::Array<T>> {
        let x = x.into_array();
        let limit: T = limit.into().0;
        let value: T = value.into().0;
        #[inline(never)]
        #[track_caller]
        fn run<'a, T: crate::runtime::Real>(
            backend: &crate::AnyBackend,
            x: ::std::borrow::Cow<'a, crate::AnyArray<T>>,
            limit: T,
            value: T,
        ) -> crate::runtime::Result<
            <crate::AnyBackend as crate::runtime::Arrays>::Array<T>,
        > {
            match backend {
                crate::AnyBackend::Watched(b) => {
                    crate::runtime::located(
                        crate::runtime::rarely(|| {
                            let mut running = crate::runtime::Wrap::begin(
                                &**b,
                                &crate::runtime::Call {
                                    info: Some(ops::threshold::INFO),
                                    op: "threshold",
                                    dtype: <T as crate::runtime::Element>::dtype(),
                                    to: None,
                                    formula: ::core::option::Option::None,
                                    is_composed: false,
                                    args: &[
                                        ("x", crate::runtime::Arg::array(&*x)),
                                        (
                                            "limit",
                                            crate::runtime::Arg::Number(
                                                crate::runtime::Number::of(limit),
                                            ),
                                        ),
                                        (
                                            "value",
                                            crate::runtime::Arg::Number(
                                                crate::runtime::Number::of(value),
                                            ),
                                        ),
                                    ],
                                },
                            )?;
                            let within = crate::runtime::Wrap::within(&**b);
                            let result = run::<T>(within, x, limit, value)?;
                            crate::runtime::Wrap::close::<T>(&**b, &mut running, result)
                        }),
                        (::core::file!(), ::core::line!()),
                    )
                }
                crate::AnyBackend::Intercepted(b) => {
                    crate::runtime::located(
                        crate::runtime::rarely(|| {
                            let mut running = ();
                            let within = crate::runtime::Wrap::within(&**b);
                            let result = run::<T>(within, x, limit, value)?;
                            crate::runtime::Wrap::close::<T>(&**b, &mut running, result)
                        }),
                        (::core::file!(), ::core::line!()),
                    )
                }
                b if crate::runtime::Arrays::has_entry(b, ops::threshold::ROW) => {
                    crate::runtime::located(
                        {
                            let mut args = [
                                crate::runtime::entry::Arg::array::<
                                    crate::AnyBackend,
                                    T,
                                >(&x),
                                crate::runtime::entry::Arg::element(limit),
                                crate::runtime::entry::Arg::element(value),
                            ];
                            match crate::runtime::entry::run(
                                b,
                                ops::threshold::ROW,
                                (
                                    <T as crate::runtime::Element>::dtype(),
                                    <T as crate::runtime::Element>::dtype(),
                                ),
                                &mut args,
                            ) {
                                Ok(outputs) => {
                                    crate::runtime::entry::one::<
                                        crate::AnyBackend,
                                        T,
                                    >("threshold", outputs)
                                }
                                Err(why) => Err(why),
                            }
                        },
                        (::core::file!(), ::core::line!()),
                    )
                }
                crate::AnyBackend::Numpyish(b) => {
                    let r = b
                        .threshold(
                            crate::AnyArray::given::<
                                crate::runtime::numpyish::Numpyish,
                            >(x, "threshold")?,
                            limit,
                            value,
                        )?;
                    Ok(crate::AnyArray::of::<crate::runtime::numpyish::Numpyish>(r))
                }
                _ => Err(crate::runtime::Error::unsupported("threshold", "this backend")),
            }
        }
        run::<T>(self, x, limit, value)
    }
    #[inline]
    fn sum_with<'a, T: crate::runtime::Float>(
        &self,
        x: impl crate::runtime::IntoArray<'a, Self::Array<T>>,
        axis: impl Into<crate::runtime::Axes>,
        options: options::SumOptions,
    ) -> crate::runtime::Result<Self::Array<T>> {
        let x = x.into_array();
        let axis: crate::runtime::Axes = axis.into();
        #[inline(never)]
        #[track_caller]
        fn run<'a, T: crate::runtime::Float>(
            backend: &crate::AnyBackend,
            x: ::std::borrow::Cow<'a, crate::AnyArray<T>>,
            axis: crate::runtime::Axes,
            options: options::SumOptions,
        ) -> crate::runtime::Result<
            <crate::AnyBackend as crate::runtime::Arrays>::Array<T>,
        > {
            match backend {
                crate::AnyBackend::Watched(b) => {
                    crate::runtime::located(
                        crate::runtime::rarely(|| {
                            let mut running = crate::runtime::Wrap::begin(
                                &**b,
                                &crate::runtime::Call {
                                    info: Some(ops::sum::INFO),
                                    op: "sum",
                                    dtype: <T as crate::runtime::Element>::dtype(),
                                    to: None,
                                    formula: ::core::option::Option::None,
                                    is_composed: false,
                                    args: &[
                                        ("x", crate::runtime::Arg::array(&*x)),
                                        ("axis", crate::runtime::Arg::Plain(&axis)),
                                        ("keepdims", crate::runtime::Arg::Plain(&options.keepdims)),
                                    ],
                                },
                            )?;
                            let within = crate::runtime::Wrap::within(&**b);
                            let result = run::<T>(within, x, axis, options)?;
                            crate::runtime::Wrap::close::<T>(&**b, &mut running, result)
                        }),
                        (::core::file!(), ::core::line!()),
                    )
                }
                crate::AnyBackend::Intercepted(b) => {
                    crate::runtime::located(
                        crate::runtime::rarely(|| {
                            let mut running = ();
                            let within = crate::runtime::Wrap::within(&**b);
                            let result = run::<T>(within, x, axis, options)?;
                            crate::runtime::Wrap::close::<T>(&**b, &mut running, result)
                        }),
                        (::core::file!(), ::core::line!()),
                    )
                }
                crate::AnyBackend::Numpyish(b) => {
                    let r = b
                        .sum_with(
                            crate::AnyArray::given::<
                                crate::runtime::numpyish::Numpyish,
                            >(x, "sum")?,
                            axis,
                            options,
                        )?;
                    Ok(crate::AnyArray::of::<crate::runtime::numpyish::Numpyish>(r))
                }
                crate::AnyBackend::Torch(b) => {
                    let r = b
                        .sum_with(
                            crate::AnyArray::given::<
                                crate::runtime::torch::Torch,
                            >(x, "sum")?,
                            axis,
                            options,
                        )?;
                    Ok(crate::AnyArray::of::<crate::runtime::torch::Torch>(r))
                }
            }
        }
        run::<T>(self, x, axis, options)
    }
    #[inline]
    fn rms_with<'a, T: crate::runtime::Float>(
        &self,
        x: impl crate::runtime::IntoArray<'a, Self::Array<T>>,
        axis: impl Into<crate::runtime::Axes>,
        options: options::RmsOptions,
    ) -> crate::runtime::Result<Self::Array<T>> {
        let x = x.into_array();
        let axis: crate::runtime::Axes = axis.into();
        #[inline(never)]
        #[track_caller]
        fn run<'a, T: crate::runtime::Float>(
            backend: &crate::AnyBackend,
            x: ::std::borrow::Cow<'a, crate::AnyArray<T>>,
            axis: crate::runtime::Axes,
            options: options::RmsOptions,
        ) -> crate::runtime::Result<
            <crate::AnyBackend as crate::runtime::Arrays>::Array<T>,
        > {
            {
                let options::RmsOptions { keepdims, .. } = options;
                crate::runtime::located(
                    {
                        let mut args = [
                            crate::runtime::entry::Arg::array::<
                                crate::AnyBackend,
                                T,
                            >(&x),
                            crate::runtime::entry::Arg::from(&axis),
                            crate::runtime::entry::Arg::from(keepdims),
                        ];
                        match crate::runtime::entry::run(
                            backend,
                            ops::rms::ROW,
                            (
                                <T as crate::runtime::Element>::dtype(),
                                <T as crate::runtime::Element>::dtype(),
                            ),
                            &mut args,
                        ) {
                            Ok(outputs) => {
                                crate::runtime::entry::one::<
                                    crate::AnyBackend,
                                    T,
                                >("rms", outputs)
                            }
                            Err(why) => Err(why),
                        }
                    },
                    (::core::file!(), ::core::line!()),
                )
            }
        }
        run::<T>(self, x, axis, options)
    }
    #[inline]
    fn ends_with<'a, T: crate::runtime::Float>(
        &self,
        x: impl crate::runtime::IntoArray<'a, Self::Array<T>>,
        options: options::EndsOptions<'_, Self::Array<T::Real>, Self::Array<i32>>,
    ) -> crate::runtime::Result<results::EndsResult<Self, T>> {
        let x = x.into_array();
        #[inline(never)]
        #[track_caller]
        fn run<'a, T: crate::runtime::Float>(
            backend: &crate::AnyBackend,
            x: ::std::borrow::Cow<'a, crate::AnyArray<T>>,
            options: options::EndsOptions<
                '_,
                crate::AnyArray<T::Real>,
                crate::AnyArray<i32>,
            >,
        ) -> crate::runtime::Result<results::EndsResult<crate::AnyBackend, T>> {
            match backend {
                crate::AnyBackend::Watched(b) => {
                    crate::runtime::located(
                        crate::runtime::rarely(|| {
                            let mut running = crate::runtime::Wrap::begin(
                                &**b,
                                &crate::runtime::Call {
                                    info: Some(ops::ends::INFO),
                                    op: "ends",
                                    dtype: <T as crate::runtime::Element>::dtype(),
                                    to: None,
                                    formula: ::core::option::Option::None,
                                    is_composed: false,
                                    args: &[
                                        ("x", crate::runtime::Arg::array(&*x)),
                                        (
                                            "weights",
                                            crate::runtime::Arg::optional(options.weights.as_deref()),
                                        ),
                                        (
                                            "first",
                                            crate::runtime::Arg::optional(options.first.as_deref()),
                                        ),
                                        ("side", crate::runtime::Arg::Plain(&options.side)),
                                    ],
                                },
                            )?;
                            let within = crate::runtime::Wrap::within(&**b);
                            let result = run::<T>(within, x, options)?;
                            Ok(results::EndsResult {
                                values: crate::runtime::Wrap::close::<
                                    T,
                                >(&**b, &mut running, result.values)?,
                                counts: crate::runtime::Wrap::close::<
                                    i64,
                                >(&**b, &mut running, result.counts)?,
                            })
                        }),
                        (::core::file!(), ::core::line!()),
                    )
                }
                crate::AnyBackend::Intercepted(b) => {
                    crate::runtime::located(
                        crate::runtime::rarely(|| {
                            let mut running = ();
                            let within = crate::runtime::Wrap::within(&**b);
                            let result = run::<T>(within, x, options)?;
                            Ok(results::EndsResult {
                                values: crate::runtime::Wrap::close::<
                                    T,
                                >(&**b, &mut running, result.values)?,
                                counts: crate::runtime::Wrap::close::<
                                    i64,
                                >(&**b, &mut running, result.counts)?,
                            })
                        }),
                        (::core::file!(), ::core::line!()),
                    )
                }
                crate::AnyBackend::Numpyish(b) => {
                    let r = b
                        .ends_with(
                            crate::AnyArray::given::<
                                crate::runtime::numpyish::Numpyish,
                            >(x, "ends")?,
                            {
                                let mut own = options::EndsOptions::new();
                                own.weights = options
                                    .weights
                                    .map(|x| crate::AnyArray::given::<
                                        crate::runtime::numpyish::Numpyish,
                                    >(x, "ends"))
                                    .transpose()?;
                                own.first = options
                                    .first
                                    .map(|x| crate::AnyArray::given::<
                                        crate::runtime::numpyish::Numpyish,
                                    >(x, "ends"))
                                    .transpose()?;
                                own.side = options.side;
                                own
                            },
                        )?;
                    Ok(results::EndsResult {
                        values: crate::AnyArray::of::<
                            crate::runtime::numpyish::Numpyish,
                        >(r.values),
                        counts: crate::AnyArray::of::<
                            crate::runtime::numpyish::Numpyish,
                        >(r.counts),
                    })
                }
                crate::AnyBackend::Torch(b) => {
                    let r = b
                        .ends_with(
                            crate::AnyArray::given::<
                                crate::runtime::torch::Torch,
                            >(x, "ends")?,
                            {
                                let mut own = options::EndsOptions::new();
                                own.weights = options
                                    .weights
                                    .map(|x| crate::AnyArray::given::<
                                        crate::runtime::torch::Torch,
                                    >(x, "ends"))
                                    .transpose()?;
                                own.first = options
                                    .first
                                    .map(|x| crate::AnyArray::given::<
                                        crate::runtime::torch::Torch,
                                    >(x, "ends"))
                                    .transpose()?;
                                own.side = options.side;
                                own
                            },
                        )?;
                    Ok(results::EndsResult {
                        values: crate::AnyArray::of::<
                            crate::runtime::torch::Torch,
                        >(r.values),
                        counts: crate::AnyArray::of::<
                            crate::runtime::torch::Torch,
                        >(r.counts),
                    })
                }
            }
        }
        run::<T>(self, x, options)
    }
    #[inline]
    fn is_flat<'a, T: IsFlatDtypes>(
        &self,
        x: impl crate::runtime::IntoArray<'a, Self::Array<T>>,
    ) -> crate::runtime::Result<bool> {
        let x = x.into_array();
        #[inline(never)]
        #[track_caller]
        fn run<'a, T: IsFlatDtypes>(
            backend: &crate::AnyBackend,
            x: ::std::borrow::Cow<'a, crate::AnyArray<T>>,
        ) -> crate::runtime::Result<bool> {
            match backend {
                crate::AnyBackend::Watched(b) => {
                    crate::runtime::located(
                        crate::runtime::rarely(|| {
                            let mut running = crate::runtime::Wrap::begin(
                                &**b,
                                &crate::runtime::Call {
                                    info: Some(ops::is_flat::INFO),
                                    op: "is_flat",
                                    dtype: <T as crate::runtime::Element>::dtype(),
                                    to: None,
                                    formula: ::core::option::Option::None,
                                    is_composed: false,
                                    args: &[("x", crate::runtime::Arg::array(&*x))],
                                },
                            )?;
                            let within = crate::runtime::Wrap::within(&**b);
                            let result = run::<T>(within, x)?;
                            Ok(result)
                        }),
                        (::core::file!(), ::core::line!()),
                    )
                }
                _ => {
                    crate::runtime::located(
                        {
                            macro_rules! row_is_flat {
                                () => {
                                    crate ::is_flat(backend, & * x).map_err(| why | why
                                    .within("is_flat"))
                                };
                            }
                            row_is_flat!()
                        },
                        (::core::file!(), ::core::line!()),
                    )
                }
            }
        }
        run::<T>(self, x)
    }
}
#[allow(non_camel_case_types)]
pub mod ops {
    /*!Reference of all ops, with a page for each op.

Each op is a method of its name on every backend: `b.sum(&x, 0)`. The items of this module stand for the ops themselves: `INFO` describes the parameters and results of an op, and `call` calls the op with values whose dtypes are known at run time.

The backends of the table are Numpyish, Torch.

The pages name the function behind each op. In the repository, the function `cuda::fft::fft` of a backend is in `backend-runtime/cuda/src/fft/`. On the CPU, functions that formulas use too (most of `elementwise`, `reduction` and `casting`) are in `backend-runtime/core/src/numpyish/`, and all others in `backend-runtime/numpyish/src/`. A function over other ops, such as `fft::dct`, is in `src/`.

# [Elementwise](super::Elementwise)

Element by element.

| op | does | dtypes | backends |
|---|---|---|---|
| [`add`](struct.add.html) | x1 + x2. | float32, float64, complex64 | all |
| [`leaky`](struct.leaky.html) | x where positive, slope * x elsewhere. | real | all |
| [`threshold`](struct.threshold.html) | x where it is above the limit, the value elsewhere. | real | all |
| [`sum`](struct.sum.html) | Sum. | float32, float64, complex64 | all |
| [`rms`](struct.rms.html) | A composition. | float32, float64, complex64 | all |
| [`ends`](struct.ends.html) | The ends along an axis, and how many elements are equal to them. | float32, float64, complex64 | all |
| [`is_flat`](struct.is_flat.html) | Whether all elements are equal. | float32, complex64 | all |

*/
    #[doc(hidden)]
    pub use super::__each as __each;
    /**x1 + x2.

```text
add(x1: operand, x2: operand) -> array
```

In Rust, it is the method [`Elementwise::add`](super::Elementwise::add).

```text
fn add<'a, T: Float, K1, K2, X1: OperandBeside<'a, Self, T, X2, K1>, X2: OperandBeside<'a, Self, T, X1, K2>>(
    &self,
    x1: X1,
    x2: X2,
) -> Result<Self::Array<T>>
```

# Parameters

- `x1`: array or scalar, broadcast with the other inputs
- `x2`: array or scalar, broadcast with the other inputs

# Returns

An array with the shape to which `x1` and `x2` broadcast.

# Errors

- [`Shapes`](crate::Error::Shapes): the shapes of `x1` and `x2` do not broadcast.
- The errors of every op: [`Memory`](crate::Error::Memory) if the result does not fit into memory, [`Backend`](crate::Error::Backend) or [`Device`](crate::Error::Device) for an array of another backend or device, [`Unsupported`](crate::Error::Unsupported) on a backend without the op, [`Library`](crate::Error::Library) for an error of a library.

# Dtypes and accuracy

- `T`: [`Float`](crate::Float): float32, float64, complex64
- Accuracy: exact

# Implementation

| backend | implementation |
|---|---|
| Numpyish | `x1 + x2` per element |
| Torch | `torch.add` |

The row `[op.add]` of `ops.toml`, line 51, defines the op.

In other libraries: `torch.add`.

# Example

```
# use backends::{Result, prelude::*};
# fn main() -> Result<()> {
let b = Numpyish::new();
let y = b.add(1.0, &b.asarray([1.0, 2.0])?)?;
// [2.0, 3.0]
# assert_eq!(y, b.asarray([2.0, 3.0])?);
# Ok(())
# }
```
*/
    #[doc(alias = "plus")]
    #[derive(Clone, Copy, Debug)]
    pub struct add {}
    /**x where positive, slope * x elsewhere.

```text
leaky(x: array, slope: f64 = 0.01) -> array
```

In Rust, it is the method [`Elementwise::leaky`](super::Elementwise::leaky); [`Elementwise::leaky_with`](super::Elementwise::leaky_with) sets parameters with defaults.

```text
fn leaky<'a, T: Real>(&self, x: impl IntoArray<'a, Self::Array<T>>) -> Result<Self::Array<T>>
```

# Parameters

- `x`: array
- `slope`: `f64`; default `0.01`, set by [`LeakyOptions::slope`](super::options::LeakyOptions::slope)

# Returns

An array with the shape of `x`.

# Errors

- The errors of every op: [`Memory`](crate::Error::Memory) if the result does not fit into memory, [`Backend`](crate::Error::Backend) or [`Device`](crate::Error::Device) for an array of another backend or device, [`Unsupported`](crate::Error::Unsupported) on a backend without the op, [`Library`](crate::Error::Library) for an error of a library.

# Dtypes and accuracy

- `T`: [`Real`](crate::Real): float32, float64
- Accuracy: exact

# Implementation

| backend | implementation |
|---|---|
| Numpyish | `if x < 0.0 { slope * x } else { x }` per element |
| Torch | `torch.leaky_relu` |

The row `[op.leaky]` of `ops.toml`, line 61, defines the op.

In other libraries: `torch.leaky_relu`.

# Example

```
# use backends::{Result, prelude::*};
# fn main() -> Result<()> {
let b = Numpyish::new();
let y = b.leaky(&b.asarray([1.0, -1.0])?)?;
// [1.0, -0.01]
# assert_eq!(y, b.asarray([1.0, -0.01])?);
# Ok(())
# }
```
*/
    #[derive(Clone, Copy, Debug)]
    pub struct leaky {
        ///The parameter `slope`.
        pub slope: ::core::primitive::f64,
    }
    /**x where it is above the limit, the value elsewhere.

```text
threshold(x: array, limit: scalar, value: scalar) -> array
```

In Rust, it is the method [`Elementwise::threshold`](super::Elementwise::threshold).

```text
fn threshold<'a, T: Real>(
    &self,
    x: impl IntoArray<'a, Self::Array<T>>,
    limit: impl Into<Scalar<T>>,
    value: impl Into<Scalar<T>>,
) -> Result<Self::Array<T>>
```

# Parameters

- `x`: array
- `limit`: a value of the dtype
- `value`: a value of the dtype

# Returns

An array.

# Errors

- The errors of every op: [`Memory`](crate::Error::Memory) if the result does not fit into memory, [`Backend`](crate::Error::Backend) or [`Device`](crate::Error::Device) for an array of another backend or device, [`Unsupported`](crate::Error::Unsupported) on a backend without the op, [`Library`](crate::Error::Library) for an error of a library.

# Dtypes and accuracy

- `T`: [`Real`](crate::Real): float32, float64
- Accuracy: exact

# Implementation

| backend | implementation |
|---|---|
| Numpyish | kernels, in `numpyish::select::threshold` |
| Torch | `torch.threshold` |

The row `[op.threshold]` of `ops.toml`, line 70, defines the op.

In other libraries: `torch.threshold`.

# Example

```
# use backends::{Result, prelude::*};
# fn main() -> Result<()> {
let b = Numpyish::new();
let y = b.threshold(&b.asarray([1.0, 2.0])?, 1.0, 0.0)?;
// [0.0, 2.0]
# assert_eq!(y, b.asarray([0.0, 2.0])?);
# Ok(())
# }
```
*/
    #[derive(Clone, Copy, Debug)]
    pub struct threshold {}
    /**Sum.

```text
sum(x: array, axis: axes, keepdims: bool = false) -> array
```

In Rust, it is the method [`Elementwise::sum`](super::Elementwise::sum); [`Elementwise::sum_with`](super::Elementwise::sum_with) sets parameters with defaults.

```text
fn sum<'a, T: Float>(
    &self,
    x: impl IntoArray<'a, Self::Array<T>>,
    axis: impl Into<Axes>,
) -> Result<Self::Array<T>>
```

# Parameters

- `x`: array
- `axis`: [axes](crate::Axes), such as `..` (all axes), `0`, `-1` or `[0, 2]`
- `keepdims`: `bool`; default `false`, set by [`SumOptions::keepdims`](super::options::SumOptions::keepdims)

# Returns

An array without the reduced axes; with `keepdims`, these axes stay, with length 1.

# Errors

- [`Axis`](crate::Error::Axis): `axis` names an axis that does not exist.
- [`RepeatedAxis`](crate::Error::RepeatedAxis): `axis` names an axis twice.
- The errors of every op: [`Memory`](crate::Error::Memory) if the result does not fit into memory, [`Backend`](crate::Error::Backend) or [`Device`](crate::Error::Device) for an array of another backend or device, [`Unsupported`](crate::Error::Unsupported) on a backend without the op, [`Library`](crate::Error::Library) for an error of a library.

# Dtypes and accuracy

- `T`: [`Float`](crate::Float): float32, float64, complex64
- Accuracy: exact

# Implementation

| backend | implementation |
|---|---|
| Numpyish | kernels, in `numpyish::reduction::sum` |
| Torch | ops of libtorch, in `torch::reduction::sum` |

The row `[op.sum]` of `ops.toml`, line 79, defines the op.

# See also

- Sums: [`rms`](self::rms)

# Example

```
# use backends::{Result, prelude::*};
# fn main() -> Result<()> {
let b = Numpyish::new();
let y = b.sum(&b.asarray([1.0, 2.0])?, ..)?;
// 3.0
# assert_eq!(y, b.asarray(3.0)?);
# Ok(())
# }
```
*/
    #[derive(Clone, Copy, Debug)]
    pub struct sum {}
    /**A composition.

```text
rms(x: array, axis: axes, keepdims: bool = false) -> array
```

In Rust, it is the method [`Elementwise::rms`](super::Elementwise::rms); [`Elementwise::rms_with`](super::Elementwise::rms_with) sets parameters with defaults.

```text
fn rms<'a, T: Float>(
    &self,
    x: impl IntoArray<'a, Self::Array<T>>,
    axis: impl Into<Axes>,
) -> Result<Self::Array<T>>
```

# Parameters

- `x`: array
- `axis`: [axes](crate::Axes), such as `..` (all axes), `0`, `-1` or `[0, 2]`
- `keepdims`: `bool`; default `false`, set by [`RmsOptions::keepdims`](super::options::RmsOptions::keepdims)

# Returns

An array without the reduced axes; with `keepdims`, these axes stay, with length 1.

# Errors

- [`Axis`](crate::Error::Axis): `axis` names an axis that does not exist.
- [`RepeatedAxis`](crate::Error::RepeatedAxis): `axis` names an axis twice.
- The errors of every op: [`Memory`](crate::Error::Memory) if the result does not fit into memory, [`Backend`](crate::Error::Backend) or [`Device`](crate::Error::Device) for an array of another backend or device, [`Unsupported`](crate::Error::Unsupported) on a backend without the op, [`Library`](crate::Error::Library) for an error of a library.

# Dtypes and accuracy

- `T`: [`Float`](crate::Float): float32, float64, complex64
- Accuracy: exact

# Implementation

| backend | implementation |
|---|---|
| Numpyish | `{ let s = add(x, x); sum(s, axis, keepdims = keepdims) }` |
| Torch | `{ let s = add(x, x); sum(s, axis, keepdims = keepdims) }` |

The row `[op.rms]` of `ops.toml`, line 87, defines the op.

# Gradients

The gradients of the ops of which this op is composed.

# See also

- Sums: [`sum`](self::sum)

# Example

```
# use backends::{Result, prelude::*};
# fn main() -> Result<()> {
let b = Numpyish::new();
let x = b.asarray([1.0, 2.0])?;
let y = b.rms(&x, ..)?;
// 6.0
# assert_eq!(y, b.asarray(6.0)?);
# Ok(())
# }
```
*/
    #[derive(Clone, Copy, Debug)]
    pub struct rms {}
    /**The ends along an axis, and how many elements are equal to them.

```text
ends(x: array, weights: array<real> = none, first: array<int32> = none, side: side = left) -> { values: array, counts: array<int64> }
```

In Rust, it is the method [`Elementwise::ends`](super::Elementwise::ends); [`Elementwise::ends_with`](super::Elementwise::ends_with) sets parameters with defaults.

```text
fn ends<'a, T: Float>(&self, x: impl IntoArray<'a, Self::Array<T>>) -> Result<EndsResult<Self, T>>
```

# Parameters

- `x`: array
- `weights`: array of the real dtype; default `none`, set by [`EndsOptions::weights`](super::options::EndsOptions::weights)
- `first`: array of `i32`; default `none`, set by [`EndsOptions::first`](super::options::EndsOptions::first)
- `side`: a choice of [`Side`](crate::Side); default `left`, set by [`EndsOptions::side`](super::options::EndsOptions::side)

# Returns

[`EndsResult`](super::results::EndsResult): `values`, an array; `counts`, an array of `i64`.

# Errors

- The errors of every op: [`Memory`](crate::Error::Memory) if the result does not fit into memory, [`Backend`](crate::Error::Backend) or [`Device`](crate::Error::Device) for an array of another backend or device, [`Unsupported`](crate::Error::Unsupported) on a backend without the op, [`Library`](crate::Error::Library) for an error of a library.

# Dtypes and accuracy

- `T`: [`Float`](crate::Float): float32, float64, complex64
- Accuracy: exact (either zero may stand for both)

# Implementation

| backend | implementation |
|---|---|
| Numpyish | kernels, in `numpyish::sort::ends` |
| Torch | ops of libtorch, in `torch::sort::ends` |

The row `[op.ends]` of `ops.toml`, line 98, defines the op.

On a GPU, the call waits for 8 bytes from the device: how many there are.

# Example

```
# use backends::{Result, prelude::*};
# fn main() -> Result<()> {
let b = Numpyish::new();
let y = b.ends(&b.asarray([2.0, 2.0])?)?.counts;
// [2]
# assert_eq!(y, b.asarray([2_i64])?);
# Ok(())
# }
```
*/
    #[derive(Clone, Copy, Debug)]
    pub struct ends {}
    /**Whether all elements are equal.

```text
is_flat(x: array) -> bool
```

In Rust, it is the method [`Elementwise::is_flat`](super::Elementwise::is_flat).

```text
fn is_flat<'a, T: IsFlatDtypes>(&self, x: impl IntoArray<'a, Self::Array<T>>) -> Result<bool>
```

# Parameters

- `x`: array

# Returns

A `bool`. The op waits until its value is known.

# Errors

- The errors of every op: [`Memory`](crate::Error::Memory) if the result does not fit into memory, [`Backend`](crate::Error::Backend) or [`Device`](crate::Error::Device) for an array of another backend or device, [`Unsupported`](crate::Error::Unsupported) on a backend without the op, [`Library`](crate::Error::Library) for an error of a library.

# Dtypes and accuracy

- `T`: [`IsFlatDtypes`](super::IsFlatDtypes): float32, complex64
- Accuracy: exact

# Implementation

| backend | implementation |
|---|---|
| Numpyish | other ops, in `is_flat` |
| Torch | other ops, in `is_flat` |

The row `[op.is_flat]` of `ops.toml`, line 112, defines the op.

# Example

```
# use backends::{Result, prelude::*};
# fn main() -> Result<()> {
let b = Numpyish::new();
assert!(b.is_flat(&b.asarray([2.0, 2.0])?)?);
# Ok(())
# }
```
*/
    #[derive(Clone, Copy, Debug)]
    pub struct is_flat {}
}
impl ops::add {
    /// Description of the op's parameters and results, as data.
    pub const INFO: &'static crate::runtime::OpInfo = &crate::runtime::OpInfo::new(
            "add",
            "elementwise",
            "x1 + x2.",
            "add(x1: operand, x2: operand) -> array",
            &[
                crate::runtime::DType::Float32,
                crate::runtime::DType::Float64,
                crate::runtime::DType::Complex64,
            ],
            &[("numpyish", "`x1 + x2` per element"), ("torch", "`torch.add`")],
            "",
            "exact",
            "x1 + x2.\n\n```text\nadd(x1: operand, x2: operand) -> array\n```\n\nIn Rust, it is the method `Elementwise::add`.\n\n```text\nfn add<'a, T: Float, K1, K2, X1: OperandBeside<'a, Self, T, X2, K1>, X2: OperandBeside<'a, Self, T, X1, K2>>(\n    &self,\n    x1: X1,\n    x2: X2,\n) -> Result<Self::Array<T>>\n```\n\n# Parameters\n\n- `x1`: array or scalar, broadcast with the other inputs\n- `x2`: array or scalar, broadcast with the other inputs\n\n# Returns\n\nAn array with the shape to which `x1` and `x2` broadcast.\n\n# Errors\n\n- `Shapes`: the shapes of `x1` and `x2` do not broadcast.\n- The errors of every op: `Memory` if the result does not fit into memory, `Backend` or `Device` for an array of another backend or device, `Unsupported` on a backend without the op, `Library` for an error of a library.\n\n# Dtypes and accuracy\n\n- `T`: `Float`: float32, float64, complex64\n- Accuracy: exact\n\n# Implementation\n\n| backend | implementation |\n|---|---|\n| Numpyish | `x1 + x2` per element |\n| Torch | `torch.add` |\n\nThe row `[op.add]` of `ops.toml`, line 51, defines the op.\n\nIn other libraries: `torch.add`.\n\n# Example\n\n```\nlet b = Numpyish::new();\nlet y = b.add(1.0, &b.asarray([1.0, 2.0])?)?;\n// [2.0, 3.0]\n```\n",
            None,
        )
        .with_to_dtypes(&[])
        .with_params(
            &[
                crate::runtime::ParamInfo::new(
                    "x1",
                    crate::runtime::ParamKind::Operand(crate::runtime::ElementInfo::T),
                    None,
                ),
                crate::runtime::ParamInfo::new(
                    "x2",
                    crate::runtime::ParamKind::Operand(crate::runtime::ElementInfo::T),
                    None,
                ),
            ],
        )
        .with_result(crate::runtime::ResultInfo::One(crate::runtime::ElementInfo::T))
        .with_aliases(&["plus"])
        .with_aten(Some(("aten::add", "Tensor", 2usize)));
    /// Calls the op with values whose dtypes are known at run time. The call compiles this op only.
    #[track_caller]
    pub fn call<B: crate::Backend>(
        b: &B,
        args: &[crate::runtime::Value<B>],
        options: &[(&str, crate::runtime::Value<B>)],
    ) -> crate::runtime::Result<crate::runtime::Value<B>> {
        let args = &crate::runtime::by_name::Args::new(b, Self::INFO, args, options)?;
        crate::runtime::located(
            (|| {
                let typed = || -> crate::runtime::Result<crate::runtime::Value<B>> {
                    <B as crate::runtime::Arrays>::by_dtype(
                        || -> crate::runtime::Result<crate::runtime::Value<B>> {
                            match args.dtype()? {
                                crate::runtime::DType::Float32 => {
                                    __by_name::add::<_, f32>(args)
                                }
                                crate::runtime::DType::Float64 => {
                                    __by_name::add::<_, f64>(args)
                                }
                                crate::runtime::DType::Complex64 => {
                                    __by_name::add::<_, crate::runtime::Complex<f32>>(args)
                                }
                                other => args.no_dtype(other),
                            }
                        },
                        || -> crate::runtime::Result<crate::runtime::Value<B>> {
                            let of = args.dtype()?;
                            crate::runtime::dynamic::with_dtypes(
                                of,
                                of,
                                || match of.kind() {
                                    crate::runtime::DTypeKind::Real => {
                                        __by_name::add::<_, crate::runtime::dynamic::AnyReal>(args)
                                    }
                                    crate::runtime::DTypeKind::Complex => {
                                        __by_name::add::<
                                            _,
                                            crate::runtime::dynamic::AnyComplex,
                                        >(args)
                                    }
                                    _ => args.no_dtype(of),
                                },
                            )
                        },
                    )
                };
                <B as crate::runtime::Arrays>::by_entries(
                    || {
                        args
                            .run_row(Self::ROW)?
                            .ok_or(
                                crate::runtime::Error::unsupported(
                                    Self::INFO.name,
                                    <B as crate::runtime::Arrays>::NAME,
                                ),
                            )
                    },
                    typed,
                )
            })(),
            (::core::file!(), ::core::line!()),
        )
    }
    /// The op's entries, for backends whose library is chosen at run time.
    #[doc(hidden)]
    pub const ROW: &'static crate::runtime::entry::Row = &crate::runtime::entry::Row::new(
            Self::INFO,
        )
        .with_loops(Self::loops)
        .with_numpyish(Self::numpyish)
        .with_libraries(
            &[
                (
                    <crate::runtime::torch::Torch as crate::runtime::Arrays>::NAME,
                    Self::torch,
                ),
            ],
        );
    fn loops(dtype: crate::runtime::DType) -> Option<crate::runtime::entry::EachLoop> {
        match dtype {
            crate::runtime::DType::Float32 => {
                Some(crate::runtime::entry::EachLoop::new::<2usize, f32, ops::add>())
            }
            crate::runtime::DType::Float64 => {
                Some(crate::runtime::entry::EachLoop::new::<2usize, f64, ops::add>())
            }
            crate::runtime::DType::Complex64 => {
                Some(
                    crate::runtime::entry::EachLoop::new::<
                        2usize,
                        crate::runtime::Complex<f32>,
                        ops::add,
                    >(),
                )
            }
            _ => None,
        }
    }
    fn numpyish(
        b: &crate::runtime::numpyish::Numpyish,
        call: &mut crate::runtime::entry::Call<'_, '_>,
    ) -> crate::runtime::Result<crate::runtime::entry::Outputs> {
        crate::runtime::numpyish::entry::each(b, call, &ops::add {}, &[0usize, 1usize])
    }
    fn torch(
        b: &dyn ::core::any::Any,
        call: &mut crate::runtime::entry::Call<'_, '_>,
    ) -> crate::runtime::Result<crate::runtime::entry::Outputs> {
        let b = crate::runtime::entry::backend::<crate::runtime::torch::Torch>(b);
        static ATEN: crate::runtime::torch::Aten = crate::runtime::torch::Aten::new(
            "add",
            "aten::add",
            "Tensor",
            crate::runtime::torch::DtypeStrategy::Direct,
        );
        crate::runtime::torch::entry::called(
            b,
            call,
            &ATEN,
            &[
                crate::runtime::torch::Arg::from(
                    call.operand::<crate::runtime::torch::Torch>(0usize)?,
                ),
                crate::runtime::torch::Arg::from(
                    call.operand::<crate::runtime::torch::Torch>(1usize)?,
                ),
            ],
            crate::runtime::ElementInfo::T.dtype(call.dtype),
        )
    }
}
impl ops::leaky {
    /// Description of the op's parameters and results, as data.
    pub const INFO: &'static crate::runtime::OpInfo = &crate::runtime::OpInfo::new(
            "leaky",
            "elementwise",
            "x where positive, slope * x elsewhere.",
            "leaky(x: array, slope: f64 = 0.01) -> array",
            &[crate::runtime::DType::Float32, crate::runtime::DType::Float64],
            &[
                ("numpyish", "`if x < 0.0 { slope * x } else { x }` per element"),
                ("torch", "`torch.leaky_relu`"),
            ],
            "",
            "exact",
            "x where positive, slope * x elsewhere.\n\n```text\nleaky(x: array, slope: f64 = 0.01) -> array\n```\n\nIn Rust, it is the method `Elementwise::leaky`; `Elementwise::leaky_with` sets parameters with defaults.\n\n```text\nfn leaky<'a, T: Real>(&self, x: impl IntoArray<'a, Self::Array<T>>) -> Result<Self::Array<T>>\n```\n\n# Parameters\n\n- `x`: array\n- `slope`: `f64`; default `0.01`, set by `LeakyOptions::slope`\n\n# Returns\n\nAn array with the shape of `x`.\n\n# Errors\n\n- The errors of every op: `Memory` if the result does not fit into memory, `Backend` or `Device` for an array of another backend or device, `Unsupported` on a backend without the op, `Library` for an error of a library.\n\n# Dtypes and accuracy\n\n- `T`: `Real`: float32, float64\n- Accuracy: exact\n\n# Implementation\n\n| backend | implementation |\n|---|---|\n| Numpyish | `if x < 0.0 { slope * x } else { x }` per element |\n| Torch | `torch.leaky_relu` |\n\nThe row `[op.leaky]` of `ops.toml`, line 61, defines the op.\n\nIn other libraries: `torch.leaky_relu`.\n\n# Example\n\n```\nlet b = Numpyish::new();\nlet y = b.leaky(&b.asarray([1.0, -1.0])?)?;\n// [1.0, -0.01]\n```\n",
            None,
        )
        .with_to_dtypes(&[])
        .with_params(
            &[
                crate::runtime::ParamInfo::new(
                    "x",
                    crate::runtime::ParamKind::Array(crate::runtime::ElementInfo::T),
                    None,
                ),
                crate::runtime::ParamInfo::new(
                    "slope",
                    crate::runtime::ParamKind::Plain(crate::runtime::PlainInfo::F64),
                    Some(crate::runtime::DefaultInfo::Number(0.01f64)),
                ),
            ],
        )
        .with_result(crate::runtime::ResultInfo::One(crate::runtime::ElementInfo::T))
        .with_aten(Some(("aten::leaky_relu", "", 2usize)));
    /// Calls the op with values whose dtypes are known at run time. The call compiles this op only.
    #[track_caller]
    pub fn call<B: crate::Backend>(
        b: &B,
        args: &[crate::runtime::Value<B>],
        options: &[(&str, crate::runtime::Value<B>)],
    ) -> crate::runtime::Result<crate::runtime::Value<B>> {
        let args = &crate::runtime::by_name::Args::new(b, Self::INFO, args, options)?;
        crate::runtime::located(
            (|| {
                let typed = || -> crate::runtime::Result<crate::runtime::Value<B>> {
                    <B as crate::runtime::Arrays>::by_dtype(
                        || -> crate::runtime::Result<crate::runtime::Value<B>> {
                            match args.dtype()? {
                                crate::runtime::DType::Float32 => {
                                    __by_name::leaky::<_, f32>(args)
                                }
                                crate::runtime::DType::Float64 => {
                                    __by_name::leaky::<_, f64>(args)
                                }
                                other => args.no_dtype(other),
                            }
                        },
                        || -> crate::runtime::Result<crate::runtime::Value<B>> {
                            let of = args.dtype()?;
                            crate::runtime::dynamic::with_dtypes(
                                of,
                                of,
                                || match of.kind() {
                                    crate::runtime::DTypeKind::Real => {
                                        __by_name::leaky::<
                                            _,
                                            crate::runtime::dynamic::AnyReal,
                                        >(args)
                                    }
                                    _ => args.no_dtype(of),
                                },
                            )
                        },
                    )
                };
                <B as crate::runtime::Arrays>::by_entries(
                    || {
                        args
                            .run_row(Self::ROW)?
                            .ok_or(
                                crate::runtime::Error::unsupported(
                                    Self::INFO.name,
                                    <B as crate::runtime::Arrays>::NAME,
                                ),
                            )
                    },
                    typed,
                )
            })(),
            (::core::file!(), ::core::line!()),
        )
    }
    /// The op's entries, for backends whose library is chosen at run time.
    #[doc(hidden)]
    pub const ROW: &'static crate::runtime::entry::Row = &crate::runtime::entry::Row::new(
            Self::INFO,
        )
        .with_loops(Self::loops)
        .with_numpyish(Self::numpyish)
        .with_libraries(
            &[
                (
                    <crate::runtime::torch::Torch as crate::runtime::Arrays>::NAME,
                    Self::torch,
                ),
            ],
        );
    fn loops(dtype: crate::runtime::DType) -> Option<crate::runtime::entry::EachLoop> {
        match dtype {
            crate::runtime::DType::Float32 => {
                Some(crate::runtime::entry::EachLoop::new::<1usize, f32, ops::leaky>())
            }
            crate::runtime::DType::Float64 => {
                Some(crate::runtime::entry::EachLoop::new::<1usize, f64, ops::leaky>())
            }
            _ => None,
        }
    }
    fn numpyish(
        b: &crate::runtime::numpyish::Numpyish,
        call: &mut crate::runtime::entry::Call<'_, '_>,
    ) -> crate::runtime::Result<crate::runtime::entry::Outputs> {
        crate::runtime::numpyish::entry::each(
            b,
            call,
            &ops::leaky {
                slope: call.f64(1usize),
            },
            &[0usize],
        )
    }
    fn torch(
        b: &dyn ::core::any::Any,
        call: &mut crate::runtime::entry::Call<'_, '_>,
    ) -> crate::runtime::Result<crate::runtime::entry::Outputs> {
        let b = crate::runtime::entry::backend::<crate::runtime::torch::Torch>(b);
        static ATEN: crate::runtime::torch::Aten = crate::runtime::torch::Aten::new(
            "leaky",
            "aten::leaky_relu",
            "",
            crate::runtime::torch::DtypeStrategy::Float32,
        );
        crate::runtime::torch::entry::called(
            b,
            call,
            &ATEN,
            &[
                crate::runtime::torch::Arg::from(
                    call.array::<crate::runtime::torch::Torch>(0usize)?,
                ),
                crate::runtime::torch::Arg::from(call.f64(1usize)),
            ],
            crate::runtime::ElementInfo::T.dtype(call.dtype),
        )
    }
}
impl ops::threshold {
    /// Description of the op's parameters and results, as data.
    pub const INFO: &'static crate::runtime::OpInfo = &crate::runtime::OpInfo::new(
            "threshold",
            "elementwise",
            "x where it is above the limit, the value elsewhere.",
            "threshold(x: array, limit: scalar, value: scalar) -> array",
            &[crate::runtime::DType::Float32, crate::runtime::DType::Float64],
            &[
                ("numpyish", "kernels, in `numpyish::select::threshold`"),
                ("torch", "`torch.threshold`"),
            ],
            "",
            "exact",
            "x where it is above the limit, the value elsewhere.\n\n```text\nthreshold(x: array, limit: scalar, value: scalar) -> array\n```\n\nIn Rust, it is the method `Elementwise::threshold`.\n\n```text\nfn threshold<'a, T: Real>(\n    &self,\n    x: impl IntoArray<'a, Self::Array<T>>,\n    limit: impl Into<Scalar<T>>,\n    value: impl Into<Scalar<T>>,\n) -> Result<Self::Array<T>>\n```\n\n# Parameters\n\n- `x`: array\n- `limit`: a value of the dtype\n- `value`: a value of the dtype\n\n# Returns\n\nAn array.\n\n# Errors\n\n- The errors of every op: `Memory` if the result does not fit into memory, `Backend` or `Device` for an array of another backend or device, `Unsupported` on a backend without the op, `Library` for an error of a library.\n\n# Dtypes and accuracy\n\n- `T`: `Real`: float32, float64\n- Accuracy: exact\n\n# Implementation\n\n| backend | implementation |\n|---|---|\n| Numpyish | kernels, in `numpyish::select::threshold` |\n| Torch | `torch.threshold` |\n\nThe row `[op.threshold]` of `ops.toml`, line 70, defines the op.\n\nIn other libraries: `torch.threshold`.\n\n# Example\n\n```\nlet b = Numpyish::new();\nlet y = b.threshold(&b.asarray([1.0, 2.0])?, 1.0, 0.0)?;\n// [0.0, 2.0]\n```\n",
            None,
        )
        .with_to_dtypes(&[])
        .with_params(
            &[
                crate::runtime::ParamInfo::new(
                    "x",
                    crate::runtime::ParamKind::Array(crate::runtime::ElementInfo::T),
                    None,
                ),
                crate::runtime::ParamInfo::new(
                    "limit",
                    crate::runtime::ParamKind::Scalar,
                    None,
                ),
                crate::runtime::ParamInfo::new(
                    "value",
                    crate::runtime::ParamKind::Scalar,
                    None,
                ),
            ],
        )
        .with_result(crate::runtime::ResultInfo::One(crate::runtime::ElementInfo::T))
        .with_aten(Some(("aten::threshold", "", 3usize)));
    /// Calls the op with values whose dtypes are known at run time. The call compiles this op only.
    #[track_caller]
    pub fn call<B: crate::Backend>(
        b: &B,
        args: &[crate::runtime::Value<B>],
        options: &[(&str, crate::runtime::Value<B>)],
    ) -> crate::runtime::Result<crate::runtime::Value<B>> {
        let args = &crate::runtime::by_name::Args::new(b, Self::INFO, args, options)?;
        crate::runtime::located(
            (|| {
                let typed = || -> crate::runtime::Result<crate::runtime::Value<B>> {
                    match args.dtype()? {
                        crate::runtime::DType::Float32 => {
                            __by_name::threshold::<_, f32>(args)
                        }
                        crate::runtime::DType::Float64 => {
                            __by_name::threshold::<_, f64>(args)
                        }
                        other => args.no_dtype(other),
                    }
                };
                <B as crate::runtime::Arrays>::by_entries(
                    || match args.run_row(Self::ROW)? {
                        Some(result) => Ok(result),
                        None => typed(),
                    },
                    typed,
                )
            })(),
            (::core::file!(), ::core::line!()),
        )
    }
    /// The op's entries, for backends whose library is chosen at run time.
    #[doc(hidden)]
    pub const ROW: &'static crate::runtime::entry::Row = &crate::runtime::entry::Row::new(
            Self::INFO,
        )
        .with_libraries(
            &[
                (
                    <crate::runtime::torch::Torch as crate::runtime::Arrays>::NAME,
                    Self::torch,
                ),
            ],
        );
    fn torch(
        b: &dyn ::core::any::Any,
        call: &mut crate::runtime::entry::Call<'_, '_>,
    ) -> crate::runtime::Result<crate::runtime::entry::Outputs> {
        let b = crate::runtime::entry::backend::<crate::runtime::torch::Torch>(b);
        static ATEN: crate::runtime::torch::Aten = crate::runtime::torch::Aten::new(
            "threshold",
            "aten::threshold",
            "",
            crate::runtime::torch::DtypeStrategy::Direct,
        );
        crate::runtime::torch::entry::called(
            b,
            call,
            &ATEN,
            &[
                crate::runtime::torch::Arg::from(
                    call.array::<crate::runtime::torch::Torch>(0usize)?,
                ),
                crate::runtime::torch::Arg::from(call.element(1usize)),
                crate::runtime::torch::Arg::from(call.element(2usize)),
            ],
            crate::runtime::ElementInfo::T.dtype(call.dtype),
        )
    }
}
impl ops::sum {
    /// Description of the op's parameters and results, as data.
    pub const INFO: &'static crate::runtime::OpInfo = &crate::runtime::OpInfo::new(
            "sum",
            "elementwise",
            "Sum.",
            "sum(x: array, axis: axes, keepdims: bool = false) -> array",
            &[
                crate::runtime::DType::Float32,
                crate::runtime::DType::Float64,
                crate::runtime::DType::Complex64,
            ],
            &[
                ("numpyish", "kernels, in `numpyish::reduction::sum`"),
                ("torch", "ops of libtorch, in `torch::reduction::sum`"),
            ],
            "",
            "exact",
            "Sum.\n\n```text\nsum(x: array, axis: axes, keepdims: bool = false) -> array\n```\n\nIn Rust, it is the method `Elementwise::sum`; `Elementwise::sum_with` sets parameters with defaults.\n\n```text\nfn sum<'a, T: Float>(\n    &self,\n    x: impl IntoArray<'a, Self::Array<T>>,\n    axis: impl Into<Axes>,\n) -> Result<Self::Array<T>>\n```\n\n# Parameters\n\n- `x`: array\n- `axis`: axes, such as `..` (all axes), `0`, `-1` or `[0, 2]`\n- `keepdims`: `bool`; default `false`, set by `SumOptions::keepdims`\n\n# Returns\n\nAn array without the reduced axes; with `keepdims`, these axes stay, with length 1.\n\n# Errors\n\n- `Axis`: `axis` names an axis that does not exist.\n- `RepeatedAxis`: `axis` names an axis twice.\n- The errors of every op: `Memory` if the result does not fit into memory, `Backend` or `Device` for an array of another backend or device, `Unsupported` on a backend without the op, `Library` for an error of a library.\n\n# Dtypes and accuracy\n\n- `T`: `Float`: float32, float64, complex64\n- Accuracy: exact\n\n# Implementation\n\n| backend | implementation |\n|---|---|\n| Numpyish | kernels, in `numpyish::reduction::sum` |\n| Torch | ops of libtorch, in `torch::reduction::sum` |\n\nThe row `[op.sum]` of `ops.toml`, line 79, defines the op.\n\n# See also\n\n- Sums: `rms`\n\n# Example\n\n```\nlet b = Numpyish::new();\nlet y = b.sum(&b.asarray([1.0, 2.0])?, ..)?;\n// 3.0\n```\n",
            None,
        )
        .with_to_dtypes(&[])
        .with_params(
            &[
                crate::runtime::ParamInfo::new(
                    "x",
                    crate::runtime::ParamKind::Array(crate::runtime::ElementInfo::T),
                    None,
                ),
                crate::runtime::ParamInfo::new(
                    "axis",
                    crate::runtime::ParamKind::Axes,
                    None,
                ),
                crate::runtime::ParamInfo::new(
                    "keepdims",
                    crate::runtime::ParamKind::Plain(crate::runtime::PlainInfo::Bool),
                    Some(crate::runtime::DefaultInfo::Bool(false)),
                ),
            ],
        )
        .with_result(crate::runtime::ResultInfo::One(crate::runtime::ElementInfo::T))
        .with_aten(None);
    /// Calls the op with values whose dtypes are known at run time. The call compiles this op only.
    #[track_caller]
    pub fn call<B: crate::Backend>(
        b: &B,
        args: &[crate::runtime::Value<B>],
        options: &[(&str, crate::runtime::Value<B>)],
    ) -> crate::runtime::Result<crate::runtime::Value<B>> {
        let args = &crate::runtime::by_name::Args::new(b, Self::INFO, args, options)?;
        crate::runtime::located(
            (|| {
                match args.dtype()? {
                    crate::runtime::DType::Float32 => __by_name::sum::<_, f32>(args),
                    crate::runtime::DType::Float64 => __by_name::sum::<_, f64>(args),
                    crate::runtime::DType::Complex64 => {
                        __by_name::sum::<_, crate::runtime::Complex<f32>>(args)
                    }
                    other => args.no_dtype(other),
                }
            })(),
            (::core::file!(), ::core::line!()),
        )
    }
}
impl ops::rms {
    /// Description of the op's parameters and results, as data.
    pub const INFO: &'static crate::runtime::OpInfo = &crate::runtime::OpInfo::new(
            "rms",
            "elementwise",
            "A composition.",
            "rms(x: array, axis: axes, keepdims: bool = false) -> array",
            &[
                crate::runtime::DType::Float32,
                crate::runtime::DType::Float64,
                crate::runtime::DType::Complex64,
            ],
            &[
                (
                    "numpyish",
                    "`{ let s = add(x, x); sum(s, axis, keepdims = keepdims) }`",
                ),
                ("torch", "`{ let s = add(x, x); sum(s, axis, keepdims = keepdims) }`"),
            ],
            "",
            "exact",
            "A composition.\n\n```text\nrms(x: array, axis: axes, keepdims: bool = false) -> array\n```\n\nIn Rust, it is the method `Elementwise::rms`; `Elementwise::rms_with` sets parameters with defaults.\n\n```text\nfn rms<'a, T: Float>(\n    &self,\n    x: impl IntoArray<'a, Self::Array<T>>,\n    axis: impl Into<Axes>,\n) -> Result<Self::Array<T>>\n```\n\n# Parameters\n\n- `x`: array\n- `axis`: axes, such as `..` (all axes), `0`, `-1` or `[0, 2]`\n- `keepdims`: `bool`; default `false`, set by `RmsOptions::keepdims`\n\n# Returns\n\nAn array without the reduced axes; with `keepdims`, these axes stay, with length 1.\n\n# Errors\n\n- `Axis`: `axis` names an axis that does not exist.\n- `RepeatedAxis`: `axis` names an axis twice.\n- The errors of every op: `Memory` if the result does not fit into memory, `Backend` or `Device` for an array of another backend or device, `Unsupported` on a backend without the op, `Library` for an error of a library.\n\n# Dtypes and accuracy\n\n- `T`: `Float`: float32, float64, complex64\n- Accuracy: exact\n\n# Implementation\n\n| backend | implementation |\n|---|---|\n| Numpyish | `{ let s = add(x, x); sum(s, axis, keepdims = keepdims) }` |\n| Torch | `{ let s = add(x, x); sum(s, axis, keepdims = keepdims) }` |\n\nThe row `[op.rms]` of `ops.toml`, line 87, defines the op.\n\n# Gradients\n\nThe gradients of the ops of which this op is composed.\n\n# See also\n\n- Sums: `sum`\n\n# Example\n\n```\nlet b = Numpyish::new();\nlet x = b.asarray([1.0, 2.0])?;\nlet y = b.rms(&x, ..)?;\n// 6.0\n```\n",
            None,
        )
        .with_to_dtypes(&[])
        .with_params(
            &[
                crate::runtime::ParamInfo::new(
                    "x",
                    crate::runtime::ParamKind::Array(crate::runtime::ElementInfo::T),
                    None,
                ),
                crate::runtime::ParamInfo::new(
                    "axis",
                    crate::runtime::ParamKind::Axes,
                    None,
                ),
                crate::runtime::ParamInfo::new(
                    "keepdims",
                    crate::runtime::ParamKind::Plain(crate::runtime::PlainInfo::Bool),
                    Some(crate::runtime::DefaultInfo::Bool(false)),
                ),
            ],
        )
        .with_result(crate::runtime::ResultInfo::One(crate::runtime::ElementInfo::T))
        .with_aten(None);
    /// Calls the op with values whose dtypes are known at run time. The call compiles this op only.
    #[track_caller]
    pub fn call<B: crate::Backend>(
        b: &B,
        args: &[crate::runtime::Value<B>],
        options: &[(&str, crate::runtime::Value<B>)],
    ) -> crate::runtime::Result<crate::runtime::Value<B>> {
        let args = &crate::runtime::by_name::Args::new(b, Self::INFO, args, options)?;
        crate::runtime::located(
            (|| {
                let typed = || -> crate::runtime::Result<crate::runtime::Value<B>> {
                    <B as crate::runtime::Arrays>::by_dtype(
                        || -> crate::runtime::Result<crate::runtime::Value<B>> {
                            match args.dtype()? {
                                crate::runtime::DType::Float32 => {
                                    __by_name::rms::<_, f32>(args)
                                }
                                crate::runtime::DType::Float64 => {
                                    __by_name::rms::<_, f64>(args)
                                }
                                crate::runtime::DType::Complex64 => {
                                    __by_name::rms::<_, crate::runtime::Complex<f32>>(args)
                                }
                                other => args.no_dtype(other),
                            }
                        },
                        || -> crate::runtime::Result<crate::runtime::Value<B>> {
                            let of = args.dtype()?;
                            crate::runtime::dynamic::with_dtypes(
                                of,
                                of,
                                || match of.kind() {
                                    crate::runtime::DTypeKind::Real => {
                                        __by_name::rms::<_, crate::runtime::dynamic::AnyReal>(args)
                                    }
                                    crate::runtime::DTypeKind::Complex => {
                                        __by_name::rms::<
                                            _,
                                            crate::runtime::dynamic::AnyComplex,
                                        >(args)
                                    }
                                    _ => args.no_dtype(of),
                                },
                            )
                        },
                    )
                };
                <B as crate::runtime::Arrays>::by_generic_entries(
                    || {
                        args
                            .run_row(Self::ROW)?
                            .ok_or(
                                crate::runtime::Error::unsupported(
                                    Self::INFO.name,
                                    <B as crate::runtime::Arrays>::NAME,
                                ),
                            )
                    },
                    typed,
                )
            })(),
            (::core::file!(), ::core::line!()),
        )
    }
    /// The op's entries, for backends whose library is chosen at run time.
    #[doc(hidden)]
    pub const ROW: &'static crate::runtime::entry::Row = &crate::runtime::entry::Row::new(
            Self::INFO,
        )
        .with_generic(Self::generic);
    fn generic(
        b: &dyn ::core::any::Any,
        call: &mut crate::runtime::entry::Call<'_, '_>,
    ) -> crate::runtime::Result<crate::runtime::entry::Outputs> {
        #[allow(clippy::all)]
        fn generic<T: crate::runtime::Float>(
            b: &crate::AnyBackend,
            call: &crate::runtime::entry::Call<'_, '_>,
        ) -> crate::runtime::Result<crate::runtime::entry::Outputs> {
            let x = call.any_array::<T>(0usize)?;
            let axis = call.axes(1usize);
            let keepdims = call.bool(2usize);
            Ok(
                crate::runtime::entry::Outputs::of_array::<
                    T,
                >(
                    __compose::rms(b, &x, axis, keepdims)
                        .map_err(|why| why.within("rms"))?,
                ),
            )
        }
        let b = crate::runtime::entry::backend::<crate::AnyBackend>(b);
        let (of, to) = (call.dtype, call.to);
        crate::runtime::dynamic::with_dtypes(
            of,
            to,
            || match of.kind() {
                crate::runtime::DTypeKind::Real => {
                    generic::<crate::runtime::dynamic::AnyReal>(b, call)
                }
                _ => generic::<crate::runtime::dynamic::AnyComplex>(b, call),
            },
        )
    }
}
impl ops::ends {
    /// Description of the op's parameters and results, as data.
    pub const INFO: &'static crate::runtime::OpInfo = &crate::runtime::OpInfo::new(
            "ends",
            "elementwise",
            "The ends along an axis, and how many elements are equal to them.",
            "ends(x: array, weights: array<real> = none, first: array<int32> = none, side: side = left) -> { values: array, counts: array<int64> }",
            &[
                crate::runtime::DType::Float32,
                crate::runtime::DType::Float64,
                crate::runtime::DType::Complex64,
            ],
            &[
                ("numpyish", "kernels, in `numpyish::sort::ends`"),
                ("torch", "ops of libtorch, in `torch::sort::ends`"),
            ],
            "",
            "exact",
            "The ends along an axis, and how many elements are equal to them.\n\n```text\nends(x: array, weights: array<real> = none, first: array<int32> = none, side: side = left) -> { values: array, counts: array<int64> }\n```\n\nIn Rust, it is the method `Elementwise::ends`; `Elementwise::ends_with` sets parameters with defaults.\n\n```text\nfn ends<'a, T: Float>(&self, x: impl IntoArray<'a, Self::Array<T>>) -> Result<EndsResult<Self, T>>\n```\n\n# Parameters\n\n- `x`: array\n- `weights`: array of the real dtype; default `none`, set by `EndsOptions::weights`\n- `first`: array of `i32`; default `none`, set by `EndsOptions::first`\n- `side`: a choice of `Side`; default `left`, set by `EndsOptions::side`\n\n# Returns\n\n`EndsResult`: `values`, an array; `counts`, an array of `i64`.\n\n# Errors\n\n- The errors of every op: `Memory` if the result does not fit into memory, `Backend` or `Device` for an array of another backend or device, `Unsupported` on a backend without the op, `Library` for an error of a library.\n\n# Dtypes and accuracy\n\n- `T`: `Float`: float32, float64, complex64\n- Accuracy: exact (either zero may stand for both)\n\n# Implementation\n\n| backend | implementation |\n|---|---|\n| Numpyish | kernels, in `numpyish::sort::ends` |\n| Torch | ops of libtorch, in `torch::sort::ends` |\n\nThe row `[op.ends]` of `ops.toml`, line 98, defines the op.\n\nOn a GPU, the call waits for 8 bytes from the device: how many there are.\n\n# Example\n\n```\nlet b = Numpyish::new();\nlet y = b.ends(&b.asarray([2.0, 2.0])?)?.counts;\n// [2]\n```\n",
            None,
        )
        .with_to_dtypes(&[])
        .with_params(
            &[
                crate::runtime::ParamInfo::new(
                    "x",
                    crate::runtime::ParamKind::Array(crate::runtime::ElementInfo::T),
                    None,
                ),
                crate::runtime::ParamInfo::new(
                    "weights",
                    crate::runtime::ParamKind::Array(crate::runtime::ElementInfo::Real),
                    Some(crate::runtime::DefaultInfo::None),
                ),
                crate::runtime::ParamInfo::new(
                    "first",
                    crate::runtime::ParamKind::Array(crate::runtime::ElementInfo::Int32),
                    Some(crate::runtime::DefaultInfo::None),
                ),
                crate::runtime::ParamInfo::new(
                    "side",
                    crate::runtime::ParamKind::Choice(&["left", "right"]),
                    Some(crate::runtime::DefaultInfo::Choice("left")),
                ),
            ],
        )
        .with_result(
            crate::runtime::ResultInfo::Fields(
                &[
                    ("values", crate::runtime::ElementInfo::T),
                    ("counts", crate::runtime::ElementInfo::Int64),
                ],
            ),
        )
        .with_aten(None);
    /// Calls the op with values whose dtypes are known at run time. The call compiles this op only.
    #[track_caller]
    pub fn call<B: crate::Backend>(
        b: &B,
        args: &[crate::runtime::Value<B>],
        options: &[(&str, crate::runtime::Value<B>)],
    ) -> crate::runtime::Result<crate::runtime::Value<B>> {
        let args = &crate::runtime::by_name::Args::new(b, Self::INFO, args, options)?;
        crate::runtime::located(
            (|| {
                match args.dtype()? {
                    crate::runtime::DType::Float32 => __by_name::ends::<_, f32>(args),
                    crate::runtime::DType::Float64 => __by_name::ends::<_, f64>(args),
                    crate::runtime::DType::Complex64 => {
                        __by_name::ends::<_, crate::runtime::Complex<f32>>(args)
                    }
                    other => args.no_dtype(other),
                }
            })(),
            (::core::file!(), ::core::line!()),
        )
    }
}
impl ops::is_flat {
    /// Description of the op's parameters and results, as data.
    pub const INFO: &'static crate::runtime::OpInfo = &crate::runtime::OpInfo::new(
            "is_flat",
            "elementwise",
            "Whether all elements are equal.",
            "is_flat(x: array) -> bool",
            &[crate::runtime::DType::Float32, crate::runtime::DType::Complex64],
            &[
                ("numpyish", "other ops, in `is_flat`"),
                ("torch", "other ops, in `is_flat`"),
            ],
            "",
            "exact",
            "Whether all elements are equal.\n\n```text\nis_flat(x: array) -> bool\n```\n\nIn Rust, it is the method `Elementwise::is_flat`.\n\n```text\nfn is_flat<'a, T: IsFlatDtypes>(&self, x: impl IntoArray<'a, Self::Array<T>>) -> Result<bool>\n```\n\n# Parameters\n\n- `x`: array\n\n# Returns\n\nA `bool`. The op waits until its value is known.\n\n# Errors\n\n- The errors of every op: `Memory` if the result does not fit into memory, `Backend` or `Device` for an array of another backend or device, `Unsupported` on a backend without the op, `Library` for an error of a library.\n\n# Dtypes and accuracy\n\n- `T`: `IsFlatDtypes`: float32, complex64\n- Accuracy: exact\n\n# Implementation\n\n| backend | implementation |\n|---|---|\n| Numpyish | other ops, in `is_flat` |\n| Torch | other ops, in `is_flat` |\n\nThe row `[op.is_flat]` of `ops.toml`, line 112, defines the op.\n\n# Example\n\n```\nlet b = Numpyish::new();\nassert!(b.is_flat(&b.asarray([2.0, 2.0])?)?);\n```\n",
            None,
        )
        .with_to_dtypes(&[])
        .with_params(
            &[
                crate::runtime::ParamInfo::new(
                    "x",
                    crate::runtime::ParamKind::Array(crate::runtime::ElementInfo::T),
                    None,
                ),
            ],
        )
        .with_result(crate::runtime::ResultInfo::Plain(crate::runtime::PlainInfo::Bool))
        .with_aten(None);
    /// Calls the op with values whose dtypes are known at run time. The call compiles this op only.
    #[track_caller]
    pub fn call<B: crate::Backend>(
        b: &B,
        args: &[crate::runtime::Value<B>],
        options: &[(&str, crate::runtime::Value<B>)],
    ) -> crate::runtime::Result<crate::runtime::Value<B>> {
        let args = &crate::runtime::by_name::Args::new(b, Self::INFO, args, options)?;
        crate::runtime::located(
            (|| {
                match args.dtype()? {
                    crate::runtime::DType::Float32 => __by_name::is_flat::<_, f32>(args),
                    crate::runtime::DType::Complex64 => {
                        __by_name::is_flat::<_, crate::runtime::Complex<f32>>(args)
                    }
                    other => args.no_dtype(other),
                }
            })(),
            (::core::file!(), ::core::line!()),
        )
    }
}
/// Descriptions of all ops of the table, as data.
pub const OPS: &[crate::runtime::OpInfo] = &[
    *ops::add::INFO,
    *ops::leaky::INFO,
    *ops::threshold::INFO,
    *ops::sum::INFO,
    *ops::rms::INFO,
    *ops::ends::INFO,
    *ops::is_flat::INFO,
];
pub mod options {
    /*!Parameters with defaults: a struct for each op of [`ops`](super::ops) that has such parameters.

`new` returns the defaults, and each parameter has a method of its name that sets it. The op `name` takes the struct as `b.name_with(.., NameOptions::new().parameter(value))`.*/
    use super::*;
    ///Parameters of [`leaky`](super::ops::leaky) that have a default.
    #[derive(Clone, Copy, Debug, PartialEq)]
    #[non_exhaustive]
    pub struct LeakyOptions {
        ///Default: `0.01`.
        pub slope: f64,
    }
    impl LeakyOptions {
        /// Returns the defaults of all parameters.
        #[inline]
        #[must_use]
        pub fn new() -> Self {
            Self { slope: 0.01f64 }
        }
        ///Sets `slope` (default `0.01`).
        #[inline]
        #[must_use]
        pub fn slope(mut self, slope: f64) -> Self {
            self.slope = slope;
            self
        }
    }
    impl Default for LeakyOptions {
        #[inline]
        fn default() -> Self {
            Self::new()
        }
    }
    ///Parameters of [`sum`](super::ops::sum) that have a default.
    #[derive(Clone, Copy, Debug, PartialEq)]
    #[non_exhaustive]
    pub struct SumOptions {
        ///Default: `false`.
        pub keepdims: bool,
    }
    impl SumOptions {
        /// Returns the defaults of all parameters.
        #[inline]
        #[must_use]
        pub fn new() -> Self {
            Self { keepdims: false }
        }
        ///Sets `keepdims` (default `false`).
        #[inline]
        #[must_use]
        pub fn keepdims(mut self, keepdims: bool) -> Self {
            self.keepdims = keepdims;
            self
        }
    }
    impl Default for SumOptions {
        #[inline]
        fn default() -> Self {
            Self::new()
        }
    }
    ///Parameters of [`rms`](super::ops::rms) that have a default.
    #[derive(Clone, Copy, Debug, PartialEq)]
    #[non_exhaustive]
    pub struct RmsOptions {
        ///Default: `false`.
        pub keepdims: bool,
    }
    impl RmsOptions {
        /// Returns the defaults of all parameters.
        #[inline]
        #[must_use]
        pub fn new() -> Self {
            Self { keepdims: false }
        }
        ///Sets `keepdims` (default `false`).
        #[inline]
        #[must_use]
        pub fn keepdims(mut self, keepdims: bool) -> Self {
            self.keepdims = keepdims;
            self
        }
    }
    impl Default for RmsOptions {
        #[inline]
        fn default() -> Self {
            Self::new()
        }
    }
    ///Parameters of [`ends`](super::ops::ends) that have a default.
    #[derive(Clone, Debug)]
    #[non_exhaustive]
    pub struct EndsOptions<'a, A0: Clone + 'a, A1: Clone + 'a> {
        ///Default: `none`.
        pub weights: Option<::std::borrow::Cow<'a, A0>>,
        ///Default: `none`.
        pub first: Option<::std::borrow::Cow<'a, A1>>,
        ///Default: `left`.
        pub side: crate::runtime::Side,
    }
    impl<'a, A0: Clone + 'a, A1: Clone + 'a> EndsOptions<'a, A0, A1> {
        /// Returns the defaults of all parameters.
        #[inline]
        #[must_use]
        pub fn new() -> Self {
            Self {
                weights: None,
                first: None,
                side: crate::runtime::Side::Left,
            }
        }
        ///Sets `weights` (default `none`).
        #[inline]
        #[must_use]
        pub fn weights(
            mut self,
            weights: impl crate::runtime::IntoArray<'a, A0>,
        ) -> Self {
            self.weights = Some(weights.into_array());
            self
        }
        ///Sets `first` (default `none`).
        #[inline]
        #[must_use]
        pub fn first(mut self, first: impl crate::runtime::IntoArray<'a, A1>) -> Self {
            self.first = Some(first.into_array());
            self
        }
        ///Sets `side` (default `left`).
        #[inline]
        #[must_use]
        pub fn side(mut self, side: crate::runtime::Side) -> Self {
            self.side = side;
            self
        }
    }
    impl<'a, A0: Clone + 'a, A1: Clone + 'a> Default for EndsOptions<'a, A0, A1> {
        #[inline]
        fn default() -> Self {
            Self::new()
        }
    }
}
#[doc(no_inline)]
pub use options::*;
pub mod results {
    //!Results of ops that return several arrays: a struct for each such op of [`ops`](super::ops).
    use super::*;
    ///Result of [`ends`](super::ops::ends).
    #[derive(Clone)]
    pub struct EndsResult<B: crate::runtime::Arrays, T: crate::runtime::Float> {
        ///An array.
        pub values: B::Array<T>,
        ///An array of `i64`.
        pub counts: B::Array<i64>,
    }
    impl<B: crate::runtime::Arrays, T: crate::runtime::Float> EndsResult<B, T> {
        ///Returns the arrays in the order of the fields.
        pub fn into_parts(self) -> (B::Array<T>, B::Array<i64>) {
            (self.values, self.counts)
        }
    }
    impl<
        B: crate::runtime::Arrays,
        T: crate::runtime::Float,
    > From<(B::Array<T>, B::Array<i64>)> for EndsResult<B, T> {
        fn from((values, counts): (B::Array<T>, B::Array<i64>)) -> Self {
            Self { values, counts }
        }
    }
    impl<B: crate::runtime::Arrays, T: crate::runtime::Float> ::core::fmt::Debug
    for EndsResult<B, T> {
        fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
            f.debug_struct("EndsResult")
                .field("values", &self.values)
                .field("counts", &self.counts)
                .finish()
        }
    }
}
#[doc(no_inline)]
pub use results::*;
#[doc(hidden)]
#[allow(unused_imports, unused_parens, non_camel_case_types, clippy::all)]
pub mod __each {
    use crate::runtime as rt;
    #[doc(hidden)]
    impl<B: super::Elementwise, T: crate::runtime::Float> rt::formula::Call<2usize, B, T>
    for super::ops::add {
        fn call(
            &self,
            b: &B,
            [x0,
            x1,
            ]: [rt::Operand<'_, B, T>; 2usize],
        ) -> rt::Result<B::Array<<Self as rt::Each<2usize, T>>::Out>> {
            b.add(x0, x1)
        }
    }
    #[doc(hidden)]
    impl<T: crate::runtime::Float> rt::Each<2usize, T> for super::ops::add {
        type Out = T;
        #[inline(always)]
        fn apply(&self, &[x1, x2]: &[T; 2usize]) -> T {
            rt::Float::plus(x1, x2)
        }
    }
    #[doc(hidden)]
    impl rt::EachSource for super::ops::add {
        const NAME: &'static str = "add";
        const CUDA: &'static str = "op_plus(x0, x1)";
        const INPUTS: &'static [&'static str] = &["x0", "x1"];
        const ROW: Option<&'static rt::entry::Row> = Some(super::ops::add::ROW);
        const PARAMS: &'static [&'static str] = &[];
        fn params(&self) -> Vec<f64> {
            vec![]
        }
        const TABLED: &'static [rt::DType] = &[
            rt::DType::Float32,
            rt::DType::Float64,
            rt::DType::Complex64,
        ];
        fn table() -> Option<&'static rt::numpyish::kernel::Table<super::ops::add>> {
            static TABLE: rt::numpyish::kernel::Table<super::ops::add> = rt::numpyish::kernel::Table::new(
                &[
                    rt::numpyish::kernel::OpKernel::<
                        2usize,
                        rt::dtype_type!(Float32),
                        super::ops::add,
                    >::KERNEL,
                    rt::numpyish::kernel::OpKernel::<
                        2usize,
                        rt::dtype_type!(Float64),
                        super::ops::add,
                    >::KERNEL,
                    rt::numpyish::kernel::OpKernel::<
                        2usize,
                        rt::dtype_type!(Complex64),
                        super::ops::add,
                    >::KERNEL,
                ],
            );
            Some(&TABLE)
        }
    }
    #[doc(hidden)]
    impl Default for super::ops::leaky {
        fn default() -> Self {
            let options = super::options::LeakyOptions::new();
            Self {
                slope: options.slope as f64,
            }
        }
    }
    #[doc(hidden)]
    impl<B: super::Elementwise, T: crate::runtime::Real> rt::formula::Call<1usize, B, T>
    for super::ops::leaky {
        fn call(
            &self,
            b: &B,
            [x0,
            ]: [rt::Operand<'_, B, T>; 1usize],
        ) -> rt::Result<B::Array<<Self as rt::Each<1usize, T>>::Out>> {
            b.leaky_with(
                rt::formula::whole(b, x0)?,
                super::options::LeakyOptions::new().slope(self.slope),
            )
        }
    }
    #[doc(hidden)]
    impl<T: crate::runtime::Real> rt::Each<1usize, T> for super::ops::leaky {
        type Out = T;
        #[inline(always)]
        fn apply(&self, &[x]: &[T; 1usize]) -> T {
            let Self { slope, .. } = *self;
            let x = rt::Real::widened(x);
            rt::Real::narrowed(
                if PartialOrd::lt(&x, &rt::Element::from_f64(0f64)) {
                    rt::Float::times(rt::Element::from_f64(slope), x)
                } else {
                    x
                },
            )
        }
    }
    #[doc(hidden)]
    impl rt::EachSource for super::ops::leaky {
        const NAME: &'static str = "leaky";
        const CUDA: &'static str = "((Widened<T>(x0) < op_of<Widened<T>>(0.0)) ? op_times(op_of<Widened<T>>(p0), Widened<T>(x0)) : Widened<T>(x0))";
        const INPUTS: &'static [&'static str] = &["x0"];
        const ROW: Option<&'static rt::entry::Row> = Some(super::ops::leaky::ROW);
        const PARAMS: &'static [&'static str] = &["p0"];
        fn params(&self) -> Vec<f64> {
            vec![self.slope]
        }
        const TABLED: &'static [rt::DType] = &[rt::DType::Float32, rt::DType::Float64];
        fn table() -> Option<&'static rt::numpyish::kernel::Table<super::ops::leaky>> {
            static TABLE: rt::numpyish::kernel::Table<super::ops::leaky> = rt::numpyish::kernel::Table::new(
                &[
                    rt::numpyish::kernel::OpKernel::<
                        1usize,
                        rt::dtype_type!(Float32),
                        super::ops::leaky,
                    >::KERNEL,
                    rt::numpyish::kernel::OpKernel::<
                        1usize,
                        rt::dtype_type!(Float64),
                        super::ops::leaky,
                    >::KERNEL,
                ],
            );
            Some(&TABLE)
        }
    }
}
#[doc(hidden)]
#[allow(unused_imports, clippy::all)]
pub mod __compose {
    use super::*;
    pub fn rms<B: crate::Backend, T: crate::runtime::Float>(
        b: &B,
        x: &B::Array<T>,
        axis: crate::runtime::Axes,
        keepdims: bool,
    ) -> crate::runtime::Result<B::Array<T>> {
        Ok({
            let s = b.add(x, x)?;
            b.sum_with(
                &s,
                axis,
                {
                    #[allow(unused_mut)]
                    let mut options = options::SumOptions::new();
                    options.keepdims = keepdims;
                    options
                },
            )?
        })
    }
}
///The dtypes of the set `is_flat_dtypes`: float32, complex64.
#[diagnostic::on_unimplemented(
    message = "the dtypes of this op are float32, complex64, and `{Self}` is none of them"
)]
pub trait IsFlatDtypes: crate::runtime::WideFloat {}
impl IsFlatDtypes for f32 {}
impl IsFlatDtypes for crate::runtime::Complex<f32> {}
#[doc(hidden)]
#[allow(unused_imports, clippy::all)]
pub mod __by_name {
    use super::*;
    pub fn add<B: crate::Backend, T: crate::runtime::Float>(
        args: &crate::runtime::by_name::Args<'_, B>,
    ) -> crate::runtime::Result<crate::runtime::Value<B>> {
        let result = args
            .b
            .add(
                args.operand::<T>(0usize)?.operand(),
                args.operand::<T>(1usize)?.operand(),
            )?;
        Ok(crate::runtime::Value::array::<T>(result))
    }
    pub fn leaky<B: crate::Backend, T: crate::runtime::Real>(
        args: &crate::runtime::by_name::Args<'_, B>,
    ) -> crate::runtime::Result<crate::runtime::Value<B>> {
        #[allow(unused_mut)]
        let mut options = options::LeakyOptions::new();
        if let Some(value) = args.option::<f64>(1usize)? {
            options = options.slope(value);
        }
        let result = args.b.leaky_with(&*args.array::<T>(0usize)?, options)?;
        Ok(crate::runtime::Value::array::<T>(result))
    }
    pub fn threshold<B: crate::Backend, T: crate::runtime::Real>(
        args: &crate::runtime::by_name::Args<'_, B>,
    ) -> crate::runtime::Result<crate::runtime::Value<B>> {
        let result = args
            .b
            .threshold(
                &*args.array::<T>(0usize)?,
                args.scalar::<T>(1usize)?,
                args.scalar::<T>(2usize)?,
            )?;
        Ok(crate::runtime::Value::array::<T>(result))
    }
    pub fn sum<B: crate::Backend, T: crate::runtime::Float>(
        args: &crate::runtime::by_name::Args<'_, B>,
    ) -> crate::runtime::Result<crate::runtime::Value<B>> {
        #[allow(unused_mut)]
        let mut options = options::SumOptions::new();
        if let Some(value) = args.option::<bool>(2usize)? {
            options = options.keepdims(value);
        }
        let result = args
            .b
            .sum_with(
                &*args.array::<T>(0usize)?,
                args.get::<crate::runtime::Axes>(1usize)?,
                options,
            )?;
        Ok(crate::runtime::Value::array::<T>(result))
    }
    pub fn rms<B: crate::Backend, T: crate::runtime::Float>(
        args: &crate::runtime::by_name::Args<'_, B>,
    ) -> crate::runtime::Result<crate::runtime::Value<B>> {
        #[allow(unused_mut)]
        let mut options = options::RmsOptions::new();
        if let Some(value) = args.option::<bool>(2usize)? {
            options = options.keepdims(value);
        }
        let result = args
            .b
            .rms_with(
                &*args.array::<T>(0usize)?,
                args.get::<crate::runtime::Axes>(1usize)?,
                options,
            )?;
        Ok(crate::runtime::Value::array::<T>(result))
    }
    pub fn ends<B: crate::Backend, T: crate::runtime::Float>(
        args: &crate::runtime::by_name::Args<'_, B>,
    ) -> crate::runtime::Result<crate::runtime::Value<B>> {
        #[allow(unused_mut)]
        let mut options = options::EndsOptions::new();
        let given = args.optional_array::<T::Real>(1usize)?;
        if let Some(given) = &given {
            options = options.weights(&**given);
        }
        let given = args.optional_array::<i32>(2usize)?;
        if let Some(given) = &given {
            options = options.first(&**given);
        }
        if let Some(value) = args.option::<crate::runtime::Side>(3usize)? {
            options = options.side(value);
        }
        let result = args.b.ends_with(&*args.array::<T>(0usize)?, options)?;
        Ok(
            crate::runtime::Value::List(
                vec![
                    crate ::runtime::Value::array:: < T > (result.values), crate
                    ::runtime::Value::array:: < i64 > (result.counts)
                ],
            ),
        )
    }
    pub fn is_flat<B: crate::Backend, T: IsFlatDtypes>(
        args: &crate::runtime::by_name::Args<'_, B>,
    ) -> crate::runtime::Result<crate::runtime::Value<B>> {
        let result = args.b.is_flat(&*args.array::<T>(0usize)?)?;
        Ok(crate::runtime::Value::from(result))
    }
}
/**Calls an op by its name: `call(&b, "sum", &[x.into()], &[("axis", 0.into())])`.

`args` are the first parameters, in order, and `options` are parameters with their names. [`OPS`] lists the ops with their parameters. Omitted axes mean all axes. A list of numbers becomes an array if the op takes an array. The result is an array or a list of arrays.

The dtype of the call is the dtype of its arrays. Without arrays, it is the option `dtype` or the dtype of the numbers; real numbers without a dtype get the dtype of [`precision`](crate::precision()). Together with arrays, the option `dtype` may be the dtype of the arrays, which then is also the dtype of sums of narrow integers, or the dtype of the result. Any other `dtype` is an error, because it would have no effect. A number next to an array must fit the array's dtype.

The calls of the ops are compiled for each type of backend that is passed to this function, and for no other.

# Errors
The errors of the op; [`Error::Argument`](crate::Error::Argument) if there is no op of this name, or if the arguments do not match its parameters.*/
pub fn call<B: crate::Backend>(
    b: &B,
    op: &str,
    args: &[crate::runtime::Value<B>],
    options: &[(&str, crate::runtime::Value<B>)],
) -> crate::runtime::Result<crate::runtime::Value<B>> {
    match op {
        "add" => ops::add::call(b, args, options),
        "leaky" => ops::leaky::call(b, args, options),
        "threshold" => ops::threshold::call(b, args, options),
        "sum" => ops::sum::call(b, args, options),
        "rms" => ops::rms::call(b, args, options),
        "ends" => ops::ends::call(b, args, options),
        "is_flat" => ops::is_flat::call(b, args, options),
        other => Err(crate::runtime::by_name::unknown(other, &[OPS])),
    }
}
/// Methods for the rows of the op table that are scalar expressions.
#[allow(clippy::should_implement_trait, clippy::type_complexity)]
impl<X: crate::runtime::formula::Typed, L> crate::Lazy<X, L> {
    ///x1 + x2. See the op [`add`](ops::add).
    #[inline(always)]
    pub fn add<Y: crate::lazy::Term>(
        self,
        x2: Y,
    ) -> crate::lazy::Two<ops::add, X, L, Y::Tree, Y::Leaves>
    where
        <X as crate::runtime::formula::Typed>::Out: crate::runtime::formula::Join<
            <Y::Tree as crate::runtime::formula::Typed>::Out,
        >,
        ops::add: crate::runtime::Each<2, crate::lazy::DTypeOf<X, Y::Tree>>,
    {
        crate::lazy::two(ops::add {}, self, x2.into_term())
    }
}
/// Methods for the rows of the op table that reduce formulas. A formula is computed while it is reduced.
impl<X: crate::runtime::formula::Typed, L> crate::Lazy<X, L> {}
/// Methods for the rows of the op table that return one array.
impl<B: crate::Backend, U: crate::runtime::Element> crate::Out<'_, B, U> {
    ///x1 + x2. See the op [`add`](ops::add).
    #[inline]
    pub fn add<'a, K1, K2>(
        self,
        x1: impl crate::runtime::IntoOperand<'a, B, U, K1>,
        x2: impl crate::runtime::IntoOperand<'a, B, U, K2>,
    ) -> crate::runtime::Result<()>
    where
        U: crate::runtime::Float,
    {
        let x1 = x1.into_operand();
        let x2 = x2.into_operand();
        self.within.each(&ops::add {}, [x1, x2])
    }
    ///x where positive, slope * x elsewhere. See the op [`leaky`](ops::leaky).
    #[inline]
    pub fn leaky<'a>(
        self,
        x: impl crate::runtime::IntoArray<'a, B::Array<U>>,
    ) -> crate::runtime::Result<()>
    where
        U: crate::runtime::Real,
    {
        self.leaky_with(x, options::LeakyOptions::new())
    }
    ///Like [`Out::leaky`](crate::Out::leaky), with options.
    #[inline]
    pub fn leaky_with<'a>(
        self,
        x: impl crate::runtime::IntoArray<'a, B::Array<U>>,
        options: options::LeakyOptions,
    ) -> crate::runtime::Result<()>
    where
        U: crate::runtime::Real,
    {
        let x = x.into_array();
        let options::LeakyOptions { slope, .. } = options;
        self.within.each(&ops::leaky { slope }, [crate::runtime::Operand::Array(x)])
    }
    ///x where it is above the limit, the value elsewhere. See the op [`threshold`](ops::threshold).
    #[inline]
    pub fn threshold<'a>(
        self,
        x: impl crate::runtime::IntoArray<'a, B::Array<U>>,
        limit: impl Into<crate::runtime::Scalar<U>>,
        value: impl Into<crate::runtime::Scalar<U>>,
    ) -> crate::runtime::Result<()>
    where
        U: crate::runtime::Real,
    {
        let value = self.within.backend().threshold::<U>(x, limit, value)?;
        self.within.set("threshold", value)
    }
    ///Sum. See the op [`sum`](ops::sum).
    #[inline]
    pub fn sum<'a>(
        self,
        x: impl crate::runtime::IntoArray<'a, B::Array<U>>,
        axis: impl Into<crate::runtime::Axes>,
    ) -> crate::runtime::Result<()>
    where
        U: crate::runtime::Float,
    {
        self.sum_with(x, axis, options::SumOptions::new())
    }
    ///Like [`Out::sum`](crate::Out::sum), with options.
    #[inline]
    pub fn sum_with<'a>(
        self,
        x: impl crate::runtime::IntoArray<'a, B::Array<U>>,
        axis: impl Into<crate::runtime::Axes>,
        options: options::SumOptions,
    ) -> crate::runtime::Result<()>
    where
        U: crate::runtime::Float,
    {
        let value = self.within.backend().sum_with::<U>(x, axis, options)?;
        self.within.set("sum", value)
    }
    ///A composition. See the op [`rms`](ops::rms).
    #[inline]
    pub fn rms<'a>(
        self,
        x: impl crate::runtime::IntoArray<'a, B::Array<U>>,
        axis: impl Into<crate::runtime::Axes>,
    ) -> crate::runtime::Result<()>
    where
        U: crate::runtime::Float,
    {
        self.rms_with(x, axis, options::RmsOptions::new())
    }
    ///Like [`Out::rms`](crate::Out::rms), with options.
    #[inline]
    pub fn rms_with<'a>(
        self,
        x: impl crate::runtime::IntoArray<'a, B::Array<U>>,
        axis: impl Into<crate::runtime::Axes>,
        options: options::RmsOptions,
    ) -> crate::runtime::Result<()>
    where
        U: crate::runtime::Float,
    {
        let value = self.within.backend().rms_with::<U>(x, axis, options)?;
        self.within.set("rms", value)
    }
}
/// The ops as functions over the [current](crate::current) backend, for code that passes no backend around.
///
/// The functions take and return [`AnyArray`](crate::AnyArray). For an array of another backend, they
/// return an error that explains the conversion.
///
/// ```
/// use backends::{Error, current, functions as np, prelude::*};
///
/// let x: AnyArray<f64> = np::linspace(0.0, 1.0, 5)?;
/// let y = np::sum(np::multiply(&x, 2.0)?, ..)?;
/// assert_eq!(current()?.item(y)?, 5.0);
/// # Ok::<(), Error>(())
/// ```
#[allow(clippy::module_name_repetitions, clippy::too_many_arguments)]
pub mod functions {
    #[allow(unused_imports)]
    use super::*;
    ///x1 + x2. See the op [`add`](ops::add).
    #[inline]
    #[track_caller]
    pub fn add<
        'a,
        T: crate::runtime::Float,
        K1,
        K2,
        X1: crate::runtime::OperandBeside<'a, crate::AnyBackend, T, X2, K1>,
        X2: crate::runtime::OperandBeside<'a, crate::AnyBackend, T, X1, K2>,
    >(
        x1: X1,
        x2: X2,
    ) -> crate::runtime::Result<
        <crate::AnyBackend as crate::runtime::Arrays>::Array<T>,
    > {
        crate::current()?.add::<T, _, _, _, _>(x1, x2)
    }
    ///x where positive, slope * x elsewhere. See the op [`leaky`](ops::leaky).
    #[inline]
    #[track_caller]
    pub fn leaky<'a, T: crate::runtime::Real>(
        x: impl crate::runtime::IntoArray<
            'a,
            <crate::AnyBackend as crate::runtime::Arrays>::Array<T>,
        >,
    ) -> crate::runtime::Result<
        <crate::AnyBackend as crate::runtime::Arrays>::Array<T>,
    > {
        crate::current()?.leaky::<T>(x)
    }
    ///Like [`leaky`](leaky), with options.
    #[inline]
    #[track_caller]
    pub fn leaky_with<'a, T: crate::runtime::Real>(
        x: impl crate::runtime::IntoArray<
            'a,
            <crate::AnyBackend as crate::runtime::Arrays>::Array<T>,
        >,
        options: options::LeakyOptions,
    ) -> crate::runtime::Result<
        <crate::AnyBackend as crate::runtime::Arrays>::Array<T>,
    > {
        crate::current()?.leaky_with::<T>(x, options)
    }
    ///x where it is above the limit, the value elsewhere. See the op [`threshold`](ops::threshold).
    #[inline]
    #[track_caller]
    pub fn threshold<'a, T: crate::runtime::Real>(
        x: impl crate::runtime::IntoArray<
            'a,
            <crate::AnyBackend as crate::runtime::Arrays>::Array<T>,
        >,
        limit: impl Into<crate::runtime::Scalar<T>>,
        value: impl Into<crate::runtime::Scalar<T>>,
    ) -> crate::runtime::Result<
        <crate::AnyBackend as crate::runtime::Arrays>::Array<T>,
    > {
        crate::current()?.threshold::<T>(x, limit, value)
    }
    ///Sum. See the op [`sum`](ops::sum).
    #[inline]
    #[track_caller]
    pub fn sum<'a, T: crate::runtime::Float>(
        x: impl crate::runtime::IntoArray<
            'a,
            <crate::AnyBackend as crate::runtime::Arrays>::Array<T>,
        >,
        axis: impl Into<crate::runtime::Axes>,
    ) -> crate::runtime::Result<
        <crate::AnyBackend as crate::runtime::Arrays>::Array<T>,
    > {
        crate::current()?.sum::<T>(x, axis)
    }
    ///Like [`sum`](sum), with options.
    #[inline]
    #[track_caller]
    pub fn sum_with<'a, T: crate::runtime::Float>(
        x: impl crate::runtime::IntoArray<
            'a,
            <crate::AnyBackend as crate::runtime::Arrays>::Array<T>,
        >,
        axis: impl Into<crate::runtime::Axes>,
        options: options::SumOptions,
    ) -> crate::runtime::Result<
        <crate::AnyBackend as crate::runtime::Arrays>::Array<T>,
    > {
        crate::current()?.sum_with::<T>(x, axis, options)
    }
    ///A composition. See the op [`rms`](ops::rms).
    #[inline]
    #[track_caller]
    pub fn rms<'a, T: crate::runtime::Float>(
        x: impl crate::runtime::IntoArray<
            'a,
            <crate::AnyBackend as crate::runtime::Arrays>::Array<T>,
        >,
        axis: impl Into<crate::runtime::Axes>,
    ) -> crate::runtime::Result<
        <crate::AnyBackend as crate::runtime::Arrays>::Array<T>,
    > {
        crate::current()?.rms::<T>(x, axis)
    }
    ///Like [`rms`](rms), with options.
    #[inline]
    #[track_caller]
    pub fn rms_with<'a, T: crate::runtime::Float>(
        x: impl crate::runtime::IntoArray<
            'a,
            <crate::AnyBackend as crate::runtime::Arrays>::Array<T>,
        >,
        axis: impl Into<crate::runtime::Axes>,
        options: options::RmsOptions,
    ) -> crate::runtime::Result<
        <crate::AnyBackend as crate::runtime::Arrays>::Array<T>,
    > {
        crate::current()?.rms_with::<T>(x, axis, options)
    }
    ///The ends along an axis, and how many elements are equal to them. See the op [`ends`](ops::ends).
    #[inline]
    #[track_caller]
    pub fn ends<'a, T: crate::runtime::Float>(
        x: impl crate::runtime::IntoArray<
            'a,
            <crate::AnyBackend as crate::runtime::Arrays>::Array<T>,
        >,
    ) -> crate::runtime::Result<results::EndsResult<crate::AnyBackend, T>> {
        crate::current()?.ends::<T>(x)
    }
    ///Like [`ends`](ends), with options.
    #[inline]
    #[track_caller]
    pub fn ends_with<'a, T: crate::runtime::Float>(
        x: impl crate::runtime::IntoArray<
            'a,
            <crate::AnyBackend as crate::runtime::Arrays>::Array<T>,
        >,
        options: options::EndsOptions<
            '_,
            <crate::AnyBackend as crate::runtime::Arrays>::Array<T::Real>,
            <crate::AnyBackend as crate::runtime::Arrays>::Array<i32>,
        >,
    ) -> crate::runtime::Result<results::EndsResult<crate::AnyBackend, T>> {
        crate::current()?.ends_with::<T>(x, options)
    }
    ///Whether all elements are equal. See the op [`is_flat`](ops::is_flat).
    #[inline]
    #[track_caller]
    pub fn is_flat<'a, T: IsFlatDtypes>(
        x: impl crate::runtime::IntoArray<
            'a,
            <crate::AnyBackend as crate::runtime::Arrays>::Array<T>,
        >,
    ) -> crate::runtime::Result<bool> {
        crate::current()?.is_flat::<T>(x)
    }
}
/**All op groups together, as the bound for generic code.

- [`Elementwise`]: Element by element.*/
pub trait Backend: Elementwise {}
impl<B: Elementwise> Backend for B {}
/// Defines your own ops on every backend, or a backend of your own, from a table of yours.
///
/// `backend! { table = "my_ops.toml", trait = MyOps }` defines an extension trait with the rows of
/// `my_ops.toml`, a path relative to your `Cargo.toml`. Every backend implements the trait, with the checks and
/// documentation of the base table.
///
/// `backend! { overlay = "naive.toml" }` adds a column to the base table, which is one more backend for the ops
/// of the table. With `partial = true`, the backend may lack some of these ops.
///
/// `backend! { any = MyAny, of = [Numpyish, MyBackend] }` defines an enum of the listed backends, one of which
/// is chosen at run time, like `AnyBackend`.
///
/// `backend_my_ops! { overlay = "naive.toml" }` and `backend_my_ops! { any = MyAny, of = [..] }` implement the
/// ops of `MyOps` for these backends.
#[macro_export]
macro_rules! backend {
    ($($t:tt)*) => {
        $crate::__private::table! { root = $crate, base =
        "# A table of every kind of row, small enough to read its expansion.\n\n[backend.numpyish]\ntype    = \"Numpyish\"\nmodule  = \"numpyish\"\nsummary = \"The CPU.\"\neach    = true\n\n[backend.torch]\ntype    = \"Torch\"\nmodule  = \"torch\"\nsummary = \"libtorch.\"\naten    = true\n\n[dtype]\nfloat32   = { rust = \"f32\" }\nfloat64   = { rust = \"f64\" }\ncomplex64 = { rust = \"Complex<f32>\" }\n\n[dtypes]\nfloat = { bound = \"Float\", of = [\"real\", \"complex64\"] }\nreal  = { bound = \"Real\", of = [\"float32\", \"float64\"] }\n\n[choice.side]\ntype    = \"Side\"\nsummary = \"Which end comes first.\"\nnames   = { left = \"The lower one.\", right = \"The upper one.\" }\n\n[words]\nplus    = { set = \"float\", args = 2, op = \"add\" }\ntimes   = { set = \"float\", args = 2 }\ndiv     = { set = \"float\", args = 2 }\nnegate  = { set = \"float\" }\nabs     = { set = \"float\", result = \"real\" }\ncast    = { set = \"float\", result = \"second\" }\nexp     = { set = \"float\", range_reduction = [\"complex\"] }\nmaximum = { set = \"real\", args = 2 }\natan2   = { set = \"real\", args = 2 }\n\n[accuracy.exact]\nsummary = \"exact\"\nulp     = 0\n\n[cases]\n\"array\" = [\"m\", \"s\"]\n\n[group.elementwise]\nsummary  = \"Element by element.\"\naccuracy = \"exact\"\n\n[op.add]\ngroup   = \"elementwise\"\nsummary = \"x1 + x2.\"\nparams  = [\"x1: operand\", \"x2: operand\"]\ndtypes  = \"float\"\neach    = \"x1 + x2\"\ntorch   = { aten = \"add.Tensor(x1, x2)\" }\nalias   = [\"plus\"]\nexample = 'assert_eq!(b.add(1.0, &b.asarray([1.0, 2.0])?)?, b.asarray([2.0, 3.0])?);'\n\n[op.leaky]\ngroup   = \"elementwise\"\nsummary = \"x where positive, slope * x elsewhere.\"\nparams  = [\"x: array\", \"slope: f64 = 0.01\"]\ndtypes  = \"real\"\neach    = \"if x < 0.0 { slope * x } else { x }\"\ntorch   = { aten = \"leaky_relu(x, slope)\", via = \"float32\" }\nexample = 'assert_eq!(b.leaky(&b.asarray([1.0, -1.0])?)?, b.asarray([1.0, -0.01])?);'\n\n[op.threshold]\ngroup   = \"elementwise\"\nsummary = \"x where it is above the limit, the value elsewhere.\"\nparams  = [\"x: array\", \"limit: scalar\", \"value: scalar\"]\ndtypes  = \"real\"\ncall    = \"select::threshold\"\ntorch   = { aten = \"threshold(x, limit, value)\" }\nexample = 'assert_eq!(b.threshold(&b.asarray([1.0, 2.0])?, 1.0, 0.0)?, b.asarray([0.0, 2.0])?);'\n\n[op.sum]\ngroup   = \"elementwise\"\nsummary = \"Sum.\"\nparams  = [\"x: array\", \"axis: axes\", \"keepdims: bool = false\"]\ndtypes  = \"float\"\ncall    = \"reduction::sum\"\nexample = 'assert_eq!(b.sum(&b.asarray([1.0, 2.0])?, ..)?, b.asarray(3.0)?);'\n\n[op.rms]\ngroup   = \"elementwise\"\nsummary = \"A composition.\"\nparams  = [\"x: array\", \"axis: axes\", \"keepdims: bool = false\"]\ndtypes  = \"float\"\ncompose = \"{ let s = add(x, x); sum(s, axis, keepdims = keepdims) }\"\nexample = '''\nlet x = b.asarray([1.0, 2.0])?;\nassert_eq!(b.rms(&x, ..)?, b.asarray(6.0)?);\n'''\n\n[op.ends]\ngroup   = \"elementwise\"\nsummary = \"The ends along an axis, and how many elements are equal to them.\"\nparams  = [\"x: array\", \"weights: array<real> = none\", \"first: array<int32> = none\", \"side: side = left\"]\ndtypes  = \"float\"\nresult  = { values = \"array\", counts = \"array<int64>\" }\nzero    = \"any\"\nreason  = \"either zero may stand for both\"\nwaits   = { bytes = 8, why = \"how many there are\" }\nraises  = [\"e\"]\nseed    = 7\ncall    = \"sort::ends\"\nexample = 'assert_eq!(b.ends(&b.asarray([2.0, 2.0])?)?.counts, b.asarray([2_i64])?);'\n\n[op.is_flat]\ngroup   = \"elementwise\"\nsummary = \"Whether all elements are equal.\"\nparams  = [\"x: array\"]\ndtypes  = [ \"float32\", \"complex64\" ]\nresult  = \"bool\"\ngeneric = \"is_flat\"\nexample = 'assert!(b.is_flat(&b.asarray([2.0, 2.0])?)?);'\n\n[related]\n\"Sums\" = [\"sum\", \"rms\"]\n",
        $($t)* }
    };
}
/// Generates the conformance tests of a backend: a `#[test]` for every row and dtype, which compares the
/// backend's results with those of NumPy.
///
/// `conformance! { backend = Numpyish::new(), type = Numpyish }` is the whole test file of a backend; `backend`
/// may also be a `Result`. `groups = ["fft"]` and `dtypes = ["float64"]` select a part of the tests. For a
/// backend that has only some of the ops, `overlay = "naive.toml", partial = true` names the table with these
/// ops. The tests of all other ops are ignored, like the tests of the ops in `without = ["matmul"]`. With
/// `table = "my_ops.toml", trait = MyOps, golden = "tests/golden/my_ops.golden"`, the macro tests the rows of a
/// table of yours.
#[cfg(feature = "conformance")]
#[macro_export]
macro_rules! conformance {
    ($($t:tt)*) => {
        $crate::__private::conformance! { root = $crate, base =
        "# A table of every kind of row, small enough to read its expansion.\n\n[backend.numpyish]\ntype    = \"Numpyish\"\nmodule  = \"numpyish\"\nsummary = \"The CPU.\"\neach    = true\n\n[backend.torch]\ntype    = \"Torch\"\nmodule  = \"torch\"\nsummary = \"libtorch.\"\naten    = true\n\n[dtype]\nfloat32   = { rust = \"f32\" }\nfloat64   = { rust = \"f64\" }\ncomplex64 = { rust = \"Complex<f32>\" }\n\n[dtypes]\nfloat = { bound = \"Float\", of = [\"real\", \"complex64\"] }\nreal  = { bound = \"Real\", of = [\"float32\", \"float64\"] }\n\n[choice.side]\ntype    = \"Side\"\nsummary = \"Which end comes first.\"\nnames   = { left = \"The lower one.\", right = \"The upper one.\" }\n\n[words]\nplus    = { set = \"float\", args = 2, op = \"add\" }\ntimes   = { set = \"float\", args = 2 }\ndiv     = { set = \"float\", args = 2 }\nnegate  = { set = \"float\" }\nabs     = { set = \"float\", result = \"real\" }\ncast    = { set = \"float\", result = \"second\" }\nexp     = { set = \"float\", range_reduction = [\"complex\"] }\nmaximum = { set = \"real\", args = 2 }\natan2   = { set = \"real\", args = 2 }\n\n[accuracy.exact]\nsummary = \"exact\"\nulp     = 0\n\n[cases]\n\"array\" = [\"m\", \"s\"]\n\n[group.elementwise]\nsummary  = \"Element by element.\"\naccuracy = \"exact\"\n\n[op.add]\ngroup   = \"elementwise\"\nsummary = \"x1 + x2.\"\nparams  = [\"x1: operand\", \"x2: operand\"]\ndtypes  = \"float\"\neach    = \"x1 + x2\"\ntorch   = { aten = \"add.Tensor(x1, x2)\" }\nalias   = [\"plus\"]\nexample = 'assert_eq!(b.add(1.0, &b.asarray([1.0, 2.0])?)?, b.asarray([2.0, 3.0])?);'\n\n[op.leaky]\ngroup   = \"elementwise\"\nsummary = \"x where positive, slope * x elsewhere.\"\nparams  = [\"x: array\", \"slope: f64 = 0.01\"]\ndtypes  = \"real\"\neach    = \"if x < 0.0 { slope * x } else { x }\"\ntorch   = { aten = \"leaky_relu(x, slope)\", via = \"float32\" }\nexample = 'assert_eq!(b.leaky(&b.asarray([1.0, -1.0])?)?, b.asarray([1.0, -0.01])?);'\n\n[op.threshold]\ngroup   = \"elementwise\"\nsummary = \"x where it is above the limit, the value elsewhere.\"\nparams  = [\"x: array\", \"limit: scalar\", \"value: scalar\"]\ndtypes  = \"real\"\ncall    = \"select::threshold\"\ntorch   = { aten = \"threshold(x, limit, value)\" }\nexample = 'assert_eq!(b.threshold(&b.asarray([1.0, 2.0])?, 1.0, 0.0)?, b.asarray([0.0, 2.0])?);'\n\n[op.sum]\ngroup   = \"elementwise\"\nsummary = \"Sum.\"\nparams  = [\"x: array\", \"axis: axes\", \"keepdims: bool = false\"]\ndtypes  = \"float\"\ncall    = \"reduction::sum\"\nexample = 'assert_eq!(b.sum(&b.asarray([1.0, 2.0])?, ..)?, b.asarray(3.0)?);'\n\n[op.rms]\ngroup   = \"elementwise\"\nsummary = \"A composition.\"\nparams  = [\"x: array\", \"axis: axes\", \"keepdims: bool = false\"]\ndtypes  = \"float\"\ncompose = \"{ let s = add(x, x); sum(s, axis, keepdims = keepdims) }\"\nexample = '''\nlet x = b.asarray([1.0, 2.0])?;\nassert_eq!(b.rms(&x, ..)?, b.asarray(6.0)?);\n'''\n\n[op.ends]\ngroup   = \"elementwise\"\nsummary = \"The ends along an axis, and how many elements are equal to them.\"\nparams  = [\"x: array\", \"weights: array<real> = none\", \"first: array<int32> = none\", \"side: side = left\"]\ndtypes  = \"float\"\nresult  = { values = \"array\", counts = \"array<int64>\" }\nzero    = \"any\"\nreason  = \"either zero may stand for both\"\nwaits   = { bytes = 8, why = \"how many there are\" }\nraises  = [\"e\"]\nseed    = 7\ncall    = \"sort::ends\"\nexample = 'assert_eq!(b.ends(&b.asarray([2.0, 2.0])?)?.counts, b.asarray([2_i64])?);'\n\n[op.is_flat]\ngroup   = \"elementwise\"\nsummary = \"Whether all elements are equal.\"\nparams  = [\"x: array\"]\ndtypes  = [ \"float32\", \"complex64\" ]\nresult  = \"bool\"\ngeneric = \"is_flat\"\nexample = 'assert!(b.is_flat(&b.asarray([2.0, 2.0])?)?);'\n\n[related]\n\"Sums\" = [\"sum\", \"rms\"]\n",
        $($t)* }
    };
}
#[doc(hidden)]
#[macro_export]
macro_rules! __expr {
    ($($t:tt)*) => {
        $crate::__private::expr! { [$crate; ops
        "add*@x1,@x2 leaky*@x,slope? threshold:&x,limit,value sum:&x,axis,keepdims? rms:&x,axis,keepdims? ends:&x,&weights?,&first?,side? is_flat:&x"]
        $($t)* }
    };
}
#[allow(unused_macros)]
macro_rules! expr {
    ($($t:tt)*) => {
        __expr! { $($t)* }
    };
}
