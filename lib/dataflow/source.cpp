#include "dataflow/source.h"

#include <filesystem>

#include "core/error.h"
#include "core/expression.h"
#include "dataflow/fitted_data.h"
#include "dataflow/part_times.h"
#include "dataflow/random_access_flow.h"
#include "system/mapping_guard.h"

namespace tpack {
namespace {

/// Numbers the samples of a source and adds the number to its errors.
class NumberingCursor final : public Cursor {
 public:
  NumberingCursor(std::unique_ptr<Cursor> inner, const PassKey& pass, const StageContext& context,
                  size_t size)
      : inner_(std::move(inner)), id_{pass.pass, 0, pass.repeat}, context_(context), size_(size) {}

  bool next(Datapoint& out) override {
    const PartTimer timer(context_.name, &out);
    out.set_id(id_);
    out.resize(size_);
    const SampleId id = id_;
    ++id_.index;
    try {
      const bool is_there = inner_->next(out);
      check_mapped_files();
      return is_there;
    } catch (...) {
      rethrow_with_sample(context_.place_of(id));
    }
  }
  int64_t skip(int64_t count) override {
    try {
      const int64_t skipped = inner_->skip(count);
      id_.index += skipped;
      return skipped;
    } catch (...) {
      rethrow_with_sample(context_.place_of(id_));
    }
  }

 private:
  std::unique_ptr<Cursor> inner_;
  SampleId id_;
  const StageContext& context_;
  size_t size_;
};

class SequentialFlow final : public Flow {
 public:
  SequentialFlow(std::shared_ptr<SequentialSource> source, StageContext context)
      : source_(std::move(source)), context_(std::move(context)), spec_(source_->spec()) {}

  const Spec& spec() const override { return spec_; }
  Access access() const override { return Access::kSequential; }
  Seek seek() const override { return source_->seek(); }
  std::optional<int64_t> size() const override { return source_->size(); }
  void prepare() const override { source_->prepare_once(context_.position); }
  std::vector<const Source*> sources() const override { return {source_.get()}; }
  std::unique_ptr<Cursor> open(const PassKey& pass) const override {
    source_->check_unchanged();
    return std::make_unique<NumberingCursor>(source_->open(pass, context_.key), pass, context_, spec_.size());
  }

 private:
  std::shared_ptr<SequentialSource> source_;
  StageContext context_;
  Spec spec_;
};

}  // namespace

void Source::follow(std::shared_ptr<Fit> fit, std::string name) {
  if (const auto wrapped = part<WrappingSource>().wrapped()) wrapped->follow(fit, name);
  fit_ = std::move(fit);
  name_ = std::move(name);
}

void Source::follow_as(const Source& other) { follow(other.fit_, other.name_); }

std::vector<FittedComponent> LearnedValues::fitted() const { return {}; }

std::shared_ptr<RandomAccessSource> SourceFiles::reopen_with(
    const std::string& /*path*/, const std::vector<std::string>& /*components*/) const {
  return nullptr;
}

std::optional<FittedComponent> Source::declared_fit(const std::string& component) const {
  return fit_ == nullptr ? std::nullopt : fit_->declared().find(name_, component);
}

std::optional<FittedComponent> Source::opened_fit(const std::string& component) const {
  return fit_ == nullptr ? std::nullopt : fit_->opened().find(name_, component);
}

std::shared_ptr<const RandomAccessSource> Source::indexed() const {
  auto own = std::dynamic_pointer_cast<const RandomAccessSource>(shared_from_this());
  return own != nullptr ? std::move(own) : part<WrappingSource>().wrapped();
}

std::vector<int32_t> class_numbers(const RandomAccessSource& source, const std::string& component) {
  if (auto known = source.part<SampleFacts>().class_numbers(component)) return std::move(*known);
  const Spec components = source.spec();
  const size_t at = components.index({component.c_str()}, "the classes");
  std::vector<int32_t> numbers;
  Datapoint d;
  for (int64_t i = 0; i < source.size(); ++i) {
    d.resize(components.size());
    try {
      source.get(i, {}, d);
      numbers.push_back(*d.to_tensor(at).data<int32_t>());
    } catch (const DataError&) {
      numbers.push_back(-1);
    }
  }
  return numbers;
}

/// (std::call_once may hang after an exception, because it relies on the system's pthread_once, and on its
/// replacement in the thread sanitizer.)
void Source::prepare_once(const Position& where) {
  const std::lock_guard lock(opening_);
  if (open_) return;
  try {
    prepare();
    check_mapped_files();
  } catch (const ConfigError& error) {
    Diagnostics errors;
    errors.add(error, where);
    errors.throw_if_any();
  } catch (const DataError& error) {
    const std::string text = error.what();
    if (where.known() && text.starts_with(*where.file + ":"))
      throw;  // from a source inside this one, already with its position
    throw DataError(Problem{where, text}.str());
  }
  const auto file = part<SourceFiles>().open_file();
  stamp_ = file ? file->stamp : "";
  open_ = true;
}

void Source::check_unchanged() const {
  if (const auto wrapped = part<WrappingSource>().wrapped()) wrapped->check_unchanged();
  const auto file = part<SourceFiles>().open_file();
  if (file && file->stamp != stamp_)
    throw DataError(
        file->path,
        "changed since it was opened (its size or its time of modification); once it is as before, "
        "--resume auto continues");
}

FlowPtr RandomAccessSource::flow(const StageContext& context, FlowBuilder& /*builder*/) {
  return std::make_shared<RandomAccessFlow>(std::static_pointer_cast<RandomAccessSource>(shared_from_this()),
                                            context);
}

FlowPtr SequentialSource::flow(const StageContext& context, FlowBuilder& /*builder*/) {
  return std::make_shared<SequentialFlow>(std::static_pointer_cast<SequentialSource>(shared_from_this()),
                                          context);
}

}  // namespace tpack
