"""The benchmark: cases, and the table that is made of them. Started by Scripts/bench."""

import argparse
import json
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile

from cases import CASES
from contestants import Places
import readme


def spread(values):
    return {"median": statistics.median(values), "least": min(values), "most": max(values)}


def summary(runs):
    """Runs of one contestant as one row: each figure with its spread. `processor` is the time of both sides together."""
    for run in runs:
        if "sender_user" in run and "receiver_user" in run:
            run["processor"] = sum(run[key] for key in run if key.endswith(("_user", "_system")))
    keys = [key for key in runs[0] if all(key in run for run in runs)]
    return {key: spread([run[key] for run in runs]) for key in keys}


COLUMNS = [
    ("wall", "wall s", 1, "{:.3f}"), ("first", "first s", 1, "{:.3f}"), ("record", "record s", 1, "{:.3f}"),
    ("port", "port s", 1, "{:.3f}"), ("sender_user", "snd user", 1, "{:.2f}"), ("sender_system", "snd sys", 1, "{:.2f}"),
    ("sender_memory", "snd MiB", 1, "{:.0f}"), ("receiver_user", "rcv user", 1, "{:.2f}"),
    ("receiver_system", "rcv sys", 1, "{:.2f}"), ("receiver_memory", "rcv MiB", 1, "{:.0f}"),
    ("processor", "cpu s", 1, "{:.2f}"), ("processor_ms", "processor ms", 1, "{:.1f}"),
    ("all", "to the end s", 1, "{:.3f}"), ("times", "left the sender ×", 1, "{:.2f}"),
    ("sender_private", "snd private MiB", 1, "{:.0f}"), ("receiver_private", "rcv private MiB", 1, "{:.0f}"),
    ("calls", "calls/GB", 1, "{:.0f}"), ("wakeups", "wake-ups/s", 1, "{:.1f}"), ("memory", "MiB", 1, "{:.1f}"),
]


def table(case, rows):
    shown = [column for column in COLUMNS if any(column[0] in row for row in rows.values())]
    first = next(iter(rows.values()))
    titles = [("wall", "of the first"), ("processor", "cpu of the first"), ("processor_ms", "cpu of the first")]
    ratios = [(key, title) for key, title in titles if key in first]
    # How much later than the first one: what a fault in a group costs the others.
    later = ["later s"] if "all" in first else []
    lines = [f"\n## {case}\n",
             "| who | " + " | ".join([c[1] for c in shown] + [title for _, title in ratios] + later) + " |",
             "|---|" + "---:|" * (len(shown) + len(ratios) + len(later))]
    for name, row in rows.items():
        cells = []
        for key, _, _, form in shown:
            if key not in row:
                cells.append("")
                continue
            value = row[key]
            text = form.format(value["median"])
            if key == "wall":
                text += " ({}–{})".format(form.format(value["least"]), form.format(value["most"]))
            cells.append(text)
        cells += [f"{row[key]['median'] / first[key]['median']:.2f}" if key in row else "" for key, _ in ratios]
        if later:
            cells.append(f"{row['wall']['median'] - first['wall']['median']:+.2f}")
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(
        prog="Scripts/bench", description="Measures the release programs against a bare C loop over libssl, and against others.")
    parser.add_argument("root", help=argparse.SUPPRESS)
    parser.add_argument("cases", nargs="*", help="names of cases; all of them where none is named")
    parser.add_argument("--runs", type=int, default=5, help="runs of each contestant; their median counts (default: 5)")
    parser.add_argument("--json", help="write the figures to this file too")
    parser.add_argument("--folder", default="/var/tmp", help="where the disk that is measured is (ext4 here)")
    parser.add_argument("--quick", action="store_true", help="a tenth of the sizes: to see that it works, not to quote")
    parser.add_argument("--readme", action="store_true", help="measure what the README quotes, and write it there")
    parser.add_argument("--list", action="store_true", help="name the cases and run none")
    options = parser.parse_intermixed_args()
    if options.list:
        for name, case in CASES.items():
            print(f"{name:12} {case.__doc__.splitlines()[0]}")
        return 0
    if options.readme:
        options.cases = readme.CASES
    unknown = [name for name in options.cases if name not in CASES]
    if unknown:
        parser.error(f"no such case: {', '.join(unknown)}; see --list")

    disk = tempfile.mkdtemp(prefix="waft-bench-", dir=options.folder)
    memory = tempfile.mkdtemp(prefix="waft-bench-", dir="/dev/shm")
    # Temporary files are removed with the rest, also after an interruption.
    tempfile.tempdir = memory
    places = None
    figures = {"machine": {"system": platform.platform(), "cores": os.cpu_count(), "runs": options.runs}, "cases": {}}
    try:
        places = Places(options.root, disk, memory, 10 if options.quick else 1)
        for name in options.cases or CASES:
            for title, contestants in CASES[name](places):
                results = {}
                # The contestants take turns, so that other work of the machine affects all of them alike. Each round begins
                # with another one: memory that the last one gave back to the kernel or the host matters.
                turns = list(contestants.items())
                for run in range(options.runs):
                    first = run % len(turns)
                    for who, measure in turns[first:] + turns[:first]:
                        print(f"{title}: {who}, {run + 1} of {options.runs}   ", end="\r", file=sys.stderr, flush=True)
                        results.setdefault(who, []).append(measure())
                rows = {who: summary(runs) for who, runs in results.items()}
                figures["cases"][title] = rows
                print(table(title, rows), flush=True)
        # Before the removal of the sent files, which takes a while.
        if options.json:
            with open(options.json, "w") as file:
                json.dump(figures, file, indent=1)
        if options.readme:
            readme.write(os.path.join(options.root, "README.md"), figures)
    except FileNotFoundError as missing:
        if os.sep in str(missing.filename or os.sep):
            raise
        print(f"bench: {missing.filename} is not installed: Scripts/setup bench", file=sys.stderr)
        return 69
    except subprocess.CalledProcessError as failed:
        # A program that cannot do its work here has said why, and what to do.
        if failed.returncode != 69:
            print(f"bench: {os.path.basename(failed.cmd[0])} ended with {failed.returncode}", file=sys.stderr)
        return failed.returncode if failed.returncode > 0 else 1
    finally:
        if places:
            places.close()
        shutil.rmtree(disk, ignore_errors=True)
        shutil.rmtree(memory, ignore_errors=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
