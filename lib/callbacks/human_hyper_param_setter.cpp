#include <algorithm>
#include <cstdlib>
#include <optional>
#include <string_view>
#include <vector>

#include "callbacks/hyper_param.h"
#include "core/text.h"
#include "system/file_io.h"
#include "system/log.h"

namespace tpack {
namespace {

struct HumanHyperParamSetterParams {
  Ref<HyperParamName> param;
  std::string file = "hyper.txt";
};

constexpr const char* kHumanSetterOwner = "callback HumanHyperParamSetter";

/// Source: tensorpack callbacks/param.py, HumanHyperParamSetter.
class HumanHyperParamSetter final : public HyperParamSetter {
 public:
  using Params = HumanHyperParamSetterParams;
  static Schema<Params> schema() {
    return Schema<Params>(
               "Sets a hyper-parameter to the value in a file of the run folder, which you may edit during "
               "the run: lines `learning_rate: 0.001`. The file is read when a new run begins and after each "
               "epoch; without the file or the line, nothing changes.")
        .example("HumanHyperParamSetter: {param: learning_rate, file: hyper.txt}")
        .field("param", &Params::param, "the hyper-parameter, such as learning_rate")
        .required()
        .field("file", &Params::file, "name of the file in the run folder");
  }
  explicit HumanHyperParamSetter(Params p) : HyperParamSetter(p.param), p_(std::move(p)) {
    if (p_.file.empty() || p_.file.find('/') != std::string::npos)
      throw ConfigError(std::string(kHumanSetterOwner) + ": 'file' is '" + p_.file +
                        "'; it must be the name of a file");
  }

  void setup(Setup& setup) override { param_.setup(setup); }
  void before_train(Run& run) override {
    if (!run.resumed()) trigger(run);
  }
  void trigger(Run& run) override {
    set_of_chief(run, run.is_chief() ? read(run) : std::nullopt, kHumanSetterOwner);
  }

 private:
  /// Invalid content is logged, and the run continues.
  std::optional<double> read(const Run& run) const {
    if (run.folder().empty()) return std::nullopt;
    const std::string path = run.folder() + "/" + p_.file;
    const auto text = read_whole_file(path);
    if (!text) return std::nullopt;
    const std::vector<std::string> lines = split(*text, '\n');
    for (size_t i = 0; i < lines.size(); ++i) {
      const std::string_view line = trim(lines[i]);
      const size_t colon = line.find(':');
      const std::string name(trim(line.substr(0, colon)));
      const auto ignore = [&](std::string_view what, const std::string& why) {
        log::warning(path + ":" + std::to_string(i + 1) + ": '" + std::string(what) + "' is ignored: " + why);
      };
      if (line.empty() || line.starts_with('#')) continue;
      if (colon == std::string::npos) {
        ignore(line, "write `" + param_.name() + ": NUMBER`");
      } else if (name != param_.name()) {  // another setter may use it
        const std::vector<std::string> known = run.part<TrainedVariables>().hyper_parameters();
        const bool is_known = std::find(known.begin(), known.end(), name) != known.end();
        if (!is_known && nearest(name, known) == param_.name())
          ignore(name, "the hyper-parameter is '" + param_.name() + "'");
      } else {
        const std::string written(trim(line.substr(colon + 1)));
        char* end = nullptr;
        const double value = std::strtod(written.c_str(), &end);
        const bool is_number = !written.empty() && *end == '\0';
        const char* wrong = is_number ? why_invalid(param_.name(), value) : "it is not a number";
        if (wrong == nullptr) return value;
        ignore(written, wrong);
      }
    }
    return std::nullopt;
  }

  Params p_;
};

TPACK_REGISTER(Callback, HumanHyperParamSetter, "HumanHyperParamSetter");

}  // namespace
}  // namespace tpack
