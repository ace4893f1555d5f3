#include "records/record_shards.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <sys/resource.h>

#include "core/clock.h"
#include "core/digest.h"
#include "core/error.h"
#include "core/map_in_order.h"
#include "core/text.h"
#include "dataflow/flow_settings.h"
#include "fields/file_patterns.h"
#include "system/file_io.h"
#include "system/log.h"
#include "system/mapped_file.h"

namespace tpack {
namespace {

/// Reads small pieces in ascending order through a window, which grows as long as it is used up.
class ReadWindow {
 public:
  ReadWindow(const InputFile& file, const std::string& path) : file_(file), path_(path) {}

  size_t read(uint64_t offset, void* to, size_t size) {
    if (offset < begin_ || offset + size > begin_ + bytes_.size()) {
      const bool goes_on = offset >= begin_ && offset <= begin_ + bytes_.size();
      length_ = goes_on ? std::min(length_ * 2, kMost) : kLeast;
      bytes_.resize(std::max(length_, size));
      bytes_.resize(read_at(file_, path_, offset, bytes_.data(), bytes_.size()));
      begin_ = offset;
    }
    const size_t there = std::min(size, bytes_.size() - static_cast<size_t>(offset - begin_));
    std::memcpy(to, bytes_.data() + (offset - begin_), there);
    return there;
  }

 private:
  static constexpr size_t kLeast = 4096;
  static constexpr size_t kMost = size_t{1} << 20U;
  const InputFile& file_;
  const std::string& path_;
  uint64_t begin_ = 0;
  std::vector<char> bytes_;
  size_t length_ = kLeast;
};

/// The beginning of an index file; the offsets follow, 8 bytes each.
struct IndexHeader {
  std::array<char, 8> magic = {'T', 'P', 'K', 'I', 'N', 'D', 'X', '1'};
  uint32_t layout = 0;
  uint32_t reserved = 0;
  uint64_t file_size = 0;
  uint64_t records = 0;
  std::array<char, Digest::kDigits> ends = {};  // digest of the first and the last bytes of the file
};
static_assert(sizeof(IndexHeader) == 64);

/// Changes if a file gets other records, most probably: not all of it is read.
std::string digest_of_ends(const InputFile& file, const std::string& path) {
  constexpr size_t kPart = 65536;
  std::string part(kPart, '\0');
  Digest digest;
  for (const uint64_t begin : {uint64_t{0}, file.size() - std::min<uint64_t>(file.size(), kPart)})
    digest.add(std::string_view(part).substr(0, read_at(file, path, begin, part.data(), part.size())));
  return digest.text();
}

IndexHeader header_for(const InputFile& file, const std::string& path, const RecordLayout& layout,
                       size_t records) {
  IndexHeader header;
  header.layout = layout.number;
  header.file_size = file.size();
  header.records = records;
  std::ranges::copy(digest_of_ends(file, path), header.ends.begin());
  return header;
}

/// The index next to the file; nothing if there is none, or if it belongs to another file.
std::shared_ptr<const MappedFile> stored_index(const InputFile& file, const std::string& path,
                                               const RecordLayout& layout) {
  const std::string name = index_path(path);
  if (::access(name.c_str(), F_OK) != 0) return nullptr;
  auto mapped = std::make_shared<const MappedFile>(name);
  const std::span<const uint8_t> bytes = mapped->bytes();
  if (bytes.size() > sizeof(IndexHeader)) {
    const size_t records = (bytes.size() - sizeof(IndexHeader)) / sizeof(uint64_t) - 1;
    const IndexHeader expected = header_for(file, path, layout, records);
    if (std::memcmp(&expected, bytes.data(), sizeof expected) == 0) return mapped;
  }
  log::warning(name + ": is not the index of this file, so it is not used; `tpack data index " + path +
               "` writes it again");
  return nullptr;
}

/// Many shards need more open files than the usual limit of 1,024.
void allow_open_files(size_t files) {
  constexpr size_t kOthers = 256;
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= files + kOthers) return;
  limit.rlim_cur = std::min<rlim_t>(limit.rlim_max, files + kOthers);
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

}  // namespace

std::string index_path(const std::string& path) { return path + kIndexEnding; }

void write_record_index(const std::string& path, const RecordLayout& layout,
                        std::span<const uint64_t> offsets) {
  const InputFile file(path);
  const IndexHeader header = header_for(file, path, layout, offsets.size() - 1);
  const std::array<std::string_view, 2> parts = {
      std::string_view(reinterpret_cast<const char*>(&header), sizeof header),
      std::string_view(reinterpret_cast<const char*>(offsets.data()), offsets.size_bytes())};
  write_whole_file(index_path(path), parts);
}

std::vector<uint64_t> find_records(const InputFile& file, const std::string& path,
                                   const RecordLayout& layout) {
  if (file.size() == 0) throw DataError(path, "is empty");
  ReadWindow window(file, path);
  const ReadAt read = [&window](uint64_t offset, void* to, size_t size) {
    return window.read(offset, to, size);
  };
  std::vector<uint64_t> offsets = layout.find_records(read, file.size(), path);
  if (offsets.size() < 2) throw DataError(path, "has no records");
  return offsets;
}

RecordShards::Shard RecordShards::open(const std::string& path, const RecordLayout& layout) {
  Shard shard;
  shard.file = std::make_unique<InputFile>(path);
  shard.stamp = shard.file->stamp();
  if (shard.file->size() == 0) throw DataError(path, "is empty");
  if (const auto index = stored_index(*shard.file, path, layout)) {
    const std::span<const uint8_t> bytes = index->bytes().subspan(sizeof(IndexHeader));
    shard.offsets = {reinterpret_cast<const uint64_t*>(bytes.data()), bytes.size() / sizeof(uint64_t)};
    shard.owner = index;
    return shard;
  }
  const auto offsets = std::make_shared<const std::vector<uint64_t>>(find_records(*shard.file, path, layout));
  shard.offsets = *offsets;
  shard.owner = offsets;
  return shard;
}

RecordShards::RecordShards(std::vector<std::string> paths, const RecordLayout& layout)
    : paths_(std::move(paths)) {
  constexpr double kLong = 5;
  const double begin_s = monotonic_s();
  allow_open_files(2 * paths_.size());
  firsts_.push_back(0);
  size_t next = 0;
  MapInOrder<size_t, Shard>([&] { return next < paths_.size() ? std::optional(next++) : std::nullopt; },
                            [&](size_t i) { return open(paths_[i], layout); },
                            [&](Shard shard) {
                              firsts_.push_back(firsts_.back() + std::ssize(shard.offsets) - 1);
                              shards_.push_back(std::move(shard));
                            })
      .run("open records", std::min(paths_.size(), WorkerCount{}.resolved()));
  const double seconds = monotonic_s() - begin_s;
  if (seconds > kLong)
    log::info("finding the records of " + paths_[0] + (paths_.size() > 1 ? " and the other files" : "") +
              " took " + human_duration(seconds) + "; `tpack data index FILES` writes where they are");
}

RecordShards::~RecordShards() = default;

uint64_t RecordShards::bytes() const {
  uint64_t sum = 0;
  for (const Shard& shard : shards_) sum += shard.file->size();
  return sum;
}

RecordShards::Place RecordShards::locate(int64_t index) const {
  const auto after = std::upper_bound(firsts_.begin(), firsts_.end(), index);
  const auto shard = static_cast<size_t>(after - firsts_.begin()) - 1;
  const int64_t number = index - firsts_[shard];
  const std::span<const uint64_t> offsets = shards_[shard].offsets;
  return {shard, number, offsets[static_cast<size_t>(number)], offsets[static_cast<size_t>(number) + 1]};
}

std::span<const uint8_t> RecordShards::read(const Place& place, std::vector<uint8_t>& buffer) const {
  const InputFile& file = *shards_[place.shard].file;
  if (place.end < place.begin || place.end > file.size())
    throw DataError(paths_[place.shard],
                    "its index is damaged; `tpack data index " + paths_[place.shard] + "` writes it again");
  const size_t size = place.end - place.begin;
  if (buffer.size() < size) buffer.resize(size);  // never smaller: to grow again writes zeros
  if (read_at(file, paths_[place.shard], place.begin, buffer.data(), size) < size)
    throw DataError(paths_[place.shard], "became shorter while it was read");
  return std::span(buffer).first(size);
}

std::string RecordShards::name_of(int64_t index) const {
  const Place place = locate(index);
  return paths_[place.shard] + "[" + std::to_string(place.number) + "]";
}

OpenFile RecordShards::open_file() const {
  std::string all;
  std::optional<size_t> changed;
  for (size_t i = 0; i < shards_.size(); ++i) {
    const std::string stamp = shards_[i].file->stamp();
    if (!changed && stamp != shards_[i].stamp) changed = i;
    all += stamp + "\n";
  }
  return {paths_[changed.value_or(0)], all};
}

}  // namespace tpack
