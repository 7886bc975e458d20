# One library out of all modules, and what `cmake --install` puts beside it: public headers, pkg-config file, CMake package.
# Included after src/, because it collects the modules that src/ made.
#
#   libyoke.so   exports what the public headers declare and nothing else
#   libyoke.a    the same objects, for programs that want one file

include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

get_property(modules GLOBAL PROPERTY YOKE_MODULES)
get_property(libraries GLOBAL PROPERTY YOKE_LIBRARIES)
list(REMOVE_DUPLICATES libraries)
set(objects "")
foreach(module ${modules})
  list(APPEND objects $<TARGET_OBJECTS:${module}>)
endforeach()

file(GLOB public_headers CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/include/yoke/*.h)

# The linker's list of exports: every function that a public header declares (comments taken out first, and function
# pointer types, whose names stand before a closing parenthesis, do not match).
set(exports "")
foreach(header ${public_headers})
  set_property(DIRECTORY ${PROJECT_SOURCE_DIR} APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${header})
  file(READ ${header} text)
  string(REGEX REPLACE "/\\*([^*]|\\*+[^*/])*\\*+/" "" text "${text}")
  string(REGEX REPLACE "static inline [^(]*\\(" "" text "${text}")
  string(REGEX MATCHALL "yk_[a-z0-9_]+\\(" names "${text}")
  list(APPEND exports ${names})
endforeach()
list(REMOVE_DUPLICATES exports)
list(SORT exports)
list(JOIN exports "\n" exports)
string(REPLACE "(" ";" exports "${exports}")
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/yoke.map CONTENT "{\nglobal:\n@exports@\nlocal:\n*;\n};\n" @ONLY)

# The program offers the same functions to plug-ins.
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/yoke.dynamic CONTENT "{\n@exports@\n};\n" @ONLY)

add_library(yoke_shared SHARED ${objects})
set_target_properties(yoke_shared PROPERTIES
  OUTPUT_NAME yoke EXPORT_NAME yoke LINKER_LANGUAGE C
  VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}
  LINK_DEPENDS ${PROJECT_BINARY_DIR}/yoke.map)
target_link_options(yoke_shared PRIVATE
  LINKER:--version-script=${PROJECT_BINARY_DIR}/yoke.map LINKER:-Bsymbolic-functions)
yoke_harden(yoke_shared)
target_link_libraries(yoke_shared PRIVATE ${libraries})

add_library(yoke_static STATIC ${objects})
set_target_properties(yoke_static PROPERTIES OUTPUT_NAME yoke EXPORT_NAME static LINKER_LANGUAGE C)

# What a program that links libyoke.a has to link too, as plain linker flags, so that it need not find our libraries'
# CMake or pkg-config files: /usr/lib/.../libklu.so becomes -lklu, with -L where the linker does not look by itself.
set(private_libraries "")
foreach(library ${libraries})
  if(library STREQUAL "Threads::Threads")
    list(APPEND private_libraries -pthread)
    continue()
  endif()
  set(items ${library})
  if(TARGET ${library})
    get_target_property(items ${library} INTERFACE_LINK_LIBRARIES)
  endif()
  foreach(item ${items})
    if(item MATCHES "^(/.*)/lib([^/]+)\\.(so|a)$")
      set(folder ${CMAKE_MATCH_1})
      set(name ${CMAKE_MATCH_2})
      if(NOT folder IN_LIST CMAKE_C_IMPLICIT_LINK_DIRECTORIES)
        list(APPEND private_libraries -L${folder})
      endif()
      list(APPEND private_libraries -l${name})
    elseif(item MATCHES "^-")
      list(APPEND private_libraries ${item})
    else()
      list(APPEND private_libraries -l${item})
    endif()
  endforeach()
endforeach()
list(REMOVE_DUPLICATES private_libraries)
list(JOIN private_libraries " " YOKE_LIBS_PRIVATE)
target_link_libraries(yoke_static INTERFACE "$<INSTALL_INTERFACE:${private_libraries}>")

foreach(target yoke_shared yoke_static)
  target_compile_features(${target} INTERFACE c_std_99)
  target_include_directories(${target} INTERFACE $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
                                                 $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
endforeach()

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/yoke)
install(TARGETS yoke_shared yoke_static EXPORT yoke)
install(FILES ${public_headers} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/yoke)
install(EXPORT yoke NAMESPACE yoke:: FILE yoke-targets.cmake DESTINATION ${package_dir})
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/yoke-config.cmake.in ${PROJECT_BINARY_DIR}/yoke-config.cmake
                              INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/yoke-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/yoke-config.cmake ${PROJECT_BINARY_DIR}/yoke-config-version.cmake
        DESTINATION ${package_dir})
# The pkg-config file finds the prefix from its own place, so that the installed tree can be moved.
if(IS_ABSOLUTE ${CMAKE_INSTALL_LIBDIR})
  message(FATAL_ERROR "CMAKE_INSTALL_LIBDIR is ${CMAKE_INSTALL_LIBDIR}: give it relative to the installation prefix")
endif()
file(RELATIVE_PATH YOKE_PREFIX_FROM_PC /p/${CMAKE_INSTALL_LIBDIR}/pkgconfig /p)
configure_file(${CMAKE_CURRENT_LIST_DIR}/yoke.pc.in ${PROJECT_BINARY_DIR}/yoke.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/yoke.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
