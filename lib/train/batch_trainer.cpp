#include "train/batch_trainer.h"

#include "checkpoint/layout.h"
#include "parallel/ranks.h"
#include "train/saved_state.h"

namespace tpack {
namespace {

State state_of(const TowerInput& input) {
  State state;
  state.put("component", input.component);
  state.put("dtype", std::string(name_of(input.spec.dtype)));
  const Shape& shape = input.spec.shape;
  state.put("shape", std::vector<double>(shape.sizes().begin(), shape.sizes().end()));
  state.put("layout", input.layout);
  return state;
}

DType dtype_named(const std::string& name, const std::string& source) {
  for (const auto& [known, dtype] : kDTypeNames)
    if (name == known) return dtype;
  throw CheckpointError(source, "its input has the unknown type '" + name + "'");
}

TowerInput input_from(const State& state, const std::string& source) {
  const auto component = state.get<std::string>("component");
  std::vector<int64_t> sizes;
  for (const double size : state.get<std::vector<double>>("shape"))
    sizes.push_back(static_cast<int64_t>(size));
  return {.name = component,
          .component = component,
          .spec = {dtype_named(state.get<std::string>("dtype"), source), Shape(sizes)},
          .layout = state.get<std::string>("layout")};
}

}  // namespace

Symbol rows_of(Builder& b, Symbol x) {
  const int64_t samples = x.shape()[0];
  return b.to_float(b.reshape(x, {samples, x.shape().elements() / samples}));
}

void BatchTrainer::setup(const TrainSetup& setup) {
  setup_ = setup;
  data_ = setup.train_flow();
  if (setup.tower != nullptr)
    throw ConfigError("this trainer makes its own model; remove 'model', or use another trainer");
  if (!setup.updates.empty())
    throw ConfigError(setup.updates[0].position,
                      "this trainer has no optimizer; remove 'optimizer', or use another trainer");
  const Choice choice = this->choice();
  processor_parts({choice.device});  // which checks the name
  tower_ = make_tower(input_of(choice.component));
  device_ = open_device(choice.device.name, setup.engine);
  if (device_->float_type() != DType::kFloat32)
    throw ConfigError("this trainer computes in float32; remove engine.dtype");
  const auto build = [this](Builder& b, const Signature& fed) {
    build_tower(b, *tower_, fed, fetches(), [](const Statistic&) { return false; });
  };
  Graph graph;
  Builder b(graph, table_, {Phase::kTraining, device_->float_type()});
  build(b, signature(*data_->batch_size()));
  table_.close();
  program_ = std::make_unique<Program>("step", *device_, *setup.plan, [this, build](const Signature& fed) {
    Graph made;
    Builder builder(made, table_, {Phase::kTraining, device_->float_type()});
    build(builder, fed);
    return made;
  });
}

TowerInput BatchTrainer::input_of(const ComponentRef& ref) {
  if (!data_->batch_size()) {
    throw ConfigError(data_->origin(),
                      "data.train produces single samples; end it with BatchData: {batch_size: ...}");
  }
  component_ = data_->spec().index(ref, "data.train");
  const ComponentSpec& component = data_->spec()[component_];
  const TensorSpec sample{component.tensor.dtype, component.tensor.shape.drop_front()};
  return {.name = component.name,
          .component = component.name,
          .spec = sample,
          .layout = component.is_image ? "HWC" : "",
          .position = ref.position};
}

void BatchTrainer::compile() {
  if (compiled()) return;
  build_with_plan_of_rank_0(world(), *device_, *setup_.plan, [this] {
    device_->create_variables(table_);
    step_ = &program_->compile(signature(*data_->batch_size()));
    const int64_t left = data_->batching()->remainder();
    if (left > 0) program_->compile(signature(left), Choosing::kByRules);
  });
}

void BatchTrainer::initialize() {
  compile();
  store().initialize(setup_.seed);
  for (const auto& [name, array] : arrays()) array.copy_from(Tensor::zeros(array.spec()));
  open({});
}

void BatchTrainer::open(DataPosition position) {
  waited_before_ = waited_s();
  reader_.reset();
  position_ = position;
  InputSetup input;
  input.flow = data_;
  input.components = {component_};
  input.nominal = signature(*data_->batch_size());
  input.seed = setup_.seed;
  input.replica = world().rank();
  input.replicas = world().size();
  input.position = position;
  reader_ = setup_.input->open(input);
}

bool BatchTrainer::step(int64_t global_step, const std::stop_token& stop) {
  // The first rank without a batch has the largest number.
  const int missing = reader_->next(stop_if_alone(world(), stop)) ? 0 : world().size() - world().rank();
  if (const int agreed = world().agree_max(missing, "the next batch"); agreed > 0) {
    ended_on_ = world().size() - agreed;
    return false;
  }
  fit(global_step, stop);
  samples_ += batch_samples();
  last_step_ = global_step;
  position_ = reader_->position();
  return true;
}

const Executable& BatchTrainer::run(int64_t global_step) {
  return program_->run(reader_->tensors(), {.step = global_step});
}

std::string BatchTrainer::end_of_data() const {
  if (world().size() == 1) return StepData::end_of_data();
  return "the data of rank " + std::to_string(ended_on_) + " ended";
}

std::optional<int64_t> BatchTrainer::steps_per_pass() const {
  const auto batches = data_->finite_size();
  return batches ? std::optional(*batches / world().size()) : std::nullopt;
}

StepSize BatchTrainer::step_size() const {
  return {.batch = *data_->batch_size(), .ranks = world().size(), .threads = device_->threads()};
}

int64_t BatchTrainer::batch_of_all() const { return *data_->batch_size() * world().size(); }

double BatchTrainer::waited_s() const { return waited_before_ + (reader_ ? reader_->waited_s() : 0); }

std::optional<InputQueue> BatchTrainer::input_queue() const {
  return reader_ ? reader_->queue() : std::nullopt;
}

void BatchTrainer::share_variables() { broadcast_variables(world(), store()); }

std::optional<TowerBatch> BatchTrainer::last_batch(size_t /*tower*/) const {
  if (samples_ == 0) return std::nullopt;
  return TowerBatch{reader_->tensors(), {.step = last_step_}};
}

std::optional<ModelHandle> BatchTrainer::model_handle() {
  return ModelHandle{tower_.get(), device_.get(), &table_, setup_.plan};
}

std::vector<NamedExecutable> BatchTrainer::programs() const {
  return compiled() ? std::vector<NamedExecutable>{{"step", step_}} : std::vector<NamedExecutable>();
}

TrainerMemory BatchTrainer::memory() const {
  TrainerMemory memory;
  if (!compiled()) return memory;
  memory.variables = device_->variables().bytes();
  for (const auto& [name, array] : arrays()) memory.variables += array.bytes();
  memory.activations = device_->arena_bytes() + working_bytes();
  memory.constants = step_->report().constant_bytes;
  return memory;
}

void BatchTrainer::save(CheckpointContent& content) const {
  save_variables(device_->variables(), content);
  for (const auto& [name, array] : arrays()) content.tensors[layout::kOptimizer + name] = array;
  content.texts[layout::kInput] = state_of(tower_->inputs()[0]).to_json();
  State data;
  save_position(position_, data);
  data.put("ranks", world().size());
  data.put("batch_size", *data_->batch_size());
  data.put("seed", static_cast<int64_t>(setup_.seed));
  content.texts[layout::kData] = data.to_json();
}

void BatchTrainer::check_resumable(const CheckpointContent& content, const std::string& source) const {
  const State data = data_state(content, source);
  require_same(data, source, "ranks", world().size());
  require_batch_size(content, source, data, *data_->batch_size());
  require_same(data, source, "seed", static_cast<int64_t>(setup_.seed));
  require_seek(data, source, *data_);
}

void BatchTrainer::load(const CheckpointContent& content, const std::string& source) {
  check_resumable(content, source);
  std::set<std::string> own;
  for (const auto& [name, array] : arrays()) own.insert(layout::kOptimizer + name);
  load_variables(content, source, store(), own);
  for (const auto& [name, array] : arrays()) {
    const auto found = content.tensors.find(layout::kOptimizer + name);
    if (found == content.tensors.end() || !(found->second.spec() == array.spec()))
      throw CheckpointError(source, "has no " + layout::kOptimizer + name + " of the type " +
                                        array.spec().str() + "; to resume, use the same trainer");
    array.copy_from(found->second);
  }
  open(position_for(data_state(content, source), *data_));
}

std::unique_ptr<TowerFunction> BatchTrainer::stored_tower(const CheckpointContent& content,
                                                          const std::string& source) const {
  const auto text = content.texts.find(layout::kInput);
  if (text == content.texts.end())
    throw CheckpointError(source, "does not describe the input of its model; it was made by another trainer");
  return make_tower(input_from(State::from_json(text->second, source), source));
}

}  // namespace tpack
