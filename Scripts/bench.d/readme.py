"""Writes the figures of a run into the README, between its two marks."""

import datetime
import re

BEGIN, END = "<!-- Scripts/bench --readme writes the lines from here -->\n", "<!-- to here -->"

# The cases that the README quotes; the daemon that does nothing is described by its memory.
CASES = ["large", "small", "idle"]
DISK, MANY, IDLE = "1 GiB to the disk", "10,000 files of 10 KB", "idle daemon"


def _walls(rows):
    return {who: row["wall"]["median"] for who, row in rows.items() if "wall" in row}


def _beside(what, rows, others):
    walls = _walls(rows)
    waft = walls["waft"]
    ratios = [f"{title} {walls[who] / waft:.1f} times as long" for who, title in others if who in walls]
    return f"{what}: {waft:.2f} s" + ("; " + ", ".join(ratios) if ratios else "") + "."


def sentences(figures):
    """The lines for the README. Raises KeyError for a case that was not run."""
    cases, machine = figures["cases"], figures["machine"]
    memory = cases[IDLE]["waftd"]["memory"]["median"]
    return [
        _beside("- 1 GiB to the disk, synced", cases[DISK], [("scp", "scp takes"), ("rsync -W", "rsync -W"), ("C loop", "a bare C loop over libssl")]),
        _beside("- 10,000 files of 10 KB, synced", cases[MANY], [("tar | ssh tar", "tar over ssh takes"), ("rsync -W", "rsync -W")]),
        f"- A `waftd` that waits has {memory:.0f} MiB of private memory.",
        f"- Both sides on one machine with {machine['cores']} cores, {datetime.date.today()}, medians of {machine['runs']}. scp, tar and rsync do not sync.",
    ]


def write(path, figures):
    with open(path) as file:
        text = file.read()
    lines = "\n".join(sentences(figures)) + "\n"
    changed, count = re.subn(re.escape(BEGIN) + ".*?" + re.escape(END), lambda _: BEGIN + lines + END, text, flags=re.S)
    if count != 1:
        raise SystemExit(f"bench: {path} has not the two marks between which the figures stand")
    with open(path, "w") as file:
        file.write(changed)
