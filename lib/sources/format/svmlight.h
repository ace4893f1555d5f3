#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tpack {

/// One sample of an SVMLight file.
struct SvmLightRow {
  struct Feature {
    int64_t index = 0;  // as in the file; at least 0
    float value = 0;
  };

  int64_t line = 0;               // from 1
  std::vector<double> targets;    // one, none, or several separated by commas
  std::vector<Feature> features;  // in increasing order of their indices
  std::string why;                // why the line is bad; empty if it is not
  std::string rounded;            // the first large number that float32 rounds; empty: none
};

/// Splits the text of an SVMLight (or libsvm) file into samples: `target index:value ...`, one per line. #
/// starts a comment; `qid:` and empty lines are skipped. Threads: one at a time.
class SvmLightReader {
 public:
  /// The text must outlive the reader; `path` is for messages. Errors: DataError if it is not text.
  SvmLightReader(std::string_view text, const std::string& path);

  /// Fills `row` with the next sample, also a bad one; false at the end.
  bool next(SvmLightRow& row);

 private:
  std::string_view next_line();

  std::string_view rest_;
  int64_t line_ = 0;
};

}  // namespace tpack
