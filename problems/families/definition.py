# SPDX-License-Identifier: Apache-2.0

"""What every family's definitions are made of, and how workloads get their uuids."""

import json
import pathlib
import uuid

NAMESPACE = uuid.uuid5(uuid.NAMESPACE_DNS, "weft.ptxbench.problems")
HERE = pathlib.Path(__file__).parent
# The uuids under which public trace sets know these workloads: {definition: {"M=70": uuid}}.
PUBLIC = json.loads((HERE / "public_workloads.json").read_text())


def tensor(shape, dtype, description):
    return {"shape": shape, "dtype": dtype, "description": description}


def const(value, description):
    return {"type": "const", "value": value, "description": description}


def var(description):
    return {"type": "var", "description": description}


def workload_uuid(name, axes):
    """The public uuid where there is one; else derived from definition and axes, the same for ever."""
    key = ",".join(f"{axis}={value}" for axis, value in axes.items())
    if name.startswith("mha_bwd_"):
        return str(uuid.uuid5(uuid.NAMESPACE_URL, f"accrl://{name}/{key}"))
    public = PUBLIC.get(name, {}).get(key)
    return public or str(uuid.uuid5(NAMESPACE, name + json.dumps(axes, sort_keys=True)))
