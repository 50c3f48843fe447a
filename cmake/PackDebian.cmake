# Read by cpack for each kind of package. A .deb depends on libraries instead of holding them.
if(CPACK_GENERATOR STREQUAL "DEB")
  # The libraries' component is the last of three, each a build folder, project, name and folder.
  list(SUBLIST CPACK_INSTALL_CMAKE_PROJECTS 0 8 CPACK_INSTALL_CMAKE_PROJECTS)
endif()
