//! Copies and sets: the rules, and the bytes.

use super::{Block, Kind, find_block, hold};
use crate::error::{Error, Result};
use crate::runtime::stream::Uses;

/// `ACL_MEMCPY_HOST_TO_HOST`
const HOST_TO_HOST: i32 = 0;
/// `ACL_MEMCPY_HOST_TO_DEVICE`
const HOST_TO_DEVICE: i32 = 1;
/// `ACL_MEMCPY_DEVICE_TO_HOST`
const DEVICE_TO_HOST: i32 = 2;
/// `ACL_MEMCPY_DEVICE_TO_DEVICE`
const DEVICE_TO_DEVICE: i32 = 3;
/// `ACL_MEMCPY_DEFAULT`: the addresses say it.
const DEFAULT: i32 = 4;
/// `ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE`
const HOST_TO_BUF_TO_DEVICE: i32 = 5;

/// A checked copy of `height` rows of `width` bytes.
#[derive(Clone, Copy, Debug)]
pub struct Copy {
    dst: usize,
    dst_pitch: usize,
    src: usize,
    src_pitch: usize,
    width: usize,
    height: usize,
    /// Start of the blocks that `dst` and `src` lie in.
    blocks: [Option<usize>; 2],
}

/// A checked set of `count` bytes.
#[derive(Clone, Copy, Debug)]
pub struct Set {
    start: usize,
    count: usize,
    value: u8,
    /// Start of the block that it lies in.
    block: Option<usize>,
}

impl Copy {
    /// Checks a copy of `count` bytes; `None` where there is nothing to copy.
    ///
    /// # Safety
    ///
    /// Outside this library's blocks, `src` must be readable and `dst` writable for `count` bytes, until the copy was
    /// run or dropped.
    pub unsafe fn new(dst: usize, dest_max: usize, src: usize, count: usize, kind: i32) -> Result<Option<Self>> {
        if count == 0 {
            return Ok(None);
        }
        not_null(dst, "dst")?;
        not_null(src, "src")?;
        known_kind(kind)?;
        if count > dest_max {
            return Err(Error::InvalidValue(format!(
                "count is {count}, expected at most destMax, which is {dest_max}"
            )));
        }
        let blocks = [stays_inside(dst, count, "dst")?, stays_inside(src, count, "src")?];
        Ok(Some(Self { dst, dst_pitch: count, src, src_pitch: count, width: count, height: 1, blocks }))
    }

    /// Checks a copy of `height` rows of `width` bytes, whose starts are `dpitch` and `spitch` bytes apart; `None`
    /// where there is nothing to copy.
    ///
    /// # Safety
    ///
    /// As for [`Copy::new`], for the bytes of each row.
    pub unsafe fn new_2d(
        (dst, dst_pitch): (usize, usize),
        (src, src_pitch): (usize, usize),
        (width, height): (usize, usize),
        kind: i32,
    ) -> Result<Option<Self>> {
        if width == 0 || height == 0 {
            return Ok(None);
        }
        not_null(dst, "dst")?;
        not_null(src, "src")?;
        known_kind(kind)?;
        if !matches!(kind, HOST_TO_DEVICE | DEVICE_TO_HOST | DEVICE_TO_DEVICE | DEFAULT) {
            return Err(Error::InvalidArgument(format!(
                "kind is {kind}, expected ACL_MEMCPY_HOST_TO_DEVICE (1), ACL_MEMCPY_DEVICE_TO_HOST (2), \
                 ACL_MEMCPY_DEVICE_TO_DEVICE (3) or ACL_MEMCPY_DEFAULT (4): a 2-D copy knows no others"
            )));
        }
        for (pitch, argument) in [(dst_pitch, "dpitch"), (src_pitch, "spitch")] {
            if width > pitch {
                return Err(Error::InvalidValue(format!(
                    "width is {width}, expected at most {argument}, which is {pitch}"
                )));
            }
        }
        let extent = |pitch: usize, argument: &str| {
            (height - 1).checked_mul(pitch).and_then(|rows| rows.checked_add(width)).ok_or_else(|| {
                Error::InvalidValue(format!(
                    "height {height} times {argument} {pitch} is more than the address space holds"
                ))
            })
        };
        let blocks = [
            stays_inside(dst, extent(dst_pitch, "dpitch")?, "dst")?,
            stays_inside(src, extent(src_pitch, "spitch")?, "src")?,
        ];
        Ok(Some(Self { dst, dst_pitch, src, src_pitch, width, height, blocks }))
    }

    /// Checks what only holds for copies in stream order, and says whether the caller has to wait for it: a source that
    /// `aclrtMallocHost` did not give may go away or change as soon as the call returns.
    pub fn check_for_stream(&self, kind: i32) -> Result<bool> {
        if kind == HOST_TO_HOST {
            return Err(Error::NotSupported(
                "kind is ACL_MEMCPY_HOST_TO_HOST, which is not supported in stream order: use aclrtMemcpy".into(),
            ));
        }
        let [destination, source] = self.blocks;
        if kind == DEFAULT && source.is_none() && destination.is_none() {
            return Err(Error::NotSupported(
                "src and dst lie in no block of aclrtMalloc or aclrtMallocHost: a copy from host to host is not supported \
                 in stream order: use aclrtMemcpy"
                    .into(),
            ));
        }
        let refuse = |argument: &str, expected: &str| {
            Err(Error::InvalidValue(format!(
                "{argument} lies in no block of aclrtMalloc or aclrtMallocHost, which kind {kind} does not allow: \
                 expected {expected}"
            )))
        };
        if source.is_none() && !matches!(kind, HOST_TO_DEVICE | HOST_TO_BUF_TO_DEVICE | DEVICE_TO_DEVICE | DEFAULT) {
            return refuse("src", "ACL_MEMCPY_HOST_TO_DEVICE (1) or device memory");
        }
        if destination.is_none() && !matches!(kind, DEVICE_TO_HOST | DEVICE_TO_DEVICE | DEFAULT) {
            return refuse("dst", "ACL_MEMCPY_DEVICE_TO_HOST (2) or device memory");
        }
        Ok(source.is_none())
    }

    /// The addresses that it touches.
    pub fn uses(&self) -> Uses {
        [(self.dst, self.dst_pitch), (self.src, self.src_pitch)]
            .into_iter()
            .map(|(start, pitch)| start..start + (self.height - 1) * pitch + self.width)
            .collect()
    }

    /// Whether the blocks that it was checked against are still there.
    pub fn check_again(&self) -> Result<()> {
        still_there(self.dst, self.blocks[0], "dst")?;
        still_there(self.src, self.blocks[1], "src")
    }

    /// How many bytes it copies.
    pub fn bytes(&self) -> usize {
        self.width * self.height
    }

    /// Copies at once, keeping the blocks alive meanwhile.
    pub fn run_now(&self) -> Result<()> {
        let _held = hold([self.dst, self.src]);
        self.check_again()?;
        self.execute();
        Ok(())
    }

    /// Copies. Rows may overlap.
    pub fn execute(&self) {
        if self.dst_pitch == self.width && self.src_pitch == self.width {
            move_bytes(self.dst, self.src, self.width * self.height);
            return;
        }
        for row in 0..self.height {
            move_bytes(self.dst + row * self.dst_pitch, self.src + row * self.src_pitch, self.width);
        }
    }
}

impl Set {
    /// Checks a set of `count` bytes; `None` where there is nothing to set.
    ///
    /// # Safety
    ///
    /// Outside this library's blocks, `start` must be writable for `count` bytes, until the set was run or dropped.
    pub unsafe fn new(start: usize, max_count: usize, value: i32, count: usize) -> Result<Option<Self>> {
        if count == 0 {
            return Ok(None);
        }
        not_null(start, "devPtr")?;
        if count > max_count {
            return Err(Error::InvalidValue(format!(
                "count is {count}, expected at most maxCount, which is {max_count}"
            )));
        }
        let block = stays_inside(start, count, "devPtr")?;
        // As C's memset: the value is converted to unsigned char.
        let [value, ..] = value.to_le_bytes();
        Ok(Some(Self { start, count, value, block }))
    }

    /// The addresses that it touches.
    pub fn uses(&self) -> Uses {
        std::iter::once(self.start..self.start + self.count).collect()
    }

    /// Whether the block that it was checked against is still there.
    pub fn check_again(&self) -> Result<()> {
        still_there(self.start, self.block, "devPtr")
    }

    /// How many bytes it sets.
    pub fn bytes(&self) -> usize {
        self.count
    }

    /// Sets at once, keeping the block alive meanwhile.
    pub fn run_now(&self) -> Result<()> {
        let _held = hold([self.start, self.start]);
        self.check_again()?;
        self.execute();
        Ok(())
    }

    /// Sets.
    pub fn execute(&self) {
        let start: *mut u8 = std::ptr::with_exposed_provenance_mut(self.start);
        // SAFETY: checked against the block or, outside blocks, promised at `new`.
        unsafe { start.write_bytes(self.value, self.count) };
    }
}

fn move_bytes(dst: usize, src: usize, count: usize) {
    let dst: *mut u8 = std::ptr::with_exposed_provenance_mut(dst);
    let src: *const u8 = std::ptr::with_exposed_provenance(src);
    // SAFETY: both were checked against their blocks or, outside blocks, promised at `new`; they may overlap.
    unsafe { dst.copy_from(src, count) };
}

fn not_null(address: usize, argument: &'static str) -> Result<()> {
    if address == 0 { Err(Error::NullArgument { argument, expected: "an address" }) } else { Ok(()) }
}

fn known_kind(kind: i32) -> Result<()> {
    if (HOST_TO_HOST..=HOST_TO_BUF_TO_DEVICE).contains(&kind) {
        Ok(())
    } else {
        Err(Error::InvalidArgument(format!("kind is {kind}, expected an aclrtMemcpyKind from 0 to 5")))
    }
}

/// Checks that `count` bytes from an address on stay in the block that it lies in, and returns that block's start.
/// Outside blocks the caller is trusted.
pub(super) fn stays_inside(address: usize, count: usize, argument: &'static str) -> Result<Option<usize>> {
    match find_block(address) {
        Some(block) if block.holds(address, count) => Ok(Some(block.start)),
        Some(block) => {
            let Block { start, checked_len, kind, .. } = block;
            let function = match kind {
                Kind::Device => "aclrtMalloc",
                Kind::Host => "aclrtMallocHost",
            };
            Err(Error::InvalidValue(format!(
                "{count} bytes from {argument} ({address:#x}) on leave its {function} block, which has {checked_len} \
                 bytes from {start:#x} on: expected at most {} bytes",
                block.end() - address
            )))
        }
        None if address.checked_add(count).is_none_or(|end| end > isize::MAX as usize) => Err(Error::InvalidValue(
            format!("{count} bytes from {argument} ({address:#x}) on pass the end of the address space"),
        )),
        None => Ok(None),
    }
}

/// Checks that the block that was found at an address (`None`: in no block) was not freed since.
fn still_there(address: usize, block: Option<usize>, argument: &'static str) -> Result<()> {
    match block {
        Some(start) if find_block(address).is_none_or(|found| found.start != start) => {
            Err(Error::InvalidValue(format!("the block of {argument} ({address:#x}) was freed during the call")))
        }
        _ => Ok(()),
    }
}
