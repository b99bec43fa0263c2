//! What the tests of the exported functions share: a process set up with a device, tensors over poisoned buffers, the
//! number formats, and two references that share no code with the library.
#![allow(dead_code)] // every test binary uses a part of it

pub mod numbers;
pub mod reference;

use std::ffi::{CStr, c_void};
use std::ptr::{null, null_mut};

use aclnn_modulate::api::{memory, modulate_backward, runtime, stream, tensor};
use numbers::Format;

/// The seven arguments in the prototype's order.
pub const NAMES: [&str; 7] = ["grad_output", "input", "scale", "shift", "grad_input", "grad_scale", "grad_shift"];

/// Binds the calling thread to device 0.
pub fn set_device() {
    let status = runtime::aclrtSetDevice(0);
    assert_eq!(status, 0, "{}", message());
}

/// The thread's messages since the last call.
pub fn message() -> String {
    let text = runtime::aclGetRecentErrMsg();
    if text.is_null() {
        return String::new();
    }
    // SAFETY: a message is a C string that lives until the thread's next call, and is copied here.
    unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
}

/// Shape, strides and offset of a view, in elements.
#[derive(Clone, Debug, PartialEq)]
pub struct View {
    pub dims: Vec<usize>,
    pub strides: Vec<usize>,
    pub offset: usize,
}

impl View {
    /// A row-major contiguous view.
    pub fn contiguous(dims: &[usize]) -> Self {
        let mut strides = vec![1; dims.len()];
        for axis in (1..dims.len()).rev() {
            strides[axis - 1] = strides[axis] * dims[axis].max(1);
        }
        Self { dims: dims.to_vec(), strides, offset: 0 }
    }

    /// Elements from the storage's start to behind the view's last element.
    pub fn reach(&self) -> usize {
        if self.dims.contains(&0) {
            return self.offset;
        }
        let steps = self.dims.iter().zip(&self.strides).map(|(dim, stride)| (dim - 1) * stride);
        self.offset + steps.sum::<usize>() + 1
    }

    /// Positions of the view's elements in its storage, in row-major order of the view.
    pub fn positions(&self) -> Vec<usize> {
        self.dims.iter().zip(&self.strides).fold(vec![self.offset], |starts, (dim, stride)| {
            starts.iter().flat_map(|start| (0..*dim).map(move |index| start + index * stride)).collect()
        })
    }
}

/// A tensor handle over a buffer of its own, with room around the view that is filled with a poison pattern.
pub struct Tensor {
    pub handle: *mut aclnn_modulate::api::types::aclTensor,
    pub format: Format,
    pub view: View,
    storage: Vec<u8>,
    /// Where the storage that the library sees begins: odd, so that nothing is aligned.
    start: usize,
}

const POISON: u8 = 0xA5;
const MARGIN: usize = 67;

impl Tensor {
    /// Makes a tensor that holds these values, in the view's row-major order.
    pub fn new(format: Format, view: View, values: &[u32]) -> Self {
        let mut tensor = Self::poisoned(format, view);
        for (position, bits) in tensor.view.positions().into_iter().zip(values) {
            tensor.write(position, *bits);
        }
        tensor
    }

    /// Makes a tensor over poison: an output.
    pub fn poisoned(format: Format, view: View) -> Self {
        let bytes = view.reach() * format.size();
        let mut storage = vec![POISON; bytes + 2 * MARGIN];
        let handle = create(format.number(), &view, storage[MARGIN..].as_mut_ptr().cast());
        assert!(!handle.is_null(), "{}", message());
        Self { handle, format, view, storage, start: MARGIN }
    }

    /// The address that the library was given.
    pub fn address(&mut self) -> *mut c_void {
        self.storage[self.start..].as_mut_ptr().cast()
    }

    fn write(&mut self, position: usize, bits: u32) {
        let size = self.format.size();
        let at = self.start + position * size;
        self.storage[at..at + size].copy_from_slice(&bits.to_le_bytes()[..size]);
    }

    /// The elements' bits in the view's row-major order.
    pub fn values(&self) -> Vec<u32> {
        let size = self.format.size();
        let read = |position: usize| {
            let at = self.start + position * size;
            let mut bytes = [0; 4];
            bytes[..size].copy_from_slice(&self.storage[at..at + size]);
            u32::from_le_bytes(bytes)
        };
        self.view.positions().into_iter().map(read).collect()
    }

    /// Panics where memory outside the view's elements was changed.
    pub fn assert_poison_untouched(&self, what: &str) {
        let mut inside = vec![false; self.storage.len()];
        for position in self.view.positions() {
            let at = self.start + position * self.format.size();
            inside[at..at + self.format.size()].fill(true);
        }
        for (at, (byte, inside)) in self.storage.iter().zip(inside).enumerate() {
            assert!(inside || *byte == POISON, "{what}: byte {at} outside the view was changed");
        }
    }
}

impl Drop for Tensor {
    fn drop(&mut self) {
        tensor::aclDestroyTensor(self.handle);
    }
}

/// aclCreateTensor with a format of ACL_FORMAT_ND and unknown storage dims.
pub fn create(data_type: i32, view: &View, address: *mut c_void) -> *mut aclnn_modulate::api::types::aclTensor {
    let numbers = |numbers: &[usize]| numbers.iter().map(|n| *n as i64).collect::<Vec<_>>();
    let (dims, strides) = (numbers(&view.dims), numbers(&view.strides));
    // SAFETY: both arrays have as many elements as the call says.
    unsafe {
        tensor::aclCreateTensor(
            dims.as_ptr(),
            dims.len() as u64,
            data_type,
            strides.as_ptr(),
            view.offset as i64,
            2,
            null(),
            0,
            address,
        )
    }
}

/// The handle behind an optional tensor.
pub fn handle(tensor: Option<&Tensor>) -> *const aclnn_modulate::api::types::aclTensor {
    tensor.map_or(null(), |tensor| tensor.handle)
}

/// Phase one: workspace size and executor, or the status.
pub fn phase_one(
    tensors: [*const aclnn_modulate::api::types::aclTensor; 7],
) -> Result<(u64, *mut aclnn_modulate::api::types::aclOpExecutor), i32> {
    let (mut size, mut executor) = (u64::MAX, null_mut());
    let [a, b, c, d, e, f, g] = tensors;
    // SAFETY: the results go to two locals.
    let status = unsafe {
        modulate_backward::aclnnModulateBackwardGetWorkspaceSize(a, b, c, d, e, f, g, &mut size, &mut executor)
    };
    if status == 0 {
        Ok((size, executor))
    } else {
        assert_eq!(size, u64::MAX, "a failure keeps workspaceSize");
        assert!(executor.is_null(), "a failure keeps executor");
        Err(status)
    }
}

/// Phase one, phase two on the default stream, and synchronise.
pub fn run(tensors: [Option<&Tensor>; 7]) {
    let (size, executor) = phase_one(tensors.map(handle)).unwrap_or_else(|status| panic!("{status}: {}", message()));
    let mut workspace = vec![0_u8; usize::try_from(size).unwrap() + 1];
    // An odd address: the workspace needs no alignment either.
    let workspace = if size == 0 { null_mut() } else { workspace[1..].as_mut_ptr() };
    // SAFETY: tensors and workspace live until the synchronisation below.
    let launched = unsafe { modulate_backward::aclnnModulateBackward(workspace.cast(), size, executor, null_mut()) };
    assert_eq!(launched, 0, "{}", message());
    synchronize();
}

/// Waits for the default stream.
pub fn synchronize() {
    let status = stream::aclrtSynchronizeStream(null_mut());
    assert_eq!(status, 0, "{}", message());
}

/// A block of device memory.
pub fn malloc(size: usize) -> *mut c_void {
    let mut block = null_mut();
    // SAFETY: the result goes to a local.
    let status = unsafe { memory::aclrtMalloc(&mut block, size, 0) };
    assert_eq!(status, 0, "{}", message());
    block
}
