#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <sstream>
#include <utility>

#include "gemm/bench/cases.h"
#include "gemm/bench/conclude.h"
#include "results/error.h"
#include "results/text.h"

namespace fathom::gemm {
namespace {

/// Where only some of m, n and k are given, the others.
constexpr std::int64_t usual_size = 4096;

template <class T>
std::optional<T> given(const OptionValues& values, const std::string& name) {
  const auto found = values.find(name);
  if (found == values.end()) return std::nullopt;
  return std::get<T>(found->second);
}

[[noreturn]] void refuse(const std::string& sentence) {
  throw Error(ExitCode::bad_input, sentence);
}

Transpose transpose(const OptionValues& values, const std::string& name) {
  const std::string text = given<std::string>(values, name).value_or("N");
  if (text == "N" || text == "n") return Transpose::no;
  if (text == "T" || text == "t") return Transpose::yes;
  refuse(fmt::format("--{} takes N or T, not '{}'.", name, text));
}

/// Fills in the request's rungs, and its notes on those that have another name now.
void read_rungs(Request& request, const std::string& text) {
  std::vector<std::string> known;
  for (const Rung& rung : all_rungs()) known.push_back(rung.id());
  std::stringstream stream(text);
  for (std::string id; std::getline(stream, id, ',');) {
    if (const std::string now = current_id(id); !now.empty()) {
      request.notes.push_back(
          fmt::format("The rung {} is {} now; the next version takes that name alone.", id, now));
      id = now;
    }
    if (find_rung(id) == nullptr)
      refuse(fmt::format("There is no rung '{}'.{} gemm_ladder --help names them all.", id,
                         did_you_mean(id, known)));
    if (request.of && find_rung(id)->of != *request.of)
      refuse(fmt::format(
          "The rung {} is not of the type {}: leave --type out, or take one of its own rungs.", id,
          traits(*request.of).name));
    request.rungs.push_back(id);
  }
  if (request.rungs.empty())
    refuse(
        "--rung takes a rung such as fp32/row_major/02_coalesced, or several with commas between.");
}

std::string class_names() {
  std::vector<std::string> names;
  for (const ClassTraits& row : all_classes()) names.emplace_back(row.name);
  return fmt::format("{}", fmt::join(names, ", "));
}

/// Why this is none of a class, or none that can be checked.
std::optional<std::string> no_product_of(Class of, Problem p) {
  p.of = of;
  const auto wrong = invalid(p);
  return wrong ? wrong : overflows(p);
}

}  // namespace

std::string current_id(const std::string& former_id) {
  // What does their products now; the last ones' numbers or folders alone are others.
  constexpr std::pair<const char*, std::string_view> former[] = {
      {"fp32/row_major/01_naive", " fp32/01_naive "},
      {"fp32/column_major/01_naive", " fp32/03_shuffle_broadcast "},
      {"fp32/row_major/03_shared_memory", " fp32/04_shared_memory "},
      {"fp32/column_major/02_shared_memory", " fp32/05_shared_columns "},
      {"fp32/row_major/07_padded", " fp32/13_swizzled "},
      {"fp32/row_major/08_double_buffered", " fp32/14_double_buffered "},
      {"fp32/column_major/06_tile_128", " fp32/17_tile_16x4 "},
      {"fp32/26_sliced_depth",
       " fp32/22_planned_tiles fp32/23_engine_fed fp32/24_thread_fed fp32/25_equal_shares"
       " fp32/27_small_products "},
      {"fp64/05_tma", " fp64/05_copy_engine "},
      {"fp64/08_late_reads", " fp64/07_stream_k fp64/09_small_products "},
      {"fp32-3xtf32/02_planned_tiles", " fp32-3xtf32/01_promoted "},
      {"tf32/03_large_clusters", " tf32/02_a_in_registers "},
      {"fp16/01_wmma_global", " fp16/01_simt "},
      {"fp16/02_wmma_shared", " fp16/03_wmma "},
      {"fp16/15_deferred_stores",
       " fp16/12_split_depth fp16/13_all_layouts fp16/14_large_clusters fp16/16_small_products "},
      {"",
       " fp32/02_coalesced fp32/06_two_outputs fp32/07_tile_1d fp32/08_tile_2x2 fp32/09_tile_64"
       " fp32/10_tile_2d fp32/11_linearised fp32/12_padded fp32/15_vectorised"
       " fp32/16_vectorised_64 fp32/18_registers_buffered fp32/19_warp_tile"
       " fp32/20_async_multistage fp32/21_wide_thread_tile tf32/01_wgmma fp16/02_wmma_global"
       " fp16/04_mma_sync fp16/05_multistage fp16/06_wgmma fp16/07_warp_specialised"
       " fp16/08_wide_tile fp16/09_persistent fp16/10_cluster_multicast"
       " fp16/11_overlapped_epilogue "}};
  // bf16 has fp16's rungs.
  const bool bf16 = former_id.starts_with("bf16/");
  const std::string sought = bf16 ? "fp16" + former_id.substr(4) : former_id;
  const auto row = std::ranges::find_if(former, [&](const auto& known) {
    return known.second.find(" " + sought + " ") != std::string_view::npos;
  });
  if (row == std::end(former)) return "";
  if (*row->first != 0) return bf16 ? "bf16" + std::string(row->first).substr(4) : row->first;
  const std::string type = former_id.substr(0, former_id.find('/') + 1);
  return std::ranges::find_if(all_rungs(),
                              [&](const Rung& rung) {
                                return rung.id().starts_with(type) &&
                                       rung.id().ends_with(former_id.substr(type.size() + 2));
                              })
      ->id();
}

bool Request::wants(const Rung& rung) const {
  if (of && rung.of != *of) return false;
  return rungs.empty() || std::ranges::find(rungs, rung.id()) != rungs.end();
}

std::vector<const Rung*> Request::rungs_on(const DeviceFacts& device) const {
  std::vector<const Rung*> found;
  for (const Rung& rung : all_rungs()) {
    if (!wants(rung)) continue;
    if (runs_on(rung, device.major, device.minor))
      found.push_back(&rung);
    else if (!rungs.empty())
      refuse(fmt::format(
          "The rung {} runs on compute capability {}.{}{}, and this GPU has {}.{}: take others.",
          rung.id(), rung.capability / 10, rung.capability % 10,
          rung.exact_capability ? " only" : " or newer", device.major, device.minor));
  }
  if (found.empty())
    refuse(fmt::format("No rung of this type runs on compute capability {}.{}: take another.",
                       device.major, device.minor));
  return found;
}

Request read_request(const OptionValues& values) {
  Request request;
  if (const auto type = given<std::string>(values, "type")) {
    request.of = find_class(*type);
    if (!request.of)
      refuse(fmt::format("There is no type '{}': take one of {}.", *type, class_names()));
  }
  if (const auto rungs = given<std::string>(values, "rung")) read_rungs(request, *rungs);
  if (values.contains("autotune"))
    request.notes.push_back("--autotune has nothing to add: rungs with variants always try them.");

  const char* const of_a_product[] = {"m",   "n",      "k",      "lda",   "ldb",
                                      "ldc", "transa", "transb", "alpha", "beta"};
  if (std::ranges::none_of(of_a_product, [&](const char* name) { return values.contains(name); }))
    return request;
  const auto size = [&](const char* name) {
    return given<std::int64_t>(values, name).value_or(usual_size);
  };
  Problem p = make_problem(request.of.value_or(Class::fp32), size("m"), size("n"), size("k"),
                           transpose(values, "transa"), transpose(values, "transb"),
                           given<double>(values, "alpha").value_or(1),
                           given<double>(values, "beta").value_or(0));
  p.lda = given<std::int64_t>(values, "lda").value_or(p.lda);
  p.ldb = given<std::int64_t>(values, "ldb").value_or(p.ldb);
  p.ldc = given<std::int64_t>(values, "ldc").value_or(p.ldc);
  // What is a product in one class may be none in another: integers have no alpha of a half.
  for (const ClassTraits& row : all_classes()) {
    const auto wanted = [&](const Rung* rung) { return request.wants(*rung); };
    if (std::ranges::none_of(rungs_of(row.of), wanted)) continue;
    if (const auto wrong = no_product_of(row.of, p)) {
      const bool others =
          !request.of && std::ranges::any_of(all_classes(), [&](const ClassTraits& other) {
            return !no_product_of(other.of, p);
          });
      refuse(fmt::format("{}{}.", *wrong, others ? "; --type or --rung choose others" : ""));
    }
    p.of = row.of;
  }
  request.problem = p;
  return request;
}

namespace {

std::vector<ProbeOption> ladder_options() {
  using enum ProbeOption::Kind;
  const auto option = [](const char* name, std::string description, ProbeOption::Kind kind,
                         const char* value_name = "TEXT", std::int64_t least = 1) {
    return ProbeOption{.name = name,
                       .description = std::move(description),
                       .least = least,
                       .most = kind == whole_number ? largest_size : 0,
                       .kind = kind,
                       .optional = true,
                       .value_name = value_name};
  };
  const auto size = [](const char* of) { return fmt::format("{} (default: {})", of, usual_size); };
  return {
      option("rung", "Only this rung of those below, or these with commas between", text, "RUNG"),
      option("type", "Only the ladder of this type: " + class_names(), text, "TYPE"),
      option("m",
             size("Rows of op(A) and C; with any flag from here to --beta, one product in place of "
                  "the sweep"),
             whole_number, "TEXT", 0),
      option("n", size("Columns of op(B) and C"), whole_number, "TEXT", 0),
      option("k", size("Columns of op(A), rows of op(B)"), whole_number, "TEXT", 0),
      option("lda", "Leading dimension of A in elements (column-major; default: its rows)",
             whole_number),
      option("ldb", "Leading dimension of B (default: its rows)", whole_number),
      option("ldc", "Leading dimension of C (default: its rows)", whole_number),
      option("transa", "N or T: whether A is transposed (default: N)", text, "N|T"),
      option("transb", "N or T: whether B is transposed (default: N)", text, "N|T"),
      option("alpha", "C = alpha op(A) op(B) + beta C (default: 1)", number),
      option("beta", "See alpha (default: 0, where C is not read)", number),
      option("autotune", "Not needed any more: rungs with variants always try them", flag)};
}

/// The rungs that --rung takes, type by type.
std::string rungs_for_help() {
  constexpr std::size_t width = 100;
  std::string text = "Rungs:\n";
  for (const ClassTraits& row : all_classes()) {
    std::string line = " ";
    for (const Rung* rung : rungs_of(row.of)) {
      if (line.size() + 1 + rung->id().size() > width) {
        text += line + "\n";
        line = " ";
      }
      line += " " + rung->id();
    }
    text += line + "\n";
  }
  return text + "\n";
}

Probe ladder_probe() {
  Probe probe{.name = "gemm"};
  probe.program = "gemm_ladder";
  probe.question =
      "How fast does this GPU multiply matrices, what does each idea gain, and does the vendor's "
      "library reach as far?";
  probe.method =
      "Each rung computes C = alpha op(A) op(B) + beta C of random normal data. Before it is "
      "timed, its C, filled with NaN and with guard bands around it and between its columns, is "
      "held against an fp64 reference by another kernel, per element and in the Frobenius norm. "
      "The rungs that are held against the vendor's library are timed alternately with it, with "
      "the same layout, types and scalars: the library as it is called by default, and the fastest "
      "of up to 32 of its algorithms with a workspace of 64 MiB. All of a ladder are timed in "
      "bursts: before a sample the GPU rests twice as long as the last one took. A product counts "
      "2 m n k FLOP. The top rung of each ladder is swept over sizes, and around multiples of its "
      "tile, beside the library as it is called by default (of fp8, which cuBLAS itself does not "
      "take, the best of cuBLASLt): without rests, so that each point has the clock that power "
      "leaves it, and what tiles cost is counted in cycles.";
  probe.conclude = conclude;
  probe.options = ladder_options();
  probe.check_options = [](const OptionValues& options) { read_request(options); };
  probe.warnings = []() -> std::vector<std::string> {
    if (why_no_opponents().empty()) return {};
    return {why_no_opponents()};
  };
  probe.example = "--rung fp32/26_sliced_depth --m 128 --n 8192 --k 8192 --transa T";
  probe.more_help = rungs_for_help();
  const auto notes = std::make_shared<std::vector<std::string>>();
  probe.cases_for = [notes](const DeviceFacts& device, const OptionValues& options) {
    const Request request = read_request(options);
    *notes = request.notes;
    return ladder_cases(device, request);
  };
  probe.notes = [notes] { return *notes; };
  return probe;
}

}  // namespace
}  // namespace fathom::gemm

FATHOM_PROBE(fathom::gemm::ladder_probe())
