#include "remote/remote_protocol.h"

#include <array>
#include <utility>

#include <nlohmann/json.hpp>

#include "core/error.h"
#include "core/text.h"
#include "core/text_encoding.h"

namespace tpack {
namespace {

using Json = nlohmann::json;

constexpr std::array<std::pair<const char*, RemoteRequest::Kind>, 3> kRequests = {
    {{"hello", RemoteRequest::Kind::kHello},
     {"credit", RemoteRequest::Kind::kCredit},
     {"bye", RemoteRequest::Kind::kBye}}};
constexpr std::array<std::pair<const char*, RemoteAnswer::Kind>, 7> kAnswers = {
    {{"spec", RemoteAnswer::Kind::kSpec},
     {"item", RemoteAnswer::Kind::kItem},
     {"end", RemoteAnswer::Kind::kEnd},
     {"error", RemoteAnswer::Kind::kError},
     {"refused", RemoteAnswer::Kind::kRefused},
     {"closing", RemoteAnswer::Kind::kClosing},
     {"alive", RemoteAnswer::Kind::kAlive}}};

template <class Names, class Kind>
const char* name_in(const Names& names, Kind kind) {
  for (const auto& [name, one] : names)
    if (one == kind) return name;
  return "";
}

constexpr size_t kMostGroupBytes = 100;

/// The members of an object that a stranger may have written. Errors: DataError.
class Members {
 public:
  explicit Members(const Json& json) : json_(json) {
    if (!json.is_object()) throw DataError("a message is not a JSON object");
  }

  int64_t integer(const char* name, int64_t least, int64_t most,
                  std::optional<int64_t> otherwise = {}) const {
    const Json* const value = find(name, otherwise.has_value());
    if (value == nullptr) return *otherwise;
    const bool fits =
        value->is_number_integer() && !(value->is_number_unsigned() && value->get<uint64_t>() > INT64_MAX);
    const int64_t number = fits ? value->get<int64_t>() : 0;
    if (!fits || number < least || number > most) wrong(name);
    return number;
  }
  uint64_t natural(const char* name) const {
    const Json* const value = find(name, false);
    if (!value->is_number_unsigned()) wrong(name);
    return value->get<uint64_t>();
  }
  bool flag(const char* name, bool otherwise) const {
    const Json* const value = find(name, true);
    if (value == nullptr) return otherwise;
    if (!value->is_boolean()) wrong(name);
    return value->get<bool>();
  }
  std::string text(const char* name, std::optional<std::string> otherwise = {}) const {
    const Json* const value = find(name, otherwise.has_value());
    if (value == nullptr) return *otherwise;
    if (!value->is_string()) wrong(name);
    return value->get<std::string>();
  }
  const Json& list(const char* name) const {
    static const Json kNothing = Json::array();
    const Json* const value = find(name, true);
    if (value == nullptr) return kNothing;
    if (!value->is_array()) wrong(name);
    return *value;
  }
  const Json& object() const { return json_; }
  [[noreturn]] static void wrong(const char* name) {
    throw DataError(std::string("'") + name + "' in a message has a wrong value");
  }

 private:
  const Json* find(const char* name, bool may_miss) const {
    const auto found = json_.find(name);
    if (found != json_.end() && !found->is_null()) return &*found;
    if (!may_miss) throw DataError(std::string("a message has no '") + name + "'");
    return nullptr;
  }

  const Json& json_;
};

template <class Names>
auto kind_in(const Names& names, const Members& members) {
  const std::string type = members.text("type");
  for (const auto& [name, kind] : names)
    if (type == name) return kind;
  throw DataError("unknown type of a message: '" + printable(type.substr(0, 40)) + "'");
}

Json parse_message(std::string_view text) { return Json::parse(text, nullptr, false); }

Json json_of(const ComponentSpec& one) {
  Json json = {{"name", one.name}, {"dtype", name_of(one.tensor.dtype)}, {"shape", one.tensor.shape.sizes()}};
  if (one.is_image)
    json["image"] = {{"depth", static_cast<int>(one.depth)},
                     {"frames", one.frames},
                     {"background", one.background.rgb},
                     {"upright", one.upright}};
  if (!one.classes.empty()) json["classes"] = one.classes;
  if (one.ignored) json["ignored"] = *one.ignored;
  if (one.annotation != Annotation::kNone) json["annotation"] = static_cast<int>(one.annotation);
  for (const auto& [left, right] : one.mirror_pairs) json["mirror_pairs"].push_back({left, right});
  if (one.is_mixed_label) json["mixed"] = true;
  return json;
}

int64_t size_in(const Json& json, const char* name) {
  constexpr uint64_t kMostElements = uint64_t{1} << 32U;
  const bool is_large = json.is_number_unsigned() && json.get<uint64_t>() > kMostElements;
  if (!json.is_number_integer() || is_large || json.get<int64_t>() < Shape::kUnknown) Members::wrong(name);
  return json.get<int64_t>();
}

ComponentSpec component_of(const Json& json) {
  const Members members(json);
  ComponentSpec one{.name = members.text("name")};
  const std::string dtype = members.text("dtype");
  bool is_known = false;
  for (const auto& [name, type] : kDTypeNames) {
    if (dtype != name) continue;
    one.tensor.dtype = type;
    is_known = true;
  }
  const Json& sizes = members.list("shape");
  if (!is_known) Members::wrong("dtype");
  if (sizes.size() > Shape::kMaxRank) Members::wrong("shape");
  std::vector<int64_t> shape;
  for (const Json& size : sizes) shape.push_back(size_in(size, "shape"));
  one.tensor.shape = Shape(shape);
  if (json.contains("image")) {
    const Members image(json["image"]);
    one.is_image = true;
    one.depth = static_cast<Depth>(image.integer("depth", 0, static_cast<int>(Depth::kFloat)));
    one.frames = static_cast<int>(image.integer("frames", 1, kMostFrames));
    one.upright = image.flag("upright", true);
    const Json& background = image.list("background");
    if (background.size() != one.background.rgb.size()) Members::wrong("background");
    for (size_t i = 0; i < background.size(); ++i) {
      const int64_t level = size_in(background[i], "background");
      if (level < 0 || level > UINT8_MAX) Members::wrong("background");
      one.background.rgb[i] = static_cast<uint8_t>(level);
    }
    if (shape.size() != 3) Members::wrong("shape");
  }
  for (const Json& name : members.list("classes")) {
    if (!name.is_string()) Members::wrong("classes");
    one.classes.push_back(name.get<std::string>());
  }
  if (json.contains("ignored")) one.ignored = members.integer("ignored", INT64_MIN, INT64_MAX);
  constexpr auto kLastAnnotation = static_cast<int64_t>(Annotation::kPoints);
  one.annotation = static_cast<Annotation>(members.integer("annotation", 0, kLastAnnotation, 0));
  for (const Json& pair : members.list("mirror_pairs")) {
    if (!pair.is_array() || pair.size() != 2) Members::wrong("mirror_pairs");
    one.mirror_pairs.emplace_back(size_in(pair[0], "mirror_pairs"), size_in(pair[1], "mirror_pairs"));
  }
  one.is_mixed_label = members.flag("mixed", false);
  return one;
}

RemoteSpec spec_of(const Members& members) {
  RemoteSpec spec;
  std::vector<ComponentSpec> components;
  for (const Json& one : members.list("components")) components.push_back(component_of(one));
  if (components.empty()) throw DataError("a flow without components");
  spec.samples = Spec(std::move(components));
  spec.batch = members.integer("batch", 0, INT32_MAX);
  spec.is_endless = members.flag("endless", false);
  if (members.object().contains("items")) spec.items = members.integer("items", 0, INT64_MAX / 2);
  if (members.object().contains("samples"))
    spec.samples_of_pass = members.integer("samples", 0, INT64_MAX / 2);
  spec.seek = static_cast<Seek>(members.integer("seek", 0, static_cast<int>(Seek::kNone)));
  return spec;
}

}  // namespace

std::string RemoteRequest::str() const {
  Json json = {{"type", name_in(kRequests, kind)}, {"protocol", kRemoteProtocol}};
  if (kind == Kind::kHello) {
    json["attempt"] = hello.attempt;
    json["seed"] = hello.seed;
    json["pass"] = hello.pass;
    json["repeat"] = hello.repeat;
    json["index"] = hello.index;
    json["group"] = hello.group;
    json["reads"] = hello.reads;
    json["credit"] = hello.credit;
  } else if (kind == Kind::kCredit) {
    json["attempt"] = attempt;
    json["credit"] = credit;
  }
  return json.dump();
}

RemoteRequest RemoteRequest::parse(std::string_view text) {
  const Json json = parse_message(text);
  const Members members(json);
  RemoteRequest request{.kind = kind_in(kRequests, members)};
  const int64_t protocol = members.integer("protocol", 0, INT32_MAX);
  if (protocol != kRemoteProtocol)
    throw DataError("version " + std::to_string(protocol) +
                    " of the protocol is not supported; this is version " + std::to_string(kRemoteProtocol) +
                    ": use the same version of tpack on both machines");
  constexpr int64_t kMost = int64_t{1} << 48U;
  if (request.kind == Kind::kHello) {
    RemoteHello& hello = request.hello;
    hello.attempt = members.integer("attempt", 0, kMost);
    hello.seed = members.natural("seed");
    hello.pass = members.integer("pass", 0, kMost);
    hello.repeat = members.integer("repeat", 0, kMost);
    hello.index = members.integer("index", 0, kMost);
    hello.group = members.text("group", "");
    if (hello.group.size() > kMostGroupBytes) Members::wrong("group");
    hello.reads = members.flag("reads", true);
    hello.credit = members.integer("credit", 0, kMost);
  } else if (request.kind == Kind::kCredit) {
    request.attempt = members.integer("attempt", 0, kMost);
    request.credit = members.integer("credit", 0, kMost);
  }
  return request;
}

std::string RemoteAnswer::str() const {
  Json json = {{"type", name_in(kAnswers, kind)}, {"protocol", kRemoteProtocol}};
  switch (kind) {
    case Kind::kSpec:
      for (const ComponentSpec& one : spec.samples) json["components"].push_back(json_of(one));
      json["batch"] = spec.batch;
      json["endless"] = spec.is_endless;
      if (spec.items) json["items"] = *spec.items;
      if (spec.samples_of_pass) json["samples"] = *spec.samples_of_pass;
      json["seek"] = static_cast<int>(spec.seek);
      break;
    case Kind::kItem:
      json["first"] = first;
      json["samples"] = samples;
      [[fallthrough]];
    case Kind::kEnd:
      json["attempt"] = attempt;
      break;
    case Kind::kError:
      json["attempt"] = attempt;
      [[fallthrough]];
    case Kind::kRefused:
    case Kind::kClosing:
      json["text"] = printable_lines(text);
      break;
    case Kind::kAlive:
      break;
  }
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

RemoteAnswer RemoteAnswer::parse(std::string_view text) {
  const Json json = parse_message(text);
  const Members members(json);
  RemoteAnswer answer{.kind = kind_in(kAnswers, members)};
  if (answer.kind == Kind::kRefused) {
    answer.text = members.text("text");
    return answer;
  }
  const int64_t protocol = members.integer("protocol", 0, INT32_MAX);
  if (protocol != kRemoteProtocol)
    throw DataError("the server has version " + std::to_string(protocol) + " of the protocol, not " +
                    std::to_string(kRemoteProtocol) + ": use the same version of tpack on both machines");
  constexpr int64_t kMost = int64_t{1} << 48U;
  answer.attempt = members.integer("attempt", 0, kMost, 0);
  answer.text = members.text("text", "");
  if (answer.kind == Kind::kSpec) answer.spec = spec_of(members);
  if (answer.kind == Kind::kItem) {
    answer.first = members.integer("first", 0, kMost);
    answer.samples = members.integer("samples", 1, INT32_MAX);
  }
  return answer;
}

std::string RemoteSpec::str() const {
  std::string text = samples_of_pass ? with_thousands(*samples_of_pass) + " samples of " : "";
  for (size_t i = 0; i < samples.size(); ++i) {
    const ComponentSpec& one = samples[i];
    text += (i > 0 ? ", " : "") + one.name + " " + one.tensor.str();
    if (!one.classes.empty()) text += " (classes " + join(one.classes, ", ") + ")";
  }
  return batch > 0 ? text + ", in batches of " + std::to_string(batch) : text;
}

}  // namespace tpack
