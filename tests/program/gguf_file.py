"""Just enough GGUF to make and to damage files: headers by hand, and copies of a real file with another header."""
import struct

SIZES = {0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8}
U8, U32, F32, BOOL, STRING, ARRAY, U64 = 0, 4, 6, 7, 8, 9, 10


def u32(x): return struct.pack("<I", x)
def u64(x): return struct.pack("<Q", x)
def string(text):
    raw = text.encode() if isinstance(text, str) else text
    return u64(len(raw)) + raw


def header(tensors, keys, version=3, magic=b"GGUF"): return magic + u32(version) + u64(tensors) + u64(keys)
def key(name, kind, value): return string(name) + u32(kind) + value
def strings(values): return u32(STRING) + u64(len(values)) + b"".join(map(string, values))
def numbers(kind, code, values): return u32(kind) + u64(len(values)) + struct.pack(f"<{len(values)}{code}", *values)


class Gguf:
    """A parsed header: keys as raw bytes in order, tensors with the places of their fields in the file."""

    def __init__(self, path):
        self.path = path
        with open(path, "rb") as f: self.raw = f.read(16 << 20)
        self.at = 8
        tensors, keys = self._u64(), self._u64()
        self.keys = {}
        for _ in range(keys):
            name, start = self._string(), self.at
            self._skip(self._u32())
            self.keys[name] = (start, self.raw[start:self.at])  # type and value
        self.tensors = {}
        for _ in range(tensors):
            name_at = self.at + 8
            name = self._string()
            dims_at = self.at + 4
            dims = [self._u64() for _ in range(self._u32())]
            type_at = self.at
            kind = self._u32()
            self.tensors[name] = dict(name_at=name_at, dims_at=dims_at, dims=dims, type_at=type_at, type=kind, offset_at=self.at, offset=self._u64())
        self.data = (self.at + 31) // 32 * 32

    def _u32(self): self.at += 4; return struct.unpack_from("<I", self.raw, self.at - 4)[0]
    def _u64(self): self.at += 8; return struct.unpack_from("<Q", self.raw, self.at - 8)[0]
    def _string(self):
        n = self._u64()
        self.at += n
        return self.raw[self.at - n:self.at].decode(errors="surrogateescape")

    def _skip(self, kind):
        if kind == STRING: self._string()
        elif kind == ARRAY:
            element, count = self._u32(), self._u64()
            if element in SIZES: self.at += SIZES[element] * count
            else:
                for _ in range(count): self._skip(element)
        else: self.at += SIZES[kind]

    def sizes(self, file_bytes):
        """Bytes of each tensor, up to the next one's start (padding included)."""
        ends = sorted(t["offset"] for t in self.tensors.values()) + [file_bytes - self.data]
        return {name: ends[ends.index(t["offset"]) + 1] - t["offset"] for name, t in self.tensors.items()}

    def rewrite(self, path, keys=None, alignment=32):
        """A copy with the given keys (raw type and value; None drops one) and alignment."""
        chosen = {name: raw for name, (_, raw) in self.keys.items()} | (keys or {})
        chosen = {name: raw for name, raw in chosen.items() if raw is not None}
        with open(self.path, "rb") as source, open(path, "wb") as out:
            sizes = self.sizes(source.seek(0, 2))
            head = header(len(self.tensors), len(chosen)) + b"".join(string(name.encode(errors="surrogateescape")) + raw for name, raw in chosen.items())
            offset, places = 0, {}
            for name, t in self.tensors.items():
                places[name] = offset
                head += string(name) + u32(len(t["dims"])) + b"".join(map(u64, t["dims"])) + u32(t["type"]) + u64(offset)
                offset = -(-(offset + sizes[name]) // alignment) * alignment
            out.write(head)
            data = -(-len(head) // alignment) * alignment
            for name, t in self.tensors.items():
                source.seek(self.data + t["offset"])
                out.seek(data + places[name])
                out.write(source.read(sizes[name]))
            out.truncate(data + offset)
        return str(path)
