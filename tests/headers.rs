//! The headers in `include/` that are generated: are they what the sources say?
//!
//! `UPDATE_HEADERS=1 cargo test --test headers` (or `make headers`) rewrites them.
//!
//! The prototypes and their comments come from `src/api/`, one header from one or more source files. The types they use
//! are defined on the Rust side in `src/api/types.rs`, which is not read here: so their names, which are the vendor's,
//! appear as they are, and the definitions for C stand in the hand-written headers below `include/aclnn_modulate/`.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

struct Header {
    /// Below `include/`.
    path: &'static str,
    /// What a reader finds in it.
    about: &'static str,
    /// Quoted, relative to the header: it works from wherever the caller's `-I` points.
    includes: &'static [&'static str],
    /// What marks its functions as exported.
    mark: &'static str,
    /// Below `src/api/`.
    sources: &'static [&'static str],
}

const HEADERS: &[Header] = &[
    Header {
        path: "acl/acl_base_rt.h",
        about: "Basic types and status codes, and the functions about them.",
        includes: &["../aclnn_modulate/base_types.h"],
        mark: "ACL_FUNC_VISIBILITY",
        sources: &["base.rs"],
    },
    Header {
        path: "acl/acl_rt.h",
        about: "The runtime: initialisation, devices, contexts, memory, streams, events, callbacks, errors.",
        includes: &["acl_base_rt.h", "../aclnn_modulate/runtime_types.h"],
        mark: "ACL_FUNC_VISIBILITY",
        sources: &["runtime.rs", "memory.rs", "stream.rs", "event.rs"],
    },
    Header {
        path: "aclnn/acl_meta.h",
        about: "Tensors, scalars, arrays, lists and executors: what an operator call is made of.",
        includes: &["../aclnn_modulate/meta_types.h"],
        mark: "ACL_FUNC_VISIBILITY",
        sources: &["tensor.rs", "scalar.rs", "list.rs", "executor.rs", "dump.rs"],
    },
    Header {
        path: "aclnn/aclnn_base.h",
        about: "What every operator's header includes.",
        includes: &["acl_meta.h"],
        mark: "ACL_FUNC_VISIBILITY",
        sources: &["init.rs"],
    },
    Header {
        path: "aclnnop/aclnn_modulate_backward.h",
        about: "The operator: the gradient of adaptive layer-norm modulation.",
        includes: &["../aclnn/aclnn_base.h", "aclnn_util.h"],
        mark: "ACLNN_API",
        sources: &["modulate_backward.rs"],
    },
];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// `acl/acl_rt.h` gives `ACL_ACL_RT_H`.
fn guard_name(path: &str) -> String {
    path.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' }).collect()
}

fn generate(header: &Header) -> String {
    let mut config = cbindgen::Config::from_file(root().join("cbindgen.toml")).expect("cbindgen.toml is readable");
    config.header = Some(format!(
        "/* SPDX-License-Identifier: Apache-2.0 */\n/**\n * @file\n * {}\n *\n * Generated from src/api ({}):\n * edit the comments there, then run `make headers`.\n */",
        header.about,
        header.sources.join(", "),
    ));
    config.include_guard = Some(guard_name(header.path));
    config.after_includes =
        Some(header.includes.iter().map(|i| format!("#include \"{i}\"")).collect::<Vec<_>>().join("\n"));
    config.function.prefix = Some(header.mark.to_owned());
    let mut builder = cbindgen::Builder::new().with_config(config);
    for source in header.sources {
        let path = root().join("src/api").join(source);
        assert!(path.exists(), "{} is gone: mend the table in tests/headers.rs", path.display());
        builder = builder.with_src(path);
    }
    let mut out = Vec::new();
    builder.generate().expect("cbindgen reads the sources").write(&mut out);
    let text = String::from_utf8(out).expect("cbindgen writes UTF-8");
    // What rustdoc wants under "Safety" is, to the C reader, what a call presumes.
    text.replace(" * # Safety\n *\n * ", " * @pre ")
}

#[test]
fn headers_say_what_the_sources_say() {
    let update = std::env::var_os("UPDATE_HEADERS").is_some();
    let mut stale = Vec::new();
    for header in HEADERS {
        let path = root().join("include").join(header.path);
        let text = generate(header);
        if update {
            std::fs::create_dir_all(path.parent().expect("a file has a directory")).expect("include/ is writable");
            std::fs::write(&path, &text).expect("include/ is writable");
        } else if std::fs::read_to_string(&path).ok().as_deref() != Some(text.as_str()) {
            stale.push(path);
        }
    }
    assert!(stale.is_empty(), "not what src/api says; run `make headers` and commit: {stale:?}");
}

fn files_below(dir: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(dir).expect("the directory is readable") {
        let path = entry.expect("the entry is readable").path();
        if path.is_dir() { found.extend(files_below(&path)) } else { found.push(path) }
    }
    found
}

/// The names that are declared as functions in the header's text: the word before the parenthesis of each marked line.
fn declared(text: &str) -> Vec<String> {
    let mut names = Vec::new();
    for mark in ["ACL_FUNC_VISIBILITY", "ACLNN_API"] {
        for (at, _) in text.match_indices(mark) {
            let rest = &text[at + mark.len()..];
            if rest.starts_with(|c: char| c.is_whitespace())
                && !text[..at].ends_with("#define ")
                && let Some(end) = rest.find('(')
                && let Some(name) = rest[..end].rsplit(|c: char| !(c.is_alphanumeric() || c == '_')).next()
            {
                names.push(name.to_owned());
            }
        }
    }
    names
}

/// Every exported symbol is declared in exactly one header, and nothing else is: a caller can neither miss a function
/// nor be promised one that is not there.
#[test]
fn headers_declare_exactly_the_exports() {
    let listed: BTreeSet<String> = std::fs::read_to_string(root().join("exports.txt"))
        .expect("exports.txt is readable")
        .lines()
        .map(str::to_owned)
        .collect();
    let mut seen = BTreeSet::new();
    for path in files_below(&root().join("include")) {
        for name in declared(&std::fs::read_to_string(&path).expect("the header is readable")) {
            assert!(seen.insert(name.clone()), "{name} is declared twice, the second time in {}", path.display());
        }
    }
    let missing: Vec<_> = listed.difference(&seen).collect();
    let extra: Vec<_> = seen.difference(&listed).collect();
    assert!(missing.is_empty() && extra.is_empty(), "exported but not declared: {missing:?}; the reverse: {extra:?}");
}
