#pragma once

#include "tools/command_line.h"

namespace fathom {

// Commands that a program of its own has, so that nobody builds it who does not use it.

inline const Command check_command{"check", "Fail if something got slower: two builds, or a result",
                                   "fathom-gate"};
inline const Command baseline_command{"baseline", "Keep earlier results that `check` compares with",
                                      "fathom-gate"};
inline const Command history_command{"history", "Find what changed over many earlier results",
                                     "fathom-gate"};
inline const Command fleet_command{
    "fleet", "Many GPUs: which one is slow, and what their links carry", "fathom-fleet"};
inline const Command explain_command{
    "explain", "Why a program's kernels are slow, by source line, without counters",
    "fathom-explain"};

inline const Command program_commands[] = {check_command, baseline_command, history_command,
                                           fleet_command, explain_command};

}  // namespace fathom
