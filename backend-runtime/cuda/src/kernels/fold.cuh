// Folds, which reduce many elements to one result. A fold has an accumulator type `Acc`, the accumulator of no
// elements (`none`), the accumulator of one element (`load`), an operation that joins two accumulators (`join`), and
// the result of type `Out` (`finish`). The result does not depend on the order of the joins, except for rounding.

// The type in which sums and products are accumulated.
template <typename T> struct WideOf { typedef typename SumOf<T>::Type Type; };
template <> struct WideOf<f16> { typedef float Type; };
template <> struct WideOf<bf16> { typedef float Type; };

// The type in which extremes are compared.
template <typename T> struct OrderOf { typedef T Type; };
template <> struct OrderOf<f16> { typedef float Type; };
template <> struct OrderOf<bf16> { typedef float Type; };

// The lowest and the highest value of a type. For floats, these are the infinities.
template <typename T> struct Ends {
    static const bool is_signed = T(-1) < T(0);
    static const u64 half = u64(1) << (8 * sizeof(T) - 1);
    static T lowest() { return is_signed ? T(half) : T(0); }
    static T highest() { return is_signed ? T(half - 1) : T(half - 1 + half); }
};
template <> struct Ends<bool> {
    static bool lowest() { return false; }
    static bool highest() { return true; }
};
template <> struct Ends<float> {
    static float lowest() { return __uint_as_float(0xff800000); }
    static float highest() { return __uint_as_float(0x7f800000); }
};
template <> struct Ends<double> {
    static double lowest() { return __longlong_as_double(i64(0xfff0000000000000)); }
    static double highest() { return __longlong_as_double(0x7ff0000000000000); }
};

// The value that a fold gets for the result `o` in addition to the elements, such as their mean.
template <typename G> G given_of(const G* givens, u64 o) { return givens[o]; }

// Base of the folds that get no additional value for each result.
struct Plain { typedef char Given; };

template <typename T> struct Sum : Plain {
    typedef typename WideOf<T>::Type Acc;
    typedef typename SumOf<T>::Type Out;
    static Acc none() { return zero<Acc>(); }
    static Acc load(T x, u64, char) { return cast<Acc>(x); }
    static Acc join(Acc a, Acc b) { return op_plus(a, b); }
    static Out finish(Acc a, double) { return cast<Out>(a); }
};

template <typename T> struct Product : Sum<T> {
    typedef typename Sum<T>::Acc Acc;
    static Acc none() { return one<Acc>(); }
    static Acc join(Acc a, Acc b) { return op_times(a, b); }
};

template <typename R> R over(R x, double n) { return x / R(n); }
template <typename R> complex<R> over(complex<R> x, double n) { return complex<R>(x.re / R(n), x.im / R(n)); }

// The mean of the elements, in the type in which sums are accumulated.
template <typename T> struct WideMean : Sum<T> {
    typedef typename Sum<T>::Acc Acc;
    typedef Acc Out;
    static Out finish(Acc a, double n) { return over(a, n); }
};

template <typename T> struct Mean : Sum<T> {
    typedef T Out;
    static Out finish(typename Sum<T>::Acc a, double n) { return cast<T>(over(a, n)); }
};

template <typename R> R squared(R x) { return x * x; }
template <typename R> R squared(complex<R> x) { return x.re * x.re + x.im * x.im; }

// The sum of squared distances from a given mean, divided by a number.
template <typename T> struct Variance {
    typedef typename WideOf<T>::Type Given;
    typedef typename Types<Given>::Real Acc;
    typedef typename Types<T>::Real Out;
    static Acc none() { return Acc(0); }
    static Acc load(T x, u64, Given mean) { return squared(op_minus(cast<Given>(x), mean)); }
    static Acc join(Acc a, Acc b) { return a + b; }
    static Out finish(Acc a, double n) { return cast<Out>(double(a) / n); }
};

template <typename T> struct Deviation : Variance<T> {
    typedef typename Variance<T>::Out Out;
    static Out finish(typename Variance<T>::Acc a, double n) { return cast<Out>(op_sqrt(double(a) / n)); }
};

template <typename T> struct Maximum : Plain {
    typedef typename OrderOf<T>::Type Acc;
    typedef T Out;
    static Acc none() { return Ends<Acc>::lowest(); }
    static Acc load(T x, u64, char) { return Acc(x); }
    static Acc join(Acc a, Acc b) { return op_maximum(a, b); }
    static Out finish(Acc a, double) { return T(a); }
};

template <typename T> struct Minimum : Maximum<T> {
    typedef typename Maximum<T>::Acc Acc;
    static Acc none() { return Ends<Acc>::highest(); }
    static Acc join(Acc a, Acc b) { return op_minimum(a, b); }
};

template <typename T> struct Any : Plain {
    typedef bool Acc;
    typedef bool Out;
    static bool none() { return false; }
    static bool load(T x, u64, char) { return op_is_nonzero(x); }
    static bool join(bool a, bool b) { return a | b; }
    static bool finish(bool a, double) { return a; }
};

template <typename T> struct All : Any<T> {
    static bool none() { return true; }
    static bool join(bool a, bool b) { return a & b; }
};

// The index of an extreme: the first of equal elements, or the first NaN if there is one.
template <typename V> struct Place {
    V value;
    i64 at;
};

template <typename T, bool LARGEST> struct FirstOf : Plain {
    typedef typename OrderOf<T>::Type Value;
    typedef Place<Value> Acc;
    typedef i64 Out;
    static Acc none() { return Acc{Value(0), -1}; }
    static Acc load(T x, u64 i, char) { return Acc{Value(x), i64(i)}; }
    static Acc join(Acc a, Acc b) {
        if (a.at < 0 || b.at < 0) return a.at < 0 ? b : a;
        bool nan_a = a.value != a.value, nan_b = b.value != b.value;
        bool equal = nan_a ? nan_b : a.value == b.value;
        if (equal) return a.at < b.at ? a : b;
        bool better = nan_a || (!nan_b && (LARGEST ? a.value > b.value : a.value < b.value));
        return better ? a : b;
    }
    static i64 finish(Acc a, double) { return a.at; }
};
template <typename T> struct Largest : FirstOf<T, true> {};
template <typename T> struct Smallest : FirstOf<T, false> {};
