//! Names the shared library for the loader, and compiles its one C file.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=csrc/app_log.c");
    cc::Build::new().file("csrc/app_log.c").warnings_into_errors(true).compile("aclcpu_app_log");
    println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libaclnn_modulate.so.0");
    // Workers may still run when a caller drops its last reference: the code must stay mapped.
    println!("cargo::rustc-cdylib-link-arg=-Wl,-z,nodelete");
}
