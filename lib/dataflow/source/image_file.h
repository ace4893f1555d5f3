#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "dataflow/image.h"
#include "dataflow/spec.h"

// What sources that read image files share.
namespace tpack {

/// The component `image` of any size, which stays encoded until a map needs its pixels.
ComponentSpec image_of_files(Color color, Depth depth);
/// The value of a field `depth`, in bits. Errors: ConfigError that begins with the source.
Depth depth_of_bits(const std::string& source, int64_t bits);

/// The names in a folder that `keep` takes, sorted. Errors: DataError.
std::vector<std::string> sorted_names(const std::filesystem::path& folder,
                                      bool (*keep)(const std::filesystem::directory_entry&));
/// Reads a file into component `image`. Errors: FileError.
void read_image_file(const std::string& path, Color color, Depth depth, Image& image);

/// True for names of files that may have 16 bits per channel.
bool may_be_deep_image(const std::string& path);
/// True for a file of 16 bits per channel, whose lower bits Depth::k8 drops.
bool is_deep_image(const std::string& path);
/// What to say of it: `shown` is its name.
std::string lost_bits(const std::string& shown, const std::string& source);

}  // namespace tpack
