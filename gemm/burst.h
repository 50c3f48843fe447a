#pragma once

namespace fathom::gemm {

/// Times the last sample's length that the GPU rests before each sample of a burst: twice as long,
/// so that neither power nor temperature settle. The same for every rung of a ladder, the library,
/// and the choices among its algorithms and a rung's variants: figures taken under other conditions
/// are not compared.
inline constexpr double rest_of_bursts = 2;

}  // namespace fathom::gemm
