# Writes yoke_build.h (see CMakeLists.txt). Outside of a repository the commit is empty.
execute_process(COMMAND git describe --always --dirty --exclude=* WORKING_DIRECTORY ${SOURCE} RESULT_VARIABLE status
                OUTPUT_VARIABLE YOKE_COMMIT OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
if(NOT status EQUAL 0)
  set(YOKE_COMMIT "")
endif()
configure_file(${CMAKE_CURRENT_LIST_DIR}/yoke_build.h.in ${OUTPUT} @ONLY)
