#!/usr/bin/env python3
"""Models of ONNX, into the folder of the argument; expected.npz has each tensor as PyTorch has it, an input and the outputs for it."""
import pathlib
import sys

try:
    import numpy as np
    import onnx
    from onnx import TensorProto, helper, numpy_helper
except ImportError as missing:
    print(missing)
    sys.exit(77)
import numpy_net


def nodes(names, folded=False):
    n = names
    all_nodes = [helper.make_node("Conv", ["x", n["conv1.weight"]], ["c"], pads=[1, 1, 1, 1]),
                 helper.make_node("BatchNormalization", ["c", n["bn1.weight"], n["bn1.bias"], n["bn1.running_mean"], n["bn1.running_var"]], ["b"]),
                 helper.make_node("Relu", ["b"], ["r"]),
                 helper.make_node("Conv", ["r", n["dw.weight"], n["dw.bias"]], ["d"], pads=[1, 1, 1, 1], group=8),
                 helper.make_node("Relu", ["d"], ["e"]),
                 helper.make_node("ConvTranspose", ["e", n["up.weight"], n["up.bias"]], ["u"], strides=[2, 2]),
                 helper.make_node("Relu", ["u"], ["v"]), helper.make_node("Flatten", ["v"], ["f"])]
    if folded:  # a product and a sum, and a Gemm without transB
        all_nodes += [helper.make_node("MatMul", ["f", n["fc1.weight"]], ["m"]), helper.make_node("Add", [n["fc1.bias"], "m"], ["g"])]
    else:
        all_nodes += [helper.make_node("Gemm", ["f", n["fc1.weight"], n["fc1.bias"]], ["g"], transB=1)]
    all_nodes += [helper.make_node("Relu", ["g"], ["h"]), helper.make_node("Gemm", ["h", n["fc2.weight"], n["fc2.bias"]], ["y"], transB=0 if folded else 1)]
    return all_nodes


def save(path, values, all_nodes, tensors=None, reverse=True, **options):
    """`reverse`: initializers are not in the order of the network."""
    tensors = tensors or [numpy_helper.from_array(value, name) for name, value in values.items()]
    graph = helper.make_graph(all_nodes, "net", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [None, 3, 4, 4])],
                              [helper.make_tensor_value_info("y", TensorProto.FLOAT, [None, 10])], tensors[::-1] if reverse else tensors)
    model = helper.make_model(graph, producer_name="test", producer_version="1")
    onnx.checker.check_model(model)
    onnx.save(model, path, **options)


def main():
    folder = pathlib.Path(sys.argv[1])
    net = numpy_net.values()
    same = {name: name for name in net}
    save(folder / "net.onnx", net, nodes(same))
    # As an exporter folds and renames: no name tells its use, and products have [inputs, outputs].
    folded = {name: f"onnx::T_{i}" for i, name in enumerate(reversed(net))}
    transposed = {name: value.T if name in ("fc1.weight", "fc2.weight") else value for name, value in net.items()}
    save(folder / "folded.onnx", {folded[name]: np.ascontiguousarray(value) for name, value in transposed.items()}, nodes(folded, folded=True))
    products = {name: np.ascontiguousarray(value) for name, value in transposed.items()}
    save(folder / "products.onnx", products, nodes(same, folded=True))
    constants = [helper.make_node("Constant", [], [name], value=numpy_helper.from_array(value, "unused")) for name, value in net.items()]
    save(folder / "constants.onnx", {}, constants + nodes(same), tensors=[])
    lists = [helper.make_tensor(name, TensorProto.FLOAT, value.shape, value.flatten().tolist()) for name, value in net.items()]
    save(folder / "lists.onnx", net, nodes(same), tensors=lists)
    # Every type, as raw bytes and as lists.
    numbers = np.array([[1, 0, 3], [2, 5, 4]])
    identity = [helper.make_node("Identity", ["x"], ["y"])]
    types = {"float16": TensorProto.FLOAT16, "bfloat16": TensorProto.BFLOAT16, "float64": TensorProto.DOUBLE, "float32": TensorProto.FLOAT,
             "int8": TensorProto.INT8, "int16": TensorProto.INT16, "int32": TensorProto.INT32, "int64": TensorProto.INT64,
             "uint8": TensorProto.UINT8, "uint16": TensorProto.UINT16, "uint32": TensorProto.UINT32, "uint64": TensorProto.UINT64,
             "bool": TensorProto.BOOL}
    tensors = []
    for name, kind in types.items():
        value = (numbers != 0) if name == "bool" else numbers
        tensors.append(helper.make_tensor(f"list_{name}", kind, value.shape, value.flatten().tolist()))
        array = value.astype(helper.tensor_dtype_to_np_dtype(kind))
        tensors.append(helper.make_tensor(f"raw_{name}", kind, value.shape, array.tobytes(), raw=True))
    tensors.append(helper.make_tensor("complex", TensorProto.COMPLEX64, [1], [1j]))
    save(folder / "types.onnx", {}, identity, tensors=tensors, reverse=False)
    # A table that is both looked up and multiplied keeps its layout.
    tied = [helper.make_node("Gather", ["table", "i"], ["t"]), helper.make_node("MatMul", ["t", "table"], ["y"])]
    graph = helper.make_graph(tied, "tied", [helper.make_tensor_value_info("i", TensorProto.INT64, [None])],
                              [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
                              [numpy_helper.from_array(np.arange(9, dtype=np.float32).reshape(3, 3), "table")])
    onnx.save(helper.make_model(graph), folder / "tied.onnx")
    # The network in one branch, another constant of the same name in the other, as exporters of scripts write them.
    tensors = [numpy_helper.from_array(value, name) for name, value in net.items()]
    branch = helper.make_graph(nodes(same), "then", [], [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)], tensors[::-1])
    constant = helper.make_node("Constant", [], ["conv1.weight"], value=numpy_helper.from_array(np.full((1, 10), 7, np.float32), "unused"))
    other = helper.make_graph([constant, helper.make_node("Identity", ["conv1.weight"], ["z"])], "else", [],
                              [helper.make_tensor_value_info("z", TensorProto.FLOAT, None)])
    choice = helper.make_node("If", ["is_wide"], ["result"], name="choice", then_branch=branch, else_branch=other)
    graph = helper.make_graph([choice], "branches", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [None, 3, 4, 4]),
                                                     helper.make_tensor_value_info("is_wide", TensorProto.BOOL, [])],
                              [helper.make_tensor_value_info("result", TensorProto.FLOAT, None)])
    onnx.save(helper.make_model(graph), folder / "branches.onnx")
    save(folder / "external.onnx", net, nodes(same), save_as_external_data=True, all_tensors_to_one_file=True, location="external.data", size_threshold=0)
    numpy_net.save_expected(folder / "expected.npz", net, net)
    print("written")


main()
