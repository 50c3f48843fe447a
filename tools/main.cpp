#include "tools/command_line.h"
#include "tools/commands.h"

int main(int argc, char** argv) { return fathom::run_program(argc, argv, fathom::tool_commands()); }
