#!/usr/bin/env python3
"""Writes the files of a new component: a skeleton that compiles, its build line, and a test or case that fails until it is filled in.

    scripts/new_component.py KIND NAME        such as: layer GhostNorm, source CocoImages, gradient-processor Noise, subcommand prune

NAME is as YAML writes it (a subcommand: as the command line does). A loss, which is a term of the cost and a metric, compares scores
with labels, a regression-loss predictions with targets. CONTRIBUTING.md says what a finished component has.
"""
import argparse
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent

COMPONENT = """\
{includes}
namespace tpack {{
namespace {{

struct {cls}Params{derived} {{
{members}}};

/// Fill in: formula or algorithm. Shapes: fill in. Source: fill in.
class {cls} final : public {base} {{
 public:
  using Params = {cls}Params;
  static Schema<Params> schema() {{
    return {schema}("Fill in: what it does, in one sentence.")
        .example("{name}: {example}"){after_example}
{fields}{schema_end};
  }}
  explicit {cls}(Params p) : {init} {{}}

{methods}
{private}}};

TPACK_REGISTER({kind_class}, {cls}, "{name}");

}}  // namespace
}}  // namespace tpack
"""

TEST = """\
#include <gtest/gtest.h>

#include "core/registry.h"
#include "{header}"

namespace tpack {{
namespace {{

TEST({cls}, fill_in) {{
  EXPECT_NE(Registry<{kind_class}>::make("{name}"), nullptr);
  FAIL() << "fill in {source}, then test here what {name} does";
}}

}}  // namespace
}}  // namespace tpack
"""

TRAINER_TEST = TEST.replace('#include "{header}"', '#include "support/live_fields.h"\n#include "{header}"').replace(
    "namespace {{\n\n", "namespace {{\n\n// What else `device` may be: an option that changes the step needs a `build` that shows it.\n"
    "const live::Fields k{cls}(\"trainer\", \"{name}\", {{.values = {{{{\"device\", \"apart:0\"}}}}}});\n\n", 1)

CALLBACK_TEST = """\
#include <gtest/gtest.h>

#include "support/fake_trainer.h"

namespace tpack {{
namespace {{

TEST({cls}, fill_in) {{
  FakeTrainer trainer;
  TestRun run({{.max_epoch = 2, .steps_per_epoch = 3}}, trainer);
  run.add("{name}", {{{{"amount", 0.5}}}}).go();
  EXPECT_EQ(run.values("{stem}"), (std::vector<double>{{0.5, 0.5}}));
  FAIL() << "fill in {source}, then test here what {name} does";
}}

}}  // namespace
}}  // namespace tpack
"""

# Of a component: the folder of lib/, the class of its kind, and the header of that class.
KINDS = {
    "layer": dict(folder="layers", kind_class="Layer", header="model/layer.h", suffix="Layer", case="layer", methods="""\
  Symbol build(Builder& b, Symbol x) const override {{ return b.mul(x, p_.amount); }}
"""),
    "loss": dict(folder="costs", kind_class="Loss", header="costs/loss.h", suffix="Loss", case="loss", of_outputs=True, methods="""\
  SampleLosses losses(const ModelView& model, const std::string& kind) const override {{
    Builder& b = model.builder();
    const Builder::NameScope scope(b, kind, p_.logits.position);
    const Symbol labels = b.to_float(model.output(p_.labels));
    return b.sub(b.reduce_mean(b.square(model.output(p_.logits)), {{1}}), labels);  // [N]
  }}
"""),
    "regression loss": dict(folder="costs", kind="loss", kind_class="Loss", header="costs/loss.h", more=["costs/regression.h"],
                            suffix="Loss", case="regression loss", derived=" : RegressionFields",
                            schema="with_regression_fields(Schema<Params>", after_example=")",
                            example="{predictions: price, targets: true_price, amount: 0.5}", methods="""\
  SampleLosses losses(const ModelView& model, const std::string& kind) const override {{
    Builder& b = model.builder();
    const Builder::NameScope scope(b, kind, p_.predictions.position);
    return b.mul(b.square(difference(model, p_)), p_.amount);  // [N, ...]
  }}
"""),
    "metric": dict(folder="metrics", kind_class="Metric", header="model/cost.h", suffix="Metric", case="metric", of_outputs=True,
                   methods="""\
  std::optional<Goal> goal() const override {{ return Goal::kMax; }}
  SumAndWeight build(const ModelView& model) const override {{
    Builder& b = model.builder();
    const Builder::NameScope scope(b, "{stem}", p_.logits.position);
    const Symbol labels = b.to_float(model.output(p_.labels));
    return {{b.reduce_sum(model.output(p_.logits)), b.reduce_sum(labels)}};
  }}
"""),
    "schedule": dict(folder="core", sub="schedules", kind_class="Schedule", header="core/schedule.h", suffix="Schedule", case="schedule",
                     methods="""\
 private:
  double value(const Place& place) const override {{ return p_.amount * (1 - place.progress()); }}
"""),
    "initializer": dict(folder="layers", kind_class="Initializer", header="layers/initializer.h", suffix="Initializer",
                        file_suffix="_initializer", methods="""\
  Initialize make(nn::Fans /*fans*/) const override {{
    return nn::fill_with([p = p_](Rng& rng) {{ return p.amount * rng.normal(); }});
  }}
"""),
    "optimizer": dict(folder="optim", kind_class="Optimizer", header="optim/optimizer.h", case="optimizer",
                      derived=" : OptimizerParams", schema="optimizer_schema<Params>", init="Optimizer(p), p_(p)", methods="""\
 private:
  Symbol apply(Builder& b, OptimizerState& /*state*/, Symbol parameters, Symbol gradient,
               Symbol learning_rate) const override {{
    return b.sub(parameters, b.mul(b.mul(gradient, p_.amount), learning_rate));
  }}
"""),
    "gradient processor": dict(folder="optim", kind_class="GradientProcessor", header="optim/optimizer.h", case="processor", methods="""\
  Symbol process(Builder& b, OptimizerState& /*state*/, Symbol gradient) const override {{
    return b.mul(gradient, p_.amount);
  }}
"""),
    "callback": dict(folder="callbacks", kind_class="Callback", header="train/callback.h", methods="""\
  void setup(Setup& setup) override {{ setup.provides("{stem}"); }}
  void trigger(Run& run) override {{ run.monitors().put_scalar("{stem}", p_.amount); }}
"""),
    "trainer": dict(folder="train", kind_class="Trainer", base="DataParallelTrainer", header="train/data_parallel_trainer.h",
                    member="Ref<DeviceName> device = {\"cpu:0\", {}}", field="\"device\", &Params::device, \"fill in\"", example="{device: cpu:0}",
                    init="DataParallelTrainer({.devices = {p.device}}), p_(std::move(p))", methods=""),
    "monitor": dict(folder="monitor", kind_class="Monitor", header="monitor/monitor.h", methods="""\
  void put_scalar(const std::string& name, double value, const StepStamp& /*at*/) override {{
    log::info(name + " " + shortest(p_.amount * value));
  }}
  void end_epoch(const StepStamp& /*at*/) override {{}}
""", more=["system/log.h", "core/registry.h", "core/text.h"]),
    "input source": dict(folder="input", kind_class="InputSource", header="input/input_source.h", suffix="Input", file_suffix="_input",
                         member="int64_t capacity = 2", field="\"capacity\", &Params::capacity, between(2, 100), \"fill in\"",
                         example="{capacity: 20}", methods="""\
  std::unique_ptr<InputReader> open(const InputSetup& setup) const override {{
    return Registry<InputSource>::make("Queue", {{{{"capacity", p_.capacity}}}})->open(setup);
  }}
"""),
    "source": dict(folder="sources", kind_class="Source", base="RandomAccessSource", header="dataflow/source.h",
                   more=["core/registry.h"], methods="""\
  Spec spec() const override {{ return {{{{"value", {{DType::kFloat32, {{}}}}}}}}; }}
  int64_t size() const override {{ return 10; }}
  void get(int64_t index, const SampleKey& /*key*/, Datapoint& out) const override {{
    *out.renew(0, {{DType::kFloat32, {{}}}}).data<float>() = static_cast<float>(p_.amount * static_cast<double>(index));
  }}
"""),
    "map": dict(folder="dataflow", sub="map", kind_class="Map", header="dataflow/map.h", more=["core/registry.h"], methods="""\
  Spec bind(const Spec& in) override {{ return in; }}
  bool apply(Datapoint& d, const SampleKey& key) const override {{
    return d.size() > 0 && static_cast<double>(key.rng().uniform()) < p_.amount;
  }}
  bool may_drop() const override {{ return true; }}
"""),
    "tensor map": dict(folder="dataflow", sub="map", kind_class="TensorMap", header="dataflow/map/tensor_map.h",
                       more=["core/registry.h"], methods="""\
  TensorSpec spec(const TensorSpec& in) const override {{ return {{DType::kFloat32, in.shape}}; }}
  void apply(const Tensor& in, const Tensor& out) const override {{
    for (int64_t i = 0; i < in.elements(); ++i) out.data<float>()[i] = static_cast<float>(p_.amount * in.at(i));
  }}
"""),
    "stage": dict(folder="dataflow", sub="stage", kind_class="Stage", header="dataflow/stage.h", more=["core/registry.h"],
                  member="int prefetch = 2", field="\"prefetch\", &Params::prefetch, between(1, 100), \"fill in\"",
                  example="{prefetch: 20}", methods="""\
  FlowPtr wrap(FlowPtr up, const StageContext& /*context*/) const override {{ return up; }}
  void configure(FlowSettings& settings) const override {{ settings.prefetch = p_.prefetch; }}
"""),
    "environment": dict(folder="environment", kind_class="Environment", header="environment/environment.h", methods="""\
  EnvironmentSpec spec() const override {{ return {{{{DType::kFloat32, {{1}}}}, 2}}; }}
  void reset(Rng& rng) override {{ at_ = rng.uniform64(); }}
  StepOutcome step(int32_t action, Rng& /*rng*/) override {{
    at_ += action == 1 ? p_.amount : -p_.amount;
    return {{static_cast<float>(at_), at_ < -1 ? EpisodeEnd::kOver : EpisodeEnd::kNone}};
  }}
  void observe(const Tensor& out) const override {{ *out.data<float>() = static_cast<float>(at_); }}
  std::vector<double> state() const override {{ return {{at_}}; }}
  void restore(const std::vector<double>& state) override {{ at_ = state[0]; }}

 private:
  double at_ = 0;
"""),
    "augmentor": dict(folder="image", sub="augment", kind_class="Augmentor", header="image/augment/augmentor.h",
                      more=["core/registry.h"], member="float amount = 1", methods="""\
  std::unique_ptr<Transform> draw(ImageSize /*size*/, Rng& rng) const override {{
    return make_linear_color(1, rng.uniform(-p_.amount, p_.amount));
  }}
"""),
}

OP_HEADER = """\
#pragma once

#include "graph/builder.h"

namespace tpack {{

struct {cls}Params {{
  double amount = 1;
}};

/// Fill in: formula. Shapes: x any -> y same.
class {cls} final : public OpOf<{cls}, {cls}Params> {{
 public:
  static constexpr const char* kType = "{name}";
  static Schema<{cls}Params> schema();
  using OpOf::OpOf;
  std::vector<TensorSpec> infer(std::span<const TensorSpec> in) const override;
  std::vector<Symbol> gradient(Builder& b, const Node& n, std::span<const Symbol> dy) const override;
}};

Symbol {stem}(Builder& b, Symbol x, const {cls}Params& params);

}}  // namespace tpack
"""

OP = """\
#include "ops/{stem}.h"

namespace tpack {{

Schema<{cls}Params> {cls}::schema() {{
  return Schema<{cls}Params>("Fill in: what it computes, in one sentence.")
      .field("amount", &{cls}Params::amount, above(0), "fill in: what it is, with its unit");
}}

std::vector<TensorSpec> {cls}::infer(std::span<const TensorSpec> in) const {{
  check_float(in[0], "the input of {name}");
  return {{in[0]}};
}}

std::vector<Symbol> {cls}::gradient(Builder& /*b*/, const Node& /*n*/, std::span<const Symbol> /*dy*/) const {{
  throw InternalError("fill in the gradient of op {name} in lib/ops/{stem}.cpp");
}}

Symbol {stem}(Builder& b, Symbol x, const {cls}Params& params) {{
  return b.emit<{cls}>(params, {{x}}).out();
}}

TPACK_REGISTER(Op, {cls}, "{name}");

}}  // namespace tpack
"""

OP_KERNEL = """\
#include "ops/{stem}.h"

#include "backend/reference/kernel.h"

namespace tpack::reference {{
namespace {{

/// Fill in: plain loops. A kernel for processors, lib/cpu/{stem}.cpp, may follow; until then they run this one.
void {stem}(const Node& n, std::span<const Tensor> in, std::span<const Tensor> out, const RunInfo& /*info*/) {{
  by_float(in[0], [&](auto zero) {{
    using T = decltype(zero);
    const auto amount = static_cast<T>(op_cast<{cls}>(n)->params().amount);
    for (int64_t i = 0; i < in[0].elements(); ++i) out[0].data<T>()[i] = amount * in[0].data<T>()[i];
  }});
}}

const Registration k{cls}("{name}", {stem});

}}  // namespace
}}  // namespace tpack::reference
"""

OP_CASE = """\
      {{"{words}",
       [](Builder& b, Symbols in) {{
         return std::vector{{{stem}(b, in[0], {{0.5}})}};
       }},
       {{random_tensor({{2, 3}}, 1)}}}},
"""

SUBCOMMAND = """\
#include <iostream>
#include <memory>
#include <string>

#include <CLI/CLI.hpp>

#include "cli/commands.h"

namespace tpack {{
namespace {{

struct {cls}Options {{
  std::string argument;
}};

int run_{stem}(const {cls}Options& options) {{
  std::cout << options.argument << "\\n";
  return 0;
}}

void add_{stem}_options(CLI::App& command, Action& action) {{
  auto options = std::make_shared<{cls}Options>();
  command.add_option("argument", options->argument, "fill in: what it is")->required();
  command.callback([options, &action] {{ action = [options] {{ return run_{stem}(*options); }}; }});
}}

const Subcommand k{cls}Command("{name}", "Fill in: what it does", add_{stem}_options);

}}  // namespace
}}  // namespace tpack
"""

SUBCOMMAND_TEST = """\
#include <gtest/gtest.h>

#include "support/program_runner.h"

namespace tpack {{
namespace {{

TEST({cls}Command, fill_in) {{
  FAIL() << "fill in {source}, then test here what `tpack {name}` does, as plot_command_test.cpp does";
}}

}}  // namespace
}}  // namespace tpack
"""

# Cases of tests/golden: the script, the line that a case comes before, the case.
CASES = {
    "layer": ("make_layers.py", "MODEL = ", """\
@case("{stem}", "{name}", "- {name}: {example}", IMAGE)
def _(x, _):
    raise NotImplementedError("fill in what layer {name} gives in PyTorch")


"""),
    "loss": ("make_layers.py", "finish(", """\
@case("{stem}", "{name}", MODEL + "cost: [{{{name}: {{logits: fc, labels: x1}}}}]", SAMPLES, LABELS, form="model")
def _(x, labels, v):
    raise NotImplementedError("fill in what cost {name} gives in PyTorch")


"""),
    "metric": ("make_layers.py", "finish(", """\
@case("{stem}", "{name}", MODEL + "metrics: [{{{name}: {{logits: fc, labels: x1}}}}]", SAMPLES, LABELS, form="model")
def _(x, labels, v):
    raise NotImplementedError("fill in what metric {name} gives in PyTorch")


"""),
    "regression loss": ("make_layers.py", "POLICY = ", """\
@case("{stem}", "{name}",
      REGRESSION + "cost: [{{{name}: {{predictions: fc, targets: x1}}}}]", SAMPLES, TARGETS, form="model")
def _(x, targets, v):
    raise NotImplementedError("fill in what cost {name} of scores(x, v) and targets gives in PyTorch")


"""),
    "optimizer": ("make_optimizers.py", "]\n", """\
    results_of("{stem}", "{name}", "{name}: {{learning_rate: 0.1}}", None),  # fill in: PyTorch's optimizer of a list of parameters
"""),
    "schedule": ("make_schedules.py", "]\n", """\
    rates_of("{name}", "{name}: {example}", 0.5, None),  # fill in: the first rate, and PyTorch's scheduler of an optimizer
"""),
    "processor": ("make_optimizers.py", "]\n", """\
    # Fill in: an optimizer of PyTorch that changes the gradients first.
    results_of("{stem}", "{name}", "SGD: {{learning_rate: 0.1, gradient: [{{{name}: {example}}}]}}", None),
"""),
}


def snake_case(name):
    """As core/text.h has it."""
    name = name.replace("ReLU", "Relu")
    return re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).lower()


def class_name(name):
    """As classes are called here: SyncMultiGPU is SyncMultiGpu, L2Loss is L2Loss."""
    name = name.replace("ReLU", "Relu")
    return re.sub(r"[A-Z]{2,}(?![a-z])", lambda run: run[0].capitalize(), name)


def types():
    """Names of the classes of lib/, each of which has one."""
    for path in (ROOT / "lib").rglob("*.[ch]*"):
        yield from re.findall(r"^(?:class|struct) (\w+)", path.read_text(), re.M) if path.suffix in (".h", ".cpp") else ()


# Columns of the pages that list all components of a kind: tensorpack's name, the name, ...
ROWS = {"callback": ("Callbacks", "| | `{name}` | `trigger` | chief | fill in: what it does |"),
        "monitor": ("Monitors", "| | `{name}` | | fill in: what it does |")}


class Writer:
    """Collects the changes, so that an error leaves no half of them."""

    def __init__(self):
        self.texts = {}

    def new(self, path, text):
        if (ROOT / path).exists():
            sys.exit(f"error: {path} exists; choose another name")
        self.texts[path] = text

    def insert(self, path, marker, text):
        """Puts the text before the last line that starts with the marker."""
        content = self.texts.get(path) or (ROOT / path).read_text()
        at = content.rindex("\n" + marker) + 1
        self.texts[path] = content[:at] + text + content[at:]

    def build_line(self, folder, source):
        """Adds the source to the others of its folder in lib/FOLDER/CMakeLists.txt, in alphabetical order."""
        path = f"lib/{folder}/CMakeLists.txt"
        content = self.texts.get(path) or (ROOT / path).read_text()
        sources = re.search(r"  SOURCES\n((?:    \S+\.cpp\n)+)", content)
        lines = sorted([*sources[1].splitlines(), f"    {source}"])
        self.texts[path] = content[:sources.start(1)] + "\n".join(lines) + "\n" + content[sources.end(1):]

    def row(self, path, heading, text):
        """Adds a row to the table below the heading."""
        content = self.texts.get(path) or (ROOT / path).read_text()
        end = re.compile(r"^\|.*\n(?!\|)", re.M).search(content, content.index(f"\n## {heading}\n")).end()
        self.texts[path] = content[:end] + text + "\n" + content[end:]

    def include(self, path, header):
        content = self.texts.get(path) or (ROOT / path).read_text()
        line = f'#include "{header}"'
        folder = header.split("/")[0]
        others = [m for m in re.finditer(rf'#include "{folder}/\w+\.h"', content)]
        after = next((m for m in others if m[0] > line), None)
        at = after.start() if after else others[-1].end()
        self.texts[path] = content[:at] + (f"{line}\n" if after else f"\n{line}") + content[at:]

    def generated(self):
        """The commands that write the files which come with a component."""
        scripts = [f"`$(scripts/torch_python.sh) {path}`" for path in self.texts if path.startswith("tests/golden/")]
        return "run " + " and ".join([*scripts, "`scripts/generate_docs.sh`"])

    def write(self):
        for path, text in self.texts.items():
            (ROOT / path).parent.mkdir(parents=True, exist_ok=True)
            (ROOT / path).write_text(text)
            print(path)
        print("\nthen: replace what says 'fill in' in these files;", self.generated())
        written = [str(ROOT / path) for path in self.texts if path.endswith((".cpp", ".h"))]
        if shutil.which("clang-format"):
            subprocess.run(["clang-format", "-i", *written], check=True)


def registered(kind_class):
    """The names and aliases of a kind's components in lib/. A loss is a cost and a metric."""
    kind_class = {"Loss": "(?:Loss|Cost|Metric)", "Metric": "(?:Loss|Metric)"}.get(kind_class, kind_class)
    for path in (ROOT / "lib").rglob("*.cpp"):
        for names in re.findall(rf"TPACK_REGISTER\({kind_class}, \w+, ([^)]*)\)", path.read_text()):
            yield from re.findall(r'"(\w+)"', names)


def add_op(writer, name, facts):
    if name in registered("Op"):
        sys.exit(f"error: op {name} exists; choose another name")
    stem = facts["stem"]
    writer.new(f"lib/ops/{stem}.h", OP_HEADER.format(**facts))
    writer.new(f"lib/ops/{stem}.cpp", OP.format(**facts))
    writer.build_line("ops", f"{stem}.cpp")
    writer.new(f"lib/backend/reference/{stem}.cpp", OP_KERNEL.format(**facts))
    writer.build_line("backend", f"reference/{stem}.cpp")
    writer.include("tests/ops/op_cases.h", f"ops/{stem}.h")
    cases = (ROOT / "tests/ops/op_cases.h").read_text()
    first = re.search(r"forward_cases\(\) \{\n  return \{\n(.*)\n", cases)[1]
    writer.insert("tests/ops/op_cases.h", first, OP_CASE.format(**facts))


def add_subcommand(writer, name, facts):
    source = f"lib/cli/{facts['stem']}_command.cpp"
    known = re.findall(r'const Subcommand \w+\(\s*"([\w-]+)"', "".join(p.read_text() for p in (ROOT / "lib/cli").glob("*.cpp")))
    if name in known:
        sys.exit(f"error: subcommand {name} exists; choose another name")
    writer.new(source, SUBCOMMAND.format(**facts))
    writer.build_line("cli", pathlib.Path(source).name)
    writer.new(f"tests/cli/{facts['stem']}_command_test.cpp", SUBCOMMAND_TEST.format(**facts, source=source))


def add_component(writer, kind, name, facts):
    of = KINDS[kind]
    if name in registered(of["kind_class"]):
        sys.exit(f"error: {kind} {name} exists; choose another name")
    kind = of.get("kind", kind)
    if "file_suffix" in of or facts["cls"] in types():
        facts["cls"] += of.get("suffix", "")
    file = facts["stem"] + of.get("file_suffix", "")
    inside = f"{of['sub']}/{file}.cpp" if "sub" in of else f"{file}.cpp"
    source = f"lib/{of['folder']}/{inside}"
    member = of.get("member", "double amount = 1")
    field = of.get("field", '"amount", &Params::amount, above(0), "fill in: what it is, with its unit"')
    facts |= dict(kind=kind, kind_class=of["kind_class"], header=of["header"],
                  base=of.get("base", of["kind_class"]), source=source, example=of.get("example", "{amount: 0.5}"),
                  members=f"  {member};\n", fields=f"        .field({field})", schema=of.get("schema", "Schema<Params>"),
                  schema_end=of.get("schema_end", ""), after_example=of.get("after_example", ""),
                  derived=of.get("derived", ""), init=of.get("init", "p_(std::move(p))" if "std::" in member or "of_outputs" in of or "Fields" in of.get("derived", "") else "p_(p)"), private=("" if "\n private:" in "\n" + of["methods"] else " private:\n") + "  Params p_;\n")
    facts["includes"] = "".join(f'#include "{header}"\n' for header in sorted([of["header"], *of.get("more", [])]))
    if of.get("of_outputs"):
        facts |= dict(members="  Ref<LayerOutput> logits;\n  Ref<LayerOutput> labels;\n", example="{logits: logits, labels: label}",
                      fields="".join(f'\n        .field("{f}", &Params::{f}, "fill in: what it is, with its shape")\n        .required()'
                                     for f in ("logits", "labels"))[1:])
    facts["methods"] = of["methods"].format(**facts)
    writer.new(source, COMPONENT.format(**facts))
    writer.build_line(of["folder"], inside)
    if kind in ROWS:
        heading, row = ROWS[kind]
        writer.row("docs/callbacks.md", heading, row.format(**facts))
    if "case" in of:
        script, marker, case = CASES[of["case"]]
        writer.insert(f"tests/golden/{script}", marker, case.format(**facts))
    else:
        test = {"trainer": TRAINER_TEST, "callback": CALLBACK_TEST}.get(kind, TEST)
        writer.new(source.replace("lib/", "tests/", 1).replace(".cpp", "_test.cpp"), test.format(**facts))


# What others call the kinds.
MEANT = {"activation": "layer", "cost": "loss", "regularizer": "loss", "dataset": "source", "dataflow": "source", "hook": "callback"}


def with_article(word):
    return ("an " if word[0] in "aeiou" else "a ") + word


def main():
    kinds = [*KINDS, "op", "subcommand"]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kind", metavar="KIND", help="one of " + ", ".join(kinds))
    parser.add_argument("name", metavar="NAME")
    options = parser.parse_args()
    kind, name = re.sub("[-_]", " ", options.kind), options.name
    if kind not in kinds:
        meant = f"; {with_article(options.kind)} is a {MEANT[options.kind]} here" if options.kind in MEANT else ""
        sys.exit(f"error: unknown kind '{options.kind}'{meant}; known: {', '.join(kinds)}")
    form = r"[a-z][a-z0-9]*(-[a-z0-9]+)*" if kind == "subcommand" else r"[A-Z][A-Za-z0-9]*"
    if not re.fullmatch(form, name):
        words = re.findall(r"[A-Za-z0-9]+", snake_case(name)) or ["leaky", "relu"]
        example = "such as " + "-".join(words) if kind == "subcommand" else "in PascalCase, such as " + "".join(map(str.capitalize, words))
        sys.exit(f"error: '{name}' is not a name of {with_article(kind)}; use a name {example}")
    stem = name.replace("-", "_") if kind == "subcommand" else snake_case(name)
    facts = dict(name=name, stem=stem, words=stem.replace("_", " "),
                 cls="".join(word.capitalize() for word in name.split("-")) if kind == "subcommand" else class_name(name))
    writer = Writer()
    if kind == "op":
        add_op(writer, name, facts)
    elif kind == "subcommand":
        add_subcommand(writer, name, facts)
    else:
        add_component(writer, kind, name, facts)
    writer.write()


if __name__ == "__main__":
    main()
