#!/usr/bin/env python3
"""Writes the reference pages: reference_pages.py TPACK FOLDER. Parameters come from the program, shapes and sources from
the doc comment of the component's class."""
import json
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
LABELS = ("Shapes", "Errors", "Threads", "Units", "Source")

TITLES = {
    "augmentor": "Augmentors", "callback": "Callbacks", "cost": "Costs", "environment": "Environments", "gradient processor": "Gradient processors",
    "initializer": "Initializers", "input source": "Input sources", "layer": "Layers", "map": "Maps", "metric": "Metrics",
    "monitor": "Monitors", "optimizer": "Optimizers", "schedule": "Schedules", "source": "Sources", "stage": "Stages",
    "tensor map": "Tensor maps", "trainer": "Trainers",
}
WHERE = {
    "augmentor": "Items of `AugmentImageComponent`, a map of dataflows.",
    "callback": "Items of the section `callbacks`; they run in the order of the list.",
    "cost": "Items of `model.cost`; the cost is their sum. Each also takes `name`, the name of its statistic.",
    "environment": "Environments of agents, for reinforcement learning.",
    "gradient processor": "Items of an optimizer's `gradient`; they process the gradient in the order of the list.",
    "initializer": "The initial values of a layer's variables.",
    "input source": "The section `input`: how batches get to the devices.",
    "layer": "Items of `model.layers`; each takes the output of the layer before it, or of the layers in its `input`.",
    "map": "Items of a dataflow after its source: one sample in, one sample out, by any number of workers.",
    "metric": "Items of `model.metrics`: statistics of each batch besides the cost. Each also takes `name`, the name of its statistic.",
    "monitor": "Items of the section `monitors`: where statistics are written.",
    "optimizer": "The section `optimizer`.",
    "schedule": "A number that changes over a run, such as a learning rate or the weight of a term of the cost. Each also takes `by`,\n`length`, `warmup` and `warmup_start`.",
    "source": "The first item of a dataflow.",
    "stage": "Items of a dataflow that process the stream of samples: order, batches, length.",
    "tensor map": "Functions of one component, by name in `MapData`.",
    "trainer": "The section `trainer`: how steps run, and on which devices.",
}


def run(tpack, *words):
    return subprocess.run([tpack, *words], check=True, capture_output=True, text=True).stdout


def escaped(text):
    """Plain text as Markdown; text in backticks stays."""
    parts = text.split("`")
    parts[::2] = [re.sub(r"([*<|])", r"\\\1", part) for part in parts[::2]]
    return "`".join(parts)


def doc_comment(component):
    """The paragraphs above the component's class, which is in its source or header: [(label or "", text)]."""
    path = ROOT / component["source"]
    text = path.read_text()
    cls = re.search(r'TPACK_REGISTER\(\w+,\s*(\w+),\s*"%s"' % re.escape(component["name"]), text)[1]
    header = path.with_suffix(".h")
    above = re.search(r"((?:^///.*\n)+)(?:class|struct|using) %s\b" % cls, text + (header.read_text() if header.exists() else ""), re.M)
    if not above:
        sys.exit(f"error: {component['source']}: class {cls} has no comment (///) right above it: formula or algorithm, shapes, "
                 "source; the reference page shows it")
    paragraphs = []
    for line in above.group(1).splitlines():
        line = line.removeprefix("///").strip()
        for part in re.split(r"(?=\b(?:%s):)" % "|".join(LABELS), line):
            label = re.match(r"(%s):\s*" % "|".join(LABELS), part)
            if label:
                paragraphs.append([label.group(1), part[label.end():].strip()])
            elif part.strip() and paragraphs:
                paragraphs[-1][1] += " " + part.strip()
            elif part.strip():
                paragraphs.append(["", part.strip()])
    return paragraphs


def default_of(parameter):
    if parameter["required"]:
        return "required"
    value = parameter["default"]
    return "none" if value is None else "`%s`" % json.dumps(value, ensure_ascii=False)


def parameter_table(parameters):
    if not parameters:
        return "No parameters.\n"
    lines = ["| parameter | type | range | default | meaning |", "|---|---|---|---|---|"]
    for p in parameters:
        cells = [f"`{p['name']}`", escaped(p["type"]), escaped(p.get("range", "")), default_of(p), escaped(p["doc"])]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def other_default(variant):
    """What a name means beside the component: " (`mode: parameter_server`)"."""
    if variant is None:
        return ""
    return f" (`{', '.join(f'{field}: {value}' for field, value in variant.items() if field != 'name')}`)"


def component_section(component):
    lines = [f"## {component['name']}", "", escaped(component["summary"])]
    if component["aliases"]:
        variants = {v["name"]: v for v in component.get("variants", [])}
        lines[-1] += " Also called " + ", ".join(f"`{a}`{other_default(variants.get(a))}" for a in component["aliases"]) + "."
    lines.append("")
    for label, text in doc_comment(component):
        lines += [f"**{label}:** {escaped(text)}" if label else escaped(text), ""]
    if component["example"]:
        lines += ["```yaml", component["example"], "```", ""]
    lines.append(parameter_table(component["parameters"]))
    lines.append(f"[{component['source']}](../../{component['source']})\n")
    return "\n".join(lines)


def file_name(kind):
    return TITLES[kind].lower().replace(" ", "-") + ".md"


def keys_of(schema):
    """The properties of an object, also where it is one of several ways to write a value."""
    ways = [schema, *schema.get("anyOf", [])]
    return next((way["properties"] for way in ways if "properties" in way), {})


def sections_page(schema):
    lines = ["# Sections of a config", "", "Every section is optional; the trainer declares which ones it needs.", "",
             "| section | default | meaning |", "|---|---|---|"]

    def add(prefix, properties):
        for name, value in properties.items():
            default = value.get("default")
            text = "" if default in (None, "", [], {}) else "`%s`" % json.dumps(default, ensure_ascii=False)
            lines.append(f"| `{prefix}{name}` | {text} | {escaped(value.get('description', ''))} |")
            add(f"{prefix}{name}.", keys_of(value))
            if name != "data":  # see below
                add(f"{prefix}{name}.NAME.", keys_of(value.get("additionalProperties") or {}))

    add("", schema["properties"])
    lines += ["", "A dataflow in `data` is a list of components, the name of another flow, or a map:", "",
              "| key | default | meaning |", "|---|---|---|"]
    add("", keys_of(schema["properties"]["data"]["additionalProperties"]))
    return "\n".join(lines) + "\n"


def commands_page(tpack):
    top = run(tpack, "--help")
    text = "# The command line\n\n```\n" + top.strip() + "\n```\n"

    def add(words):
        nonlocal text
        shown = run(tpack, *words, "--help").strip()
        text += f"\n## tpack {' '.join(words)}\n\n```\n{shown}\n```\n"
        return shown

    for name in commands_in(top):
        for inner in commands_in(add([name])):
            add([name, inner])
    return text + "\nExit codes: [exit-codes.md](../exit-codes.md).\n"


def commands_in(shown):
    _, _, listed = shown.partition("Subcommands:\n")
    return [line.split()[0] for line in listed.splitlines() if re.match(r"  \w", line)]


def main(tpack, folder):
    listed = json.loads(run(tpack, "list", "--json"))
    kinds = sorted({c["kind"] for c in listed})
    pages = {"sections.md": sections_page(json.loads(run(tpack, "schema"))), "command-line.md": commands_page(tpack)}
    index = ["# Reference", "", "Written by `scripts/generate_docs.sh` from the program itself.", "",
             "- [sections.md](sections.md): the sections of a config",
             "- [command-line.md](command-line.md): commands and options",
             "- [schema.json](schema.json): JSON Schema of configs, for editors", ""]
    described = {}
    for name in sorted({c["name"] for c in listed}):
        for component in json.loads(run(tpack, "describe", name, "--json")):
            described[component["kind"], component["name"]] = component
    for kind in kinds:
        components = [described[c["kind"], c["name"]] for c in listed if c["kind"] == kind]
        page = [f"# {TITLES[kind]}", "", WHERE[kind], ""] + [component_section(c) for c in components]
        pages[file_name(kind)] = "\n".join(page)
        names = ", ".join(f"[{c['name']}]({file_name(kind)}#{c['name'].lower()})" for c in components)
        index.append(f"- **[{TITLES[kind]}]({file_name(kind)})**: {names}")
    pages["README.md"] = "\n".join(index) + "\n"
    for name, text in pages.items():
        (pathlib.Path(folder) / name).write_text(text)


main(sys.argv[1], sys.argv[2])
