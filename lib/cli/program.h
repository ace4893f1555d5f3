#pragma once

namespace tpack {

/// The program `tpack`: reads the command line, runs the command, returns the exit code (docs/exit-codes.md).
/// Results go to stdout, messages to stderr; the last line of a failure is "error: ...".
int run_program(int argc, char** argv);

}  // namespace tpack
