#include "data_tools/contact_sheet.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include <opencv2/imgproc.hpp>

#include "core/error.h"
#include "dataflow/datapoint.h"
#include "draw/annotation.h"
#include "draw/png.h"
#include "image/format/stored_pixels.h"
#include "image/frames.h"
#include "system/file_io.h"

namespace tpack {
namespace {

constexpr int kGapPixels = 4;       // between columns, and at the border
constexpr int kCaptionPixels = 16;  // below an image; has the caption, which starts 3 pixels down
constexpr int kBaselinePixels = 11;
constexpr int kLegendPixels = 16;  // a line of the legend
constexpr int kRowGapPixels = 14;  // below a caption: it must be nearer to its own image

struct Columns {
  size_t image = 0;
  std::optional<size_t> label;
  std::optional<size_t> mask;
  std::optional<size_t> boxes;
  std::optional<size_t> points;
};

Columns find_columns(const Spec& spec) {
  Columns columns;
  const auto image = std::find_if(spec.begin(), spec.end(), [](const auto& c) { return c.is_image; });
  if (image == spec.end())
    throw ConfigError("a contact sheet needs an image; the datapoints have " + spec.str());
  columns.image = static_cast<size_t>(image - spec.begin());
  for (size_t i = 0; i < spec.size(); ++i) {
    const bool is_label = spec[i].tensor.dtype == DType::kInt32;  // not a set of labels
    if (!columns.label && is_label && !spec[i].classes.empty()) columns.label = i;
    for (const auto& [which, column] :
         {std::pair{Annotation::kMask, &columns.mask}, std::pair{Annotation::kBoxes, &columns.boxes},
          std::pair{Annotation::kPoints, &columns.points}}) {
      if (!*column && spec[i].annotation == which) *column = i;
    }
  }
  return columns;
}

/// One sample of a datapoint, or its row `row` if that is a batch.
CaptionedImage captioned(Datapoint& d, const Spec& spec, const Columns& columns, std::optional<int64_t> row) {
  const auto part = [&](size_t i) { return row ? d.to_tensor(i).row(*row) : d.to_tensor(i); };
  CaptionedImage one{first_frame(part(columns.image), spec[columns.image].frames), ""};
  if (columns.mask) one.mask = part(*columns.mask);
  if (columns.boxes) one.boxes = part(*columns.boxes);
  if (columns.points) one.points = part(*columns.points);
  if (columns.label) {
    const auto value = static_cast<int64_t>(d.tensor(*columns.label).at(row.value_or(0)));
    one.caption = spec[*columns.label].class_name(value);
  }
  return one;
}

/// uint8 [height, width, 3] of one image [height, width, channels]; values of other types than uint8 are
/// scaled to 0..255.
Tensor to_rgb(const Tensor& image) {
  const auto side = [&image](int axis) { return static_cast<int>(image.shape()[axis]); };
  cv::Mat floats(side(0), side(1), CV_32FC(side(2)));
  const Tensor values = image.cast(DType::kFloat32);
  std::copy_n(values.data<float>(), values.elements(), floats.ptr<float>());
  double least = 0;
  double most = 255;
  if (image.dtype() != DType::kUInt8) cv::minMaxLoc(floats.reshape(1), &least, &most);
  cv::Mat bytes;
  const double scale = 255 / std::max(most - least, 1e-12);
  floats.convertTo(bytes, CV_8U, scale, -least * scale);
  cv::Mat pixels;
  give_pixels(bytes, {.background = Background{}}, 3, pixels);
  Tensor rgb(DType::kUInt8, {side(0), side(1), 3});
  std::memcpy(rgb.raw(), pixels.data, rgb.bytes());
  return rgb;
}

/// The picture of an image, with its mask over it if that has its size.
Tensor picture_of(const CaptionedImage& one) {
  Tensor rgb = to_rgb(one.image);
  const bool has_mask = !one.mask.empty() && one.mask.shape() == Shape{rgb.shape()[0], rgb.shape()[1]};
  return has_mask ? overlaid(rgb, one.mask, class_colors(256)) : rgb;
}

/// Class 0 of a mask has no color, but that of boxes has one.
size_t color_of_box(size_t label) { return 1 + label % 255; }

void write_text(cv::Mat& picture, const std::string& text, const cv::Point& at) {
  cv::putText(picture, text, at, cv::FONT_HERSHEY_SIMPLEX, 0.35, cv::Scalar::all(0), 1, cv::LINE_AA);
}

/// As wide as a sheet, with as many lines as needed.
cv::Mat picture_of(const Legend& legend, int width) {
  constexpr int kSwatch = 9;
  constexpr int kNearText = 4;
  constexpr int kBetween = 14;
  cv::Mat picture(kLegendPixels, width, CV_8UC3, cv::Scalar::all(255));
  cv::Point at{kGapPixels, 0};
  for (const auto& [color, name] : legend) {
    const int text = cv::getTextSize(name, cv::FONT_HERSHEY_SIMPLEX, 0.35, 1, nullptr).width;
    if (at.x > kGapPixels && at.x + kSwatch + kNearText + text > width) {
      at = {kGapPixels, picture.rows};
      picture.push_back(cv::Mat(kLegendPixels, width, CV_8UC3, cv::Scalar::all(255)));
    }
    const cv::Rect swatch(at.x, at.y + 3, std::min(kSwatch, width - at.x), kSwatch);
    picture(swatch) = cv::Scalar(color[0], color[1], color[2]);
    write_text(picture, name, {at.x + kSwatch + kNearText, at.y + kBaselinePixels});
    at.x += kSwatch + kNearText + text + kBetween;
  }
  return picture;
}

/// Draws on the tile, so that lines keep their thickness. `scale`: tile pixels per image pixel.
void draw_annotations(Tensor& tile, const CaptionedImage& one, double scale) {
  const std::vector<RgbColor> colors = class_colors(256);
  const auto at = [scale](const Tensor& t, int64_t i) { return t.at(i) * scale; };
  for (int64_t i = 0; !one.boxes.empty() && i < one.boxes.elements(); i += 5) {
    const double label = one.boxes.at(i + 4);
    if (label < 0) continue;
    const size_t color = color_of_box(static_cast<size_t>(label));
    draw_box(tile, {at(one.boxes, i), at(one.boxes, i + 1), at(one.boxes, i + 2), at(one.boxes, i + 3)},
             colors[color]);
  }
  for (int64_t i = 0; !one.points.empty() && i < one.points.elements(); i += 2)
    draw_point(tile, at(one.points, i), at(one.points, i + 1), colors[1]);
}

class Sheet {
 public:
  explicit Sheet(const ContactSheetOptions& options) : o_(options) {}
  bool full() const { return shown_ == o_.count; }
  void write(const std::string& path, const Legend& legend) const {
    if (shown_ == 0) throw DataError(path + ": there is no sample to draw");
    write_whole_file(path, encode_png(picture(legend)).front().png);
  }

  void add(const CaptionedImage& one) {
    const Tensor rgb = picture_of(one);
    if (shown_ == 0) start(std::max(rgb.shape()[0], rgb.shape()[1]));
    const cv::Mat scaled = fitted(
        cv::Mat(static_cast<int>(rgb.shape()[0]), static_cast<int>(rgb.shape()[1]), CV_8UC3, rgb.raw()));
    Tensor pixels(DType::kUInt8, {scaled.rows, scaled.cols, 3});
    cv::Mat tile(scaled.rows, scaled.cols, CV_8UC3, pixels.raw());
    scaled.copyTo(tile);
    draw_annotations(pixels, one, static_cast<double>(tile.cols) / static_cast<double>(rgb.shape()[1]));
    const int x = kGapPixels + shown_ % o_.columns * (o_.tile_pixels + kGapPixels);
    const int bottom = kGapPixels + shown_ / o_.columns * row_pixels() + o_.tile_pixels;
    tile.copyTo(picture_(cv::Rect(x, bottom - tile.rows, tile.cols, tile.rows)));
    const auto most = static_cast<size_t>(std::max(1, o_.tile_pixels / 7));
    write_text(picture_, one.caption.substr(0, most), {x, bottom + kBaselinePixels});
    ++shown_;
  }

 private:
  /// `side`: of the first image.
  void start(int64_t side) {
    if (o_.tile_pixels == 0) o_.tile_pixels = static_cast<int>(std::clamp<int64_t>(side, 96, 192));
    const int rows = (o_.count + o_.columns - 1) / o_.columns;
    picture_ =
        cv::Mat(rows * row_pixels() + kGapPixels, o_.columns * (o_.tile_pixels + kGapPixels) + kGapPixels,
                CV_8UC3, cv::Scalar::all(255));
  }

  /// The sheet without empty cells, with the legend below. Shape: [height, width, 3].
  Tensor picture(const Legend& legend) const {
    const int columns = std::min(shown_, o_.columns);
    const int rows = (shown_ + o_.columns - 1) / o_.columns;
    cv::Mat used = picture_(cv::Rect(0, 0, columns * (o_.tile_pixels + kGapPixels) + kGapPixels,
                                     rows * row_pixels() + kGapPixels));
    if (!legend.empty()) cv::vconcat(used, picture_of(legend, used.cols), used);
    Tensor pixels(DType::kUInt8, {used.rows, used.cols, 3});
    for (int y = 0; y < used.rows; ++y)
      std::memcpy(pixels.row(y).raw(), used.ptr(y), static_cast<size_t>(used.cols) * 3);
    return pixels;
  }

  int row_pixels() const { return o_.tile_pixels + kCaptionPixels + kRowGapPixels; }

  cv::Mat fitted(const cv::Mat& image) const {
    const int side = std::max(image.cols, image.rows);
    cv::Mat out;
    if (side <= o_.tile_pixels) {
      const int factor = o_.tile_pixels / side;
      cv::resize(image, out, {image.cols * factor, image.rows * factor}, 0, 0, cv::INTER_NEAREST);
    } else {
      const double factor = static_cast<double>(o_.tile_pixels) / side;
      const auto scaled = [factor](int length) { return std::max(1, static_cast<int>(length * factor)); };
      cv::resize(image, out, {scaled(image.cols), scaled(image.rows)}, 0, 0, cv::INTER_AREA);
    }
    return out;
  }

  ContactSheetOptions o_;
  cv::Mat picture_;
  int shown_ = 0;
};

}  // namespace

void write_contact_sheet(const DataFlow& flow, const std::string& path, const ContactSheetOptions& options) {
  const Columns columns = find_columns(flow.spec());
  const bool batched = flow.batch_size().has_value();
  const auto cursor = flow.open({.seed = options.seed, .pass = options.pass});
  Sheet sheet(options);
  for (Datapoint d; !sheet.full() && cursor->next(d);) {
    const int64_t samples = batched ? d.to_tensor(columns.image).shape()[0] : 1;
    for (int64_t row = 0; row < samples && !sheet.full(); ++row)
      sheet.add(captioned(d, flow.spec(), columns, batched ? std::optional(row) : std::nullopt));
  }
  sheet.write(path, legend_of(flow.spec()));
}

Legend legend_of_masks(const std::vector<std::string>& classes) {
  Legend legend;
  const std::vector<RgbColor> colors = class_colors(classes.size());
  for (size_t c = 1; c < colors.size(); ++c) legend.emplace_back(colors[c], classes[c]);
  return legend;
}

Legend legend_of(const Spec& spec) {
  const Columns columns = find_columns(spec);
  if (columns.mask) return legend_of_masks(spec[*columns.mask].classes);
  Legend legend;
  if (!columns.boxes) return legend;
  const std::vector<RgbColor> colors = class_colors(256);
  const std::vector<std::string>& classes = spec[*columns.boxes].classes;
  for (size_t c = 0; c < classes.size(); ++c) legend.emplace_back(colors[color_of_box(c)], classes[c]);
  return legend;
}

std::vector<CaptionedImage> captioned_images(const Spec& spec, std::span<Datapoint> samples) {
  const Columns columns = find_columns(spec);
  std::vector<CaptionedImage> images;
  for (Datapoint& sample : samples) images.push_back(captioned(sample, spec, columns, std::nullopt));
  return images;
}

void write_image_sheet(const std::vector<CaptionedImage>& images, const std::string& path, int columns,
                       const Legend& legend) {
  Sheet sheet({.count = static_cast<int>(images.size()), .columns = columns});
  for (const CaptionedImage& one : images) sheet.add(one);
  sheet.write(path, legend);
}

}  // namespace tpack
