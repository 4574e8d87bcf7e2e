"""The child process of ``executions.run_on_intel``: builds and launches jobs, one result after the other.

Standard input: a pickled list of jobs as dictionaries. ``sys.argv[1]``: the file that each result is appended to.
"""

from __future__ import annotations

import pickle
import sys
from typing import Any


def run(context: Any, queue: Any, job: dict[str, Any]) -> Any:
    """The arguments after the launch, or the error as text."""
    import pyopencl as cl

    try:
        program = cl.Program(context, job["program"]).build(options=list(job["options"]))
        flags = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
        buffers = [cl.Buffer(context, flags, hostbuf=array) for array in job["arguments"]]
        program.k(queue, (job["global_size"],), (job["local_size"],), *buffers)
        for array, buffer in zip(job["arguments"], buffers, strict=True):
            cl.enqueue_copy(queue, array, buffer)
        queue.finish()
    except Exception as error:
        return f"{type(error).__name__}: {error}"[:3000]
    return job["arguments"]


def main() -> None:
    import pyopencl as cl

    context = cl.Context(cl.get_platforms()[0].get_devices())
    queue = cl.CommandQueue(context)
    with open(sys.argv[1], "wb") as output:
        for job in pickle.load(sys.stdin.buffer):
            pickle.dump(run(context, queue, job), output)
            output.flush()


if __name__ == "__main__":
    main()
