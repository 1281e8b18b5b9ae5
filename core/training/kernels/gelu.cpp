#include "core/training/kernels/gelu.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/training/kernels/gelu.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
// The following headers must come after foreach_target.h.
#include <hwy/contrib/math/math-inl.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace attnscope::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// The values Φ(x) and exp(−x²/2).
template <class V>
struct NormalDistribution {
  V below, bell;
};

/// Clamps x to ±13, so that exp(−x²/2) stays a normal float.
template <class D, class V>
HWY_INLINE V within_exp(D d, V x) {
  return hn::Clamp(x, hn::Set(d, -13.0F), hn::Set(d, 13.0F));
}

template <class D, class V>
HWY_INLINE NormalDistribution<V> normal_distribution(D d, V x) {
  const V held = within_exp(d, x);
  const V bell = hn::Exp(d, hn::Mul(hn::Mul(held, held), hn::Set(d, -0.5F)));
  const V z = hn::Mul(hn::Abs(held), hn::Set(d, 0.70710678F));
  const V one = hn::Set(d, 1.0F);
  const V t = hn::Div(one, hn::MulAdd(z, hn::Set(d, 0.3275911F), one));
  V sum = hn::Set(d, 1.061405429F);
  sum = hn::MulAdd(sum, t, hn::Set(d, -1.453152027F));
  sum = hn::MulAdd(sum, t, hn::Set(d, 1.421413741F));
  sum = hn::MulAdd(sum, t, hn::Set(d, -0.284496736F));
  sum = hn::MulAdd(sum, t, hn::Set(d, 0.254829592F));
  // The tail (1 − erf z)/2 on the side of x.
  const V tail = hn::Mul(hn::Mul(hn::Mul(sum, t), bell), hn::Set(d, 0.5F));
  return {hn::IfThenElse(hn::Lt(x, hn::Zero(d)), tail, hn::Sub(one, tail)), bell};
}

/// (1 + tanh y)/2 = 1 / (1 + exp(−2y)) with y = √(2/π) (x + 0.044715 x³).
template <class D, class V>
HWY_INLINE V tanh_gate(D d, V x) {
  const V cubic = hn::MulAdd(hn::Mul(x, x), hn::Set(d, 0.044715F), hn::Set(d, 1.0F));
  const V y = hn::Mul(hn::Mul(x, cubic), hn::Set(d, -2 * 0.7978845608F));
  const V held = hn::Clamp(y, hn::Set(d, -80.0F), hn::Set(d, 80.0F));
  const V one = hn::Set(d, 1.0F);
  return hn::Div(one, hn::Add(one, hn::Exp(d, held)));
}

struct Gelu {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x, V) const {
    return hn::Mul(x, normal_distribution(d, x).below);
  }
};

struct GeluDerivative {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x, V gradient) const {
    const auto at = normal_distribution(d, x);
    const V density = hn::Mul(at.bell, hn::Set(d, 0.3989422804F));
    return hn::Mul(gradient, hn::MulAdd(x, density, at.below));
  }
};

struct GeluTanh {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x, V) const {
    return hn::Mul(x, tanh_gate(d, x));
  }
};

struct GeluTanhDerivative {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x, V gradient) const {
    const V gate = tanh_gate(d, x), one = hn::Set(d, 1.0F);
    // The derivative is d gate = 2 gate (1 − gate) dy, dy = √(2/π) (1 + 3 · 0.044715 x²) dx.
    const V inner = hn::MulAdd(hn::Mul(x, x), hn::Set(d, 3 * 0.044715F), one);
    const V slope =
        hn::Mul(hn::Mul(gate, hn::Sub(one, gate)), hn::Mul(inner, hn::Set(d, 2 * 0.7978845608F)));
    return hn::Mul(gradient, hn::MulAdd(x, slope, gate));
  }
};

template <class Work>
HWY_INLINE void for_all(const float* x, std::int64_t count, float* out, const Work& work) {
  const hn::CappedTag<float, 16> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  std::int64_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    hn::StoreU(work(d, hn::LoadU(d, x + i), hn::LoadU(d, out + i)), d, out + i);
  }
  const hn::CappedTag<float, 1> one;
  for (; i < count; ++i) {
    hn::StoreU(work(one, hn::LoadU(one, x + i), hn::LoadU(one, out + i)), one, out + i);
  }
}

HWY_NOINLINE void gelu_for_target(const float* x, std::int64_t count, float* out) {
  for_all(x, count, out, Gelu());
}
HWY_NOINLINE void gelu_derivative_for_target(const float* x, std::int64_t count, float* out) {
  for_all(x, count, out, GeluDerivative());
}
HWY_NOINLINE void gelu_tanh_for_target(const float* x, std::int64_t count, float* out) {
  for_all(x, count, out, GeluTanh());
}
HWY_NOINLINE void gelu_tanh_derivative_for_target(const float* x, std::int64_t count, float* out) {
  for_all(x, count, out, GeluTanhDerivative());
}

}  // namespace attnscope::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attnscope {

HWY_EXPORT(gelu_for_target);
HWY_EXPORT(gelu_derivative_for_target);
HWY_EXPORT(gelu_tanh_for_target);
HWY_EXPORT(gelu_tanh_derivative_for_target);

void gelu(const float* x, std::int64_t count, float* out) {
  HWY_DYNAMIC_DISPATCH(gelu_for_target)(x, count, out);
}

void multiply_by_gelu_derivative(const float* x, std::int64_t count, float* gradient) {
  HWY_DYNAMIC_DISPATCH(gelu_derivative_for_target)(x, count, gradient);
}

void gelu_tanh(const float* x, std::int64_t count, float* out) {
  HWY_DYNAMIC_DISPATCH(gelu_tanh_for_target)(x, count, out);
}

void multiply_by_gelu_tanh_derivative(const float* x, std::int64_t count, float* gradient) {
  HWY_DYNAMIC_DISPATCH(gelu_tanh_derivative_for_target)(x, count, gradient);
}

}  // namespace attnscope
#endif
