#pragma once

#include "records/record_shards.h"

namespace tpack {

/// Each record of a TFRecord file.
extern const RecordLayout kTfRecords;
/// The files of a tar archive that have the same name up to the first point.
extern const RecordLayout kTarSamples;

/// Writes the index of a file (index_path), by its ending: .tar, or any other for TFRecord. Returns the
/// number of its records. Errors: DataError, ResourceError.
int64_t index_records(const std::string& path);

}  // namespace tpack
