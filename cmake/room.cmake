# SPDX-License-Identifier: Apache-2.0

# room(NAME DEPENDS rooms... SOURCES files... TESTS files... LIBRARIES outside libraries...)
#
# Declares one room: a static library of the folder's sources, one test program of its tests, and the
# arrows that it may draw. The include checker in .ci/ reads the same DEPENDS lists, so a dependency
# that is not written here does not pass.
function(room name)
  cmake_parse_arguments(ROOM "" "" "DEPENDS;SOURCES;TESTS;LIBRARIES" ${ARGN})
  if(ROOM_SOURCES)
    add_library(${name} STATIC ${ROOM_SOURCES})
    set(visibility PUBLIC)
  else()
    add_library(${name} INTERFACE)
    set(visibility INTERFACE)
  endif()
  target_include_directories(${name} ${visibility} ${PROJECT_SOURCE_DIR})
  target_link_libraries(${name} ${visibility} ${ROOM_DEPENDS} ${ROOM_LIBRARIES})
  if(ROOM_SOURCES)
    set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE ON)
    target_link_libraries(${name} PRIVATE weft_warnings)
  endif()
  if(ROOM_TESTS AND WEFT_TESTS)
    add_executable(${name}_test ${ROOM_TESTS})
    target_link_libraries(${name}_test PRIVATE ${name} weft_warnings GTest::gtest_main)
    gtest_discover_tests(${name}_test TEST_PREFIX "${name}/" DISCOVERY_MODE PRE_TEST
                         WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
  endif()
endfunction()
