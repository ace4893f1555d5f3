#include "sources/format/pickle.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <limits>
#include <string>

#include "core/error.h"
#include "core/text_encoding.h"
#include "sources/format/pickle_objects.h"
#include "sources/format/python_text.h"

namespace tpack {
namespace {

constexpr size_t kMostMemoryPerByte = 40;
constexpr size_t kMostValuesPerByte = 20;
constexpr size_t kAlwaysAllowed = 1'000'000;
constexpr int kNewestProtocol = 5;

/// Python's machine for pickles, with objects that are not known instead of calls.
class Unpickler {
 public:
  explicit Unpickler(StoredBytes bytes) : bytes_(bytes) {}

  Pickle read();

  // Input.
  uint8_t byte() { return take(1)[0]; }
  StoredBytes take(uint64_t count);
  /// An unsigned little-endian integer.
  uint64_t number(size_t bytes);
  int64_t signed_number(size_t bytes);
  /// Up to the end of the line, without it.
  std::string_view line();

  // Values.
  void push(StoredValue value);
  StoredValue pop();
  /// The value on the top, which must be there.
  StoredValue& top();
  StoredList& new_list(std::vector<StoredValue> items);
  StoredDict& new_dict();
  void push_object(std::string name);
  void push_text(std::string_view text);
  void push_bytes(StoredBytes bytes) { push(StoredValue(bytes)); }
  void push_kept(std::string text);
  void push_integer(std::string_view digits);
  void mark() { marks_.push_back(stack_.size()); }
  /// The values after the last mark, which is removed.
  std::vector<StoredValue> pop_to_mark();
  /// Adds values to the list, set or object on the top.
  void append(const std::vector<StoredValue>& items);
  /// Adds keys and values, one after the other, to the dict or object on the top.
  void set_items(const std::vector<StoredValue>& items);
  void pop_one_or_mark();
  void put(uint64_t index);
  void put_next() { put(next_memo_); }
  void get(uint64_t index);
  void call(const StoredValue& function, const StoredValue& arguments);
  void push_tuple(size_t count);
  void build(const StoredValue& state) { set_state(top(), state, memory_); }
  void push_reference(StoredValue id);
  void stop() { is_stopped_ = true; }
  void frame(uint64_t size) const {
    if (size > bytes_.size() - at_) throw DataError("a frame that is longer than the rest of the file");
  }
  void protocol(int version) const {
    if (version > kNewestProtocol)
      throw DataError("protocol " + std::to_string(version) + "; at most 5 is known");
  }

 private:
  size_t memory_limit() const { return kMostMemoryPerByte * bytes_.size() + kAlwaysAllowed; }
  void charge(size_t bytes);

  StoredBytes bytes_;
  size_t at_ = 0;
  bool is_stopped_ = false;
  std::vector<StoredValue> stack_;
  std::vector<size_t> marks_;
  std::vector<std::optional<StoredValue>> memo_;
  uint64_t next_memo_ = 0;
  size_t charged_ = 0;
  Pickle result_;
  PickleMemory memory_{result_.pool, [this](size_t bytes) { charge(bytes); }};
};

void Unpickler::charge(size_t bytes) {
  charged_ += bytes;
  if (charged_ > memory_limit()) throw DataError("values that need too much memory for the size of the file");
}

StoredBytes Unpickler::take(uint64_t count) {
  const size_t left = bytes_.size() - at_;
  if (count > left) {
    throw DataError("it ends early: " + std::to_string(count) + " bytes are expected, " +
                    std::to_string(left) + " are left");
  }
  const StoredBytes taken = bytes_.subspan(at_, count);
  at_ += count;
  return taken;
}

uint64_t Unpickler::number(size_t bytes) {
  const StoredBytes raw = take(bytes);
  uint64_t value = 0;
  for (size_t i = bytes; i-- > 0;) value = value << 8U | raw[i];
  return value;
}

int64_t Unpickler::signed_number(size_t bytes) {
  if (bytes == 0) return 0;
  const auto shift = static_cast<unsigned>(64 - 8 * bytes);
  return static_cast<int64_t>(number(bytes) << shift) >> shift;
}

std::string_view Unpickler::line() {
  const auto rest = bytes_.subspan(at_);
  const auto end = std::ranges::find(rest, '\n');
  if (end == rest.end()) throw DataError("it ends in a line of text");
  const auto length = static_cast<size_t>(end - rest.begin());
  at_ += length + 1;
  return {reinterpret_cast<const char*>(rest.data()), length};
}

void Unpickler::push(StoredValue value) {
  stack_.push_back(value);
  if (charged_ + stack_.size() * sizeof(StoredValue) > memory_limit()) charge(memory_limit());
}

StoredValue& Unpickler::top() {
  if (stack_.size() <= (marks_.empty() ? 0 : marks_.back()))
    throw DataError("it takes a value that is not there");
  return stack_.back();
}

StoredValue Unpickler::pop() {
  const StoredValue value = top();
  stack_.pop_back();
  return value;
}

StoredList& Unpickler::new_list(std::vector<StoredValue> items) {
  charge(sizeof(StoredList) + items.size() * sizeof(StoredValue));
  StoredList& list = result_.pool.new_list();
  list.items = std::move(items);
  return list;
}

StoredDict& Unpickler::new_dict() {
  charge(sizeof(StoredDict));
  return result_.pool.new_dict();
}

void Unpickler::push_object(std::string name) {
  charge(sizeof(StoredObject) + name.size());
  push(StoredValue(&result_.pool.new_object(std::move(name))));
}

void Unpickler::push_text(std::string_view text) {
  if (first_invalid_utf8(text))  // such as a lone surrogate
    push_kept(valid_utf8(text));
  else
    push(StoredValue(text));
}

void Unpickler::push_kept(std::string text) {
  charge(sizeof(std::string) + text.size());
  push(StoredValue(result_.pool.keep(std::move(text))));
}

void Unpickler::push_integer(std::string_view digits) {
  int64_t value = 0;
  const char* const end = digits.data() + digits.size();
  const auto [stop, failure] = std::from_chars(digits.data(), end, value);
  if (stop != end || failure == std::errc::invalid_argument) throw DataError("an invalid integer");
  if (failure == std::errc{})
    push(StoredValue(value));
  else
    push_object("int");
}

std::vector<StoredValue> Unpickler::pop_to_mark() {
  if (marks_.empty()) throw DataError("it takes values up to a mark that is not there");
  const auto begin = stack_.begin() + static_cast<ptrdiff_t>(marks_.back());
  std::vector<StoredValue> values(begin, stack_.end());
  stack_.erase(begin, stack_.end());
  marks_.pop_back();
  return values;
}

void Unpickler::append(const std::vector<StoredValue>& items) {
  charge(items.size() * sizeof(StoredValue));
  const StoredValue& to = top();
  if (StoredList* const list = to.list())
    list->items.insert(list->items.end(), items.begin(), items.end());
  else if (StoredObject* const object = to.object())
    object->arguments.insert(object->arguments.end(), items.begin(), items.end());
  else
    throw DataError("values appended to " + to.str());
}

void Unpickler::set_items(const std::vector<StoredValue>& items) {
  if (items.size() % 2 != 0) throw DataError("a key without a value");
  StoredDict* const dict = top().dict();
  if (dict == nullptr && top().object() != nullptr) return append(items);
  if (dict == nullptr) throw DataError("keys set in " + top().str());
  charge(items.size() * sizeof(StoredValue));
  for (size_t i = 0; i < items.size(); i += 2) dict->entries.emplace_back(items[i], items[i + 1]);
}

void Unpickler::pop_one_or_mark() {
  if (!marks_.empty() && marks_.back() == stack_.size())
    marks_.pop_back();
  else
    pop();
}

void Unpickler::put(uint64_t index) {
  if (index > bytes_.size()) throw DataError("a memo of number " + std::to_string(index));
  if (index >= memo_.size()) {
    charge((index + 1 - memo_.size()) * sizeof(memo_[0]));
    memo_.resize(index + 1);
  }
  next_memo_ += memo_[index] ? 0 : 1;
  memo_[index] = top();
}

void Unpickler::get(uint64_t index) {
  if (index >= memo_.size() || !memo_[index]) throw DataError("no memo of number " + std::to_string(index));
  push(*memo_[index]);
}

void Unpickler::call(const StoredValue& function, const StoredValue& arguments) {
  push(called(function, arguments, memory_));
}

void Unpickler::push_tuple(size_t count) {
  std::vector<StoredValue> items(count);
  for (size_t i = count; i-- > 0;) items[i] = pop();
  push(StoredValue(&new_list(std::move(items))));
}

void Unpickler::push_reference(StoredValue id) {
  charge(sizeof(StoredReference));
  push(StoredValue(&result_.pool.new_reference(id)));
}

StoredBytes bytes_of_text(std::string_view text) {
  return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}

void push_string_of_python2(Unpickler& u) {
  u.push_kept(unquoted_python_string(u.line()));
  u.push_bytes(bytes_of_text(*u.pop().text()));
}

void push_reference_text(Unpickler& u) {
  u.push_text(u.line());
  u.push_reference(u.pop());
}

void push_float_text(Unpickler& u) {
  const std::string_view text = u.line();
  double value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, failure] = std::from_chars(text.data(), end, value);
  if (stop != end || failure == std::errc::invalid_argument) throw DataError("an invalid float");
  u.push(StoredValue(value));
}

void push_double(Unpickler& u) {
  uint64_t bits = 0;
  for (const uint8_t byte : u.take(8)) bits = bits << 8U | byte;
  u.push(StoredValue(std::bit_cast<double>(bits)));
}

/// "I01" and "I00" are bools.
void push_int_or_bool(Unpickler& u) {
  const std::string_view text = u.line();
  if (text == "00" || text == "01")
    u.push(StoredValue(text == "01"));
  else
    u.push_integer(text);
}

void push_long_text(Unpickler& u) {
  std::string_view text = u.line();
  if (text.ends_with('L')) text.remove_suffix(1);
  u.push_integer(text);
}

void push_long(Unpickler& u, uint64_t bytes) {
  if (bytes <= 8) return u.push(StoredValue(u.signed_number(bytes)));
  u.take(bytes);
  u.push_object("int");
}

std::string_view text_from(StoredBytes bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::string class_name(std::string_view module, std::string_view name) {
  return valid_utf8(module) + "." + valid_utf8(name);
}

void push_global(Unpickler& u) {
  const std::string_view module = u.line();
  u.push_object(class_name(module, u.line()));
}

void push_stack_global(Unpickler& u) {
  const StoredValue name = u.pop();
  const StoredValue module = u.pop();
  if (!name.text() || !module.text()) throw DataError("a class without a name");
  u.push_object(class_name(*module.text(), *name.text()));
}

/// The first value after the mark is the class.
void push_instance(Unpickler& u) {
  std::vector<StoredValue> items = u.pop_to_mark();
  if (items.empty()) throw DataError("an object without a class");
  const StoredValue kind = items.front();
  items.erase(items.begin());
  u.call(kind, StoredValue(&u.new_list(std::move(items))));
}

void push_named_instance(Unpickler& u) {
  push_global(u);
  const StoredValue kind = u.pop();
  u.call(kind, StoredValue(&u.new_list(u.pop_to_mark())));
}

void reduce(Unpickler& u) {
  const StoredValue arguments = u.pop();
  u.call(u.pop(), arguments);
}

/// With keyword arguments, which become the last argument.
void new_with_keywords(Unpickler& u) {
  const StoredValue keywords = u.pop();
  const StoredValue arguments = u.pop();
  if (arguments.list() == nullptr)
    throw DataError("a call with " + arguments.str() + " in place of arguments");
  std::vector<StoredValue> all = arguments.list()->items;
  all.push_back(keywords);
  u.call(u.pop(), StoredValue(&u.new_list(std::move(all))));
}

void set_item(Unpickler& u) {
  const StoredValue value = u.pop();
  const StoredValue key = u.pop();
  u.set_items({key, value});
}

void push_dict(Unpickler& u) {
  const std::vector<StoredValue> items = u.pop_to_mark();
  u.push(StoredValue(&u.new_dict()));
  u.set_items(items);
}

void push_items(Unpickler& u) { u.push(StoredValue(&u.new_list(u.pop_to_mark()))); }
void push_empty_list(Unpickler& u) { u.push(StoredValue(&u.new_list({}))); }

uint64_t memo_number(std::string_view digits) {
  uint64_t index = 0;
  const char* const end = digits.data() + digits.size();
  const auto [stop, failure] = std::from_chars(digits.data(), end, index);
  if (stop != end || failure != std::errc{}) throw DataError("an invalid number of a memo");
  return index;
}

[[noreturn]] void out_of_band(Unpickler& /*u*/) {
  throw DataError("it refers to bytes outside of the file (pickle.dumps with buffer_callback)");
}

struct Instruction {
  uint8_t code;
  void (*run)(Unpickler& u);
};

using U = Unpickler;

// In the order of Lib/pickle.py.
constexpr std::array kInstructions = {
    Instruction{'(', [](U& u) { u.mark(); }}, Instruction{'.', [](U& u) { u.stop(); }},
    Instruction{'0', [](U& u) { u.pop_one_or_mark(); }}, Instruction{'1', [](U& u) { u.pop_to_mark(); }},
    Instruction{'2', [](U& u) { u.push(u.top()); }}, Instruction{'F', push_float_text},
    Instruction{'I', push_int_or_bool},
    Instruction{'J', [](U& u) { u.push(StoredValue(u.signed_number(4))); }},
    Instruction{'K', [](U& u) { u.push(StoredValue(static_cast<int64_t>(u.byte()))); }},
    Instruction{'L', push_long_text},
    Instruction{'M', [](U& u) { u.push(StoredValue(static_cast<int64_t>(u.number(2)))); }},
    Instruction{'N', [](U& u) { u.push({}); }}, Instruction{'P', push_reference_text},
    Instruction{'Q', [](U& u) { u.push_reference(u.pop()); }}, Instruction{'R', reduce},
    Instruction{'S', push_string_of_python2},
    Instruction{'T', [](U& u) { u.push_bytes(u.take(u.number(4))); }},
    Instruction{'U', [](U& u) { u.push_bytes(u.take(u.byte())); }},
    Instruction{'V', [](U& u) { u.push_kept(unescaped_python_unicode(u.line())); }},
    Instruction{'X', [](U& u) { u.push_text(text_from(u.take(u.number(4)))); }},
    Instruction{'a', [](U& u) { u.append({u.pop()}); }}, Instruction{'b', [](U& u) { u.build(u.pop()); }},
    Instruction{'c', push_global}, Instruction{'d', push_dict},
    Instruction{'}', [](U& u) { u.push(StoredValue(&u.new_dict())); }},
    Instruction{'e', [](U& u) { u.append(u.pop_to_mark()); }},
    Instruction{'g', [](U& u) { u.get(memo_number(u.line())); }},
    Instruction{'h', [](U& u) { u.get(u.byte()); }}, Instruction{'i', push_named_instance},
    Instruction{'j', [](U& u) { u.get(u.number(4)); }}, Instruction{'l', push_items},
    Instruction{']', push_empty_list}, Instruction{'o', push_instance},
    Instruction{'p', [](U& u) { u.put(memo_number(u.line())); }},
    Instruction{'q', [](U& u) { u.put(u.byte()); }}, Instruction{'r', [](U& u) { u.put(u.number(4)); }},
    Instruction{'s', set_item}, Instruction{'t', push_items}, Instruction{')', push_empty_list},
    Instruction{'u', [](U& u) { u.set_items(u.pop_to_mark()); }}, Instruction{'G', push_double},
    // Protocol 2.
    Instruction{0x80, [](U& u) { u.protocol(u.byte()); }}, Instruction{0x81, reduce},
    Instruction{0x82, [](U& u) { u.push_object("copyreg extension " + std::to_string(u.number(1))); }},
    Instruction{0x83, [](U& u) { u.push_object("copyreg extension " + std::to_string(u.number(2))); }},
    Instruction{0x84, [](U& u) { u.push_object("copyreg extension " + std::to_string(u.number(4))); }},
    Instruction{0x85, [](U& u) { u.push_tuple(1); }}, Instruction{0x86, [](U& u) { u.push_tuple(2); }},
    Instruction{0x87, [](U& u) { u.push_tuple(3); }},
    Instruction{0x88, [](U& u) { u.push(StoredValue(true)); }},
    Instruction{0x89, [](U& u) { u.push(StoredValue(false)); }},
    Instruction{0x8a, [](U& u) { push_long(u, u.byte()); }},
    Instruction{0x8b, [](U& u) { push_long(u, u.number(4)); }},
    // Protocol 3.
    Instruction{'B', [](U& u) { u.push_bytes(u.take(u.number(4))); }},
    Instruction{'C', [](U& u) { u.push_bytes(u.take(u.byte())); }},
    // Protocol 4.
    Instruction{0x8c, [](U& u) { u.push_text(text_from(u.take(u.byte()))); }},
    Instruction{0x8d, [](U& u) { u.push_text(text_from(u.take(u.number(8)))); }},
    Instruction{0x8e, [](U& u) { u.push_bytes(u.take(u.number(8))); }}, Instruction{0x8f, push_empty_list},
    Instruction{0x90, [](U& u) { u.append(u.pop_to_mark()); }}, Instruction{0x91, push_items},
    Instruction{0x92, new_with_keywords}, Instruction{0x93, push_stack_global},
    Instruction{0x94, [](U& u) { u.put_next(); }}, Instruction{0x95, [](U& u) { u.frame(u.number(8)); }},
    // Protocol 5.
    Instruction{0x96, [](U& u) { u.push_bytes(u.take(u.number(8))); }}, Instruction{0x97, out_of_band},
    Instruction{0x98, out_of_band}};

using Table = std::array<void (*)(U& u), 256>;

constexpr Table kRunByCode = [] {
  Table table{};
  for (const Instruction& one : kInstructions) table.at(one.code) = one.run;
  return table;
}();

Pickle Unpickler::read() {
  size_t at = 0;
  try {
    while (!is_stopped_) {
      at = at_;
      const uint8_t code = byte();
      auto* const run = kRunByCode.at(code);
      if (run == nullptr) throw DataError("unknown instruction " + std::to_string(code));
      run(*this);
    }
    result_.value = pop();
    result_.size = at_;
    check_tree(result_.value, static_cast<int64_t>(kMostValuesPerByte * bytes_.size() + kAlwaysAllowed));
  } catch (const DataError& error) {
    throw DataError("invalid pickle at byte " + std::to_string(at) + ": " + error.what());
  }
  return std::move(result_);
}

}  // namespace

Pickle read_pickle(StoredBytes bytes) { return Unpickler(bytes).read(); }

}  // namespace tpack
