# SPDX-License-Identifier: Apache-2.0

# fuzz_target(NAME SOURCE DEPENDS rooms...): a libFuzzer program NAME_fuzz. Its seeds are the files in
# tests/fuzz/NAME/; .ci/fuzz runs all targets.
function(fuzz_target name source)
  cmake_parse_arguments(FUZZ "" "" "DEPENDS" ${ARGN})
  add_executable(${name}_fuzz ${source})
  target_link_libraries(${name}_fuzz PRIVATE ${FUZZ_DEPENDS} weft_warnings)
  target_link_options(${name}_fuzz PRIVATE -fsanitize=fuzzer,address,undefined)
  add_dependencies(fuzz_targets ${name}_fuzz)
endfunction()
