#pragma once

namespace fathom {

/// "0.2.0", and the commit this program was built from ("1a2b3c4d", with "-dirty" behind it where
/// the tree had changes, "unknown" outside a git checkout).
const char* version();
const char* commit();

}  // namespace fathom
