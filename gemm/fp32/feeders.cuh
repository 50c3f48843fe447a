#pragma once

#include <type_traits>

#include "gemm/blocks/tile_copy.cuh"
#include "gemm/blocks/tile_order.cuh"
#include "gemm/blocks/tma.cuh"
#include "gemm/fp32/fed_tile.cuh"
#include "gemm/fp32/work_shares.h"

// Two ways to fill the ring of the warp-specialised product. A feeder has
//   Sources: what it reads, given to the kernel;
//   arrivals: of one stage, at its full barrier;
//   pad: floats between a stage's lines;
//   first(product, corner): where it starts the tile that has this corner;
//   feed(...): by all feeding threads, fills stage after stage of the walk.

namespace fathom::gemm::fp32 {

/// The copy engine, told by one thread. Both operands lie along their outer dimension, and every line
/// starts on 16 bytes.
struct EngineFeeder {
  struct Sources {
    CUtensorMap a, b;  ///< boxes of 32 of k by a tile's side
  };
  static constexpr int arrivals = 1, pad = 0;

  template <class Tile>
  static __device__ TileIndex first(const Product<float>&, TileIndex corner) {
    return corner;  // what is outside reads as zero
  }

  template <class Tile, class Corner>
  static __device__ void feed(const Sources& from, const FedRing<Tile>& ring, const Product<float>&,
                              WorkWalk& walk, Corner corner) {
    const bool tells = threadIdx.x == Tile::multiplying;
    FillOrder<Tile> order;
    while (!walk.done()) {
      const WorkPiece piece = walk.take();
      const TileIndex at = corner(piece.tile);
      for (int i = piece.first; i < piece.end; ++i) {
        const int next = order.next();
        if (!tells) continue;
        const std::uint32_t stage = ring.stage(next), full = ring.full(next);
        arrive_expecting(full, Tile::stage_bytes);
        load_box<false>(stage, from.a, at.m, i * Tile::k, full, 0);
        load_box<false>(stage + Tile::a_bytes, from.b, at.n, i * Tile::k, full, 0);
      }
    }
    order.finish();
  }
};

/// Four warps that copy asynchronously, whatever way an operand lies; m >= Tile::m and n >= Tile::n.
struct ThreadFeeder {
  struct Sources {
    Along a, b;
  };
  static constexpr int arrivals = 128, pad = 4;

  template <class Tile>
  static __device__ TileIndex first(const Product<float>& p, TileIndex corner) {
    return {min(corner.m, p.m - Tile::m), min(corner.n, p.n - Tile::n)};
  }

  template <class Tile, class Corner>
  static __device__ void feed(const Sources& from, const FedRing<Tile>& ring, const Product<float>& p,
                              WorkWalk& walk, Corner corner) {
    const auto with = [&](auto a, auto b) { feed_as<decltype(a)::value, decltype(b)::value>(ring, p, walk, corner); };
    const auto with_a = [&](auto a) {
      switch (from.b) {
        case Along::outer_vectors: return with(a, constant<Along::outer_vectors>{});
        case Along::outer: return with(a, constant<Along::outer>{});
        case Along::inner: return with(a, constant<Along::inner>{});
      }
    };
    switch (from.a) {
      case Along::outer_vectors: return with_a(constant<Along::outer_vectors>{});
      case Along::outer: return with_a(constant<Along::outer>{});
      case Along::inner: return with_a(constant<Along::inner>{});
    }
  }

 private:
  /// Lines of a tile at once: a feeding thread has few registers.
  static constexpr int unroll = 2;

  template <Along along>
  using constant = std::integral_constant<Along, along>;

  template <Along along_a, Along along_b, class Tile, class Corner>
  static __device__ void feed_as(const FedRing<Tile>& ring, const Product<float>& p, WorkWalk& walk,
                                 Corner corner) {
    // The first stage of a product has what k leaves over.
    const int first_depth = (p.k - 1) % Tile::k + 1;
    const int thread = static_cast<int>(threadIdx.x) - Tile::multiplying;
    FillOrder<Tile> order;
    while (!walk.done()) {
      const WorkPiece piece = walk.take();
      const TileIndex at = first<Tile>(p, corner(piece.tile));
      const int k = piece.first == 0 ? 0 : first_depth + (piece.first - 1) * Tile::k;
      TileCopy<Tile::m, Tile::k, Tile::feeding, along_a, unroll> a(
          &p.a(at.m, k), along_a == Along::inner ? p.a.row_stride : p.a.column_stride, thread);
      TileCopy<Tile::n, Tile::k, Tile::feeding, along_b, unroll> b(
          &p.b(k, at.n), along_b == Along::inner ? p.b.column_stride : p.b.row_stride, thread);
      for (int i = piece.first; i < piece.end; ++i) {
        const int next = order.next();
        const std::uint32_t stage = ring.stage(next);
        if (i == 0) {
          a.copy_first(stage, first_depth, &p.a(at.m, 0));
          b.copy_first(stage + Tile::a_bytes, first_depth, &p.b(0, at.n));
        } else {
          a.copy_next(stage);
          b.copy_next(stage + Tile::a_bytes);
        }
        arrive_when_copied(ring.full(next));
      }
    }
    order.finish();
  }
};

}  // namespace fathom::gemm::fp32
