#!/usr/bin/env python3
"""A real model file, cut short, edited, or rewritten in ways that are allowed (C61, C64)."""
import contextlib, os, shutil, struct, unittest
from gguf_file import ARRAY, BOOL, Gguf, STRING, U32, numbers, string, u32, u64
from support import SMOL, ProgramTest, run


class Files(ProgramTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.model = Gguf(SMOL)
        cls.copy = shutil.copy(SMOL, cls.folder / "copy.gguf")
        cls.bytes = os.path.getsize(SMOL)

    @contextlib.contextmanager
    def edited(self, at, new):
        with open(self.copy, "r+b") as f:
            f.seek(at)
            old = f.read(len(new))
            f.seek(at)
            f.write(new)
            f.flush()
            try: yield
            finally:
                f.seek(at)
                f.write(old)

    def refuse_edit(self, at, new, *words):
        with self.edited(at, new): self.refused(run("-m", self.copy, "-p", "hi"), 1, "copy.gguf", *words)

    def test_cut_short(self):
        for share in (0.6, 0.999):
            end = int(self.bytes * share)
            path = str(self.folder / "cut.gguf")
            with open(SMOL, "rb") as source: self.file("cut.gguf", source.read(end))
            for arguments in (["-m", path, "-p", "hi"], ["inspect", path], ["tokenize", "-m", path, "-p", "hi"]):
                with self.subTest(share=share, command=arguments[0]): self.refused(run(*arguments), 1, "cut.gguf", f"ends at {end}", "tensor '", "needs")

    def test_tensor_beyond_the_file(self):
        self.refuse_edit(self.model.tensors["blk.5.ffn_up.weight"]["offset_at"], u64((self.bytes + (1 << 20)) // 32 * 32), "blk.5.ffn_up.weight")

    def test_overlapping_tensors(self):
        t = self.model.tensors
        self.refuse_edit(t["blk.5.ffn_up.weight"]["offset_at"], u64(t["blk.4.ffn_up.weight"]["offset"]), "blk.5.ffn_up.weight", "blk.4.ffn_up.weight")

    def test_tensor_out_of_alignment(self):
        t = self.model.tensors["blk.5.ffn_up.weight"]
        self.refuse_edit(t["offset_at"], u64(t["offset"] + 4), "blk.5.ffn_up.weight", "align")

    def test_types_that_do_not_fit(self):
        t = self.model.tensors["blk.5.ffn_up.weight"]
        self.refuse_edit(t["type_at"], u32(199), "blk.5.ffn_up.weight", "199")
        self.refuse_edit(t["type_at"], u32(8), "blk.5.ffn_up.weight")  # larger blocks: reaches into the next tensor
        self.refuse_edit(t["type_at"], u32(39), "blk.5.ffn_up.weight", "MXFP4", "instead of")  # smaller ones: leaves a gap

    def test_enlarged_tensor(self):
        t = self.model.tensors["blk.5.ffn_up.weight"]
        self.refuse_edit(t["dims_at"], u64(t["dims"][0] * 1000), "blk.5.ffn_up.weight")
        self.refuse_edit(t["dims_at"] + 8, u64(t["dims"][1] * 1000), "blk.5.ffn_up.weight")
        self.refuse_edit(t["dims_at"], u64(2**62), "blk.5.ffn_up.weight")

    def test_missing_tensor(self):
        t = self.model.tensors["blk.3.attn_q.weight"]
        self.refuse_edit(t["name_at"], b"blk.3.attn_x.weight", "blk.3.attn_q.weight")

    def test_architectures(self):
        at = self.model.keys["general.architecture"][0]
        self.refuse_edit(at + 12, b"zebra", "zebra", "llama", "qwen2", "qwen3", "gemma3")
        for raw in (u32(STRING) + string(""), None):
            path = self.model.rewrite(self.folder / "rewritten.gguf", {"general.architecture": raw})
            self.refused(run("-m", path, "-p", "hi"), 1, "rewritten.gguf", "architecture")

    def test_layer_count_that_lies(self):
        at = self.model.keys["llama.block_count"][0] + 4
        for count in (0, 31, 2**31): self.refuse_edit(at, u32(count))

    def test_sliding_windows(self):
        def answer(pattern, window=4):
            keys = {"llama.attention.sliding_window": u32(U32) + u32(window), "llama.attention.sliding_window_pattern": pattern}
            return run("-m", self.model.rewrite(self.folder / "sliding.gguf", keys), "-p", "One two three four five six seven eight", "--raw", "--temp", "0", "-n", "8")

        def flags(values): return u32(ARRAY) + numbers(BOOL, "?", values)
        layers = 30
        period, spelled_out, none = answer(u32(U32) + u32(3)), answer(flags([i % 3 < 2 for i in range(layers)])), answer(None)
        self.assertEqual(period.text, spelled_out.text)
        self.assertNotEqual(period.text, none.text)
        self.assertEqual(answer(flags([True] * layers), window=1000).text, none.text)
        self.refused(answer(flags([True] * 5)), 1, "sliding_window_pattern", "5", "30 layers")
        self.refused(answer(u32(U32) + u32(5000)), 1, "sliding_window_pattern", "5000")
        self.refused(answer(u32(U32) + u32(3), window=2**31), 1, "llama.attention.sliding_window")

    def test_valid_files_that_are_odd(self):
        arguments = ["-p", "The capital of France is", "--raw", "--temp", "0", "-n", "8"]
        right = self.answer("-m", SMOL, *arguments)["text"]
        wide = self.model.rewrite(self.folder / "wide.gguf", {"general.alignment": u32(U32) + u32(64)}, alignment=64)
        self.assertEqual(self.answer("-m", wide, *arguments)["text"], right)
        with open(self.copy, "ab") as f: f.write(bytes(4096))
        try: self.assertEqual(self.answer("-m", self.copy, *arguments)["text"], right)
        finally: os.truncate(self.copy, self.bytes)


if __name__ == "__main__": unittest.main()
