// Discrete Fourier transforms of 2, 3, 4, 5 and 8 complex numbers, one transform in each lane of the vectors: the
// passes of longer transforms consist of these.
#if defined(BURN_BUTTERFLIES_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef BURN_BUTTERFLIES_INL_H
#undef BURN_BUTTERFLIES_INL_H
#else
#define BURN_BUTTERFLIES_INL_H
#endif

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace burn::backends::cpu::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// The twiddle factors that a butterfly's results are multiplied by: none, one for all lanes, one for each.
enum class Twiddling { none, uniform, each };

template <typename D>
struct Complex {
  hn::Vec<D> re, im;

  friend HWY_INLINE Complex operator+(Complex a, Complex b) { return {hn::Add(a.re, b.re), hn::Add(a.im, b.im)}; }
  friend HWY_INLINE Complex operator-(Complex a, Complex b) { return {hn::Sub(a.re, b.re), hn::Sub(a.im, b.im)}; }
};

template <typename D>
HWY_INLINE Complex<D> product(Complex<D> a, Complex<D> b) {
  return {hn::MulSub(a.re, b.re, hn::Mul(a.im, b.im)), hn::MulAdd(a.re, b.im, hn::Mul(a.im, b.re))};
}

// a + i b and a - i b.
template <typename D>
HWY_INLINE Complex<D> plus_i(Complex<D> a, Complex<D> b) {
  return {hn::Sub(a.re, b.im), hn::Add(a.im, b.re)};
}
template <typename D>
HWY_INLINE Complex<D> minus_i(Complex<D> a, Complex<D> b) {
  return {hn::Add(a.re, b.im), hn::Sub(a.im, b.re)};
}

// a + x b for a real number x.
template <typename D>
HWY_INLINE Complex<D> plus_times(Complex<D> a, hn::Vec<D> x, Complex<D> b) {
  return {hn::MulAdd(x, b.re, a.re), hn::MulAdd(x, b.im, a.im)};
}
template <typename D>
HWY_INLINE Complex<D> times(hn::Vec<D> x, Complex<D> b) {
  return {hn::Mul(x, b.re), hn::Mul(x, b.im)};
}

template <int kFactor>
struct Butterfly;  // run(tag, a, b): b[k] = sum over j of a[j] e^(-2 pi i j k / kFactor)

template <>
struct Butterfly<2> {
  template <typename D>
  static HWY_INLINE void run(D, const Complex<D>* a, Complex<D>* b) {
    b[0] = a[0] + a[1];
    b[1] = a[0] - a[1];
  }
};

template <>
struct Butterfly<3> {
  template <typename D>
  static HWY_INLINE void run(D d, const Complex<D>* a, Complex<D>* b) {
    using T = hn::TFromD<D>;
    const auto sum = a[1] + a[2], difference = times<D>(hn::Set(d, T(0.86602540378443864676)), a[1] - a[2]);
    const auto middle = plus_times<D>(a[0], hn::Set(d, T(-0.5)), sum);
    b[0] = a[0] + sum;
    b[1] = minus_i(middle, difference);
    b[2] = plus_i(middle, difference);
  }
};

template <>
struct Butterfly<4> {
  template <typename D>
  static HWY_INLINE void run(D, const Complex<D>* a, Complex<D>* b) {
    const auto p = a[0] + a[2], q = a[0] - a[2], r = a[1] + a[3], t = a[1] - a[3];
    b[0] = p + r;
    b[1] = minus_i(q, t);
    b[2] = p - r;
    b[3] = plus_i(q, t);
  }
};

template <>
struct Butterfly<5> {
  template <typename D>
  static HWY_INLINE void run(D d, const Complex<D>* a, Complex<D>* b) {
    using T = hn::TFromD<D>;
    const auto cos1 = hn::Set(d, T(0.30901699437494742410)), cos2 = hn::Set(d, T(-0.80901699437494742410));
    const auto sin1 = hn::Set(d, T(0.95105651629515357212)), sin2 = hn::Set(d, T(0.58778525229247312917));
    const auto s = a[1] + a[4], t = a[2] + a[3], u = a[1] - a[4], v = a[2] - a[3];
    const auto m = plus_times<D>(plus_times<D>(a[0], cos1, s), cos2, t);
    const auto n = plus_times<D>(plus_times<D>(a[0], cos2, s), cos1, t);
    const auto x = plus_times<D>(times<D>(sin1, u), sin2, v);
    const auto y = plus_times<D>(times<D>(sin2, u), hn::Neg(sin1), v);
    b[0] = a[0] + s + t;
    b[1] = minus_i(m, x);
    b[2] = minus_i(n, y);
    b[3] = plus_i(n, y);
    b[4] = plus_i(m, x);
  }
};

template <>
struct Butterfly<8> {
  template <typename D>
  static HWY_INLINE void run(D d, const Complex<D>* a, Complex<D>* b) {
    const auto root = hn::Set(d, hn::TFromD<D>(0.70710678118654752440));
    const Complex<D> even[] = {a[0] + a[4], a[1] + a[5], a[2] + a[6], a[3] + a[7]};
    const auto u = a[1] - a[5], v = a[2] - a[6], w = a[3] - a[7];
    // Times e^(-pi i j / 4).
    const Complex<D> odd[] = {a[0] - a[4],
                              times<D>(root, {hn::Add(u.re, u.im), hn::Sub(u.im, u.re)}),
                              {v.im, hn::Neg(v.re)},
                              times<D>(root, {hn::Sub(w.im, w.re), hn::Neg(hn::Add(w.re, w.im))})};
    Complex<D> x[4], y[4];
    Butterfly<4>::run(d, even, x);
    Butterfly<4>::run(d, odd, y);
    for (std::ptrdiff_t k = 0; k < 4; ++k) {
      b[2 * k] = x[k];
      b[2 * k + 1] = y[k];
    }
  }
};

}  // namespace burn::backends::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
