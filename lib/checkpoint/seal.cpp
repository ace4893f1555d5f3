#include "checkpoint/seal.h"

#include <cerrno>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>

#include "checkpoint/checkpoint.h"
#include "checkpoint/retention.h"
#include "core/digest.h"
#include "core/error.h"
#include "core/text.h"
#include "system/file_kind.h"

namespace tpack {
namespace {

constexpr std::string_view kMagic = kCheckpointWord;
constexpr std::string_view kBytes = "\nbytes ";
constexpr std::string_view kDigest = "\nxxh3-128 ";
constexpr size_t kNumberDigits = 20;
constexpr const char* kIfEdited = " (if it was edited on purpose: tpack ckpt sign)";

std::string digits(uint64_t value, size_t count) {
  std::string text = std::to_string(value);
  return std::string(count - text.size(), '0') + text;
}

/// The user block with `digest` as its digest.
std::string block(uint64_t file_bytes, std::string_view digest) {
  std::string text = std::string(kMagic) + std::to_string(kCheckpointVersion) + std::string(kBytes) +
                     digits(file_bytes, kNumberDigits) + std::string(kDigest) + std::string(digest) + "\n";
  text.resize(kSealBytes - 1, ' ');
  return text + "\n";
}

std::optional<uint64_t> number_after(std::string_view text, std::string_view word) {
  const size_t at = text.find(word);
  if (at == std::string_view::npos) return std::nullopt;
  uint64_t value = 0;
  const char* begin = text.data() + at + word.size();
  const auto result = std::from_chars(begin, text.data() + text.size(), value);
  return result.ec == std::errc{} ? std::optional(value) : std::nullopt;
}

/// Suggestions for the path of a run folder.
std::string newest_below(const std::string& folder) {
  for (const std::string& place : {folder + "/checkpoints", folder}) {
    const std::vector<CheckpointFile> files = list_checkpoints(place);
    if (!files.empty()) return "; name a checkpoint in it, such as " + files[0].path;
  }
  return "";
}

std::ifstream open_checked(const std::string& path) {
  std::error_code failure;
  const auto status = std::filesystem::status(path, failure);
  if (!std::filesystem::exists(status)) throw CheckpointError(path, "no such file");
  if (std::filesystem::is_directory(status)) throw CheckpointError(path, "is a folder" + newest_below(path));
  if (!std::filesystem::is_regular_file(status)) throw CheckpointError(path, "is not a file");
  std::ifstream file(path, std::ios::binary);
  if (!file) throw CheckpointError(path, std::string("cannot be read: ") + std::strerror(errno));
  return file;
}

/// Checks the user block; returns the expected length of the file.
uint64_t check_block(const std::string& path, std::string_view block_bytes) {
  const std::string_view known = kMagic.substr(0, block_bytes.size());
  if (!block_bytes.starts_with(known)) {
    const FileKind kind = kind_of_content(block_bytes);
    constexpr std::string_view kRemedy =
        "tpack reads checkpoints that `tpack train` wrote; `tpack ckpt import` makes one of weights of other "
        "programs";
    throw CheckpointError(path, kind.is_known() ? "is " + kind.rejected_as("a tpack checkpoint", kRemedy)
                                                : "is not a tpack checkpoint");
  }
  if (block_bytes.size() < kSealBytes) {
    throw CheckpointError(path, "is truncated: it has " + std::to_string(block_bytes.size()) +
                                    " bytes, its header alone has " + std::to_string(kSealBytes));
  }
  const auto version = number_after(block_bytes, kMagic);
  if (version && *version > kCheckpointVersion) {
    throw CheckpointError(path, "has format version " + std::to_string(*version) +
                                    "; this build supports versions up to " +
                                    std::to_string(kCheckpointVersion) + "; use a newer tpack");
  }
  const auto bytes = number_after(block_bytes, kBytes);
  if (!version || !bytes) throw CheckpointError(path, "is damaged: its header cannot be read");
  return *bytes;
}

}  // namespace

std::string make_seal(std::string_view hdf5) {
  const uint64_t bytes = kSealBytes + hdf5.size();
  Digest digest;
  digest.add(block(bytes, std::string(Digest::kDigits, '0')));
  digest.add(hdf5);
  return block(bytes, digest.text());
}

void check_seal(const std::string& path) {
  constexpr size_t kChunk = size_t{1} << 20U;
  std::ifstream file = open_checked(path);
  std::string chunk(kChunk, '\0');
  file.read(chunk.data(), kSealBytes);
  const std::string head = chunk.substr(0, static_cast<size_t>(file.gcount()));
  const uint64_t expected = check_block(path, head);
  Digest digest;
  digest.add(block(expected, std::string(Digest::kDigits, '0')));
  uint64_t size = head.size();
  while (file.read(chunk.data(), kChunk) || file.gcount() > 0) {
    const auto count = static_cast<size_t>(file.gcount());
    digest.add(std::string_view(chunk).substr(0, count));
    size += count;
  }
  if (file.bad()) throw CheckpointError(path, std::string("cannot be read: ") + std::strerror(errno));
  if (size < expected) {
    throw CheckpointError(
        path, "is truncated: it has " + std::to_string(size) + " of " + std::to_string(expected) + " bytes");
  }
  if (size > expected)
    throw CheckpointError(
        path, "is damaged: it has " + std::to_string(size - expected) + " extra bytes" + kIfEdited);
  if (head != block(expected, digest.text()))
    throw CheckpointError(path, std::string("is damaged: its content does not match its digest") + kIfEdited);
}

}  // namespace tpack
