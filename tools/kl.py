#!/usr/bin/env python3
"""How far logits B are from logits A: tools/kl.py A.npy B.npy [--vocabulary N] prints JSON.

A is the truth (tools/float_oracle.py), B an engine's. Per row KL(softmax A || softmax B) in nats, its mean and quantiles, and
how often both have the same most probable token. The mean is also given without row 0: many models put huge activations on
the very first token, and one row that quantisation breaks there would outweigh all the others.
--vocabulary leaves out padding columns from N on.
"""
import argparse, json, sys
import oracle_env

oracle_env.ensure()
import numpy as np


def log_softmax(x):
    x = x.astype(np.float64)
    x -= x.max(axis=-1, keepdims=True)
    return x - np.log(np.exp(x).sum(axis=-1, keepdims=True))


def compare(a, b, rows_at_once=64):
    kl, same = [], 0
    for i in range(0, len(a), rows_at_once):
        la, lb = log_softmax(a[i:i + rows_at_once]), log_softmax(b[i:i + rows_at_once])
        kl.append((np.exp(la) * (la - lb)).sum(axis=1))
        same += int((la.argmax(axis=1) == lb.argmax(axis=1)).sum())
    kl = np.concatenate(kl)
    quantiles = {f"q{q}": float(np.quantile(kl, q / 100)) for q in (50, 90, 99)}
    return dict(rows=len(kl), kl_mean=float(kl.mean()), kl_mean_after_first=float(kl[1:].mean()) if len(kl) > 1 else None, **quantiles, kl_max=float(kl.max()), top1_equal=same / len(kl))


def main():
    a = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    a.add_argument("truth"); a.add_argument("other")
    a.add_argument("--vocabulary", type=int)
    o = a.parse_args()
    x, y = (np.load(f, mmap_mode="r") for f in (o.truth, o.other))
    if x.shape != y.shape: sys.exit(f"kl: {o.truth} has the shape {x.shape}, {o.other} {y.shape}; they must be the same rows of the same vocabulary.")
    if o.vocabulary: x, y = x[:, :o.vocabulary], y[:, :o.vocabulary]
    print(json.dumps(compare(x, y)))


if __name__ == "__main__": main()
