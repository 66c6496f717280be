# SPDX-License-Identifier: Apache-2.0
"""What the recipe does to rows before a trainer sees them: pure functions, tested without any package.

A conversation becomes token ids and labels in which only the last assistant message counts; several
conversations are packed into one sequence of the training length without crossing its end.
"""

IGNORED = -100  # the label that Transformers' loss leaves out


def render(messages):
    """ChatML parts as (text, counts): only the last assistant message and its end count for the loss."""
    last = max((i for i, m in enumerate(messages) if m["role"] == "assistant"), default=None)
    if last is None or last != len(messages) - 1:
        raise ValueError("the last message of a training row must be the assistant's")
    parts = []
    for i, message in enumerate(messages):
        parts.append((f"<|im_start|>{message['role']}\n", False))
        parts.append((f"{message['content']}<|im_end|>", i == last))
        parts.append(("\n", False))
    return parts


def encode(messages, tokenize):
    """Ids and labels of a conversation. `tokenize` gives the ids of a text, without special tokens added."""
    ids, labels = [], []
    for text, counts in render(messages):
        part = tokenize(text)
        ids += part
        labels += part if counts else [IGNORED] * len(part)
    return ids, labels


def pack(lengths, limit):
    """First-fit decreasing: lists of row numbers whose lengths sum to at most `limit` each.

    A row that is longer than the limit is in no list; the caller says so instead of cutting it.
    """
    bins, free = [], []
    for index in sorted((i for i, n in enumerate(lengths) if n <= limit), key=lambda i: (-lengths[i], i)):
        for number, space in enumerate(free):
            if lengths[index] <= space:
                bins[number].append(index)
                free[number] -= lengths[index]
                break
        else:
            bins.append([index])
            free.append(limit - lengths[index])
    return bins


def packed_row(rows, indices):
    """One sequence of several conversations; positions start again with each, which is how attention
    kernels for packed sequences are told where one ends."""
    packed = {"input_ids": [], "labels": [], "position_ids": []}
    for index in indices:
        ids, labels = rows[index]
        packed["input_ids"] += ids
        # The first token of a conversation must not be predicted from the one before it.
        packed["labels"] += [IGNORED] + labels[1:]
        packed["position_ids"] += list(range(len(ids)))
    return packed


def updates(sequences, processes, accumulation, epochs):
    """Optimiser steps of a run: runs over other data are comparable at equal counts only."""
    per_epoch = -(-sequences // (processes * accumulation))
    return per_epoch * epochs


def best_checkpoint(measured):
    """The checkpoint to keep: most tasks solved and audited, then most solved, then least loss.

    `measured` maps a step to {"audited", "solved", "loss"}. None, a measurement that was not made, is
    worse than any number; a step without a single one cannot be chosen.
    """
    def key(step):
        one = measured[step]
        worst = float("-inf")
        return tuple(worst if v is None else v
                     for v in (one["audited"], one["solved"], None if one["loss"] is None else -one["loss"]))

    usable = [s for s in measured if any(measured[s][k] is not None for k in ("audited", "solved", "loss"))]
    return max(usable, key=lambda s: (key(s), -s)) if usable else None
