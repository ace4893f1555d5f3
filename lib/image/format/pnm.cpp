#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <opencv2/core/mat.hpp>

#include "core/error.h"
#include "image/format/image_formats.h"
#include "image/format/stored_pixels.h"
#include "image/pixel_memory.h"

namespace tpack {
namespace {

[[noreturn]] void damaged_pnm(const std::string& what) { throw DataError("damaged PNM: " + what); }

bool is_pnm_space(uint8_t byte) { return byte == ' ' || (byte >= '\t' && byte <= '\r'); }
bool is_digit(uint8_t byte) { return byte >= '0' && byte <= '9'; }

/// Reads numbers of the header, or of pixels that are text.
class PnmText {
 public:
  PnmText(EncodedBytes bytes, size_t at) : bytes_(bytes), at_(at) {}

  size_t at() const { return at_; }
  /// Errors: DataError for anything else, and above `most`.
  uint32_t number(uint32_t most) {
    skip_spaces();
    if (!is_digit(bytes_[at_])) damaged_pnm("a number was expected at byte " + std::to_string(at_));
    uint64_t value = 0;
    for (; at_ < bytes_.size() && is_digit(bytes_[at_]); ++at_) {
      value = value * 10 + (bytes_[at_] - '0');
      if (value > most)
        damaged_pnm("a number above " + std::to_string(most) + " at byte " + std::to_string(at_));
    }
    if (at_ < bytes_.size() && !is_pnm_space(bytes_[at_]) && bytes_[at_] != '#')
      damaged_pnm("a number that does not end at byte " + std::to_string(at_));
    return static_cast<uint32_t>(value);
  }
  /// Bits need no spaces in between.
  uint32_t bit() {
    skip_spaces();
    const uint8_t digit = bytes_[at_++];
    if (digit != '0' && digit != '1') damaged_pnm("a bit was expected at byte " + std::to_string(at_ - 1));
    return digit - '0';
  }
  /// The one space between the header and pixels that are binary.
  void end_header() {
    if (at_ >= bytes_.size() || !is_pnm_space(bytes_[at_])) damaged_pnm("incomplete header");
    ++at_;
  }

 private:
  /// And comments. Then, there is a byte.
  void skip_spaces() {
    for (; at_ < bytes_.size(); ++at_) {
      if (bytes_[at_] == '#') {
        while (at_ < bytes_.size() && bytes_[at_] != '\n' && bytes_[at_] != '\r') ++at_;
        if (at_ == bytes_.size()) break;
      } else if (!is_pnm_space(bytes_[at_])) {
        return;
      }
    }
    damaged_pnm("the file ends early");
  }

  EncodedBytes bytes_;
  size_t at_;
};

/// Source: https://netpbm.sourceforge.net/doc/pnm.html
struct PnmHeader {
  ImageSize size;
  bool is_text = false;
  bool is_bits = false;  // 1 is black
  int channels = 1;
  uint32_t white = 1;
  size_t pixels_at = 0;

  int values_of_row() const { return size.width * channels; }
  size_t bytes_of_row() const {
    const auto values = static_cast<size_t>(values_of_row());
    if (is_bits) return (values + 7) / 8;
    return white > 255 ? values * 2 : values;
  }
};

PnmHeader parse_pnm(EncodedBytes bytes) {
  const int kind = bytes[1] - '0';
  PnmHeader header;
  header.is_text = kind <= 3;
  header.is_bits = kind % 3 == 1;
  header.channels = kind % 3 == 0 ? 3 : 1;
  PnmText text(bytes, 2);
  constexpr uint32_t kLargest = INT32_MAX;
  header.size.width = static_cast<int>(text.number(kLargest));
  header.size.height = static_cast<int>(text.number(kLargest));
  if (!header.is_bits) header.white = text.number(65535);
  if (header.white == 0) damaged_pnm("the largest value is 0");
  text.end_header();
  header.pixels_at = text.at();
  return header;
}

/// Writes the meaning of each value of the file to its position.
template <class T>
class PnmRows {
 public:
  PnmRows(const PnmHeader& header, const Region& region, cv::Mat& out)
      : header_(header), region_(region), out_(out), meaning_(header.white + size_t{1}) {
    const double white = std::numeric_limits<T>::max();
    for (size_t i = 0; i < meaning_.size(); ++i) {
      const double share = static_cast<double>(i) / header.white;
      meaning_[i] = static_cast<T>(std::nearbyint((header.is_bits ? 1 - share : share) * white));
    }
  }

  void read_binary(EncodedBytes bytes) {
    const size_t row_bytes = header_.bytes_of_row();
    if (bytes.size() - header_.pixels_at < row_bytes * static_cast<size_t>(header_.size.height))
      damaged_pnm("the file ends early");
    for (int y = 0; y < region_.height; ++y) {
      const auto stored = static_cast<size_t>(region_.y) + static_cast<size_t>(y);
      read_binary_row(bytes.subspan(header_.pixels_at + stored * row_bytes, row_bytes), out_.ptr<T>(y));
    }
  }
  void read_text(EncodedBytes bytes) {
    PnmText text(bytes, header_.pixels_at);
    const int first = region_.x * header_.channels;
    const int end = first + region_.width * header_.channels;
    for (int y = 0; y < region_.y + region_.height; ++y) {
      T* const row = y < region_.y ? nullptr : out_.ptr<T>(y - region_.y);
      for (int i = 0; i < header_.values_of_row(); ++i) {
        const uint32_t value = header_.is_bits ? text.bit() : text.number(header_.white);
        if (row != nullptr && i >= first && i < end) row[i - first] = meaning_[value];
      }
    }
  }

 private:
  void read_binary_row(EncodedBytes row, T* out) const {
    const auto first = static_cast<size_t>(region_.x) * static_cast<size_t>(header_.channels);
    const auto count = static_cast<size_t>(region_.width) * static_cast<size_t>(header_.channels);
    for (size_t i = 0; i < count; ++i) out[i] = meaning_[std::min(value_of(row, first + i), header_.white)];
  }
  uint32_t value_of(EncodedBytes row, size_t i) const {
    if (header_.is_bits) return (static_cast<uint32_t>(row[i / 8]) >> (7 - i % 8)) & 1U;
    if (header_.white <= 255) return row[i];
    return static_cast<uint32_t>(row[2 * i]) << 8U | row[2 * i + 1];
  }

  const PnmHeader& header_;
  const Region& region_;
  cv::Mat& out_;
  std::vector<T> meaning_;  // by value
};

template <class T>
void read_pnm(EncodedBytes bytes, const PnmHeader& header, const Region& region, cv::Mat& out) {
  PnmRows<T> rows(header, region, out);
  if (header.is_text)
    rows.read_text(bytes);
  else
    rows.read_binary(bytes);
}

}  // namespace

bool is_pnm(EncodedBytes bytes) {
  if (bytes.size() < 3 || bytes[0] != 'P' || bytes[1] < '1' || bytes[1] > '6') return false;
  if (!is_pnm_space(bytes[2]) && bytes[2] != '#') return false;
  const auto word = std::find_if(bytes.begin() + 2, bytes.end(), [](uint8_t b) { return !is_pnm_space(b); });
  return word != bytes.end() && (is_digit(*word) || *word == '#');
}

ImageSize read_pnm_header(EncodedBytes bytes) { return parse_pnm(bytes).size; }

bool is_deep_pnm(EncodedBytes bytes) { return parse_pnm(bytes).white > 255; }

Box decode_pnm(EncodedBytes bytes, const DecodeRequest& request, int channels, cv::Mat& out) {
  const PnmHeader header = parse_pnm(bytes);
  const Region& region = request.region;
  const bool is_deep = request.depth != Depth::k8 && header.white > 255;
  cv::Mat pixels =
      pooled_mat(region.height, region.width, CV_MAKETYPE(is_deep ? CV_16U : CV_8U, header.channels));
  if (is_deep)
    read_pnm<uint16_t>(bytes, header, region, pixels);
  else
    read_pnm<uint8_t>(bytes, header, region, pixels);
  return give_pixels(pixels, request, channels, out);
}

}  // namespace tpack
