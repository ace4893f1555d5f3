#include "cpu/ops/simd_pooling.h"

// Highway needs its own order of includes.
// clang-format off
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/ops/simd_pooling.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "tensor/half_vectors.inl.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
// NOLINTBEGIN(readability-identifier-naming): named apart from the functions that dispatch to them
namespace tpack::cpu::simd::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
using tpack::HWY_NAMESPACE::load_floats;
using tpack::HWY_NAMESPACE::store_floats;

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
template <size_t kPlaces, class T>
HWY_ATTR void max_of_places(const T* image, const Windows& w, T* out, uint8_t* index) {
  const size_t places = kPlaces == 0 ? w.places : kPlaces;
  for (size_t window = 0; window < w.count; ++window) {
    each_vector(w.channels, [&](auto d, size_t channel) HWY_ATTR {
      const hn::RebindToSigned<decltype(d)> di;
      const hn::Rebind<uint8_t, decltype(d)> d8;
      const T* at = image + channel;
      auto best = load_floats(d, at + w.offsets[0]);
      auto where = hn::Set(di, w.numbers[0]);
      for (size_t k = 1; k < places; ++k) {
        const auto x = load_floats(d, at + w.offsets[k]);
        const auto larger = hn::Or(hn::Gt(x, best), hn::IsNaN(x));  // a NaN is never lost
        best = hn::IfThenElse(larger, x, best);
        where = hn::IfThenElse(hn::RebindMask(di, larger), hn::Set(di, w.numbers[k]), where);
      }
      store_floats(d, best, out + channel);
      hn::StoreU(hn::DemoteTo(d8, where), d8, index + channel);
    });
    image += w.step;
    out += w.channels;
    index += w.channels;
  }
}

template <class T>
void max_in(const T* image, const Windows& w, T* out, uint8_t* index) {
  if (w.places == 4) return max_of_places<4>(image, w, out, index);
  if (w.places == 9) return max_of_places<9>(image, w, out, index);
  max_of_places<0>(image, w, out, index);
}

template <bool kAdd, size_t kPlaces, class T>
HWY_ATTR void scatter_places(const T* dy, const uint8_t* index, const Windows& w, T* image) {
  const size_t places = kPlaces == 0 ? w.places : kPlaces;
  for (size_t window = 0; window < w.count; ++window) {
    each_vector(w.channels, [&](auto d, size_t channel) HWY_ATTR {
      T* at = image + channel;
      const auto gradient = load_floats(d, dy + channel);
      const auto where = load_index(d, index + channel);
      for (size_t k = 0; k < places; ++k) {
        auto part = hn::IfThenElseZero(is_number(d, where, w.numbers[k]), gradient);
        if constexpr (kAdd) part = hn::Add(load_floats(d, at + w.offsets[k]), part);
        store_floats(d, part, at + w.offsets[k]);
      }
    });
    image += w.step;
    dy += w.channels;
    index += w.channels;
  }
}

template <class T>
void scatter_by(const T* dy, const uint8_t* index, const Windows& w, T* image, Scatter how) {
  if (how == Scatter::kAdd) return scatter_places<true, 0>(dy, index, w, image);
  if (w.places == 4) return scatter_places<false, 4>(dy, index, w, image);
  scatter_places<false, 0>(dy, index, w, image);
}

template <class T>
void gather_by(const T* image, const uint8_t* index, const Windows& w, T* out) {
  for (size_t window = 0; window < w.count; ++window) {
    each_vector(w.channels, [&](auto d, size_t channel) HWY_ATTR {
      const auto where = load_index(d, index + channel);
      auto found = hn::Zero(d);
      for (size_t k = 0; k < w.places; ++k) {
        const auto x = load_floats(d, image + w.offsets[k] + channel);
        found = hn::IfThenElse(is_number(d, where, w.numbers[k]), x, found);
      }
      store_floats(d, found, out + channel);
    });
    image += w.step;
    index += w.channels;
    out += w.channels;
  }
}

template <class T>
void mean_in(const T* image, const Windows& w, T* out) {
  const float share = 1.0F / static_cast<float>(w.places);
  for (size_t window = 0; window < w.count; ++window) {
    each_vector(w.channels, [&](auto d, size_t channel) HWY_ATTR {
      auto sum = hn::Zero(d);
      for (size_t k = 0; k < w.places; ++k)
        sum = hn::Add(sum, hn::Mul(load_floats(d, image + w.offsets[k] + channel), hn::Set(d, share)));
      store_floats(d, sum, out + channel);
    });
    image += w.step;
    out += w.channels;
  }
}

template <class T>
void spread_by(const T* dy, const Windows& w, T* image) {
  const float share = 1.0F / static_cast<float>(w.places);
  for (size_t window = 0; window < w.count; ++window) {
    each_vector(w.channels, [&](auto d, size_t channel) HWY_ATTR {
      const auto part = hn::Mul(load_floats(d, dy + channel), hn::Set(d, share));
      for (size_t k = 0; k < w.places; ++k) {
        T* at = image + w.offsets[k] + channel;
        store_floats(d, hn::Add(load_floats(d, at), part), at);
      }
    });
    image += w.step;
    dy += w.channels;
  }
}

/// f(pointer to elements of the type, in the place of each of the two).
template <class F>
HWY_INLINE HWY_ATTR void for_type(DType type, const std::byte* a, std::byte* b, const F& f) {
  if (type == DType::kBFloat16) {
    f(reinterpret_cast<const BFloat16*>(a), reinterpret_cast<BFloat16*>(b));
  } else {
    f(reinterpret_cast<const float*>(a), reinterpret_cast<float*>(b));
  }
}

void MaxOf(DType type, const std::byte* image, const Windows& w, std::byte* out, uint8_t* index) {
  for_type(type, image, out, [&](auto* from, auto* to) { max_in(from, w, to, index); });
}
void ScatterWindows(DType type, const std::byte* dy, const uint8_t* index, const Windows& w, std::byte* image,
                    Scatter how) {
  for_type(type, dy, image, [&](auto* from, auto* to) { scatter_by(from, index, w, to, how); });
}
void Gather(DType type, const std::byte* image, const uint8_t* index, const Windows& w, std::byte* out) {
  for_type(type, image, out, [&](auto* from, auto* to) { gather_by(from, index, w, to); });
}
void MeanOf(DType type, const std::byte* image, const Windows& w, std::byte* out) {
  for_type(type, image, out, [&](auto* from, auto* to) { mean_in(from, w, to); });
}
void Spread(DType type, const std::byte* dy, const Windows& w, std::byte* image) {
  for_type(type, dy, image, [&](auto* from, auto* to) { spread_by(from, w, to); });
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

void max_of(DType type, const std::byte* image, const Windows& windows, std::byte* out, uint8_t* index) {
  HWY_DYNAMIC_DISPATCH(MaxOf)(type, image, windows, out, index);
}
void scatter(DType type, const std::byte* dy, const uint8_t* index, const Windows& windows, std::byte* image,
             Scatter how) {
  HWY_DYNAMIC_DISPATCH(ScatterWindows)(type, dy, index, windows, image, how);
}
void gather(DType type, const std::byte* image, const uint8_t* index, const Windows& windows,
            std::byte* out) {
  HWY_DYNAMIC_DISPATCH(Gather)(type, image, index, windows, out);
}
void mean_of(DType type, const std::byte* image, const Windows& windows, std::byte* out) {
  HWY_DYNAMIC_DISPATCH(MeanOf)(type, image, windows, out);
}
void spread(DType type, const std::byte* dy, const Windows& windows, std::byte* image) {
  HWY_DYNAMIC_DISPATCH(Spread)(type, dy, windows, image);
}

}  // namespace tpack::cpu::simd
#endif
