#include "probes/claims.h"
#include "probes/topology/groups.h"
#include "tests/testing.h"
#include "tests/unit/planted_entries.h"

using namespace fathom;
using namespace fathom::topology;

namespace {

/// `columns` normal numbers.
std::vector<double> pattern(std::mt19937& random, std::size_t columns, double scale) {
  std::normal_distribution<double> normal;
  std::vector<double> values(columns);
  for (double& value : values) value = scale * normal(random);
  return values;
}

/// Things whose rows are their group's pattern and noise of `noise` standard deviations.
struct Planted {
  Rows rows;
  Labels labels;
};

Planted plant(std::size_t things, int groups, std::size_t columns, double noise, unsigned seed) {
  std::mt19937 random(seed);
  Rows patterns;
  for (int g = 0; g < groups; ++g) patterns.push_back(pattern(random, columns, 10));
  Planted planted;
  for (std::size_t i = 0; i < things; ++i) {
    const int group = planted.labels.emplace_back(static_cast<int>(i) % groups);
    std::vector<double>& row = planted.rows.emplace_back(pattern(random, columns, 10 * noise));
    for (std::size_t c = 0; c < columns; ++c) row[c] += 200 + patterns[group][c];
  }
  return planted;
}

/// 48 things on two sides, four groups on each, by patterns over 120 columns.
Rows at_two_scales(unsigned seed) {
  constexpr std::size_t columns = 120;
  std::mt19937 random(seed);
  const std::vector<double> side = pattern(random, columns, 1);
  Rows of_group, rows;
  for (int g = 0; g < 8; ++g) of_group.push_back(pattern(random, columns, 0.4));
  for (int i = 0; i < 48; ++i) {
    std::vector<double>& row = rows.emplace_back(pattern(random, columns, 0.1));
    for (std::size_t c = 0; c < columns; ++c)
      row[c] += (i % 8 < 4 ? 1 : -1) * side[c] + of_group[i % 8][c];
  }
  return double_centred(rows);
}

}  // namespace

TEST_CASE("planted groups are found with their number", "[results][clustering]") {
  for (const int groups : {2, 3, 8}) {
    for (const double noise : {0.0, 0.1, 0.5}) {
      CAPTURE(groups, noise);
      const Planted planted = plant(48, groups, 100, noise, 7);
      const Grouping found = parsimonious_clusters(planted.rows, 2, 24);
      CHECK(found.groups == groups);
      CHECK(adjusted_rand_index(found.labels, planted.labels) == 1);
      CHECK(found.silhouette > 0.5);
    }
  }
}

TEST_CASE("a permutation of the things permutes the groups", "[results][clustering]") {
  const Planted planted = plant(40, 5, 60, 0.5, 3);
  std::vector<std::size_t> order(40);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::shuffle(order.begin(), order.end(), std::mt19937(1));
  Rows shuffled;
  Labels expected;
  for (const std::size_t i : order) shuffled.push_back(planted.rows[i]);
  for (const std::size_t i : order) expected.push_back(planted.labels[i]);
  CHECK(parsimonious_clusters(shuffled, 2, 20).labels == renumbered(expected));
}

TEST_CASE("two groups of two are as far apart as by hand", "[results][clustering]") {
  // 45 degrees within a group: 1 - 1 / sqrt(2). To the other group: 2, and 1 + 1 / sqrt(2).
  const Rows rows{{1, -1, 1, -1}, {-1, 1, -1, 1}, {2, 0, 0, -2}, {-2, 0, 0, 2}};
  const Grouping found = parsimonious_clusters(rows, 2, 2);
  CHECK(found.labels == Labels{0, 1, 0, 1});
  const double own = 1 - std::sqrt(0.5), next = (3 + std::sqrt(0.5)) / 2;
  CHECK_THAT(found.silhouette, WithinAbs((next - own) / next, 1e-12));
  CHECK(clusters(rows, 3) == Labels{0, 1, 0, 2});
  CHECK(clusters(rows, 4) == Labels{0, 1, 2, 3});
}

TEST_CASE("where two numbers of groups fit alike the smaller is chosen every time",
          "[results][clustering]") {
  std::set<int> widest;
  Labels sides;
  for (int i = 0; i < 48; ++i) sides.push_back(i % 8 / 4);
  for (unsigned seed = 1; seed <= 20; ++seed) {
    CAPTURE(seed);
    const Grouping chosen = parsimonious_clusters(at_two_scales(seed), 2, 24);
    CHECK(chosen.labels == sides);
    CHECK(chosen.silhouette <= chosen.widest_silhouette);
    widest.insert(chosen.widest);
  }
  // The widest silhouette alone would have gone to and fro.
  CHECK(widest == std::set{2, 8});
}

TEST_CASE("things that are all alike, and few of them", "[results][clustering]") {
  CHECK(parsimonious_clusters(Rows(6, {1, 2, 3}), 2, 3).silhouette == 0);
  CHECK(parsimonious_clusters({{0}}, 1, 10).groups == 1);
  // Constant rows are as far from all others, and one column leaves nothing to choose by.
  CHECK(parsimonious_clusters({{1, 1, 1}, {2, 2, 2}, {3, 3, 3}}, 2, 2).groups == 2);
  CHECK(parsimonious_clusters({{1}, {2}, {3}}, 1, 3).groups == 1);
}

TEST_CASE("the adjusted Rand index is 1 for the same groups and 0 by chance",
          "[results][clustering]") {
  CHECK(adjusted_rand_index({0, 1, 2}, {2, 1, 0}) == 1);
  CHECK(adjusted_rand_index({0, 0, 0}, {0, 1, 2}) == 0);
  CHECK(adjusted_rand_index({}, {}) == 1);
  // By hand: 1 pair together in both, 4 in one, 3 in the other, 15 in all.
  const double by_chance = 4 * 3 / 15.0;
  CHECK_THAT(adjusted_rand_index({0, 0, 0, 1, 1, 2}, {0, 0, 1, 1, 2, 2}),
             WithinAbs((1 - by_chance) / (3.5 - by_chance), 1e-12));
}

TEST_CASE("connected things are one group", "[results][clustering]") {
  const Pairs pairs{{0, 4}, {4, 2}, {1, 5}, {5, 5}};
  CHECK(connected(6, pairs) == Labels{0, 1, 0, 2, 0, 1});
  CHECK(connected(3, {}) == Labels{0, 1, 2});
  CHECK(renumbered(std::vector<int>{7, 7, -1, 3, -1}) == Labels{0, 0, 1, 2, 1});
  CHECK(members({}).empty());
  CHECK(members({0, 1, 0}) == std::vector<std::vector<std::size_t>>{{0, 2}, {1}});
}

namespace {

constexpr int sms = 36, lines = 96;

/// A GPU of 36 SMs in a scrambled order: TPCs of two, GPCs of 12, 8, 8 and 8, two of them on each
/// side of the L2.
struct Chip {
  Labels tpc, gpc, side;
  double far = 190;    ///< cycles that an atomic takes more on the far side
  double noise = 0.5;  ///< cycles
  /// GPCs side by side: 1.2 cycles apart, and two places in each, 8 apart; else GPCs are 8 apart.
  bool side_by_side = false;
  unsigned seed = 1;

  Chip() {
    std::vector<int> place(sms);
    for (int i = 0; i < sms; ++i) place[i] = i;
    std::shuffle(place.begin(), place.end(), std::mt19937(3));
    for (const int p : place) {
      tpc.push_back(p / 2);
      gpc.push_back(p < 12 ? 0 : 1 + (p - 12) / 8);
      side.push_back(p < 20 ? 0 : 1);
    }
  }

  /// `across`: what the far side costs.
  Rows latencies(int set, double across) const {
    std::mt19937 random(seed + 10 * set);
    std::normal_distribution<double> normal;
    const auto drawn = [&](std::size_t count, double scale) {
      std::vector<double> values(count);
      for (double& x : values) x = scale * normal(random);
      return values;
    };
    Rows of_gpc, of_place;
    for (int i = 0; i < 4; ++i) of_gpc.push_back(drawn(lines, side_by_side ? 1.5 : 6));
    for (int i = 0; i < 4; ++i) of_place.push_back(drawn(lines, side_by_side ? 6 : 0));
    // SMs of a TPC are as far from everything.
    const std::vector<double> of_line = drawn(lines, 5), of_tpc = drawn(sms / 2, 8);
    Rows rows;
    for (int sm = 0; sm < sms; ++sm) {
      rows.push_back(drawn(lines, noise));
      for (int line = 0; line < lines; ++line)
        rows[sm][line] += 220 + of_tpc[tpc[sm]] + of_line[line] + of_gpc[gpc[sm]][line] +
                          of_place[2 * side[sm] + tpc[sm] % 2][line] +
                          (line % 2 != side[sm] ? across : 0);
    }
    return rows;
  }
};

void add_entry(std::vector<Entry>& entries, Axes axes, const AxisValue& sm, const char* profile,
               const std::vector<double>& values) {
  axes.emplace_back("SM", sm);
  Entry e = planted::entry("entry" + std::to_string(entries.size()), axes, 230, Better::lower);
  e.samples = {230, 230, 230};
  e.extras["sms"] = sms;
  e.profile = Profile{profile, "cycles", values};
  entries.push_back(std::move(e));
}

/// All rows in one entry.
void add_in_one(std::vector<Entry>& entries, const Rows& rows, const Axes& axes) {
  std::vector<double> values;
  for (const auto& row : rows) values.insert(values.end(), row.begin(), row.end());
  add_entry(entries, axes, all_sms, "SM by SM, L2 line", values);
}

void add_latencies(std::vector<Entry>& entries, const Chip& chip, const char* instruction,
                   double across) {
  Axes axes{{"sweep", latency_sweep}, {"instruction", instruction}, {"lines", set_names[0]}};
  const Rows rows = chip.latencies(0, across);
  for (std::int64_t sm = 0; sm < sms; ++sm)
    add_entry(entries, axes, sm, "L2 line", rows[static_cast<std::size_t>(sm)]);
  axes.back().second = set_names[1];
  add_in_one(entries, chip.latencies(1, across), axes);
}

void add_latencies(std::vector<Entry>& entries, const Chip& chip) {
  add_latencies(entries, chip, load_instruction, 0);
  add_latencies(entries, chip, atomic_instruction, chip.far);
}

void add_clusters(std::vector<Entry>& entries, const Labels& labels, std::int64_t size,
                  std::int64_t blocks_per_sm, int half = 0) {
  Entry e = planted::entry("clusters" + std::to_string(entries.size()),
                           {{"sweep", cluster_sweep},
                            {"cluster size", size},
                            {"blocks per SM", blocks_per_sm},
                            {"launches", set_names[half]}},
                           static_cast<double>(members(labels).size()), Better::lower);
  e.extras = {{"sms", double(labels.size())}, {"sms_seen", double(labels.size())}};
  e.profile = Profile{"SM", "lowest SM of the group", std::vector<double>(labels.size())};
  for (const auto& group : members(renumbered(labels)))
    for (const std::size_t sm : group) e.profile->values[sm] = static_cast<double>(group.front());
  entries.push_back(std::move(e));
}

/// Clusters of two, `apart` of each SM's with each SM of its group beyond its pair.
void add_pairs(std::vector<Entry>& entries, const Labels& pairs, const Labels& groups,
               double apart) {
  Rows counts(sms, std::vector<double>(sms));
  for (int i = 0; i < sms; ++i)
    for (int j = 0; j < sms; ++j)
      if (i != j) counts[i][j] = pairs[i] == pairs[j] ? 50 : groups[i] == groups[j] ? apart : 0;
  for (const char* half : set_names)
    add_in_one(entries, counts,
               {{"sweep", pair_sweep}, {"blocks per SM", std::int64_t{4}}, {"launches", half}});
}

/// What clusters join where they leave out the TPCs of `out`.
Labels without(const Labels& gpc, const Labels& tpc, const std::set<int>& out) {
  Labels labels = gpc;
  for (std::size_t sm = 0; sm < labels.size(); ++sm)
    if (out.contains(tpc[sm])) labels[sm] = 100 + tpc[sm];
  return labels;
}

std::vector<Entry> whole_chip(const Chip& chip) {
  std::vector<Entry> entries;
  for (const int half : {0, 1}) {
    add_clusters(entries, chip.tpc, 2, 1, half);
    add_clusters(entries, chip.gpc, 8, 4, half);
  }
  add_pairs(entries, chip.tpc, chip.gpc, 1);
  add_latencies(entries, chip);
  return entries;
}

/// As seen by latencies of loads alone, of which a far side costs this.
std::vector<Entry> loads_of(const Chip& chip, double across) {
  std::vector<Entry> entries;
  add_latencies(entries, chip, load_instruction, across);
  return entries;
}

Findings concluded(const std::vector<Entry>& entries) {
  constexpr double least_rand_index = -1;
  return planted::checked(topology::conclude(entries), least_rand_index);
}

const Fact& fact(const Findings& findings, const std::string& id) {
  return planted::fact(findings, "topology." + id);
}

void check_values(const Findings& findings,
                  const std::vector<std::pair<std::string, std::optional<double>>>& rows) {
  for (const auto& [id, value] : rows) planted::check_values(findings, {{"topology." + id, value}});
}

}  // namespace

// Values and methods of facts, the answer and the heat maps: recording_conclude_test.cpp.
TEST_CASE("a planted chip comes out whole", "[probes][topology]") {
  const Chip chip;
  const std::vector<Entry> entries = whole_chip(chip);
  CHECK_THAT(*fact(concluded(entries), "partition_penalty").value, WithinAbs(190, 3));
  const Topology t = topology_of(entries);
  CHECK(t.tpcs == renumbered(chip.tpc));
  CHECK(t.gpcs == renumbered(chip.gpc));
  CHECK(t.partitions.labels == renumbered(chip.side));
}

TEST_CASE("without clusters latencies of loads tell what they can", "[probes][topology]") {
  Chip chip;
  const Findings plain = concluded(loads_of(chip, 0)), sided = concluded(loads_of(chip, 60));
  check_values(plain, {{"gpcs", 4}, {"tpcs", {}}, {"l2_partitions", {}}});
  CHECK_THAT(fact(plain, "gpcs").method, contains("rise and fall together"));
  CHECK_THAT(fact(plain, "gpc_agreement").reason, contains("no clusters"));
  CHECK_THAT(fact(plain, "l2_partitions").reason, contains("no two groups"));
  CHECK(fact(sided, "l2_partitions").value == 2);
  CHECK_THAT(*fact(sided, "partition_penalty").value, WithinAbs(60, 3));

  // The sides of the L2 are no GPCs.
  std::ranges::fill(chip.gpc, 0);
  const Findings sides = concluded(loads_of(chip, 60));
  check_values(sides, {{"l2_partitions", 2}, {"latency_groups", 2}});
  CHECK_THAT(fact(sides, "gpcs").reason, contains("sides of the L2"));

  // Noise has no groups.
  chip.noise = 3;
  const Findings noise = concluded(loads_of(chip, 0));
  check_values(noise, {{"gpcs", {}}, {"latency_groups", {}}, {"l2_partitions", {}}});
  CHECK(*fact(noise, "reproducibility").value < same_groups);
}

TEST_CASE("SMs are a TPC where clusters of two join them far more often than others",
          "[probes][topology]") {
  const Chip chip;
  std::vector<Entry> entries;
  add_pairs(entries, chip.tpc, chip.gpc, 20);
  const Findings findings = concluded(entries);
  check_values(findings, {{"tpcs", 18}, {"tpc_reproducibility", 1}});
  CHECK(topology_of(entries).tpcs == renumbered(chip.tpc));
  entries.clear();
  add_pairs(entries, chip.tpc, chip.gpc, 30);  // not twice as often
  CHECK_THAT(fact(concluded(entries), "tpcs").reason, contains("0 of 36 SMs with one other"));
}

TEST_CASE("SMs that clusters leave out are put into the GPC that latencies show",
          "[probes][topology]") {
  Chip chip;
  chip.side_by_side = true;
  std::vector<Entry> entries;
  // Two TPCs of the first GPC, and one of the second.
  const Labels joined = without(chip.gpc, chip.tpc, {1, 2, 7});
  for (const int half : {0, 1}) add_clusters(entries, joined, 8, 4, half);
  const std::size_t clusters_only = entries.size();
  Findings findings = concluded(entries);
  check_values(findings, {{"gpcs", 4}, {"sms_outside_clusters", 6}, {"sms_per_gpc_min", 6}});
  CHECK_THAT(fact(findings, "sms_outside_clusters").method, contains("no GPC is stated"));
  CHECK_THAT(findings.answer,
             contains("30 SMs sit in 4 GPCs") && contains("6 more out of the reach"));

  add_latencies(entries, chip);
  findings = concluded(entries);
  check_values(findings, {{"gpcs", 4},
                          {"sms_outside_clusters", 6},
                          {"gpc_agreement", 1},
                          {"sms_per_gpc_min", 8},
                          {"sms_per_gpc_max", 12}});
  CHECK_THAT(findings.answer, contains("36 SMs sit in 4 GPCs"));
  CHECK(topology_of(entries).gpcs == renumbered(chip.gpc));
  CHECK(topology_of(entries).joined.own > topology_of(entries).joined.other + 0.1);

  // Latencies that know nothing of GPCs assign none.
  entries.resize(clusters_only);
  Chip blind = chip;
  std::ranges::fill(blind.gpc, 0);
  add_latencies(entries, blind);
  findings = concluded(entries);
  CHECK(*fact(findings, "gpc_agreement").value < same_groups);
  CHECK(fact(findings, "sms_per_gpc_min").value == 6);
  CHECK_THAT(fact(findings, "sms_outside_clusters").method, contains("do not agree"));
}

TEST_CASE("halves of the launches that join others, and a run of some SMs", "[probes][topology]") {
  const Chip chip;
  std::vector<Entry> entries;
  add_clusters(entries, chip.gpc, 8, 4, 0);
  add_clusters(entries, chip.tpc, 8, 4, 1);
  CHECK(*fact(concluded(entries), "gpc_reproducibility").value < 0.5);

  entries = whole_chip(chip);
  std::erase_if(entries, [](const Entry& e) { return matches(e, {{"SM", std::int64_t{7}}}); });
  const Findings findings = concluded(entries);
  CHECK_THAT(fact(findings, "latency_groups").reason, contains("35 of 36 SMs"));
  check_values(findings, {{"l2_partitions", {}}, {"tpcs", 18}, {"gpcs", 4}});  // by clusters

  entries = whole_chip(chip);
  for (Entry& e : entries) e.extras["sms_seen"] = 30;
  CHECK_THAT(fact(concluded(entries), "gpc_agreement").reason, contains("30 of 36"));
}
