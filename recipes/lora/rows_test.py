# SPDX-License-Identifier: Apache-2.0
"""python3 -m unittest discover -s recipes/lora -p '*_test.py'. Expected values are worked out by hand."""
import ast
import unittest
from pathlib import Path

import rows
import validate

SYSTEM, USER = {"role": "system", "content": "s"}, {"role": "user", "content": "u"}


def assistant(text):
    return {"role": "assistant", "content": text}


class Rows(unittest.TestCase):
    def test_only_the_last_answer_counts(self):
        messages = [SYSTEM, USER, assistant("wrong"), USER, assistant("right")]
        counted = [text for text, counts in rows.render(messages) if counts]
        self.assertEqual(counted, ["right<|im_end|>"])
        self.assertEqual("".join(text for text, _ in rows.render([USER, assistant("a")])),
                         "<|im_start|>user\nu<|im_end|>\n<|im_start|>assistant\na<|im_end|>\n")

    def test_labels_stand_under_their_tokens(self):
        ids, labels = rows.encode([USER, assistant("ab")], lambda text: [ord(c) for c in text])
        self.assertEqual(len(ids), len(labels))
        kept = [i for i, label in enumerate(labels) if label != rows.IGNORED]
        self.assertEqual("".join(chr(ids[i]) for i in kept), "ab<|im_end|>")
        self.assertEqual(kept, list(range(kept[0], kept[0] + 12)))

    def test_a_row_must_end_with_an_answer(self):
        for messages in ([], [USER], [assistant("a"), USER]):
            with self.assertRaises(ValueError):
                rows.render(messages)

    def test_packing_fits_and_loses_nothing(self):
        # 7 + 3, 5 + 4 and 2; 11 is longer than a sequence.
        self.assertEqual(rows.pack([5, 7, 11, 3, 2, 4], 10), [[1, 3], [0, 5], [4]])
        self.assertEqual(rows.pack([], 10), [])

    def test_conversations_in_a_sequence_do_not_touch(self):
        packed = rows.packed_row([([1, 2], [1, 2]), ([3, 4, 5], [rows.IGNORED, 4, 5])], [1, 0])
        self.assertEqual(packed["input_ids"], [3, 4, 5, 1, 2])
        self.assertEqual(packed["position_ids"], [0, 1, 2, 0, 1])
        self.assertEqual(packed["labels"], [rows.IGNORED, 4, 5, rows.IGNORED, 2])

    def test_updates(self):
        # 10 sequences, 2 processes with 2 each: 3 steps an epoch, the last one not full.
        self.assertEqual(rows.updates(10, 2, 2, 3), 9)

    def test_the_best_checkpoint_solves_most(self):
        self.assertEqual(rows.best_checkpoint({10: {"audited": 1, "solved": 4, "loss": 0.2},
                                               20: {"audited": 2, "solved": 2, "loss": 0.9},
                                               30: {"audited": 2, "solved": 2, "loss": 0.5}}), 30)
        self.assertEqual(rows.best_checkpoint({10: {"audited": None, "solved": None, "loss": 0.5},
                                               20: {"audited": None, "solved": None, "loss": 0.5}}), 10)
        self.assertIsNone(rows.best_checkpoint({10: {"audited": None, "solved": None, "loss": None}}))

    def test_the_last_closed_block_is_the_kernel(self):
        answer = "first\n```cuda\none\n```\nthen\n```\ntwo\n  ```x\n```\nend"
        self.assertEqual(validate.last_block(answer), "two\n  ```x\n")
        self.assertIsNone(validate.last_block("```cuda\nnever closed"))
        self.assertIsNone(validate.last_block("no code"))

    def test_only_judged_passes_count(self):
        def envelope(passed, executed):
            return {"all_passed": passed, "audit": {"target_instructions_executed": executed}}
        envelopes = [envelope(True, True), envelope(True, None), envelope(True, False), envelope(False, True), None]
        self.assertEqual(validate.counted(envelopes), {"tasks": 5, "solved": 3, "audited": 1})

    def test_losses_by_step(self):
        lines = ['{"step": 1, "loss": 2.0}', '{"step": 20, "eval_loss": 1.5}', '{"step": 40, "eval_loss": 1.25}']
        self.assertEqual(validate.last_losses(lines), {20: 1.5, 40: 1.25})

    def test_the_trainer_can_be_read(self):
        for path in Path(__file__).parent.glob("*.py"):
            ast.parse(path.read_text(), str(path))


if __name__ == "__main__":
    unittest.main()
