#pragma once

#include <map>
#include <string>

#include "comm/comm.h"
#include "dataflow/data_flow.h"

namespace tpack {

/// What flows read, as a checkpoint keeps it: JSON with the fingerprint and the facts of each.
class DataRecord {
 public:
  /// The flows are prepared.
  explicit DataRecord(const std::map<std::string, DataFlow>& flows);
  /// Errors: CheckpointError with `source`.
  static DataRecord from_json(const std::string& text, const std::string& source);

  std::string to_json() const;
  /// How these data differ from earlier ones, a sentence by flow. Flows that only one of them has, and those
  /// without a fingerprint, are left out.
  std::map<std::string, std::string> changes_since(const DataRecord& earlier) const;

 private:
  struct Flow {
    std::string fingerprint;
    std::string facts;
  };
  DataRecord() = default;

  std::map<std::string, Flow> flows_;  // those with a fingerprint
};

/// Compares what the flows hold on all ranks: each takes its share of the samples by their numbers, so all
/// must have as many. Names and dates of files may differ from machine to machine. Prepares the flows.
/// Errors: DistributedError with the flow and the first rank that differs from rank 0.
void require_same_data(Comm& world, const std::map<std::string, DataFlow>& flows);

}  // namespace tpack
