#include "records/writer/zip_writer.h"

#include <array>
#include <cstring>
#include <utility>

#include <libdeflate.h>

// Source: PKWARE's APPNOTE.TXT 6.3.
namespace tpack {
namespace {

/// Numbers of a ZIP archive, little-endian.
class ZipText {
 public:
  template <class T>
  ZipText& put(T value) {
    std::array<char, sizeof value> bytes{};
    std::memcpy(bytes.data(), &value, sizeof value);
    text_.append(bytes.data(), bytes.size());
    return *this;
  }
  ZipText& put_text(std::string_view text) {
    text_ += text;
    return *this;
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

constexpr uint16_t kVersion64 = 45;
constexpr uint16_t kExtra64 = 1;
constexpr uint16_t kDate1980 = 0x21;
constexpr uint32_t kInExtra = 0xFFFFFFFF;

std::string directory_end(uint64_t at, uint64_t size, uint64_t entries, const std::string& comment) {
  ZipText end;
  end.put(uint32_t{0x06064b50})
      .put(uint64_t{44})
      .put(kVersion64)
      .put(kVersion64)
      .put(uint32_t{0})
      .put(uint32_t{0});
  end.put(entries).put(entries).put(size).put(at);
  end.put(uint32_t{0x07064b50}).put(uint32_t{0}).put(at + size).put(uint32_t{1});
  end.put(uint32_t{0x06054b50}).put(uint16_t{0}).put(uint16_t{0}).put(uint16_t{0xFFFF}).put(uint16_t{0xFFFF});
  end.put(kInExtra).put(kInExtra).put(static_cast<uint16_t>(comment.size())).put_text(comment);
  return end.text();
}

}  // namespace

/// Sizes are always in the extra field of 64 bits, as numpy.savez writes them.
std::string ZipWriter::local_header(const Entry& entry) {
  ZipText header;
  header.put(uint32_t{0x04034b50})
      .put(kVersion64)
      .put(uint16_t{0})
      .put(uint16_t{0})
      .put(uint16_t{0})
      .put(kDate1980);
  header.put(entry.crc).put(kInExtra).put(kInExtra);
  header.put(static_cast<uint16_t>(entry.name.size())).put(uint16_t{20}).put_text(entry.name);
  header.put(kExtra64).put(uint16_t{16}).put(entry.size).put(entry.size);
  return header.text();
}

std::string ZipWriter::directory_entry(const Entry& entry) {
  ZipText header;
  header.put(uint32_t{0x02014b50}).put(kVersion64).put(kVersion64).put(uint16_t{0}).put(uint16_t{0});
  header.put(uint16_t{0}).put(kDate1980).put(entry.crc).put(kInExtra).put(kInExtra);
  header.put(static_cast<uint16_t>(entry.name.size())).put(uint16_t{28}).put(uint16_t{0}).put(uint16_t{0});
  header.put(uint16_t{0}).put(uint32_t{0}).put(kInExtra).put_text(entry.name);
  header.put(kExtra64).put(uint16_t{24}).put(entry.size).put(entry.size).put(entry.at);
  return header.text();
}

void ZipWriter::add(const std::string& name, const std::vector<std::string_view>& parts) {
  constexpr size_t kPiece = size_t{4} << 20U;
  Entry entry{name, at_};
  for (const std::string_view part : parts) {
    entry.size += part.size();
    entry.crc = libdeflate_crc32(entry.crc, part.data(), part.size());
  }
  const std::string local = local_header(entry);
  file_.write(local);
  for (const std::string_view part : parts)
    for (size_t done = 0; done < part.size(); done += kPiece) file_.write(part.substr(done, kPiece));
  at_ += local.size() + entry.size;
  entries_.push_back(std::move(entry));
}

void ZipWriter::finish(const std::string& comment) {
  std::string directory;
  for (const Entry& entry : entries_) directory += directory_entry(entry);
  file_.write(directory);
  file_.write(directory_end(at_, directory.size(), entries_.size(), comment));
  file_.sync();
  file_.close();
}

}  // namespace tpack
