// Counter-based random numbers: Philox4x32-10, as described in the crate's `random` module, so that numbers equal those
// of every other backend. A thread makes one block of four words at a time.

struct Words {
    u32 at[4];
    u64 bits(int i) const { return u64(at[2 * i]) << 32 | at[2 * i + 1]; }
};

// Makes a block of four random words. `further` counts the blocks that are made for the same value of `counter`.
Words philox(u64 key, u64 counter, u32 further = 0) {
    u32 x0 = u32(counter), x1 = u32(counter >> 32), x2 = further, x3 = 0, k0 = u32(key), k1 = u32(key >> 32);
#pragma unroll
    for (int round = 0; round < 10; round++) {
        u32 a_high = __umulhi(0xD2511F53u, x0), a_low = 0xD2511F53u * x0;
        u32 b_high = __umulhi(0xCD9E8D57u, x2), b_low = 0xCD9E8D57u * x2;
        x0 = b_high ^ x1 ^ k0;
        x1 = b_low;
        x2 = a_high ^ x3 ^ k1;
        x3 = a_low;
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
    return Words{{x0, x1, x2, x3}};
}

// The type in which random numbers are made, the count of numbers per block, and uniform numbers in [0, 1).
template <typename T> struct Generator {
    typedef float Real;
    enum { PER_BLOCK = 4 };
    static float unit(const Words& words, int i) { return float(words.at[i] >> 8) * (1.0f / (1u << 24)); }
};
template <> struct Generator<double> {
    typedef double Real;
    enum { PER_BLOCK = 2 };
    static double unit(const Words& words, int i) {
        return double(words.bits(i) >> 11) * (1.0 / double(u64(1) << 53));
    }
};

// The position at which a stream of random numbers continues.
struct Position {
    u64 key, first;
};

template <typename T, int N> struct alignas(N * sizeof(T)) Together {
    T at[N];
};

// Writes the elements of a block; the last block may have fewer.
template <typename T, int N> void store(T* out, u64 n, u64 block, const Together<T, N>& elements) {
    if (block * N + N <= n) {
        ((Together<T, N>*)out)[block] = elements;
    } else {
        for (int i = 0; block * N + i < n; i++) out[block * N + i] = elements.at[i];
    }
}

#define FOR_EACH_BLOCK(block, n, PER)                                                                                  \
    for (u64 block = blockIdx.x * u64(blockDim.x) + threadIdx.x; block * PER < n; block += gridDim.x * u64(blockDim.x))

// Uniform numbers in [low, high), computed from the `start` and the `length` of this range. `below` replaces a number
// that was rounded to `high`.
template <typename T>
__global__ void __launch_bounds__(256)
    uniform(T* out, u64 n, const Position from, double start, double length, T high, T below) {
    typedef Generator<T> G;
    typedef typename G::Real R;
    FOR_EACH_BLOCK(block, n, G::PER_BLOCK) {
        Words words = philox(from.key, from.first + block);
        Together<T, G::PER_BLOCK> made;
#pragma unroll
        for (int i = 0; i < G::PER_BLOCK; i++) {
            T x = T(R(start) + R(length) * G::unit(words, i));
            made.at[i] = op_equal(x, high) ? below : x;
        }
        store(out, n, block, made);
    }
}

// Normal numbers by the Box-Muller transform of pairs of uniform numbers.
template <typename T>
__global__ void __launch_bounds__(256) normal(T* out, u64 n, const Position from, double mean, double std) {
    typedef Generator<T> G;
    typedef typename G::Real R;
    FOR_EACH_BLOCK(block, n, G::PER_BLOCK) {
        Words words = philox(from.key, from.first + block);
        Together<T, G::PER_BLOCK> made;
#pragma unroll
        for (int i = 0; i < G::PER_BLOCK; i += 2) {
            // 1 - u is in (0, 1], so its logarithm is finite
            R radius = op_sqrt(R(-2) * op_log(R(1) - G::unit(words, i)));
            R angle = R(6.28318530717958647693) * G::unit(words, i + 1);
            made.at[i] = T(R(mean) + R(std) * (radius * op_cos(angle)));
            made.at[i + 1] = T(R(mean) + R(std) * (radius * op_sin(angle)));
        }
        store(out, n, block, made);
    }
}

// Uniform integers among the `range` integers from `first_value` on; a range of 0 means all 2^64 integers.
template <typename T>
__global__ void __launch_bounds__(256) integers(T* out, u64 n, const Position from, u64 first_value, u64 range) {
    FOR_EACH_BLOCK(block, n, 2) {
        Words words = philox(from.key, from.first + block);
        Together<T, 2> made;
#pragma unroll
        for (int i = 0; i < 2; i++) {
            u64 bits = words.bits(i);
            made.at[i] = cast<T>(first_value + (range ? __umul64hi(range, bits) : bits));
        }
        store(out, n, block, made);
    }
}
