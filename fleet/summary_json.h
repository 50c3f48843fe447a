#pragma once

#include <fmt/format.h>

#include <string_view>

#include "fleet/fleet.h"
#include "results/document_fields.h"
#include "results/parse_number.h"
#include "results/read_fields.h"
#include "results/write_fields.h"

namespace fathom {

// The members of gpu.json and links.json, once for their readers and writers (results/fields.h).

template <>
inline constexpr auto fields_of<fleet::Health> =
    with_later(FATHOM_LIST(fleet::Health, "", "", sm_clock_hz, memory_clock_hz, temperature_c,
                           power_w, throttle_reasons, power_limit_w, pcie_generation, pcie_width,
                           uncorrected_ecc_errors, remapped_rows, remapping_failed,
                           remapping_pending, other_processes),
               {"remapping_failed", "remapping_pending"});
FATHOM_FIELDS(fleet::PhaseTimes, "", "", alone, together, suite);

// Written by column: a list for each field, of all metrics.
FATHOM_FIELDS(fleet::MetricName, "", "", name, unit, better);
FATHOM_FIELDS(fleet::MetricFigures, "", "", alone, together, noise, sm_clock_hz);

/// Without the metrics: as fleet.json has it.
template <>
inline constexpr auto fields_of<fleet::GpuSummary> =
    with_later(FATHOM_LIST(fleet::GpuSummary, "", "", host, gpu, rank, gpu_name, uuid_hash, model,
                           run, date, suite, source, status, reason, exit_code, no_counters,
                           counters_of, settings, health, elapsed_s),
               {"run", "no_counters", "counters_of"});

template <>
inline constexpr auto fields_of<fleet::MissingFigure> = field_list(
    "", "", field("metric", &fleet::MissingFigure::figure),
    field("when", &fleet::MissingFigure::when), field("reason", &fleet::MissingFigure::reason));
FATHOM_FIELDS(fleet::Problem, "", "", what, reason, exit_code);
FATHOM_FIELDS(fleet::LinkFact, "", "", id, subject, quantity, unit, better, value, bound,
              bound_source, reason);
FATHOM_FIELDS(fleet::LinkKind, "", "", engine, direction, unit);
FATHOM_FIELDS(fleet::LinkPair, "", "", kind, from, to, value, bound);
FATHOM_FIELDS(fleet::HostLinks, "", "", host, run, facts, kinds, pairs);

namespace fleet {

/// The shortest number that gives the figure back: as a double it would have seventeen digits.
inline void to_json(nlohmann::ordered_json& json, const Reading& figure) {
  json = nullptr;
  if (figure) json = *parse_number<double>(fmt::format("{}", static_cast<float>(*figure)));
}

}  // namespace fleet
}  // namespace fathom
