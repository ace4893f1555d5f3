#include "callbacks/progress_line.h"

#include <algorithm>
#include <cmath>
#include <cstdarg>
#include <cstdio>

namespace tpack {
namespace {

/// A text of limited length in the caller's memory.
class Line {
 public:
  explicit Line(std::span<char> buffer) : buffer_(buffer) {}

  __attribute__((format(printf, 2, 3))) void add(const char* format, ...) {
    std::va_list arguments;
    va_start(arguments, format);
    const int wanted = std::vsnprintf(buffer_.data() + used_, buffer_.size() - used_, format, arguments);
    va_end(arguments);
    if (wanted > 0) used_ = std::min(used_ + static_cast<size_t>(wanted), buffer_.size() - 1);
  }
  /// As add, but adds nothing if the text does not fit completely.
  void add_if_it_fits(const ProgressValue& value) {
    const auto rest = buffer_.subspan(used_);
    const int wanted = std::snprintf(rest.data(), rest.size(), ", %s %.4g", value.name, value.value);
    if (wanted > 0 && static_cast<size_t>(wanted) < rest.size()) used_ += static_cast<size_t>(wanted);
  }
  std::string_view text() const { return {buffer_.data(), used_}; }

 private:
  std::span<char> buffer_;
  size_t used_ = 0;
};

void add_duration(Line& line, double seconds) {
  const long long whole = std::llround(seconds);
  if (whole >= 3600) {
    line.add("%lld h %02lld min", whole / 3600, whole / 60 % 60);
  } else if (whole >= 60) {
    line.add("%lld min %02lld s", whole / 60, whole % 60);
  } else {
    line.add("%lld s", whole);
  }
}

}  // namespace

std::string_view progress_line(const Progress& p, std::span<char> buffer) {
  Line line(buffer);
  const auto percent = p.total_steps > 0 ? 100 * p.steps / p.total_steps : 100;
  line.add("epoch %lld: %lld/%lld (%lld %%)", static_cast<long long>(p.epoch),
           static_cast<long long>(p.steps), static_cast<long long>(p.total_steps),
           static_cast<long long>(percent));
  if (p.rate > 0) {
    line.add(", %.3g steps/s, ", p.rate);
    add_duration(line, static_cast<double>(p.total_steps - p.steps) / p.rate);
    line.add(" left");
  }
  for (const ProgressValue& value : p.values) line.add_if_it_fits(value);
  return line.text();
}

}  // namespace tpack
