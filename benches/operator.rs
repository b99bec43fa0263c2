//! The operator against STREAM triad over the same bytes: same threads, same process, interleaved.
//!
//! A call's time divided by that of the faster of a plain and a non-temporal triad is its "x triad": what is left to gain,
//! whatever the machine's memory does at the moment. Each round times all three, in turn; medians of the rounds are compared.
//!
//! Options (after `--`): `--json FILE`, `--rounds N`, `--threads 1,2`, `--tier NAME`, `--only TEXT` (cases whose name has it),
//! `--dims B,L,D` (this shape instead of those from the field), `--layouts` (views instead of contiguous tensors), `--sweep`
//! (sizes from 1 KiB to 2 GiB), `--residence caches|last-level|memory` (where the tensors are taken to be), `--cpu-time` (count
//! this thread's own time, which other programs disturb less: for one thread only).

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use aclnn_modulate::dtype::FloatType;
use aclnn_modulate::kernel::{
    ModulateBackward, Residence, Tier, Tuning, View2, View3, active_tier, run, run_tuned, thread_limit, wake_for,
    workspace_bytes,
};
use aclnn_modulate::runtime::pool::{self, Owner, Terms};

const TYPES: [FloatType; 3] = [FloatType::F32, FloatType::F16, FloatType::Bf16];

/// Shapes from the field: name, dims, whether the 16-bit types run too.
const CASES: &[(&str, [usize; 3])] = &[
    ("A DiT-XL/2", [32, 256, 1152]),
    ("B SD3", [8, 4096, 1536]),
    ("C FLUX", [1, 4608, 3072]),
    ("E video DiT", [1, 32760, 5120]),
    ("M long", [1, 1_000_000, 64]),
    ("D=1", [1, 16_000_000, 1]),
    ("D=7", [4, 500_000, 7]),
    ("odd rows", [8, 1024, 1151]),
    ("small L 4", [4096, 4, 64]),
    ("small L 8", [131_073, 8, 1]),
    ("L=1", [1, 1, 131_073]),
    ("in cache", [2, 64, 256]),
    ("in L1", [1, 8, 240]),
    ("in L1 long", [1, 64, 32]),
];

/// How long processors are kept busy before several of them are measured: a virtual one that was asleep may be so long on a
/// core that it shares with another.
const AWAKE: Duration = Duration::from_millis(300);

fn main() {
    let options = Options::parse();
    println!("{}", describe(&options));
    let title = "x triad";
    println!(
        "{:<34} {:>4} {:>7} {title:>8} {:>13} {:>10} {:>10}",
        "case", "type", "threads", "spread", "time us", "GB/s"
    );
    let mut results = Vec::new();
    for case in cases(&options) {
        for &threads in &options.threads {
            if options.only.as_ref().is_none_or(|text| case.name.contains(text.as_str())) {
                let result = measure(&case, threads, &options);
                println!("{}", result.line());
                results.push(result);
            }
        }
    }
    if let Some(path) = &options.json {
        let json: Vec<_> = results.iter().map(Measured::json).collect();
        let text = format!("{{\"machine\":{:?},\"results\":[\n{}\n]}}\n", describe(&options), json.join(",\n"));
        if let Err(error) = std::fs::write(path, text) {
            eprintln!("{path}: {error}");
            std::process::exit(1);
        }
    }
}

struct Options {
    json: Option<String>,
    rounds: usize,
    threads: Vec<usize>,
    only: Option<String>,
    dims: Option<[usize; 3]>,
    layouts: bool,
    sweep: bool,
    cpu_time: bool,
    tier: Tier,
    residence: Residence,
}

impl Options {
    fn parse() -> Self {
        let threads = if thread_limit() > 1 { vec![1, thread_limit()] } else { vec![1] };
        let (tier, residence) = (active_tier(), Residence::BySize);
        let mut options = Self {
            json: None,
            rounds: 11,
            threads,
            only: None,
            dims: None,
            layouts: false,
            sweep: false,
            cpu_time: false,
            tier,
            residence,
        };
        let mut arguments = std::env::args().skip(1);
        while let Some(argument) = arguments.next() {
            let mut value = || arguments.next().unwrap_or_else(|| usage(&format!("{argument} wants a value")));
            match argument.as_str() {
                "--json" => options.json = Some(value()),
                "--rounds" => options.rounds = value().parse().unwrap_or_else(|_| usage("--rounds wants a number")),
                "--threads" => {
                    let numbers: Result<_, _> = value().split(',').map(str::parse).collect();
                    options.threads = numbers.unwrap_or_else(|_| usage("--threads wants numbers, such as 1,2"));
                }
                "--only" => options.only = Some(value()),
                "--dims" => {
                    let numbers: Vec<_> = value().split(',').filter_map(|number| number.parse().ok()).collect();
                    options.dims = Some(numbers.try_into().unwrap_or_else(|_| usage("--dims wants B,L,D")));
                }
                "--layouts" => options.layouts = true,
                "--cpu-time" => options.cpu_time = true,
                "--sweep" => options.sweep = true,
                "--tier" => {
                    let name = value();
                    let tier = Tier::ALL.iter().copied().find(|tier| tier.name() == name && tier.is_available());
                    options.tier = tier.unwrap_or_else(|| usage("--tier wants one that this CPU has"));
                }
                "--residence" => {
                    options.residence = match value().as_str() {
                        "caches" => Residence::Caches,
                        "last-level" => Residence::LastLevel,
                        "memory" => Residence::Memory,
                        _ => usage("--residence wants caches, last-level or memory"),
                    }
                }
                // What cargo passes to every bench.
                "--bench" => {}
                other => usage(&format!("unknown option {other}")),
            }
        }
        options
    }
}

fn usage(problem: &str) -> ! {
    eprintln!("{problem}; the options stand at the top of benches/operator.rs");
    std::process::exit(2);
}

fn describe(options: &Options) -> String {
    let model = std::fs::read_to_string("/proc/cpuinfo").ok().and_then(|text| {
        let line = text.lines().find(|line| line.starts_with("model name"))?;
        Some(line.split(':').nth(1)?.trim().to_owned())
    });
    let model = model.unwrap_or_else(|| "unknown CPU".to_owned());
    format!("{model}, {} threads, {}", thread_limit(), options.tier.name())
}

/// How the large tensors lie.
#[derive(Clone, Copy, PartialEq)]
enum Layout {
    Contiguous,
    Pitch,
    Transposed,
    Expanded,
    Step,
    /// grad_output transposed, the others not.
    Mixed,
}

struct Case {
    name: String,
    dtype: FloatType,
    dims: [usize; 3],
    layout: Layout,
}

fn cases(options: &Options) -> Vec<Case> {
    let mut cases = Vec::new();
    for dtype in TYPES {
        if let (Some(dims), false) = (options.dims, options.layouts) {
            cases.push(Case { name: format!("{dims:?}"), dtype, dims, layout: Layout::Contiguous });
        } else if options.sweep {
            for bits in 10..=31 {
                // Rows of 1024 elements where there are so many, and a triad's bytes in all.
                let elements = ((1_usize << bits) / 3 / dtype.size()).max(1);
                let hidden = elements.min(1024);
                let name = format!("sweep 2^{bits}");
                cases.push(Case { name, dtype, dims: [1, elements / hidden, hidden], layout: Layout::Contiguous });
            }
        } else if options.layouts {
            for (name, layout) in [
                ("contiguous", Layout::Contiguous),
                ("row pitch", Layout::Pitch),
                ("L/D transposed", Layout::Transposed),
                ("grad_output transposed", Layout::Mixed),
                ("grad_output expanded", Layout::Expanded),
                ("column step 2", Layout::Step),
            ] {
                let given = options.dims.map(|dims| ("", dims));
                let both = [("A ", [32, 256, 1152]), ("B ", [8, 4096, 1536])];
                for &(short, dims) in given.as_slice().iter().chain(if given.is_some() { &[] } else { both.as_slice() })
                {
                    cases.push(Case { name: format!("{short}{name}"), dtype, dims, layout });
                }
            }
        } else {
            for &(name, dims) in CASES {
                cases.push(Case { name: format!("{name} {dims:?}"), dtype, dims, layout: Layout::Contiguous });
            }
        }
    }
    cases
}

/// Memory as aclrtMalloc hands it out: whole pages, huge ones where the system has them, touched before use.
struct Pages {
    base: *mut u8,
    bytes: usize,
}

impl Pages {
    fn new(bytes: usize) -> Self {
        const HUGE: usize = 2 << 20;
        let bytes = bytes.max(1).next_multiple_of(HUGE) + HUGE;
        let (protection, flags) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
        // SAFETY: a fresh anonymous mapping.
        let base = unsafe { libc::mmap(std::ptr::null_mut(), bytes, protection, flags, -1, 0) };
        assert!(base != libc::MAP_FAILED, "no memory");
        // SAFETY: the mapping; small ones stay as they are.
        unsafe { libc::madvise(base, bytes, libc::MADV_HUGEPAGE) };
        Self { base: base.cast(), bytes }
    }

    fn start(&self) -> *mut u8 {
        self.base.wrapping_add(self.base.align_offset(2 << 20))
    }

    fn fill(&self, dtype: FloatType, seed: u32) {
        // Around one: sums stay in range.
        let one: u32 = match dtype {
            FloatType::F32 => 0x3f80_0000,
            FloatType::F16 => 0x3c00_3c00,
            FloatType::Bf16 => 0x3f80_3f80,
        };
        let words = (self.bytes - (2 << 20)) / 4;
        for i in 0..words {
            let noise = (i as u32 ^ seed).wrapping_mul(0x9e37_79b9) >> 12;
            let noise = if dtype == FloatType::F32 { noise } else { noise & 0x003f_003f };
            let sign = (noise & 1) << 31 | (noise & 2) << 14;
            let sign = if dtype == FloatType::F32 { sign & 0x8000_0000 } else { sign };
            // SAFETY: within the mapping.
            unsafe { self.start().cast::<u32>().add(i).write(one | noise | sign) };
        }
    }
}

impl Drop for Pages {
    fn drop(&mut self) {
        // SAFETY: mapped in `new`.
        unsafe { libc::munmap(self.base.cast(), self.bytes) };
    }
}

struct Measured {
    name: String,
    dtype: FloatType,
    threads: usize,
    /// Sorted microseconds of the operator, of the plain triad and of the non-temporal one.
    times: [Vec<f64>; 3],
    /// Sorted ratios of the rounds.
    ratios: Vec<f64>,
    bytes: usize,
}

/// Seconds: of the clock, or of work of this thread.
fn now(cpu_time: bool) -> f64 {
    let clock = if cpu_time { libc::CLOCK_THREAD_CPUTIME_ID } else { libc::CLOCK_MONOTONIC };
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: writes a local.
    unsafe { libc::clock_gettime(clock, &raw mut time) };
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}

fn median(sorted: &[f64]) -> f64 {
    sorted[sorted.len() / 2]
}

impl Measured {
    fn ratio(&self) -> f64 {
        median(&self.times[0]) / median(&self.times[1]).min(median(&self.times[2]))
    }

    fn line(&self) -> String {
        let time = median(&self.times[0]);
        let (low, high) = (self.ratios[self.ratios.len() / 10], self.ratios[self.ratios.len() * 9 / 10]);
        let mut line = String::new();
        let _ = write!(
            line,
            "{:<34} {:>4} {:>7} {:>8.2} {low:>6.2}-{high:<6.2} {:>6.2} {time:>10.1} {:>10.1}",
            self.name,
            type_name(self.dtype),
            self.threads,
            self.ratio(),
            self.times[0][0] / self.times[1][0].min(self.times[2][0]),
            self.bytes as f64 / time / 1000.0,
        );
        line
    }

    fn json(&self) -> String {
        let [operator, plain, streamed] = self.times.each_ref().map(|times| median(times));
        format!(
            "{{\"case\":{:?},\"type\":\"{}\",\"threads\":{},\"x_triad\":{:.4},\"low\":{:.4},\"high\":{:.4},\"us\":{operator:.3},\"triad_plain_us\":{plain:.3},\"triad_nt_us\":{streamed:.3},\"bytes\":{}}}",
            self.name,
            type_name(self.dtype),
            self.threads,
            self.ratio(),
            self.ratios[self.ratios.len() / 10],
            self.ratios[self.ratios.len() * 9 / 10],
            self.bytes
        )
    }
}

fn type_name(dtype: FloatType) -> &'static str {
    match dtype {
        FloatType::F32 => "f32",
        FloatType::F16 => "f16",
        FloatType::Bf16 => "bf16",
    }
}

fn measure(case: &Case, threads: usize, options: &Options) -> Measured {
    let [batch, sequence, hidden] = case.dims;
    let size = case.dtype.size();
    let elements = batch * sequence * hidden;
    let spread = match case.layout {
        Layout::Pitch => sequence * batch * (hidden + 192) * size,
        Layout::Step => 2 * elements * size,
        _ => elements * size,
    };
    let large: [Pages; 3] = std::array::from_fn(|_| Pages::new(spread));
    let small: [Pages; 3] = std::array::from_fn(|_| Pages::new(batch * hidden * size));
    for (i, pages) in large.iter().chain(&small).enumerate() {
        pages.fill(case.dtype, i as u32);
    }
    let contiguous = [sequence * hidden, hidden, 1];
    let transposed = [sequence * hidden, 1, sequence];
    let stride = |tensor: usize| match case.layout {
        Layout::Contiguous => contiguous,
        Layout::Pitch => [sequence * (hidden + 192), hidden + 192, 1],
        Layout::Transposed => transposed,
        Layout::Step => contiguous.map(|stride| stride * 2),
        Layout::Expanded if tensor == 0 => [0, 0, 0],
        Layout::Mixed if tensor == 0 => transposed,
        Layout::Expanded | Layout::Mixed => contiguous,
    };
    let view3 = |tensor: usize| View3 { base: large[tensor].start(), stride: stride(tensor) };
    let view2 = |tensor: usize| View2 { base: small[tensor].start(), stride: [hidden, 1] };
    let problem = ModulateBackward {
        dtype: case.dtype,
        dims: case.dims,
        grad_output: view3(0),
        input: Some(view3(1)),
        scale: Some(view2(0)),
        grad_input: view3(2),
        grad_scale: Some(view2(1)),
        grad_shift: Some(view2(2)),
    };
    let workspace = Pages::new(workspace_bytes(case.dims, true, true));
    let bytes = 3 * elements * size;
    let tuning = Tuning { tier: options.tier, threads, residence: options.residence };
    let operator = || {
        // SAFETY: the pages are alive, and only this thread uses them.
        unsafe {
            if options.residence == Residence::BySize && options.tier == active_tier() && threads == thread_limit() {
                run(&problem, workspace.start(), Owner::default());
            } else {
                run_tuned(&tuning, &problem, workspace.start());
            }
        }
    };
    // The same bytes, in the same memory.
    let triad = |streamed: bool| triad(&large, elements * size / 4, threads, streamed);

    // Long enough for the clock; small calls are repeated, and are measured warm.
    operator();
    let start = Instant::now();
    operator();
    let repeats = (500e-6 / start.elapsed().as_secs_f64()).clamp(1.0, 20_000.0) as usize;
    let start = Instant::now();
    while threads > 1 && start.elapsed() < AWAKE {
        operator();
        triad(false);
    }
    let time = |what: &dyn Fn()| {
        let start = now(options.cpu_time);
        (0..repeats).for_each(|_| what());
        (now(options.cpu_time) - start) * 1e6 / repeats as f64
    };
    let mut times = [const { Vec::new() }; 3];
    let mut ratios = Vec::new();
    for _ in 0..options.rounds {
        let round = [time(&operator), time(&|| triad(false)), time(&|| triad(true))];
        ratios.push(round[0] / round[1].min(round[2]));
        times.iter_mut().zip(round).for_each(|(times, time)| times.push(time));
    }
    times.iter_mut().for_each(|times| times.sort_by(f64::total_cmp));
    ratios.sort_by(f64::total_cmp);
    Measured { name: case.name.clone(), dtype: case.dtype, threads, times, ratios, bytes }
}

/// `a = b + 3 c` in f32 over `words` words, `a` being the third tensor.
fn triad(tensors: &[Pages; 3], words: usize, threads: usize, streamed: bool) {
    const STEP: usize = 64;
    let [b, c, a] = [0, 1, 2].map(|i| tensors[i].start().addr());
    let bytes = words * 12;
    // At its best: in the caches, each thread has what it had the last time, and helpers must be awake.
    let threads = threads.min(bytes / (128 << 10)).max(1);
    let in_caches = bytes <= 16 << 20;
    let units = if threads == 1 || in_caches { threads } else { threads * 4 };
    let part = words.div_ceil(units).next_multiple_of(STEP);
    let unit = |unit: usize| {
        let (start, end) = ((unit * part).min(words), ((unit + 1) * part).min(words));
        let pointer = |base: usize| std::ptr::with_exposed_provenance_mut::<f32>(base).wrapping_add(start);
        // SAFETY: `words` words of each tensor; units don't overlap.
        unsafe { triad_part(pointer(a), pointer(b), pointer(c), end - start, streamed) };
    };
    if threads == 1 {
        (0..units).for_each(unit);
    } else {
        let terms = Terms { threads, owner: Owner::default(), wake: wake_for(bytes, units) };
        pool::run(units, terms, &|index, _| unit(index));
    }
}

#[cfg(target_arch = "x86_64")]
unsafe fn triad_part(a: *mut f32, b: *const f32, c: *const f32, words: usize, streamed: bool) {
    #[target_feature(enable = "avx2,fma")]
    unsafe fn part<const STREAMED: bool>(a: *mut f32, b: *const f32, c: *const f32, words: usize) {
        use std::arch::x86_64::*;
        let factor = _mm256_set1_ps(3.0);
        let whole = words / 16 * 16;
        for i in (0..whole).step_by(16) {
            for j in [i, i + 8] {
                // SAFETY: below `words`; tensors begin at page bounds, and parts at whole lines.
                unsafe {
                    let sum = _mm256_fmadd_ps(factor, _mm256_loadu_ps(c.add(j)), _mm256_loadu_ps(b.add(j)));
                    if STREAMED {
                        _mm256_stream_ps(a.add(j), sum);
                    } else {
                        _mm256_storeu_ps(a.add(j), sum);
                    }
                }
            }
        }
        for i in whole..words {
            // SAFETY: below `words`.
            unsafe { *a.add(i) = 3.0_f32.mul_add(*c.add(i), *b.add(i)) };
        }
        _mm_sfence();
    }
    assert!(is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma"), "the triad wants AVX2 and FMA");
    // SAFETY: just checked, and as the caller promises.
    unsafe { if streamed { part::<true>(a, b, c, words) } else { part::<false>(a, b, c, words) } }
}

#[cfg(not(target_arch = "x86_64"))]
unsafe fn triad_part(a: *mut f32, b: *const f32, c: *const f32, words: usize, _streamed: bool) {
    for i in 0..words {
        // SAFETY: as the caller promises.
        unsafe { *a.add(i) = 3.0_f32.mul_add(*c.add(i), *b.add(i)) };
    }
}
