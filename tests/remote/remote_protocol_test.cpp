#include "remote/remote_protocol.h"

#include "core/error.h"
#include "dataflow/flow_helpers.h"

namespace tpack {
namespace {

using testing::HasSubstr;

RemoteSpec example_spec() {
  ComponentSpec image{.name = "image", .tensor = {DType::kUInt8, {-1, 20, 3}}, .is_image = true};
  image.background.rgb = {1, 2, 3};
  image.upright = false;
  ComponentSpec label{
      .name = "label", .tensor = {DType::kInt32, {}}, .classes = {"cat", "dog"}, .ignored = -1};
  ComponentSpec points{.name = "eyes", .tensor = {DType::kFloat32, {2, 2}}};
  points.annotation = Annotation::kPoints;
  points.mirror_pairs = {{0, 1}};
  return {.samples = {image, label, points}, .batch = 8, .items = 4, .samples_of_pass = 31};
}

TEST(RemoteProtocol, answers_come_back_as_they_were) {
  const RemoteAnswer sent{.kind = RemoteAnswer::Kind::kSpec, .spec = example_spec()};
  const RemoteSpec got = RemoteAnswer::parse(sent.str()).spec;
  EXPECT_EQ(got.samples.str(), sent.spec.samples.str());
  EXPECT_EQ(got.samples[0].background.rgb, sent.spec.samples[0].background.rgb);
  EXPECT_FALSE(got.samples[0].upright);
  EXPECT_EQ(got.samples[1].classes, (Texts{"cat", "dog"}));
  EXPECT_EQ(got.samples[1].ignored, -1);
  EXPECT_EQ(got.samples[2].annotation, Annotation::kPoints);
  EXPECT_EQ(got.samples[2].mirror_pairs, sent.spec.samples[2].mirror_pairs);
  EXPECT_EQ(got.batch, 8);
  EXPECT_EQ(got.items, 4);
  EXPECT_EQ(got.samples_of_pass, 31);
  const RemoteRequest hello{.kind = RemoteRequest::Kind::kHello,
                            .hello = {.attempt = 3, .seed = UINT64_MAX, .pass = 2, .index = 9, .group = "g"}};
  const RemoteHello read = RemoteRequest::parse(hello.str()).hello;
  EXPECT_EQ(read.seed, UINT64_MAX);
  EXPECT_EQ(read.index, 9);
  EXPECT_EQ(read.group, "g");
}

TEST(RemoteProtocol, each_beginning_of_a_message_is_refused) {
  const std::string spec = RemoteAnswer{.kind = RemoteAnswer::Kind::kSpec, .spec = example_spec()}.str();
  for (size_t size = 0; size < spec.size(); ++size)
    EXPECT_NE(error_of([&] { RemoteAnswer::parse(spec.substr(0, size)); }), "no error") << size;
}

TEST(RemoteProtocol, wrong_values_are_refused) {
  const auto error = [](const std::string& component) {
    return error_of([&] {
      RemoteAnswer::parse(R"({"type":"spec","protocol":1,"batch":0,"seek":0,"components":[)" + component +
                          "]}");
    });
  };
  EXPECT_EQ(error(R"({"name":"x","dtype":"float32","shape":[3]})"), "no error");
  EXPECT_THAT(error(R"({"name":"x","dtype":"float33","shape":[3]})"), HasSubstr("dtype"));
  EXPECT_THAT(error(R"({"name":"x","dtype":"float32","shape":[-2]})"), HasSubstr("shape"));
  EXPECT_THAT(error(R"({"name":"x","dtype":"float32","shape":[1e30]})"), HasSubstr("shape"));
  EXPECT_THAT(error(R"({"name":"x","dtype":"float32","shape":[18446744073709551615]})"), HasSubstr("shape"));
  EXPECT_THAT(error(R"({"name":"x","dtype":"float32","shape":[1,1,1,1,1,1,1,1,1]})"), HasSubstr("shape"));
  EXPECT_THAT(error(R"({"name":7,"dtype":"float32"})"), HasSubstr("name"));
  EXPECT_THAT(error(R"({"name":"x","dtype":"uint8","shape":[2,2,3],"image":{"depth":9}})"),
              HasSubstr("depth"));
  EXPECT_THAT(error("7"), HasSubstr("object"));
  EXPECT_THAT(error(""), HasSubstr("without components"));
}

}  // namespace
}  // namespace tpack
