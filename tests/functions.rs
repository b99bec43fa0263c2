//! What the library has of the interface: `docs/interface.txt` (all of it) against `exports.txt` (what is there), and the
//! two texts that are made of them, `docs/functions.md` and the table in `README.md`.
//!
//! `UPDATE_HEADERS=1 cargo test --test functions` (or `make headers`) rewrites the texts.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::{Path, PathBuf};

const BEGIN: &str = "<!-- functions: begin -->\n";
const END: &str = "<!-- functions: end -->";

fn path(below: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(below)
}

fn read(below: &str) -> String {
    std::fs::read_to_string(path(below)).unwrap_or_else(|e| panic!("{below}: {e}"))
}

struct Function {
    header: String,
    name: String,
    /// Why the library does not have it.
    absent: Option<String>,
}

/// Functions that belong to other parts of the vendor's toolkit: how their names begin, and why there are none.
struct Family {
    beginnings: Vec<String>,
    reason: String,
}

const NONE: &str = "none ";

fn families() -> Vec<Family> {
    let family = |line: &str| {
        let (names, reason) = line.strip_prefix(NONE)?.split_once(" : ").expect("a line is: none beginnings : reason");
        Some(Family { beginnings: names.split_whitespace().map(str::to_owned).collect(), reason: reason.to_owned() })
    };
    read("docs/interface.txt").lines().filter_map(family).collect()
}

fn interface() -> Vec<Function> {
    read("docs/interface.txt")
        .lines()
        .filter(|line| !line.starts_with('#') && !line.starts_with(NONE))
        .map(|line| {
            let (function, reason) = match line.split_once(" : ") {
                Some((function, reason)) => (function, Some(reason.to_owned())),
                None => (line, None),
            };
            let (header, name) = function.split_once(' ').expect("a line is: header name");
            Function { header: header.to_owned(), name: name.to_owned(), absent: reason }
        })
        .collect()
}

#[test]
fn every_export_is_of_the_interface_and_every_absence_has_a_reason() {
    let exports: BTreeSet<String> = read("exports.txt").lines().map(str::to_owned).collect();
    let mut seen = BTreeSet::new();
    for function in interface() {
        assert!(seen.insert(function.name.clone()), "{} stands twice in docs/interface.txt", function.name);
        assert_eq!(
            exports.contains(&function.name),
            function.absent.is_none(),
            "{}: exported is one thing, a reason for its absence another",
            function.name
        );
    }
    let strangers: Vec<_> = exports.difference(&seen).collect();
    assert!(strangers.is_empty(), "exported, but not in docs/interface.txt: {strangers:?}");
    // What the page says about operators.
    let operators =
        |name: &&String| name.starts_with("aclnn") && !["aclnnInit", "aclnnFinalize"].contains(&name.as_str());
    assert!(exports.iter().filter(operators).all(|name| name.starts_with("aclnnModulateBackward")));
    let families = families();
    assert!(!families.is_empty());
    for beginning in families.iter().flat_map(|family| &family.beginnings) {
        let found = exports.iter().find(|name| name.starts_with(beginning));
        assert!(found.is_none(), "{found:?} is exported, and docs/interface.txt says that there is no {beginning}*");
    }
}

/// The first sentence of the comment that stands before a function in its header (or in the hand-written part of it).
fn purpose(texts: &[String], name: &str) -> String {
    for text in texts {
        let Some(at) = text
            .match_indices(&format!("{name}("))
            .map(|(at, _)| at)
            .find(|at| text[..*at].ends_with([' ', '*']) && !text[..*at].ends_with("* "))
        else {
            continue;
        };
        let Some(comment) = text[..at].rfind("/**") else { continue };
        let words: Vec<_> = text[comment + 3..at]
            .lines()
            .map(|line| line.trim().trim_start_matches('*').trim())
            .skip_while(|line| line.is_empty())
            .take_while(|line| !line.is_empty() && !line.starts_with('@') && *line != "/")
            .collect();
        let joined = words.join(" ");
        return match joined.find(". ") {
            Some(end) => joined[..=end].to_owned(),
            None => joined,
        };
    }
    panic!("{name} has no comment in any header")
}

fn made_texts() -> (String, String) {
    let functions = interface();
    let mut headers: Vec<&str> = Vec::new();
    for function in &functions {
        if !headers.contains(&function.header.as_str()) {
            headers.push(&function.header);
        }
    }
    let texts: Vec<String> = headers.iter().map(|h| read(&format!("include/{h}"))).collect();
    let by_hand = read("include/aclnn_modulate/base_types.h");
    let texts: Vec<String> = texts.into_iter().chain([by_hand]).collect();

    let mut page = String::from(
        "# Functions\n\nMade from docs/interface.txt, exports.txt and the headers by tests/functions.rs (`make headers`): \
         edit those.\n",
    );
    let mut table = String::from("| header | functions |\n| --- | --- |\n");
    let present = functions.iter().filter(|f| f.absent.is_none()).count();
    writeln!(page, "\nOf the interface's {} functions the library has {present}.", functions.len()).unwrap();
    for header in headers {
        let here = || functions.iter().filter(|f| f.header == header);
        writeln!(page, "\n## {header}\n\n| function | what it does |\n| --- | --- |").unwrap();
        for function in here() {
            match &function.absent {
                None => {
                    let purpose = purpose(&texts, &function.name).replace('|', "\\|");
                    writeln!(page, "| `{}` | {purpose} |", function.name).unwrap();
                }
                Some(reason) => writeln!(page, "| `{}` | **absent**: {reason} |", function.name).unwrap(),
            }
        }
        let names: Vec<_> = here().filter(|f| f.absent.is_none()).map(|f| format!("`{}`", f.name)).collect();
        if !names.is_empty() {
            writeln!(table, "| `{header}` | {} |", names.join(", ")).unwrap();
        }
    }
    page.push_str(
        "\n## What else the vendor has, and this library has not\n\nNot exported, so a call site that needs one of them fails when \
         it is linked. Of operators (`aclnn*`) there is one.\n\n| names | why not |\n| --- | --- |\n",
    );
    for Family { beginnings, reason } in families() {
        let names: Vec<_> = beginnings.iter().map(|beginning| format!("`{beginning}*`")).collect();
        writeln!(page, "| {} | {reason} |", names.join(", ")).unwrap();
    }
    let readme = read("README.md");
    let begin = readme.find(BEGIN).expect("README.md has the mark where the table begins") + BEGIN.len();
    let end = readme.find(END).expect("README.md has the mark where the table ends");
    (page, format!("{}{table}{}", &readme[..begin], &readme[end..]))
}

#[test]
fn the_pages_say_what_is_there() {
    let (page, readme) = made_texts();
    for (below, text) in [("docs/functions.md", page), ("README.md", readme)] {
        if std::env::var_os("UPDATE_HEADERS").is_some() {
            std::fs::write(path(below), text).expect("the page is writable");
        } else {
            let now = std::fs::read_to_string(path(below)).unwrap_or_default();
            assert!(now == text, "{below} is stale: run `make headers` and commit");
        }
    }
}

/// Every status that a call can return stands in the table of what to do about it.
#[test]
fn every_status_has_a_row_in_the_troubleshooting_table() {
    let table = read("docs/troubleshooting.md");
    let rows: String =
        table.lines().filter(|line| line.starts_with("| ")).filter_map(|line| line.split('|').nth(1)).collect();
    let source = read("src/status.rs");
    let codes: BTreeSet<&str> =
        source.split(|c: char| !c.is_ascii_digit()).filter(|number| number.len() == 6).collect();
    assert!(codes.len() > 30, "{codes:?}");
    let missing: Vec<_> = codes.into_iter().filter(|code| !rows.contains(code)).collect();
    assert!(missing.is_empty(), "without a row in docs/troubleshooting.md: {missing:?}");
}
