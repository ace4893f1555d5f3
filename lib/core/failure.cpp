#include "core/failure.h"

#include <exception>
#include <new>
#include <system_error>

#include "core/error.h"
#include "core/stop.h"

namespace tpack {

Failure current_failure() {
  try {
    throw;
  } catch (const Error& error) {
    return {static_cast<int>(error.kind()), error.what()};
  } catch (const Stopped&) {
    return {static_cast<int>(ErrorKind::kInternal), "stopped while waiting"};
  } catch (const std::bad_alloc&) {
    return {static_cast<int>(ErrorKind::kResource), "not enough memory"};
  } catch (const std::system_error& error) {
    return {static_cast<int>(ErrorKind::kResource), error.what()};
  } catch (const std::exception& error) {
    return {static_cast<int>(ErrorKind::kInternal), error.what()};
  } catch (...) {
    return {static_cast<int>(ErrorKind::kInternal), "an exception of unknown type"};
  }
}

}  // namespace tpack
