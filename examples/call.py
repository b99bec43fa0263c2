# SPDX-License-Identifier: Apache-2.0
"""The operator from Python, with ctypes and NumPy only.

    python3 call.py PREFIX/lib64/libopapi_nn.so
"""

import ctypes
import sys

import numpy as np

lib = ctypes.CDLL(sys.argv[1] if len(sys.argv) > 1 else "libopapi_nn.so")

# What ctypes can't guess: handles are 64 bits wide, results too.
HANDLE = ctypes.c_void_p
DIMS = ctypes.POINTER(ctypes.c_int64)
lib.aclCreateTensor.restype = HANDLE
lib.aclCreateTensor.argtypes = [DIMS, ctypes.c_uint64, ctypes.c_int, DIMS, ctypes.c_int64, ctypes.c_int, DIMS,
                                ctypes.c_uint64, ctypes.c_void_p]
lib.aclDestroyTensor.argtypes = [HANDLE]
lib.aclnnModulateBackwardGetWorkspaceSize.argtypes = [HANDLE] * 7 + [ctypes.POINTER(ctypes.c_uint64),
                                                                     ctypes.POINTER(HANDLE)]
lib.aclnnModulateBackward.argtypes = [ctypes.c_void_p, ctypes.c_uint64, HANDLE, HANDLE]
lib.aclrtSynchronizeStream.argtypes = [HANDLE]
lib.aclrtMalloc.argtypes = [ctypes.POINTER(ctypes.c_void_p), ctypes.c_size_t, ctypes.c_int]
lib.aclrtFree.argtypes = [ctypes.c_void_p]
lib.aclGetRecentErrMsg.restype = ctypes.c_char_p

ACL_TYPES = {np.dtype(np.float32): 0, np.dtype(np.float16): 1}
ACL_FORMAT_ND = 2
ACL_MEM_MALLOC_HUGE_FIRST = 0


def check(status):
    if status != 0:
        raise RuntimeError(f"status {status}: {(lib.aclGetRecentErrMsg() or b'').decode()}")


def tensor(array):
    """A view of the array's memory, which must outlive it; strides are counted in elements."""
    dims = (ctypes.c_int64 * array.ndim)(*array.shape)
    strides = (ctypes.c_int64 * array.ndim)(*(s // array.itemsize for s in array.strides))
    # The extent of the storage is not told (no storage dims): NumPy knows what it views.
    handle = lib.aclCreateTensor(dims, array.ndim, ACL_TYPES[array.dtype], strides, 0, ACL_FORMAT_ND, None, 0,
                                 array.ctypes.data)
    if not handle:
        check(-1)
    return handle


def modulate_backward(grad_output, x, scale):
    """The gradients of y = x * scale + shift with respect to x, scale and shift."""
    outputs = [np.empty(grad_output.shape, grad_output.dtype), np.empty(scale.shape, scale.dtype),
               np.empty(scale.shape, scale.dtype)]
    # shift is never read: any array of its shape will do.
    tensors = [tensor(a) for a in [grad_output, x, scale, scale, *outputs]]
    size, executor, workspace = ctypes.c_uint64(), HANDLE(), ctypes.c_void_p()
    check(lib.aclnnModulateBackwardGetWorkspaceSize(*tensors, ctypes.byref(size), ctypes.byref(executor)))
    if size.value:
        check(lib.aclrtMalloc(ctypes.byref(workspace), size.value, ACL_MEM_MALLOC_HUGE_FIRST))
    check(lib.aclnnModulateBackward(workspace, size, executor, None))
    check(lib.aclrtSynchronizeStream(None))
    for handle in tensors:
        check(lib.aclDestroyTensor(handle))
    if workspace:
        check(lib.aclrtFree(workspace))
    return outputs


def main():
    check(lib.aclrtSetDevice(0))
    rng = np.random.default_rng(1)
    for dtype in (np.float32, np.float16):
        # Not only whole arrays: every second token, and a transposed x.
        grad_output = rng.standard_normal((2, 10, 8)).astype(dtype)[:, ::2]
        x = rng.standard_normal((2, 8, 5)).astype(dtype).transpose(0, 2, 1)
        scale = rng.standard_normal((2, 8)).astype(dtype)
        got = modulate_backward(grad_output, x, scale)
        g, xs, s = (a.astype(np.float64) for a in (grad_output, x, scale))
        expected = [g * s[:, None, :], (g * xs).sum(axis=1), g.sum(axis=1)]
        # Half an ulp for the last rounding; the sums of 16-bit numbers go through float in groups of 8 rows.
        terms = [np.abs(expected[0]), np.abs(g * xs).sum(axis=1), np.abs(g).sum(axis=1)]
        for result, exact, size in zip(got, expected, terms):
            half_ulp = np.spacing(np.abs(exact).astype(dtype)).astype(np.float64) / 2
            assert (np.abs(result - exact) <= half_ulp + 8 * 2.0**-24 * size).all()
    print("call.py: ok")


if __name__ == "__main__":
    main()
