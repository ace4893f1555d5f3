#pragma once

#include <map>
#include <string>

#include "comm/comm.h"
#include "dataflow/data_flow.h"

namespace tpack {

/// The data of flows, as stored in a checkpoint: JSON with the fingerprint and the facts of each.
class DataRecord {
 public:
  /// The flows are prepared.
  explicit DataRecord(const std::map<std::string, DataFlow>& flows);
  /// Errors: CheckpointError with `source`.
  static DataRecord from_json(const std::string& text, const std::string& source);

  std::string to_json() const;
  /// How these data differ from earlier ones, one sentence per flow. Flows that only one of them has, and
  /// flows without a fingerprint, are omitted.
  std::map<std::string, std::string> changes_since(const DataRecord& earlier) const;

 private:
  struct Flow {
    std::string fingerprint;
    std::string facts;
  };
  DataRecord() = default;

  std::map<std::string, Flow> flows_;  // those with a fingerprint
};

/// Compares the data of the flows on all ranks: each rank takes its share by sample numbers, so all must have
/// the same number of samples. Names and dates of files may differ between machines. Prepares the flows.
/// Errors: DistributedError with the flow and the first rank that differs from rank 0.
void require_same_data(Comm& world, const std::map<std::string, DataFlow>& flows);

}  // namespace tpack
