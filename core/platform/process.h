// This process as the operating system sees it: its program's file, its processor, the priority of
// its threads, code that it loads.
#pragma once

#include <filesystem>
#include <string>

namespace attnscope {

/// The file of the running program, with symbolic links resolved. Empty if the system does not
/// report it (Linux: /proc/self/exe). Qt's applicationFilePath needs a QCoreApplication, which most
/// commands do not have.
[[nodiscard]] std::filesystem::path program_file();

/// Restarts the program with the same arguments and the present environment. Returns if the system
/// cannot, and leaves the program unchanged. Called before threads start.
void restart_program(char** arguments);

/// Name of the processor, "AMD EPYC". Empty if the system does not report it (Linux on x86:
/// "model name" in /proc/cpuinfo).
[[nodiscard]] std::string processor_name();

/// Lowers this thread's priority to `nice` (1 to 19, the lowest), so that short interactive work
/// takes precedence over its own. Does nothing except on Linux, where a priority belongs to a
/// thread; elsewhere it would be the whole program's. Failure is harmless.
void lower_thread_priority(int nice);

/// The same for all threads of oneTBB that share the work of loops, from their next work on. The
/// first call counts.
void lower_worker_priority(int nice);

/// The function `name` of the shared library `file`, which stays loaded until the program ends and
/// whose symbols other libraries may use. Throws Error(unsupported) with the message `refusal` if
/// the file or the function cannot be loaded.
[[nodiscard]] void* load_function(const std::filesystem::path& file, const char* name,
                                  const std::string& refusal);

}  // namespace attnscope
