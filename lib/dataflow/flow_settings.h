#pragma once

#include <cstdint>

#include "core/field.h"

namespace tpack {

/// How to handle a sample that cannot be read or mapped.
enum class OnError : uint8_t {
  kStop,    // the error reaches the reader
  kSkip,    // skipped; the size of a pass is then unknown
  kReplace  // replaced by the next good sample of the pass
};
template <>
struct EnumNames<OnError> {
  static constexpr std::array<std::pair<const char*, OnError>, 3> kNames = {
      {{"stop", OnError::kStop}, {"skip", OnError::kSkip}, {"replace", OnError::kReplace}}};
};

/// A number of threads: `auto` (as many as there are processors) or a number from 1.
struct WorkerCount {
  int count = 0;  // 0: auto

  /// The number of threads on this machine.
  size_t resolved() const;
};
template <>
struct Codec<WorkerCount> {
  static FieldType type() {
    return FieldType::either({FieldType::choice({"auto"}), FieldType::integer()}, "auto or an integer");
  }
  static std::optional<WorkerCount> parse(const ConfigNode& node, Reader& reader);
  static ConfigNode dump(WorkerCount workers);
};

/// The samples that a flow without BatchData makes ahead in place of one batch, so that its threads wake each
/// other seldom; fewer if they are large.
inline constexpr size_t kSamplesOfPrefetch = 16;

/// How a flow is read in parallel.
struct FlowSettings {
  WorkerCount workers;
  int prefetch = 3;  // batches made ahead of the reader; in a flow of single samples, kSamplesOfPrefetch each
  OnError on_error = OnError::kStop;
};

}  // namespace tpack
