#include "gemm/tuning/program.h"

#include <CLI/CLI.hpp>
#include <array>
#include <cstdio>
#include <regex>

#include "harness/cuda_handles.h"
#include "results/error.h"
#include "results/flag_checks.h"

namespace fathom::gemm {
namespace {

using Sizes = std::array<std::int64_t, 3>;

struct Request {
  Class of = Class::fp32;
  std::vector<std::int64_t> sizes;  ///< m, n, k; empty: the contested ones
  std::string transposes, filter = ".";
  bool promoted = false, list = false, check = false, alone = false;
  Comparison how;
};

Problem product(const Request& request, const Sizes& sizes) {
  // The tensor cores multiply 8-bit types along k alone: BLAS's TN.
  std::string transposes = request.transposes;
  if (transposes.empty())
    transposes = request.of == Class::fp8 || request.of == Class::int8 ? "TN" : "NN";
  const auto of = [&](int i) { return transposes[i] == 'N' ? Transpose::no : Transpose::yes; };
  const Problem problem = make_problem(request.of, sizes[0], sizes[1], sizes[2], of(0), of(1));
  if (const auto wrong = invalid(problem)) throw Error(ExitCode::bad_input, *wrong);
  return problem;
}

std::vector<Trial> chosen(const TuningProgram& program, const Request& request) {
  std::vector<Trial> list = program.variants(request.of, request.promoted);
  const std::regex filter(request.filter);
  std::erase_if(list, [&](const Trial& t) { return !std::regex_search(t.name, filter); });
  return list;
}

int run(const TuningProgram& program, Request request) {
  const std::vector<Trial> trials = chosen(program, request);
  if (request.list) {
    for (const Trial& t : trials) std::puts(t.name.c_str());
    return 0;
  }
  request.how.opponents = !request.alone;
  request.how.fast_sums = !request.promoted;
  std::vector<Problem> products;
  if (request.sizes.empty()) {
    for (const Sizes& sizes : program.contested) products.push_back(product(request, sizes));
  } else {
    products.push_back(product(request, {request.sizes[0], request.sizes[1], request.sizes[2]}));
  }
  const DeviceFacts facts = query_device_facts(0);
  const Stream stream = make_stream();
  const auto context = [&] { return Context(facts, stream.get(), 1); };
  bool right = true;
  if (request.check) {
    Context own = context();
    right = check_small_products(own, request.of, trials);
  } else {
    for (const Problem& problem : products) {
      Context own = context();
      right = compare(own, problem, trials, request.how) && right;
    }
  }
  return to_int(right ? ExitCode::ok : ExitCode::check_failed);
}

}  // namespace

std::vector<Sizes> TuningProgram::goals() {
  return {{4096, 4096, 4096}, {8192, 8192, 8192}, {4095, 4095, 4095},
          {16, 8192, 8192},   {64, 8192, 8192},   {128, 8192, 8192}};
}

int run_tuning(const TuningProgram& program, int argc, char** argv) try {
  CLI::App app(program.description +
               " Each is held against the reference first. Without sizes: the contested products.");
  Request request;
  std::vector<std::string> types;
  for (const Class of : program.classes) types.emplace_back(traits(of).name);
  std::string type = types.front();
  CLI::Option* const sizes = app.add_option("sizes", request.sizes, "m n k")->expected(3);
  app.add_option("--type", type, "what is multiplied")->check(one_of(types))->capture_default_str();
  app.add_option("--transposes", request.transposes, "NN, NT, TN or TT")
      ->check(one_of({"NN", "NT", "TN", "TT"}));
  app.add_option("--filter", request.filter, "regular expression of variants' names");
  app.add_option("--rounds", request.how.rounds, "bursts of each")
      ->check(whole_number(1, 1'000'000));
  app.add_flag("--sustained", request.how.sustained, "under lasting load instead of in bursts");
  app.add_flag("--promoted", request.promoted, "fp8 whose sums keep all bits, the library's too");
  app.add_flag("--alone", request.alone, "without the library");
  app.add_flag("--check", request.check,
               "only hold each against the reference, on small products of every kind")
      ->excludes(sizes);
  app.add_flag("--list", request.list, "print the variants' names");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : to_int(ExitCode::bad_input);
  }
  request.of = *find_class(type);
  return run(program, request);
} catch (const Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return to_int(error.code());
} catch (const std::regex_error& error) {
  std::fprintf(stderr, "--filter: %s\n", error.what());
  return to_int(ExitCode::bad_input);
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return to_int(ExitCode::check_failed);
}

}  // namespace fathom::gemm
