#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tpack {

/// One sample of an SVMLight file.
struct SvmLightRow {
  struct Feature {
    int64_t index = 0;  // as it is written; at least 0
    float value = 0;
  };

  int64_t line = 0;               // from 1
  std::vector<double> targets;    // one, none or, if commas separate them, several
  std::vector<Feature> features;  // in increasing order of their indices
  std::string why;                // what is wrong with the line; empty if nothing
  std::string rounded;            // the first large number that float32 rounds; empty: none
};

/// Splits the text of an SVMLight file, which libsvm reads, too, into samples: `target index:value ...`, one
/// per line. What follows # is a comment, `qid:` is skipped, and so are empty lines. Threads: one at a time.
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
