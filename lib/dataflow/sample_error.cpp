#include "dataflow/sample_error.h"

#include <new>

namespace tpack {

void rethrow_with_sample(const std::string& stage, const SampleId& id) {
  try {
    throw;
  } catch (const SampleError&) {
    throw;
  } catch (const Error& error) {
    throw SampleError(error.kind(), stage, id, error.what());
  } catch (const std::bad_alloc&) {
    throw SampleError(ErrorKind::kResource, stage, id, "no memory");
  } catch (const std::exception& error) {
    throw SampleError(ErrorKind::kData, stage, id, error.what());
  }
}

}  // namespace tpack
