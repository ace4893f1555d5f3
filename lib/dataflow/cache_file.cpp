#include "dataflow/cache_file.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <sys/file.h>
#include <unistd.h>

#include "core/digest.h"
#include "core/error.h"
#include "dataflow/datapoint.h"
#include "system/file_io.h"
#include "system/mapped_file.h"

namespace tpack {
namespace {

constexpr std::string_view kCacheMagic = "tpack cache 1\n";
constexpr size_t kCacheHeader = kCacheMagic.size() + Digest::kDigits;
constexpr int64_t kMostId = int64_t{1} << 56;  // ids below can be multiplied and added without overflow
constexpr size_t kCacheEnd = 2 * sizeof(int64_t) + kCacheMagic.size();  // size, where positions begin, magic

void append_number(std::string& bytes, int64_t number) {
  bytes.append(reinterpret_cast<const char*>(&number), sizeof number);
}
int64_t number_at(std::string_view bytes, size_t at) {
  int64_t number = 0;
  std::memcpy(&number, bytes.data() + at, sizeof number);
  return number;
}

/// Takes numbers from the beginning of bytes that may be damaged.
class SampleReader {
 public:
  explicit SampleReader(std::string_view bytes) : bytes_(bytes) {}

  int64_t number() { return number_at(take(sizeof(int64_t)), 0); }
  std::string_view take(size_t count) {
    if (bytes_.size() < count) reject();
    const std::string_view taken = bytes_.substr(0, count);
    bytes_.remove_prefix(count);
    return taken;
  }
  size_t left() const { return bytes_.size(); }
  [[noreturn]] static void reject() { throw DataError("the cached sample is damaged; delete the cache"); }

 private:
  std::string_view bytes_;
};

Shape read_shape(SampleReader& reader, const TensorSpec& spec) {
  Shape shape = spec.shape;
  size_t most = reader.left() / size_of(spec.dtype);  // so that the product cannot overflow
  for (int axis = 0; axis < static_cast<int>(shape.rank()); ++axis) {
    const int64_t size = reader.number();
    const bool fits = spec.shape[axis] == Shape::kUnknown || spec.shape[axis] == size;
    if (!fits || size < 0 || static_cast<size_t>(size) > most) SampleReader::reject();
    if (size > 0) most /= static_cast<size_t>(size);
    shape = shape.with(axis, size);
  }
  return shape;
}

std::string_view bytes_of(const MappedFile& file) {
  return {reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size()};
}

}  // namespace

std::string sample_bytes(Datapoint& sample, const Spec& spec) {
  std::string bytes;
  append_number(bytes, sample.id().index);
  append_number(bytes, sample.id().repeat);
  for (size_t i = 0; i < spec.size(); ++i) {
    const Tensor& tensor = sample.to_tensor(i);
    if (tensor.dtype() != spec[i].tensor.dtype || tensor.shape().rank() != spec[i].tensor.shape.rank())
      throw DataError("component '" + spec[i].name + "' is " + tensor.spec().str() + ", not " +
                      spec[i].tensor.str());
    for (const int64_t size : tensor.shape().sizes()) append_number(bytes, size);
    bytes.append(reinterpret_cast<const char*>(tensor.raw()), tensor.bytes());
  }
  return bytes;
}

void read_sample(std::string_view bytes, const Spec& spec, Datapoint& out) {
  SampleReader reader(bytes);
  SampleId id;
  id.index = reader.number();
  id.repeat = reader.number();
  for (const int64_t number : {id.index, id.repeat})
    if (number < 0 || number >= kMostId) SampleReader::reject();
  out.set_id(id);
  out.resize(spec.size());
  for (size_t i = 0; i < spec.size(); ++i) {
    const Shape shape = read_shape(reader, spec[i].tensor);
    const TensorSpec own{spec[i].tensor.dtype, shape};
    const std::string_view elements = reader.take(static_cast<size_t>(own.bytes()));
    std::memcpy(out.renew(i, own).raw(), elements.data(), elements.size());
  }
  if (reader.left() > 0) SampleReader::reject();
}

CacheFile::CacheFile(std::unique_ptr<MappedFile> file, size_t positions, int64_t size)
    : file_(std::move(file)), positions_(positions), size_(size) {}
CacheFile::~CacheFile() = default;

std::unique_ptr<CacheFile> CacheFile::open(const std::string& path, const std::string& digest,
                                           std::string& stale) {
  stale.clear();
  if (!std::filesystem::exists(path)) return nullptr;
  auto file = std::make_unique<MappedFile>(path);
  const std::string_view bytes = bytes_of(*file);
  const auto is_damaged = [&] {
    stale = "it is damaged";
    return nullptr;
  };
  if (bytes.size() < kCacheHeader + kCacheEnd || !bytes.starts_with(kCacheMagic) ||
      !bytes.ends_with(kCacheMagic))
    return is_damaged();
  if (bytes.substr(kCacheMagic.size(), Digest::kDigits) != digest) {
    stale = "the files of the flow, or values learned from data.train, have changed";
    return nullptr;
  }
  const size_t end = bytes.size() - kCacheEnd;
  const int64_t size = number_at(bytes, end);
  const int64_t positions = number_at(bytes, end + sizeof size);
  const bool fits = size >= 0 && positions >= static_cast<int64_t>(kCacheHeader) &&
                    positions <= static_cast<int64_t>(end) &&
                    static_cast<size_t>(size) == (end - static_cast<size_t>(positions)) / sizeof size &&
                    (end - static_cast<size_t>(positions)) % sizeof size == 0;
  if (!fits) return is_damaged();
  return std::unique_ptr<CacheFile>(new CacheFile(std::move(file), static_cast<size_t>(positions), size));
}

int64_t CacheFile::size() const { return size_; }

/// A position is that of the end of the sample; a sample that could not be read has no bytes.
std::optional<std::string_view> CacheFile::sample(int64_t index) const {
  const std::string_view bytes = bytes_of(*file_);
  const auto position = [&](int64_t at) {
    return at < 0 ? static_cast<int64_t>(kCacheHeader)
                  : number_at(bytes, positions_ + static_cast<size_t>(at) * sizeof(int64_t));
  };
  const int64_t begin = position(index - 1);
  const int64_t end = position(index);
  if (begin < static_cast<int64_t>(kCacheHeader) || end < begin || end > static_cast<int64_t>(positions_))
    throw DataError("the cache is damaged; delete it");
  if (begin == end) return std::nullopt;
  return bytes.substr(static_cast<size_t>(begin), static_cast<size_t>(end - begin));
}

void CacheFile::write(const std::string& path, const std::string& digest,
                      const std::function<void(const Add&)>& write) {
  FileIo& io = FileIo::system();
  const std::string temporary = path + ".tmp";
  try {
    AppendFile file(temporary, path, io);
    file.write(kCacheMagic);
    file.write(digest);
    int64_t at = kCacheHeader;
    int64_t size = 0;
    std::string positions;
    write([&](const std::optional<std::string>& sample) {
      if (sample) file.write(*sample);
      at += sample ? std::ssize(*sample) : 0;
      append_number(positions, at);
      ++size;
    });
    append_number(positions, size);
    append_number(positions, at);
    file.write(positions);
    file.write(kCacheMagic);
    file.sync();
    file.close();
    if (io.rename(temporary.c_str(), path.c_str()) != 0)
      throw ResourceError(path + ": cannot be written: " + std::strerror(errno));
  } catch (...) {
    io.unlink(temporary.c_str());
    throw;
  }
}

CacheLock::CacheLock(const std::string& path)
    : file_(::open((path + ".lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666)) {
  if (file_ >= 0 && ::flock(file_, LOCK_EX) == 0) return;
  const int error = errno;
  if (file_ >= 0) ::close(file_);
  throw ResourceError(path + ".lock: cannot be locked: " + std::strerror(error));
}
CacheLock::~CacheLock() { ::close(file_); }

}  // namespace tpack
