#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""LoRA on the rows of `ptxbench sft build`: rank 32, loss on the last assistant message, packed sequences.

    accelerate launch --num_processes 8 recipes/lora/train.py --model /models/Qwen3.6-27B --data runs/rows --output runs/lora
    python3 recipes/lora/train.py --tiny --model runs/tokenizer --data runs/rows --output runs/tiny --length 8192

--tiny takes only the tokenizer from --model (small_tokenizer.py makes one) and trains a small Qwen3 with random
weights, kept in OUTPUT/base, to see that the machinery works: the loss falls, the checkpoint loads again.
--updates trains for so many optimiser steps whatever the data, which is how two data sets are compared.
"""
import argparse
import importlib.util
import json
import sys
from pathlib import Path

import torch
from accelerate import PartialState
from peft import LoraConfig, get_peft_model
from transformers import (AutoModelForCausalLM, AutoTokenizer, Qwen3Config, Qwen3ForCausalLM, Trainer,
                          TrainerCallback, TrainingArguments)

import rows


def read_rows(path, tokenizer, length):
    """Packed sequences of a JSONL file, and what was left out because it is too long."""
    encoded, names = [], []
    for line in path.read_text().splitlines():
        row = json.loads(line)
        encoded.append(rows.encode(row["messages"],
                                   lambda text: tokenizer(text, add_special_tokens=False)["input_ids"]))
        names.append(row["id"])
    lengths = [len(ids) for ids, _ in encoded]
    sequences = [rows.packed_row(encoded, indices) for indices in rows.pack(lengths, length)]
    return sequences, [name for name, n in zip(names, lengths) if n > length]


def collate(batch):
    # One packed sequence a process: nothing is padded, and positions that start again part the rows.
    if len(batch) != 1:
        raise ValueError("packed sequences come one at a time; use --accumulation for larger batches")
    return {name: torch.tensor([values]) for name, values in batch[0].items()}


def load_model(options, tokenizer):
    path = options.model
    if options.tiny:
        # Random weights that a checkpoint's adapter belongs to: made once, read again when a run goes on.
        path = options.output / "base"
        with PartialState().main_process_first():
            if not (path / "config.json").exists():
                torch.manual_seed(options.seed)
                Qwen3ForCausalLM(Qwen3Config(
                    vocab_size=len(tokenizer), hidden_size=256, intermediate_size=768, num_hidden_layers=4,
                    num_attention_heads=4, num_key_value_heads=2, head_dim=64,
                    max_position_embeddings=options.length)).save_pretrained(path)
                tokenizer.save_pretrained(path)
    attention = "flash_attention_2" if importlib.util.find_spec("flash_attn") else "sdpa"
    return AutoModelForCausalLM.from_pretrained(path, dtype=torch.float32 if options.tiny else torch.bfloat16,
                                                attn_implementation=attention)


def last_row(sequence):
    """Where the last of a packed sequence's rows begins."""
    return max(i for i, position in enumerate(sequence["position_ids"]) if position == 0)


def apart(model, sequence, start):
    """How far the logits of the row that begins at `start` and ends the sequence are from those of the same row
    alone, relative to their spread: 0 but for rounding (a few hundredths in bfloat16) when rows do not read each other.
    """
    device = next(model.parameters()).device

    def logits(ids, positions):
        with torch.no_grad():
            return model(input_ids=torch.tensor([ids], device=device),
                         position_ids=torch.tensor([positions], device=device), use_cache=False).logits[0].float()

    ids = sequence["input_ids"]
    alone = logits(ids[start:], list(range(len(ids) - start)))
    packed = logits(ids, sequence["position_ids"])[start:]
    return float((packed - alone).pow(2).mean().sqrt() / alone.std())


class KeepLosses(TrainerCallback):
    """Writes every logged number as it comes, one JSON object a line."""

    def __init__(self, path):
        self.path = path

    def on_log(self, arguments, state, control, logs=None, **_):
        if state.is_world_process_zero and logs:
            with self.path.open("a") as file:
                file.write(json.dumps({"step": state.global_step, **logs}) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", required=True, help="folder of the model, or of its tokenizer with --tiny")
    parser.add_argument("--data", required=True, type=Path, help="folder that ptxbench sft build wrote")
    parser.add_argument("--output", required=True, type=Path)
    parser.add_argument("--tiny", action="store_true")
    parser.add_argument("--length", type=int, default=65536)
    parser.add_argument("--rank", type=int, default=32)
    parser.add_argument("--rate", type=float, default=1e-4)
    parser.add_argument("--accumulation", type=int, default=4)
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--updates", type=int, help="optimiser steps, instead of epochs")
    parser.add_argument("--every", type=int, default=20, help="optimiser steps between checkpoints")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()

    options.output.mkdir(parents=True, exist_ok=True)
    tokenizer = AutoTokenizer.from_pretrained(options.model)
    train, too_long = read_rows(options.data / "train.jsonl", tokenizer, options.length)
    validation, _ = read_rows(options.data / "validation.jsonl", tokenizer, options.length)
    model = load_model(options, tokenizer)
    model.config.use_cache = False
    model.enable_input_require_grads()  # checkpointed activations need a gradient at the frozen inputs
    model.to(PartialState().device).eval()
    packed = next((sequence for sequence in train if last_row(sequence) > 0), None)
    distance = None if packed is None else apart(model, packed, last_row(packed))
    if distance is not None and distance > 0.2:
        sys.exit(f"packed rows read each other (their logits are {distance:.2f} of a spread off); "
                 "install FlashAttention, or a version of Transformers whose attention reads position_ids")
    # Random embeddings mean nothing, so a tiny model learns its own.
    model = get_peft_model(model, LoraConfig(r=options.rank, lora_alpha=2 * options.rank, lora_dropout=0.0,
                                             target_modules="all-linear", task_type="CAUSAL_LM",
                                             modules_to_save=["embed_tokens", "lm_head"] if options.tiny else None))
    planned = options.updates or rows.updates(len(train), PartialState().num_processes, options.accumulation,
                                              options.epochs)
    arguments = TrainingArguments(
        output_dir=str(options.output), per_device_train_batch_size=1, per_device_eval_batch_size=1,
        gradient_accumulation_steps=options.accumulation, num_train_epochs=options.epochs,
        max_steps=options.updates or -1, learning_rate=options.rate, lr_scheduler_type="cosine",
        warmup_steps=max(1, planned * 3 // 100),
        bf16=True, gradient_checkpointing=True, logging_steps=1, save_strategy="steps", save_steps=options.every,
        eval_strategy="steps" if validation else "no", eval_steps=options.every, seed=options.seed, report_to="none",
        remove_unused_columns=False, ddp_find_unused_parameters=False)
    (options.output / "plan.json").write_text(json.dumps(
        {"options": {k: str(v) for k, v in vars(options).items()}, "sequences": len(train), "updates": planned,
         "too_long": too_long, "packed_rows_differ_by": distance}, indent=2))
    trainer = Trainer(model=model, args=arguments, train_dataset=train, eval_dataset=validation or None,
                      data_collator=collate, callbacks=[KeepLosses(options.output / "losses.jsonl")])
    trainer.train(resume_from_checkpoint=any(options.output.glob("checkpoint-*")) or None)
    trainer.save_model(str(options.output / "last"))


if __name__ == "__main__":
    main()
