#include "core/built_with.h"

#include <Eigen/Core>
#include <H5public.h>
#include <hwy/highway.h>
#include <hwy/targets.h>
#include <jpeglib.h>
#include <nlohmann/json.hpp>
#include <png.h>
#include <sndfile.h>
#include <string_view>
#include <tbb/task_arena.h>
#include <tbb/version.h>
#include <zlib.h>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

namespace attnscope {

namespace {

std::string joined(std::initializer_list<unsigned> numbers) {
  std::string text;
  for (const unsigned number : numbers) text += (text.empty() ? "" : ".") + std::to_string(number);
  return text;
}

std::string hdf5_version() {
  unsigned major = 0, minor = 0, release = 0;
  H5get_libversion(&major, &minor, &release);
  return joined({major, minor, release});
}

std::string pcre2_version() {
  char version[64] = {};
  pcre2_config(PCRE2_CONFIG_VERSION, version);
  const std::string_view text = version;  // "10.42 2022-12-11"
  return std::string(text.substr(0, text.find(' ')));
}

std::string sndfile_version() {
  const std::string_view text = sf_version_string();  // "libsndfile-1.2.0"
  return std::string(text.substr(text.rfind('-') + 1));
}

std::string jpeg_version() {
#ifdef LIBJPEG_TURBO_VERSION_NUMBER
  constexpr unsigned number = LIBJPEG_TURBO_VERSION_NUMBER;  // 2001005 means 2.1.5
  return "turbo " + joined({number / 1'000'000, number / 1'000 % 1'000, number % 1'000});
#else
  return std::to_string(JPEG_LIB_VERSION);
#endif
}

}  // namespace

std::string compiler_version() {
#if defined(__clang__)
  return "Clang " + joined({__clang_major__, __clang_minor__, __clang_patchlevel__});
#elif defined(__GNUC__)
  return "GCC " + joined({__GNUC__, __GNUC_MINOR__, __GNUC_PATCHLEVEL__});
#else
  return "unknown";
#endif
}

std::vector<LibraryVersion> core_libraries() {
  return {
      {"Eigen", joined({EIGEN_WORLD_VERSION, EIGEN_MAJOR_VERSION, EIGEN_MINOR_VERSION})},
      {"HDF5", hdf5_version()},
      {"Highway", joined({HWY_MAJOR, HWY_MINOR, HWY_PATCH})},
      {"libjpeg", jpeg_version()},
      {"libpng", png_get_libpng_ver(nullptr)},
      {"libsndfile", sndfile_version()},
      {"nlohmann-json", joined({NLOHMANN_JSON_VERSION_MAJOR, NLOHMANN_JSON_VERSION_MINOR,
                                NLOHMANN_JSON_VERSION_PATCH})},
      {"oneTBB", TBB_runtime_version()},
      {"PCRE2", pcre2_version()},
      {"zlib", zlibVersion()},
  };
}

std::vector<std::string> simd_targets() {
  std::vector<std::string> names;
  for (const std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
    names.emplace_back(hwy::TargetName(target));
  }
  return names;
}

int worker_threads() { return tbb::this_task_arena::max_concurrency(); }

}  // namespace attnscope
