# Read by cpack for each kind of package. A .deb depends on libraries instead of holding them, and
# Debian wants its man pages compressed.
if(CPACK_GENERATOR STREQUAL "DEB")
  list(FIND CPACK_INSTALL_CMAKE_PROJECTS libraries at)
  math(EXPR at "${at} - 2")  # build folder, project, component, folder
  foreach(word RANGE 3)
    list(REMOVE_AT CPACK_INSTALL_CMAKE_PROJECTS ${at})
  endforeach()
  set(CPACK_PRE_BUILD_SCRIPTS ${CMAKE_CURRENT_LIST_DIR}/CompressPages.cmake)
endif()
