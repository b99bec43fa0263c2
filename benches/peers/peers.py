#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The operator against PyTorch (eager and compiled), JAX, numpy, Eigen, oneDNN and plain C, over the same bytes in one process.

Every contender runs in turn in each round, a triad among them; what is compared are medians of the rounds. Outputs are
reused wherever a peer can. What is not installed is skipped, with a line that says so.

    peers.py --library LIB --driver OURS_SO --plain PLAIN_SO [--eigen EIGEN_SO] [--dnnl DNNL_SO] --threads N --json FILE [--rounds N]
             [--only TEXT] [--without torch,jax]

OMP_NUM_THREADS and ACLCPU_THREADS must be set to N before Python starts (make bench-peers does that).
"""
import argparse
import ctypes
import importlib
import json
import os
import platform
import statistics
import time

import numpy as np

# Shapes of docs/performance.md, and a sweep over sizes at the hidden size of DiT-XL/2.
CASES = [
    ("A DiT-XL/2", 32, 256, 1152),
    ("B SD3", 8, 4096, 1536),
    ("C FLUX", 1, 4608, 3072),
    ("E video DiT", 1, 32760, 5120),
    ("M long", 1, 1_000_000, 64),
    ("small L 4", 4096, 4, 64),
    ("small L 8", 131_073, 8, 1),
    ("L=1", 1, 1, 131_073),
    ("in cache", 2, 64, 256),
]
SWEEP = [(f"sweep {rows}", 1, rows, 1152) for rows in (2, 8, 32, 128, 512, 2048, 8192, 32768)]
TYPES = ["f32", "f16", "bf16"]
# Seconds of a visit that don't count, and that do. libgomp's threads spin for some milliseconds when their work is done. Where
# there are more processors than one, a virtual one that slept through a contender with a single thread may be as long as
# 0.3 s on a core that it shares with another.
WARM_UP, MEASURED = 0.3 if len(os.sched_getaffinity(0)) > 1 else 0.04, 0.04
NUMBER = {"f32": 0, "f16": 1, "bf16": 27}


def aligned(count, dtype):
    """An array at the start of a line, its pages touched, huge ones where the system gives them."""
    item = np.dtype(dtype).itemsize
    raw = np.empty(count * item + 4096, dtype=np.uint8)
    raw.fill(0)  # untouched pages would all be one page of zeros, and in cache
    skip = -raw.ctypes.data % 4096
    return raw[skip : skip + count * item].view(dtype)


def pointer(array):
    return ctypes.c_void_p(array.ctypes.data)


class Problem:
    """One shape and type: inputs as the type's bits, and room for the outputs."""

    def __init__(self, kind, B, L, D):
        self.kind, self.dims = kind, (B, L, D)
        bits = np.float32 if kind == "f32" else np.uint16
        rng = np.random.default_rng(1)
        self.values, self.raw = {}, {}
        for name, count in (("g", B * L * D), ("x", B * L * D), ("s", B * D), ("h", B * D)):
            small = rng.uniform(-1, 1, min(count, 1 << 20)).astype(np.float32)
            store = aligned(count, bits)
            encoded = encode(kind, small)
            for at in range(0, count, len(encoded)):
                store[at : at + len(encoded)] = encoded[: min(len(encoded), count - at)]
            self.raw[name] = store
        for name, count in (("gi", B * L * D), ("gs", B * D), ("gh", B * D)):
            self.raw[name] = aligned(count, bits)
        self.bytes = (3 * B * L * D + 3 * B * D) * self.raw["g"].itemsize

    def array(self, name):
        B, L, D = self.dims
        return self.raw[name].reshape((B, L, D) if name in ("g", "x", "gi") else (B, D))

    def exact(self):
        """Gradients of scale and shift in f64, of the first sample."""
        g, x = (decode(self.kind, self.array(name)[0]).astype(np.float64) for name in ("g", "x"))
        return (g * x).sum(0), g.sum(0)


def encode(kind, values):
    if kind == "f32":
        return values
    if kind == "f16":
        return values.astype(np.float16).view(np.uint16)
    bits = values.view(np.uint32)
    return ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16).astype(np.uint16)


def decode(kind, bits):
    if kind == "f32":
        return bits
    if kind == "f16":
        return bits.view(np.float16).astype(np.float32)
    return (bits.astype(np.uint32) << 16).view(np.float32)


class Ours:
    """The library through its C ABI: both phases and the synchronisation are in the time."""

    def __init__(self, path, driver):
        # Global, so that the driver's calls find it.
        self.lib = lib = ctypes.CDLL(path, mode=ctypes.RTLD_GLOBAL)
        self.driver = ctypes.CDLL(driver)
        lib.aclCreateTensor.restype = ctypes.c_void_p
        lib.aclGetRecentErrMsg.restype = ctypes.c_char_p
        self.check(lib.aclrtSetDevice(0))

    def check(self, status):
        if status:
            raise RuntimeError(f"{status}: {self.lib.aclGetRecentErrMsg()}")

    def prepare(self, problem):
        lib, (B, L, D) = self.lib, problem.dims
        tensors = []
        for name in ("g", "x", "s", "h", "gi", "gs", "gh"):
            dims = (B, L, D) if name in ("g", "x", "gi") else (B, D)
            array = (ctypes.c_int64 * len(dims))(*dims)
            tensors.append(
                ctypes.c_void_p(
                    lib.aclCreateTensor(
                        array, ctypes.c_uint64(len(dims)), NUMBER[problem.kind], None, ctypes.c_int64(0), 2, array,
                        ctypes.c_uint64(len(dims)), pointer(problem.raw[name]),
                    )
                )
            )
        size, executor = ctypes.c_uint64(), ctypes.c_void_p()
        self.check(lib.aclnnModulateBackwardGetWorkspaceSize(*tensors, ctypes.byref(size), ctypes.byref(executor)))
        self.check(lib.aclDestroyAclOpExecutor(executor))
        workspace = aligned(max(size.value, 1), np.uint8)
        at = pointer(workspace)

        all_tensors = (ctypes.c_void_p * len(tensors))(*tensors)

        def call(_keep=workspace):
            self.check(self.driver.ours(all_tensors, at, size))

        def end():
            for tensor in tensors:
                lib.aclDestroyTensor(tensor)

        return call, end


def plain(lib, problem):
    B, L, D = problem.dims
    threads = int(os.environ.get("OMP_NUM_THREADS", "1"))
    sums = aligned(2 * D * threads, np.float32)
    function = getattr(lib, f"plain_{problem.kind}")
    arguments = [ctypes.c_ssize_t(n) for n in (B, L, D)] + [pointer(problem.raw[n]) for n in ("g", "x", "s", "gi", "gs", "gh")]
    return lambda _keep=sums: function(*arguments, pointer(sums))


class OneDnn:
    """oneDNN, prepared once for a problem."""

    def __init__(self, path):
        self.lib = ctypes.CDLL(path)
        self.lib.dnnl_prepare.restype = ctypes.c_void_p
        self.lacks = set()

    def prepare(self, problem):
        """A call and its end; no call where oneDNN lacks the type on this CPU."""
        data = (ctypes.c_void_p * 6)(*(problem.raw[name].ctypes.data for name in ("g", "x", "s", "gi", "gs", "gh")))
        dims = [ctypes.c_ssize_t(n) for n in problem.dims]
        handle = ctypes.c_void_p(self.lib.dnnl_prepare(NUMBER[problem.kind], *dims, data))
        if not handle and problem.kind not in self.lacks:
            self.lacks.add(problem.kind)
            print(f"skipped: oneDNN has no {problem.kind} here")
        return handle and (lambda: self.lib.dnnl_run(handle)), lambda: self.lib.dnnl_end(handle)


def eigen(lib, problem):
    if problem.kind != "f32":
        return None
    arguments = [ctypes.c_ssize_t(n) for n in problem.dims] + [pointer(problem.raw[n]) for n in ("g", "x", "s", "gi", "gs", "gh")]
    return lambda: lib.eigen_f32(*arguments)


def numpy_peer(problem):
    if problem.kind == "bf16":
        return None
    dtype = np.float32 if problem.kind == "f32" else np.float16
    g, x, s, gi, gs, gh = (problem.array(name).view(dtype) for name in ("g", "x", "s", "gi", "gs", "gh"))
    product = np.empty_like(g)

    def call():
        np.multiply(g, s[:, None, :], out=gi)
        np.multiply(g, x, out=product)
        np.add.reduce(product, axis=1, out=gs)
        np.add.reduce(g, axis=1, out=gh)

    return call


def torch_peers(torch, problem):
    dtype = {"f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16}[problem.kind]
    view = lambda name: torch.from_numpy(
        problem.array(name).view(np.float32 if problem.kind == "f32" else np.int16)
    ).view(dtype)
    g, x, s, gi, gs, gh = (view(name) for name in ("g", "x", "s", "gi", "gs", "gh"))
    product = torch.empty_like(g)

    def eager():
        torch.mul(g, s.unsqueeze(1), out=gi)
        torch.mul(g, x, out=product)
        torch.sum(product, 1, out=gs)
        torch.sum(g, 1, out=gh)

    def fused(g, x, s, gi, gs, gh):
        gi.copy_(g * s.unsqueeze(1))
        gs.copy_((g * x).sum(1))
        gh.copy_(g.sum(1))

    torch._dynamo.reset()
    compiled = torch.compile(fused, dynamic=False)
    return eager, lambda: compiled(g, x, s, gi, gs, gh)


def jax_peer(jax, problem):
    import jax.numpy as jnp

    dtype = {"f32": jnp.float32, "f16": jnp.float16, "bf16": jnp.bfloat16}[problem.kind]
    kind = {"f32": np.float32, "f16": np.float16, "bf16": dtype}[problem.kind]
    g, x, s = (jnp.asarray(problem.array(name).view(kind)) for name in ("g", "x", "s"))
    function = jax.jit(lambda g, x, s: (g * s[:, None, :], (g * x).sum(1), g.sum(1)))
    return lambda: jax.block_until_ready(function(g, x, s))


def optional(name, unwanted):
    """A module, or None where it is not wanted or not installed."""
    if name in unwanted:
        return None
    try:
        return importlib.import_module(name)
    except ImportError:
        print(f"skipped: {name} is not installed (pip install {name})")
        return None


def time_of(call, repeat):
    start = time.perf_counter()
    for _ in range(repeat):
        call()
    return (time.perf_counter() - start) / repeat


def measure(contenders, rounds):
    """Medians of the contenders' times, in seconds. Each has several visits, in turn with the others."""
    for call in contenders.values():
        call()  # some compile what they do first
    visits = {name: [] for name in contenders}
    for _ in range(rounds):
        for name, call in contenders.items():
            visits[name].append(visit(call))
    return {name: statistics.median(times) for name, times in visits.items()}


def visit(call):
    """The median time of a call, in seconds, after some that don't count: the threads of the contender before spin on for
    a while, its own must be awake and on cores of their own, and its data in cache where they fit. Where a contender has given
    back memory, a virtual machine may even look up all pages anew. To a call that takes seconds none of that matters."""
    start = time.perf_counter()
    call()
    calls = 1
    first = time.perf_counter() - start
    if first > 1:
        return first
    if first > WARM_UP + MEASURED:
        return time_of(call, 1)
    while calls < 2 or time.perf_counter() - start < WARM_UP:
        call()
        calls += 1
    once = (time.perf_counter() - start) / calls
    # Timed together: as many as the clock and the loop need not to count.
    together = max(1, int(1e-4 / once))
    start, times = time.perf_counter(), []
    while len(times) < 3 or time.perf_counter() - start < MEASURED:
        times.append(time_of(call, together))
    return statistics.median(times)


def error_of(problem, call):
    """Largest error of the two sums in the first sample, relative to the sum of the magnitudes."""
    if call is None:
        return None
    problem.raw["gs"][:] = problem.raw["gh"][:] = 0
    call()
    exact = problem.exact()
    got = [decode(problem.kind, problem.array(name)[0]).astype(np.float64) for name in ("gs", "gh")]
    scale = [np.maximum(np.abs(e), 1.0) for e in exact]
    return max(float(np.max(np.abs(a - b) / c)) for a, b, c in zip(got, exact, scale))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--library", required=True)
    parser.add_argument("--driver", required=True, help="ours.c, compiled")
    parser.add_argument("--plain", required=True, help="plain.c, compiled")
    parser.add_argument("--eigen", help="eigen.cpp, compiled")
    parser.add_argument("--dnnl", help="dnnl.cpp, compiled")
    parser.add_argument("--threads", type=int, required=True)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--only", default="", help="cases whose name and type have this text")
    parser.add_argument("--without", default="", help="peers to leave out, such as torch,jax")
    parser.add_argument("--json", required=True)
    arguments = parser.parse_args()

    ours = Ours(arguments.library, arguments.driver)
    plain_lib = ctypes.CDLL(arguments.plain)
    eigen_lib = ctypes.CDLL(arguments.eigen) if arguments.eigen else None
    one_dnn = OneDnn(arguments.dnnl) if arguments.dnnl else None
    torch, jax = (optional(name, arguments.without.split(",")) for name in ("torch", "jax"))
    if torch:
        torch.set_num_threads(arguments.threads)
    if eigen_lib is None:
        print("skipped: Eigen is not installed (apt-get install libeigen3-dev)")
    if one_dnn is None:
        print("skipped: oneDNN is not installed (apt-get install libdnnl-dev)")

    results = []
    for case, B, L, D in CASES + SWEEP:
        for kind in TYPES if not case.startswith("sweep") else ["f32"]:
            if arguments.only not in f"{case} {kind}":
                continue
            problem = Problem(kind, B, L, D)
            count = problem.bytes // 12
            streams = [aligned(count, np.float32) for _ in range(3)]
            triad = [pointer(a) for a in streams] + [ctypes.c_size_t(count)]
            call, end = ours.prepare(problem)
            contenders = {
                "triad plain": lambda: plain_lib.triad_plain(*triad),
                "triad streaming": lambda: plain_lib.triad_streaming(*triad),
                "ours": call,
                "plain C": plain(plain_lib, problem),
                "Eigen": eigen(eigen_lib, problem) if eigen_lib else None,
                "numpy": numpy_peer(problem),
            }
            ends = [end]
            if one_dnn:
                contenders["oneDNN"], end_one_dnn = one_dnn.prepare(problem)
                ends.append(end_one_dnn)
            if torch:
                contenders["PyTorch eager"], contenders["torch.compile"] = torch_peers(torch, problem)
            if jax:
                contenders["JAX"] = jax_peer(jax, problem)
            contenders = {name: call for name, call in contenders.items() if call}
            rounds = arguments.rounds if problem.bytes < 1 << 30 else max(3, arguments.rounds // 3)
            times = measure(contenders, rounds)
            limit = min(times.pop("triad plain"), times.pop("triad streaming"))
            errors = {name: error_of(problem, contenders[name]) for name in times if name != "JAX"}
            for end in ends:
                end()
            result = {
                "case": case, "dims": [B, L, D], "type": kind, "threads": arguments.threads, "bytes": problem.bytes,
                "triad_us": limit * 1e6, "us": {name: t * 1e6 for name, t in times.items()}, "error": errors,
            }
            results.append(result)
            ratios = "  ".join(f"{name} {t / limit:.2f}" for name, t in times.items())
            print(f"{case:12} {kind:4} {arguments.threads} threads  x triad: {ratios}", flush=True)
    machine = {"cpu": cpu_name(), "cores": os.cpu_count(), "system": platform.platform(), "date": time.strftime("%Y-%m-%d")}
    versions = {"numpy": np.__version__, "torch": torch and torch.__version__, "jax": jax and jax.__version__}
    with open(arguments.json, "w", encoding="utf-8") as file:
        json.dump({"machine": machine, "versions": versions, "results": results}, file, indent=1)


def cpu_name():
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        names = [line.split(":", 1)[1].strip() for line in file if line.startswith("model name")]
    return names[0] if names else platform.processor()


if __name__ == "__main__":
    main()
