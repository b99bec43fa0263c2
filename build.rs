//! Names the shared library for the loader, and compiles its one C file.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=csrc/app_log.c");
    cc::Build::new().file("csrc/app_log.c").warnings_into_errors(true).compile("aclcpu_app_log");
    // A program that was linked with one version runs with every later one of the same major version.
    let major = std::env::var("CARGO_PKG_VERSION_MAJOR").expect("cargo sets it");
    println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libaclnn_modulate.so.{major}");
    // Workers may still run when a caller drops its last reference: the code must stay mapped.
    println!("cargo::rustc-cdylib-link-arg=-Wl,-z,nodelete");
}
