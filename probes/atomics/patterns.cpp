#include "probes/atomics/patterns.h"

namespace fathom::atomics {
namespace {

/// The PTX suffix of an operation on a type: ".add.noftz.f16x2".
std::string ptx_operation(Operation operation, Type type) {
  const bool bits = operation == Operation::bit_and || operation == Operation::exchange ||
                    operation == Operation::compare_swap;
  std::string result = std::string(".") + name_of(operation);
  switch (type) {
    case Type::f16x2:
    case Type::bf16x2:
      return result + ".noftz." + name_of(type);
    case Type::f32x4:
      return result + ".v4.f32";
    case Type::u32:
      return result + (bits ? ".b32" : ".u32");
    case Type::u64:
      return result + (bits ? ".b64" : ".u64");
    default:
      return result + "." + name_of(type);
  }
}

}  // namespace

const char* name_of(Operation operation) {
  constexpr const char* names[] = {"add", "min", "max", "and", "exch", "cas"};
  return names[static_cast<int>(operation)];
}

const char* name_of(Type type) {
  constexpr const char* names[] = {"u32", "s32",   "u64",    "b128", "f32",
                                   "f64", "f16x2", "bf16x2", "f32x4"};
  return names[static_cast<int>(type)];
}

const char* name_of(Level level) {
  constexpr const char* names[] = {"L2", "shared", "distributed shared"};
  return names[static_cast<int>(level)];
}

std::string Instruction::form() const { return returns ? "atom" : "red"; }

std::string Instruction::ptx() const {
  constexpr const char* spaces[] = {".global", ".shared", ".shared::cluster"};
  return form() + "." + scope + spaces[static_cast<int>(level)] + ptx_operation(operation, type);
}

int Instruction::value_bytes() const {
  switch (type) {
    case Type::u64:
    case Type::f64:
      return 8;
    case Type::b128:
    case Type::f32x4:
      return 16;
    default:
      return 4;
  }
}

bool asked_of_one_address(const Instruction& i) {
  const bool usual_scope = i.level != Level::l2 || std::string_view(i.scope) == "gpu";
  const bool simple = i.type != Type::b128 && i.type != Type::f32x4 && i.type != Type::s32;
  return usual_scope && simple && (i.operation == Operation::add || i.type == Type::u32);
}

const std::vector<Instruction>& all_instructions() {
  using enum Operation;
  using enum Type;
  static const std::vector<Instruction> all = [] {
    std::vector<Instruction> rows;
    const auto both = [&](Level level, const char* scope, Operation operation, Type type, int since,
                          bool quick) {
      rows.push_back({level, true, scope, operation, type, since, quick});
      rows.push_back({level, false, scope, operation, type, since, quick});
    };
    const auto atom = [&](Level level, const char* scope, Operation operation, Type type, int since,
                          bool quick = false) {
      rows.push_back({level, true, scope, operation, type, since, quick});
    };
    both(Level::l2, "gpu", add, u32, 75, true);
    both(Level::l2, "cta", add, u32, 75, false);
    both(Level::l2, "sys", add, u32, 75, false);
    both(Level::l2, "gpu", add, s32, 75, false);
    both(Level::l2, "gpu", add, u64, 75, false);
    both(Level::l2, "gpu", add, f32, 75, true);
    both(Level::l2, "gpu", add, f64, 75, false);
    both(Level::l2, "gpu", add, f16x2, 75, false);
    both(Level::l2, "gpu", add, bf16x2, 90, false);
    rows.push_back({Level::l2, false, "gpu", add, f32x4, 90});
    both(Level::l2, "gpu", max, u32, 75, false);
    both(Level::l2, "gpu", min, s32, 75, false);
    both(Level::l2, "gpu", max, u64, 75, false);
    both(Level::l2, "gpu", bit_and, u32, 75, false);
    atom(Level::l2, "gpu", exchange, u32, 75);
    atom(Level::l2, "gpu", exchange, u64, 75);
    atom(Level::l2, "gpu", exchange, b128, 90);
    atom(Level::l2, "gpu", compare_swap, u32, 75, true);
    atom(Level::l2, "gpu", compare_swap, u64, 75);
    atom(Level::l2, "gpu", compare_swap, b128, 90);
    both(Level::shared, "cta", add, u32, 75, true);
    both(Level::shared, "cta", add, u64, 75, false);
    both(Level::shared, "cta", add, f32, 75, false);
    both(Level::shared, "cta", add, f64, 75, false);
    both(Level::shared, "cta", add, f16x2, 75, false);
    atom(Level::shared, "cta", max, u32, 75);
    atom(Level::shared, "cta", min, s32, 75);
    atom(Level::shared, "cta", bit_and, u32, 75);
    atom(Level::shared, "cta", exchange, u32, 75);
    atom(Level::shared, "cta", compare_swap, u32, 75, true);
    atom(Level::shared, "cta", compare_swap, u64, 75);
    both(Level::cluster, "cluster", add, u32, 90, true);
    atom(Level::cluster, "cluster", exchange, u32, 90);
    atom(Level::cluster, "cluster", compare_swap, u32, 90);
    return rows;
  }();
  return all;
}

}  // namespace fathom::atomics
