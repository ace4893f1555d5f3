#include "system/shared_library.h"

#include <gmock/gmock-matchers.h>

#include "core/error.h"

namespace tpack {
namespace {

using testing::HasSubstr;

TEST(SharedLibrary, finds_functions) {
  const SharedLibrary library("libm.so.6", "libc6");
  double (*cube_root)(double) = nullptr;
  library.find("cbrt", cube_root);
  EXPECT_DOUBLE_EQ(cube_root(27.0), 3.0);
}

template <class Act>
std::string resource_error(Act&& act) {
  try {
    act();
  } catch (const ResourceError& error) {
    return error.what();
  }
  return "none";
}

TEST(SharedLibrary, says_what_is_missing) {
  const std::string missing = resource_error([] { SharedLibrary("libabsent.so.3", "libabsent3"); });
  EXPECT_THAT(missing, HasSubstr("the library libabsent.so.3 cannot be opened: "));
  EXPECT_THAT(missing, HasSubstr("; install Debian's package libabsent3"));
  const SharedLibrary library("libm.so.6", "libc6");
  void (*none)() = nullptr;
  EXPECT_EQ(resource_error([&] { library.find("absent_function", none); }),
            "the library libm.so.6 has no function absent_function");
}

}  // namespace
}  // namespace tpack
