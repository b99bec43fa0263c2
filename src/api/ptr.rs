//! Every NULL check, and every raw read or write of a caller's pointer.

use std::ffi::{CStr, c_char};

use crate::error::{Error, Result};

/// An output parameter that is known not to be NULL.
pub struct Out<T>(*mut T);

impl<T> Out<T> {
    /// Checks an output parameter for NULL. Nothing is written yet.
    ///
    /// # Safety
    ///
    /// A non-NULL `pointer` must be writable until the last use of the returned value.
    pub unsafe fn new(pointer: *mut T, argument: &'static str) -> Result<Self> {
        if pointer.is_null() {
            Err(Error::NullArgument { argument, expected: "an address for the result" })
        } else {
            Ok(Self(pointer))
        }
    }

    /// Stores the result. The address need not be aligned.
    pub fn set(self, value: T) {
        // SAFETY: not NULL (checked in `new`) and writable (promised there).
        unsafe { self.0.write_unaligned(value) }
    }
}

/// Copies an input array. NULL is an empty one where `length` is 0, and an error otherwise.
///
/// # Safety
///
/// A non-NULL `pointer` must be readable for `length` elements.
pub unsafe fn array<T: Copy>(pointer: *const T, length: u64, argument: &'static str) -> Result<Vec<T>> {
    if length == 0 {
        return Ok(Vec::new());
    }
    if pointer.is_null() {
        return Err(Error::NullArgument { argument, expected: "an array as long as its length argument says" });
    }
    let too_long =
        || Error::InvalidArgument(format!("{argument} is said to have {length} elements, more than memory can hold"));
    let length = usize::try_from(length).map_err(|_| too_long())?;
    let bytes =
        length.checked_mul(size_of::<T>()).filter(|bytes| *bytes <= isize::MAX as usize).ok_or_else(too_long)?;
    let mut copy: Vec<T> = Vec::new();
    copy.try_reserve_exact(length).map_err(|_| too_long())?;
    // SAFETY: `pointer` is readable for `length` elements (promised), the vector has room for them, and bytes need no
    // alignment; T is Copy, so a second copy of the elements is sound.
    unsafe {
        std::ptr::copy_nonoverlapping(pointer.cast::<u8>(), copy.as_mut_ptr().cast::<u8>(), bytes);
        copy.set_len(length);
    }
    Ok(copy)
}

/// Copies a C string; `None` for NULL.
///
/// # Safety
///
/// A non-NULL `pointer` must point to a string that ends with a NUL.
pub unsafe fn string(pointer: *const c_char) -> Option<String> {
    if pointer.is_null() {
        return None;
    }
    // SAFETY: not NULL, and a C string (promised).
    Some(unsafe { CStr::from_ptr(pointer) }.to_string_lossy().into_owned())
}
