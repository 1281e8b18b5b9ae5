#include "core/model/weights/agent_tables.h"

#include <string>

#include "core/error.h"
#include "core/model/parts/position_grid.h"

namespace attnscope {

namespace {

/// The tables of one layer.
struct AgentTables {
  const WeightReader& reader;
  std::string role;  ///< prefix of the tables' roles
  std::int64_t heads, agents;
  std::int64_t prefix;  ///< number of tokens before the patches
  PositionGrid grid;

  [[nodiscard]] std::int64_t patches() const { return grid.rows * grid.columns; }

  /// The coarse table `name` as [patches, H·k].
  [[nodiscard]] Tensor at_patches(const char* name, const Shape& stored) const {
    const PositionGrid coarse{stored.at(2), stored.at(3)};
    const Tensor table = reader.read(role + name, {heads, agents, coarse.rows, coarse.columns})
                             .reshaped({heads * agents, coarse.rows * coarse.columns});
    Tensor positions({table.extent(1), table.extent(0)});
    positions.matrix() = table.matrix().transpose();
    return resample_bilinearly(positions, coarse, grid);
  }

  /// Biases [H, k, N] of the agents' scores.
  [[nodiscard]] Tensor of_keys(const Shape& coarse) const {
    const Tensor near = at_patches("an_bias", coarse),
                 down = reader.read(role + "ah_bias", {heads, agents, grid.rows}),
                 across = reader.read(role + "aw_bias", {heads, agents, grid.columns});
    Tensor before;
    if (prefix > 0) before = reader.read(role + "ac_bias", {heads, agents, prefix});
    Tensor sums({heads, agents, prefix + patches()});
    float* to = sums.data();
    for (std::int64_t row = 0; row < heads * agents; ++row) {
      for (std::int64_t token = 0; token < prefix; ++token) {
        *to++ = before.data()[row * prefix + token];
      }
      for (std::int64_t patch = 0; patch < patches(); ++patch) {
        *to++ = near.data()[patch * heads * agents + row] +
                down.data()[row * grid.rows + patch / grid.columns] +
                across.data()[row * grid.columns + patch % grid.columns];
      }
    }
    return sums;
  }

  /// Biases [H, N, k] of the queries' scores.
  [[nodiscard]] Tensor of_agents(const Shape& coarse) const {
    const Tensor near = at_patches("na_bias", coarse),
                 down = reader.read(role + "ha_bias", {heads, grid.rows, agents}),
                 across = reader.read(role + "wa_bias", {heads, grid.columns, agents});
    Tensor before;
    if (prefix > 0) before = reader.read(role + "ca_bias", {heads, prefix, agents});
    Tensor sums({heads, prefix + patches(), agents});
    for (std::int64_t head = 0; head < heads; ++head) {
      const auto rows_of_head = [&](const Tensor& table, std::int64_t rows) {
        return ConstMatrixMap(table.data() + head * rows * agents, rows, agents);
      };
      MatrixMap to = sums.slice(head);
      if (prefix > 0) to.topRows(prefix) = rows_of_head(before, prefix);
      for (std::int64_t patch = 0; patch < patches(); ++patch) {
        to.row(prefix + patch) = near.matrix().row(patch).segment(head * agents, agents) +
                                 rows_of_head(down, grid.rows).row(patch / grid.columns) +
                                 rows_of_head(across, grid.columns).row(patch % grid.columns);
      }
    }
    return sums;
  }
};

}  // namespace

void sum_agent_tables(const WeightReader& reader, const ModelSpec& spec, std::int64_t heads,
                      std::int64_t layer, NamedTensors& tensors) {
  const auto of_keys = tensors.extract("an_bias"), of_agents = tensors.extract("na_bias");
  if (of_keys.empty() && of_agents.empty()) return;
  const std::string role = "layer." + std::to_string(layer) + ".mechanism.";
  for (const auto& table : {&of_keys, &of_agents}) {
    if (!table->empty() && table->mapped().rank() == 4 && !table->mapped().empty()) continue;
    throw Error(ErrorKind::damaged, "Agent attention needs two coarse tables of biases")
        .about(role + (table == &of_keys ? "an_bias" : "na_bias"))
        .expected("[H, k, s, s]")
        .found(table->empty() ? "no tensor" : to_string(table->mapped().shape()));
  }
  const Shape& coarse = of_keys.mapped().shape();
  const AgentTables tables{reader,
                           role,
                           heads,
                           coarse.at(1),
                           spec.input.prefix_tokens(),
                           {spec.input.grid_rows(), spec.input.grid_columns()}};
  tensors.insert_or_assign("an", tables.of_keys(coarse));
  tensors.insert_or_assign("na", tables.of_agents(of_agents.mapped().shape()));
  for (const char* const name :
       {"ah_bias", "aw_bias", "ac_bias", "ha_bias", "wa_bias", "ca_bias"}) {
    tensors.erase(name);
  }
}

}  // namespace attnscope
