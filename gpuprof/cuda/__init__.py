"""The CUDA that we ship, in C++: what programs include, and what they are linked with.

`include/` has the headers under CUDA's names, and in `include/gpuprof/` what they are made of: the language and its
built-in variables (`cuda.h`, which is included before every file), device functions (`math_*.h`, `half*.h`, `sync.h`,
...), and the host's side, the runtime and driver calls (`runtime*.h`, `driver*.h`). `forwarding.json` has the names
that only have to exist: clang opens another header (`forward_*.h`) for each of them. `api.csv` has the functions of
NVIDIA's runtime and driver API, and which of them are here.

`runtime/` is the library of whole programs: it defines the calls that these headers declare, and passes each of them
on through a channel (`channel.cpp`) to the process that emulates the GPU. `program.calls` declares the protocol; its
header `calls.h` is generated when the library is built.

Headers are compiled by clang for the device and for the host, the library only for the host. All of it is data of the
wheel.
"""

from pathlib import Path

FOLDER = Path(__file__).parent
INCLUDE = FOLDER / "include"
CCCL = INCLUDE / "gpuprof/cccl"  # searched before all others: hides __NVCC__ from headers of Thrust, CUB, libcu++
LAST = INCLUDE / "gpuprof/last"  # searched after all others
PRELUDE = INCLUDE / "gpuprof" / "cuda.h"
FORWARDING = FOLDER / "forwarding.json"
RUNTIME = FOLDER / "runtime"
API = FOLDER / "api.csv"
