#include <gmock/gmock.h>

#include "train/trainer.h"

namespace tpack {
namespace {

std::string error_of(const std::string& name, ErrorKind kind) {
  try {
    open_device(name, {}, 1);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), kind);
    return error.what();
  }
  return "no error";
}

TEST(OpenDevice, opens_processors_and_the_reference) {
  EXPECT_EQ(open_device("cpu:0", {}, 1)->float_type(), DType::kFloat32);
  EngineSettings settings;
  settings.backend = EngineSettings::Backend::kReference;
  settings.dtype = DType::kFloat64;
  const auto device = open_device("cpu:1", settings, 1);
  EXPECT_EQ(device->float_type(), DType::kFloat64);
  EXPECT_EQ(device->name(), "cpu:1");
}

TEST(OpenDevice, says_that_there_is_no_cuda) {
  EXPECT_EQ(error_of("gpu:0", ErrorKind::kResource),
            "device gpu:0: this build of tpack has no CUDA; use cpu:0");
}

TEST(OpenDevice, refuses_what_is_no_device) {
  for (const std::string name : {"cpu", "cpu:", "cpu:x", "tpu:0", "cpu:0:1"}) {
    EXPECT_EQ(error_of(name, ErrorKind::kConfig),
              "'" + name + "' is no device; write cpu:0, cpu:1, ... or gpu:0, gpu:1, ...");
  }
}

}  // namespace
}  // namespace tpack
