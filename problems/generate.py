# SPDX-License-Identifier: Apache-2.0

"""Writes definitions/ and workloads/ (FlashInfer Trace form). Run in this folder after changing a family.

What the schema has no field for (layout, scale, masks, tolerances) is stated in tags of the form
"key:value", so that other readers of the format load these files unchanged. Limits of tolerances come from
workloads/<op>/<name>.measured.json, which `ptxbench tasks measure --write` makes.
"""

import collections
import json
import pathlib

from families import attention, fp8, gated_delta, gemm, serving
from families.definition import workload_uuid

HERE = pathlib.Path(__file__).parent
SCALARS = serving.SCALARS | gated_delta.SCALARS
GLOBAL_ROW_NORM_LIMIT = 0.1
SMALLEST_LIMIT = 1e-6  # of an output that is a copy


def input_of(name, key, spec):
    if spec["shape"] is not None:
        return {"type": "random"}
    return {"type": "scalar", "value": SCALARS[name.split("_")[0]][key]}


def family_of(definition):
    return next(tag.partition(":")[2] for tag in definition["tags"] if tag.startswith("family:"))


def measured_of(definition):
    path = HERE / "workloads" / definition["op_type"] / f"{definition['name']}.measured.json"
    return json.loads(path.read_text()) if path.exists() else None


def worst_of(reports, output):
    """The worst of each number among the definitions of a family."""
    found = [report["outputs"][output] for report in reports]
    worst = {key: max(one[key] for one in found) for key in ("norm", "row_norm", "absolute", "relative")}
    return worst | {"by": max(found, key=lambda one: one["norm"])["worst"]}


def measured_tags(kind, output, own, family, reports):
    """Limits, where they come from, and the errors by precision class."""
    found = worst_of(reports, output)
    margin = own["norm_margin" if kind == "relative_norm" else "element_margin"]

    def limit(key):
        return max(float(f"{margin * found[key]:.2g}"), SMALLEST_LIMIT)

    origin = f"measured: {margin:g} times the worst of good implementations of {family} against float64"
    if kind == "relative_norm":
        parts = f"norm_limit={limit('norm'):g}"
        if limit("row_norm") > GLOBAL_ROW_NORM_LIMIT:
            parts += f" row_norm_limit={limit('row_norm'):g}"
        origin += f" (norm {found['norm']:g}, of a row {found['row_norm']:g}; {found['by']})"
    else:
        parts = f"absolute={limit('absolute'):g} relative={limit('relative'):g}"
        origin += f" ({found['absolute']:g} + {found['relative']:g} |expected|)"
    errors = " ".join(f"{precision.replace(' ', '_')}={error:g}"
                      for precision, error in own["outputs"][output]["norm_by_class"].items() if error > 0)
    return [f"tolerance.{output}:{kind} {parts}", f"tolerance_origin.{output}:{origin}"] + (
        [f"errors.{output}:{errors}"] if errors else [])


def with_measured(definition, reports):
    own, family = measured_of(definition), family_of(definition)
    if own is None:
        return definition
    tags = []
    for tag in definition["tags"]:
        key, _, value = tag.partition(":")
        tags += (measured_tags(value, key.split(".")[1], own, family, reports[family])
                 if key.startswith("tolerance.") else [tag])
    return definition | {"tags": tags}


def write(definition, rows, reports):
    operation, name = definition["op_type"], definition["name"]
    path = HERE / "definitions" / operation / f"{name}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(with_measured(definition, reports), indent=2) + "\n")
    lines = []
    for axes in rows:
        workload = {"uuid": workload_uuid(name, axes), "axes": axes,
                    "inputs": {key: input_of(name, key, spec) for key, spec in definition["inputs"].items()}}
        lines.append(json.dumps({"definition": name, "solution": None, "workload": workload,
                                 "evaluation": None}))
    path = HERE / "workloads" / operation / f"{name}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(lines) + "\n")


# Reports of measurement and admission stay: `ptxbench tasks measure` and `lint` write them.
for pattern in ("definitions/*/*.json", "workloads/*/*.jsonl"):
    for path in HERE.glob(pattern):
        path.unlink()
tasks = [task for family in (gemm, attention, fp8, serving, gated_delta) for task in family.tasks()]
reports = collections.defaultdict(list)
for definition, _ in tasks:
    if (measured := measured_of(definition)) is not None:
        reports[family_of(definition)].append(measured)
for definition, rows in tasks:
    write(definition, rows, reports)
