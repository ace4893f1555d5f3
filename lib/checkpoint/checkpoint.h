#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "system/file_io.h"
#include "tensor/tensor.h"

namespace tpack {

/// The version of the file format that this build writes, and the newest that it reads.
constexpr int kCheckpointVersion = 1;

/// The content of a checkpoint. Names are paths of groups ("model/conv0/W"); no name is a prefix of another
/// one's path.
struct CheckpointContent {
  int64_t step = 0;
  int64_t epoch = 0;
  std::map<std::string, Tensor> tensors;
  std::map<std::string, std::string> texts;  // UTF-8 without NUL: config/yaml, plan/json, callbacks/NAME
  std::map<std::string, std::vector<std::string>> lists = {};  // the same, of at least one text
};

/// Writes the content as one HDF5 file, completely or not at all (see write_whole_file). The bytes depend
/// only on the content. The file is made in memory first; a tensor that nothing else holds is freed as soon
/// as it is in there. Format: docs/checkpoint-format.md. Threads: any; others may use libhdf5 in between.
/// Errors: ResourceError if the file cannot be written; CheckpointError for names that HDF5 cannot hold.
void save_checkpoint(const std::string& path, CheckpointContent content, FileIo& io = FileIo::system());

/// Reads a checkpoint after its digest was checked; nothing of a damaged file reaches libhdf5. Threads: any.
/// Errors: CheckpointError with the path and the cause: no such file, not a tpack checkpoint, a newer
/// version, truncated, damaged, or something that a checkpoint does not have (links, filters, external data,
/// ...).
CheckpointContent load_checkpoint(const std::string& path);
/// The same for a file that another program changed: digests are not compared. Damage that leaves it an HDF5
/// file of the right structure is not found.
CheckpointContent load_edited_checkpoint(const std::string& path);
/// As load_checkpoint, without the tensors, which are not read.
CheckpointContent load_checkpoint_texts(const std::string& path);

/// Checks the digest of the whole file. Errors: as load_checkpoint.
void verify_checkpoint(const std::string& path);
/// The global step of a checkpoint; its digest is checked, the rest of it is not read. Errors: as
/// load_checkpoint.
int64_t checkpoint_step(const std::string& path);

}  // namespace tpack
