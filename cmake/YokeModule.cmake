# yoke_module(NAME SOURCES ... LINKS ... [PRIVATE_LINKS ...]): a module of the library as a static library yk_NAME.
# yoke_test(NAME SOURCES ... LINKS ...): a cmocka program that ctest runs, labelled with its folder.

set(YOKE_WARNINGS
    -Wall -Wextra -Wpedantic -Werror -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wold-style-definition
    -Wpointer-arith -Wcast-qual -Wwrite-strings -Wvla -Wundef -Wformat=2 -Wimplicit-fallthrough)
# The checks that sanitizers put into the code hide value ranges from gcc, which then warns of what cannot happen. Builds
# without sanitizers keep these warnings.
if(CMAKE_C_COMPILER_ID STREQUAL "GNU" AND "${CMAKE_C_FLAGS} ${CMAKE_C_FLAGS_DEBUG}" MATCHES "-fsanitize")
  list(APPEND YOKE_WARNINGS -Wno-format-truncation -Wno-maybe-uninitialized)
endif()

# Same bits on every machine: no contraction to fused multiply-add, never fast-math. Nobody asks for errno or for the flags of the
# processor, and sqrt is one instruction without them; -fno-fast-math comes first because it takes these two back.
set(YOKE_FLOATING_POINT -fno-fast-math -ffp-contract=off -fno-math-errno -fno-trapping-math)

# Optimised builds check what can be checked at next to no cost: a stack that was overwritten, copies into buffers whose
# size the compiler knows, and tables of the linker that stay read-only. tests/fuzz/hardening looks at the result.
set(YOKE_HARDENING -fstack-protector-strong -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2)
include(CheckPIESupported)
check_pie_supported(LANGUAGES C)

# Messages of assertions name files relative to the source tree, so that no binary names a folder of the build machine.
set(YOKE_FILE_NAMES -fmacro-prefix-map=${PROJECT_SOURCE_DIR}/=)

function(yoke_compile_options target)
  target_compile_features(${target} PUBLIC c_std_17)
  set_target_properties(${target} PROPERTIES C_STANDARD 17 C_EXTENSIONS OFF C_STANDARD_REQUIRED ON
                                             POSITION_INDEPENDENT_CODE ON)
  target_compile_definitions(${target} PRIVATE _POSIX_C_SOURCE=200809L)
  target_compile_options(${target} PRIVATE ${YOKE_WARNINGS} ${YOKE_FLOATING_POINT} ${YOKE_FILE_NAMES})
endfunction()

# Of what is installed, beside the options of all.
function(yoke_harden target)
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:${YOKE_HARDENING}>)
  target_link_options(${target} PRIVATE LINKER:-z,relro LINKER:-z,now)
endfunction()

# COMPUTES: a module that gets numbers and no data of strangers. Guards of its many small arrays would cost it up to a sixth.
function(yoke_module name)
  cmake_parse_arguments(MODULE "COMPUTES" "" "SOURCES;LINKS;PRIVATE_LINKS" ${ARGN})
  set(target yk_${name})
  add_library(${target} STATIC ${MODULE_SOURCES})
  yoke_compile_options(${target})
  yoke_harden(${target})
  if(MODULE_COMPUTES)
    target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-fno-stack-protector>)
  endif()
  target_include_directories(${target} PUBLIC ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(${target} PUBLIC ${MODULE_LINKS} PRIVATE ${MODULE_PRIVATE_LINKS})
  set_property(GLOBAL APPEND PROPERTY YOKE_MODULES ${target})
  # What the one library of all modules has to link (cmake/YokePackage.cmake).
  set(libraries ${MODULE_LINKS} ${MODULE_PRIVATE_LINKS})
  list(FILTER libraries EXCLUDE REGEX "^yk_|:yk_")
  set_property(GLOBAL APPEND PROPERTY YOKE_LIBRARIES ${libraries})
endfunction()

function(yoke_test name)
  cmake_parse_arguments(TEST "" "" "SOURCES;LINKS" ${ARGN})
  add_executable(test_${name} ${TEST_SOURCES})
  yoke_compile_options(test_${name})
  target_include_directories(test_${name} PRIVATE ${PROJECT_SOURCE_DIR}/tests)
  target_compile_definitions(test_${name} PRIVATE YOKE_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
  target_link_libraries(test_${name} PRIVATE ${TEST_LINKS} PkgConfig::cmocka m)
  get_filename_component(folder ${CMAKE_CURRENT_SOURCE_DIR} NAME)
  add_test(NAME ${folder}/${name} COMMAND test_${name})
  set_tests_properties(${folder}/${name} PROPERTIES LABELS ${folder} TIMEOUT 1200 SKIP_RETURN_CODE 77)
endfunction()

# yoke_test_on_ranks(name [command ...]): the test once more, or the command, as two processes that an MPI launcher starts. Open MPI refuses root and more
# processes than cores unless it is told; what an MPI leaves allocated is its own.
function(yoke_test_on_ranks name)
  if(NOT YOKE_MPI)
    return()
  endif()
  set(command ${ARGN})
  if(NOT command)
    set(command $<TARGET_FILE:test_${name}>)
  endif()
  get_filename_component(folder ${CMAKE_CURRENT_SOURCE_DIR} NAME)
  add_test(NAME ${folder}/${name}_on_ranks COMMAND ${MPIEXEC_EXECUTABLE} ${MPIEXEC_NUMPROC_FLAG} 2 ${command})
  set(environment OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
    OMPI_MCA_btl=self,vader ASAN_OPTIONS=detect_leaks=0 YOKE_MPI_MODULE=$<TARGET_FILE:yoke_mpi>)
  set_tests_properties(${folder}/${name}_on_ranks PROPERTIES LABELS ${folder} TIMEOUT 300 ENVIRONMENT "${environment}")
endfunction()
