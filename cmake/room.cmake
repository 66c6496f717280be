# SPDX-License-Identifier: Apache-2.0

# GoogleTest and the standard headers that most tests include are parsed once, not once a test: they
# are more than half of a test's compile time. Tests are optimised lightly whatever the preset (a later
# option wins): they are run once and compiled often.
set(WEFT_TEST_OPTIONS ${WEFT_LIGHT} $<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess>)
if(WEFT_TESTS)
  # Written only where it differs: a newer file would compile every test again.
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/test_prelude.cc
       CONTENT "// Nothing but the precompiled header.\n")
  add_library(test_prelude OBJECT ${PROJECT_BINARY_DIR}/test_prelude.cc)
  target_link_libraries(test_prelude PRIVATE weft_warnings GTest::gtest)
  target_compile_options(test_prelude PRIVATE ${WEFT_TEST_OPTIONS})
  target_precompile_headers(test_prelude PRIVATE <gtest/gtest.h> <string> <vector> <memory>)
endif()

# house_test(TARGET PREFIX word): makes an executable a GoogleTest program of the house and tells ctest
# about its tests, which are named "word/Suite.Name". PRELUDE: whose precompiled header it takes instead.
function(house_test target)
  cmake_parse_arguments(TEST "" "PREFIX;PRELUDE" "" ${ARGN})
  target_link_libraries(${target} PRIVATE weft_warnings GTest::gtest_main)
  target_compile_options(${target} PRIVATE ${WEFT_TEST_OPTIONS})
  if(TEST_PRELUDE)
    # A precompiled header fits only what is compiled with the same options.
    target_compile_options(${target} PRIVATE -fPIC)
    target_precompile_headers(${target} REUSE_FROM ${TEST_PRELUDE})
  else()
    target_precompile_headers(${target} REUSE_FROM test_prelude)
  endif()
  # Programs with LibTorch, the ones with a prelude, take half a second to start: one start, not one a test.
  if(WEFT_WHOLE_TESTS OR TEST_PRELUDE)
    add_test(NAME ${target} COMMAND ${target} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
  else()
    gtest_discover_tests(${target} TEST_PREFIX "${TEST_PREFIX}/" DISCOVERY_MODE PRE_TEST
                         WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
  endif()
endfunction()

function(compile_together target where)
  if(WEFT_TOGETHER IN_LIST where)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 8)
    # It takes a source that another includes for a header.
    target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
  endif()
endfunction()

# room(NAME DEPENDS rooms... SOURCES files... TESTS files... LIBRARIES outside libraries... [PRELUDE target]
#      [TOGETHER])
#
# Declares one room: a static library of the folder's sources, one test program of its tests, and the
# arrows that it may draw. The include checker in .ci/ reads the same DEPENDS lists, so a dependency
# that is not written here does not pass.
#
# TOGETHER: no two sources give a name of their own to different things, so that several may be compiled at
# a time (WEFT_TOGETHER): most of a source's cost is the templates that the next one instantiates again.
# Sources of a release are compiled one by one, which shows that each includes what it uses.
function(room name)
  cmake_parse_arguments(ROOM "TOGETHER" "PRELUDE" "DEPENDS;SOURCES;TESTS;LIBRARIES" ${ARGN})
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
    if(ROOM_TOGETHER)
      compile_together(${name} ALL)
    endif()
  endif()
  if(ROOM_TESTS AND WEFT_TESTS)
    add_executable(${name}_test ${ROOM_TESTS})
    target_link_libraries(${name}_test PRIVATE ${name})
    house_test(${name}_test PREFIX ${name} PRELUDE ${ROOM_PRELUDE})
    if(ROOM_TOGETHER)
      compile_together(${name}_test "TESTS;ALL")
    endif()
  endif()
endfunction()
