# Read by cpack for each kind of package. A .deb depends on libraries instead of holding them.
if(CPACK_GENERATOR STREQUAL "DEB")
  list(FIND CPACK_INSTALL_CMAKE_PROJECTS libraries at)
  math(EXPR at "${at} - 2")  # build folder, project, component, folder
  foreach(word RANGE 3)
    list(REMOVE_AT CPACK_INSTALL_CMAKE_PROJECTS ${at})
  endforeach()
endif()
