#include "train/callback.h"

namespace tpack {
namespace {

struct EnableIfParams {
  Slot<Callback> callback;
  Formula condition;
};

/// Source: tensorpack callbacks/trigger.py, EnableCallbackIf.
struct EnableIf {
  using Params = EnableIfParams;
  static Schema<Params> schema() {
    return Schema<Params>(
               "Runs the hooks of a callback in epochs and steps only where a condition holds; those before "
               "and after the training always: another spelling of `when`, which each callback has.")
        .example(
            "EnableIf: {callback: {InferenceRunner: {data: validation}}, condition: epoch > 3 and epoch % 2 "
            "== 0}")
        .field("callback", &Params::callback, "the callback")
        .required()
        .field("condition", &Params::condition, "an expression, as that of `when`")
        .required();
  }
  static std::unique_ptr<Callback> make(const Params& p) {
    auto callback = Registry<Callback>::make_item(p.callback.item);
    callback->call_when(p.condition, "callback EnableIf, 'condition'");
    return callback;
  }
};

TPACK_REGISTER(Callback, EnableIf, "EnableIf", "EnableCallbackIf");

}  // namespace
}  // namespace tpack
