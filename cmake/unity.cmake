# Unity builds: several sources are compiled together, so that their common headers (Eigen, Qt,
# GoogleTest) are read only once, which speeds up a first build. Each unit has a few sources of one
# folder. Names in anonymous namespaces must therefore be unique within a folder, except in the
# folders below. Highway's kernels, which compile themselves once per processor, stay separate.
# `cmake --preset dev` turns it off for incremental builds.
option(ATTNSCOPE_UNITY "Compile the sources of a folder together" OFF)

# Folders whose files each define functions of the same name, such as `read` or `make`.
set(apart core/checkpoint/formats core/tokenizer tests/app/cli tests/support)

function(attnscope_unity)
  list(JOIN apart "|" apart_pattern)
  set(apart_pattern "^(${apart_pattern})")
  foreach(directory IN LISTS ARGN)
    get_property(targets DIRECTORY ${directory} PROPERTY BUILDSYSTEM_TARGETS)
    foreach(target IN LISTS targets)
      get_target_property(sources ${target} SOURCES)
      list(FILTER sources INCLUDE REGEX "\\.cpp$")
      set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
      foreach(source IN LISTS sources)
        get_filename_component(path ${source} ABSOLUTE BASE_DIR ${PROJECT_SOURCE_DIR}/${directory})
        set(dispatched "")
        if(EXISTS ${path})
          file(STRINGS ${path} dispatched REGEX "HWY_TARGET_INCLUDE" LIMIT_COUNT 1)
        endif()
        if(dispatched)
          continue()
        endif()
        get_filename_component(folder ${path} DIRECTORY)
        file(RELATIVE_PATH folder ${PROJECT_SOURCE_DIR} ${folder})
        if(folder MATCHES "${apart_pattern}")
          continue()
        endif()
        string(MAKE_C_IDENTIFIER ${folder} group)
        if(NOT DEFINED ${group})
          set(${group} 0)
        endif()
        math(EXPR part "${${group}} / 8")
        math(EXPR ${group} "${${group}} + 1")
        set_property(SOURCE ${source} TARGET_DIRECTORY ${target} PROPERTY UNITY_GROUP ${group}_${part})
      endforeach()
    endforeach()
  endforeach()
endfunction()
