# SPDX-License-Identifier: Apache-2.0
"""teacher.py RUN FAILURES OUT: recordings of a teacher that answers each failure with a kernel of RUN that passed, and of one
that explains; `ptxbench replay-model OUT` serves both."""
import glob
import json
import os
import sys

run, failures, out = sys.argv[1:]
THOUGHT = (
    "The verdict names where it went wrong, and the lines around it decide what is computed there. What differs from a right "
    "kernel is one statement, so that statement is put right and everything that depends on it stays as it is."
)


def fenced(code):
    return "```cuda\n" + code + ("" if code.endswith("\n") else "\n") + "```"


def record(name, model, definition, answers):
    folder = os.path.join(out, name)
    os.makedirs(folder, exist_ok=True)
    messages = [{"role": "assistant", "content": answer} for answer in answers]
    head = {"model": model, "definition": definition}
    with open(os.path.join(folder, "trajectory.json"), "w") as file:
        json.dump({"info": {"ptxbench": head}, "messages": messages}, file)


right = {}
for file in glob.glob(os.path.join(run, "trajectories", "*", "trajectory.json")):
    with open(file) as text:
        info = json.load(text)["info"]
    if info["submission"]:
        right[info["ptxbench"]["definition"]] = info["submission"]
with open(failures) as lines:
    for line in lines:
        failure = json.loads(line)
        answers = [fenced(failure["wrong"]["source"]), fenced(right[failure["definition"]])]
        record(failure["id"], "teacher", failure["definition"], answers)
record("thoughts", "thinker", "", [THOUGHT])
