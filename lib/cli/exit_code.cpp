#include "cli/exit_code.h"

#include <cstdio>
#include <exception>
#include <new>
#include <system_error>

#include "core/error.h"
#include "core/log.h"
#include "core/stop.h"
#include "core/text.h"

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

void report(const Failure& failure) {
  std::fflush(stdout);
  log::set_level(log::Level::kOff);  // stderr gets plain lines that scripts can read
  for (const std::string& line : split(failure.text, '\n')) {
    if (line.empty()) continue;  // what others throw may end with a line feed
    log::error(line);
    std::fprintf(stderr, "error: %s\n", line.c_str());
  }
  std::fflush(stderr);
}

int guarded(const std::function<int()>& command) {
  try {
    return command();
  } catch (...) {
    const Failure failure = current_failure();
    report(failure);
    return failure.exit_code;
  }
}

}  // namespace tpack
