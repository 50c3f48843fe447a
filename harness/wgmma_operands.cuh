#pragma once

// The operands of wgmma.mma_async as inline PTX has them.

// Inline PTX must be one literal, so that each shape and type has its own function. All come from
// this list: a shape with the numbers that PTX has for the operands behind its sums.
#define FATHOM_WGMMA_SHAPES(function, ...)                                     \
  function(16, "%8", "%9", "%10", "%11", "%12", "%13", __VA_ARGS__)            \
      function(64, "%32", "%33", "%34", "%35", "%36", "%37", __VA_ARGS__)      \
          function(128, "%64", "%65", "%66", "%67", "%68", "%69", __VA_ARGS__) \
              function(256, "%128", "%129", "%130", "%131", "%132", "%133", __VA_ARGS__)

// The names of a thread's sums in PTX, and d[] as its operands.
#define FATHOM_WGMMA_SUM_NAMES_16 "%0,%1,%2,%3,%4,%5,%6,%7"
#define FATHOM_WGMMA_SUM_NAMES_64                                  \
  FATHOM_WGMMA_SUM_NAMES_16                                        \
  ",%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,%22,%23" \
  ",%24,%25,%26,%27,%28,%29,%30,%31"
#define FATHOM_WGMMA_SUM_NAMES_128                                   \
  FATHOM_WGMMA_SUM_NAMES_64                                          \
  ",%32,%33,%34,%35,%36,%37,%38,%39,%40,%41,%42,%43,%44,%45,%46,%47" \
  ",%48,%49,%50,%51,%52,%53,%54,%55,%56,%57,%58,%59,%60,%61,%62,%63"
#define FATHOM_WGMMA_SUM_NAMES_256                                                           \
  FATHOM_WGMMA_SUM_NAMES_128                                                                 \
  ",%64,%65,%66,%67,%68,%69,%70,%71,%72,%73,%74,%75,%76,%77,%78,%79,%80,%81,%82,%83,%84,%85" \
  ",%86,%87,%88,%89,%90,%91,%92,%93,%94,%95,%96,%97,%98,%99,%100,%101,%102,%103,%104,%105"   \
  ",%106,%107,%108,%109,%110,%111,%112,%113,%114,%115,%116,%117,%118,%119,%120,%121,%122"    \
  ",%123,%124,%125,%126,%127"
#define FATHOM_WGMMA_SUMS_8(d, i)                                                             \
  "+r"(d[i]), "+r"(d[i + 1]), "+r"(d[i + 2]), "+r"(d[i + 3]), "+r"(d[i + 4]), "+r"(d[i + 5]), \
      "+r"(d[i + 6]), "+r"(d[i + 7])
#define FATHOM_WGMMA_SUMS_32(d, i)                                                          \
  FATHOM_WGMMA_SUMS_8(d, i), FATHOM_WGMMA_SUMS_8(d, i + 8), FATHOM_WGMMA_SUMS_8(d, i + 16), \
      FATHOM_WGMMA_SUMS_8(d, i + 24)
#define FATHOM_WGMMA_SUMS_16 FATHOM_WGMMA_SUMS_8(d, 0)
#define FATHOM_WGMMA_SUMS_64 FATHOM_WGMMA_SUMS_32(d, 0)
#define FATHOM_WGMMA_SUMS_128 FATHOM_WGMMA_SUMS_32(d, 0), FATHOM_WGMMA_SUMS_32(d, 32)
#define FATHOM_WGMMA_SUMS_256 \
  FATHOM_WGMMA_SUMS_128, FATHOM_WGMMA_SUMS_32(d, 64), FATHOM_WGMMA_SUMS_32(d, 96)
