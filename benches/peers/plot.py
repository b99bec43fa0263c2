#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws x triad over the size of a call, ours and the peers', from the JSON of peers.py.

    plot.py RESULTS.json [RESULTS.json ...] --output PICTURE.svg
"""
import argparse
import json
import math

import matplotlib

matplotlib.use("Agg")
matplotlib.rcParams["svg.hashsalt"] = "aclnn-modulate"  # the same picture for the same numbers
import matplotlib.pyplot as plt

STYLE = {
    "ours": ("#d62728", 2.6), "plain C": ("#1f77b4", 1.4), "torch.compile": ("#2ca02c", 1.4), "PyTorch eager": ("#9467bd", 1.4),
    "JAX": ("#8c564b", 1.4), "Eigen": ("#17becf", 1.4), "numpy": ("#7f7f7f", 1.4),
    "oneDNN": ("#e377c2", 1.4),
}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("results", nargs="+")
    parser.add_argument("--output", required=True)
    arguments = parser.parse_args()
    runs = []
    for path in arguments.results:
        with open(path, encoding="utf-8") as file:
            runs.append(json.load(file))

    threads = sorted({result["threads"] for run in runs for result in run["results"]})
    figure, axes = plt.subplots(1, len(threads), figsize=(5.6 * len(threads), 4.6), sharey=True, squeeze=False)
    for axis, count in zip(axes[0], threads):
        for name, (color, width) in STYLE.items():
            points = sorted(
                (result["bytes"], result["us"][name] / result["triad_us"])
                for run in runs
                for result in run["results"]
                if result["threads"] == count and result["case"].startswith("sweep") and name in result["us"]
            )
            if points:
                label = "this library" if name == "ours" else name
                axis.plot(*zip(*points), marker="o", markersize=3.5, color=color, linewidth=width, label=label)
        axis.axhline(1, color="black", linewidth=0.8, linestyle="--")
        axis.set_xscale("log", base=2)
        axis.set_yscale("log")
        low, high = (math.log2(edge) for edge in axis.get_xlim())
        ticks = [2**n for n in range(math.ceil(low), math.floor(high) + 1) if n % 3 == 0]
        axis.set_xticks(ticks, [size_name(size) for size in ticks])
        axis.set_xlabel("bytes that the operator moves")
        axis.set_title(f"{count} thread{'s' if count > 1 else ''}, f32, [1, L, 1152]")
        axis.grid(alpha=0.3)
    axes[0][0].set_ylabel("time / time of a triad over the same bytes")
    axes[0][0].set_yticks([1, 2, 5, 10, 20, 50, 100], ["1", "2", "5", "10", "20", "50", "100"])
    axes[0][-1].legend(fontsize=8)
    machine = runs[0]["machine"]
    figure.suptitle(f"{machine['cpu']}, {machine['cores']} cores, {machine['date']}", fontsize=9)
    figure.tight_layout()
    figure.savefig(arguments.output, metadata={"Date": None})


def size_name(size):
    for unit, factor in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if size >= factor:
            return f"{size // factor} {unit}"
    return f"{size} B"


if __name__ == "__main__":
    main()
