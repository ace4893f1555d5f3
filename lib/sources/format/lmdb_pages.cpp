#include "sources/format/lmdb_pages.h"

#include <cstring>

#include "core/error.h"

namespace tpack {
namespace {

constexpr uint64_t kPageHeader = 16;
constexpr uint64_t kNodeHeader = 8;
constexpr uint64_t kNoPage = ~uint64_t{0};
constexpr int kMaxLevels = 32;  // that a cursor can hold

enum PageFlags : uint16_t { kBranch = 0x01, kLeaf = 0x02, kDirty = 0x10 };
enum NodeFlags : uint16_t {
  kLargeValue = 0x01
};  // on separate pages; other flags belong to nested databases

/// The newer one of the two meta pages.
struct Meta {
  uint32_t page_bytes = 0;
  uint16_t environment_flags = 0;
  uint16_t database_flags = 0;
  uint64_t root = 0;
  uint64_t last_page = 0;
  uint64_t transaction = 0;
};

class PageCheck {
 public:
  PageCheck(std::span<const uint8_t> file, const std::string& path) : file_(file), path_(path) {}

  void run() {
    if (!is_database(0)) return;
    meta_ = meta_at(0);
    constexpr uint32_t kMin = 256;
    constexpr uint32_t kMax = 65536;
    const uint32_t bytes = meta_.page_bytes;
    if (bytes < kMin || bytes > kMax || (bytes & (bytes - 1)) != 0) damaged(0);
    if (!is_database(bytes)) return;
    const Meta other = meta_at(bytes);
    if (other.page_bytes != bytes) damaged(1);
    const bool is_other_newer = other.transaction > meta_.transaction;
    if (is_other_newer) meta_ = other;
    constexpr uint64_t kMostPages = uint64_t{1} << 40U;  // so that their bytes are a number of 64 bits
    if (meta_.last_page >= kMostPages) damaged(is_other_newer ? 1 : 0);
    pages_ = file_.size() / bytes;
    // A map at a fixed address; several values for a key.
    constexpr uint16_t kFixedMap = 0x01;
    constexpr uint16_t kSeveralValues = 0x04;
    if ((meta_.environment_flags & kFixedMap) != 0) damaged(0);
    if ((meta_.database_flags & kSeveralValues) != 0)
      throw DataError(path_, "has several values for a key, which is not supported");
    if (meta_.last_page < pages_ && meta_.root != kNoPage) check_page(meta_.root, 1);
  }

 private:
  template <class T>
  T at(uint64_t offset) const {
    T value{};
    std::memcpy(&value, file_.data() + offset, sizeof value);
    return value;
  }
  /// Whether there is a meta page.
  bool is_database(uint64_t offset) const {
    constexpr uint32_t kMagic = 0xBEEFC0DE;
    constexpr uint64_t kMetaBytes = 152;
    return file_.size() >= offset + kMetaBytes && at<uint32_t>(offset + kPageHeader) == kMagic;
  }
  Meta meta_at(uint64_t offset) const {
    return {.page_bytes = at<uint32_t>(offset + 40),
            .environment_flags = at<uint16_t>(offset + 44),
            .database_flags = at<uint16_t>(offset + 92),
            .root = at<uint64_t>(offset + 128),
            .last_page = at<uint64_t>(offset + 136),
            .transaction = at<uint64_t>(offset + 144)};
  }
  [[noreturn]] void damaged(uint64_t page) const {
    throw DataError(path_, "is damaged: page " + std::to_string(page) + " is not valid; copy the file again");
  }

  void check_page(uint64_t page, int level) {
    if (page >= pages_ || level > kMaxLevels || ++checked_ > pages_) damaged(page);
    const uint64_t begin = page * meta_.page_bytes;
    const auto flags = static_cast<uint16_t>(at<uint16_t>(begin + 10) & ~kDirty);
    const auto lower = at<uint16_t>(begin + 12);
    if ((flags != kBranch && flags != kLeaf) || lower < kPageHeader || lower > meta_.page_bytes)
      damaged(page);
    const uint64_t count = (lower - kPageHeader) / sizeof(uint16_t);
    if (count == 0 || (flags == kBranch && count == 1)) damaged(page);
    // liblmdb goes from leaf to leaf at the same level.
    if (flags == kLeaf && leaf_level_ == 0) leaf_level_ = level;
    if ((flags == kLeaf) != (level == leaf_level_)) damaged(page);
    for (uint64_t i = 0; i < count; ++i) {
      const auto node = at<uint16_t>(begin + kPageHeader + i * sizeof(uint16_t));
      if (node < lower || node + kNodeHeader > meta_.page_bytes) damaged(page);
      check_node(page, begin + node, flags == kBranch, level);
    }
  }

  void check_node(uint64_t page, uint64_t node, bool is_branch, int level) {
    const uint64_t low = at<uint16_t>(node) | uint64_t{at<uint16_t>(node + 2)} << 16U;
    const auto flags = at<uint16_t>(node + 4);
    const uint64_t left = (page + 1) * meta_.page_bytes - node - kNodeHeader;
    const uint64_t key = at<uint16_t>(node + 6);
    if (key > left) damaged(page);
    if (is_branch) return check_page(low | uint64_t{flags} << 32U, level + 1);
    if (flags == 0) {
      if (key + low > left) damaged(page);
      return;
    }
    if (flags != kLargeValue || key + sizeof(uint64_t) > left) damaged(page);
    const auto first = at<uint64_t>(node + kNodeHeader + key);
    const uint64_t needed = (kPageHeader + low + meta_.page_bytes - 1) / meta_.page_bytes;
    if (first >= pages_ || needed > pages_ - first) damaged(page);
  }

  std::span<const uint8_t> file_;
  const std::string& path_;
  Meta meta_;
  uint64_t pages_ = 0;
  uint64_t checked_ = 0;
  int leaf_level_ = 0;  // 0: no leaf yet
};

}  // namespace

void check_lmdb_pages(std::span<const uint8_t> file, const std::string& path) { PageCheck(file, path).run(); }

}  // namespace tpack
