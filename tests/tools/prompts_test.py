#!/usr/bin/env python3
"""prompts/outrider.jsonl is what its README says."""
import collections, json, pathlib, unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
TASKS = {"code", "edit", "copy", "json", "chat", "summary", "math", "creative", "translation", "chinese"}


class Prompts(unittest.TestCase):
    def setUp(self):
        self.prompts = [json.loads(line) for line in (ROOT / "prompts" / "outrider.jsonl").read_text().splitlines()]

    def test_every_line_has_exactly_the_known_keys(self):
        for p in self.prompts: self.assertEqual(set(p), {"id", "task", "messages", "max_tokens"}, p.get("id"))

    def test_ids_are_unique_and_begin_with_the_task(self):
        ids = [p["id"] for p in self.prompts]
        self.assertEqual(len(ids), len(set(ids)))
        for p in self.prompts: self.assertTrue(p["id"].startswith(p["task"] + "-"), p["id"])

    def test_each_task_has_at_least_three(self):
        counts = collections.Counter(p["task"] for p in self.prompts)
        self.assertEqual(set(counts), TASKS)
        self.assertGreaterEqual(min(counts.values()), 3)

    def test_messages_alternate_and_end_with_the_user(self):
        for p in self.prompts:
            roles = [m["role"] for m in p["messages"]]
            if roles[0] == "system": roles = roles[1:]
            self.assertEqual(roles, ["user" if i % 2 == 0 else "assistant" for i in range(len(roles))], p["id"])
            self.assertEqual(roles[-1], "user", p["id"])
            self.assertTrue(1 <= p["max_tokens"] <= 1024)


if __name__ == "__main__": unittest.main()
