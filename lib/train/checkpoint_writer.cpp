#include "train/checkpoint_writer.h"

#include <algorithm>
#include <filesystem>

#include "system/log.h"

namespace tpack {

void CheckpointWriter::write(const std::vector<CheckpointRequest>& requests,
                             const std::function<CheckpointContent()>& content) {
  if (run_folder_.empty()) return;
  using Purpose = CheckpointRequest::Purpose;
  std::vector<std::string> written;
  for (const Purpose purpose : {Purpose::kKeepBest, Purpose::kResume}) {
    for (const CheckpointRequest& request : requests) {
      const bool is_new = std::find(written.begin(), written.end(), request.name) == written.end();
      if (request.purpose != purpose || !is_new) continue;
      written.push_back(request.name);
      CheckpointContent own = content();
      if (request.change) request.change(own);
      write_one(request, requests, own);
    }
  }
}

void CheckpointWriter::write_one(const CheckpointRequest& first,
                                 const std::vector<CheckpointRequest>& requests,
                                 const CheckpointContent& content) {
  const std::string& name = first.name;
  const std::string kind = first.purpose == CheckpointRequest::Purpose::kResume ? "" : name;
  const std::filesystem::path path = std::filesystem::path(run_folder_) / "checkpoints" / name;
  const auto tell = [&](const auto& act) {
    for (const CheckpointRequest& request : requests) {
      if (request.name == name) act(request);
    }
  };
  try {
    std::error_code ignored;  // saving says what is wrong
    std::filesystem::create_directories(path.parent_path(), ignored);
    save_checkpoint(path.string(), content, io_);
  } catch (const Error& error) {
    failed_[kind] = path.string();
    log::error(std::string("a checkpoint was not saved: ") + error.what());
    tell([&](const CheckpointRequest& request) {
      if (request.failed) request.failed(error);
    });
    return;
  }
  failed_.erase(kind);
  tell([&](const CheckpointRequest& request) {
    if (request.saved) request.saved(path.string());
  });
}

}  // namespace tpack
