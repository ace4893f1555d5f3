#pragma once

#include <concepts>
#include <filesystem>
#include <string>
#include <vector>

#include "core/schema.h"
#include "dataflow/spec.h"
#include "image/image.h"

// What sources that read image files share.
namespace tpack {

/// A file of the largest sides has more.
constexpr int kMostMegapixels = 256;

/// The fields of sources of image files.
struct ImageFileFields : ImageForm {
  bool shuffle = true;
};

template <std::derived_from<ImageFileFields> P>
Schema<P> with_image_files(Schema<P> schema) {
  return schema.field("color", static_cast<Color P::*>(&P::color), "color format of the decoded images")
      .field(
          "depth", static_cast<Depth P::*>(&P::depth),
          "bits per channel: 8 gives uint8 images, in which files of 16 bits lose their lower 8; 16 gives "
          "float32 images from 0 to 65535, in which files of 8 bits are multiplied by 257; float gives "
          "float32 images with the values of the files: 0 to 255 of 8 bits, 0 to 65535 of 16 bits, and those "
          "of TIFFs of floating-point, signed or 32-bit pixels as they are")
      .field(
          "frames", static_cast<int P::*>(&P::frames), between(1, kMostFrames),
          "frames of each GIF or animated WebP, or pages of each TIFF: N evenly spaced ones, number i * n / "
          "N "
          "of n for i from 0, as channels one after the other: [height, width, N * channels of the color]. A "
          "file with fewer repeats some of them; other formats, which have one frame, are errors. Augmentors "
          "do the same to all frames. 1: the first frame of any file")
      .field(
          "background", static_cast<Background P::*>(&P::background),
          "color that transparent pixels are put onto: [red, green, blue], or one number for a gray, from "
          "0 to 255. A file with one color that stands for what is transparent keeps it. With color: rgba, "
          "there is no background: the fourth channel is how opaque a pixel is, 0 to white")
      .field("upright", static_cast<bool P::*>(&P::upright),
             "turn images as their Exif data say; false: they stay as they are stored, for masks, boxes and "
             "points that were made so")
      .field("max_megapixels", static_cast<int P::*>(&P::max_megapixels), between(1, kMostMegapixels),
             "larger images, with all their frames, are errors before any of their pixels is read, so that a "
             "damaged file cannot ask for all memory")
      .field("shuffle", static_cast<bool P::*>(&P::shuffle), "use a new order in each pass");
}

/// The component `image` of any size, which stays encoded until a map needs its pixels.
ComponentSpec image_of_files(const ImageForm& form);

/// The names in a folder that `keep` takes, sorted. Errors: DataError.
std::vector<std::string> sorted_names(const std::filesystem::path& folder,
                                      bool (*keep)(const std::filesystem::directory_entry&));
/// A part of a source's fingerprint: the name that it has for a file, and the size of the file. One that is
/// gone has none; reading it is what fails.
std::string size_stamp(const std::string& name, const std::string& path);
/// A path of a list, which becomes that of a file if no file has its name: with slashes, as lists made on
/// Windows have photos\\1.png, and with the other form of its accents.
std::string portable_path(const std::filesystem::path& root, std::string path);
/// Reads a file into component `image`. Errors: FileError.
void read_image_file(const std::string& path, const ImageForm& form, Image& image);

}  // namespace tpack
