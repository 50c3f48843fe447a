#include <optional>

#include "gemm/best/fp32/tilings.h"
#include "gemm/best/fp32/warp_specialised.cuh"
#include "gemm/best/fp32/warp_specialised_tiles.h"
#include "gemm/best/tma_operands.h"
#include "gemm/blocks/tensor_map.h"
#include "gemm/blocks/tma_product.cuh"
#include "harness/cuda_check.h"

// From a product's arguments to the launch of the warp-specialised kernel, and its tiles.

namespace fathom::gemm::fp32 {

/// How TMA takes operands; others are copied first.
inline constexpr MajorsTaken tma_majors{Major::outer, Major::outer};

/// What a producer needs of a launch. The product is taken row-major or, `swapped`, as BLAS states
/// it: then C lies along its columns, and the tile, wider than high, along the other side.
template <class Producer>
struct ProducerHost;

/// Of boxes of `k` of k by `side`, in shared memory contiguous as the operand is.
inline CUtensorMap box_map(const TmaOperand& o, int side, int k) {
  if (o.major == Major::k)
    return plain_tensor_map(o.data, o.element, o.k, o.outer, o.stride, k, side);
  return plain_tensor_map(o.data, o.element, o.outer, o.k, o.stride, side, k);
}

template <>
struct ProducerHost<TmaProducer> {
  static bool takes(const Problem&, int, int, bool) { return true; }
  static std::size_t copy_bytes(const Problem& p) { return TmaOperands::copy_bytes(p, tma_majors); }
  template <class Tile>
  static TmaProducer::Sources sources(const Arguments& arguments, const Product<float>&,
                                      bool swapped, std::byte* copies, cudaStream_t stream) {
    const TmaOperands x = TmaOperands::prepared(arguments, tma_majors, copies, stream);
    return {box_map(swapped ? x.b : x.a, Tile::m, Tile::k),
            box_map(swapped ? x.a : x.b, Tile::n, Tile::k)};
  }
};

template <bool TransposeA, bool TransposeB>
struct ProducerHost<TransposingProducer<TransposeA, TransposeB>> {
  using Producer = TransposingProducer<TransposeA, TransposeB>;
  static bool takes(const Problem& p, int, int, bool swapped) {
    constexpr Major a = TransposeA ? Major::k : Major::outer,
                    b = TransposeB ? Major::k : Major::outer;
    return TmaOperands::copy_bytes(p, swapped ? MajorsTaken{b, a} : MajorsTaken{a, b}) == 0;
  }
  static std::size_t copy_bytes(const Problem&) { return 0; }
  template <class Tile>
  static typename Producer::Sources sources(const Arguments& arguments, const Product<float>&,
                                            bool swapped, std::byte*, cudaStream_t) {
    const TmaOperands x = TmaOperands::of(arguments);
    return {box_map(swapped ? x.b : x.a, Tile::m, Tile::k),
            box_map(swapped ? x.a : x.b, Tile::n, Tile::k)};
  }
};

template <>
struct ProducerHost<ThreadProducer> {
  static bool takes(const Problem& p, int m, int n, bool swapped) {
    return swapped ? p.m >= m && p.n >= n : p.n >= m && p.m >= n;
  }
  static std::size_t copy_bytes(const Problem&) { return 0; }
  template <class Tile>
  static ThreadProducer::Sources sources(const Arguments&, const Product<float>& p, bool,
                                         std::byte*, cudaStream_t) {
    return {along_of(p.a.column_stride, p.a.row_stride, p.m),
            along_of(p.b.row_stride, p.b.column_stride, p.n)};
  }
};

/// The best way for the tile to lie, of those that the producer takes; nothing if there is none.
template <class Tile, class Producer>
std::optional<TilePlacement> placement_of(const Problem& p) {
  std::optional<TilePlacement> best;
  for (const bool swapped : {false, true}) {
    if (!ProducerHost<Producer>::takes(p, Tile::m, Tile::n, swapped)) continue;
    const std::int64_t m = swapped ? p.m : p.n, n = swapped ? p.n : p.m;
    const TilePlacement placement{ceil_div(m, Tile::m) * Tile::m * ceil_div(n, Tile::n) * Tile::n,
                                  swapped};
    if (!best || placement < *best) best = placement;
  }
  return best;
}

template <class Tile>
int tiles_of(const Problem& p, bool swapped) {
  const TileGrid tiles(static_cast<int>(swapped ? p.m : p.n), static_cast<int>(swapped ? p.n : p.m),
                       Tile::m, Tile::n);
  return static_cast<int>(tiles.blocks());
}

template <class Tile>
StreamKShares shares_of(const Problem& p, int sms, bool swapped) {
  const int depth = static_cast<int>(ceil_div(p.k, Tile::step)), count = tiles_of<Tile>(p, swapped);
  return stream_k_shares(count, depth, sms);
}

/// Where shares end: at bodies where two SMs and more share a tile, and there is a body for each.
/// There half a stage is much of a share, and who has a tile's first stage would add for long while
/// the others have nothing to do.
template <class Tile>
Cut cut_of(const Problem& p, int sms, bool swapped) {
  const std::int64_t tiles = tiles_of<Tile>(p, swapped);
  const bool few = 2 * tiles <= sms && tiles * ceil_div(p.k, Tile::body) >= sms;
  return few ? Cut::bodies : Cut::stages;
}

/// Bytes for the sums that blocks leave each other, and the words that say so.
template <class Tile>
std::size_t shared_sums_bytes(const StreamKShares& shares, int sms) {
  if (shares.shared == 0) return 0;
  return static_cast<std::size_t>(sms) * partials_per_block<Tile> *
         (Tile::m * Tile::n * sizeof(float) + sizeof(unsigned));
}

/// Calls `with` with the tile, cut as it is for the product.
template <class Tile, class Producer, class With>
auto with_cut(const Problem& p, int sms, const With& with) {
  const bool swapped = placement_of<Tile, Producer>(p).value().swapped;
  if constexpr (Producer::cuts_stages) {
    if (cut_of<Tile>(p, sms, swapped) == Cut::bodies)
      return with(typename Tile::template WithCut<Cut::bodies>{}, swapped);
  }
  return with(Tile{}, swapped);
}

/// Workspace of a launch: the shared sums, then copies of operands.
template <class Tile, class Producer>
std::size_t warp_specialised_workspace_bytes(const Problem& p, int sms) {
  if (!placement_of<Tile, Producer>(p) || p.alpha == 0 || p.k == 0) return 0;
  const std::size_t sums =
      with_cut<Tile, Producer>(p, sms, [&]<class CutTile>(CutTile, bool swapped) {
        return shared_sums_bytes<CutTile>(shares_of<CutTile>(p, sms, swapped), sms);
      });
  return workspace_part(sums) + ProducerHost<Producer>::copy_bytes(p);
}

template <class Tile, class Producer>
void launch_cut(const Arguments& arguments, const Workspace& workspace, bool swapped,
                cudaStream_t stream) {
  WarpSpecialisedProduct<Producer> p{};
  p.product = swapped ? column_major<float>(arguments) : row_major<float>(arguments);
  const TileGrid tiles(p.product.m, p.product.n, Tile::m, Tile::n);
  p.tiles_m = tiles.tiles_m;
  p.tiles_n = tiles.tiles_n;
  p.vectors = !swapped && p.product.c.row_stride % 4 == 0 && p.product.n % 4 == 0;
  p.shares = shares_of<Tile>(arguments.problem, workspace.sms, swapped);
  const std::size_t sums_bytes = shared_sums_bytes<Tile>(p.shares, workspace.sms);
  if (p.shares.shared != 0) {
    const std::size_t flags = workspace.sms * partials_per_block<Tile> * sizeof(unsigned);
    p.shared.sums = reinterpret_cast<float*>(workspace.data);
    p.shared.ready = reinterpret_cast<unsigned*>(workspace.data + sums_bytes - flags);
    FATHOM_CUDA(cudaMemsetAsync(p.shared.ready, 0, flags, stream));
  }
  p.sources = ProducerHost<Producer>::template sources<Tile>(
      arguments, p.product, swapped, workspace.data + workspace_part(sums_bytes), stream);
  const auto kernel = warp_specialised_product<Tile, Producer>;
  constexpr int shared_bytes = warp_specialised_shared_bytes<Tile, Producer>();
  FATHOM_CUDA(
      cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared_bytes));
  // Blocks that share tiles wait for each other's sums: all of them must be resident at once, one
  // an SM, so that no other kernel that keeps its SMs may run beside this one.
  kernel<<<workspace.sms, Tile::threads, shared_bytes, stream>>>(p);
  FATHOM_CUDA(cudaGetLastError());
}

template <class Tile, class Producer>
void launch_warp_specialised(const Arguments& arguments, const Workspace& workspace,
                             cudaStream_t stream) {
  if (launch_without_product(arguments, stream)) return;
  with_cut<Tile, Producer>(arguments.problem, workspace.sms,
                           [&]<class CutTile>(CutTile, bool swapped) {
                             launch_cut<CutTile, Producer>(arguments, workspace, swapped, stream);
                           });
}

template <class Tile, class Producer>
RungKernel warp_specialised_kernel() {
  return {reinterpret_cast<const void*>(&warp_specialised_product<Tile, Producer>),
          Tile::threads,
          warp_specialised_shared_bytes<Tile, Producer>(),
          Tile::m,
          Tile::n,
          Tile::k};
}

template <class Tile, class Producer>
WarpSpecialisedChoice warp_specialised_choice() {
  return {Tile::m,
          Tile::n,
          [](const Problem& p) { return placement_of<Tile, Producer>(p).has_value(); },
          [](const Problem& p) { return placement_of<Tile, Producer>(p).value(); },
          &ProducerHost<Producer>::copy_bytes,
          &warp_specialised_workspace_bytes<Tile, Producer>,
          &launch_warp_specialised<Tile, Producer>,
          [](const Problem& p, int sms) {
            return with_cut<Tile, Producer>(p, sms, []<class CutTile>(CutTile, bool swapped) {
              const RungKernel kernel = warp_specialised_kernel<CutTile, Producer>();
              return swapped ? kernel.transposed() : kernel;
            });
          }};
}

namespace {

template <class Producer, int Stages, int Last>
WarpSpecialisedChoice filled_by() {
  return warp_specialised_choice<
      WarpSpecialisedTile<16, 8, 2, 4, 4, Stages, Last, Producer::pad_a, Producer::pad_b>,
      Producer>();
}

}  // namespace

WarpSpecialisedChoice tma_producer_128x256() { return filled_by<TmaProducer, 4, 8>(); }
WarpSpecialisedChoice thread_producer_128x256() { return filled_by<ThreadProducer, 4, 16>(); }
WarpSpecialisedChoice transposing_producer_a() {
  return filled_by<TransposingProducer<true, false>, 4, 8>();
}
WarpSpecialisedChoice transposing_producer_b() {
  return filled_by<TransposingProducer<false, true>, 4, 8>();
}
/// Both boxes beside the ring leave it room for three stages.
WarpSpecialisedChoice transposing_producer_both() {
  return filled_by<TransposingProducer<true, true>, 3, 8>();
}

}  // namespace fathom::gemm::fp32
