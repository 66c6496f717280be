# SPDX-License-Identifier: Apache-2.0

"""Writes definitions/ and workloads/ (FlashInfer Trace form). Run in this folder after changing a family.

What the schema has no field for (layout, scale, masks, tolerances) is stated in tags of the form
"key:value", so that other readers of the format load these files unchanged. A workload's uuid is
derived from its definition and axes: the same workload keeps its uuid for ever.
"""

import json
import pathlib
import uuid

NAMESPACE = uuid.uuid5(uuid.NAMESPACE_DNS, "weft.ptxbench.problems")
HERE = pathlib.Path(__file__).parent

GEMM_SIZES = [
    (128, 2048), (256, 7168), (2048, 4096), (2048, 5376), (4096, 4096), (4096, 5376),
    (4096, 14336), (5120, 2048), (5120, 5120), (5120, 17408), (5376, 4096), (5376, 21504),
    (6144, 4096), (7168, 5120), (21504, 5376), (28672, 4096), (34816, 5120),
]
GEMM_ROWS = [1, 16, 70, 232, 972, 2379, 8192]
TOKENS = [512, 1024, 2048, 4096, 8192, 16384]

GEMM_REFERENCE = """\
import torch


def run(A, B):
    return (A.float() @ B.float().T).to(torch.bfloat16)
"""

FORWARD_REFERENCE = """\
import math

import torch


def run(q, k, v):
    q, k, v = (x.transpose(1, 2).float() for x in (q, k, v))
    scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
{mask}    lse = torch.logsumexp(scores, dim=-1)
    o = torch.exp(scores - lse.unsqueeze(-1)) @ v
    return o.transpose(1, 2).to(torch.bfloat16), lse
"""

BACKWARD_REFERENCE = """\
import math

import torch


def run(q, k, v, o, do, lse, delta):
    q, k, v, do = (x.transpose(1, 2).float() for x in (q, k, v, do))
    scale = 1 / math.sqrt(q.shape[-1])
    scores = q @ k.transpose(-1, -2) * scale
{mask}    p = torch.exp(scores - lse.unsqueeze(-1))
    ds = p * (do @ v.transpose(-1, -2) - delta.unsqueeze(-1)) * scale
    dq, dk, dv = ds @ k, ds.transpose(-1, -2) @ q, p.transpose(-1, -2) @ do
    return tuple(x.transpose(1, 2).to(torch.bfloat16) for x in (dq, dk, dv))
"""

MASK = """\
    rows, columns = scores.shape[-2:]
    hidden = torch.ones(rows, columns, dtype=torch.bool, device=scores.device).triu(1)
    scores = scores.masked_fill(hidden, float("-inf"))
"""


def tensor(shape, dtype, description):
    return {"shape": shape, "dtype": dtype, "description": description}


def gemm(n, k):
    return {
        "name": f"gemm_n{n}_k{k}",
        "description": "C = A * transpose(B). Row-major, contiguous, every tensor aligned to 256 bytes. "
                       "Products are summed in float32 or better and rounded once to bfloat16. No masked "
                       "positions: every element of C is written.",
        "op_type": "gemm",
        "tags": ["family:gemm", "layout:row_major", "alignment:256", "accumulate:float32",
                 "inputs:normal,uniform", "tolerance.C:matched_ratio", "masked:none"],
        "axes": {
            "M": {"type": "var", "description": "rows of A and C"},
            "N": {"type": "const", "value": n, "description": "rows of B, columns of C"},
            "K": {"type": "const", "value": k, "description": "columns of A and B"},
        },
        "inputs": {
            "A": tensor(["M", "K"], "bfloat16", "left operand"),
            "B": tensor(["N", "K"], "bfloat16", "right operand, transposed"),
        },
        "outputs": {"C": tensor(["M", "N"], "bfloat16", "product")},
        "constraints": ["M >= 1", "N % 8 == 0", "K % 8 == 0"],
        "reference": GEMM_REFERENCE,
    }


def attention_axes(head_dim):
    return {
        "batch": {"type": "const", "value": 4, "description": "independent sequences"},
        "seq_len": {"type": "var", "description": "tokens; queries and keys share this axis"},
        "num_heads": {"type": "const", "value": 48, "description": "attention heads"},
        "head_dim": {"type": "const", "value": head_dim, "description": "elements a head"},
    }


def attention_tags(family, causal):
    return [f"family:{family}", "layout:batch_seq_head_dim", "alignment:256", "scale:rsqrt_head_dim",
            f"causal:{'true' if causal else 'false'}",
            f"causal_alignment:{'diagonal' if causal else 'none'}", "lse:natural", "empty_rows:none",
            "masked:none", "accumulate:float32", "inputs:spiky"]


FULL = ["batch", "seq_len", "num_heads", "head_dim"]
ROWS = ["batch", "num_heads", "seq_len"]
CONSTRAINTS = ["batch >= 1", "seq_len >= 1", "num_heads >= 1", "head_dim % 16 == 0"]


def mask_sentence(causal):
    if causal:
        return ("Causal: query i sees keys 0 to i, both counted from the start of the sequence, so that every "
                "row sees at least one key and no row is empty.")
    return "No mask: every query sees every key and no row is empty."


def forward(head_dim, causal):
    return {
        "name": f"mha_with_lse_d{head_dim}" + ("_causal" if causal else ""),
        "description": "Attention forward: o = softmax(q transpose(k) / sqrt(head_dim)) v, and lse, the natural "
                       "logarithm of the sum of exponentials of the scaled scores. Contiguous tensors aligned to "
                       "256 bytes; heads are interleaved within a token. " + mask_sentence(causal),
        "op_type": "mha_with_lse",
        "tags": attention_tags("mha_with_lse", causal)
                + ["tolerance.o:relative_norm", "tolerance.lse:matched_ratio"],
        "axes": attention_axes(head_dim),
        "inputs": {name: tensor(FULL, "bfloat16", what)
                   for name, what in (("q", "queries"), ("k", "keys"), ("v", "values"))},
        "outputs": {
            "o": tensor(FULL, "bfloat16", "weighted values"),
            "lse": tensor(ROWS, "float32", "log-sum-exp of each row of scaled scores"),
        },
        "constraints": CONSTRAINTS,
        "reference": FORWARD_REFERENCE.format(mask=MASK if causal else ""),
    }


def backward(head_dim, causal):
    return {
        "name": f"mha_bwd_d{head_dim}" + ("_causal" if causal else ""),
        "description": "Attention backward: gradients of q, k and v. The inputs o, lse and delta come from the "
                       "forward pass over the same q, k, v: o rounded to bfloat16, lse as mha_with_lse gives it, "
                       "delta the sum over head_dim of do times the rounded o. " + mask_sentence(causal),
        "op_type": "mha_bwd",
        "tags": attention_tags("mha_bwd", causal)
                + ["derived:o,lse,delta", "tolerance.dq:relative_norm", "tolerance.dk:relative_norm",
                   "tolerance.dv:relative_norm"],
        "axes": attention_axes(head_dim),
        "inputs": {
            "q": tensor(FULL, "bfloat16", "queries"),
            "k": tensor(FULL, "bfloat16", "keys"),
            "v": tensor(FULL, "bfloat16", "values"),
            "o": tensor(FULL, "bfloat16", "output of the forward pass"),
            "do": tensor(FULL, "bfloat16", "gradient of o"),
            "lse": tensor(ROWS, "float32", "natural log-sum-exp of each row of scaled scores"),
            "delta": tensor(ROWS, "float32", "row sums of do times o"),
        },
        "outputs": {name: tensor(FULL, "bfloat16", f"gradient of {name[1]}") for name in ("dq", "dk", "dv")},
        "constraints": CONSTRAINTS,
        "reference": BACKWARD_REFERENCE.format(mask=MASK if causal else ""),
    }


def write(definition, axis, values):
    operation, name = definition["op_type"], definition["name"]
    path = HERE / "definitions" / operation / f"{name}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(definition, indent=2) + "\n")
    lines = []
    for value in values:
        axes = {axis: value}
        content = name + json.dumps(axes, sort_keys=True)
        workload = {"uuid": str(uuid.uuid5(NAMESPACE, content)), "axes": axes,
                    "inputs": {key: {"type": "random"} for key in definition["inputs"]}}
        lines.append(json.dumps({"definition": name, "solution": None, "workload": workload,
                                 "evaluation": None}))
    path = HERE / "workloads" / operation / f"{name}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(lines) + "\n")


for sizes in GEMM_SIZES:
    write(gemm(*sizes), "M", GEMM_ROWS)
for causal in (False, True):
    for head_dim in (64, 96, 128, 256):
        write(forward(head_dim, causal), "seq_len", TOKENS)
    for head_dim in (64, 96, 128):
        write(backward(head_dim, causal), "seq_len", TOKENS)
