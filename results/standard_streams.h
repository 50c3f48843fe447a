#pragma once

#include <string_view>

namespace fathom {

/// Opens on /dev/null those of standard input, output and error that are closed: the next file to
/// be opened would take their numbers, and what is meant for a terminal would go into it.
void open_standard_streams();

/// SIGINT, SIGTERM and SIGHUP end this process with ExitCode::interrupted, where nobody collects
/// them; those that are ignored, as under nohup, stay so.
void end_on_interrupts();

/// To standard output at once. Never throws: require_written_output says what was lost.
void print_out(std::string_view text);

/// The same with one line, which clean() makes of `text`.
void print_line(std::string_view text);

/// Throws Error(output_full) or Error(output_unwritable) if any of what was printed was lost. A
/// reader that has gone away (`fathom list | head`) had what it wanted.
void require_written_output();

}  // namespace fathom
