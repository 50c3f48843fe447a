# What `cmake --install` puts into a prefix, and what `cpack` packs. The tree can be moved and
# copied: everything is found from the executable's place, and no file holds a path of the build.
#
#   bin/               fathom, what it hands over to (fathom-gate, fathom-fleet,
#                      fathom-explain), gemm_ladder, one rank of a fleet
#   libexec/fathom/    the probes and fathom-device, which `fathom` starts
#   lib/fathom/        shared libraries that another machine may lack (the .deb depends on them)
#   share/             recordings, schema, man pages, completions
#
# Components: fathom, libraries, and models (models/CMakeLists.txt). Include after every target.

set(fathom_programs fathom)
if(FATHOM_GATE)
  list(APPEND fathom_programs fathom-gate fathom-fleet)
endif()
set(fathom_parts "")
if(FATHOM_CUDA)
  get_property(fathom_parts GLOBAL PROPERTY FATHOM_PROBES)
  list(REMOVE_ITEM fathom_parts gemm_ladder)
  list(APPEND fathom_parts fathom-device)
  list(APPEND fathom_programs gemm_ladder fathom-explain)
endif()

install(TARGETS ${fathom_programs} RUNTIME_DEPENDENCY_SET fathom_libraries
  RUNTIME DESTINATION bin COMPONENT fathom)
# MPI is the site's own: it is not taken along.
if(TARGET fathom-fleet-rank)
  list(APPEND fathom_programs fathom-fleet-rank)
  install(TARGETS fathom-fleet-rank RUNTIME DESTINATION bin COMPONENT fathom)
endif()
set_target_properties(${fathom_programs} PROPERTIES INSTALL_RPATH "$ORIGIN/../lib/fathom")
if(FATHOM_CUDA)
  install(TARGETS ${fathom_parts} RUNTIME_DEPENDENCY_SET fathom_libraries
    RUNTIME DESTINATION libexec/fathom COMPONENT fathom)
  set_target_properties(${fathom_parts} PROPERTIES INSTALL_RPATH "$ORIGIN/../../lib/fathom")
  # `fathom` finds all probes in one folder.
  file(CREATE_LINK ../../bin/gemm_ladder ${PROJECT_BINARY_DIR}/installed_gemm_ladder SYMBOLIC)
  install(FILES ${PROJECT_BINARY_DIR}/installed_gemm_ladder RENAME gemm_ladder
    DESTINATION libexec/fathom COMPONENT fathom)
endif()
# Every Linux has these; a copy of the C library would not fit another one's loader.
install(RUNTIME_DEPENDENCY_SET fathom_libraries
  PRE_EXCLUDE_REGEXES "^(lib(c|m|dl|rt|pthread|stdc\\+\\+|gcc_s)\\.so|ld-linux)"
  LIBRARY DESTINATION lib/fathom COMPONENT libraries)

# nvcc has no -ffile-prefix-map: its line tables, by which PC sampling names a source line, and the
# names of its fat binaries hold the path of the sources. Put a relative one of that length there.
if(FATHOM_CUDA)
  string(LENGTH ${PROJECT_SOURCE_DIR} fathom_length)
  string(REPEAT "/" ${fathom_length} fathom_slashes)
  string(REGEX REPLACE "([][.*^$#\\])" "\\\\\\1" fathom_pattern "${PROJECT_SOURCE_DIR}/")
  list(TRANSFORM fathom_parts PREPEND libexec/fathom/ OUTPUT_VARIABLE fathom_files)
  install(CODE "
    foreach(file bin/gemm_ladder ${fathom_files})
      execute_process(COMMAND \"\${CMAKE_COMMAND}\" -E env LC_ALL=C
        sed -i [==[s#${fathom_pattern}#.${fathom_slashes}#g]==]
        \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/\${file}\" COMMAND_ERROR_IS_FATAL ANY)
    endforeach()" COMPONENT fathom)
endif()

# Without what the gate's trials left, which only docs/gate is made from.
install(DIRECTORY recordings DESTINATION share/fathom COMPONENT fathom PATTERN gate EXCLUDE)
if(TARGET fathom_manual)
  install(DIRECTORY ${PROJECT_BINARY_DIR}/share/man DESTINATION share COMPONENT fathom)
endif()
# What action.yml and templates/check.yml run.
install(PROGRAMS packaging/ci/check.py DESTINATION share/fathom/ci COMPONENT fathom)
install(FILES README.md CHANGELOG.md DESTINATION share/doc/fathom COMPONENT fathom)
install(FILES LICENSE RENAME copyright DESTINATION share/doc/fathom COMPONENT fathom)
# The HTML page has the chart library in it, whose licence goes where its code goes.
install(FILES reports/page/vendor/LICENSE RENAME copyright.vega DESTINATION share/doc/fathom
  COMPONENT fathom)

# --- cpack: fathom-<version>-Linux.tar.gz and fathom_<version>_<architecture>.deb ---

set(CPACK_GENERATOR TGZ DEB)
set(CPACK_PACKAGE_CONTACT "Fathom's developers <fathom@example.org>" CACHE STRING
  "Who answers for the .deb: name and address")
set(CPACK_STRIP_FILES ON)
# By component, since dependencies that were fetched install themselves otherwise.
set(CPACK_INSTALL_CMAKE_PROJECTS "")
foreach(component fathom models libraries)
  list(APPEND CPACK_INSTALL_CMAKE_PROJECTS ${PROJECT_BINARY_DIR} fathom ${component} /)
endforeach()
set(CPACK_PROJECT_CONFIG_FILE ${PROJECT_SOURCE_DIR}/cmake/PackDebian.cmake)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
# The driver, which no build links.
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "libcuda1")
include(CPack)
