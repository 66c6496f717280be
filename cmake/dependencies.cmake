# SPDX-License-Identifier: Apache-2.0

# Every outside package, in one place. Debian names are in tools/setup.
find_package(Threads REQUIRED)
find_package(fmt REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(CLI11 REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(ZSTD REQUIRED IMPORTED_TARGET libzstd)
pkg_check_modules(LZ4 REQUIRED IMPORTED_TARGET liblz4)
pkg_check_modules(OPENBLAS REQUIRED IMPORTED_TARGET openblas)
# A machine that only judges (the GPU machine) needs no service: without these three it is left out.
pkg_check_modules(HTTPLIB IMPORTED_TARGET cpp-httplib)
pkg_check_modules(SQLITE IMPORTED_TARGET sqlite3)
pkg_check_modules(HIREDIS IMPORTED_TARGET hiredis)
set(WEFT_SERVICE OFF)
if(HTTPLIB_FOUND AND SQLITE_FOUND AND HIREDIS_FOUND)
  set(WEFT_SERVICE ON)
else()
  message(STATUS "The service is left out: it needs cpp-httplib, sqlite3 and hiredis")
endif()
if(WEFT_TESTS)
  find_package(GTest REQUIRED)
  include(GoogleTest)
  enable_testing()
endif()

# DuckDB by its C interface. One that CMake finds wins; tools/setup puts one into .packages. Without
# it the table room and lattice are left out.
find_package(DuckDB CONFIG QUIET)
if(DuckDB_FOUND AND TARGET duckdb)
  add_library(weft_duckdb INTERFACE)
  target_link_libraries(weft_duckdb INTERFACE duckdb)
else()
  find_library(DUCKDB_LIBRARY duckdb HINTS ${PROJECT_SOURCE_DIR}/.packages/duckdb)
  find_path(DUCKDB_HEADERS duckdb.h HINTS ${PROJECT_SOURCE_DIR}/.packages/duckdb)
  if(DUCKDB_LIBRARY AND DUCKDB_HEADERS)
    add_library(weft_duckdb SHARED IMPORTED GLOBAL)
    set_target_properties(weft_duckdb PROPERTIES IMPORTED_LOCATION ${DUCKDB_LIBRARY} IMPORTED_NO_SONAME ON
                          INTERFACE_INCLUDE_DIRECTORIES ${DUCKDB_HEADERS})
  endif()
endif()
find_package(yaml-cpp QUIET)
set(WEFT_LATTICE OFF)
if(TARGET weft_duckdb AND TARGET yaml-cpp)
  set(WEFT_LATTICE ON)
else()
  message(STATUS "lattice is left out: DuckDB or yaml-cpp is missing (tools/setup brings both)")
endif()

# Optional: compiled against, never linked. Without them GPU audits, device timing or a library's times
# are null, with this as the reason.
find_path(CUPTI_INCLUDE_DIR cupti_sass_metrics.h
          HINTS $ENV{CUDA_HOME}/include /usr/local/cuda/include /usr/local/cuda/extras/CUPTI/include)
find_path(CUBLASLT_INCLUDE_DIR cublasLt.h HINTS $ENV{CUDA_HOME}/include /usr/local/cuda/include)
find_path(CUDNN_INCLUDE_DIR cudnn_graph.h HINTS $ENV{CUDA_HOME}/include /usr/local/cuda/include)
