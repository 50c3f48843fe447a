// Finding CUPTI, and what its errors mean to a user.

#include <cupti_result.h>
#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <cstdlib>
#include <set>
#include <string>

#include "harness/counters/counter_problem.h"
#include "harness/counters/counters_active.h"
#include "harness/counters/cupti_library.h"

using namespace fathom;

TEST_CASE("the toolkit's CUPTI is found", "[counters]") {
  // Not skipped without it: the build found its headers, so its library must be there too.
  const CuptiLibrary& library = cupti_library();
  CHECK(library.version / 10000 == CUPTI_API_VERSION / 10000);
  CHECK(library.cuptiProfilerHostInitialize != nullptr);
}

TEST_CASE("without a CUPTI the error says what to do and what was tried", "[counters]") {
  try {
    load_cupti({"/nonexistent/libcupti.so.99"});
    FAIL("it was loaded");
  } catch (const CounterError& error) {
    CHECK(error.problem() == CounterProblem::no_library);
    CHECK(error.code() == ExitCode::counters_unavailable);
    CHECK(std::string(error.what()).find("FATHOM_CUPTI_DIR") != std::string::npos);
    CHECK(std::string(error.what()).find("/nonexistent/libcupti.so.99") != std::string::npos);
  }
}

TEST_CASE("a library that is not CUPTI is named with what it lacks", "[counters]") {
  try {
    load_cupti({"libm.so.6"});
    FAIL("it was taken for CUPTI");
  } catch (const CounterError& error) {
    CHECK(error.problem() == CounterProblem::no_library);
    CHECK(std::string(error.what()).find("libm.so.6 (has no cupti") != std::string::npos);
  }
}

TEST_CASE("FATHOM_CUPTI_DIR is the only place searched when it is set", "[counters]") {
  setenv("FATHOM_CUPTI_DIR", "/somewhere", 1);
  const auto named = cupti_search_path();
  unsetenv("FATHOM_CUPTI_DIR");
  REQUIRE(named.size() == 1);
  CHECK(named.front().parent_path() == "/somewhere");

  const auto usual = cupti_search_path();
  CHECK(usual.size() > 3);
  // The loader's own search, before the usual places: what the user's environment says comes first.
  const auto loader =
      std::ranges::find_if(usual, [](const auto& file) { return !file.has_parent_path(); });
  REQUIRE(loader != usual.end());
  CHECK((loader + 1)->string().starts_with("/usr/local/cuda/"));
}

TEST_CASE("CUPTI's codes become problems", "[counters]") {
  const std::pair<CUptiResult, CounterProblem> rows[] = {
      {CUPTI_SUCCESS, CounterProblem::none},
      {CUPTI_ERROR_INSUFFICIENT_PRIVILEGES, CounterProblem::not_permitted},
      {CUPTI_ERROR_VIRTUALIZED_DEVICE_NOT_SUPPORTED, CounterProblem::vgpu},
      {CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES, CounterProblem::vgpu},
      {CUPTI_ERROR_MIG_DEVICE_NOT_SUPPORTED, CounterProblem::mig},
      {CUPTI_ERROR_CONFIDENTIAL_COMPUTING_NOT_SUPPORTED, CounterProblem::confidential_computing},
      {CUPTI_ERROR_CMP_DEVICE_NOT_SUPPORTED, CounterProblem::mining_gpu},
      {CUPTI_ERROR_SLI_DEVICE_NOT_SUPPORTED, CounterProblem::sli},
      {CUPTI_ERROR_WSL_DEVICE_NOT_SUPPORTED, CounterProblem::wsl},
      {CUPTI_ERROR_INVALID_CHIP_NAME, CounterProblem::unsupported_gpu},
      {CUPTI_ERROR_HARDWARE_BUSY, CounterProblem::busy},
      {CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED, CounterProblem::busy},
      {CUPTI_ERROR_NOT_COMPATIBLE, CounterProblem::driver_too_old},
      {CUPTI_ERROR_OUT_OF_MEMORY, CounterProblem::out_of_memory},
      {CUPTI_ERROR_UNKNOWN, CounterProblem::failed},
  };
  for (const auto& [result, problem] : rows) {
    CAPTURE(static_cast<int>(result));
    CHECK(problem_of(result) == problem);
  }
}

TEST_CASE("every problem has a name, a sentence and an exit code of its kind", "[counters]") {
  std::set<std::string_view> names;
  for (int i = static_cast<int>(CounterProblem::no_library);
       i <= static_cast<int>(CounterProblem::failed); ++i) {
    const auto problem = static_cast<CounterProblem>(i);
    CAPTURE(name(problem));
    CHECK(names.insert(name(problem)).second);
    CHECK(sentence(problem).ends_with("."));
    CHECK(sentence(problem).find(':') != std::string::npos);
    CHECK(exit_code(problem) != ExitCode::ok);
  }
  CHECK(sentence(CounterProblem::none).empty());
  CHECK(exit_code(CounterProblem::none) == ExitCode::ok);
  CHECK(exit_code(CounterProblem::not_permitted) == ExitCode::counters_unavailable);
  CHECK(exit_code(CounterProblem::mig) == ExitCode::partitioned_gpu);
  CHECK(exit_code(CounterProblem::vgpu) == ExitCode::partitioned_gpu);
  CHECK(exit_code(CounterProblem::driver_too_old) == ExitCode::driver_too_old);
  CHECK(sentence(CounterProblem::not_permitted).find("NVreg_RestrictProfilingToAdminUsers=0") !=
        std::string::npos);
}

TEST_CASE("a failed call names itself and CUPTI's word for it", "[counters]") {
  try {
    check_cupti(CUPTI_ERROR_UNKNOWN, "cuptiSomething");
    FAIL("no error");
  } catch (const CounterError& error) {
    const std::string text = error.what();
    CHECK(text.find("cuptiSomething returned 999 (CUPTI_ERROR_UNKNOWN)") != std::string::npos);
  }
  CHECK_NOTHROW(check_cupti(CUPTI_SUCCESS, "cuptiSomething"));
}

TEST_CASE("counters are active exactly while a session lives", "[counters]") {
  CHECK_FALSE(counters_active());
  {
    const CountersActive outer;
    CHECK(counters_active());
    { const CountersActive inner; }
    CHECK(counters_active());
  }
  CHECK_FALSE(counters_active());
}
