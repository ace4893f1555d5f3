#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/position.h"

namespace tpack {

/// Kinds of errors, by who can fix them. The value is the exit code of the program (docs/exit-codes.md).
enum class ErrorKind : int {
  kInternal = 1,     // our bug
  kConfig = 2,       // the user's input
  kData = 3,         // files, samples, sockets
  kCheckpoint = 4,   // a model file that is missing, damaged or does not fit
  kResource = 5,     // memory, disk, devices
  kDiverged = 6,     // NaN or infinite cost
  kDistributed = 7,  // a peer or the transport
  kGateMissed = 8,   // training ended well, a metric did not reach its gate
  kRunFailed = 9,    // at least one of several runs
};

/// Base of every exception this library throws. Text: "where: what is wrong; what is allowed; nearest fix".
class Error : public std::runtime_error {
 public:
  Error(ErrorKind kind, const std::string& text) : std::runtime_error(text), kind_(kind) {}
  ErrorKind kind() const { return kind_; }

 private:
  ErrorKind kind_;
};

/// One mistake in a config.
struct Problem {
  Position where;  // unknown if the text did not come from a file
  std::string text;

  /// "file:line:column: text", or the text alone if the position is unknown.
  std::string str() const;
  bool operator==(const Problem&) const = default;
};

/// A mistake in the user's input. Holds one or more problems; what() has one line for each.
class ConfigError : public Error {
 public:
  explicit ConfigError(const std::string& text) : ConfigError(Position{}, text) {}
  ConfigError(Position where, const std::string& text);
  explicit ConfigError(std::vector<Problem> problems);

  const std::vector<Problem>& problems() const { return problems_; }

 private:
  std::vector<Problem> problems_;
};

/// Shapes or dtypes that do not match. The text starts with the layer's or op's name.
class ShapeError : public ConfigError {
 public:
  using ConfigError::ConfigError;
};

/// Data that is absent, damaged or of the wrong kind.
class DataError : public Error {
 public:
  explicit DataError(const std::string& text) : Error(ErrorKind::kData, text) {}
  DataError(const std::string& path, const std::string& text) : Error(ErrorKind::kData, path + ": " + text) {}
};

/// A data error whose text starts with the bad file.
class FileError : public DataError {
 public:
  using DataError::DataError;
};

/// A checkpoint or model file that is missing, damaged or does not fit.
class CheckpointError : public Error {
 public:
  CheckpointError(const std::string& path, const std::string& text)
      : Error(ErrorKind::kCheckpoint, path + ": " + text) {}
};

/// Memory, disk space or a device that is not available.
class ResourceError : public Error {
 public:
  explicit ResourceError(const std::string& text) : Error(ErrorKind::kResource, text) {}
};

/// The cost or a variable is NaN or infinite.
class Diverged : public Error {
 public:
  explicit Diverged(const std::string& text) : Error(ErrorKind::kDiverged, text) {}
};

/// A peer died, disagrees or does not answer.
class DistributedError : public Error {
 public:
  explicit DistributedError(const std::string& text) : Error(ErrorKind::kDistributed, text) {}
};

/// A metric missed the gate that the config sets.
class GateMissed : public Error {
 public:
  explicit GateMissed(const std::string& text) : Error(ErrorKind::kGateMissed, text) {}
};

/// Not all of several runs have finished.
class RunFailed : public Error {
 public:
  explicit RunFailed(const std::string& text) : Error(ErrorKind::kRunFailed, text) {}
};

/// A broken invariant, which is a bug; thrown by TPACK_ASSERT.
class InternalError : public Error {
 public:
  explicit InternalError(const std::string& text) : Error(ErrorKind::kInternal, text) {}
};

/// Collects the problems of one config so that all are reported at once.
/// Threads: one thread at a time.
class Diagnostics {
 public:
  static constexpr size_t kMaxProblems = 50;  // shown problems, the first ones in the file
  static constexpr size_t kMaxKept = 10000;

  void add(Position where, std::string text);
  /// Takes over every problem of an error that was thrown; those without a position get `fallback`.
  void add(const ConfigError& error, const Position& fallback);
  bool ok() const { return problems_.empty(); }
  /// Number of reported problems, including repeated and unlisted ones.
  size_t count() const { return count_; }
  /// Throws ConfigError with all problems in the order of their positions; does nothing if there is none.
  void throw_if_any() const;

 private:
  std::vector<Problem> problems_;
  size_t count_ = 0;
};

/// Throws InternalError; the target of TPACK_ASSERT.
[[noreturn]] void assertion_failed(const char* condition, const char* file, int line,
                                   const std::string& text);

}  // namespace tpack

/// Checks an internal invariant, also in release builds. Never use it for mistakes of users.
#define TPACK_ASSERT(condition, text) \
  ((condition) ? static_cast<void>(0) : ::tpack::assertion_failed(#condition, __FILE__, __LINE__, (text)))
