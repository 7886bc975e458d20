# Writes bench_build.h at every build (it changes only when its content does), so that the revision is the one built.
execute_process(COMMAND git describe --always --dirty WORKING_DIRECTORY ${SOURCE} RESULT_VARIABLE status
                OUTPUT_VARIABLE BENCH_REVISION OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
if(NOT status EQUAL 0)
  set(BENCH_REVISION unknown)
endif()
configure_file(${CMAKE_CURRENT_LIST_DIR}/bench_build.h.in ${OUTPUT} @ONLY)
