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

std::int64_t FamilyDeduction::first_with_experts() const {
  for (std::int64_t layer = 0; may_have_experts() && layer < layers_; ++layer) {
    if (has(of_layer(layer) + "router.weight")) return layer;
  }
  return -1;
}

std::string FamilyDeduction::mlp_roles() const {
  const std::int64_t layer = first_with_experts();
  return layer < 0 ? of_layer(0) : of_layer(layer) + "experts_";
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
  if (description_.tensors.contains("layer.shared_mlp1.weight")) {
    const auto shared = result_.sources.find(of_layer(first_with_experts()) + "shared_mlp1.weight");
    const bool none = shared == result_.sources.end();
    fact("layer.mlp.shared_width", spec_.layer.mlp.shared_width,
         none ? 0 : first_extent(used_shape(checkpoint_, shared->second)), "the shared experts");
  }
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
  if (constexpr const char* groups = "layer.mlp.expert_groups";
      description_.reasons.contains(groups)) {
    assume(groups, "the family's usual one");
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
    if (has(role) == needed) return;
    const std::string what = routed ? std::to_string(mlp.experts) + " experts" : "one MLP";
    throw Error(ErrorKind::damaged, "the tensors of a layer do not fit its " + what)
        .in_file(checkpoint_.path())
        .about(role)
        .expected(needed ? "a tensor for this role" : "none");
  };
  const bool corrects = mlp.expert_score == ExpertScore::sigmoid &&
                        description_.tensors.contains("layer.router_correction");
  const bool shares = routed && mlp.shared_width > 0, gated = mlp.form == MlpForm::gated;
  const bool gates = has(of_layer(first_with_experts()) + "shared_gate.weight");
  check(of_layer(layer) + "router.weight", routed);
  check(of_layer(layer) + "router_correction", routed && corrects);
  check(of_layer(layer) + "shared_mlp1.weight", shares);
  check(of_layer(layer) + "shared_mlp_gate.weight", shares && gated);
  check(of_layer(layer) + "shared_mlp2.weight", shares);
  check(of_layer(layer) + "shared_gate.weight", shares && gates);
  for (const std::string part : {"mlp1", "mlp_gate", "mlp_gate_and_mlp1", "mlp2"}) {
    const bool of_both = part == "mlp_gate_and_mlp1";
    const bool needed = part == "mlp2"       ? true
                        : of_both            ? both
                        : part == "mlp_gate" ? gated && !both
                                             : !both;
    check(own + part + ".weight", needed);
    check(of_layer(layer) + (routed ? "" : "experts_") + part + ".weight", false);
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
