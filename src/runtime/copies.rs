//! A second copy of this library in the process has a state of its own: its streams and tensors are unknown here. It comes
//! from a copied file, where the names under which the library is installed are links to one. The log says so at load.

use std::ffi::{CStr, CString, c_int, c_void};
use std::mem::MaybeUninit;

use super::log;

/// Looks at all loaded libraries, if the log would show what it finds.
pub fn warn_of_another() {
    if !log::would_be_enabled(log::Level::Warning) {
        return;
    }
    let mut search = Search { own: base_of((warn_of_another as fn()) as *const c_void), found: Vec::new() };
    // SAFETY: the callback gets the search back while this call lasts.
    unsafe { libc::dl_iterate_phdr(Some(collect), (&raw mut search).cast()) };
    for name in search.found {
        // SAFETY: a C string. Nothing is loaded: only what is loaded already is found, and then released again.
        let symbol = unsafe {
            let library = libc::dlopen(name.as_ptr(), libc::RTLD_LAZY | libc::RTLD_NOLOAD);
            if library.is_null() {
                continue;
            }
            let symbol = libc::dlsym(library, c"aclnnModulateBackward".as_ptr());
            libc::dlclose(library);
            symbol
        };
        // A library that only links with this one leads back here.
        if !symbol.is_null() && base_of(symbol) != search.own && file_of(symbol) == name {
            log::warning(format_args!(
                "{} is loaded, too, and also has the operator: each copy knows only its own streams, blocks and tensors. \
                 Install the library's names as links to one file",
                name.to_string_lossy()
            ));
        }
    }
}

struct Search {
    /// Where this copy is loaded; 0 where nobody knows.
    own: usize,
    found: Vec<CString>,
}

/// # Safety
///
/// `info` describes a library, and `search` is a [`Search`].
unsafe extern "C" fn collect(info: *mut libc::dl_phdr_info, _: usize, search: *mut c_void) -> c_int {
    // SAFETY: the caller's promise.
    let (name, search) = unsafe { ((*info).dlpi_name, &mut *search.cast::<Search>()) };
    if !name.is_null() {
        // SAFETY: the loader's names are C strings.
        let name = unsafe { CStr::from_ptr(name) };
        if !name.is_empty() {
            search.found.push(name.to_owned());
        }
    }
    0
}

/// Where the library that an address lies in is loaded; 0 where it lies in none.
fn base_of(address: *const c_void) -> usize {
    about(address).dli_fbase.addr()
}

/// The file of the library that an address lies in, as the loader calls it.
fn file_of(address: *const c_void) -> CString {
    let name = about(address).dli_fname;
    if name.is_null() {
        return CString::default();
    }
    // SAFETY: the loader's names are C strings.
    unsafe { CStr::from_ptr(name) }.to_owned()
}

fn about(address: *const c_void) -> libc::Dl_info {
    let mut info = MaybeUninit::<libc::Dl_info>::zeroed();
    // SAFETY: any address may be asked about, and the result is writable; zeroes are a valid value of it.
    unsafe {
        libc::dladdr(address, info.as_mut_ptr());
        info.assume_init()
    }
}
