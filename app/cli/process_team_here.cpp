#include "app/cli/process_team_here.h"

#include <array>
#include <cstdlib>
#include <dlfcn.h>
#include <filesystem>
#include <string>

#include "core/error.h"

namespace attnscope {

namespace {

/// True if the environment names more than one process: Open MPI's mpirun, MPICH's PMI, or PMIx
/// (srun).
bool runs_under_mpi() {
  for (const char* const name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"}) {
    if (const char* const size = std::getenv(name)) return std::string_view(size) != "1";
  }
  return std::getenv("PMIX_RANK") != nullptr;
}

std::filesystem::path plug_in() {
  constexpr const char* kFile = "libattnscope-mpi.so";
  const std::filesystem::path folder =
      std::filesystem::read_symlink("/proc/self/exe").parent_path();
  for (const std::filesystem::path& path :
       {folder / kFile, folder.parent_path() / "lib" / "attnscope" / kFile}) {
    std::error_code ignored;
    if (std::filesystem::exists(path, ignored)) return path;
  }
  throw Error(ErrorKind::unsupported,
              "the program was started as one of several processes, but built without MPI")
      .expected((folder / kFile).string())
      .remedy("build with libopenmpi-dev installed, or start a single process");
}

}  // namespace

std::unique_ptr<ProcessTeam> process_team_here() {
  if (!runs_under_mpi()) return nullptr;
  const std::filesystem::path file = plug_in();
  // RTLD_GLOBAL lets Open MPI's own plug-ins find its symbols. The library is never closed.
  void* const library = ::dlopen(file.c_str(), RTLD_NOW | RTLD_GLOBAL);
  void* const make = library == nullptr ? nullptr : ::dlsym(library, "attnscope_make_team");
  if (make == nullptr) {
    throw Error(ErrorKind::unsupported, "the plug-in for MPI cannot be loaded")
        .in_file(file)
        .found(::dlerror());
  }
  return std::unique_ptr<ProcessTeam>(reinterpret_cast<ProcessTeam* (*)()>(make)());
}

}  // namespace attnscope
