//! Every NULL check, and every raw read or write of a caller's pointer.

use std::ffi::{CStr, OsStr, c_char, c_void};
use std::fmt::{self, Display};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use crate::error::{Error, Result};
use crate::shape::MAX_DIMS;

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

/// Copies numbers into memory that the caller releases with `delete[]` or `free()`.
///
/// Where the process has the C++ runtime's nothrow `operator new[]` the memory comes from there, so that sanitizers and
/// replaced operators see a matching pair; otherwise from malloc. It is looked up at each call, since a program may load
/// the C++ runtime later.
pub fn for_caller_to_free(numbers: &[i64]) -> Result<*mut i64> {
    type NewArray = unsafe extern "C" fn(size: usize, nothrow: *const c_void) -> *mut c_void;
    // A length of 0 gets memory too: the result is never NULL.
    let bytes = size_of_val(numbers).max(1);
    // SAFETY: both names are C strings; the look-up has no other precondition.
    let (new_array, nothrow) = unsafe {
        (
            libc::dlsym(libc::RTLD_DEFAULT, c"_ZnamRKSt9nothrow_t".as_ptr()),
            libc::dlsym(libc::RTLD_DEFAULT, c"_ZSt7nothrow".as_ptr()),
        )
    };
    let memory = if new_array.is_null() || nothrow.is_null() {
        // SAFETY: malloc takes any size.
        unsafe { libc::malloc(bytes) }
    } else {
        // SAFETY: the C++ ABI gives this name to `operator new[](size_t, const std::nothrow_t &)`, which takes any size.
        unsafe { std::mem::transmute::<*mut c_void, NewArray>(new_array)(bytes, nothrow) }
    };
    if memory.is_null() {
        return Err(Error::OutOfMemory(format!("there is no memory for a result of {bytes} bytes")));
    }
    let copy = memory.cast::<i64>();
    // SAFETY: the new memory has room for all the numbers, and both allocators align it for any fundamental type.
    unsafe { copy.copy_from_nonoverlapping(numbers.as_ptr(), numbers.len()) };
    Ok(copy)
}

/// A caller's array as the log shows it: its elements, or its address where it is NULL or longer than any tensor's dims.
pub struct ShownArray<T, S> {
    pointer: *const T,
    length: u64,
    show: fn(T) -> S,
}

impl<T: Copy, S: Display> Display for ShownArray<T, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { pointer, length, show } = *self;
        let length = usize::try_from(length).unwrap_or(usize::MAX);
        if pointer.is_null() {
            return f.write_str("NULL");
        }
        if length > MAX_DIMS {
            return write!(f, "{pointer:p}");
        }
        f.write_str("[")?;
        for index in 0..length {
            // SAFETY: not NULL, and readable for `length` elements (promised to `shown_array`).
            let element = unsafe { pointer.add(index).read_unaligned() };
            write!(f, "{}{}", if index == 0 { "" } else { ", " }, show(element))?;
        }
        f.write_str("]")
    }
}

/// Shows an array, if it is asked for: nothing is read before.
///
/// # Safety
///
/// A non-NULL `pointer` must be readable for `length` elements while the result lives.
pub unsafe fn shown_array<T, S>(pointer: *const T, length: u64, show: fn(T) -> S) -> ShownArray<T, S> {
    ShownArray { pointer, length, show }
}

/// A caller's C string as the log shows it.
pub struct ShownText(*const c_char);

impl Display for ShownText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // SAFETY: a C string or NULL (promised to `shown_text`).
        match unsafe { string(self.0) } {
            Some(text) => write!(f, "{text:?}"),
            None => f.write_str("NULL"),
        }
    }
}

/// Shows a C string, if it is asked for: nothing is read before.
///
/// # Safety
///
/// A non-NULL `pointer` must point to a string that ends with a NUL, while the result lives.
pub unsafe fn shown_text(pointer: *const c_char) -> ShownText {
    ShownText(pointer)
}

/// The address that a caller passed, for memory that is used through it later.
pub fn address(pointer: *const c_void) -> usize {
    pointer.expose_provenance()
}

/// Copies a path; `None` for NULL.
///
/// # Safety
///
/// A non-NULL `pointer` must point to a string that ends with a NUL.
pub unsafe fn path(pointer: *const c_char) -> Option<PathBuf> {
    if pointer.is_null() {
        return None;
    }
    // SAFETY: not NULL, and a C string (promised).
    Some(OsStr::from_bytes(unsafe { CStr::from_ptr(pointer) }.to_bytes()).into())
}

/// Writes a C string with its NUL.
///
/// # Safety
///
/// `pointer` must not be NULL, and writable for the length of the text and one byte more.
pub unsafe fn write_string(pointer: *mut c_char, text: &CStr) {
    // SAFETY: writable (promised); the text lies elsewhere, as no caller can know its address.
    unsafe { pointer.copy_from_nonoverlapping(text.as_ptr(), text.count_bytes() + 1) }
}
