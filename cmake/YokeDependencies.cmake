# Libraries from the distribution (Debian 12 package names in scripts/packages).

find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)

pkg_check_modules(lapacke REQUIRED IMPORTED_TARGET lapacke)
pkg_check_modules(openblas REQUIRED IMPORTED_TARGET openblas)
pkg_check_modules(yaml REQUIRED IMPORTED_TARGET yaml-0.1)
pkg_check_modules(sodium REQUIRED IMPORTED_TARGET libsodium)
pkg_check_modules(zlib REQUIRED IMPORTED_TARGET zlib)
pkg_check_modules(zip REQUIRED IMPORTED_TARGET libzip)
pkg_check_modules(expat REQUIRED IMPORTED_TARGET expat)
pkg_check_modules(microhttpd IMPORTED_TARGET libmicrohttpd) # without it there is no `yoke run --live`
# Runs over several processes; without an MPI the program has none.
find_package(MPI COMPONENTS C)
option(YOKE_MPI "build the module behind mpirun yoke" ${MPI_C_FOUND})
if(YOKE_TESTS)
  pkg_check_modules(cmocka REQUIRED IMPORTED_TARGET cmocka)
  pkg_check_modules(hdf5 REQUIRED IMPORTED_TARGET hdf5-serial)
endif()

# SuiteSparse 5 has no pkg-config file.
find_path(SUITESPARSE_INCLUDE_DIR klu.h PATH_SUFFIXES suitesparse REQUIRED)
foreach(part klu amd btf colamd suitesparseconfig)
  find_library(SUITESPARSE_${part} ${part} REQUIRED)
endforeach()
add_library(yoke_klu INTERFACE)
target_include_directories(yoke_klu SYSTEM INTERFACE ${SUITESPARSE_INCLUDE_DIR})
target_link_libraries(yoke_klu INTERFACE ${SUITESPARSE_klu} ${SUITESPARSE_amd} ${SUITESPARSE_btf}
                                         ${SUITESPARSE_colamd} ${SUITESPARSE_suitesparseconfig})
