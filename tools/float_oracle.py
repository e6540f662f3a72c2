#!/usr/bin/env python3
"""What a GGUF file means: its weights decoded to float32 and the forward pass written as the equations read, in numpy.

  tools/float_oracle.py logits -m M.gguf --ids 1,2,3 -o OUT.npy      float32 [tokens, vocabulary]
  tools/float_oracle.py logits -m M.gguf --ids-file IDS.json -o OUT.npy

Architectures: llama, qwen2, qwen3, gemma3. No activation is quantised and K and V stay float32, so the difference between an engine
and this program is the engine's own error. The weights are decoded layer by layer; memory stays near that of one layer.
"""
import argparse, json, sys, time
import oracle_env

oracle_env.ensure()
import gguf
import numpy as np


class Model:
    def __init__(self, path):
        try: self.file = gguf.GGUFReader(path)
        except (OSError, ValueError) as e: sys.exit(f"float_oracle: cannot read {path}: {e}")
        self.tensors = {t.name: t for t in self.file.tensors}
        self.arch = self.file.fields["general.architecture"].contents()
        if self.arch not in ("llama", "qwen2", "qwen3", "gemma3"):
            sys.exit(f"float_oracle: {path} has the architecture «{self.arch}»; this program knows llama, qwen2, qwen3 and gemma3.")
        self.layers = self.key("block_count")
        self.heads = self.key("attention.head_count")
        self.kv_heads = self.key("attention.head_count_kv", self.heads)
        self.head_dim = self.key("attention.key_length", self.key("embedding_length") // self.heads)
        self.eps = np.float32(self.key("attention.layer_norm_rms_epsilon"))
        self.rotated = self.key("rope.dimension_count", self.head_dim)
        self.theta = self.key("rope.freq_base", 10000.0)
        self.scaling = self.key("rope.scaling.type", "none")
        self.factor = self.key("rope.scaling.factor", 1.0)
        self.window = self.key("attention.sliding_window") if self.arch == "gemma3" else 0
        if self.scaling not in ("none", "linear"): sys.exit(f"float_oracle: RoPE scaling «{self.scaling}» is not written here yet.")

    def slides(self, layer):
        """gemma3: five layers of six see only the window and turn by angles of base 10000."""
        return self.window > 0 and layer % 6 < 5

    def key(self, name, default=None):
        field = self.file.fields.get(f"{self.arch}.{name}")
        if field is None and default is None: sys.exit(f"float_oracle: the file has no key {self.arch}.{name}")
        return default if field is None else field.contents()

    def weight(self, name, optional=False):
        """float32, [outputs, inputs] for matrices; None when optional and absent."""
        t = self.tensors.get(name)
        if t is None:
            if optional: return None
            sys.exit(f"float_oracle: the file has no tensor {name}")
        return np.ascontiguousarray(gguf.quants.dequantize(t.data, t.tensor_type), dtype=np.float32)

    def embedding(self, ids):
        t = self.tensors["token_embd.weight"]
        return gguf.quants.dequantize(t.data[ids], t.tensor_type).astype(np.float32)


def rms_norm(x, weight, eps):
    return x / np.sqrt(np.mean(x * x, axis=-1, keepdims=True) + eps) * weight


def linear(x, weight, bias=None):
    y = x @ weight.T
    return y if bias is None else y + bias


def silu(x):
    return x / (1 + np.exp(-x))


def gelu(x):
    return 0.5 * x * (1 + np.tanh(np.float32(np.sqrt(2 / np.pi)) * (x + np.float32(0.044715) * x**3)))


def softmax(x):
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def rope_angles(model, positions, local=False):
    """[tokens, rotated / 2] in float64."""
    i = np.arange(model.rotated // 2, dtype=np.float64)
    if local: return positions[:, None] * 10000.0 ** (-2 * i / model.rotated)
    frequency = model.theta ** (-2 * i / model.rotated) / model.factor
    divisor = model.weight("rope_freqs.weight", optional=True)
    if divisor is not None: frequency = frequency / divisor
    return positions[:, None] * frequency


def rope(x, angles, interleaved):
    """x [tokens, heads, head_dim]. Pair i is (2i, 2i+1) in llama files, (i, i + rotated/2) in qwen files."""
    half = angles.shape[1]
    cos, sin = (f(angles).astype(np.float32)[:, None, :] for f in (np.cos, np.sin))
    first, second = (slice(0, 2 * half, 2), slice(1, 2 * half, 2)) if interleaved else (slice(0, half), slice(half, 2 * half))
    a, b = x[..., first], x[..., second]
    y = x.copy()
    y[..., first], y[..., second] = a * cos - b * sin, a * sin + b * cos
    return y


def attention(q, k, v, window=0):
    """Causal, grouped: q [tokens, heads, d], k and v [tokens, kv heads, d]. With a window row q sees keys p with q − p < window."""
    tokens, heads, d = q.shape
    group = heads // k.shape[1]
    hidden = np.triu(np.full((tokens, tokens), -np.inf, np.float32), 1)
    if window: hidden += np.tril(np.full((tokens, tokens), -np.inf, np.float32), -window)
    out = np.empty_like(q)
    for h in range(heads):
        scores = q[:, h] @ k[:, h // group].T / np.float32(np.sqrt(d)) + hidden
        out[:, h] = softmax(scores) @ v[:, h // group]
    return out.reshape(tokens, heads * d)


def layer(model, n, x, angles):
    def w(name, optional=False): return model.weight(f"blk.{n}.{name}", optional)
    def project(name, rows): return linear(rows, w(f"{name}.weight"), w(f"{name}.bias", optional=True))

    h = rms_norm(x, w("attn_norm.weight"), model.eps)
    q = project("attn_q", h).reshape(len(x), model.heads, model.head_dim)
    k = project("attn_k", h).reshape(len(x), model.kv_heads, model.head_dim)
    v = project("attn_v", h).reshape(len(x), model.kv_heads, model.head_dim)
    if model.arch in ("qwen3", "gemma3"): q, k = rms_norm(q, w("attn_q_norm.weight"), model.eps), rms_norm(k, w("attn_k_norm.weight"), model.eps)
    q, k = (rope(t, angles[model.slides(n)], interleaved=model.arch == "llama") for t in (q, k))
    y = project("attn_output", attention(q, k, v, model.window if model.slides(n) else 0))
    x = x + (rms_norm(y, w("post_attention_norm.weight"), model.eps) if model.arch == "gemma3" else y)

    h = rms_norm(x, w("ffn_norm.weight"), model.eps)
    gate = gelu if model.arch == "gemma3" else silu
    y = project("ffn_down", gate(project("ffn_gate", h)) * project("ffn_up", h))
    return x + (rms_norm(y, w("post_ffw_norm.weight"), model.eps) if model.arch == "gemma3" else y)


def forward(model, ids, tick=lambda n: None):
    """Logits [tokens, vocabulary] of one sequence that starts at position 0."""
    x = model.embedding(np.array(ids))
    if model.arch == "gemma3": x *= np.float32(np.sqrt(x.shape[1]))
    angles = [rope_angles(model, np.arange(len(ids)), local) for local in (False, True)]
    for n in range(model.layers):
        x = layer(model, n, x, angles)
        tick(n + 1)
    x = rms_norm(x, model.weight("output_norm.weight"), model.eps)
    head = model.weight("output.weight", optional=True)
    return linear(x, model.weight("token_embd.weight") if head is None else head)


def main():
    a = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    a.add_argument("command", choices=["logits"])
    a.add_argument("-m", "--model", required=True)
    a.add_argument("--ids", help="token ids, comma-separated")
    a.add_argument("--ids-file", help="a JSON list of token ids")
    a.add_argument("-o", "--output", required=True)
    o = a.parse_args()
    if (o.ids is None) == (o.ids_file is None): a.error("give the token ids with --ids or with --ids-file")
    ids = json.load(open(o.ids_file)) if o.ids_file else [int(v) for v in o.ids.split(",")]
    model, started = Model(o.model), time.monotonic()
    np.save(o.output, forward(model, ids))
    print(json.dumps(dict(rows=len(ids), architecture=model.arch, seconds=round(time.monotonic() - started, 1))))


if __name__ == "__main__": main()
