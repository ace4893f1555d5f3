#include "cli/program.h"

int main(int argc, char** argv) { return tpack::run_program(argc, argv); }
