#include "train/checkpoint_writer.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <utility>

#include "core/thread_pool.h"
#include "system/log.h"

namespace tpack {
namespace {

using Purpose = CheckpointRequest::Purpose;

/// The tensors as they are now; those of `copied` already are copies. Two threads, because most of the time
/// goes to the first write to each page.
void copy_tensors(CheckpointContent& content, const CheckpointContent& copied) {
  std::vector<Tensor*> tensors;
  for (auto& [name, tensor] : content.tensors) {
    const auto same = copied.tensors.find(name);
    if (same == copied.tensors.end() || same->second.raw() != tensor.raw()) tensors.push_back(&tensor);
  }
  std::atomic<size_t> next = 0;
  const auto copy = [&] {
    for (size_t i = next++; i < tensors.size(); i = next++) *tensors[i] = tensors[i]->clone();
  };
  auto other = std::async(kThreadIfThereIsOne, copy);
  copy();
  other.get();
}

}  // namespace

void CheckpointWriter::write(std::vector<CheckpointRequest> requests,
                             const std::function<CheckpointContent()>& content) {
  if (run_folder_.empty()) return;
  finish();
  std::vector<File> files = files_of(std::move(requests), content());
  writing_ = std::async(kThreadIfThereIsOne, [files = std::move(files), &io = io_]() mutable {
    for (File& file : files) {
      try {
        std::error_code ignored;  // saving says what is wrong
        std::filesystem::create_directories(std::filesystem::path(file.path).parent_path(), ignored);
        save_checkpoint(file.path, std::exchange(file.content, {}), io);
      } catch (const Error&) {
        file.failure = std::current_exception();
      }
    }
    return std::move(files);
  });
}

/// The best ones first.
std::vector<CheckpointWriter::File> CheckpointWriter::files_of(std::vector<CheckpointRequest> requests,
                                                               CheckpointContent content) const {
  copy_tensors(content, {});
  std::ranges::stable_sort(requests, {}, &CheckpointRequest::purpose);
  std::vector<File> files;
  for (CheckpointRequest& request : requests) {
    const std::filesystem::path path = std::filesystem::path(run_folder_) / "checkpoints" / request.name;
    auto file = std::ranges::find(files, path.string(), &File::path);
    if (file == files.end()) {
      CheckpointContent own = content;
      if (request.change) {
        request.change(own);
        copy_tensors(own, content);
      }
      file = files.insert(file, File{path.string(), {}, std::move(own)});
    }
    file->requests.push_back(std::move(request));
  }
  return files;
}

void CheckpointWriter::report() {
  if (writing_.valid() && writing_.wait_for(std::chrono::seconds(0)) == std::future_status::ready) finish();
}

void CheckpointWriter::finish() {
  if (!writing_.valid()) return;
  const std::vector<File> files = writing_.get();
  for (const File& file : files) tell(file);
}

void CheckpointWriter::tell(const File& file) {
  const CheckpointRequest& first = file.requests.front();
  const std::string kind = first.purpose == Purpose::kResume ? "" : first.name;
  try {
    if (file.failure) std::rethrow_exception(file.failure);
  } catch (const Error& error) {
    failed_[kind] = file.path;
    log::error(std::string("a checkpoint was not saved: ") + error.what());
    for (const CheckpointRequest& request : file.requests) {
      if (request.failed) request.failed(error);
    }
    return;
  }
  failed_.erase(kind);
  for (const CheckpointRequest& request : file.requests) {
    if (request.saved) request.saved(file.path);
  }
}

}  // namespace tpack
