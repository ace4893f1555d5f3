#pragma once

#include <string>
#include <vector>

#include "backend/device.h"
#include "testkit/gradient_check.h"

namespace tpack::testkit {

/// How the cpu backend is to run a function under test.
struct BackendVariant {
  DeviceOptions::Algorithm algorithm = DeviceOptions::Algorithm::kDirect;
  std::string layout = {};  // "nhwc" or "nChw16c" for every image node; empty: what is chosen
  std::string convolution =
      {};  // algorithm of every convolution, of which there must be one; empty: what is chosen
  int threads = 1;
  Precision precision = Precision::kFp32;
  Phase phase = Phase::kTraining;
};

/// Runs a function and its gradients once on the cpu backend (float32). Gives the outputs, the gradients with
/// respect to the float inputs, then what the store holds afterwards: the gradients of the trainable
/// variables, and all variables.
std::vector<Tensor> evaluate_on_cpu(const Function& function, const std::vector<Tensor>& inputs,
                                    const BackendVariant& variant);

/// An output, a gradient or a variable.
struct NamedTensor {
  std::string name;
  Tensor value;
};

struct BackendCheckResult {
  /// |cpu - reference| / the largest |reference| of the tensor; infinite if the reference is zero and the
  /// cpu backend is not.
  double largest_error = 0;
  std::string text;  // which output, gradient or variable; both values
  // What was compared with the reference:
  PlanSection plan;                // the choices for the nodes
  std::vector<std::string> kinds;  // of the kernels that ran, such as "Sweep"
};

/// Compares a function and its gradients on the cpu backend with the reference backend in double, which runs
/// once. Gradients of trainable variables are assigned to their place in the store, as in training, and the
/// stores are compared. Float64 inputs are given to the cpu backend as float32.
class BackendCheck {
 public:
  BackendCheck(Function function, std::vector<Tensor> inputs, Phase phase = Phase::kTraining);

  /// The variant's phase must be the one given above.
  BackendCheckResult run(const BackendVariant& variant) const;

 private:
  Function function_;
  std::vector<Tensor> inputs_;
  Phase phase_;
  std::vector<NamedTensor> truth_;
};

/// As above, for one variant.
BackendCheckResult check_backend(const Function& function, const std::vector<Tensor>& inputs,
                                 const BackendVariant& variant);

}  // namespace tpack::testkit
