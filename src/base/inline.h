#pragma once
// Small helpers that files of different instruction sets include must leave no out-of-line copy behind, or the linker
// could pick the copy compiled for the wider set and run it on a machine without it.
#define OUTRIDER_ALWAYS_INLINE __attribute__((always_inline)) inline
