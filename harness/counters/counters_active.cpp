#include "harness/counters/counters_active.h"

#include <atomic>

namespace fathom {
namespace {
std::atomic<int> sessions = 0;
}  // namespace

bool counters_active() { return sessions.load() > 0; }
CountersActive::CountersActive() { ++sessions; }
CountersActive::~CountersActive() { --sessions; }

}  // namespace fathom
