#include "dataflow/sample_error.h"

#include <new>

#include "system/mapping_guard.h"

namespace tpack {
namespace {

std::string message(const SamplePlace& place, const std::string& text) {
  const std::string file = place.file.empty() ? "" : place.file + ": ";
  return Problem{place.position, place.stage + ", " + place.id.str() + ": " + file + text}.str();
}

}  // namespace

SampleError::SampleError(ErrorKind kind, const SamplePlace& place, const std::string& text,
                         const std::string& fix)
    : Error(kind, message(place, text + fix)), place_(place), text_(text) {}

void rethrow_with_sample(const SamplePlace& place) {
  try {
    check_mapped_files();  // may be the cause
    throw;
  } catch (const SampleError&) {
    throw;
  } catch (const FileError& error) {
    SamplePlace named = place;
    named.file.clear();  // the text has it
    throw SampleError(
        error.kind(), named, error.what(),
        "; to skip such files, write the flow as {on_error: replace, flow: [...]} (or use skip)");
  } catch (const PartError& error) {
    SamplePlace part = place;
    part.position = error.position();
    if (!error.file().empty()) part.file = error.file();
    throw SampleError(error.kind(), part, error.what());
  } catch (const Error& error) {
    throw SampleError(error.kind(), place, error.what());
  } catch (const std::bad_alloc&) {
    throw SampleError(ErrorKind::kResource, place, "not enough memory");
  } catch (const std::exception& error) {
    throw SampleError(ErrorKind::kData, place, error.what());
  }
}

}  // namespace tpack
