#include "layers/initializer.h"

namespace tpack {

Initialize weights_initializer(const Part<Initializer>& given, Fans fans) {
  return given ? given->make(fans) : Registry<Initializer>::make("VarianceScaling")->make(fans);
}

Initialize bias_initializer(const Part<Initializer>& given) { return given ? given->make({}) : Initialize(); }

}  // namespace tpack
