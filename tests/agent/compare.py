# SPDX-License-Identifier: Apache-2.0
"""compare.py RUN: whether the error class of every turn is the one that its story expects."""
import glob
import json
import os
import sys

stories = {}
for file in glob.glob(os.path.join(os.path.dirname(__file__), "*", "story.json")):
    with open(file) as text:
        story = json.load(text)
    stories[story["definition"]] = story["stories"]

wrong = turns = 0
found = sorted(glob.glob(os.path.join(sys.argv[1], "trajectories", "*", "trajectory.json")))
for file in found:
    with open(file) as text:
        trajectory = json.load(text)
    head = trajectory["info"]["ptxbench"]
    told = stories[head["definition"]][head["replica"]]
    expected = [turn.get("expect", "passed") for turn in told["turns"]]
    seen = [m["extra"]["error_class"] for m in trajectory["messages"][2:] if m["role"] == "user"]
    # A story may go on after a kernel passed; the run does not.
    if "passed" in expected:
        expected = expected[: expected.index("passed") + 1]
    turns += len(seen)
    if seen != expected:
        wrong += 1
        print(f"{head['definition']} {told['name']}: {seen} instead of {expected}")
print(f"{len(found)} trajectories, {turns} turns, {wrong} not as told")
sys.exit(1 if wrong or not found else 0)
