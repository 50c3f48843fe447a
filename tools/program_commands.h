#pragma once

namespace fathom {

/// A command that a program of its own has, so that nobody builds it who does not use it.
struct ProgramCommand {
  const char *name, *summary, *program;
};

inline constexpr ProgramCommand check_command{
    "check", "Fail if something got slower: two builds, or a result", "fathom-gate"};
inline constexpr ProgramCommand baseline_command{
    "baseline", "Keep earlier results that `check` compares with", "fathom-gate"};
inline constexpr ProgramCommand history_command{
    "history", "Find what changed over many earlier results", "fathom-gate"};
inline constexpr ProgramCommand fleet_command{
    "fleet", "Many GPUs: which one is slow, and what their links carry", "fathom-fleet"};

inline constexpr ProgramCommand explain_command{
    "explain", "Why a program's kernels are slow, by source line, without counters",
    "fathom-explain"};

inline constexpr ProgramCommand program_commands[] = {
    check_command, baseline_command, history_command, fleet_command, explain_command};

}  // namespace fathom
