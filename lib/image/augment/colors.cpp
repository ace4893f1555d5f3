#include "image/augment/colors.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>
#include <vector>

#include <opencv2/imgproc.hpp>

#include "image/pixel_memory.h"

namespace tpack {
namespace {

/// As in Pillow and torchvision (ITU-R BT.601).
float gray_of(float red, float green, float blue) { return 0.299F * red + 0.587F * green + 0.114F * blue; }

/// Calls f(red, green, blue) for each pixel, by reference, in the units of the image.
template <class T, class F>
void change_rgb(cv::Mat& m, const F& f) {
  const int channels = m.channels();
  for (int y = 0; y < m.rows; ++y) {
    T* pixel = m.ptr<T>(y);
    for (int x = 0; x < m.cols; ++x, pixel += channels) {
      std::array<float, 3> rgb = {static_cast<float>(pixel[0]), static_cast<float>(pixel[1]),
                                  static_cast<float>(pixel[2])};
      f(rgb[0], rgb[1], rgb[2]);
      for (size_t c = 0; c < 3; ++c) pixel[c] = cv::saturate_cast<T>(rgb[c]);
    }
  }
}
template <class F>
void for_each_rgb(cv::Mat& m, const F& f) {
  if (m.channels() < 3) return;
  by_depth(m, [&](auto zero) { change_rgb<decltype(zero)>(m, f); });
}

class ValueMap final : public Transform {
 public:
  explicit ValueMap(std::function<double(double)> f) : f_(std::move(f)) {}
  void image(cv::Mat& m) const override {
    if (m.depth() == CV_8U) {
      cv::Mat table(1, 256, CV_8U);
      for (int i = 0; i < 256; ++i) table.at<uint8_t>(i) = cv::saturate_cast<uint8_t>(f_(i));
      cv::Mat out = pooled_mat();
      cv::LUT(m, table, out);
      m = out;
      return;
    }
    by_depth(m, [&](auto zero) { change<decltype(zero)>(m); });
  }

 private:
  template <class T>
  void change(cv::Mat& m) const {
    const double unit = pixel_unit(m);
    for (int y = 0; y < m.rows; ++y) {
      T* row = m.ptr<T>(y);
      for (int x = 0; x < m.cols * m.channels(); ++x)
        row[x] = cv::saturate_cast<T>(f_(static_cast<double>(row[x]) / unit) * unit);
    }
  }

  std::function<double(double)> f_;
};

class Saturate final : public Transform {
 public:
  explicit Saturate(float factor) : factor_(factor) {}
  void image(cv::Mat& m) const override {
    for_each_rgb(m, [this](float& red, float& green, float& blue) {
      const float gray = gray_of(red, green, blue);
      for (float* value : {&red, &green, &blue}) *value = gray + factor_ * (*value - gray);
    });
  }

 private:
  float factor_;
};

class GrayContrast final : public Transform {
 public:
  explicit GrayContrast(float factor) : factor_(factor) {}
  void image(cv::Mat& m) const override {
    const cv::Scalar means = cv::mean(m);
    const double mean = m.channels() < 3 ? means[0] : 0.299 * means[0] + 0.587 * means[1] + 0.114 * means[2];
    cv::Mat out = pooled_mat();
    m.convertTo(out, -1, factor_, (1 - factor_) * mean);
    if (m.channels() % 2 == 0) {  // the last is not a color
      const int last = m.channels() - 1;
      cv::mixChannels(m, out, std::vector<int>{last, last});
    }
    m = out;
  }

 private:
  float factor_;
};

class HueShift final : public Transform {
 public:
  explicit HueShift(float degrees) : sixths_(degrees / 60) {}
  void image(cv::Mat& m) const override {
    for_each_rgb(m, [this](float& red, float& green, float& blue) { shift(red, green, blue); });
  }

 private:
  void shift(float& red, float& green, float& blue) const {
    const float high = std::max({red, green, blue});
    const float chroma = high - std::min({red, green, blue});
    if (chroma <= 0) return;
    float hue = 4 + (red - green) / chroma;  // in sixths of the circle
    if (high == red) {
      hue = (green - blue) / chroma;
    } else if (high == green) {
      hue = 2 + (blue - red) / chroma;
    }
    hue += sixths_;
    hue -= 6 * std::floor(hue / 6);
    const auto channel = [&](float place) {
      const float k = place + hue < 6 ? place + hue : place + hue - 6;
      return high - chroma * std::clamp(std::min(k, 4 - k), 0.0F, 1.0F);
    };
    red = channel(5);
    green = channel(3);
    blue = channel(1);
  }

  float sixths_;
};

class RgbOffset final : public Transform {
 public:
  explicit RgbOffset(const std::array<float, 3>& rgb) : rgb_(rgb) {}
  void image(cv::Mat& m) const override {
    const auto unit = static_cast<float>(pixel_unit(m));
    for_each_rgb(m, [&](float& red, float& green, float& blue) {
      red += rgb_[0] * unit;
      green += rgb_[1] * unit;
      blue += rgb_[2] * unit;
    });
  }

 private:
  std::array<float, 3> rgb_;
};

class Sharpen final : public Transform {
 public:
  explicit Sharpen(float factor) : factor_(factor) {}
  void image(cv::Mat& m) const override {
    if (m.rows < 3 || m.cols < 3) return;
    const float rest = (1 - factor_) / 13;  // Pillow's SMOOTH: 5 of 13 parts are the pixel itself
    cv::Mat kernel(3, 3, CV_32F, cv::Scalar(rest));
    kernel.at<float>(1, 1) = factor_ + 5 * rest;
    cv::Mat out = pooled_mat(m.rows, m.cols, m.type());
    m.copyTo(out);
    const cv::Rect inside(1, 1, m.cols - 2, m.rows - 2);
    cv::Mat changed = pooled_mat();
    cv::filter2D(m, changed, -1, kernel);
    changed(inside).copyTo(out(inside));
    m = out;
  }

 private:
  float factor_;
};

class AutoContrasted final : public Transform {
 public:
  void image(cv::Mat& m) const override {
    std::vector<cv::Mat> channels;
    cv::split(m, channels);
    for (cv::Mat& channel : channels) {
      double low = 0;
      double high = 0;
      cv::minMaxLoc(channel, &low, &high);
      if (high <= low) continue;
      const double scale = 255 * pixel_unit(m) / (high - low);
      channel.convertTo(channel, -1, scale, -low * scale);
    }
    cv::merge(channels, m);
  }
};

/// Values between the 256 of the histogram are interpolated.
class Equalized final : public Transform {
 public:
  void image(cv::Mat& m) const override {
    by_depth(m, [&](auto zero) { equalize<decltype(zero)>(m); });
  }

 private:
  static constexpr size_t kBins = 256;

  /// Same as Pillow's ImageOps.equalize: the last value that occurs does not count for the steps.
  static std::array<double, kBins + 1> table_of(const std::array<int64_t, kBins>& counts) {
    std::array<double, kBins + 1> table{};
    int64_t total = 0;
    int64_t last = 0;
    for (const int64_t count : counts) {
      total += count;
      if (count > 0) last = count;
    }
    const int64_t step = (total - last) / 255;
    int64_t sum = step / 2;
    for (size_t i = 0; i < kBins; ++i) {
      table[i] = step == 0 ? static_cast<double>(i) : static_cast<double>(std::min<int64_t>(sum / step, 255));
      sum += counts[i];
    }
    table[kBins] = table[kBins - 1];
    return table;
  }
  template <class T>
  static double place(T value, double unit) {
    return std::clamp(static_cast<double>(value) / unit, 0.0, 255.0);
  }
  template <class T>
  static void equalize(cv::Mat& m) {
    const double unit = pixel_unit(m);
    const int channels = m.channels();
    for (int c = 0; c < channels; ++c) {
      std::array<int64_t, kBins> counts{};
      for (int y = 0; y < m.rows; ++y) {
        const T* row = m.ptr<T>(y);
        for (int x = c; x < m.cols * channels; x += channels)
          ++counts[static_cast<size_t>(std::lround(place(row[x], unit)))];
      }
      const auto table = table_of(counts);
      for (int y = 0; y < m.rows; ++y) {
        T* row = m.ptr<T>(y);
        for (int x = c; x < m.cols * channels; x += channels) {
          const double at = place(row[x], unit);
          const auto below = static_cast<size_t>(at);
          const double share = at - static_cast<double>(below);
          row[x] = cv::saturate_cast<T>(((1 - share) * table[below] + share * table[below + 1]) * unit);
        }
      }
    }
  }
};

}  // namespace

std::unique_ptr<Transform> make_value_map(std::function<double(double)> f) {
  return std::make_unique<ValueMap>(std::move(f));
}
std::unique_ptr<Transform> make_saturation(float factor) { return std::make_unique<Saturate>(factor); }
std::unique_ptr<Transform> make_gray_contrast(float factor) { return std::make_unique<GrayContrast>(factor); }
std::unique_ptr<Transform> make_hue_shift(float degrees) { return std::make_unique<HueShift>(degrees); }
std::unique_ptr<Transform> make_rgb_offset(const std::array<float, 3>& rgb) {
  return std::make_unique<RgbOffset>(rgb);
}
std::unique_ptr<Transform> make_sharpness(float factor) { return std::make_unique<Sharpen>(factor); }
std::unique_ptr<Transform> make_auto_contrast() { return std::make_unique<AutoContrasted>(); }
std::unique_ptr<Transform> make_equalize() { return std::make_unique<Equalized>(); }
std::unique_ptr<Transform> make_solarize(float threshold) {
  return make_value_map([threshold](double x) { return x < threshold ? x : 255 - x; });
}
std::unique_ptr<Transform> make_posterize(int bits) {
  const double step = 1 << (8 - bits);
  return make_value_map([step](double x) { return std::floor(x / step) * step; });
}
std::unique_ptr<Transform> make_invert() {
  return make_value_map([](double x) { return 255 - x; });
}

}  // namespace tpack
