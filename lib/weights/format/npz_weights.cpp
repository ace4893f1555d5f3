#include <algorithm>

#include "core/error.h"
#include "core/text_encoding.h"
#include "sources/format/npy.h"
#include "sources/format/zip.h"
#include "weights/format/weight_formats.h"
#include "weights/weight_elements.h"

namespace tpack {
namespace {

constexpr std::string_view kSuffix = ".npy";
constexpr uint64_t kMostRatio = 100;  // of unpacked and packed bytes; trained weights reach 2
constexpr uint64_t kAlwaysAllowed = uint64_t{1} << 20U;

/// A short comment of an archive, which ends it.
std::string_view comment_at_end(std::span<const uint8_t> archive) {
  constexpr size_t kEndBytes = 22;
  constexpr size_t kMostComment = 100;
  const auto end = archive.last(std::min(archive.size(), kEndBytes + kMostComment));
  const std::string_view text(reinterpret_cast<const char*>(end.data()), end.size());
  const size_t at = text.rfind("PK\x05\x06");
  return at == std::string_view::npos || at + kEndBytes > text.size() ? "" : text.substr(at + kEndBytes);
}

}  // namespace

WeightFile read_npz_weights(const MappedFilePtr& file, const std::string& path) {
  WeightFile result{.path = path, .format = "NumPy (.npz)", .style = WeightStyle::kKeras};
  follow_mark(result, comment_at_end(file->bytes()));
  for (const ZipEntry& entry : read_zip(file->bytes(), path)) {
    std::string name = entry.name;
    if (name.ends_with(kSuffix)) name.resize(name.size() - kSuffix.size());
    const std::string where = path + ": '" + printable(name) + "'";
    if (entry.size > kAlwaysAllowed && entry.size / kMostRatio > entry.packed.size())
      throw DataError(where, "unpacks to more than 100 times its size, which weights do not");
    const NpyContent array = read_npy(unpack_zip_entry(entry, file, path).bytes, where);
    const ElementType type = *element_type(array.type->name);
    const Shape shape = weight_shape(array.sizes, where);
    const auto read = [file, entry, path, where, type] {  // unpacked again: one array at a time is in memory
      const OwnedBytes content = unpack_zip_entry(entry, file, path);
      const NpyContent again = read_npy(content.bytes, where);
      return read_elements({again.elements, 0, again.sizes, strides_of(again.sizes, again.is_fortran)}, type,
                           where);
    };
    result.weights.push_back({std::move(name), std::string(type.name), {type.dtype, shape}, read});
  }
  return result;
}

}  // namespace tpack
