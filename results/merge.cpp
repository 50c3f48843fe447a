#include "results/merge.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <span>
#include <stdexcept>

#include "results/error.h"

namespace fathom {
namespace {

std::string shown(const std::string& value) { return value.empty() ? "unknown" : value; }

template <typename Number>
std::string shown(const std::optional<Number>& value) {
  return value ? fmt::format("{}", *value) : "unknown";
}

/// Collects "what: left and right" for every pair that differs.
class Differences {
 public:
  template <typename Value>
  void compare(const char* what, const Value& a, const Value& b) {
    if (!(a == b)) found_.push_back(fmt::format("{}: {} and {}", what, shown(a), shown(b)));
  }
  std::vector<std::string> take() { return std::move(found_); }

 private:
  std::vector<std::string> found_;
};

std::string source_name(Source source) { return source == Source::replay ? "replay" : "measured"; }

std::vector<std::string> run_differences(const Document& a, const Document& b) {
  Differences differences;
  differences.compare("source", source_name(a.source), source_name(b.source));
  differences.compare("suite", a.suite, b.suite);
  differences.compare("seed", a.seed, b.seed);
  differences.compare("Fathom's version", a.fathom_version, b.fathom_version);
  differences.compare("Fathom's commit", a.fathom_commit, b.fathom_commit);
  return differences.take();
}

std::string name_of(const Document& part) {
  return part.probes.empty() ? part.executable : part.probes.front().name;
}

[[noreturn]] void refuse(const std::string& why) {
  throw Error(ExitCode::bad_input,
              fmt::format("Parts of different runs cannot be merged: {}; merge parts of one run "
                          "only.",
                          why));
}

void require_same_run(const Document& first, const Document& part) {
  std::vector<std::string> differences = run_differences(first, part);
  std::vector<std::string> hardware = fingerprint_differences(first.fingerprint, part.fingerprint);
  differences.insert(differences.end(), hardware.begin(), hardware.end());
  if (differences.empty()) return;
  refuse(fmt::format("those of {} and {} differ in {}", name_of(first), name_of(part),
                     fmt::join(differences, ", ")));
}

template <typename Item>
void append(std::vector<Item>& to, const std::vector<Item>& from) {
  to.insert(to.end(), from.begin(), from.end());
}

/// Appends those whose key is not there yet.
template <typename Item, typename Key>
void unite(std::vector<Item>& to, const std::vector<Item>& from, Key key) {
  for (const Item& item : from) {
    const bool known = std::any_of(to.begin(), to.end(),
                                   [&](const Item& other) { return key(other) == key(item); });
    if (!known) to.push_back(item);
  }
}

bool measured(const Claim& claim) {
  return claim.verdict != ClaimVerdict::does_not_apply &&
         claim.verdict != ClaimVerdict::not_measured;
}

/// The figure with its probe's name before it, as a claim that several probes answered has it already.
std::string attributed_figure(const Claim& claim) {
  const std::string prefix = claim.probe + ": ";
  return claim.figure.starts_with(prefix) ? claim.figure : prefix + claim.figure;
}

void combine(Claim& claim, const Claim& other) {
  if (!measured(other)) return;
  if (!measured(claim)) {
    claim = other;
    return;
  }
  if (other.verdict != claim.verdict) claim.verdict = ClaimVerdict::conditional;
  claim.figure = fmt::format("{}; {}", attributed_figure(claim), attributed_figure(other));
  append(claim.evidence, other.evidence);
}

void add_claims(std::vector<Claim>& claims, const std::vector<Claim>& more) {
  for (const Claim& claim : more) {
    const auto known = std::find_if(claims.begin(), claims.end(),
                                    [&](const Claim& other) { return other.id == claim.id; });
    if (known == claims.end()) {
      claims.push_back(claim);
    } else {
      combine(*known, claim);
    }
  }
}

/// Remembers which part brought a name, and refuses it from a second one.
class Owners {
 public:
  explicit Owners(const char* what) : what_(what) {}
  void add(const std::string& name, std::size_t part) {
    const auto [owner, added] = owner_.emplace(name, part);
    if (!added && owner->second != part) refuse(fmt::format("two of them hold {} {}", what_, name));
  }

 private:
  const char* what_;
  std::map<std::string, std::size_t> owner_;
};

}  // namespace

std::vector<std::string> fingerprint_differences(const Fingerprint& a, const Fingerprint& b) {
  Differences d;
  d.compare("GPU", a.gpu_name, b.gpu_name);
  d.compare("GPU UUID", a.gpu_uuid_hash, b.gpu_uuid_hash);
  d.compare("compute capability", a.compute_capability, b.compute_capability);
  d.compare("VBIOS", a.vbios, b.vbios);
  d.compare("driver", a.driver, b.driver);
  d.compare("driver's CUDA", a.cuda_driver, b.cuda_driver);
  d.compare("CUDA runtime", a.cuda_runtime, b.cuda_runtime);
  d.compare("toolkit", a.toolkit, b.toolkit);
  d.compare("SMs", a.sms, b.sms);
  d.compare("memory bytes", a.memory_bytes, b.memory_bytes);
  d.compare("L2 bytes", a.l2_bytes, b.l2_bytes);
  d.compare("memory bus bits", a.memory_bus_bits, b.memory_bus_bits);
  d.compare("maximum SM clock in Hz", a.sm_clock_max_hz, b.sm_clock_max_hz);
  d.compare("maximum memory clock in Hz", a.memory_clock_max_hz, b.memory_clock_max_hz);
  d.compare("power limit in W", a.power_limit_w, b.power_limit_w);
  d.compare("ECC", a.ecc, b.ecc);
  d.compare("MIG", a.mig, b.mig);
  d.compare("persistence mode", a.persistence, b.persistence);
  d.compare("PCIe link", a.pcie_link, b.pcie_link);
  d.compare("virtualisation", a.virtualization, b.virtualization);
  d.compare("compute mode", a.compute_mode, b.compute_mode);
  d.compare("confidential computing", a.confidential_computing, b.confidential_computing);
  return d.take();
}

Document merge_documents(const std::vector<Document>& parts) {
  if (parts.empty()) throw std::invalid_argument("nothing to merge");
  Document merged = parts.front();
  Owners probes("the probe"), entries("the entry"), facts("the fact");
  for (std::size_t i = 0; i < parts.size(); ++i) {
    for (const ProbeSummary& probe : parts[i].probes) probes.add(probe.name, i);
    for (const Entry& entry : parts[i].entries) entries.add(entry.name, i);
    for (const Fact& fact : parts[i].facts) facts.add(fact.id, i);
  }
  for (const Document& part : std::span(parts).subspan(1)) {
    require_same_run(parts.front(), part);
    merged.date = std::min(merged.date, part.date);  // ISO 8601 in UTC sorts as text
    merged.elapsed_s += part.elapsed_s;
    append(merged.entries, part.entries);
    append(merged.probes, part.probes);
    add_claims(merged.claims, part.claims);
    append(merged.facts, part.facts);
    unite(merged.warnings, part.warnings, [](const std::string& warning) { return warning; });
    unite(merged.notes, part.notes, [](const std::string& note) { return note; });
    unite(merged.bounds, part.bounds, [](const DeviceBound& bound) { return bound.name; });
  }
  return merged;
}

}  // namespace fathom
