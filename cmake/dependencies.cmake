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

# Teachers write for students into RocksDB.
pkg_check_modules(ROCKSDB IMPORTED_TARGET rocksdb)
if(WEFT_LATTICE AND NOT ROCKSDB_FOUND)
  message(STATUS "lattice's teacher store is left out: it needs RocksDB (Debian: librocksdb-dev)")
endif()

# LibTorch, from the system or from TORCH_ROOT (`python3 -c 'import torch; print(torch.__path__[0])'`).
# Only ATen and autograd are used, and found directly: LibTorch's own CMake files look for much more.
find_path(TORCH_HEADERS ATen/ATen.h HINTS ${TORCH_ROOT} $ENV{TORCH_ROOT} PATH_SUFFIXES include)
find_library(TORCH_LIBRARY torch_cpu HINTS ${TORCH_ROOT} $ENV{TORCH_ROOT} PATH_SUFFIXES lib)
find_library(TORCH_CORE_LIBRARY c10 HINTS ${TORCH_ROOT} $ENV{TORCH_ROOT} PATH_SUFFIXES lib)
set(WEFT_TORCH OFF)
find_package(OpenMP QUIET COMPONENTS CXX)
if(TORCH_HEADERS AND TORCH_LIBRARY AND TORCH_CORE_LIBRARY AND OpenMP_CXX_FOUND)
  set(WEFT_TORCH ON)
  add_library(weft_torch INTERFACE)
  target_include_directories(weft_torch SYSTEM INTERFACE ${TORCH_HEADERS})
  target_link_libraries(weft_torch INTERFACE ${TORCH_LIBRARY} ${TORCH_CORE_LIBRARY})
else()
  message(STATUS "lattice's networks are left out: they need LibTorch (Debian: libtorch-dev) and OpenMP")
endif()

# Optional: compiled against, never linked. Without them GPU audits, device timing or a library's times
# are null, with this as the reason.
find_path(CUPTI_INCLUDE_DIR cupti_sass_metrics.h
          HINTS $ENV{CUDA_HOME}/include /usr/local/cuda/include /usr/local/cuda/extras/CUPTI/include)
find_path(CUBLASLT_INCLUDE_DIR cublasLt.h HINTS $ENV{CUDA_HOME}/include /usr/local/cuda/include)
find_path(CUDNN_INCLUDE_DIR cudnn_graph.h HINTS $ENV{CUDA_HOME}/include /usr/local/cuda/include)
