# The libraries core and analysis for other C++ programs, which find them by
# `find_package(Attnscope)` and link `Attnscope::analysis`:
#
#   cmake --install build/release --component development --prefix FOLDER
#
# Static libraries, their headers and a CMake package. They serve the machine on which they were
# built: the package names this machine's libraries. docs/examples/installed is such a program.
include(CMakePackageConfigHelpers)

# Every user of the headers needs the same alignment of matrices, which are allocated in one library and
# freed in another.
foreach(name core analysis)
  set_target_properties(attnscope_${name} PROPERTIES EXPORT_NAME ${name})
  target_compile_features(attnscope_${name} INTERFACE $<INSTALL_INTERFACE:cxx_std_20>)
  target_compile_definitions(attnscope_${name} INTERFACE
    $<INSTALL_INTERFACE:EIGEN_MAX_ALIGN_BYTES=64>)
  # Headers that need those of HDF5 or Highway's way to compile are for the libraries' own sources.
  install(DIRECTORY ${name} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/attnscope
    COMPONENT development EXCLUDE_FROM_ALL FILES_MATCHING PATTERN *.h
    PATTERN *-inl.h EXCLUDE PATTERN hdf5_library.h EXCLUDE PATTERN hdf5_reading.h EXCLUDE
    PATTERN hdf5_writing.h EXCLUDE)
endforeach()
install(TARGETS attnscope_core attnscope_analysis EXPORT AttnscopeTargets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development EXCLUDE_FROM_ALL
  INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/attnscope)

# Libraries that were found by pkg-config are written down as they were found.
set(ATTNSCOPE_FOUND_LIBRARIES "")
get_target_property(linked attnscope_core LINK_LIBRARIES)
get_target_property(linked_by_analysis attnscope_analysis LINK_LIBRARIES)
list(APPEND linked ${linked_by_analysis})
list(FILTER linked INCLUDE REGEX "^PkgConfig::")
list(REMOVE_DUPLICATES linked)
foreach(target IN LISTS linked)
  get_target_property(libraries ${target} INTERFACE_LINK_LIBRARIES)
  string(APPEND ATTNSCOPE_FOUND_LIBRARIES
    "attnscope_found(${target} \"${libraries}\")\n")
endforeach()

set(config ${CMAKE_INSTALL_LIBDIR}/cmake/Attnscope)
configure_package_config_file(cmake/AttnscopeConfig.cmake.in ${PROJECT_BINARY_DIR}/AttnscopeConfig.cmake
  INSTALL_DESTINATION ${config})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/AttnscopeConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/AttnscopeConfig.cmake
  ${PROJECT_BINARY_DIR}/AttnscopeConfigVersion.cmake
  DESTINATION ${config} COMPONENT development EXCLUDE_FROM_ALL)
install(EXPORT AttnscopeTargets NAMESPACE Attnscope:: DESTINATION ${config}
  COMPONENT development EXCLUDE_FROM_ALL)
