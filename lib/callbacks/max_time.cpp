#include <charconv>
#include <cmath>

#include "core/clock.h"
#include "core/text.h"
#include "train/callback.h"

namespace tpack {
namespace {

/// A time such as 90 (seconds), 30s, 45m, 2h, 1h30m.
struct TimeSpan {
  double seconds = 0;
};

}  // namespace

template <>
struct Codec<TimeSpan> {
  static FieldType type() {
    return FieldType::either({FieldType::number(), FieldType::text()},
                             "seconds, or a time such as 30m or 1h30m");
  }
  static std::optional<TimeSpan> parse(const ConfigNode& node, Reader& reader) {
    const double seconds = node.is_number()   ? node.as_double()
                           : node.is_string() ? seconds_in(node.text())
                                              : 0;
    if (seconds > 0 && std::isfinite(seconds)) return TimeSpan{seconds};
    reader.wrong_type(node, "a time above 0: seconds, 30s, 45m, 2h or 1h30m");
    return std::nullopt;
  }
  static ConfigNode dump(const TimeSpan& time) { return time.seconds; }

 private:
  /// 0 for invalid texts.
  static double seconds_in(std::string_view text) {
    constexpr std::array<std::pair<char, double>, 4> kUnits = {
        {{'d', 86400}, {'h', 3600}, {'m', 60}, {'s', 1}}};
    double seconds = 0;
    size_t unit = 0;  // each unit once, large ones first
    while (!text.empty()) {
      double count = 0;
      const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), count);
      text.remove_prefix(static_cast<size_t>(end - text.data()));
      if (failure != std::errc{} || count < 0 || text.empty()) return 0;
      while (unit < kUnits.size() && kUnits.at(unit).first != text[0]) ++unit;
      if (unit == kUnits.size()) return 0;
      seconds += count * kUnits.at(unit++).second;
      text.remove_prefix(1);
    }
    return seconds;
  }
};

namespace {

struct MaxTimeParams {
  TimeSpan time;
};

/// The time is that of the process: a resumed run gets all of it again. Source: Lightning, Timer.
class MaxTime final : public Callback {
 public:
  using Params = MaxTimeParams;
  static Schema<Params> schema() {
    return Schema<Params>(
               "Ends the run after the step in which the time is up; ModelSaver then saves. A resumed run "
               "(--resume auto) gets the full time again.")
        .example("MaxTime: 1h30m")
        .field("time", &Params::time,
               "seconds, or a time such as 30s, 45m, 2h, 1h30m, from the start of the program")
        .required()
        .shorthand();
  }
  explicit MaxTime(Params p) : Callback({.no_every = "the time may be up after any step"}), p_(p) {}

  void trigger_step(Run& run) override {
    if (watch_.seconds() >= p_.time.seconds)
      run.request_stop("the time is up: " + human_duration(p_.time.seconds));
  }

 private:
  MaxTimeParams p_;
  Stopwatch watch_;
};

TPACK_REGISTER(Callback, MaxTime, "MaxTime");

}  // namespace
}  // namespace tpack
