# Unity builds: several sources are compiled together, so that their common headers (Eigen, Qt,
# GoogleTest) are read and their templates instantiated only once, which speeds up a first build.
# The sources of a library (core, analysis, app/panels, tests/core) fill one unit after the other in
# the order of their paths. Names in anonymous namespaces must therefore be unique within a library,
# except in the folders below; functions may share one if they take different first arguments.
# scripts/check-definitions checks it. `cmake --preset dev` turns it off for incremental builds.
# Highway's kernels, which compile themselves once per processor, stay separate.
option(ATTNSCOPE_UNITY "Compile several sources of a library together" OFF)

# Folders whose files each define functions of the same name, such as `read` or `make`.
set(apart tests/app/cli tests/support)
# attnscope_unity(DIRECTORY DEPTH BYTES): a library is named by the first DEPTH parts of its path, and
# its units take about BYTES of sources. Larger units save time as long as templates are common: by
# GCC 12, a unit of core took 61 s whole and 86 s in three parts, one of analysis 47 and 71 s. Tests
# save little.
function(attnscope_unity directory depth unit_bytes)
  list(JOIN apart "|" apart_pattern)
  get_property(targets DIRECTORY ${directory} PROPERTY BUILDSYSTEM_TARGETS)
  foreach(target IN LISTS targets)
    get_target_property(sources ${target} SOURCES)
    list(FILTER sources INCLUDE REGEX "\\.cpp$")
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
    foreach(source IN LISTS sources)
      get_filename_component(path ${source} ABSOLUTE BASE_DIR ${PROJECT_SOURCE_DIR}/${directory})
      if(NOT EXISTS ${path})
        continue()
      endif()
      file(STRINGS ${path} dispatched REGEX "HWY_TARGET_INCLUDE" LIMIT_COUNT 1)
      file(RELATIVE_PATH folder ${PROJECT_SOURCE_DIR} ${path})
      if(dispatched OR folder MATCHES "^(${apart_pattern})/")
        continue()
      endif()
      string(REPLACE "/" ";" library ${folder})
      list(POP_BACK library)
      list(SUBLIST library 0 ${depth} library)
      list(JOIN library "_" library)
      set(filled "${target}_${library}_bytes")
      if(NOT DEFINED ${filled})
        set(${filled} 0)
      endif()
      math(EXPR unit "${${filled}} / ${unit_bytes}")
      file(SIZE ${path} bytes)
      math(EXPR ${filled} "${${filled}} + ${bytes}")
      set_property(SOURCE ${source} TARGET_DIRECTORY ${target} PROPERTY UNITY_GROUP ${library}_${unit})
    endforeach()
    # The code that moc writes includes the headers of the library's sources: it joins their last unit,
    # by a source that includes it, since CMake takes no generated code into a unit.
    get_target_property(with_moc ${target} AUTOMOC)
    if(with_moc)
      get_target_property(folder ${target} BINARY_DIR)
      set(written ${folder}/${target}_autogen/mocs_compilation.cpp)
      file(CONFIGURE OUTPUT ${folder}/${target}_mocs.cpp CONTENT "#include \"${written}\"\n")
      target_sources(${target} PRIVATE ${folder}/${target}_mocs.cpp)
      set_property(SOURCE ${folder}/${target}_mocs.cpp TARGET_DIRECTORY ${target}
        PROPERTY UNITY_GROUP ${library}_${unit})
      set_property(SOURCE ${folder}/${target}_mocs.cpp TARGET_DIRECTORY ${target}
        PROPERTY SKIP_AUTOMOC ON)
      set_property(SOURCE ${written} TARGET_DIRECTORY ${target} PROPERTY HEADER_FILE_ONLY ON)
    endif()
  endforeach()
endfunction()
