#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A small byte-level BPE tokenizer of the rows themselves, for `train.py --tiny` where no model's is at hand.

    python3 recipes/lora/small_tokenizer.py --data runs/rows --output runs/tokenizer

Its tokenizer.json also serves `ptxbench sft build --tokenizer`.
"""
import argparse
import json
from pathlib import Path

from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import PreTrainedTokenizerFast


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", required=True, type=Path, help="folder that ptxbench sft build wrote")
    parser.add_argument("--output", required=True, type=Path)
    parser.add_argument("--size", type=int, default=8192, help="of the vocabulary")
    options = parser.parse_args()
    texts = [message["content"] for line in (options.data / "train.jsonl").read_text().splitlines()
             for message in json.loads(line)["messages"]]
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    special = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
    tokenizer.train_from_iterator(texts, trainers.BpeTrainer(
        vocab_size=options.size, special_tokens=special, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False))
    options.output.mkdir(parents=True, exist_ok=True)
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token="<|im_end|>",
                            pad_token="<|endoftext|>").save_pretrained(options.output)


if __name__ == "__main__":
    main()
