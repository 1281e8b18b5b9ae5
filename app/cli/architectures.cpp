// attnscope architectures: the naming schemes it recognises, as descriptions to copy and change.
#include <cstdio>
#include <memory>

#include "app/cli/subcommand.h"
#include "core/architecture/architecture.h"
#include "core/error.h"

namespace attnscope {

Action add_architectures(CLI::App& parent, CLI::App*& added) {
  auto name = std::make_shared<std::string>();
  added = parent.add_subcommand("architectures",
                                "List the recognised naming schemes, or print one's description");
  added->add_option("NAME", *name, "Print this one as JSON: a start for one's own");
  return [name] {
    std::string known;
    for (const ArchitectureFamily& family : architecture_families()) {
      const std::string own(family.name);
      if (name->empty()) std::printf("%s\n", own.c_str());
      if (own == *name) {
        std::printf("%s\n", std::string(family.description).c_str());
        return 0;
      }
      known += (known.empty() ? "" : ", ") + own;
    }
    if (!name->empty()) throw unknown_name("architecture", *name, known);
    return 0;
  };
}

}  // namespace attnscope
