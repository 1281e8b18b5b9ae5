# A library of two parts: folders that compute with matrices, by -O3, and all others, which read
# files, describe models and write tables, by -O1. Those are two thirds of the sources, and -O1
# saves a third of their compilation.

# attnscope_split(ALL COMPUTING FOLDER…): moves the sources in the folders from the list named ALL to
# the list named COMPUTING.
function(attnscope_split all computing)
  list(JOIN ARGN "|" folders)
  set(moved ${${all}})
  list(FILTER moved INCLUDE REGEX "^${CMAKE_CURRENT_SOURCE_DIR}/(${folders})/")
  set(kept ${${all}})
  list(REMOVE_ITEM kept ${moved})
  set(${all} ${kept} PARENT_SCOPE)
  set(${computing} ${moved} PARENT_SCOPE)
endfunction()

# attnscope_library(NAME SOURCES … COMPUTING … PUBLIC … PRIVATE … PRECOMPILED …): a static library.
function(attnscope_library name)
  cmake_parse_arguments(PARSE_ARGV 1 of "" "" "SOURCES;COMPUTING;PUBLIC;PRIVATE;PRECOMPILED")
  add_library(${name}_computing OBJECT ${of_COMPUTING})
  add_library(${name} STATIC ${of_SOURCES} $<TARGET_OBJECTS:${name}_computing>)
  target_compile_options(${name}_computing PRIVATE $<$<CONFIG:Release>:-O3>)
  target_compile_options(${name} PRIVATE $<$<CONFIG:Release>:-O1>)
  foreach(part ${name} ${name}_computing)
    target_link_libraries(${part} PUBLIC ${of_PUBLIC} PRIVATE ${of_PRIVATE})
    target_compile_definitions(${part} PRIVATE ATTNSCOPE_VERSION="${PROJECT_VERSION}")
    target_precompile_headers(${part} PRIVATE ${of_PRECOMPILED})
  endforeach()
endfunction()
