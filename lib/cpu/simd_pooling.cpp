#include "cpu/simd_pooling.h"

// Highway needs its own order of includes.
// clang-format off
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/simd_pooling.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

HWY_BEFORE_NAMESPACE();
// NOLINTBEGIN(readability-identifier-naming): named apart from the functions that dispatch to them
namespace tpack::cpu::simd::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Calls f(tag, first channel) for vectors of channels of a pixel, then for the remaining channels one by
/// one.
template <class F>
HWY_INLINE HWY_ATTR void each_vector(size_t channels, const F& f) {
  const hn::ScalableTag<float> d;
  const hn::CappedTag<float, 1> one;
  size_t channel = 0;
  for (; channel + hn::Lanes(d) <= channels; channel += hn::Lanes(d)) f(d, channel);
  for (; channel < channels; ++channel) f(one, channel);
}

template <class D>
HWY_INLINE HWY_ATTR auto load_index(D /*d*/, const uint8_t* index) {
  const hn::RebindToSigned<D> di;
  const hn::Rebind<uint8_t, D> d8;
  return hn::PromoteTo(di, hn::LoadU(d8, index));
}

template <class D, class I>
HWY_INLINE HWY_ATTR hn::Mask<D> is_number(D d, I index, uint8_t number) {
  const hn::RebindToSigned<D> di;
  return hn::RebindMask(d, hn::Eq(index, hn::Set(di, number)));
}

/// kPlaces: 0 if unknown at compile time.
template <size_t kPlaces>
HWY_ATTR void max_of_places(const float* image, const Windows& w, float* out, uint8_t* index) {
  const size_t places = kPlaces == 0 ? w.places : kPlaces;
  for (size_t window = 0; window < w.count; ++window) {
    each_vector(w.channels, [&](auto d, size_t channel) HWY_ATTR {
      const hn::RebindToSigned<decltype(d)> di;
      const hn::Rebind<uint8_t, decltype(d)> d8;
      const float* at = image + channel;
      auto best = hn::LoadU(d, at + w.offsets[0]);
      auto where = hn::Set(di, w.numbers[0]);
      for (size_t k = 1; k < places; ++k) {
        const auto x = hn::LoadU(d, at + w.offsets[k]);
        const auto larger = hn::Or(hn::Gt(x, best), hn::IsNaN(x));  // a NaN is never lost
        best = hn::IfThenElse(larger, x, best);
        where = hn::IfThenElse(hn::RebindMask(di, larger), hn::Set(di, w.numbers[k]), where);
      }
      hn::StoreU(best, d, out + channel);
      hn::StoreU(hn::DemoteTo(d8, where), d8, index + channel);
    });
    image += w.step;
    out += w.channels;
    index += w.channels;
  }
}

void MaxOf(const float* image, const Windows& w, float* out, uint8_t* index) {
  if (w.places == 4) return max_of_places<4>(image, w, out, index);
  if (w.places == 9) return max_of_places<9>(image, w, out, index);
  max_of_places<0>(image, w, out, index);
}

template <bool kAdd, size_t kPlaces>
HWY_ATTR void scatter_places(const float* dy, const uint8_t* index, const Windows& w, float* image) {
  const size_t places = kPlaces == 0 ? w.places : kPlaces;
  for (size_t window = 0; window < w.count; ++window) {
    each_vector(w.channels, [&](auto d, size_t channel) HWY_ATTR {
      float* at = image + channel;
      const auto gradient = hn::LoadU(d, dy + channel);
      const auto where = load_index(d, index + channel);
      for (size_t k = 0; k < places; ++k) {
        auto part = hn::IfThenElseZero(is_number(d, where, w.numbers[k]), gradient);
        if constexpr (kAdd) part = hn::Add(hn::LoadU(d, at + w.offsets[k]), part);
        hn::StoreU(part, d, at + w.offsets[k]);
      }
    });
    image += w.step;
    dy += w.channels;
    index += w.channels;
  }
}

void ScatterWindows(const float* dy, const uint8_t* index, const Windows& w, float* image, Scatter how) {
  if (how == Scatter::kAdd) return scatter_places<true, 0>(dy, index, w, image);
  if (w.places == 4) return scatter_places<false, 4>(dy, index, w, image);
  scatter_places<false, 0>(dy, index, w, image);
}

void Gather(const float* image, const uint8_t* index, const Windows& w, float* out) {
  for (size_t window = 0; window < w.count; ++window) {
    each_vector(w.channels, [&](auto d, size_t channel) HWY_ATTR {
      const auto where = load_index(d, index + channel);
      auto found = hn::Zero(d);
      for (size_t k = 0; k < w.places; ++k) {
        const auto x = hn::LoadU(d, image + w.offsets[k] + channel);
        found = hn::IfThenElse(is_number(d, where, w.numbers[k]), x, found);
      }
      hn::StoreU(found, d, out + channel);
    });
    image += w.step;
    index += w.channels;
    out += w.channels;
  }
}

void MeanOf(const float* image, const Windows& w, float* out) {
  const float share = 1.0F / static_cast<float>(w.places);
  for (size_t window = 0; window < w.count; ++window) {
    each_vector(w.channels, [&](auto d, size_t channel) HWY_ATTR {
      auto sum = hn::Zero(d);
      for (size_t k = 0; k < w.places; ++k)
        sum = hn::Add(sum, hn::Mul(hn::LoadU(d, image + w.offsets[k] + channel), hn::Set(d, share)));
      hn::StoreU(sum, d, out + channel);
    });
    image += w.step;
    out += w.channels;
  }
}

void Spread(const float* dy, const Windows& w, float* image) {
  const float share = 1.0F / static_cast<float>(w.places);
  for (size_t window = 0; window < w.count; ++window) {
    each_vector(w.channels, [&](auto d, size_t channel) HWY_ATTR {
      const auto part = hn::Mul(hn::LoadU(d, dy + channel), hn::Set(d, share));
      for (size_t k = 0; k < w.places; ++k) {
        float* at = image + w.offsets[k] + channel;
        hn::StoreU(hn::Add(hn::LoadU(d, at), part), d, at);
      }
    });
    image += w.step;
    dy += w.channels;
  }
}

}  // namespace tpack::cpu::simd::HWY_NAMESPACE
// NOLINTEND(readability-identifier-naming)
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tpack::cpu::simd {

HWY_EXPORT(MaxOf);
HWY_EXPORT(ScatterWindows);
HWY_EXPORT(Gather);
HWY_EXPORT(MeanOf);
HWY_EXPORT(Spread);

void max_of(const float* image, const Windows& windows, float* out, uint8_t* index) {
  HWY_DYNAMIC_DISPATCH(MaxOf)(image, windows, out, index);
}
void scatter(const float* dy, const uint8_t* index, const Windows& windows, float* image, Scatter how) {
  HWY_DYNAMIC_DISPATCH(ScatterWindows)(dy, index, windows, image, how);
}
void gather(const float* image, const uint8_t* index, const Windows& windows, float* out) {
  HWY_DYNAMIC_DISPATCH(Gather)(image, index, windows, out);
}
void mean_of(const float* image, const Windows& windows, float* out) {
  HWY_DYNAMIC_DISPATCH(MeanOf)(image, windows, out);
}
void spread(const float* dy, const Windows& windows, float* image) {
  HWY_DYNAMIC_DISPATCH(Spread)(dy, windows, image);
}

}  // namespace tpack::cpu::simd
#endif
