"""Sends 40 samples with tensorpack's send_dataflow_zmq to the address in the argument."""
import sys
import time

try:
    import numpy as np
    import zmq
    from tensorpack.dataflow import DataFromList
    from tensorpack.dataflow.remote import send_dataflow_zmq
except ImportError as error:
    print(error.name)
    sys.exit(77)

samples = [[np.full((4, 4, 3), 100 + k, np.uint8), k] for k in range(40)]


class Once(DataFromList):
    """Ends the sender after the samples."""

    def __iter__(self):
        yield from super().__iter__()
        time.sleep(2)  # send_dataflow_zmq drops what was not received
        raise KeyboardInterrupt


try:
    send_dataflow_zmq(Once(samples, shuffle=False), sys.argv[1])
except KeyboardInterrupt:
    pass
zmq.Context.instance().destroy(linger=0)
