# Several sources compiled as one, so that what they all include (Eigen, Qt, GoogleTest) is read once
# for them: for a first build. The sources of one folder go together, a few at a time; names in
# anonymous namespaces are therefore unique within a folder, but for the folders below. Highway's
# kernels, which compile themselves once for each processor, stay alone.
# `cmake --preset dev` is without it, for those who change one file again and again.
option(ATTNSCOPE_UNITY "Compile the sources of a folder together" OFF)

# Folders of things alike, each file with a `read` or a `make` of its own.
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
