#include "fleet/fleet.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <set>
#include <thread>
#include <tuple>

#include "results/document_io.h"
#include "results/files.h"
#include "results/text.h"

namespace fathom::fleet {
namespace {

namespace fs = std::filesystem;

/// A card without a hash, one that failed before it was known, is known by its place.
std::string identity_of(const GpuSummary& gpu) {
  return gpu.uuid_hash.empty() ? name_of(gpu) : gpu.uuid_hash;
}

/// Schedulers have short names where the machine's own has its domain.
bool is_one_host(std::string_view a, std::string_view b) {
  const auto a_dot = a.find('.'), b_dot = b.find('.');
  if (a_dot != a.npos && b_dot != b.npos) return a == b;
  return a.substr(0, a_dot) == b.substr(0, b_dot);
}

/// Several are read at once; a whole atlas with all its samples has a tenth of it.
constexpr std::size_t largest_file = std::size_t{64} << 20;

bool is_summary(const fs::path& file) {
  return file.filename() == summary_file || file.filename() == links_file;
}

/// One folder's files, and those of the folders below, with what cannot be read there. Links to
/// folders are not followed: they may lead round in a circle. `summed_up`: by a summary in a folder
/// above; a document below one is not read.
void look_into(const fs::path& folder, const fs::path& root, bool summed_up,
               std::vector<fs::path>& files, std::vector<Problem>& problems) {
  const auto unread = [&](const fs::path& path, const std::string& why) {
    problems.push_back({path.lexically_relative(root), why, to_int(ExitCode::incomplete)});
  };
  std::vector<fs::path> inner, documents;
  std::error_code error, unknown;
  fs::directory_iterator at(folder, error), end;
  if (error && folder == root)
    fail(ExitCode::bad_input, "{} cannot be read ({}): name the folder that the jobs wrote into.",
         folder.string(), error.message());
  for (; !error && at != end; at.increment(error)) {
    const fs::path& path = at->path();
    const std::string name = path.filename();
    const fs::file_type type = at->status(unknown).type();
    const bool is_json = path.extension() == ".json" && name != "fleet.json";
    if (type == fs::file_type::directory) {
      if (is_summary(path)) unread(path, "it cannot be read (it is no file)");
      // Nothing is to be found in a run's own, or what its document has already.
      const bool own = name == "report" || name == "parts" || name == "logs";
      if (!own && !at->is_symlink(unknown)) inner.push_back(path);
    } else if (path.extension() == ".tmp") {
      unread(path, "its writer died before it was complete");
    } else if (is_json && type != fs::file_type::regular) {
      // A pipe, whose writer would be waited for, or a link that leads nowhere.
      unread(path, "it cannot be read (it is no file)");
    } else if (is_json) {
      (is_summary(path) ? files : documents).push_back(path);
      summed_up = summed_up || is_summary(path);
    }
  }
  if (error) unread(folder, fmt::format("it cannot be read ({})", error.message()));
  if (!summed_up) files.insert(files.end(), documents.begin(), documents.end());
  for (const fs::path& below : inner) look_into(below, root, summed_up, files, problems);
}

/// A document of a job that left no summary: `fathom run`'s own.
GpuSummary summary_of(const Document& document, const fs::path& file, const fs::path& root) {
  GpuSummary summary;
  // The folder of the run, relative to where was looked: "node07-0".
  summary.host = file.parent_path().lexically_relative(root);
  if (summary.host == ".") summary.host = file.stem();
  add_document(summary, document, Phase::alone);
  require_date(summary, file);
  for (const ProbeSummary& probe : document.probes) {
    if (probe.status == ProbeStatus::complete) continue;
    summary.status = GpuStatus::partial;
    summary.reason = fmt::format("{}: {}", probe.name, probe.status_reason);
    summary.exit_code = to_int(ExitCode::incomplete);
    break;
  }
  return summary;
}

constexpr std::pair<const char*, Reading MetricFigures::*> states[] = {
    {"alone", &MetricFigures::alone}, {"together", &MetricFigures::together}};

/// Takes out a figure that no measurement gives: a negative one, or 0 of a rate, a time or an
/// energy. A number of mismatches may be 0, and so may a share.
void drop_impossible(auto& figure, const std::string& unit, const std::string& name,
                     std::string_view when, std::vector<MissingFigure>& missing) {
  if (!figure || *figure > 0) return;
  constexpr std::string_view quantities[] = {"s", "cycles", "clocks", "W", "J", "B", "Hz"};
  const bool may_be_zero =
      unit.find('/') == std::string::npos && std::ranges::count(quantities, unit) == 0;
  if (*figure == 0 && may_be_zero) return;
  missing.push_back(
      {name, std::string(when), format_quantity(*figure, unit) + " is no measurement"});
  figure = {};
}

/// Noise and telemetry explain figures: what they cannot be explains nothing.
void drop_below(double least, auto&... values) {
  const auto drop = [&](auto& value) {
    if (value && !(*value >= least)) value = {};
  };
  (drop(values), ...);
}
/// Above 0, that is.
constexpr double tiniest = std::numeric_limits<double>::min();

/// What cards have in common that should have the same figures.
std::string kind_of(const GpuSummary& s) {
  const auto build = s.settings.find("Fathom");
  return fmt::format("{}\n{}\n{}\n{}{}{}", s.model, s.suite,
                     build == s.settings.end() ? "" : build->second, bool(s.elapsed_s.alone),
                     bool(s.elapsed_s.together), bool(s.elapsed_s.suite));
}

/// What most cards of a kind have in a state, the others miss. Cards that say themselves what they
/// lack have told it already.
void find_absent(Fleet& fleet) {
  constexpr std::size_t fewest_peers = 3;
  std::map<std::string, std::vector<GpuSummary*>> kinds;
  for (GpuSummary& gpu : fleet.gpus)
    if (gpu.status == GpuStatus::complete && gpu.exit_code == 0)
      kinds[kind_of(gpu)].push_back(&gpu);
  for (const auto& [kind, members] : kinds)
    for (std::size_t metric = 0; metric < fleet.metrics.size(); ++metric) {
      const std::string& name = fleet.metrics[metric].name;
      const std::string_view probe = std::string_view(name).substr(0, name.find('/'));
      for (const auto& [state, figure] : states) {
        struct Peers {
          std::size_t have = 0;
          std::vector<GpuSummary*> lack{};
        } peers[2];  // cases that only counters decide are not on every card
        for (GpuSummary* gpu : members) {
          const auto& of = gpu->counters_of;
          const bool counts =
              gpu->no_counters.empty() && (of.empty() || std::ranges::count(of, probe) > 0);
          if (gpu->at(metric).*figure)
            ++peers[counts].have;
          else
            peers[counts].lack.push_back(gpu);
        }
        for (const auto& [have, lack] : peers) {
          if (have + lack.size() < fewest_peers || have <= lack.size()) continue;
          for (GpuSummary* gpu : lack) {
            std::erase_if(gpu->missing, [&](const MissingFigure& m) {  // a name without any figure
              return m.metric == name && m.when.empty();
            });
            gpu->missing.push_back({name, state, "none, and cards of its kind have one"});
          }
        }
      }
    }
}

/// "missing: copy/best together (0 B/s is no measurement) and 2 more"
std::string missing_text(const std::vector<MissingFigure>& missing) {
  return "missing: " + first_of(missing, 3, [](const MissingFigure& m) {
           return fmt::format("{}{}{} ({})", m.metric, m.when.empty() ? "" : " ", m.when, m.reason);
         });
}

void check(GpuSummary& gpu, const std::vector<MetricName>& metrics) {
  for (std::size_t i = 0; i < gpu.figures.size(); ++i) {
    MetricFigures& figures = gpu.figures[i];
    for (const auto& [state, figure] : states)
      drop_impossible(figures.*figure, metrics[i].unit, metrics[i].name, state, gpu.missing);
    drop_below(0, figures.noise);
    drop_below(tiniest, figures.sm_clock_hz);
  }
  Health& h = gpu.health;
  drop_below(tiniest, h.sm_clock_hz, h.memory_clock_hz, h.power_w, h.power_limit_w,
             h.pcie_generation, h.pcie_width);
  drop_below(0, h.uncorrected_ecc_errors, h.remapped_rows, h.other_processes);
  if (gpu.missing.empty()) return;
  std::ranges::sort(gpu.missing, {},
                    [](const MissingFigure& m) { return std::tie(m.metric, m.when); });
  gpu.reason += (gpu.reason.empty() ? "" : "; ") + missing_text(gpu.missing);
  if (gpu.status == GpuStatus::complete) gpu.status = GpuStatus::partial;
  if (gpu.exit_code == 0) gpu.exit_code = to_int(ExitCode::incomplete);
}

void check(HostLinks& links, std::vector<Problem>& problems) {
  std::vector<MissingFigure> missing;
  for (LinkFact& fact : links.facts) {
    drop_below(tiniest, fact.bound);
    const std::size_t before = missing.size();
    drop_impossible(fact.value, fact.unit, fact.quantity, fact.subject, missing);
    if (missing.size() > before) fact.reason = missing.back().reason;
  }
  for (LinkPair& pair : links.pairs) {
    drop_below(tiniest, pair.bound);
    if (!pair.value || *pair.value > 0) continue;
    const auto& [engine, direction, unit] = links.kinds[pair.kind];
    drop_impossible(pair.value, unit, fmt::format("{}, {}", engine, direction),
                    fmt::format("GPU {} to {}", pair.from, pair.to), missing);
  }
  if (!missing.empty())
    problems.push_back(
        {"links of " + links.host, missing_text(missing), to_int(ExitCode::incomplete)});
}

}  // namespace

int known_code(int exit_code) {
  const bool known = (exit_code >= to_int(ExitCode::output_unwritable) &&
                      exit_code <= to_int(ExitCode::setup_incomplete)) ||
                     exit_code == to_int(ExitCode::interrupted);
  return known ? exit_code : to_int(ExitCode::incomplete);
}

void in_parallel(std::size_t count, const std::function<void(std::size_t)>& work) {
  std::atomic<std::size_t> next = 0;
  const auto take = [&] {
    for (std::size_t i; (i = next++) < count;) work(i);
  };
  std::vector<std::jthread> others;  // they end before `next` does
  const std::size_t threads = std::min<std::size_t>(count, std::thread::hardware_concurrency());
  for (std::size_t i = 1; i < threads; ++i) others.emplace_back(take);
  take();
}

void Fleet::add(GpuSummary&& gpu) {
  const std::vector<MetricName> names = std::move(gpu.names);
  const std::vector<MetricFigures> own = std::move(gpu.figures);
  gpu.names = {};
  gpu.figures.assign(metrics.size(), {});
  for (std::size_t i = 0; i < names.size(); ++i) {
    std::size_t place = i;  // as a rule where it is in the summary, too
    if (i >= metrics.size() || metrics[i].name != names[i].name)
      place = places_.try_emplace(names[i].name, metrics.size()).first->second;
    if (place == metrics.size()) {
      metrics.push_back(names[i]);
      gpu.figures.emplace_back();
    }
    gpu.figures[place] = own[i];
    if (!own[i].alone && !own[i].together) gpu.missing.push_back({names[i].name, "", "no figure"});
  }
  gpus.push_back(std::move(gpu));
}

void Fleet::finish(const Expected& expected) {
  std::ranges::sort(gpus, std::greater{}, [](const GpuSummary& gpu) {
    return std::tie(gpu.date, gpu.host, gpu.gpu, gpu.where);
  });
  std::set<std::string> known;
  std::erase_if(gpus, [&](const GpuSummary& gpu) {  // the latest of each comes first
    const bool again = !known.insert(identity_of(gpu)).second;
    if (again)
      problems.push_back({gpu.where, "the same GPU was measured again later, which counts"});
    return again;
  });
  std::ranges::sort(gpus, {}, [](const GpuSummary& gpu) {
    return std::tie(gpu.host, gpu.gpu, gpu.date, gpu.where);
  });

  for (std::size_t i = 1; i < gpus.size(); ++i)
    if (name_of(gpus[i]) == name_of(gpus[i - 1]))
      problems.push_back({name_of(gpus[i]),
                          "it is the name of two GPUs: measure each machine with a --host-name of "
                          "its own"});

  for (GpuSummary& gpu : gpus)  // what is not complete is at least incomplete
    if (gpu.status != GpuStatus::complete || gpu.exit_code > to_int(ExitCode::check_failed))
      gpu.exit_code = known_code(gpu.exit_code);
  find_absent(*this);
  for (GpuSummary& gpu : gpus) check(gpu, metrics);
  for (HostLinks& host : links) check(host, problems);
  // Also one with all figures and a failed check: it computes wrong results.
  for (const GpuSummary& gpu : gpus)
    if (gpu.status != GpuStatus::complete || gpu.exit_code != 0)
      problems.push_back({name_of(gpu), gpu.reason, gpu.exit_code});

  const int incomplete = to_int(ExitCode::incomplete);
  for (const std::string& host : expected.hosts)
    if (std::ranges::none_of(gpus, [&](const GpuSummary& g) { return is_one_host(g.host, host); }))
      problems.push_back({"host " + host, "it left no result", incomplete});
  if (expected.gpus && gpus.size() < *expected.gpus)
    problems.push_back({counted(*expected.gpus - gpus.size(), "GPU"),
                        fmt::format("{} expected, {} left a result", *expected.gpus, gpus.size()),
                        incomplete});
  std::ranges::sort(links, {}, &HostLinks::host);
  std::ranges::stable_sort(problems, {}, &Problem::what);
}

std::size_t Fleet::hosts() const {
  std::set<std::string_view> names;
  for (const GpuSummary& gpu : gpus) names.insert(gpu.host);
  return names.size();
}

bool Fleet::replay() const { return std::ranges::count(gpus, Source::replay, &GpuSummary::source); }

Fleet read_fleet(const fs::path& folder, const Expected& expected) {
  const fs::path root = folder.lexically_normal();
  const bool all = expected.run.empty();
  std::mutex mutex;
  Fleet fleet;
  std::vector<fs::path> files;
  look_into(root, root, false, files, fleet.problems);
  std::ranges::sort(files);
  if (!all) {
    // Its own are written in one step; the others are of runs before it.
    fleet.problems.clear();
    std::erase_if(files, [](const fs::path& file) { return !is_summary(file); });
  }
  const auto add_gpu = [&](GpuSummary gpu, const fs::path& file) {
    gpu.where = file;
    const std::lock_guard guard(mutex);
    if (all || gpu.run == expected.run) fleet.add(std::move(gpu));
  };
  const auto add_links = [&](HostLinks links) {
    const std::lock_guard guard(mutex);
    if (all || links.run == expected.run) fleet.links.push_back(std::move(links));
  };
  in_parallel(files.size(), [&](std::size_t i) {
    const fs::path& file = files[i];
    try {
      const std::string text = read_file_up_to(file, largest_file);
      const std::string_view begin = std::string_view(text).substr(0, 64);
      if (begin.find(summary_key) != begin.npos) return add_gpu(parse_summary(text, file), file);
      if (begin.find(links_key) != begin.npos) return add_links(parse_links(text, file));
      if (!all) return;  // a run's own are summed up
      const Document document = parse_document(text, file);
      const auto is_links = [](const ProbeSummary& probe) { return probe.name == "links"; };
      if (!document.probes.empty() && std::ranges::all_of(document.probes, is_links))
        add_links(links_of(file.parent_path().filename(), document));
      else
        add_gpu(summary_of(document, file, root), file);
    } catch (const Error& error) {
      const std::lock_guard guard(mutex);
      fleet.problems.push_back({file.lexically_relative(root), error.what(), to_int(error.code())});
    }
  });
  fleet.finish(expected);
  // A run that could write nothing has told why itself.
  if (all && fleet.gpus.empty() && fleet.links.empty() && fleet.problems.empty())
    fail(ExitCode::bad_input,
         "{} holds no result: name the folder that `fathom fleet run` or `fathom run` wrote into.",
         folder.string());
  return fleet;
}

}  // namespace fathom::fleet
