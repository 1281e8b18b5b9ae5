// Mixtures of experts: their number from the routers' rows, and the layers without them.
#include <algorithm>
#include <string>
#include <string_view>

#include "core/architecture/spec_from_tensors/family_deduction.h"

namespace attnscope {

namespace {

constexpr const char* kExperts = "layer.mlp.experts";

std::string of_layer(std::int64_t layer) { return "layer." + std::to_string(layer) + "."; }

std::int64_t first_extent(const Shape& shape) { return shape.empty() ? 0 : shape.front(); }

}  // namespace

std::string FamilyDeduction::mlp_roles() const {
  for (std::int64_t layer = 0; may_have_experts() && layer < layers_; ++layer) {
    if (has(of_layer(layer) + "router.weight")) return of_layer(layer) + "experts_";
  }
  return of_layer(0);
}

/// Throws unless a layer with experts has the tensors of a shared MLP that the first one has, and
/// other layers none.
void FamilyDeduction::check_shared_expert(std::int64_t layer, bool routed) const {
  std::string first = mlp_roles();
  first.replace(first.rfind('.') + 1, std::string::npos, "shared_");
  for (const std::string part : {"mlp1.weight", "mlp_gate.weight", "mlp2.weight", "gate.weight"}) {
    const bool needed = routed && has(first + part);
    const std::string role = of_layer(layer) + "shared_" + part;
    if (has(role) == needed) continue;
    throw Error(ErrorKind::damaged, "the layers' MLPs of all tokens differ")
        .in_file(checkpoint_.path())
        .about(role)
        .expected(needed ? "a tensor for this role" : "none");
  }
}

void FamilyDeduction::deduce_experts() {
  if (!may_have_experts()) return;
  std::int64_t experts = 0;
  LayerDifference plain;  // layers with one MLP
  for (std::int64_t layer = 0; layer < layers_; ++layer) {
    const auto router = result_.sources.find(of_layer(layer) + "router.weight");
    if (router == result_.sources.end()) {
      plain.layers.push_back(layer);
    } else if (experts == 0) {
      experts = first_extent(used_shape(checkpoint_, router->second));
    }
  }
  fact(kExperts, spec_.layer.mlp.experts, experts, "the routers");
  if (experts == 0) return;
  check_stored_experts();
  for (const char* const member : {"layer.mlp.active_experts", "layer.mlp.sums_to_one"}) {
    if (!stated(member) && !description_.reasons.contains(member)) {
      throw Error(ErrorKind::unsupported, "the file does not say how its experts are combined")
          .in_file(checkpoint_.path())
          .about(member)
          .expected(
              "the number of experts that a token passes through, and whether their weights "
              "sum to 1")
          .remedy(
              "--option layer.mlp.active_experts=2 --option layer.mlp.sums_to_one=true, if you "
              "know");
    }
    assume(member, "the family's usual one");
  }
  if (plain.layers.empty() || stated("differences")) return;
  plain.members["mlp.experts"] = "0";
  const auto mlp2 = result_.sources.find(of_layer(plain.layers.front()) + "mlp2.weight");
  if (mlp2 != result_.sources.end()) {
    const Shape shape = used_shape(checkpoint_, mlp2->second);
    plain.members["mlp.width"] = std::to_string(shape.empty() ? 0 : shape.back());
  }
  spec_.differences.push_back(std::move(plain));
  stated_.insert("differences");
}

/// Throws unless every layer stores as many experts as the routers have rows.
void FamilyDeduction::check_stored_experts() const {
  const std::int64_t experts = spec_.layer.mlp.experts;
  for (const auto& [role, source] : result_.sources) {
    const bool of_experts = role.find(".experts_mlp") != std::string::npos;
    if (!of_experts || !role.ends_with(".weight")) continue;
    const std::int64_t stored = stored_parts(checkpoint_, source);
    if (stored == experts || stored == 0) continue;
    throw Error(ErrorKind::damaged, "the number of experts differs from the router's rows")
        .in_file(checkpoint_.path())
        .about(source.pieces.empty() ? source.tensor : source.pieces.back())
        .expected(std::to_string(experts) + " experts")
        .found(std::to_string(stored));
  }
}

/// Throws unless the layer has the tensors of its MLP or of its experts, and no others.
void FamilyDeduction::check_layer_of_experts(std::int64_t layer) const {
  const MlpSpec mlp = layer_of(spec_, layer).mlp;
  const bool routed = mlp.experts > 0;
  const std::string own = of_layer(layer) + (routed ? "experts_" : "");
  const bool both = has(own + "mlp_gate_and_mlp1.weight");
  const auto check = [&](const std::string& role, bool needed) {
    if (has(role + ".weight") == needed) return;
    const std::string what = routed ? std::to_string(mlp.experts) + " experts" : "one MLP";
    throw Error(ErrorKind::damaged, "the tensors of a layer do not fit its " + what)
        .in_file(checkpoint_.path())
        .about(role + ".weight")
        .expected(needed ? "a tensor for this role" : "none");
  };
  check(of_layer(layer) + "router", routed);
  check_shared_expert(layer, routed);
  for (const std::string part : {"mlp1", "mlp_gate", "mlp_gate_and_mlp1", "mlp2"}) {
    const bool of_both = part == "mlp_gate_and_mlp1";
    const bool needed = part == "mlp2"       ? true
                        : of_both            ? both
                        : part == "mlp_gate" ? mlp.form == MlpForm::gated && !both
                                             : !both;
    check(own + part, needed);
    check(of_layer(layer) + (routed ? "" : "experts_") + part, false);
  }
}

void FamilyDeduction::check_experts() const {
  if (!may_have_experts()) return;
  if (spec_.layer.mlp.form == MlpForm::none) {
    throw Error(ErrorKind::unsupported, "the layers have neither MLPs nor experts")
        .in_file(checkpoint_.path())
        .about("layer.0.mlp2.weight")
        .expected("a tensor for this role, or experts");
  }
  for (std::int64_t layer = 0; layer < layers_; ++layer) check_layer_of_experts(layer);
}

}  // namespace attnscope
