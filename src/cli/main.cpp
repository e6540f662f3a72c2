#include "cli/commands.h"

int main(int argc, char** argv) { return outrider::cli::run_program({argv + 1, argv + argc}); }
