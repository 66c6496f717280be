# SPDX-License-Identifier: Apache-2.0

# GoogleTest and the standard headers that most tests include are parsed once, not once a test: they
# are more than half of a test's compile time. Tests are compiled with -O1 whatever the preset (a later
# option wins): they are run once and compiled often.
set(WEFT_TEST_OPTIONS -O1 $<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess>)
if(WEFT_TESTS)
  file(WRITE ${PROJECT_BINARY_DIR}/test_prelude.cc "// Nothing but the precompiled header.\n")
  add_library(test_prelude OBJECT ${PROJECT_BINARY_DIR}/test_prelude.cc)
  target_link_libraries(test_prelude PRIVATE weft_warnings GTest::gtest)
  target_compile_options(test_prelude PRIVATE ${WEFT_TEST_OPTIONS})
  target_precompile_headers(test_prelude PRIVATE <gtest/gtest.h> <string> <vector> <memory>)
endif()

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
    target_compile_options(${name}_test PRIVATE ${WEFT_TEST_OPTIONS})
    target_precompile_headers(${name}_test REUSE_FROM test_prelude)
    gtest_discover_tests(${name}_test TEST_PREFIX "${name}/" DISCOVERY_MODE PRE_TEST
                         WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
  endif()
endfunction()
