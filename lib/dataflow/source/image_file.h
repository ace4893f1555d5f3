#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "dataflow/image.h"
#include "dataflow/spec.h"

// What sources that read image files share.
namespace tpack {

/// Of the field `depth` of sources other than ImageFolder, which has more of it.
inline constexpr const char* kDepthDoc =
    "bits per channel: 8 gives uint8 images; 16 gives float32 images from 0 to 65535; float gives the values "
    "of the files, as of ImageFolder";

/// Of the field `max_megapixels`.
inline constexpr const char* kMegapixelsDoc =
    "larger images, with all their frames, are errors before any of their pixels is read, so that a damaged "
    "file "
    "cannot ask for all memory";
/// A file of the largest sides has more.
constexpr int kMostMegapixels = 256;

/// Of the field `frames`.
inline constexpr const char* kFramesDoc =
    "frames of each GIF or animated WebP, or pages of each TIFF: N evenly spaced ones, number i * n / N of n "
    "for i from 0, as channels one after the other: [height, width, N * channels of the color]. A file with "
    "fewer repeats some of them; other formats, which have one frame, are errors. Augmentors do the same to "
    "all frames. 1: the first frame of any file";

/// The component `image` of any size, which stays encoded until a map needs its pixels.
ComponentSpec image_of_files(const ImageForm& form);

/// The names in a folder that `keep` takes, sorted. Errors: DataError.
std::vector<std::string> sorted_names(const std::filesystem::path& folder,
                                      bool (*keep)(const std::filesystem::directory_entry&));
/// A part of a source's fingerprint: the name that it has for a file, and the size of the file. One that is
/// gone has none; reading it is what fails.
std::string size_stamp(const std::string& name, const std::string& path);
/// Reads a file into component `image`. Errors: FileError.
void read_image_file(const std::string& path, const ImageForm& form, Image& image);

/// True for names of files that may have 16 bits per channel.
bool may_be_deep_image(const std::string& path);
/// True for a file of 16 bits per channel, whose lower bits Depth::k8 drops.
bool is_deep_image(const std::string& path);
/// What to say of it: `shown` is its name.
std::string lost_bits(const std::string& shown, const std::string& source);

}  // namespace tpack
