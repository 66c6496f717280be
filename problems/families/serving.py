# SPDX-License-Identifier: Apache-2.0

"""Attention of a server (GQA over pages or ragged, MLA over pages) in the form of public FlashInfer traces."""

from families.definition import const, tensor, var

LSE = "log-sum-exp of the scaled scores, base 2"

GQA = """\
import math

import torch


def run(q, {cache}{indices}sm_scale):
    output = torch.empty_like(q)
    lse = torch.empty(q.shape[:2], dtype=torch.float32, device=q.device)
    group = q.shape[1] // {values}.shape[-2]
    for s in range(len(kv_indptr) - 1):
{rows}        for h in range(q.shape[1]):
            k, v = keys[:, h // group].float(), values[:, h // group].float()
            scores = q[first:last, h].float() @ k.T * sm_scale
{mask}            lse[first:last, h] = torch.logsumexp(scores, -1) / math.log(2)
            output[first:last, h] = (torch.softmax(scores, -1) @ v).to(q.dtype)
    return output, lse
"""

MLA = """\
import math

import torch


def run(q_nope, q_pe, ckv_cache, kpe_cache, {indices}sm_scale):
    output = torch.empty_like(q_nope)
    lse = torch.empty(q_nope.shape[:2], dtype=torch.float32, device=q_nope.device)
    for s in range(len(kv_indptr) - 1):
{rows}        for h in range(q_nope.shape[1]):
            scores = q_nope[first:last, h].float() @ ckv.T + q_pe[first:last, h].float() @ kpe.T
            scores = scores * sm_scale
{mask}            lse[first:last, h] = torch.logsumexp(scores, -1) / math.log(2)
            output[first:last, h] = (torch.softmax(scores, -1) @ ckv).to(q_nope.dtype)
    return output, lse
"""

MASK = """\
            hidden = torch.ones_like(scores, dtype=torch.bool).triu(1 + len({keys}) - (last - first))
            scores = scores.masked_fill(hidden, float("-inf"))
"""

DECODE_ROWS = "        first, last = s, s + 1\n"
PREFILL_ROWS = "        first, last = int(qo_indptr[s]), int(qo_indptr[s + 1])\n"
PAGES = "        pages = kv_indices[kv_indptr[s]:kv_indptr[s + 1]].long()\n"
GQA_PAGES = PAGES + ("        keys = k_cache[pages].flatten(0, 1)\n"
                     "        values = v_cache[pages].flatten(0, 1)\n")
GQA_PARTIAL_PAGES = GQA_PAGES + (
    "        count = max(0, (len(pages) - 1) * k_cache.shape[1] + int(kv_last_page_len[s]))\n"
    "        keys, values = keys[:count], values[:count]\n")
GQA_RAGGED = ("        keys = k[kv_indptr[s]:kv_indptr[s + 1]]\n"
              "        values = v[kv_indptr[s]:kv_indptr[s + 1]]\n")
MLA_PAGES = PAGES + ("        ckv = ckv_cache[pages].flatten(0, 1).float()\n"
                     "        kpe = kpe_cache[pages].flatten(0, 1).float()\n")


def tags(family, prefill, kinds, reduced, empty=False):
    return [f"family:{family}", "layout:row_major", "alignment:256", "scale:sm_scale",
            f"causal:{'true' if prefill else 'false'}",
            f"causal_alignment:{'bottom_right' if prefill else 'none'}", "lse:base2",
            f"empty_rows:{'zeros lse=-inf' if empty else 'none'}",
            "accumulate:float32", "inputs:normal"] + [f"input.{name}:{kind}" for name, kind in kinds] + [
            "masked:none", "tolerance.output:relative_norm", "tolerance.lse:matched_ratio", f"reduced:{reduced}"]


def sentence(prefill, empty=False):
    if empty:
        return ("Causal, aligned at the end: the last query of a sequence sees its last key. " if prefill else
                "One query a sequence sees all its keys. ") + (
            "Sequences may have no keys: their queries get zeros, and minus infinity as log-sum-exp.")
    return ("Causal, aligned at the end: the last query of a sequence sees its last key. No sequence has fewer "
            "keys than queries, so that no row is empty." if prefill else
            "One query a sequence sees all its keys; no sequence is empty.")


def page_axes():
    return {"num_pages": var("pages of the cache"), "len_indptr": var("sequences + 1"),
            "num_kv_indices": var("pages in use")}


def index(axis, description):
    return tensor([axis], "int32", description)


def scale():
    return {"shape": None, "dtype": "float32", "description": "what scores are multiplied by"}


def page_kinds(prefill, page=1):
    kinds = [("kv_indptr", "offsets_above qo_indptr num_kv_indices" if prefill else "offsets num_kv_indices"),
             ("kv_indices", "distinct num_pages")]
    if page > 1:
        kinds = [("kv_indptr", "offsets_some_empty num_kv_indices" + (" qo_indptr page_size" if prefill else "")),
                 kinds[1], ("kv_last_page_len", "last_page kv_indptr page_size")]
    return ([("qo_indptr", "offsets total_q")] if prefill else []) + kinds


def page_inputs(prefill, page=1):
    inputs = {"kv_indptr": index("len_indptr", "first page of each sequence, and their number"),
              "kv_indices": index("num_kv_indices", "page numbers")}
    if page > 1:
        inputs["kv_last_page_len"] = index("num_sequences" if prefill else "batch_size",
                                           "tokens in the last page of each sequence; 0 where it has none")
    inputs["sm_scale"] = scale()
    if not prefill:
        return inputs
    return {"qo_indptr": index("len_indptr", "first query of each sequence, and their number")} | inputs


def constraints(prefill, page=1):
    if prefill and page > 1:
        return ["len_indptr >= 2", "len_indptr == num_sequences + 1", "num_pages >= num_kv_indices",
                "page_size * num_kv_indices >= total_q + 2 * page_size * len_indptr",
                "total_q >= len_indptr - 1"]
    return ["len_indptr >= 2", "num_pages >= num_kv_indices"] + (
        ["num_kv_indices >= total_q", "total_q >= len_indptr - 1"] if prefill else
        ["len_indptr == batch_size + 1", "num_kv_indices >= batch_size"])


def outputs(shape):
    return {"output": tensor(shape, "bfloat16", "weighted values"), "lse": tensor(shape[:2], "float32", LSE)}


def gqa_paged(heads, kv_heads, prefill, page=1):
    rows = "total_q" if prefill else "batch_size"
    several = page > 1
    name = f"gqa_paged_{'prefill_causal' if prefill else 'decode'}_h{heads}_kv{kv_heads}_d128_ps{page}"
    cache = ["num_pages", "page_size", "num_kv_heads", "head_dim"]
    query = [rows, "num_qo_heads", "head_dim"]
    return {
        "name": name,
        "description": "Grouped-query attention over a cache of pages. " + sentence(prefill, several),
        "op_type": "gqa_paged",
        "tags": tags("gqa_paged_prefill" if prefill else "gqa_paged_decode", prefill, page_kinds(prefill, page),
                     f"num_qo_heads={2 * heads // kv_heads},num_kv_heads=2", several),
        "axes": {rows: var("queries of all sequences"), "num_qo_heads": const(heads, "query heads"),
                 "num_kv_heads": const(kv_heads, "key and value heads"), "head_dim": const(128, "elements a head"),
                 "page_size": const(page, "tokens a page")} | page_axes()
                | ({"num_sequences": var("sequences")} if several and prefill else {}),
        "inputs": {"q": tensor(query, "bfloat16", "queries"), "k_cache": tensor(cache, "bfloat16", "keys"),
                   "v_cache": tensor(cache, "bfloat16", "values")} | page_inputs(prefill, page),
        "outputs": outputs(query),
        "constraints": constraints(prefill, page) + ["num_qo_heads % num_kv_heads == 0"],
        "reference": GQA.format(cache="k_cache, v_cache, ", values="v_cache",
                                indices=("qo_indptr, " if prefill else "") + "kv_indptr, kv_indices, "
                                + ("kv_last_page_len, " if several else ""),
                                rows=(PREFILL_ROWS if prefill else DECODE_ROWS)
                                + (GQA_PARTIAL_PAGES if several else GQA_PAGES),
                                mask=MASK.format(keys="k") if prefill else ""),
    }


def gqa_ragged(heads, kv_heads, empty=False):
    query, keys = ["total_q", "num_qo_heads", "head_dim"], ["total_kv", "num_kv_heads", "head_dim"]
    kinds = [("qo_indptr", "offsets total_q"), ("kv_indptr", "offsets_above qo_indptr total_kv")]
    if empty:
        kinds[1] = ("kv_indptr", "offsets_some_empty total_kv qo_indptr 1")
    return {
        "name": f"gqa_ragged_prefill_causal_h{heads}_kv{kv_heads}_d128" + ("_empty" if empty else ""),
        "description": "Grouped-query attention over sequences that lie behind each other. " + sentence(True, empty),
        "op_type": "gqa_ragged",
        "tags": tags("gqa_ragged_prefill", True, kinds,
                     f"num_qo_heads={2 * heads // kv_heads},num_kv_heads=2", empty),
        "axes": {"total_q": var("queries of all sequences"), "total_kv": var("keys of all sequences"),
                 "len_indptr": var("sequences + 1"), "num_qo_heads": const(heads, "query heads"),
                 "num_kv_heads": const(kv_heads, "key and value heads"), "head_dim": const(128, "elements a head")},
        "inputs": {"q": tensor(query, "bfloat16", "queries"), "k": tensor(keys, "bfloat16", "keys"),
                   "v": tensor(keys, "bfloat16", "values"),
                   "qo_indptr": index("len_indptr", "first query of each sequence, and their number"),
                   "kv_indptr": index("len_indptr", "first key of each sequence, and their number"),
                   "sm_scale": scale()},
        "outputs": outputs(query),
        "constraints": ["len_indptr >= 2", "total_kv >= total_q", "total_q >= len_indptr - 1",
                        "num_qo_heads % num_kv_heads == 0"],
        "reference": GQA.format(cache="k, v, ", values="v", indices="qo_indptr, kv_indptr, ",
                                rows=PREFILL_ROWS + GQA_RAGGED, mask=MASK.format(keys="k")).replace(
            "k, v = keys", "k_head, v_head = keys").replace("@ k.T", "@ k_head.T").replace(
            "@ v).to", "@ v_head).to").replace("len(k)", "len(k_head)"),
    }


def mla_paged(prefill):
    rows = "total_q" if prefill else "batch_size"
    query = [rows, "num_qo_heads", "head_dim_ckv"]
    return {
        "name": f"mla_paged_{'prefill_causal' if prefill else 'decode'}_h16_ckv512_kpe64_ps1",
        "description": "Multi-head latent attention over a cache of pages: all heads share one compressed key, which "
                       "is also the value, and one positional key. " + sentence(prefill),
        "op_type": "mla_paged",
        "tags": tags("mla_paged_prefill" if prefill else "mla_paged_decode", prefill, page_kinds(prefill),
                     "num_qo_heads=2"),
        "axes": {rows: var("queries of all sequences"), "num_qo_heads": const(16, "query heads"),
                 "head_dim_ckv": const(512, "elements of a compressed key"),
                 "head_dim_kpe": const(64, "elements of a positional key"),
                 "page_size": const(1, "tokens a page")} | page_axes(),
        "inputs": {"q_nope": tensor(query, "bfloat16", "queries of compressed keys"),
                   "q_pe": tensor([rows, "num_qo_heads", "head_dim_kpe"], "bfloat16", "queries of positional keys"),
                   "ckv_cache": tensor(["num_pages", "page_size", "head_dim_ckv"], "bfloat16", "compressed keys"),
                   "kpe_cache": tensor(["num_pages", "page_size", "head_dim_kpe"], "bfloat16", "positional keys")}
                  | page_inputs(prefill),
        "outputs": outputs(query),
        "constraints": constraints(prefill),
        "reference": MLA.format(indices=("qo_indptr, " if prefill else "") + "kv_indptr, kv_indices, ",
                                rows=(PREFILL_ROWS if prefill else DECODE_ROWS) + MLA_PAGES,
                                mask=MASK.format(keys="ckv") if prefill else ""),
    }


def decode_rows():
    return [{"batch_size": batch, "num_pages": pages + 64, "len_indptr": batch + 1, "num_kv_indices": pages}
            for batch, pages in ((1, 128), (1, 4096), (16, 8192), (64, 32768))]


def prefill_rows():
    return [{"total_q": queries, "num_pages": pages + 64, "len_indptr": count + 1, "num_kv_indices": pages}
            for count, queries, pages in ((1, 7, 64), (2, 512, 2048), (8, 4096, 4096), (16, 8192, 16384))]


def ragged_rows():
    return [{"total_q": queries, "total_kv": keys, "len_indptr": count + 1}
            for count, queries, keys in ((1, 7, 64), (2, 512, 2048), (8, 4096, 4096), (16, 8192, 16384))]


def several_decode_rows():
    return [{"batch_size": batch, "num_pages": pages + 16, "len_indptr": batch + 1, "num_kv_indices": pages}
            for batch, pages in ((1, 8), (16, 512), (64, 2048))]


def several_prefill_rows():
    return [{"total_q": queries, "num_pages": pages + 16, "len_indptr": count + 1, "num_sequences": count,
             "num_kv_indices": pages}
            for count, queries, pages in ((1, 7, 8), (8, 512, 128), (16, 4096, 512))]


# The scale of each definition, by its name's beginning: 1 / sqrt(128), and of keys of 128 + 64 elements.
SCALARS = {"gqa": {"sm_scale": 128 ** -0.5}, "mla": {"sm_scale": 192 ** -0.5}}


def tasks():
    for heads, kv_heads in ((32, 4), (32, 8)):
        yield gqa_paged(heads, kv_heads, False), decode_rows()
        yield gqa_paged(heads, kv_heads, True), prefill_rows()
        yield gqa_ragged(heads, kv_heads), ragged_rows()
    yield gqa_paged(32, 8, False, page=16), several_decode_rows()
    yield gqa_paged(32, 8, True, page=16), several_prefill_rows()
    yield gqa_ragged(32, 8, empty=True), ragged_rows()[1:]
    yield mla_paged(False), decode_rows()
    yield mla_paged(True), prefill_rows()
