#include <algorithm>
#include <array>

#include <opencv2/imgproc.hpp>

#include "core/error.h"
#include "core/registry.h"
#include "core/text.h"
#include "dataflow/file_stamp.h"
#include "dataflow/source.h"
#include "image/format/image_codec.h"
#include "image/pixel_memory.h"
#include "sources/format/caffe_datum.h"
#include "sources/format/lmdb.h"

namespace tpack {
namespace {

enum class ChannelOrder : uint8_t { kBgr, kRgb };

}  // namespace

template <>
struct EnumNames<ChannelOrder> {
  static constexpr std::array<std::pair<const char*, ChannelOrder>, 2> kNames = {
      {{"bgr", ChannelOrder::kBgr}, {"rgb", ChannelOrder::kRgb}}};
};

namespace {

struct CaffeLmdbParams {
  Ref<Path> path;
  bool shuffle = true;
  std::optional<Color> color = {};
  ChannelOrder stored_order = ChannelOrder::kBgr;
};

/// A key as text; bytes that are not printable ASCII in hexadecimal.
std::string printable_key(std::string_view key) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (const char c : key) {
    const auto byte = static_cast<uint8_t>(c);
    if (byte >= 32 && byte < 127) {
      text += c;
    } else {
      text += {'\\', 'x', kDigits[byte >> 4U], kDigits[byte & 15U]};
    }
  }
  return text;
}

/// [channels, height * width] to [height * width, channels].
template <class T>
void interleave_planes(std::span<const T> planes, int64_t channels, T* out) {
  const int64_t pixels = static_cast<int64_t>(planes.size()) / channels;
  for (int64_t p = 0; p < pixels; ++p) {
    for (int64_t c = 0; c < channels; ++c) *out++ = planes[static_cast<size_t>(c * pixels + p)];
  }
}

/// Records are found when the database is opened, and parsed when they are read.
class CaffeLmdb final : public RandomAccessSource, public SourceFiles {
 public:
  using Params = CaffeLmdbParams;
  static Schema<Params> schema() {
    return Schema<Params>(
               "Reads a Caffe database: an LMDB with a Datum in each record. Provides `image` [height, "
               "width, channels], uint8 in RGB order, and `label`. For records with float_data, `image` is "
               "float32.")
        .example("CaffeLMDB: {path: train_lmdb}")
        .field("path", &Params::path, "the folder with data.mdb, or the file")
        .required()
        .shorthand()
        .field("shuffle", &Params::shuffle, "use a new order in each pass; false: in the order of the keys")
        .field("color", &Params::color,
               "color format of the images; default: arrays of pixels keep their stored channels, encoded "
               "images are decoded to rgb")
        .field("stored_order", &Params::stored_order,
               "order of the three channels in arrays of pixels; Caffe's convert_imageset writes bgr");
  }
  explicit CaffeLmdb(Params p) : p_(std::move(p)), path_(resolved_path(p_.path)) {
    if (p_.color == Color::kRgba)
      throw ConfigError("CaffeLMDB: color 'rgba' is not supported; use rgb or gray");
  }

  bool knows_spec() const override { return false; }
  Spec spec() const override {
    const bool is_image = tensor_.dtype == DType::kUInt8 && (tensor_.shape[2] == 1 || tensor_.shape[2] == 3);
    return {{"image", tensor_, is_image}, {"label", {DType::kInt32, {}}}};
  }
  const char* path_field() const override { return "path"; }
  int64_t size() const override { return database_ == nullptr ? 0 : database_->size(); }
  bool shuffled() const override { return p_.shuffle; }
  SourceFacts facts() const override { return {.samples = size(), .unit = "records"}; }
  std::string fingerprint() const override { return file_stamp(lmdb_file(path_)); }
  std::optional<OpenFile> open_file() const override {
    return OpenFile{lmdb_file(path_), database_->stamp()};
  }
  std::string file_of(int64_t index) const override {
    return path_ + ", key '" + printable_key(database_->key(index)) + "'";
  }

  void get(int64_t index, const SampleKey& /*key*/, Datapoint& out) const override {
    try {
      const CaffeDatum datum = read_caffe_datum(database_->value(index));
      check_kind(datum);
      if (datum.kind == CaffeDatum::Kind::kEncoded) {
        Image& image = out.renew_image(0);
        std::ranges::copy(datum.bytes, image.encoded_buffer(datum.bytes.size()).begin());
        image.header_known({encoded_color()}, file_of(index));
      } else if (datum.kind == CaffeDatum::Kind::kFloats) {
        const TensorSpec spec{DType::kFloat32, {datum.height, datum.width, datum.channels}};
        interleave_planes(datum.floats, datum.channels, out.renew(0, spec).data<float>());
      } else {
        store_pixels(datum, out.renew(0, spec_of(datum)));
      }
      *out.renew(1, {DType::kInt32, {}}).data<int32_t>() = datum.label;
    } catch (const FileError&) {
      throw;
    } catch (const DataError& error) {
      throw FileError(file_of(index), error.what());
    }
  }

 protected:
  void prepare() override {
    require_path("CaffeLMDB", p_.path, "folder or file");
    database_ = std::make_unique<LmdbReader>(path_);
    find_spec();
  }

 private:
  /// The form of the images comes from some evenly spaced records; damaged records are found when they are
  /// read. If their sizes differ, the size is unknown. Reading all records could take an hour, so another
  /// size is only noticed by the batch that it does not fit into.
  void find_spec() {
    constexpr int64_t kMaxProbes = 16;
    const int64_t probes = std::min(size(), kMaxProbes);
    std::optional<TensorSpec> found;
    std::string first_error;
    for (int64_t i = 0; i < probes; ++i) {
      const int64_t index = probes == 1 ? 0 : i * (size() - 1) / (probes - 1);
      try {
        add_probe(spec_of(read_caffe_datum(database_->value(index))), found);
      } catch (const DataError& error) {
        if (first_error.empty()) first_error = file_of(index) + ": " + error.what();
      }
    }
    if (!found) throw DataError(first_error);
    tensor_ = *found;
  }
  static void add_probe(const TensorSpec& probe, std::optional<TensorSpec>& found) {
    if (!found) found = probe;
    if (found->dtype != probe.dtype || found->shape[2] != probe.shape[2]) return;  // `get` rejects it
    for (const int axis : {0, 1})
      if (found->shape[axis] != probe.shape[axis]) found->shape = found->shape.with(axis, Shape::kUnknown);
  }

  Color encoded_color() const { return p_.color.value_or(Color::kRgb); }
  /// The converted record.
  TensorSpec spec_of(const CaffeDatum& datum) const {
    if (datum.kind == CaffeDatum::Kind::kEncoded) {
      const ImageSize size = read_image_header(datum.bytes);
      return {DType::kUInt8, {size.height, size.width, channels_of(encoded_color())}};
    }
    const bool is_image =
        datum.kind == CaffeDatum::Kind::kBytes && (datum.channels == 1 || datum.channels == 3);
    const int64_t channels = is_image && p_.color ? channels_of(*p_.color) : datum.channels;
    const bool is_float = datum.kind == CaffeDatum::Kind::kFloats;
    return {is_float ? DType::kFloat32 : DType::kUInt8, {datum.height, datum.width, channels}};
  }
  void check_kind(const CaffeDatum& datum) const {
    const TensorSpec spec =
        datum.kind == CaffeDatum::Kind::kEncoded
            ? TensorSpec{DType::kUInt8, tensor_.shape.with(2, channels_of(encoded_color()))}
            : spec_of(datum);
    if (spec.dtype == tensor_.dtype && spec.shape[2] == tensor_.shape[2]) return;
    throw DataError("a record with " + std::to_string(spec.shape[2]) + " channels of " + name_of(spec.dtype) +
                    "; the first one has " + std::to_string(tensor_.shape[2]) + " of " +
                    name_of(tensor_.dtype) + "; to read images of 1 and 3 channels, set 'color'");
  }

  /// Writes the pixels of `datum` to `out` [height, width, channels].
  void store_pixels(const CaffeDatum& datum, const Tensor& out) const {
    const bool is_image = datum.channels == 1 || datum.channels == 3;
    if (!is_image) return interleave_planes(datum.bytes, datum.channels, out.data<uint8_t>());
    const auto side = [](int64_t size) { return static_cast<int>(size); };
    const auto plane = [&](int64_t channel) {  // OpenCV has no view of constant data; nothing writes here
      auto* const data = const_cast<uint8_t*>(datum.bytes.data()) + channel * datum.height * datum.width;
      return cv::Mat(side(datum.height), side(datum.width), CV_8U, data);
    };
    const auto channels = static_cast<int>(out.shape()[2]);
    cv::Mat pixels(side(datum.height), side(datum.width), CV_8UC(channels), out.raw());
    if (datum.channels == 1) {
      const std::array<cv::Mat, 3> planes = {plane(0), plane(0), plane(0)};
      cv::merge(planes.data(), static_cast<size_t>(channels), pixels);
      return;
    }
    const bool is_bgr = p_.stored_order == ChannelOrder::kBgr;
    const std::array<cv::Mat, 3> planes = {plane(is_bgr ? 2 : 0), plane(1), plane(is_bgr ? 0 : 2)};
    if (channels == 3) {
      cv::merge(planes.data(), planes.size(), pixels);
      return;
    }
    cv::Mat rgb = pooled_mat();
    cv::merge(planes.data(), planes.size(), rgb);
    cv::cvtColor(rgb, pixels, cv::COLOR_RGB2GRAY);
  }

  Params p_;
  std::string path_;
  std::unique_ptr<LmdbReader> database_;
  TensorSpec tensor_;  // of an image; sizes may be unknown
};

TPACK_REGISTER(Source, CaffeLmdb, "CaffeLMDB");

}  // namespace
}  // namespace tpack
