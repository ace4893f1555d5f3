"""Prints what the tensorboard package reads from the event files of a folder. Exit 77: the package is missing."""
import sys

try:
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
except ImportError as error:
    print(error)
    sys.exit(77)

events = EventAccumulator(sys.argv[1])
events.Reload()
for tag in sorted(events.Tags()["scalars"]):
    for event in events.Scalars(tag):
        print("scalar", tag, event.step, event.value)
for tag in sorted(events.Tags()["images"]):
    for event in events.Images(tag):
        print("image", tag, event.step, f"{event.width}x{event.height}")
for tag in sorted(events.Tags()["tensors"]):
    for event in events.Tensors(tag):
        print("text", tag, event.step, event.tensor_proto.string_val[0].decode())
