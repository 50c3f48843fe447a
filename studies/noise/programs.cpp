// Twelve programs for Google Benchmark: three each of sorting, compression, JSON and regular
// expressions. The environment's SHARE is the work in hundredths, 100 unless told: a benchmark does
// that many units of its program, so that 105 is a true slowdown of 5 %.
//
//   g++ -O2 -std=c++20 programs.cpp -lbenchmark -lz -lbz2 -o programs && SHARE=105 ./programs
//   SHARE=105 ./programs once json-read    # one program as a command of its own, for hyperfine
#include <algorithm>
#include <cstdlib>
#include <functional>
#include <random>
#include <regex>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>
#include <bzlib.h>
#include <zlib.h>
#include <nlohmann/json.hpp>

namespace {

using nlohmann::json;

int share() {
  const char* text = std::getenv("SHARE");
  return text == nullptr ? 100 : std::atoi(text);
}

// The same data in each run: the generator has a fixed seed.
std::vector<int> numbers(int count) {
  std::mt19937 random(1);
  std::vector<int> made(count);
  std::generate(made.begin(), made.end(), [&] { return static_cast<int>(random() >> 1U); });
  return made;
}

std::string text(int words) {
  std::string made;
  for (const int number : numbers(words)) {
    made += "user" + std::to_string(number % 5000) + (number % 7 == 0 ? "@host.example " : " ");
  }
  return made;
}

json records(int count) {
  json made = json::array();
  for (const int number : numbers(count)) {
    made.push_back({{"id", number},
                    {"name", "user" + std::to_string(number % 5000)},
                    {"tags", {"a", "b", "c"}},
                    {"score", number / 7.0}});
  }
  return made;
}

/// The one program that is wanted; empty for all.
std::string wanted;

/// `make` prepares the data and returns a unit of the work.
template <typename Make>
void add(const std::string& name, Make make) {
  if (!wanted.empty() && name != wanted) return;
  std::function<void()> unit = make();
  benchmark::RegisterBenchmark(name.c_str(),
                               [unit](benchmark::State& state) {
                                 const int units = share();
                                 for (auto step : state) {
                                   for (int done = 0; done < units; ++done) unit();
                                 }
                               })
      ->Iterations(1)
      ->Repetitions(9)
      ->Unit(benchmark::kMicrosecond)
      ->UseRealTime();
  if (!wanted.empty()) {  // a process takes time of its own, so twice as much
    for (int done = 0; done < 2 * share(); ++done) unit();
  }
}

template <typename Sort>
void add_sort(const char* name, int count, Sort sort) {
  add(name, [=] {
    return [data = numbers(count), sort] {
      auto copy = data;
      sort(copy);
      benchmark::DoNotOptimize(copy.data());
    };
  });
}

void add_zlib(const char* name, int words, int level) {
  add(name, [=] {
    return [data = text(words), level] {
      std::vector<Bytef> out(compressBound(data.size()));
      uLongf size = out.size();
      compress2(out.data(), &size, reinterpret_cast<const Bytef*>(data.data()), data.size(), level);
      benchmark::DoNotOptimize(size);
    };
  });
}

void add_regex(const char* name, int words, const char* pattern) {
  add(name, [=] {
    return [data = text(words), expression = std::regex(pattern, std::regex::optimize)] {
      benchmark::DoNotOptimize(std::distance(
          std::sregex_iterator(data.begin(), data.end(), expression), std::sregex_iterator()));
    };
  });
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 3 && std::string(argv[1]) == "once") wanted = argv[2];
  add_sort("sort-quick", 2800, [](auto& data) { std::sort(data.begin(), data.end()); });
  add_sort("sort-stable", 2600, [](auto& data) { std::stable_sort(data.begin(), data.end()); });
  add_sort("sort-heap", 2000, [](auto& data) {
    std::ranges::make_heap(data);
    std::ranges::sort_heap(data);
  });
  add_zlib("compress-fast", 550, 1);
  add_zlib("compress-usual", 220, 6);
  add("compress-bzip2", [] {
    return [data = text(75)]() mutable {
      std::string out(data.size() + data.size() / 50 + 700, '\0');
      unsigned int size = out.size();
      BZ2_bzBuffToBuffCompress(out.data(), &size, data.data(), data.size(), 1, 0, 0);
      benchmark::DoNotOptimize(size);
    };
  });
  add("json-read",
      [] { return [data = records(48).dump()] { benchmark::DoNotOptimize(json::parse(data)); }; });
  add("json-write",
      [] { return [data = records(200)] { benchmark::DoNotOptimize(data.dump()); }; });
  add("json-both", [] {
    return [data = records(36).dump()] { benchmark::DoNotOptimize(json::parse(data).dump(2)); };
  });
  add_regex("regex-address", 150, "[a-z]+[0-9]+@[a-z.]+");
  add_regex("regex-number", 370, "[0-9]{3,}");
  add_regex("regex-words", 270, "(user1[0-9]*|user2[0-9]*) ");
  if (!wanted.empty()) return 0;
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
}
