# SPDX-License-Identifier: Apache-2.0

"""Gated delta net (decode, multi-token decode, prefill) in the form of public FlashInfer traces, with the workloads
that the public PTXBench selects."""

from families.definition import const, tensor, var

RULE = ("S = g S; u = beta (v - S k); S = S + u k'; output = scale S q, with g = exp(-exp(A_log) softplus(a + "
        "dt_bias)) and beta = sigmoid(b). S is (values x keys). Value heads share query and key heads in equal "
        "groups. ")

STEP = """\
def gates(A_log, a, dt_bias, b):
    g = torch.exp(-torch.exp(A_log) * torch.nn.functional.softplus(a.float() + dt_bias.float()))
    return g, torch.sigmoid(b.float())


def step(S, q, k, v, g, beta, scale):
    \"\"\"One token of all value heads; S (heads, values, keys) is updated in place.\"\"\"
    q, k = (x.float().repeat_interleave(S.shape[0] // x.shape[0], 0) for x in (q, k))
    S *= g[:, None, None]
    u = beta[:, None] * (v.float() - torch.einsum("hvk,hk->hv", S, k))
    S += u[:, :, None] * k[:, None, :]
    return (scale * torch.einsum("hvk,hk->hv", S, q)).to(torch.bfloat16)
"""

DECODE = """\
import torch


{step}

def run(q, k, v, state, A_log, a, dt_bias, b, scale):
    g, beta = gates(A_log, a, dt_bias, b)
    new_state, output = state.clone(), torch.empty_like(v)
    for s in range(len(q)):
        output[s, 0] = step(new_state[s], q[s, 0], k[s, 0], v[s, 0], g[s, 0], beta[s, 0], scale)
    return output, new_state
"""

MTP = """\
import torch


{step}

def run(q, k, v, initial_state, initial_state_indices, A_log, a, dt_bias, b, scale):
    g, beta = gates(A_log, a, dt_bias, b)
    output = torch.empty_like(v)
    for s in range(len(q)):
        S = initial_state[initial_state_indices[s]].clone()
        for t in range(q.shape[1]):
            output[s, t] = step(S, q[s, t], k[s, t], v[s, t], g[s, t], beta[s, t], scale)
    return output, initial_state.clone()
"""

PREFILL = """\
import torch


{step}

def run(q, k, v, state, A_log, a, dt_bias, b, cu_seqlens, scale):
    g, beta = gates(A_log, a, dt_bias, b)
    new_state, output = state.clone(), torch.empty_like(v)
    for s in range(len(cu_seqlens) - 1):
        for t in range(int(cu_seqlens[s]), int(cu_seqlens[s + 1])):
            output[t] = step(new_state[s], q[t], k[t], v[t], g[t], beta[t], scale)
    return output, new_state
"""


def axes(qk, v):
    return {"num_q_heads": const(qk, "query heads"), "num_k_heads": const(qk, "key heads"),
            "num_v_heads": const(v, "value heads"), "head_size": const(128, "elements a head")}


def scale():
    return {"shape": None, "dtype": "float32", "description": "what outputs are multiplied by"}


def state(extent, description):
    return tensor([extent, "num_v_heads", "head_size", "head_size"], "float32", description)


def tokens(lead):
    """q, k, v and the gates' inputs of tokens that these axes count."""
    made = {name: tensor(lead + [f"num_{name}_heads", "head_size"], "bfloat16", what)
            for name, what in (("q", "queries"), ("k", "keys of length 1"), ("v", "values"))}
    gates = {"A_log": tensor(["num_v_heads"], "float32", "logarithm of the decay"),
             "a": tensor(lead + ["num_v_heads"], "bfloat16", "decay by token"),
             "dt_bias": tensor(["num_v_heads"], "float32", "bias of a"),
             "b": tensor(lead + ["num_v_heads"], "bfloat16", "update gate by token")}
    return made, gates


def tags(family, reduced, extra=()):
    return [f"family:{family}", "layout:row_major", "alignment:256", "state:k_last", "accumulate:float32",
            "inputs:normal", "input.q:unit", "input.k:unit", "input.A_log:uniform 1", "masked:none",
            "tolerance.output:relative_norm", f"reduced:{reduced}", *extra]


def new_state_tags():
    return ["tolerance.new_state:relative_norm"]


def decode(qk, v):
    made, gates = tokens(["batch_size", "seq_len"])
    return {
        "name": f"gdn_decode_qk{qk}_v{v}_d128_k_last",
        "description": "Gated delta net, one token a sequence: " + RULE,
        "op_type": "gdn",
        "tags": tags("gdn_decode", "batch_size=2,num_q_heads=1,num_k_heads=1,num_v_heads=2", new_state_tags()),
        "axes": {"batch_size": var("sequences"), "seq_len": const(1, "tokens a sequence")} | axes(qk, v),
        "inputs": made | {"state": state("batch_size", "state before")} | gates | {"scale": scale()},
        "outputs": {"output": tensor(["batch_size", "seq_len", "num_v_heads", "head_size"], "bfloat16", "outputs"),
                    "new_state": state("batch_size", "state after")},
        "constraints": ["num_v_heads % num_q_heads == 0", "num_k_heads == num_q_heads", "seq_len == 1"],
        "reference": DECODE.format(step=STEP),
    }


def mtp(qk, v):
    made, gates = tokens(["batch_size", "seq_len"])
    return {
        "name": f"gdn_mtp_qk{qk}_v{v}_d128_k_last",
        "description": "Gated delta net, several proposed tokens a sequence, whose states come from a pool: " + RULE
                       + "The tokens are not accepted yet, so that the pool comes back unchanged.",
        "op_type": "gdn",
        "tags": tags("gdn_mtp", "num_q_heads=1,num_k_heads=1,num_v_heads=2,pool_size=4,batch_size=3",
                     ["input.initial_state_indices:distinct pool_size", "copy.final_state:initial_state",
                      "tolerance.final_state:relative_norm"]),
        "axes": {"batch_size": var("sequences"), "seq_len": var("tokens a sequence")} | axes(qk, v)
                | {"pool_size": var("states in the pool")},
        "inputs": made | {"initial_state": state("pool_size", "pool of states"),
                          "initial_state_indices": tensor(["batch_size"], "int32", "state of each sequence")}
                  | gates | {"scale": scale()},
        "outputs": {"output": tensor(["batch_size", "seq_len", "num_v_heads", "head_size"], "bfloat16", "outputs"),
                    "final_state": state("pool_size", "the pool")},
        "constraints": ["num_v_heads % num_q_heads == 0", "num_k_heads == num_q_heads", "seq_len > 1",
                        "pool_size >= batch_size"],
        "reference": MTP.format(step=STEP),
    }


def prefill(qk, v):
    made, gates = tokens(["total_seq_len"])
    return {
        "name": f"gdn_prefill_qk{qk}_v{v}_d128_k_last",
        "description": "Gated delta net over sequences that lie behind each other: " + RULE,
        "op_type": "gdn",
        "tags": tags("gdn_prefill", "num_q_heads=1,num_k_heads=1,num_v_heads=2",
                     new_state_tags() + ["input.cu_seqlens:offsets total_seq_len"]),
        "axes": {"total_seq_len": var("tokens of all sequences"), "num_seqs": var("sequences")} | axes(qk, v)
                | {"len_cu_seqlens": var("sequences + 1")},
        "inputs": made | {"state": state("num_seqs", "state before")} | gates
                  | {"cu_seqlens": tensor(["len_cu_seqlens"], "int64", "first token of each sequence, and their number"),
                     "scale": scale()},
        "outputs": {"output": tensor(["total_seq_len", "num_v_heads", "head_size"], "bfloat16", "outputs"),
                    "new_state": state("num_seqs", "state after")},
        "constraints": ["num_v_heads % num_q_heads == 0", "num_k_heads == num_q_heads",
                        "len_cu_seqlens == num_seqs + 1", "total_seq_len >= num_seqs"],
        "reference": PREFILL.format(step=STEP),
    }


# 1 / sqrt(128) for all of them.
SCALARS = {"gdn": {"scale": 128 ** -0.5}}


def tasks():
    for qk, v, most in ((4, 8, 57), (8, 16, 51)):
        yield decode(qk, v), [{"batch_size": batch} for batch in (1, 4, 8, 16, 32, 64)]
        yield mtp(qk, v), [{"batch_size": batch, "seq_len": 4, "pool_size": 49} for batch in (1, 4, 8, 16, 32, 48)]
        yield prefill(qk, v), [{"total_seq_len": count, "num_seqs": sequences, "len_cu_seqlens": sequences + 1}
                               for count, sequences in ((6, 1), (32, 2), (401, 4), (959, 4), (3271, 2), (8192, most))]
