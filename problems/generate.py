# SPDX-License-Identifier: Apache-2.0

"""Writes definitions/ and workloads/ (FlashInfer Trace form). Run in this folder after changing a family.

What the schema has no field for (layout, scale, masks, tolerances) is stated in tags of the form
"key:value", so that other readers of the format load these files unchanged.
"""

import json
import pathlib

from families import attention, gemm
from families.definition import workload_uuid

HERE = pathlib.Path(__file__).parent


def write(definition, rows):
    operation, name = definition["op_type"], definition["name"]
    path = HERE / "definitions" / operation / f"{name}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(definition, indent=2) + "\n")
    lines = []
    for axes in rows:
        workload = {"uuid": workload_uuid(name, axes), "axes": axes,
                    "inputs": {key: {"type": "random"} for key in definition["inputs"]}}
        lines.append(json.dumps({"definition": name, "solution": None, "workload": workload,
                                 "evaluation": None}))
    path = HERE / "workloads" / operation / f"{name}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(lines) + "\n")


# Reports of admission stay: `ptxbench tasks lint --all --write problems` writes them.
for pattern in ("definitions/*/*.json", "workloads/*/*.jsonl"):
    for path in HERE.glob(pattern):
        path.unlink()
for family in (gemm, attention):
    for definition, rows in family.tasks():
        write(definition, rows)
