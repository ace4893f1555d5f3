#include "run/bad_sample_list.h"

#include <cerrno>
#include <cstring>
#include <utility>

#include "core/text.h"
#include "system/log.h"

namespace tpack {

void BadSampleList::watch(const std::string& name, const DataFlow& flow) {
  flow.bad_samples().on_bad_sample(
      [this, name](const SampleError& error) { add("data." + name + ": " + error.what() + "\n"); });
}

void BadSampleList::write_to(std::string path) {
  const std::lock_guard lock(mutex_);
  path_ = std::move(path);
  if (!waiting_.empty()) write(std::exchange(waiting_, ""));
}

void BadSampleList::add(const std::string& line) {
  const std::lock_guard lock(mutex_);
  if (path_.empty()) {
    waiting_ += line;
  } else {
    write(line);
  }
}

void BadSampleList::write(const std::string& lines) {
  if (failed_) return;
  if (!file_.is_open()) file_.open(path_, std::ios::binary | std::ios::app);
  if (file_ << lines << std::flush) return;
  failed_ = true;
  log::error(path_ + ": cannot be written: " + std::strerror(errno));
}

void warn_of_bad_samples(const std::string& name, const DataFlow& flow, const std::string& where) {
  const int64_t bad = flow.bad_samples().count();
  if (bad == 0) return;
  log::warning(name + ": " + with_thousands(bad) + (bad == 1 ? " bad sample was" : " bad samples were") +
               " left out or replaced" + where);
}

}  // namespace tpack
