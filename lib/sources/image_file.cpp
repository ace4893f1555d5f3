#include "sources/image_file.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <unistd.h>

#include "core/error.h"
#include "core/text_encoding.h"
#include "dataflow/sample_error.h"
#include "system/input_file.h"

namespace tpack {
namespace {

/// Reads a whole file into the image's buffer.
void read_file(const std::string& path, Image& image) {
  const InputFile file(path);
  constexpr size_t kMax = size_t{256} << 20U;
  if (file.size() > kMax)
    throw FileError(path, "is " + std::to_string(file.size()) + " bytes; at most 256 MB are supported");
  const auto buffer = image.encoded_buffer(file.size());
  size_t got = 0;
  while (got < buffer.size()) {
    const ssize_t more = ::read(file.number(), buffer.data() + got, buffer.size() - got);
    if (more < 0 && errno == EINTR) continue;
    if (more < 0) throw FileError(path, std::string("cannot be read: ") + std::strerror(errno));
    if (more == 0) break;
    got += static_cast<size_t>(more);
  }
  if (got < buffer.size())
    throw FileError(path, "could only be read up to byte " + std::to_string(got) + " of " +
                              std::to_string(buffer.size()));
}

}  // namespace

ComponentSpec image_of_files(const ImageForm& form) {
  const Shape shape{Shape::kUnknown, Shape::kUnknown, form.channels()};
  const DType dtype = form.depth == Depth::k8 ? DType::kUInt8 : DType::kFloat32;
  return {.name = "image",
          .tensor = {dtype, shape},
          .is_image = true,
          .depth = form.depth,
          .frames = form.frames,
          .background = form.background,
          .upright = form.upright};
}

std::vector<std::string> sorted_names(const std::filesystem::path& folder,
                                      bool (*keep)(const std::filesystem::directory_entry&)) {
  std::vector<std::string> names;
  std::error_code error;
  for (std::filesystem::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    if (keep(*at)) names.push_back(at->path().filename().string());
  }
  if (error) throw DataError(folder.string(), "cannot be listed: " + error.message());
  std::sort(names.begin(), names.end());
  return names;
}

std::string size_stamp(const std::string& name, const std::string& path) {
  std::error_code gone;
  const uintmax_t bytes = std::filesystem::file_size(path, gone);
  return name + "\n" + (gone ? "none" : std::to_string(bytes)) + "\n";
}

std::string portable_path(const std::filesystem::path& root, std::string path) {
  std::error_code gone;
  const auto is_there = [&](const std::string& one) { return std::filesystem::exists(root / one, gone); };
  const bool has_backslash = path.find('\\') != std::string::npos;
  const bool has_accents = composed(path) != decomposed(path);
  if ((!has_backslash && !has_accents) || is_there(path)) return path;
  if (has_backslash) std::replace(path.begin(), path.end(), '\\', '/');
  for (std::string name : {composed(path), decomposed(path)})
    if (is_there(name)) return name;
  return path;
}

void read_image_file(const std::string& path, const ImageForm& form, Image& image) {
  read_file(path, image);
  image.header_known(form, path);
}

}  // namespace tpack
