#include "sources/image_file.h"

#include <algorithm>

#include "core/error.h"
#include "core/text_encoding.h"
#include "dataflow/sample_error.h"

namespace tpack {
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
  return gone ? name + "\nnone\n" : size_stamp(name, bytes);
}

std::string size_stamp(const std::string& name, uint64_t bytes) {
  return name + "\n" + std::to_string(bytes) + "\n";
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
  const InputFile file(path);
  read_image_part(file, 0, file.size(), path, form, image);
}

void read_image_part(const InputFile& file, uint64_t offset, uint64_t bytes, const std::string& path,
                     const ImageForm& form, Image& image) {
  constexpr uint64_t kMax = uint64_t{256} << 20U;
  if (bytes > kMax)
    throw FileError(path, "is " + std::to_string(bytes) + " bytes; at most 256 MB are supported");
  const auto buffer = image.encoded_buffer(bytes);
  const size_t got = read_at(file, path, offset, buffer.data(), buffer.size());
  if (got < buffer.size())
    throw FileError(path, "could only be read up to byte " + std::to_string(got) + " of " +
                              std::to_string(buffer.size()));
  image.header_known(form, path);
}

}  // namespace tpack
