# Unity builds: several sources are compiled together, so that their common headers (Eigen, Qt,
# GoogleTest) are read and their templates instantiated only once, which speeds up a first build.
# The sources of a room (core/model, analysis, app/panels, tests/core) fill one unit after the other
# in the order of their paths. Names in anonymous namespaces must therefore be unique within a room,
# except in the folders below; functions may share one if they take different first arguments.
# scripts/check-definitions checks it. `cmake --preset dev` turns it off for incremental builds.
# Highway's kernels, which compile themselves once per processor, stay separate.
option(ATTNSCOPE_UNITY "Compile several sources of a room together" OFF)

# Folders whose files each define functions of the same name, such as `read` or `make`.
set(apart core/checkpoint/formats core/tokenizer tests/app/cli tests/support)
# A unit takes about this many bytes of sources, some 1,200 lines.
set(unit_bytes 45000)

# attnscope_unity(DIRECTORY ROOM_DEPTH): a room is named by the first ROOM_DEPTH parts of its path.
function(attnscope_unity directory depth)
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
      string(REPLACE "/" ";" room ${folder})
      list(POP_BACK room)
      list(SUBLIST room 0 ${depth} room)
      list(JOIN room "_" room)
      set(filled "${target}_${room}_bytes")
      if(NOT DEFINED ${filled})
        set(${filled} 0)
      endif()
      math(EXPR unit "${${filled}} / ${unit_bytes}")
      file(SIZE ${path} bytes)
      math(EXPR ${filled} "${${filled}} + ${bytes}")
      set_property(SOURCE ${source} TARGET_DIRECTORY ${target} PROPERTY UNITY_GROUP ${room}_${unit})
    endforeach()
  endforeach()
endfunction()
