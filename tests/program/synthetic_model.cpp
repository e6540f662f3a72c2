// Writes a small random model for tests of the program that need weights but no sense: synthetic_model FILE.
#include <cstdio>

#include "model/synthetic.h"

int main(int count, char** arguments) {
  if (count != 2) return 2;
  const auto written = outrider::write_synthetic_model(arguments[1], {.layers = 3, .width = 256, .feed_forward = 512, .heads = 8, .kv_heads = 2});
  if (!written) std::fprintf(stderr, "synthetic_model: %s\n", written.error().message.c_str());
  return written ? 0 : 1;
}
