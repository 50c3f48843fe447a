// What the probes' kernels are made of. The compiler merges, splits and drops what it can: what a
// probe times or counts must be there as often as it says, with its width, and nothing else of its
// kind beside it.

#include <fmt/ranges.h>

#include <bit>

#include "probes/atomics/kernels.h"
#include "probes/atomics/patterns.h"
#include "probes/bank_conflicts/kernels.h"
#include "probes/copy_bandwidth/kernels.h"
#include "probes/energy/kernels.h"
#include "probes/instructions/instructions.h"
#include "probes/instructions/kernels.h"
#include "probes/memory_bandwidth/kernels.h"
#include "probes/warp_reduce/kernels.h"
#include "tests/sass/rung_code.h"

using namespace fathom;

namespace {

using Rows = std::vector<RungCode>;

const char* suffix(int width) {
  constexpr const char* suffixes[] = {".U8", ".U16", "", ".64", ".128"};
  return suffixes[std::countr_zero(static_cast<unsigned>(width))];
}

/// As many accesses of each width, and none of another.
std::string accesses(const std::string& opcode, std::map<int, int> by_width) {
  int all = 0;
  std::string conditions;
  for (const int width : {1, 2, 4, 8, 16}) {
    all += by_width[width];
    if (width != 4) conditions += fmt::format("{}{}={} ", opcode, suffix(width), by_width[width]);
  }
  return fmt::format("{}{}={} ", conditions, opcode, all);
}

/// An enumerator as a template's argument has it.
template <class Enumerator>
std::string argument(const char* type, Enumerator value) {
  return fmt::format("(fathom::{}){}", type, static_cast<int>(value));
}

void add_atomics(Rows& rows) {
  using namespace atomics;
  for (std::size_t place = 0; place < all_instructions.size(); ++place) {
    const Instruction& i = all_instructions[place];
    const bool l2 = i.level == Level::l2, shared = i.level == Level::shared;
    // In shared memory the hardware adds words alone: of others the compiler makes a loop of
    // compare and swap, as the probe's text says.
    const bool loop = shared && i.operation == Operation::add && i.type != Type::u32;
    const auto times = [](bool are_there) { return are_there ? unroll : 0; };
    rows.push_back({"atomics", fmt::format("::Atomic<{}ul>", place), 1,
                    fmt::format("ATOMG={} RED|REDG={} ATOMS={} ATOMS.CAST={} ATOM={}",
                                times(l2 && i.returns), times(l2 && !i.returns), times(shared),
                                times(loop), times(i.level == Level::cluster)),
                    // Atomics on one address must not have become one of their sum.
                    "REDUX VOTE VOTEU MATCH POPC UPOPC FLO UFLO"});
    rows.back().since = i.since;
  }
}

void add_bank_conflicts(Rows& rows) {
  using namespace bank_conflicts;
  constexpr int own = region_words / threads_per_block, timed = accesses_per_iteration;
  const auto kernel = [](models::Access op, int width) {
    return fmt::format("shared_accesses<{}, {}>", argument("models::Access", op), width);
  };
  for (const int width : {4, 8, 16}) {
    std::map<int, int> stores{{4, own}};
    stores[width] += timed;
    rows.push_back({"bank_conflicts", kernel(models::Access::load, width), 1,
                    accesses("LDS", {{width, timed}}) + accesses("STS", {{4, own}}), ""});
    rows.push_back({"bank_conflicts", kernel(models::Access::store, width), 1,
                    accesses("STS", stores) + accesses("LDS", {{4, own}}), ""});
  }
}

void add_copy_bandwidth(Rows& rows) {
  using namespace copy_bandwidth;
  const auto add = [&](const char* element, int count, int unroll, LoadHint hint,
                       const std::string& has) {
    rows.push_back({"copy_bandwidth",
                    fmt::format("Pack<{}, {}>, {}, {}, {}>(", element, count, unroll,
                                argument("copy_bandwidth::LoadHint", hint),
                                argument("copy_bandwidth::StoreHint", StoreHint::none)),
                    1, has, ""});
  };
  struct Copy {
    const char* element;
    int bytes, count;
  };
  // Each copy has its packs' accesses twice, for whole tiles and for the last one, and one
  // element's for what is no whole pack. 32 bytes are two instructions of 16 (V6).
  for (const auto& [element, bytes, count] : {Copy{"signed char", 1, 1},
                                              {"__half", 2, 1},
                                              {"__nv_bfloat16", 2, 1},
                                              {"float", 4, 1},
                                              {"float", 4, 2},
                                              {"float", 4, 4},
                                              {"__half", 2, 8},
                                              {"signed char", 1, 16},
                                              {"float", 4, 8},
                                              {"double", 8, 4}}) {
    const int pack = bytes * count;
    std::map<int, int> all{{bytes, 1}};
    all[std::min(pack, 16)] += pack == 32 ? 4 : 2;
    add(element, count, 1, LoadHint::none, accesses("LDG.E", all) + accesses("STG.E", all));
  }
  for (const int unroll : {4, 16, 32}) {
    add("__half", 1, unroll, LoadHint::none,
        accesses("LDG.E", {{2, unroll + 2}}) + accesses("STG.E", {{2, unroll + 2}}));
  }
  // The hint's modifier stands before or behind the width.
  for (const LoadHint hint : {LoadHint::non_coherent, LoadHint::no_allocate, LoadHint::streaming,
                              LoadHint::not_cached, LoadHint::evict_first, LoadHint::evict_last})
    add("float", 4, 1, hint, "LDG=3 LDG*.128=2");
  rows.push_back({"copy_bandwidth", "async_copy", 1, "LDGSTS=1 STG.E.128=1", "LDG"});
  // In, with and without a policy, and out.
  rows.push_back({"copy_bandwidth", "bulk_copy", 1, "UBLKCP=3", "LDG STG"});
}

void add_energy(Rows& rows) {
  using namespace energy;
  const auto add = [&](Level level, const std::string& has, const char* lacks) {
    rows.push_back({"energy", "walk_chunks<" + argument("energy::Level", level), 1, has, lacks});
  };
  const std::string loads = accesses("LDG.E", {{16, loads_per_turn}});
  add(Level::l1, loads, "LDG.E.128.STRONG");
  add(Level::l2, loads + "LDG=LDG.E.128.STRONG.GPU", "");
  // The loop's, and those of the sum over the block's warps.
  add(Level::shared,
      fmt::format("LDG=LDG.E.128 LDS=LDS.128 LDS.128>={} LDS.128<={}", loads_per_turn,
                  loads_per_turn + 2),
      "");
  rows.push_back({"energy", "::rest(", 1, "NANOSLEEP=1", ""});
}

/// Each stands in its loops as often as the count of steps says.
void add_instructions(Rows& rows) {
  using namespace instructions;
  const auto add = [&](const Instruction& i, const char* kernel, const Shape& shape) {
    if (shape.chains == 0) return;
    const int steps = (shape.short_steps + shape.steps + 1) * shape.chains;
    // Padding, operands' own arithmetic and the kernel's barriers: nothing that would count as a
    // step.
    const double most = (i.sass[0] == "NOP" ? 1.5 : 1.03) * steps + 5;
    const std::string step = fmt::format("{}", fmt::join(i.sass, "|"));
    rows.push_back({"instructions",
                    fmt::format("{}<*::{}{}>(", kernel, i.op, i.op.ends_with('>') ? "*" : ""), 1,
                    fmt::format("{}>={} {}<={}", step, steps, step, static_cast<int>(most)), ""});
    // What a chip lacks is compiled to nothing: on others than Hopper, what every chip has.
    rows.back().hopper = i.since != 75;
  };
  const auto add_all = [&](const auto& list) {
    for (const Instruction& i : list) {
      if (!i.runs_on(9, 0)) continue;
      add(i, "latency_chain", find_kernels(i.op).latency);
      add(i, "throughput_chains", find_kernels(i.op).throughput);
    }
  };
  add_all(arithmetic_instructions);
  add_all(warp_instructions);
  add_all(mma_instructions);
  add_all(wgmma_instructions);
}

void add_memory_bandwidth(Rows& rows) {
  using namespace memory_bandwidth;
  const auto operation = [](Operation o) { return argument("memory_bandwidth::Operation", o); };
  const auto path = [](Path p) { return argument("memory_bandwidth::Path", p); };
  const auto add = [&](const std::string& kernel, const std::string& has, const std::string& run,
                       const char* lacks = "") {
    rows.push_back({"memory_bandwidth", kernel, 1, has, lacks});
    rows.back().in_a_row = run;
  };
  const auto global = [&](Operation o, Path p, int width, int loads) {
    return fmt::format("stream_global<{}, {}, {}, {}>", operation(o), path(p), width, loads);
  };
  constexpr const char* strong = ".STRONG.GPU";
  const auto add_loads = [&](Path p, int width, int loads) {
    const std::string opcode = fmt::format("LDG.E{}{}{}", p == Path::no_allocate ? ".NA" : "",
                                           suffix(width), p == Path::l2_only ? strong : "");
    // Before the loop and in it, and nothing else is loaded.
    add(global(Operation::load, p, width, loads),
        fmt::format("LDG={} {}!={}", 2 * loads, opcode, 2 * loads),
        fmt::format("{}>={}", opcode, loads));
  };
  for (const Path p : {Path::cached, Path::l2_only, Path::no_allocate})
    for (const int loads : {4, 8}) add_loads(p, 16, loads);
  for (const int loads : {1, 2}) add_loads(Path::l2_only, 16, loads);
  for (const Path p : {Path::cached, Path::l2_only})
    for (const int width : {4, 8}) add_loads(p, width, 4);
  for (const int width : {4, 8, 16}) {
    std::map<int, int> stores{{4, 2}, {8, 4}};  // the report's
    stores[width] += 4;
    add(global(Operation::store, Path::l2_only, width, 4), accesses("STG.E", stores), "", "LDG");
    add(global(Operation::copy, Path::l2_only, width, 4),
        accesses("STG.E", stores) + fmt::format("LDG=4 LDG.E{}{}=4", suffix(width), strong), "");
  }

  const auto tiles = [&](Operation o, int loads) {
    return fmt::format("stream_tiles<{}, {}, {}>", operation(o), path(Path::l2_only), loads);
  };
  for (const int loads : {1, 2, 4}) {
    const std::string load = fmt::format("LDG={} LDG.E.128.STRONG.GPU={} ", loads, loads),
                      store = accesses("STG.E", {{16, loads}});
    add(tiles(Operation::load, loads), load, fmt::format("LDG.E.128.STRONG.GPU={}", loads), "STG");
    if (loads == 4) continue;
    add(tiles(Operation::store, loads), store, "", "LDG");
    add(tiles(Operation::copy, loads), load + store, "");
  }
  // Chosen SMs load by the same loop as all of them.
  add("stream_on_sms(", "LDG=8 LDG.E.128.STRONG.GPU=8", "LDG.E.128.STRONG.GPU>=4");

  for (const int width : {4, 8, 16}) {
    const auto shared = [&](const char* kernel, Operation o) {
      return fmt::format("{}<{}, {}>", kernel, operation(o), width);
    };
    const auto exactly = [&](const char* opcode, int times, const char* relation = "=") {
      return fmt::format("{}{}!{}{} ", opcode, suffix(width), relation, times);
    };
    // Accesses of 4 bytes also fill and save the memory, and one load behind the stores needs only
    // one of their words.
    const char* relation = width == 4 ? ">=" : "=";
    const int loads = shared_loads(Operation::load), stores = shared_loads(Operation::store),
              copies = shared_loads(Operation::copy);
    add(shared("stream_shared", Operation::load), exactly("LDS", 2 * loads, relation),
        fmt::format("LDS{}>={}", suffix(width), loads));
    add(shared("stream_shared", Operation::store), exactly("STS", stores, relation), "");
    add(shared("stream_shared", Operation::copy),
        exactly("LDS", copies, relation) + exactly("STS", copies, relation), "");
    for (const auto& [o, opcode, times] : {std::tuple{Operation::load, "LD.E", 2 * loads},
                                           {Operation::store, "ST.E", stores},
                                           {Operation::copy, "ST.E", copies}}) {
      add(shared("stream_cluster", o), accesses(opcode, {{width, times}}), "");
      rows.back().since = 90;
    }
  }
}

// A counter must see the instruction under test once, with its width, and nothing else that it
// counts: what fills shared memory before loads is a store and what reads it back after stores a
// load. The one further store is the filling, which a counted launch skips.
void add_model_validation(Rows& rows) {
  const std::string others = "LD ST ATOM ATOMG ATOMS RED REDG ";  // counted elsewhere
  for (const int width : {1, 2, 4, 8, 16}) {
    const auto add = [&](const char* memory, models::Access op, const std::string& opcode,
                         const std::string& has, const std::string& lacks) {
      const std::string kernel = fmt::format("::access<fathom::{}Memory, {}, {}>", memory,
                                             argument("models::Access", op), width);
      rows.push_back({"model_validation", kernel, 1, has, others + lacks});
      rows.back().order = "EXIT " + opcode + suffix(width);
    };
    using enum models::Access;
    std::map<int, int> stores{{4, 1}};
    ++stores[width];
    add("Shared", load, "LDS", accesses("LDS", {{width, 1}}) + accesses("STS", {{4, 1}}), "LDG");
    add("Shared", store, "STS", accesses("STS", stores), "LDG");
    add("Global", load, "LDG.E", accesses("LDG.E", {{width, 1}}), "LDS STS");
    add("Global", store, "STG.E", accesses("STG.E", {{width, 1}}), "LDG LDS STS");
  }
}

void add_warp_reduce(Rows& rows) {
  using namespace warp_reduce;
  constexpr int batch = vectors_per_batch;
  const auto add = [&](const std::string& kernel, const std::string& has, const char* lacks = "") {
    rows.push_back({"warp_reduce", kernel, 1, has, lacks});
  };
  for (const std::string type : {"float", "double", "unsigned int", "__half", "__nv_bfloat16"}) {
    // A batch of the tile, one load in the loop over what is left of the last tile, and elements at
    // the head and at the tail. One addition to memory for a block.
    const auto recipe = [&](Recipe r, int threads) {
      return fmt::format("atomic_sum<{}, {}, {}>", argument("warp_reduce::Recipe", r), type,
                         threads);
    };
    add(recipe(Recipe::tile, 512),
        fmt::format("LDG.E.128={} LDG={} SHFL|REDUX>={} RED|REDG|ATOM|ATOMG|ATOMS=1", batch + 1,
                    batch + 1 + 2, type == "float" ? 2 * 5 : 2));
    add(recipe(Recipe::loop, 256), "LDG.E.128=1");
    add(recipe(Recipe::scalar_loop, 256), "LDG=1", "LDG.E.128");
    // The tile counter and the count of blocks.
    add("dynamic_sum<" + type + ", 512>", fmt::format("LDG.E.128={} ATOM|ATOMG|ATOMS=2", batch + 1),
        "RED REDG");
  }
  // Reductions whose result the compiler saw through, merged or moved would be timed as nothing.
  const auto stage = [](WarpMethod method, Element type, int chains) {
    return fmt::format("warp_stage<{}, {}, {}>", argument("warp_reduce::WarpMethod", method),
                       argument("warp_reduce::Element", type), chains);
  };
  for (const Element type : {Element::f32, Element::i32, Element::f64}) {
    for (const int chains : {1, max_chains}) {
      const int reductions = reductions_per_round(type) * chains,
                words = type == Element::f64 ? 2 : 1;
      for (const WarpMethod method : {WarpMethod::shuffle_xor, WarpMethod::shuffle_down})
        add(stage(method, type, chains), fmt::format("SHFL={}", reductions * 5 * words), "LDS STS");
      add(stage(WarpMethod::shared_tree, type, chains),
          fmt::format("LDS={} STS={}", reductions * 6, reductions * 6), "SHFL");
      add(stage(WarpMethod::shared_butterfly, type, chains),
          fmt::format("LDS={} STS={}", reductions * 5, reductions * 5));
    }
  }
  add(stage(WarpMethod::reduce_add, Element::i32, 1),
      fmt::format("REDUX={}", reductions_per_round(Element::i32)), "SHFL");
}

Rows all_rows() {
  Rows rows{// 16 bytes an instruction, past the caches: four in flight, and the remainder's one.
            {"links", "copy_packs", 1, "LDG=5 LDG.E.128.STRONG.SYS=5 STG=5 STG.E.128=5", ""},
            {"links", "::chase(", 1, "LDG=1 LDG.E.STRONG.SYS=1", ""},
            // A dependent kernel waits and lets the next come before it reads its timer.
            {"launch_overhead", "::link(", 1, "STG=2", ""},
            {"launch_overhead", "::link(", 1, "ACQBULK=1 PREEXIT=1", "", 0, "",
             "ACQBULK PREEXIT SR_GLOBALTIMERLO", 90}};
  for (const auto add :
       {add_atomics, add_bank_conflicts, add_copy_bandwidth, add_energy, add_instructions,
        add_memory_bandwidth, add_model_validation, add_warp_reduce})
    add(rows);
  return rows;
}

}  // namespace

TEST_CASE("the probes' kernels are made of what is counted and timed of them", "[sass]") {
  std::map<std::string, std::vector<SassFunction>> libraries;
  for (const RungCode& row : all_rows()) {
    std::vector<SassFunction>& kernels = libraries[row.rung];
    if (kernels.empty()) kernels = disassemble_library("probe_" + row.rung + "_kernels");
    check_code(row, kernels, [&](const SassFunction& kernel) {
      return kernel.capability() >= row.since && (!row.hopper || kernel.for_hopper());
    });
  }
}
