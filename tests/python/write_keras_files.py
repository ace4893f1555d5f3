#!/usr/bin/env python3
"""Files of weights as Keras writes them, into the folder of the argument; expected.npz has each array, an input and the outputs for it.

The layouts are those of Keras 3.15.1 with TensorFlow 2.21 and h5py 3.14 (legacy.h5, numbered.weights.h5, net.keras, nested.keras), of
tf.keras 2.11 (tf2.h5), and of Keras 1 and 2.0 (old.h5); only h5py is needed here. Types and attributes were compared with real files of the
first three.
"""
import io
import json
import pathlib
import sys
import zipfile

try:
    import h5py
    import numpy as np
except ImportError as missing:
    print(missing)
    sys.exit(77)
import numpy_net

LAYERS = {"conv1": "Conv2D", "bn1": "BatchNormalization", "re_lu": "ReLU", "dw": "DepthwiseConv2D", "up": "Conv2DTranspose", "flatten": "Flatten",
          "fc1": "Dense", "fc2": "Dense"}
SNAKE = {"Conv2D": "conv2d", "BatchNormalization": "batch_normalization", "ReLU": "re_lu", "DepthwiseConv2D": "depthwise_conv2d",
         "Conv2DTranspose": "conv2d_transpose", "Flatten": "flatten", "Dense": "dense", "Sequential": "sequential"}
ORDER = ["kernel", "gamma", "bias", "beta", "moving_mean", "moving_variance"]


def of_layer(values, layer):
    """Leaves and values of a layer, in the order of Keras."""
    own = {name.rsplit("/", 1)[1]: value for name, value in values.items() if name.rsplit("/", 1)[0] == layer}
    return sorted(own.items(), key=lambda item: ORDER.index(item[0]))


def write_named(path, values, in_model=True, names=lambda layer, leaf: f"{layer}/{leaf}", layers=LAYERS, fixed=False, split=False, **options):
    """`layer_names` and `weight_names`, as model.save("m.h5") and model.save_weights("m.h5") of Keras 2."""
    def texts(list_of):
        if not list_of:
            return np.array([])  # of float64, as Keras
        return np.array([text.encode() for text in list_of]) if fixed else np.array(list(list_of), dtype=h5py.string_dtype())
    with h5py.File(path, "w") as file:
        top = file.create_group("model_weights") if in_model else file
        if split:
            for i, layer in enumerate(layers):
                top.attrs[f"layer_names{i}"] = texts([layer])
        else:
            top.attrs["layer_names"] = texts(layers)
        top.attrs["backend"] = "tensorflow"
        top.attrs["keras_version"] = "3.15.1"
        for layer in layers:
            group = top.create_group(layer)
            own = of_layer(values, layer)
            group.attrs["weight_names"] = texts([names(layer, leaf) for leaf, _ in own])
            for leaf, value in own:
                group.create_dataset(names(layer, leaf), data=value, **options)
        if in_model:
            top.create_group("top_level_model_weights").attrs["weight_names"] = np.array([])
            file.attrs["model_config"] = json.dumps({"class_name": "Functional", "config": {"layers": []}})
            file.create_dataset("optimizer_weights/adam/iteration", data=np.int64(3))


def write_numbered(file, values, layers, prefix="", with_names=True):
    """Groups with the names of classes, as Keras 3."""
    counts = {}
    for layer, kind in layers.items():
        snake = SNAKE[kind if isinstance(kind, str) else "Sequential"]
        group = snake + (f"_{counts[snake]}" if snake in counts else "")
        counts[snake] = counts.get(snake, 0) + 1
        own = file.create_group(f"{prefix}layers/{group}")
        vars_group = own.create_group("vars")
        if with_names:
            vars_group.attrs["name"] = layer.rsplit("/", 1)[-1]
        if not isinstance(kind, str):
            write_numbered(file, values, {f"{layer}/{inner}": k for inner, k in kind.items()}, f"{prefix}layers/{group}/", with_names)
            continue
        for i, (_, value) in enumerate(of_layer(values, layer)):
            vars_group.create_dataset(str(i), data=value)
    if not prefix:
        file.create_group("vars").attrs["name"] = "functional_1"
        file.create_dataset("optimizer/vars/0", data=np.int64(3))


def config_of(layers, values, prefix=""):
    entries = []
    for layer, kind in layers.items():
        config = {"name": layer}
        if not isinstance(kind, str):
            config = config_of(kind, values, f"{prefix}{layer}/") | config
        elif kind == "BatchNormalization":
            config |= {"scale": f"{prefix}{layer}/gamma" in values, "center": f"{prefix}{layer}/beta" in values}
        entries.append({"module": "keras.layers", "class_name": kind if isinstance(kind, str) else "Sequential", "config": config})
    return {"name": "functional_1", "layers": entries}


def write_archive(path, values, layers, with_names=True, compression=zipfile.ZIP_STORED):
    weights = io.BytesIO()
    with h5py.File(weights, "w") as file:
        write_numbered(file, values, layers, with_names=with_names)
    with zipfile.ZipFile(path, "w", compression) as archive:
        archive.writestr("metadata.json", json.dumps({"keras_version": "3.15.1"}))
        archive.writestr("config.json", json.dumps({"class_name": "Functional", "config": config_of(layers, values)}))
        archive.writestr("model.weights.h5", weights.getvalue())


def main():
    folder = pathlib.Path(sys.argv[1])
    net = numpy_net.values()
    values = numpy_net.keras_values(net)
    write_named(folder / "legacy.h5", values)
    write_named(folder / "tf2.h5", values, in_model=False, fixed=True,
                names=lambda layer, leaf: f"{layer}/{'depthwise_kernel' if layer == 'dw' and leaf == 'kernel' else leaf}:0")
    old = {"kernel": "W", "bias": "b", "moving_mean": "running_mean", "moving_variance": "running_std"}
    write_named(folder / "old.h5", values, in_model=False, fixed=True, names=lambda layer, leaf: f"{layer}_{old.get(leaf, leaf)}_1:0")
    write_named(folder / "around.h5", values, names=lambda layer, leaf: f"sequential/{layer}/{leaf}")
    write_named(folder / "float16.h5", {name: value.astype(np.float16) for name, value in values.items()})
    write_named(folder / "gzip.h5", values, chunks=True, compression="gzip", shuffle=True)
    write_named(folder / "chunks.h5", values, chunks=True)
    write_named(folder / "split.h5", values, split=True)  # as Keras does if they have more than 64 kB
    # Names with numbers that Keras counts over all models of a program.
    counted = {layer: f"{SNAKE[kind]}_{17 + i}" for i, (layer, kind) in enumerate(LAYERS.items())}
    renamed = {f"{counted[name.split('/')[0]]}/{name.split('/')[1]}": value for name, value in values.items()}
    write_named(folder / "counted.h5", renamed, layers=list(counted.values()))
    with h5py.File(folder / "numbered.weights.h5", "w") as file:
        write_numbered(file, values, LAYERS)
    write_archive(folder / "net.keras", values, LAYERS)
    write_archive(folder / "deflated.keras", values, LAYERS, compression=zipfile.ZIP_DEFLATED)
    write_archive(folder / "no-names.keras", values, LAYERS, with_names=False)
    nested = {"fc2/kernel": values["fc2/kernel"], "fc2/bias": values["fc2/bias"]}
    nested |= {f"body/{name}": values[name] for name in ["conv1/kernel", "bn1/gamma", "bn1/moving_mean", "bn1/moving_variance"]}
    write_archive(folder / "nested.keras", nested, {"body": {"conv1": "Conv2D", "bn1": "BatchNormalization"}, "fc2": "Dense"})
    with h5py.File(folder / "plain.h5", "w") as file:
        file["a/b"] = np.arange(6, dtype=np.float32).reshape(2, 3)
        file["flags"] = np.array([True, False])
        file["text"] = "not a number"
        file.create_dataset("big_endian", data=np.arange(3, dtype=">f4"))
    with h5py.File(folder / "new_headers.h5", "w", libver=("v108", "v110")) as file:
        file.attrs["layer_names"] = ["a"]
        file.create_group("a").attrs["weight_names"] = np.array([b"a/kernel:0"])
        file["a"].create_dataset("a/kernel:0", data=np.arange(77, dtype=np.float32).reshape(7, 11), chunks=(3, 4), maxshape=(None, None), compression="gzip")
    bad = folder / "bad"
    bad.mkdir()
    with h5py.File(bad / "external_link.h5", "w") as file:
        file["w"] = h5py.ExternalLink(str(folder / "plain.h5"), "/a/b")
    with h5py.File(bad / "soft_link.h5", "w") as file:
        file["w"] = h5py.SoftLink("/a")
    with h5py.File(bad / "virtual.h5", "w") as file:
        layout = h5py.VirtualLayout((2, 3), np.float32)
        layout[:] = h5py.VirtualSource(str(folder / "plain.h5"), "a/b", (2, 3))
        file.create_virtual_dataset("w", layout)
    (bad / "numbers").write_bytes(b"\0" * 400)
    with h5py.File(bad / "external_storage.h5", "w") as file:
        file.create_dataset("w", (100,), np.float32, external=[(str(bad / "numbers"), 0, 400)])
    with h5py.File(bad / "bomb.h5", "w") as file:
        file.create_dataset("w", data=np.zeros(10_000_000, np.float32), compression="gzip", chunks=(1_000_000,))
    with h5py.File(bad / "missing.h5", "w") as file:
        file.create_dataset("w", (2048, 1024), np.float32, chunks=(64, 64))
    with h5py.File(bad / "filter.h5", "w") as file:
        file.create_dataset("w", data=np.arange(100, dtype=np.float32), chunks=(10,), fletcher32=True)
    with h5py.File(bad / "no_weight.h5", "w") as file:
        file.attrs["layer_names"] = ["a"]
        file.create_group("a").attrs["weight_names"] = ["a/kernel:0"]
    with h5py.File(bad / "itself.h5", "w") as file:
        file["a"] = file["/"]
    numpy_net.save_expected(folder / "expected.npz", net, values | nested | {"a/kernel": np.arange(77, dtype=np.float32).reshape(7, 11)})
    print("written")


main()
