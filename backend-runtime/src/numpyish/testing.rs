//! Ops over arrays with a static dtype, for tests.

/// Defines a function for each given op. The function takes and returns arrays with a static dtype, and calls the
/// function of the same name in the module `$module`. The parameters before `;` are arrays of the dtype of the call.
macro_rules! typed_ops {
    ($module:ident: $(
        $name:ident<$t:ident: $bound:ident>($first:ident $(, $x:ident)*; $($p:ident: $ty:ty),*) -> $out:ty;
    )*) => {$(
        pub fn $name<$t: crate::$bound>(
            b: &crate::numpyish::Numpyish,
            $first: &crate::numpyish::NdArray<$t>,
            $($x: &crate::numpyish::NdArray<$t>,)*
            $($p: $ty),*
        ) -> crate::Result<crate::numpyish::NdArray<$out>> {
            let on = crate::numpyish::OpContext::new(b, stringify!($name), <$t as crate::Element>::DTYPE);
            let result = $module::$name(
                on,
                crate::numpyish::raw::view($first),
                $(crate::numpyish::raw::view($x),)*
                $($p),*
            )?;
            crate::raw::Finish::finish(result, on.op, $first)
        }
    )*};
}
pub(crate) use typed_ops;
