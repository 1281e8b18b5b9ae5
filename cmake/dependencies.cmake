# The libraries that Attnscope is built with. Distributions name them differently: each is looked for
# with pkg-config, as a CMake package, and by header and file. All missing ones are named together
# with the packages that hold them (the table in docs/building.md, by scripts/package-names).
set(ATTNSCOPE_IMGUI_SOURCE "" CACHE PATH "Folder with Dear ImGui's sources, where no package has it")
set(ATTNSCOPE_QCUSTOMPLOT_SOURCE "" CACHE PATH "Folder with qcustomplot.cpp, where no package has it")
find_package(PkgConfig QUIET)
set(attnscope_missing "")
if(NOT PkgConfig_FOUND)
  list(APPEND attnscope_missing "pkg-config")
endif()

# Makes the imported target NAME, or adds LIBRARY, a row of the table, to the missing ones. MODULES
# are pkg-config's names, PACKAGES those of CMake packages with the targets TARGETS, and HEADER with
# FILES, below the folders FOLDERS, is the last attempt.
function(attnscope_find name library)
  cmake_parse_arguments(PARSE_ARGV 2 by "" "HEADER;VERSION" "MODULES;PACKAGES;TARGETS;FILES;FOLDERS")
  string(REGEX REPLACE ".*:" "" prefix "${name}")
  if(by_MODULES AND PkgConfig_FOUND AND NOT TARGET ${name})
    pkg_search_module(${prefix} QUIET IMPORTED_TARGET ${by_MODULES})
    if(TARGET PkgConfig::${prefix} AND NOT TARGET ${name})
      add_library(${name} INTERFACE IMPORTED)
      target_link_libraries(${name} INTERFACE PkgConfig::${prefix})
    endif()
  endif()
  foreach(package IN LISTS by_PACKAGES)
    if(NOT TARGET ${name})
      find_package(${package} QUIET)
    endif()
    foreach(target IN LISTS by_TARGETS)
      if(TARGET ${target} AND NOT TARGET ${name})
        add_library(${name} INTERFACE IMPORTED)
        target_link_libraries(${name} INTERFACE ${target})
      endif()
    endforeach()
    if(TARGET ${name} AND by_VERSION AND "${${package}_VERSION}" VERSION_LESS by_VERSION)
      set(attnscope_missing ${attnscope_missing} "${library}" PARENT_SCOPE)
      return()
    endif()
  endforeach()
  if(by_HEADER AND NOT TARGET ${name})
    find_path(ATTNSCOPE_${prefix}_FOLDER ${by_HEADER} PATH_SUFFIXES ${by_FOLDERS})
    set(files "")
    if(by_FILES)
      find_library(ATTNSCOPE_${prefix}_FILE NAMES ${by_FILES} PATH_SUFFIXES ${by_FOLDERS})
      set(files ${ATTNSCOPE_${prefix}_FILE})
    endif()
    mark_as_advanced(ATTNSCOPE_${prefix}_FOLDER ATTNSCOPE_${prefix}_FILE)
    if(ATTNSCOPE_${prefix}_FOLDER AND (files OR NOT by_FILES))
      add_library(${name} INTERFACE IMPORTED)
      target_include_directories(${name} INTERFACE ${ATTNSCOPE_${prefix}_FOLDER})
      target_link_libraries(${name} INTERFACE ${files})
    endif()
  endif()
  if(NOT TARGET ${name})
    set(attnscope_missing ${attnscope_missing} "${library}" PARENT_SCOPE)
  endif()
endfunction()

attnscope_find(Eigen3::Eigen "Eigen" PACKAGES Eigen3 VERSION 3.4)
attnscope_find(Spectra::Spectra "Spectra" PACKAGES spectra Spectra TARGETS spectra::spectra
  HEADER Spectra/SymEigsSolver.h)
attnscope_find(nlohmann_json::nlohmann_json "nlohmann-json" PACKAGES nlohmann_json)
attnscope_find(TBB::tbb "oneTBB" PACKAGES TBB)
attnscope_find(cereal::cereal "cereal" PACKAGES cereal TARGETS cereal HEADER cereal/cereal.hpp)
attnscope_find(ZLIB::ZLIB "zlib" PACKAGES ZLIB)
attnscope_find(PNG::PNG "libpng" PACKAGES PNG)
attnscope_find(JPEG::JPEG "libjpeg-turbo" PACKAGES JPEG)
attnscope_find(PkgConfig::HWY "Highway" MODULES libhwy PACKAGES hwy TARGETS hwy::hwy)
# The plain name becomes that of HDF5 with MPI where that is installed, too.
attnscope_find(PkgConfig::HDF5 "HDF5" MODULES hdf5-serial hdf5 PACKAGES hdf5
  TARGETS hdf5::hdf5-shared hdf5-shared hdf5::hdf5-static
  HEADER hdf5.h FILES hdf5 hdf5_serial FOLDERS hdf5/serial)
attnscope_find(PkgConfig::PCRE2 "PCRE2" MODULES libpcre2-8 HEADER pcre2.h FILES pcre2-8)
attnscope_find(PkgConfig::XXHASH "xxHash" MODULES libxxhash PACKAGES xxHash TARGETS xxHash::xxhash
  HEADER xxhash.h FILES xxhash)
attnscope_find(PkgConfig::ICU "ICU" MODULES icu-uc HEADER unicode/normalizer2.h FILES icuuc)
# libsndfile's pkg-config also names the folders of its codecs, which are not needed here.
attnscope_find(PkgConfig::SNDFILE "libsndfile" HEADER sndfile.h FILES sndfile)
set(SNDFILE_LIBRARY PkgConfig::SNDFILE)
find_package(Threads REQUIRED)

# OpenBLAS is preferred to other libraries with BLAS's C interface. LAPACKE may be part of it.
attnscope_find(PkgConfig::OPENBLAS "OpenBLAS" MODULES openblas openblas-pthreads flexiblas cblas
  PACKAGES OpenBLAS TARGETS OpenBLAS::OpenBLAS
  HEADER cblas.h FILES openblas openblasp flexiblas cblas FOLDERS openblas flexiblas)
attnscope_find(PkgConfig::LAPACKE "LAPACKE" MODULES lapacke PACKAGES lapacke TARGETS lapacke
  HEADER lapacke.h FILES lapacke openblas openblasp FOLDERS openblas lapacke)
find_library(LAPACKE_LIBRARY lapacke)
if(NOT LAPACKE_LIBRARY)
  set(LAPACKE_LIBRARY "")
endif()

# The program and its window.
if(ATTNSCOPE_PROGRAM)
  attnscope_find(CLI11::CLI11 "CLI11" PACKAGES CLI11 HEADER CLI/CLI.hpp)
  attnscope_find(OpenGL::GL "OpenGL" PACKAGES OpenGL)
  attnscope_find(PkgConfig::FREETYPE "FreeType" MODULES freetype2 PACKAGES Freetype
    TARGETS Freetype::Freetype)

  set(attnscope_qt Core Gui Widgets Network OpenGL OpenGLWidgets Svg PrintSupport Test)
  find_package(Qt6 6.4 QUIET COMPONENTS ${attnscope_qt})
  if(NOT Qt6_FOUND)
    list(APPEND attnscope_missing "Qt")
  endif()

  if(ATTNSCOPE_QCUSTOMPLOT_SOURCE AND Qt6_FOUND)
    add_library(QCustomPlotQt6 STATIC ${ATTNSCOPE_QCUSTOMPLOT_SOURCE}/qcustomplot.cpp
      ${ATTNSCOPE_QCUSTOMPLOT_SOURCE}/qcustomplot.h)
    target_include_directories(QCustomPlotQt6 SYSTEM INTERFACE ${ATTNSCOPE_QCUSTOMPLOT_SOURCE})
    target_link_libraries(QCustomPlotQt6 PUBLIC Qt6::Widgets Qt6::PrintSupport)
    set_target_properties(QCustomPlotQt6 PROPERTIES AUTOMOC ON)
  else()
    attnscope_find(QCustomPlotQt6 "QCustomPlot for Qt 6" PACKAGES QCustomPlotQt6
      MODULES qcustomplot-qt6 HEADER qcustomplot.h FILES qcustomplot-qt6 QCustomPlotQt6 qcustomplot)
    # A library that is only called qcustomplot may be one for Qt 5, which links and then fails.
    if(ATTNSCOPE_QCustomPlotQt6_FILE MATCHES "qcustomplot\\.so$")
      file(STRINGS ${ATTNSCOPE_QCustomPlotQt6_FILE} of_qt5 REGEX "libQt5Core" LIMIT_COUNT 1)
      if(of_qt5)
        list(APPEND attnscope_missing "QCustomPlot for Qt 6")
      endif()
    endif()
  endif()

  if(ATTNSCOPE_IMGUI_SOURCE)
    foreach(part imgui imgui_draw imgui_tables imgui_widgets backends/imgui_impl_opengl3)
      list(APPEND attnscope_imgui ${ATTNSCOPE_IMGUI_SOURCE}/${part}.cpp)
    endforeach()
    add_library(attnscope_imgui STATIC ${attnscope_imgui})
    target_include_directories(attnscope_imgui SYSTEM PUBLIC ${ATTNSCOPE_IMGUI_SOURCE})
    target_link_libraries(attnscope_imgui PRIVATE ${CMAKE_DL_LIBS})
    add_library(PkgConfig::IMGUI ALIAS attnscope_imgui)
  else()
    attnscope_find(PkgConfig::IMGUI "Dear ImGui" MODULES imgui PACKAGES imgui TARGETS imgui::imgui
      HEADER imgui.h FILES imgui FOLDERS imgui)
  endif()
endif()

if(attnscope_missing)
  execute_process(COMMAND ${PROJECT_SOURCE_DIR}/scripts/package-names ${attnscope_missing}
    OUTPUT_VARIABLE names ERROR_VARIABLE names)
  message(FATAL_ERROR "libraries that Attnscope is built with are missing:\n${names}")
endif()
