# SPDX-License-Identifier: Apache-2.0

"""Attention forward with log-sum-exp, and backward, in the form of the public PTXBench: tensors
[batch, heads, tokens, head dimension], names Q, K, V, O, dO, L. Its backward definitions call the head
dimension d, its forward ones D."""

from families.definition import const, tensor, var

TOKENS = [512, 1024, 2048, 4096, 8192, 16384]
# Queries and keys of different number: appended tokens, one new token, and more queries than keys.
# At most half of the rows are empty: more would leave little to compare. One query sees few keys: the
# LSE of many is nearly the same for each head, so its mean would pass.
LENGTHS = [(1024, 4096), (1536, 1024), (16, 4096), (1, 96), (200, 328)]

FORWARD = """\
import math

import torch


def run(Q, K, V):
    scores = Q.float() @ K.float().transpose(-1, -2) / math.sqrt(Q.shape[-1])
{mask}    LSE = torch.logsumexp(scores, dim=-1)
    P = torch.exp(scores - LSE.unsqueeze(-1)){empty}
    return (P @ V.float()).to(torch.bfloat16), LSE
"""

BACKWARD = """\
import math

import torch


def run(Q, K, V, O, dO, L):
    Q, K, V, O, dO = (x.float() for x in (Q, K, V, O, dO))
    scale = 1 / math.sqrt(Q.shape[-1])
    scores = Q @ K.transpose(-1, -2) * scale
{mask}    P = torch.exp(scores - L.unsqueeze(-1))
    delta = (dO * O).sum(-1, keepdim=True)
    dS = P * (dO @ V.transpose(-1, -2) - delta) * scale
    gradients = dS @ K, dS.transpose(-1, -2) @ Q, P.transpose(-1, -2) @ dO
    return tuple(x.to(torch.bfloat16) for x in gradients)
"""

MASK = """\
    rows, columns = scores.shape[-2:]
    hidden = torch.ones(rows, columns, dtype=torch.bool, device=scores.device).triu({diagonal})
    scores = scores.masked_fill(hidden, float("-inf"))
"""


def tags(family, causal, alignment, empty, heads=1):
    return [f"family:{family}", "layout:batch_head_token_dim", "alignment:256", "scale:rsqrt_head_dim",
            f"causal:{'true' if causal else 'false'}",
            f"causal_alignment:{alignment if causal else 'none'}", "lse:natural", f"empty_rows:{empty}",
            "accumulate:float32", "inputs:spiky", f"reduced:B=1,H={heads}"]


def mask_sentence(causal):
    if causal:
        return ("Causal: query i sees keys 0 to i, both counted from the start of the sequence, so that every "
                "row sees at least one key and no row is empty.")
    return "No mask: every query sees every key and no row is empty."


def axes(dim, head_dim):
    return {
        "B": const(4, "independent sequences"),
        "H": const(48, "attention heads"),
        dim: const(head_dim, "elements a head"),
        "S": var("tokens; queries and keys share this axis"),
    }


def constraints(dim):
    return ["B >= 1", "S >= 1", "H >= 1", f"{dim} % 16 == 0"]


def forward(head_dim, causal):
    full = ["B", "H", "S", "D"]
    return {
        "name": f"mha_with_lse_d{head_dim}" + ("_causal" if causal else ""),
        "description": "Attention forward: O = softmax(Q transpose(K) / sqrt(D)) V, and LSE, the natural "
                       "logarithm of the sum of exponentials of the scaled scores. Contiguous tensors aligned to "
                       "256 bytes. " + mask_sentence(causal),
        "op_type": "attention",
        "tags": tags("mha_with_lse", causal, "diagonal", "none")
                + ["masked:none", "tolerance.O:relative_norm", "tolerance.LSE:matched_ratio"],
        "axes": axes("D", head_dim),
        "inputs": {name: tensor(full, "bfloat16", what)
                   for name, what in (("Q", "queries"), ("K", "keys"), ("V", "values"))},
        "outputs": {
            "O": tensor(full, "bfloat16", "weighted values"),
            "LSE": tensor(full[:3], "float32", "log-sum-exp of each row of scaled scores"),
        },
        "constraints": constraints("D"),
        "reference": FORWARD.format(mask=MASK.format(diagonal=1) if causal else "", empty=""),
    }


def lengths(head_dim, causal):
    """Forward with a number of keys of its own."""
    queries, keys = ["B", "H", "Sq", "D"], ["B", "H", "Sk", "D"]
    sentence = ("Causal, aligned at the end: query i sees keys 0 to i + Sk - Sq. Where Sq exceeds Sk the first "
                "Sq - Sk queries see no key: their O is zero and their LSE, about which libraries differ, is "
                "masked." if causal else "No mask: every query sees every key and no row is empty.")
    return {
        "name": f"mha_with_lse_qk_d{head_dim}" + ("_causal" if causal else ""),
        "description": "Attention forward with Sq queries and Sk keys: O = softmax(Q transpose(K) / sqrt(D)) V, "
                       "and LSE, the natural logarithm of the sum of exponentials of the scaled scores. "
                       "Contiguous tensors aligned to 256 bytes. " + sentence,
        "op_type": "attention",
        "tags": tags("mha_with_lse", causal, "bottom_right", "o_zero,lse_masked" if causal else "none",
                     # A single query of a single head has one LSE, which is its own mean.
                     heads=4)
                + (["masked.LSE:i2 < Sq - Sk"] if causal else ["masked:none"])
                + ["tolerance.O:relative_norm", "tolerance.LSE:matched_ratio"],
        "axes": {
            "B": const(2, "independent sequences"),
            "H": const(16, "attention heads"),
            "D": const(head_dim, "elements a head"),
            "Sq": var("queries"),
            "Sk": var("keys"),
        },
        "inputs": {"Q": tensor(queries, "bfloat16", "queries"), "K": tensor(keys, "bfloat16", "keys"),
                   "V": tensor(keys, "bfloat16", "values")},
        "outputs": {
            "O": tensor(queries, "bfloat16", "weighted values"),
            "LSE": tensor(queries[:3], "float32", "log-sum-exp of each row of scaled scores"),
        },
        "constraints": ["B >= 1", "H >= 1", "Sq >= 1", "Sk >= 1", "D % 16 == 0"],
        "reference": FORWARD.format(mask=MASK.format(diagonal="1 + columns - rows") if causal else "",
                                    empty=".nan_to_num(0.0)" if causal else ""),
    }


def backward(head_dim, causal):
    full = ["B", "H", "S", "d"]
    return {
        "name": f"mha_bwd_d{head_dim}" + ("_causal" if causal else ""),
        "description": "Attention backward: gradients of Q, K and V. The inputs O and L come from the forward "
                       "pass over the same Q, K, V: O rounded to bfloat16, L the LSE that mha_with_lse gives. "
                       "Contiguous tensors aligned to 256 bytes. " + mask_sentence(causal),
        "op_type": "attention",
        "tags": tags("mha_bwd", causal, "diagonal", "none")
                + ["masked:none", "derived:O,L", "tolerance.dQ:relative_norm", "tolerance.dK:relative_norm",
                   "tolerance.dV:relative_norm"],
        "axes": axes("d", head_dim),
        "inputs": {
            "Q": tensor(full, "bfloat16", "queries"),
            "K": tensor(full, "bfloat16", "keys"),
            "V": tensor(full, "bfloat16", "values"),
            "O": tensor(full, "bfloat16", "output of the forward pass"),
            "dO": tensor(full, "bfloat16", "gradient of O"),
            "L": tensor(full[:3], "float32", "natural log-sum-exp of each row of scaled scores"),
        },
        "outputs": {name: tensor(full, "bfloat16", f"gradient of {name[1]}") for name in ("dQ", "dK", "dV")},
        "constraints": constraints("d"),
        "reference": BACKWARD.format(mask=MASK.format(diagonal=1) if causal else ""),
    }


def tasks():
    tokens = [{"S": count} for count in TOKENS]
    for causal in (False, True):
        for head_dim in (64, 96, 128, 256):
            yield forward(head_dim, causal), tokens
        for head_dim in (64, 96, 128):
            yield backward(head_dim, causal), tokens
        for head_dim in (64, 128):
            yield lengths(head_dim, causal), [{"Sq": queries, "Sk": keys} for queries, keys in LENGTHS]
