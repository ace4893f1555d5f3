#pragma once

#include <string>

#include "dataflow/data_flow.h"

namespace tpack {

struct ContactSheetOptions {
  int count = 64;  // samples shown
  int columns = 8;
  int tile_pixels = 96;  // side of a tile; small images are enlarged by whole factors, large ones reduced
  uint64_t seed = 0;
  int64_t pass = 0;
};

/// Writes a PNG with the first samples of a pass in a grid: the first image component, with the class name
/// (or the number) of the first label below it. Batches are unpacked. Errors: ConfigError if the flow has no
/// image; DataError and ResourceError from reading and writing.
void write_contact_sheet(const DataFlow& flow, const std::string& path,
                         const ContactSheetOptions& options = {});

}  // namespace tpack
