# SPDX-License-Identifier: Apache-2.0

"""FP8 in the form of the public PTXBench: GEMM nt with 1x128 scales of A and 128x128 scales of B, and attention
forward with a scale a tensor. Beside it GEMM with 1x128 scales of both operands, as training needs it."""

from families.definition import const, tensor, var

GEMM_SIZES = [(24576, 1536), (32768, 512), (7168, 16384), (4096, 7168), (7168, 2048)]
ROW_SCALED_SIZES = [(4096, 7168), (7168, 2048)]
ROWS = [64, 1024, 4096]
TOKENS = [512, 1024, 2048, 4096, 8192, 16384]

GEMM = """\
import torch


def run(A, SF_A, B, SF_B):
    a = A.float() * SF_A.repeat_interleave(128, 1)
    b = B.float() * SF_B{rows}.repeat_interleave(128, 1)
    return (a @ b.T).to(torch.bfloat16)
"""

ATTENTION = """\
import math

import torch


def run(Q, K, V, descale_q, descale_k, descale_v):
    scores = Q.float() @ K.float().transpose(-1, -2) * (descale_q * descale_k) / math.sqrt(Q.shape[-1])
{mask}    LSE = torch.logsumexp(scores, dim=-1)
    P = torch.exp(scores - LSE.unsqueeze(-1))
    return (P @ V.float() * descale_v).to(torch.float8_e4m3fn), LSE
"""

MASK = """\
    rows, columns = scores.shape[-2:]
    hidden = torch.ones(rows, columns, dtype=torch.bool, device=scores.device).triu(1)
    scores = scores.masked_fill(hidden, float("-inf"))
"""


def gemm(n, k, row_scaled=False):
    scale_rows = "n" if row_scaled else "num_nblock"
    return {
        "name": f"fp8_gemm_nt_{'1d1d' if row_scaled else '1d2d'}_n{n}_k{k}",
        "description": "D = A * transpose(B) with e4m3 operands. " + (
                           "A and B have a scale for each row and 128 columns; " if row_scaled else
                           "A has a scale for each row and 128 columns, B one for each 128 x 128 block; ") +
                       "a product of 128 columns is summed in float32, multiplied by both "
                       "scales and added up in float32. Row-major, contiguous, aligned to 256 bytes.",
        "op_type": "gemm",
        "tags": ["family:fp8_gemm", "layout:row_major", "alignment:256", "accumulate:float32", "inputs:normal",
                 "input.A:quantized normal 1 128", "input.SF_A:scales_of A",
                 f"input.B:quantized normal {1 if row_scaled else 128} 128", "input.SF_B:scales_of B", "masked:none", "tolerance.D:matched_ratio",
                 "reduced:m=32,n=128" + ("" if row_scaled else ",num_nblock=1")],
        "axes": {
            "m": var("rows of A and D"),
            "n": const(n, "rows of B, columns of D"),
            "k": const(k, "columns of A and B"),
            **({} if row_scaled else {"num_nblock": const(n // 128, "blocks of 128 rows of B")}),
            "num_kblock": const(k // 128, "blocks of 128 columns"),
        },
        "inputs": {
            "A": tensor(["m", "k"], "float8_e4m3fn", "left operand"),
            "SF_A": tensor(["m", "num_kblock"], "float32", "scales of A"),
            "B": tensor(["n", "k"], "float8_e4m3fn", "right operand, transposed"),
            "SF_B": tensor([scale_rows, "num_kblock"], "float32", "scales of B"),
        },
        "outputs": {"D": tensor(["m", "n"], "bfloat16", "product")},
        "constraints": ([] if row_scaled else ["n == 128 * num_nblock"]) + ["k == 128 * num_kblock"],
        "reference": GEMM.format(rows="" if row_scaled else ".repeat_interleave(128, 0)"),
    }


def attention(head_dim, causal):
    full = ["B", "H", "L", "D"]
    one = ["one"] * 4
    return {
        "name": f"fp8_mha_with_lse_d{head_dim}" + ("_causal" if causal else ""),
        "description": "Attention forward with e4m3 operands: O = softmax(Q transpose(K) descale_q descale_k / "
                       "sqrt(D)) V descale_v, rounded to e4m3 without a scale, and LSE, the natural logarithm of the "
                       "sum of exponentials. Kernels round the probabilities to e4m3 for the second product. "
                       + ("Causal: query i sees keys 0 to i, so that no row is empty." if causal else
                          "No mask: no row is empty."),
        "op_type": "attention",
        "tags": ["family:fp8_mha_with_lse", "layout:batch_head_token_dim", "alignment:256", "scale:rsqrt_head_dim",
                 f"causal:{'true' if causal else 'false'}",
                 f"causal_alignment:{'diagonal' if causal else 'none'}", "lse:natural", "empty_rows:none",
                 "accumulate:float32", "inputs:spiky"]
                + ["input.Q:quantized spiky 0 0", "input.K:quantized spiky 0 0", "input.V:quantized spiky 0 0 4"]
                + [f"input.descale_{name}:scales_of {name.upper()}" for name in "qkv"]
                + ["masked:none", "tolerance.O:relative_norm",
                   "tolerance.LSE:matched_ratio", "reduced:B=1,H=1"],
        "axes": {
            "B": const(4, "independent sequences"),
            "H": const(48, "attention heads"),
            "D": const(head_dim, "elements a head"),
            "L": var("tokens; queries and keys share this axis"),
            "one": const(1, "extent of a scale"),
        },
        "inputs": {
            "Q": tensor(full, "float8_e4m3fn", "queries"),
            "K": tensor(full, "float8_e4m3fn", "keys"),
            "V": tensor(full, "float8_e4m3fn", "values"),
            "descale_q": tensor(one, "float32", "what Q is to be multiplied by"),
            "descale_k": tensor(one, "float32", "what K is to be multiplied by"),
            "descale_v": tensor(one, "float32", "what V is to be multiplied by"),
        },
        "outputs": {
            "O": tensor(full, "float8_e4m3fn", "weighted values"),
            "LSE": tensor(full[:3], "float32", "natural log-sum-exp of each row of scaled scores"),
        },
        "constraints": ["B >= 1", "H >= 1", "L >= 1", "D % 16 == 0", "one == 1"],
        "reference": ATTENTION.format(mask=MASK if causal else ""),
    }


def tasks():
    for n, k in GEMM_SIZES:
        yield gemm(n, k), [{"m": rows} for rows in ROWS]
    for n, k in ROW_SCALED_SIZES:
        yield gemm(n, k, row_scaled=True), [{"m": rows} for rows in ROWS]
    for causal in (False, True):
        for head_dim in (64, 96, 128, 256):
            yield attention(head_dim, causal), [{"L": tokens} for tokens in TOKENS]
