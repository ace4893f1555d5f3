#include "monitor/event_file.h"

#include <array>
#include <atomic>
#include <cstdio>
#include <filesystem>
#include <unistd.h>
#include <utility>

#include "core/clock.h"
#include "core/error.h"
#include "monitor/crc32c.h"

namespace tpack {
namespace {

// Fields of Event.
constexpr int kWallTime = 1;
constexpr int kStepField = 2;
constexpr int kFileVersion = 3;
constexpr int kSummaryField = 5;
constexpr int kSessionLog = 7;
// Field of SessionLog, and its value.
constexpr int kStatus = 1;
constexpr int64_t kStart = 1;

std::string new_path(const std::string& folder) {
  static std::atomic<int> files = 0;  // two files of one second must differ
  std::array<char, 256> host{};
  if (::gethostname(host.data(), host.size() - 1) != 0) host = {"localhost"};
  std::array<char, 64> time{};
  std::snprintf(time.data(), time.size(), "%010lld", static_cast<long long>(wall_time_s()));
  const std::string name = std::string("events.out.tfevents.") + time.data() + "." + host.data() + "." +
                           std::to_string(::getpid()) + "." + std::to_string(files++);
  return (std::filesystem::path(folder) / name).string();
}

}  // namespace

EventFile::EventFile(const std::string& folder, FileIo& io) : file_(new_path(folder), io) {
  add(ProtoMessage().real64(kWallTime, wall_time_s()).bytes(kFileVersion, "brain.Event:2"));
  try {
    flush();
  } catch (const ResourceError&) {
    std::error_code ignored;  // an empty file would stay
    std::filesystem::remove(path(), ignored);
    throw;
  }
}

void EventFile::add(const ProtoMessage& event) {
  const std::string& data = event.encoded();
  std::string length;
  append_little_endian(length, static_cast<uint64_t>(data.size()));
  waiting_ += length;
  append_little_endian(waiting_, masked_crc32c(length));
  waiting_ += data;
  append_little_endian(waiting_, masked_crc32c(data));
}

void EventFile::add_summary(const ProtoMessage& summary, int64_t step) {
  add(ProtoMessage()
          .real64(kWallTime, wall_time_s())
          .integer(kStepField, step)
          .message(kSummaryField, summary));
}

void EventFile::add_restart(int64_t step) {
  const ProtoMessage start = ProtoMessage().integer(kStatus, kStart);
  add(ProtoMessage().real64(kWallTime, wall_time_s()).integer(kStepField, step).message(kSessionLog, start));
}

void EventFile::flush() { file_.write(std::exchange(waiting_, "")); }

}  // namespace tpack
