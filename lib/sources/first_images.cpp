#include "sources/first_images.h"

#include "core/error.h"
#include "core/text_encoding.h"
#include "image/format/image_codec.h"
#include "image/format/image_formats.h"
#include "image/format/orientation.h"
#include "system/mapped_file.h"

namespace tpack {

void FirstImages::look_at(const std::string& path, const std::string& shown) {
  const ImageFormat* const by_name = image_format_of_name(path);
  if (by_name == nullptr) return;
  const bool may_matter =
      !with_image_.empty() || by_name->is_deep != nullptr || by_name->has_alpha != nullptr;
  if (!may_matter || seen_[by_name->name] >= most_) return;
  ++seen_[by_name->name];
  constexpr int kMostDecoded = 10;
  try {
    const MappedFile file(path);
    const EncodedBytes bytes = file.bytes();
    const ImageFormat* const format = image_format_of(bytes);
    if (format == nullptr) return;
    const bool loses_bits = form_.depth == Depth::k8 && format->is_deep != nullptr;
    if (deep_.empty() && loses_bits && format->is_deep(bytes)) deep_ = printable(shown);
    const bool may_turn = form_.upright && !with_image_.empty();
    if (turned_.empty() && may_turn && !read_orientation(bytes).upright()) turned_ = printable(shown);
    const bool may_show = form_.color != Color::kRgba && format->has_alpha != nullptr;
    if (!transparent_.empty() || !may_show || decoded_ >= kMostDecoded || !format->has_alpha(bytes)) return;
    ++decoded_;
    if (shows_background(bytes)) transparent_ = printable(shown);
  } catch (const Error&) {  // reading it is what fails
    return;
  }
}

std::vector<std::string> FirstImages::remarks() const {
  std::vector<std::string> all;
  if (!deep_.empty())
    all.push_back("images of 16 bits per channel, such as " + deep_ +
                  ", lose their lower 8 bits; to keep them, set depth: 16 in " + source_);
  if (!transparent_.empty())
    all.push_back("images with transparent pixels, such as " + transparent_ + ", get the background " +
                  form_.background.str() + "; to change it, set background in " + source_ +
                  "; to keep transparency as a fourth channel, set color: rgba");
  if (!turned_.empty())
    all.push_back(
        "images such as " + turned_ + " are turned upright by their Exif data, and " + with_image_ +
        " must fit the turned images; if they were made for the stored images, set upright: false in " +
        source_);
  return all;
}

}  // namespace tpack
