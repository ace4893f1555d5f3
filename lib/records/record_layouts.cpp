#include "records/record_layouts.h"

namespace tpack {

int64_t index_records(const std::string& path) {
  const RecordLayout& layout = path.ends_with(".tar") ? kTarSamples : kTfRecords;
  const InputFile file(path);
  const std::vector<uint64_t> offsets = find_records(file, path, layout);
  write_record_index(path, layout, offsets);
  return static_cast<int64_t>(offsets.size()) - 1;
}

}  // namespace tpack
