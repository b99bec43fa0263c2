//! `aclDumpOpTensors`: tensors as `.npy` files, in stream order.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::{Value, json};

use super::fork::Held;
use super::stream::{Stream, Task, Uses, Work};
use super::{init, memory};
use crate::dtype;
use crate::epoch;
use crate::error::{Error, Result};
use crate::handle::Handle;
use crate::shape::{self, Shape};
use crate::sync::Mutex;
use crate::tensor;

/// What `aclInit`'s file says under `dump`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// `dump_path`: a directory.
    pub directory: PathBuf,
    /// Whether `dump_mode` is `input` or `all`.
    pub inputs: bool,
    /// Whether `dump_mode` is `output` or `all`.
    pub outputs: bool,
}

/// `None` where nothing is to be dumped.
static SETTINGS: Mutex<Option<Arc<Settings>>> = Mutex::new(None);

/// Turns dumping on or off.
pub(super) fn configure(settings: Option<Settings>) {
    *SETTINGS.lock() = settings.map(Arc::new);
}

/// Keeps the settings as they are until a fork is over.
pub(super) fn hold(held: &mut Held) {
    held.push(Box::new(SETTINGS.lock()));
}

/// One tensor on its way to a file.
#[derive(Debug)]
pub struct Dump {
    file: PathBuf,
    data_type: i32,
    /// How the file's header names the type.
    descr: &'static str,
    dims: Vec<i64>,
    /// In bytes; those of dims of length 1 are 0.
    strides: Vec<usize>,
    /// Address of the first element.
    start: usize,
    /// Bytes from the first element to behind the last.
    extent: usize,
    /// Start of the block that it lies in.
    block: Option<usize>,
}

/// Queues the dump of an operator's tensors, inputs first; NULL ones are absent. Nothing is queued where one is wrong, and
/// nothing happens where dumping is off.
///
/// # Safety
///
/// The views of the tensors must be readable until the stream has done this.
pub unsafe fn queue(
    (op_type, op_name): (&str, &str),
    tensors: &[Handle],
    input_count: usize,
    stream: &Stream,
) -> Result<()> {
    let settings = SETTINGS.lock().clone();
    let mut dumps = Vec::new();
    for (position, handle) in tensors.iter().enumerate().filter(|(_, handle)| !handle.is_null()) {
        let is_input = position < input_count;
        let (side, index) = if is_input { ("input", position) } else { ("output", position - input_count) };
        let mut dump = Dump::new(*handle, &format!("tensors[{position}]"))?;
        let Some(settings) = settings.as_deref().filter(|s| if is_input { s.inputs } else { s.outputs }) else {
            continue;
        };
        let name = format!("{}.{}.{side}.{index}.npy", file_name(op_type), file_name(op_name));
        dump.file = settings.directory.join(name);
        dumps.push(dump);
    }
    for dump in dumps {
        let (start, block) = (dump.start, dump.block);
        let uses: Uses = std::iter::once(start..start + dump.extent).collect();
        stream.submit(Task { work: Work::Dump(Box::new(dump)), uses }, || match block {
            Some(block) if memory::find_block(start).is_none_or(|found| found.start != block) => {
                Err(Error::InvalidArgument("the block of a tensor was freed during the call".into()))
            }
            _ => Ok(()),
        })?;
    }
    Ok(())
}

impl Dump {
    fn new(handle: Handle, argument: &str) -> Result<Self> {
        let guard = &epoch::pin();
        let tensor = tensor::live(handle, argument, guard)?;
        let invalid = |what: String| Error::InvalidArgument(format!("{argument} {what}"));
        let data_type = tensor.data_type();
        let descr = descr(data_type).ok_or_else(|| {
            let name = dtype::data_type_name(data_type).unwrap_or("unknown");
            invalid(format!("is of type {name}, which no .npy file can hold"))
        })?;
        let too_far = || invalid("is a view whose extent does not fit the address space".into());
        let element = dtype::size_of(data_type);
        let bytes = |elements: i64| usize::try_from(elements).ok()?.checked_mul(element);
        let extent = shape::extent(tensor.view_dims(), tensor.strides()).and_then(bytes).ok_or_else(too_far)?;
        let start = bytes(tensor.offset()).and_then(|offset| tensor.address().addr().checked_add(offset));
        let start = start.filter(|start| start.checked_add(extent).is_some()).ok_or_else(too_far)?;
        let mut strides = Vec::new();
        for (dim, stride) in tensor.view_dims().iter().zip(tensor.strides()) {
            strides.push(if *dim <= 1 { 0 } else { bytes(*stride).ok_or_else(too_far)? });
        }
        if extent > 0 && tensor.address().is_null() {
            return Err(invalid("has no data: its address is NULL".into()));
        }
        let block = memory::find_block(start).filter(|_| extent > 0);
        if let Some(block) = block
            && !block.holds(start, extent)
        {
            return Err(invalid(format!("is a view of {extent} bytes that leaves its block: {block}")));
        }
        let block = block.map(|block| block.start);
        // What the caller's memory is read through later.
        tensor.address().expose_provenance();
        let dims = tensor.view_dims().to_vec();
        Ok(Self { file: PathBuf::new(), data_type, descr, dims, strides, start, extent, block })
    }

    /// Writes the file.
    pub fn execute(&self) -> Result<()> {
        let failed = |error| Error::TaskFailed(format!("{} can't be written: {error}", self.file.display()));
        self.write().map_err(failed)
    }

    fn write(&self) -> std::io::Result<()> {
        const BF16: i32 = 27;
        let mut file = BufWriter::new(File::create(&self.file)?);
        file.write_all(&header(self.descr, &self.dims))?;
        if self.extent > 0 {
            self.write_axis(&mut file, 0, self.start)?;
        }
        file.flush()?;
        if self.data_type == BF16 {
            let note = json!({ "dtype": "bfloat16", "stored": "bits as uint16", "shape": self.dims });
            std::fs::write(self.file.with_extension("json"), format!("{note}\n"))?;
        }
        Ok(())
    }

    /// Writes everything from an address on that the axes from this one on reach, in row-major order.
    fn write_axis(&self, file: &mut impl Write, axis: usize, start: usize) -> std::io::Result<()> {
        let element = dtype::size_of(self.data_type);
        let rows_are_dense = |axis: usize| axis + 1 == self.dims.len() && self.strides[axis] == element;
        if axis == self.dims.len() {
            return file.write_all(bytes(start, element));
        }
        let count = usize::try_from(self.dims[axis]).unwrap_or(0);
        if rows_are_dense(axis) {
            return file.write_all(bytes(start, count * element));
        }
        (0..count).try_for_each(|n| self.write_axis(file, axis + 1, start + n * self.strides[axis]))
    }
}

fn bytes<'a>(start: usize, count: usize) -> &'a [u8] {
    // SAFETY: inside the view, which was checked against its block or, outside blocks, promised at `queue`; the slice is
    // written to the file at once.
    unsafe { std::slice::from_raw_parts(std::ptr::with_exposed_provenance(start), count) }
}

/// The type's name in a `.npy` header. bf16 has none: its bits are written.
fn descr(data_type: i32) -> Option<&'static str> {
    Some(match data_type {
        0 => "<f4",
        1 => "<f2",
        2 => "|i1",
        3 => "<i4",
        4 => "|u1",
        6 => "<i2",
        7 | 27 => "<u2",
        8 => "<u4",
        9 => "<i8",
        10 => "<u8",
        11 => "<f8",
        12 => "|b1",
        16 => "<c8",
        17 => "<c16",
        _ => return None,
    })
}

/// Magic, version 1.0, length, and a Python literal that ends with a newline at a multiple of 64.
fn header(descr: &str, dims: &[i64]) -> Vec<u8> {
    const PREFIX: usize = 10;
    let shape = Shape(dims).to_string();
    let inner = shape.trim_start_matches('[').trim_end_matches(']');
    let comma = if dims.len() == 1 { "," } else { "" };
    let text = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': ({inner}{comma}), }}");
    let length = (PREFIX + text.len() + 1).next_multiple_of(64) - PREFIX;
    let mut header = b"\x93NUMPY\x01\x00".to_vec();
    // A tensor has 25 dims at most: the text is far below 64 KiB.
    header.extend(u16::try_from(length).unwrap_or(u16::MAX).to_le_bytes());
    header.extend(text.bytes());
    header.resize(PREFIX + length - 1, b' ');
    header.push(b'\n');
    header
}

/// A part of a file's name. What could lead elsewhere or is too long is replaced or cut; a checksum then keeps names apart that
/// would be the same without.
fn file_name(text: &str) -> String {
    const LONGEST: usize = 80;
    let safe = |c: char| if c.is_ascii_alphanumeric() || c == '_' || c == '-' { c } else { '_' };
    let name: String = text.chars().take(LONGEST).map(safe).collect();
    if name == text { name } else { format!("{name}_{:08x}", checksum(text.as_bytes())) }
}

/// FNV-1a: the same in every build, so that a tool may look for a file by its name.
fn checksum(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0x811c_9dc5, |sum: u32, byte| (sum ^ u32::from(*byte)).wrapping_mul(0x0100_0193))
}

/// What `aclInit`'s file says of dumping.
pub(super) fn settings(json: &Value) -> std::result::Result<Option<Settings>, String> {
    let dump = init::section(json, "dump")?;
    let text = |key: &str| match &dump[key] {
        Value::Null => Ok(None),
        Value::String(text) => Ok(Some(text.as_str())),
        other => Err(format!("dump.{key} is {other}, expected a string")),
    };
    let (inputs, outputs) = match text("dump_mode")?.unwrap_or("output") {
        "input" => (true, false),
        "output" => (false, true),
        "all" => (true, true),
        other => return Err(format!("dump.dump_mode is {other}, expected input, output or all")),
    };
    let Some(path) = text("dump_path")? else { return Ok(None) };
    if !Path::new(path).is_dir() {
        return Err(format!("dump.dump_path is {path}, expected a directory that exists"));
    }
    Ok(Some(Settings { directory: path.into(), inputs, outputs }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_aligned_and_name_shapes_as_python_does() {
        for (dims, shape) in [(&[][..], "()"), (&[3], "(3,)"), (&[2, 0, 7], "(2, 0, 7)")] {
            let header = header("<f4", dims);
            assert_eq!(header.len() % 64, 0);
            assert_eq!(usize::from(u16::from_le_bytes([header[8], header[9]])), header.len() - 10);
            let text = String::from_utf8_lossy(&header[10..]).into_owned();
            assert!(text.contains(&format!("'shape': {shape}, }}")) && text.ends_with('\n'), "{text}");
        }
    }

    #[test]
    fn names_stay_in_the_directory() {
        assert_eq!(file_name("layer_1-a"), "layer_1-a");
        // The checksum as FNV's authors define it.
        assert_eq!(checksum(b"foobar"), 0xbf9c_f968);
        assert_eq!(file_name("../a b/c.d"), format!("___a_b_c_d_{:08x}", checksum(b"../a b/c.d")));
        assert_eq!(file_name(&"x".repeat(500)).len(), 89);
    }

    #[test]
    fn names_that_differ_give_files_that_differ() {
        let long = "x".repeat(100);
        let texts = ["blk/1", "blk.1", "blk_1", &long[..80], &long[..90], &long];
        let names: std::collections::HashSet<_> = texts.iter().map(|text| file_name(text)).collect();
        assert_eq!(names.len(), texts.len(), "{names:?}");
    }
}
