#pragma once

#include <string>

#include "core/error.h"
#include "dataflow/sample_key.h"

namespace tpack {

/// What a source or map threw, with the stage and the sample: "map_data_0, sample 17 of pass 0: text". Keeps
/// the kind of the original error; exceptions that are not tpack's become data errors.
class SampleError : public Error {
 public:
  SampleError(ErrorKind kind, const std::string& stage, const SampleId& id, const std::string& text)
      : Error(kind, stage + ", " + id.str() + ": " + text), stage_(stage), id_(id), text_(text) {}

  const std::string& stage() const { return stage_; }
  const SampleId& id() const { return id_; }
  const std::string& text() const { return text_; }

 private:
  std::string stage_;
  SampleId id_;
  std::string text_;
};

/// Throws the exception being handled again as a SampleError; one that is a SampleError already stays.
[[noreturn]] void rethrow_with_sample(const std::string& stage, const SampleId& id);

}  // namespace tpack
