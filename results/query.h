#pragma once

#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "results/document.h"
#include "results/segmentation.h"

namespace fathom {

// Looking things up among entries: what probes conclude from and reports draw from.

using AxisFilter = std::vector<std::pair<std::string, AxisValue>>;

const AxisValue* find_axis(const Entry& entry, const std::string& name);
/// NaN for null and for a word.
double number_of(const AxisValue* value);
bool matches(const Entry& entry, const AxisFilter& filter);
/// Whether the view's `where` lets the entry in.
bool matches(const Entry& entry, const View& view);

/// Entries that have every axis of `filter` with its value, in document order.
std::vector<const Entry*> select(std::span<const Entry> entries, const AxisFilter& filter);

/// The first such entry that has a value, or null.
const Entry* find_measured(std::span<const Entry> entries, const AxisFilter& filter);

/// The entry with the best value of its metric, or null if none has a value. All must share a
/// metric.
const Entry* best(const std::vector<const Entry*>& entries);

/// The entries' curve over a numeric axis, x ascending; entries without a value or without the axis
/// are left out.
std::vector<CurvePoint> curve_of(const std::vector<const Entry*>& entries, const std::string& axis);

/// The first of its opponents with the largest value, or null if none has a value.
const Opponent* fastest_opponent(const Entry& entry);

const Counter* find_counter(const Entry& entry, const std::string& role);
std::optional<double> counter_value(const Entry& entry, const std::string& role);

/// The SM clock that the samples ran at: by the SMs' own counters where they were read, else the
/// median of NVML's readings, which lag behind bursts.
std::optional<double> sm_clock_of(const Entry& entry);

}  // namespace fathom
