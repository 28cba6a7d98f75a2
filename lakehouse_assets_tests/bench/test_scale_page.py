"""docs/scale.md says what was measured, and judges each goal by the figure beside it."""

import math
import re
import subprocess
import sys
import time

import psutil

from lakehouse_assets.core.settings import PROJECT_ROOT
from lakehouse_assets_tests.bench.synced import Peak

PAGE = (PROJECT_ROOT / "docs" / "scale.md").read_text()
COLUMNS = {"a full build's seconds": 1, "memory of all processes in a full build": 2}
COLUMNS |= {"an update's seconds": 3, "memory of all processes in an update": 4}
HOLDER = """
import subprocess, sys, time
held = bytearray(b"x" * int(sys.argv[1]))
if len(sys.argv) > 2:
    subprocess.Popen([sys.executable, "-c", sys.argv[2], sys.argv[1]])
print("held", flush=True)
time.sleep(60)
"""


def number(text: str) -> float:
    return float(re.sub("[^0-9.-]", "", text))


def test_each_goal_of_the_scale_page_is_judged_by_the_exponent_beside_it_which_its_table_gives():
    judged = 0
    for part in PAGE.split("\n## ")[1:]:
        rows = [line.strip("| ").split(" | ") for line in part.split("\n") if line.startswith("| ")]
        sizes = [row for row in rows if len(row) == 10 and row[0][0].isdigit()]
        for label, told, goal in [row for row in rows if len(row) == 3 and row[2].startswith("goal at most")]:
            place = COLUMNS[label.removeprefix("the ")]
            one, two = sizes[-2], sizes[-1]
            grown = math.log(number(two[place]) / number(one[place])) / math.log(number(two[0]) / number(one[0]))
            assert abs(grown - float(told)) < 0.02, label
            most, verdict = re.fullmatch(r"goal at most ([0-9.]+): (met|NOT MET)", goal).groups()  # pyright: ignore[reportOptionalMemberAccess]
            assert verdict == ("met" if float(told) <= float(most) else "NOT MET"), label
            judged += 1
    assert judged == 8


def test_the_memory_of_a_command_is_that_of_all_its_processes():
    size = 60 * 2**20
    with subprocess.Popen([sys.executable, "-c", HOLDER, str(size), HOLDER], stdout=subprocess.PIPE) as process:
        peak = Peak(process.pid)
        try:
            assert process.stdout is not None
            assert [process.stdout.readline() for _ in range(2)] == [b"held\n"] * 2
            time.sleep(1.2)
            assert peak.end() > 2 * size
        finally:
            for each in (*psutil.Process(process.pid).children(), process):
                each.kill()
