# SPDX-License-Identifier: Apache-2.0

"""C = A * transpose(B) in bfloat16."""

from families.definition import PUBLIC, const, tensor, var

SIZES = [
    (128, 2048), (256, 7168), (2048, 4096), (2048, 5376), (4096, 4096), (4096, 5376),
    (4096, 14336), (5120, 2048), (5120, 5120), (5120, 17408), (5376, 4096), (5376, 21504),
    (6144, 4096), (7168, 5120), (21504, 5376), (28672, 4096), (34816, 5120),
]
ROWS = [1, 16, 70, 232, 972, 2379, 8192]

REFERENCE = """\
import torch


def run(A, B):
    return (A.float() @ B.float().T).to(torch.bfloat16)
"""


def definition(n, k):
    return {
        "name": f"gemm_n{n}_k{k}",
        "description": "C = A * transpose(B). Row-major, contiguous, every tensor aligned to 256 bytes. "
                       "Products are summed in float32 or better and rounded once to bfloat16. No masked "
                       "positions: every element of C is written.",
        "op_type": "gemm",
        "tags": ["family:gemm", "layout:row_major", "alignment:256", "accumulate:float32",
                 "inputs:normal,uniform", "reduced:M=64,N=128", "tolerance.C:matched_ratio", "masked:none"],
        "axes": {
            "M": var("rows of A and C"),
            "N": const(n, "rows of B, columns of C"),
            "K": const(k, "columns of A and B"),
        },
        "inputs": {
            "A": tensor(["M", "K"], "bfloat16", "left operand"),
            "B": tensor(["N", "K"], "bfloat16", "right operand, transposed"),
        },
        "outputs": {"C": tensor(["M", "N"], "bfloat16", "product")},
        "constraints": ["M >= 1", "N % 8 == 0", "K % 8 == 0"],
        "reference": REFERENCE,
    }


def tasks():
    """Our rows, and those of public trace sets."""
    for n, k in SIZES:
        made = definition(n, k)
        public = [int(key.removeprefix("M=")) for key in PUBLIC.get(made["name"], {})]
        yield made, [{"M": rows} for rows in sorted(set(ROWS + public))]
