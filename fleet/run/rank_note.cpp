#include "fleet/run/rank_note.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "results/exit_codes.h"

namespace fathom {

using nlohmann::json;

std::string note_text(int rank, const std::string& host, const std::string& reason, int exit_code) {
  const json note{{"rank", rank}, {"host", host}, {"reason", reason}, {"exit_code", exit_code}};
  return note.dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
}

fleet::Problem problem_of_note(int rank, const std::string& text) {
  const std::string what = fmt::format("rank {}", rank);
  try {
    const json note = json::parse(text);
    const int code = note.at("exit_code").get<int>();
    const bool known =
        code >= to_int(ExitCode::incomplete) && code <= to_int(ExitCode::interrupted);
    return {what,
            fmt::format("on {}: {}", note.at("host").get<std::string>(),
                        note.at("reason").get<std::string>()),
            known ? code : to_int(ExitCode::incomplete)};
  } catch (const json::exception&) {
    return {what, "it died", to_int(ExitCode::incomplete)};
  }
}

}  // namespace fathom
