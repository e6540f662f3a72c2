#!/usr/bin/env python3
"""Files that lie in their first bytes (C61, C62, C64): one line of refusal, little memory, no crash. No model is needed."""
import os, resource, shutil, unittest
import gguf_file as g
from support import PROGRAM, ProgramTest, run

MEMORY_KIB = 200 * 1024


def vocabulary(pieces, byte_pieces):
    n = 3 + len(pieces) + len(byte_pieces)
    tokens = ["<unk>", "<s>", "</s>"] + pieces + byte_pieces
    types = [2, 3, 3] + [1] * len(pieces) + [6] * len(byte_pieces)
    keys = [g.key("general.architecture", g.STRING, g.string("llama")), g.key("tokenizer.ggml.model", g.STRING, g.string("llama")),
            g.key("tokenizer.ggml.tokens", g.ARRAY, g.strings(tokens)), g.key("tokenizer.ggml.scores", g.ARRAY, g.numbers(g.F32, "f", [-float(i) for i in range(n)])),
            g.key("tokenizer.ggml.token_type", g.ARRAY, g.numbers(5, "i", types))]
    return g.header(0, len(keys)) + b"".join(keys)


class Headers(ProgramTest):
    def refuse(self, content, *words, name="hostile.gguf"):
        path = self.file(name, content)
        for arguments in (["inspect", path], ["-m", path, "-p", "hi"], ["tokenize", "-m", path, "-p", "hi"]):
            self.refused(run(*arguments), 1, name, *words)
        self.assertLess(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, MEMORY_KIB)

    def test_missing(self):
        for arguments in (["inspect", "/nowhere/m.gguf"], ["-m", "/nowhere/m.gguf", "-p", "hi"], ["tokenize", "-m", "/nowhere/m.gguf", "-p", "hi"], ["verify", "-m", "/nowhere/m.gguf"],
                          ["logits", "-m", "/nowhere/m.gguf", "--ids", "1", "-o", "x.npy"]):
            with self.subTest(arguments[0]): self.refused(run(*arguments), 1, "/nowhere/m.gguf", "No such file")

    def test_empty_file(self): self.refuse(b"", "is empty")
    def test_text_file(self): self.refuse("Dear reader, this is a letter and no model at all.\n" * 5, "not a GGUF file", "Dear reader")
    def test_git_lfs_pointer(self): self.refuse(f"version https://git-lfs.github.com/spec/v1\noid sha256:{'ab' * 32}\nsize 98362432\n", "Git LFS pointer")
    def test_short_header(self): self.refuse(g.header(1, 1)[:23], "ends at 23")

    def test_directory(self):
        (self.folder / "dir.gguf").mkdir()
        self.refused(run("-m", self.folder / "dir.gguf", "-p", "hi"), 1, "dir.gguf", "directory")

    def test_no_permission(self):
        path, binary = self.file("secret.gguf", b"GGUF"), shutil.copy(PROGRAM, self.folder)
        os.chmod(path, 0)
        self.folder.chmod(0o755)
        other = {"user": 65534, "group": 65534, "extra_groups": []} if os.getuid() == 0 else {}
        self.refused(run("inspect", path, binary=binary, **other), 1, "secret.gguf", "Permission denied")

    def test_a_device_is_no_model(self): self.refused(run("inspect", "/dev/zero"), 1, "/dev/zero")

    def test_key_without_a_name(self): self.refuse(g.header(0, 1) + g.key("", g.U8, b"\x01"))
    def test_huge_tensor_count(self): self.refuse(g.header(2**60, 0), str(2**60))
    def test_huge_key_count(self): self.refuse(g.header(0, 2**60), str(2**60))
    def test_huge_string(self): self.refuse(g.header(0, 1) + g.string("k") + g.u32(g.STRING) + g.u64(2**63))
    def test_huge_name(self): self.refuse(g.header(0, 1) + g.u64(2**63))
    def test_array_of_unknown_type(self): self.refuse(g.header(0, 1) + g.string("k") + g.u32(g.ARRAY) + g.u32(99) + g.u64(2**60), "99")
    def test_huge_array(self): self.refuse(g.header(0, 1) + g.string("k") + g.u32(g.ARRAY) + g.u32(g.U64) + g.u64(2**60))
    def test_deeply_nested_array(self): self.refuse(g.header(0, 1) + g.string("k") + g.u32(g.ARRAY) + (g.u32(g.ARRAY) + g.u64(1)) * 10000)
    def test_duplicate_key(self): self.refuse(g.header(0, 2) + g.key("twice", g.U8, b"\x01") * 2, "twice")

    def test_versions(self):
        for version in (0, 1, 99, 0x03000000): self.refuse(g.header(0, 0, version=version), "version")

    def test_no_architecture(self):
        self.refused(run("-m", self.file("bare.gguf", g.header(0, 0)), "-p", "hi"), 1, "bare.gguf", "general.architecture")

    def test_byte_tokens_that_are_none(self):
        for piece in ("<0x-1>", "<0xZZ>", "<0x100>", "<0x"):
            path = self.file("bytes.gguf", vocabulary(["h", "i"], [piece]))
            outcome = run("tokenize", "-m", path, "-p", "hi é")
            if outcome.code == 0: self.assertEqual(outcome.err, "")  # taken as ordinary text
            else: self.refused(outcome, 1, "bytes.gguf")

    def test_every_cut_of_a_small_header(self):
        whole = vocabulary(["h", "i"], ["<0x0A>"])
        for cut in range(0, len(whole), 7): self.refused(run("inspect", self.file("cut.gguf", whole[:cut])), 1, "cut.gguf")
        self.answered(run("inspect", self.file("cut.gguf", whole)))


if __name__ == "__main__": unittest.main()
