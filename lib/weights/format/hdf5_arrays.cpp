#include "weights/format/hdf5_arrays.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <mutex>
#include <numeric>

#include <libdeflate.h>

#include "checkpoint/hdf5.h"
#include "core/error.h"
#include "core/hdf5_mutex.h"
#include "core/text_encoding.h"
#include "weights/format/hdf5_texts.h"

// libhdf5 only finds the objects here: it converts nothing, runs no filters and reads no attributes, because
// much of what is known to crash it by damaged files is there.
namespace tpack {
namespace {

using hdf5::Handle;

constexpr int kMostLevels = 64;
constexpr size_t kMostObjects = 100'000;
constexpr size_t kMostNameBytes = 256;
constexpr uint64_t kMostRatioOfChunks = 100;  // of unpacked and packed bytes; trained weights reach 2
constexpr uint64_t kAlwaysUnpacked = uint64_t{1} << 20U;

/// Passes a result on. Errors: DataError "WHERE: WHAT: cause" if it is negative.
template <class T>
T hdf5_ok(T result, const std::string& where, const char* what) {
  if (result >= 0) return result;
  const std::string cause = hdf5::cause_of_failure();
  throw DataError(where, std::string(what) + (cause.empty() ? "" : ": " + cause));
}

Handle float16_type() {
  Handle type(H5Tcopy(H5T_IEEE_F32LE), H5Tclose);
  H5Tset_fields(type.get(), 15, 10, 5, 0, 10);
  H5Tset_size(type.get(), 2);
  H5Tset_ebias(type.get(), 15);
  return type;
}

/// The name of a type of numbers, little-endian as NumPy writes it; empty for others.
std::string_view name_of_type(hid_t type) {
  const std::array<std::pair<hid_t, std::string_view>, 10> known = {{{H5T_IEEE_F32LE, "float32"},
                                                                     {H5T_IEEE_F64LE, "float64"},
                                                                     {H5T_STD_I8LE, "int8"},
                                                                     {H5T_STD_U8LE, "uint8"},
                                                                     {H5T_STD_I16LE, "int16"},
                                                                     {H5T_STD_U16LE, "uint16"},
                                                                     {H5T_STD_I32LE, "int32"},
                                                                     {H5T_STD_U32LE, "uint32"},
                                                                     {H5T_STD_I64LE, "int64"},
                                                                     {H5T_STD_U64LE, "uint64"}}};
  for (const auto& [id, name] : known)
    if (H5Tequal(type, id) > 0) return name;
  if (H5Tequal(type, float16_type().get()) > 0) return "float16";
  if (H5Tequal(type, hdf5::file_type(DType::kBool).get()) > 0) return "bool";
  return "";
}

/// libhdf5 asks for copies of the file's bytes, and gets themselves.
void* same_bytes(size_t /*size*/, H5FD_file_image_op_t /*operation*/, void* bytes) { return bytes; }
void* copied_already(void* to, const void* /*from*/, size_t /*size*/, H5FD_file_image_op_t /*operation*/,
                     void* /*bytes*/) {
  return to;
}
void* never_larger(void* /*from*/, size_t /*size*/, H5FD_file_image_op_t /*operation*/, void* /*bytes*/) {
  return nullptr;
}
herr_t free_nothing(void* /*from*/, H5FD_file_image_op_t /*operation*/, void* /*bytes*/) { return 0; }
void* same_owner(void* bytes) { return bytes; }
herr_t forget_owner(void* /*bytes*/) { return 0; }

Handle open_bytes(std::span<const uint8_t> bytes, const std::string& path) {
  const Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
  H5Pset_fapl_core(access.get(), 4096, /*backing_store=*/hbool_t{false});
  H5Pset_fclose_degree(access.get(), H5F_CLOSE_STRONG);
  void* const start = const_cast<uint8_t*>(bytes.data());  // the file is opened for reading
  H5FD_file_image_callbacks_t callbacks{same_bytes, copied_already, never_larger, free_nothing,
                                        same_owner, forget_owner,   start};
  H5Pset_file_image_callbacks(access.get(), &callbacks);
  hdf5_ok(H5Pset_file_image(access.get(), start, bytes.size()), path, "cannot be read as HDF5");
  static uint64_t opened = 0;  // libhdf5 takes two files in memory with one name for the same
  const std::string name = "weights " + std::to_string(++opened);
  return {hdf5_ok(H5Fopen(name.c_str(), H5F_ACC_RDONLY, access.get()), path, "cannot be read as HDF5"),
          H5Fclose};
}

struct FreeChunkTool {
  void operator()(libdeflate_decompressor* d) const { libdeflate_free_decompressor(d); }
};

/// Puts the bytes of `item` bytes each together again: first come the first bytes of all.
std::vector<uint8_t> unshuffled(const std::vector<uint8_t>& from, size_t item) {
  std::vector<uint8_t> to(from.size());
  const size_t count = from.size() / item;
  for (size_t i = 0; i < count; ++i)
    for (size_t byte = 0; byte < item; ++byte) to[i * item + byte] = from[byte * count + i];
  return to;
}

herr_t add_link_name(hid_t /*group*/, const char* name, const H5L_info_t* /*info*/, void* links) {
  auto& all = *static_cast<std::vector<std::string>*>(links);
  all.emplace_back(name);
  return all.size() > kMostObjects ? 1 : 0;  // too many: their number is an error later
}

}  // namespace

/// Callers hold hdf5_mutex().
struct Hdf5Arrays::Open {
  /// How the elements of a dataset are stored.
  struct Stored {
    bool is_chunked = false;
    uint64_t offset = 0;  // of all elements, unless they are in chunks
    std::vector<hsize_t> chunk = {};
    std::vector<H5Z_filter_t> filters = {};
  };

  OwnedBytes bytes;
  std::string path;
  std::optional<Handle> file;
  std::vector<Hdf5Array> arrays;
  std::map<std::string, Stored> stored;
  std::vector<std::pair<std::string, std::string>> others;
  std::map<std::string, uint64_t> headers;  // of groups
  std::optional<Hdf5Texts> texts;
  size_t objects = 0;
  uint64_t stored_bytes = 0;  // of all datasets

  std::string where(const std::string& name) const { return path + ": '" + printable(name) + "'"; }
  void begin();
  void group(hid_t id, const std::string& name, int level);
  void object(hid_t parent, const std::string& link, const std::string& name, int level);
  void dataset(hid_t id, const std::string& name);
  Stored storage(hid_t id, const std::string& name, const ElementType& type, const Shape& shape);
  void check_chunks(hid_t creation, const std::string& name, const ElementType& type, const Shape& shape,
                    Stored& array) const;
  void read_chunks(const Hdf5Array& array, const Stored& how, std::vector<uint8_t>& out) const;
  std::vector<uint8_t> chunk_at(hid_t dataset, const std::vector<hsize_t>& first, const Stored& how,
                                const Hdf5Array& array) const;
};

void Hdf5Arrays::Open::begin() {
  hdf5::prepare();
  file.emplace(open_bytes(bytes.bytes, path));
  const Handle creation(hdf5_ok(H5Fget_create_plist(file->get()), path, "is damaged"), H5Pclose);
  size_t offset_bytes = 0;
  size_t length_bytes = 0;
  H5Pget_sizes(creation.get(), &offset_bytes, &length_bytes);
  if (offset_bytes == 8 && length_bytes == 8) texts.emplace(bytes.bytes, path);
  const Handle root(hdf5_ok(H5Gopen2(file->get(), "/", H5P_DEFAULT), path, "is damaged"), H5Gclose);
  group(root.get(), "", 0);
  std::ranges::sort(arrays, {}, &Hdf5Array::path);
}

void Hdf5Arrays::Open::group(hid_t id, const std::string& name, int level) {
  if (level > kMostLevels) throw DataError(where(name), "is nested deeper than 64 groups");
  H5O_info_t info{};
  hdf5_ok(H5Oget_info2(id, &info, H5O_INFO_BASIC), where(name), "is damaged");
  headers.emplace(name, info.addr);
  std::vector<std::string> links;
  hdf5_ok(H5Literate(id, H5_INDEX_NAME, H5_ITER_INC, nullptr, add_link_name, &links), where(name),
          "has an unreadable group");
  for (const std::string& link : links) {
    if (link.size() > kMostNameBytes) throw DataError(where(name), "has a name of more than 256 bytes");
    object(id, link, name.empty() ? link : name + "/" + link, level);
  }
}

void Hdf5Arrays::Open::object(hid_t parent, const std::string& link, const std::string& name, int level) {
  if (++objects > kMostObjects) throw DataError(path, "has more than 100,000 objects");
  H5L_info_t info{};
  hdf5_ok(H5Lget_info(parent, link.c_str(), &info, H5P_DEFAULT), where(name), "has an unreadable link");
  if (info.type != H5L_TYPE_HARD)
    throw DataError(where(name), "is a soft or external link; files of weights have none");
  const Handle object(hdf5_ok(H5Oopen(parent, link.c_str(), H5P_DEFAULT), where(name), "cannot be opened"),
                      H5Oclose);
  const H5I_type_t kind = H5Iget_type(object.get());
  if (kind == H5I_GROUP) group(object.get(), name, level + 1);
  if (kind == H5I_DATASET) dataset(object.get(), name);
}

void Hdf5Arrays::Open::dataset(hid_t id, const std::string& name) {
  const Handle type(hdf5_ok(H5Dget_type(id), where(name), "has no type"), H5Tclose);
  const std::optional<ElementType> known = element_type(name_of_type(type.get()));
  if (!known) {
    others.emplace_back(name, H5Tget_class(type.get()) == H5T_STRING ? "texts" : "elements of another type");
    return;
  }
  const Handle space(hdf5_ok(H5Dget_space(id), where(name), "has no shape"), H5Sclose);
  const int rank = hdf5_ok(H5Sget_simple_extent_ndims(space.get()), where(name), "has no shape");
  if (H5Sget_simple_extent_type(space.get()) == H5S_NULL) {
    others.emplace_back(name, "nothing");
    return;
  }
  std::array<hsize_t, H5S_MAX_RANK> sizes{};
  hdf5_ok(H5Sget_simple_extent_dims(space.get(), sizes.data(), nullptr), where(name), "has no shape");
  const Shape shape = weight_shape({sizes.begin(), sizes.begin() + rank}, where(name));
  stored.emplace(name, storage(id, name, *known, shape));
  arrays.push_back({name, *known, shape});
}

Hdf5Arrays::Open::Stored Hdf5Arrays::Open::storage(hid_t id, const std::string& name, const ElementType& type,
                                                   const Shape& shape) {
  Stored how;
  const uint64_t declared = static_cast<uint64_t>(shape.elements()) * type.bytes;
  if (declared == 0) return how;
  const Handle creation(hdf5_ok(H5Dget_create_plist(id), where(name), "is damaged"), H5Pclose);
  const H5D_layout_t layout = H5Pget_layout(creation.get());
  if (layout == H5D_VIRTUAL || H5Pget_external_count(creation.get()) != 0)
    throw DataError(where(name), "has its numbers in other files; copy them into this one");
  how.is_chunked = layout == H5D_CHUNKED;
  const uint64_t there = H5Dget_storage_size(id);
  stored_bytes += there;
  if (there > bytes.bytes.size() || stored_bytes > bytes.bytes.size())
    throw DataError(where(name), "is damaged: it overlaps another dataset, or the end of the file");
  if (how.is_chunked) {
    if (declared > kAlwaysUnpacked && declared / kMostRatioOfChunks > there)
      throw DataError(where(name), "unpacks to more than 100 times its size, which weights do not");
    check_chunks(creation.get(), name, type, shape, how);
    return how;
  }
  if (there != declared)
    throw DataError(where(name),
                    "declares " + std::to_string(declared) + " bytes and stores " + std::to_string(there));
  if (layout != H5D_CONTIGUOUS) throw DataError(where(name), "has its numbers in its header");
  const haddr_t at = H5Dget_offset(id);
  if (at == HADDR_UNDEF || at > bytes.bytes.size() || declared > bytes.bytes.size() - at)
    throw DataError(where(name), "is damaged: it ends after the end of the file");
  how.offset = at;
  return how;
}

void Hdf5Arrays::Open::check_chunks(hid_t creation, const std::string& name, const ElementType& type,
                                    const Shape& shape, Stored& array) const {
  std::array<hsize_t, H5S_MAX_RANK> sizes{};
  const int rank = hdf5_ok(H5Pget_chunk(creation, H5S_MAX_RANK, sizes.data()), where(name), "is damaged");
  if (static_cast<size_t>(rank) != shape.rank())
    throw DataError(where(name), "is damaged: its chunks have another rank");
  array.chunk.assign(sizes.begin(), sizes.begin() + rank);
  uint64_t chunk_bytes = type.bytes;
  const uint64_t most = std::max(static_cast<uint64_t>(shape.elements()) * type.bytes, kAlwaysUnpacked);
  for (const hsize_t size : array.chunk) {
    if (size == 0 || size > most || chunk_bytes * size > most)
      throw DataError(where(name), "has chunks that are larger than the dataset");
    chunk_bytes *= size;
  }
  const int filters = hdf5_ok(H5Pget_nfilters(creation), where(name), "is damaged");
  for (int i = 0; i < filters; ++i) {
    unsigned flags = 0;
    size_t values = 0;
    const H5Z_filter_t filter =
        H5Pget_filter2(creation, static_cast<unsigned>(i), &flags, &values, nullptr, 0, nullptr, nullptr);
    if (filter != H5Z_FILTER_DEFLATE && filter != H5Z_FILTER_SHUFFLE)
      throw DataError(where(name), "is compressed by filter " + std::to_string(filter) +
                                       "; supported are gzip and shuffle");
    array.filters.push_back(filter);
  }
}

std::vector<uint8_t> Hdf5Arrays::Open::chunk_at(hid_t dataset, const std::vector<hsize_t>& first,
                                                const Stored& how, const Hdf5Array& array) const {
  const std::string at = where(array.path);
  hsize_t packed_bytes = 0;
  hdf5_ok(H5Dget_chunk_storage_size(dataset, first.data(), &packed_bytes), at,
          "is damaged: a chunk is missing");
  if (packed_bytes == 0 || packed_bytes > bytes.bytes.size())
    throw DataError(at, "is damaged: a chunk is missing");
  std::vector<uint8_t> packed(packed_bytes);
  uint32_t skipped = 0;
  hdf5_ok(H5Dread_chunk(dataset, H5P_DEFAULT, first.data(), &skipped, packed.data()), at,
          "has a chunk that cannot be read");
  size_t wanted = array.type.bytes;
  for (const hsize_t size : how.chunk) wanted *= size;
  for (size_t i = how.filters.size(); i-- > 0;) {
    if ((skipped >> i & 1U) != 0) continue;
    if (how.filters[i] == H5Z_FILTER_SHUFFLE) {
      packed = unshuffled(packed, array.type.bytes);
      continue;
    }
    std::vector<uint8_t> unpacked(wanted);
    const std::unique_ptr<libdeflate_decompressor, FreeChunkTool> tool(libdeflate_alloc_decompressor());
    size_t written = 0;
    const auto result = libdeflate_zlib_decompress(tool.get(), packed.data(), packed.size(), unpacked.data(),
                                                   unpacked.size(), &written);
    if (result != LIBDEFLATE_SUCCESS || written != wanted) throw DataError(at, "has a damaged chunk");
    packed = std::move(unpacked);
  }
  if (packed.size() != wanted) throw DataError(at, "has a damaged chunk");
  return packed;
}

void Hdf5Arrays::Open::read_chunks(const Hdf5Array& array, const Stored& how,
                                   std::vector<uint8_t>& out) const {
  const Handle dataset(
      hdf5_ok(H5Dopen2(file->get(), array.path.c_str(), H5P_DEFAULT), where(array.path), "cannot be opened"),
      H5Dclose);
  const size_t rank = how.chunk.size();
  std::vector<hsize_t> sizes(array.shape.sizes().begin(), array.shape.sizes().end());
  std::vector<hsize_t> first(rank, 0);
  for (bool has_more = true; has_more;) {
    const std::vector<uint8_t> chunk = chunk_at(dataset.get(), first, how, array);
    std::vector<hsize_t> at(rank, 0);  // of a row in the chunk
    const size_t row = std::min(how.chunk[rank - 1], sizes[rank - 1] - first[rank - 1]) * array.type.bytes;
    for (bool has_rows = true; has_rows;) {
      size_t from = 0;
      size_t to = 0;
      bool is_inside = true;
      for (size_t axis = 0; axis < rank; ++axis) {
        is_inside = is_inside && first[axis] + at[axis] < sizes[axis];
        from = from * how.chunk[axis] + at[axis];
        to = to * sizes[axis] + first[axis] + at[axis];
      }
      if (is_inside)
        std::memcpy(out.data() + to * array.type.bytes, chunk.data() + from * array.type.bytes, row);
      has_rows = false;
      for (size_t axis = rank - 1; axis-- > 0 && !has_rows;) {
        has_rows = ++at[axis] < how.chunk[axis];
        if (!has_rows) at[axis] = 0;
      }
    }
    has_more = false;
    for (size_t axis = rank; axis-- > 0 && !has_more;) {
      first[axis] += how.chunk[axis];
      has_more = first[axis] < sizes[axis];
      if (!has_more) first[axis] = 0;
    }
  }
}

Hdf5Arrays::Hdf5Arrays(OwnedBytes file, const std::string& path) : open_(std::make_unique<Open>()) {
  open_->bytes = std::move(file);
  open_->path = path;
  const std::lock_guard lock(hdf5_mutex());
  try {
    open_->begin();
  } catch (...) {
    open_->file.reset();  // while the mutex is held
    throw;
  }
}

Hdf5Arrays::~Hdf5Arrays() {
  const std::lock_guard lock(hdf5_mutex());
  open_->file.reset();
}

const std::vector<Hdf5Array>& Hdf5Arrays::arrays() const { return open_->arrays; }

const std::vector<std::pair<std::string, std::string>>& Hdf5Arrays::others() const { return open_->others; }

bool Hdf5Arrays::has_group(const std::string& path) const { return open_->headers.contains(path); }

std::optional<std::vector<std::string>> Hdf5Arrays::texts(const std::string& group,
                                                          std::string_view attribute) const {
  const auto header = open_->headers.find(group);
  if (header == open_->headers.end() || !open_->texts) return std::nullopt;
  const std::lock_guard lock(hdf5_mutex());
  return open_->texts->find(header->second, attribute);
}

Tensor Hdf5Arrays::read(const Hdf5Array& array) const {
  const Open::Stored& how = open_->stored.at(array.path);
  const size_t size = static_cast<size_t>(array.shape.elements()) * array.type.bytes;
  const std::vector<int64_t> sizes(array.shape.sizes().begin(), array.shape.sizes().end());
  std::vector<uint8_t> joined;
  std::span<const uint8_t> elements;
  if (how.is_chunked) {
    joined.resize(size);
    const std::lock_guard lock(hdf5_mutex());
    open_->read_chunks(array, how, joined);
    elements = joined;
  } else {
    elements = open_->bytes.bytes.subspan(how.offset, size);
  }
  return read_elements({elements, 0, sizes, strides_of(sizes)}, array.type, open_->where(array.path));
}

}  // namespace tpack
