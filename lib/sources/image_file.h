#pragma once

#include <concepts>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "core/schema.h"
#include "dataflow/spec.h"
#include "image/image.h"
#include "system/input_file.h"

// Common parts of sources that read image files.
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
      .field("depth", static_cast<Depth P::*>(&P::depth),
             "bits per channel. 8: uint8 images; files of 16 bits lose their lower 8. 16: float32 images "
             "from 0 to 65535; files of 8 bits are multiplied by 257. float: float32 images with the values "
             "of the files: 0 to 255 for 8 bits, 0 to 65535 for 16 bits, and unchanged values for TIFFs with "
             "floating-point, signed or 32-bit pixels")
      .field("frames", static_cast<int P::*>(&P::frames), between(1, kMostFrames),
             "number N of frames of each GIF or animated WebP, or pages of each TIFF. From a file with n "
             "frames, the evenly spaced frames i * n / N for i from 0 are read and concatenated along the "
             "channels: [height, width, N * channels of the color]. A file with fewer frames repeats some; "
             "files of other formats, which "
             "have one frame, are errors. Augmentors treat all frames alike. 1: the first frame of any file")
      .field("background", static_cast<Background P::*>(&P::background),
             "background color for transparent pixels: [red, green, blue], or one number for gray, from 0 to "
             "255. A file that marks one color as transparent keeps that color. With color: rgba, there is "
             "no background: the fourth channel is the opacity, from 0 to white")
      .field("upright", static_cast<bool P::*>(&P::upright),
             "turn images upright by their Exif data; false: keep them as stored, if masks, boxes and points "
             "were made for the stored images")
      .field("max_megapixels", static_cast<int P::*>(&P::max_megapixels), between(1, kMostMegapixels),
             "larger images (all frames together) are errors before their pixels are read, so that a damaged "
             "file cannot use up the memory")
      .field("shuffle", static_cast<bool P::*>(&P::shuffle), "use a new order in each pass");
}

/// The component `image` of any size, which stays encoded until a map needs its pixels.
ComponentSpec image_of_files(const ImageForm& form);

/// The names in a folder that `keep` accepts, sorted. Errors: DataError.
std::vector<std::string> sorted_names(const std::filesystem::path& folder,
                                      bool (*keep)(const std::filesystem::directory_entry&));
/// A part of a source's fingerprint: its name for a file, and the size of the file. A missing file has no
/// size; reading it fails later.
std::string size_stamp(const std::string& name, const std::string& path);
std::string size_stamp(const std::string& name, uint64_t bytes);
/// The path of a file in a list. If it does not exist, tries slashes, because lists from Windows have
/// photos\\1.png, and the other form of accents.
std::string portable_path(const std::filesystem::path& root, std::string path);
/// Reads a file into component `image`. Errors: FileError.
void read_image_file(const std::string& path, const ImageForm& form, Image& image);
/// The same for an image that is a part of an open file, such as an archive. `path`: for messages.
void read_image_part(const InputFile& file, uint64_t offset, uint64_t bytes, const std::string& path,
                     const ImageForm& form, Image& image);

}  // namespace tpack
