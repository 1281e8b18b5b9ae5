// Operations and energy of a network, without weights.
#include <cstdio>

#include "analysis/energy/request.h"

int main() {
  using namespace attnscope;
  EnergyRequest request;
  request.architecture = "deit-tiny";
  request.mechanism.name = "hash";
  set(request, "bits", "8");  // the same names are options of the command line
  const EnergySubject subject = resolve(request);
  const NetworkCost cost = count_operations(subject.architecture, subject.options);
  const EnergyTotals totals = totals_of(cost.total(), subject.constants);
  std::printf("%s: %.3g multiplications, %.3g mJ\n", subject.label.c_str(), totals.multiplications,
              totals.energy_pj / 1e9);
}
