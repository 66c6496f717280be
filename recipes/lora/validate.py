#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Lets the judge choose a checkpoint: each writes kernels for held-out tasks, and `ptxbench eval` judges them.

    python3 recipes/lora/validate.py --model /models/Qwen3.6-27B --run runs/lora --tasks held_out.json \\
        --ptxbench build/release/bin/ptxbench

The tasks are a JSON list of {"task", "set", "messages"}: a task's name, reduced axes such as "M=256,N=256", and
the system and user message. Answers, kernels and envelopes stay in RUN/validation/STEP; measured.json has the
counts, and "best" names the checkpoint to keep.
"""
import argparse
import json
import re
import subprocess
from pathlib import Path

import rows


def last_block(answer):
    """The last closed fenced block, or None."""
    found = re.findall(r"^```[^\n`]*\n(.*?)^```\s*$", answer, re.DOTALL | re.MULTILINE)
    return found[-1] if found else None


def counted(envelopes):
    """Solved, and solved with the target instructions really executed, of one checkpoint's envelopes."""
    solved = [e for e in envelopes if e is not None and e["all_passed"]]
    return {"tasks": len(envelopes), "solved": len(solved),
            "audited": sum(e["audit"]["target_instructions_executed"] is True for e in solved)}


def last_losses(lines):
    """The validation loss by step, from losses.jsonl."""
    return {one["step"]: one["eval_loss"] for one in map(json.loads, lines) if "eval_loss" in one}


def judge(program, kernel, task):
    """The envelope; None when the judge itself could not run."""
    command = [program, "eval", str(kernel), "--task", task["task"], "--json"]
    if task.get("set"):
        command += ["--set", task["set"]]
    ran = subprocess.run(command, capture_output=True, text=True, errors="replace")
    return json.loads(ran.stdout) if ran.returncode in (0, 1) else None


def write_answers(model_path, checkpoint, tasks, folder, limit):
    if all((folder / f"{number}.txt").exists() for number in range(len(tasks))):
        return  # by another machine perhaps: judging needs neither a model nor PyTorch
    import torch
    from peft import PeftModel
    from transformers import AutoModelForCausalLM, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(model_path)
    model = AutoModelForCausalLM.from_pretrained(model_path, dtype=torch.bfloat16, device_map="auto")
    model = PeftModel.from_pretrained(model, checkpoint).eval()
    for number, task in enumerate(tasks):
        path = folder / f"{number}.txt"
        if path.exists():
            continue
        text = "".join(part for part, _ in rows.render(task["messages"] + [{"role": "assistant", "content": ""}]))
        text = text[:text.rindex("<|im_end|>")]
        ids = tokenizer(text, add_special_tokens=False, return_tensors="pt").input_ids.to(model.device)
        with torch.no_grad():
            out = model.generate(ids, max_new_tokens=limit, do_sample=False,
                                 eos_token_id=tokenizer.convert_tokens_to_ids("<|im_end|>"))
        path.write_text(tokenizer.decode(out[0, ids.shape[1]:], skip_special_tokens=True))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", required=True)
    parser.add_argument("--run", required=True, type=Path, help="output folder of train.py")
    parser.add_argument("--tasks", required=True, type=Path)
    parser.add_argument("--ptxbench", default="ptxbench")
    parser.add_argument("--most-tokens", type=int, default=16384)
    parser.add_argument("--answers-only", action="store_true", help="let another machine judge them later")
    options = parser.parse_args()
    tasks = json.loads(options.tasks.read_text())
    losses_file = options.run / "losses.jsonl"
    losses = last_losses(losses_file.read_text().splitlines()) if losses_file.exists() else {}
    measured = {}
    for checkpoint in sorted(options.run.glob("checkpoint-*"), key=lambda p: int(p.name.split("-")[1])):
        step = int(checkpoint.name.split("-")[1])
        folder = options.run / "validation" / str(step)
        folder.mkdir(parents=True, exist_ok=True)
        write_answers(options.model, checkpoint, tasks, folder, options.most_tokens)
        if options.answers_only:
            continue
        envelopes = []
        for number, task in enumerate(tasks):
            code = last_block((folder / f"{number}.txt").read_text())
            if code is None:
                envelopes.append(None)
                continue
            kernel = folder / f"{number}.cu"
            kernel.write_text(code)
            envelopes.append(judge(options.ptxbench, kernel, task))
            (folder / f"{number}.json").write_text(json.dumps(envelopes[-1]))
        measured[step] = {**counted(envelopes), "loss": losses.get(step)}
    if options.answers_only:
        return
    result = {"best": rows.best_checkpoint(measured), "checkpoints": measured}
    (options.run / "measured.json").write_text(json.dumps(result, indent=2))
    print(json.dumps(result, indent=2))


if __name__ == "__main__":
    main()
