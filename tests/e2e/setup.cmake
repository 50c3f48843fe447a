# The set-up script: one CTest test for each function of setup_test.sh named case_*.
file(STRINGS ${CMAKE_CURRENT_LIST_DIR}/setup_test.sh setup_cases REGEX "^case_[a-z0-9_]+\\(\\)")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS
  ${CMAKE_CURRENT_LIST_DIR}/setup_test.sh)
foreach(line IN LISTS setup_cases)
  string(REGEX REPLACE "^case_([a-z0-9_]+).*" "\\1" name "${line}")
  string(REPLACE "_" " " title "${name}")
  add_test(NAME "e2e: set-up: ${title}"
    COMMAND bash ${CMAKE_CURRENT_LIST_DIR}/setup_test.sh ${PROJECT_SOURCE_DIR} ${name})
  set_tests_properties("e2e: set-up: ${title}" PROPERTIES LABELS e2e TIMEOUT 120)
endforeach()
