# Writes OUTPUT, the source file that defines fathom::version() and fathom::commit(). Run at every
# build (a commit changes no source file), but touches the file only when its text changed.
# Outside a git checkout the commit can be given: cmake -DFATHOM_COMMIT=...
if(COMMIT)
  set(commit ${COMMIT})
else()
  execute_process(COMMAND git -C ${SOURCE_DIR} describe --always --dirty --abbrev=12 --exclude=*
                  OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET
                  RESULT_VARIABLE status)
  if(NOT status EQUAL 0)
    set(commit unknown)
  endif()
endif()
file(CONFIGURE OUTPUT ${OUTPUT} CONTENT [[
#include "results/files.h"

namespace fathom {
const char* version() { return "@VERSION@"; }
const char* commit() { return "@commit@"; }
}  // namespace fathom
]] @ONLY)
