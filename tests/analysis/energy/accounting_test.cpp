#include "analysis/energy/accounting.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/energy/request.h"
#include "core/error.h"
#include "core/model/model.h"
#include "tests/support/model_shapes.h"
#include "tests/support/temporary_folder.h"

namespace attnscope {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr const char* kConventions[] = {"adder", "ecoformer", "complete"};

EnergySubject subject(const std::string& text) { return resolve(parse_energy_request(text)); }

NetworkCost count(const std::string& text) {
  const EnergySubject network = subject(text);
  return count_operations(network.architecture, network.options);
}

std::string refusal(const std::string& text) {
  try {
    (void)count(text);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage) << error.what();
    return error.what();
  }
  ADD_FAILURE() << "not refused: " << text;
  return {};
}

void expect_equal(const OperationCount& a, const OperationCount& b) {
  EXPECT_EQ(a.multiplications, b.multiplications);
  EXPECT_EQ(a.additions, b.additions);
  EXPECT_EQ(a.shifts, b.shifts);
  EXPECT_EQ(a.divisions, b.divisions);
  EXPECT_EQ(a.exponentials, b.exponentials);
  EXPECT_EQ(a.bytes_moved, b.bytes_moved);
}

class EveryNetwork : public testing::TestWithParam<std::string> {};

TEST_P(EveryNetwork, TotalsAreTheSumOfTheirParts) {
  for (const char* convention : kConventions) {
    for (const MechanismEntry& mechanism : counted_mechanisms()) {
      if (mechanism.name.starts_with("daft-") && mechanism.name != "daft-full")
        continue;  // the number of convolution heads need not divide every width
      SCOPED_TRACE(std::string(mechanism.name) + " " + convention);
      // Some mechanisms need as many keys as queries, which spatial reduction does not keep.
      const NetworkCost network = count(GetParam() + " mechanism=" + std::string(mechanism.name) +
                                        " native=false convention=" + convention);
      OperationCount components, groups, layers;
      for (const ComponentCost& part : network.by_component()) accumulate(components, part.count);
      for (const auto group :
           {ComponentGroup::embedding, ComponentGroup::attention, ComponentGroup::feed_forward,
            ComponentGroup::normalisation, ComponentGroup::head}) {
        accumulate(groups, network.total_of(group));
      }
      for (const PartCost& part : network.parts) {
        for (const ComponentCost& component : part.components) accumulate(layers, component.count);
      }
      expect_equal(components, network.total());
      expect_equal(groups, network.total());
      expect_equal(layers, network.total());
      EXPECT_GT(network.total().multiplications, 0);
    }
  }
}

TEST_P(EveryNetwork, EnergyIsLinearInTheConstants) {
  const OperationCount total = count(GetParam()).total();
  const EnergyConstants& fp32 = energy_tables()[0];
  const EnergyConstants& int8 = energy_tables()[3];
  EnergyConstants mixture = fp32;
  const auto mix = [](double a, double b) { return 3 * a + 0.5 * b; };
  mixture.addition_pj = mix(fp32.addition_pj, int8.addition_pj);
  mixture.multiplication_pj = mix(fp32.multiplication_pj, int8.multiplication_pj);
  mixture.shift_pj = mix(fp32.shift_pj, int8.shift_pj);
  mixture.division_pj = mix(fp32.division_pj, int8.division_pj);
  mixture.exponential_pj = mix(fp32.exponential_pj, int8.exponential_pj);
  const double expected = mix(operations_energy_pj(total, fp32), operations_energy_pj(total, int8));
  EXPECT_NEAR(operations_energy_pj(total, mixture), expected, 1e-12 * expected);
  // Traffic is reported separately and scales with the number of bytes of a value.
  EXPECT_NEAR(traffic_energy_pj(total, int8) * 4, traffic_energy_pj(total, fp32),
              1e-12 * traffic_energy_pj(total, fp32));
}

TEST_P(EveryNetwork, TheCompleteConventionLeavesNothingOut) {
  const OperationCount adder = count(GetParam() + " convention=adder").total();
  const OperationCount complete = count(GetParam() + " convention=complete").total();
  EXPECT_GT(complete.multiplications, adder.multiplications);
  EXPECT_GT(complete.additions, adder.additions);
  EXPECT_GT(complete.exponentials, 0);
  EXPECT_GT(complete.bytes_moved, 0);
  EXPECT_EQ(adder.exponentials + adder.divisions + adder.bytes_moved, 0);
}

std::vector<std::string> all_networks() {
  std::vector<std::string> names;
  for (const NamedNetwork& architecture : named_architectures()) {
    names.emplace_back(architecture.name);
  }
  return names;
}

INSTANTIATE_TEST_SUITE_P(Named, EveryNetwork, testing::ValuesIn(all_networks()),
                         [](const auto& info) {
                           std::string name = info.param;
                           for (char& c : name) c = c == '-' ? '_' : c;
                           return name;
                         });

// Totals of the models themselves, as published by their authors.
TEST(Parameters, AreThoseTheAuthorsPrint) {
  const std::pair<const char*, double> published[] = {
      {"deit-tiny", 5.7e6}, {"deit-small", 22.1e6},   {"deit-base", 86.6e6},
      {"pvtv2-b0", 3.67e6}, {"pvtv2-b2", 25.4e6},     {"twins-svt-small", 24.0e6},
      {"gpt2", 124.4e6},    {"gpt2-medium", 354.8e6}, {"gpt2-large", 774.0e6},
      {"gpt2-xl", 1557.6e6}};
  for (const auto& [network, expected] : published) {
    const EnergySubject s = subject(network);
    double sum = 0;
    for (const ParameterCount& part : count_parameters(s.architecture, s.options)) {
      sum += static_cast<double>(part.parameters);
    }
    EXPECT_NEAR(sum, expected, 0.006 * expected) << network;
  }
}

TEST(Accounting, LayersOfTheAdderNetworkKeepOnlyTheValuesMultiplicative) {
  const NetworkCost network =
      count("deit-tiny mechanism=adder arithmetic=adder convention=adder classes=10");
  for (const PartCost& part : network.parts) {
    if (part.layer < 0) continue;
    for (const ComponentCost& component : part.components) {
      if (component.count.component == "values") {
        EXPECT_EQ(component.count.multiplications, 197 * 197 * 192);
      } else {
        EXPECT_EQ(component.count.multiplications, 0) << component.count.component;
      }
    }
  }
}

TEST(Accounting, MultiplicativeEndsKeepTheirLayers) {
  const NetworkCost mixed =
      count("deit-tiny mechanism=adder arithmetic=adder multiplicative_ends=1 convention=adder");
  const NetworkCost plain = count("deit-tiny convention=adder");
  const NetworkCost adder = count("deit-tiny mechanism=adder arithmetic=adder convention=adder");
  const auto layer = [](const NetworkCost& network, std::int64_t index) {
    OperationCount sum;
    for (const PartCost& part : network.parts) {
      if (part.layer != index) continue;
      for (const ComponentCost& component : part.components) accumulate(sum, component.count);
    }
    return sum;
  };
  expect_equal(layer(mixed, 0), layer(plain, 0));
  expect_equal(layer(mixed, 11), layer(plain, 11));
  expect_equal(layer(mixed, 1), layer(adder, 1));
}

TEST(Accounting, NativeAttentionOfPyramidsCostsLess) {
  for (const std::string network : {"pvtv2-b0", "twins-svt-small"}) {
    EXPECT_LT(
        count(network).total_of(ComponentGroup::attention).multiplications,
        count(network + " native=false").total_of(ComponentGroup::attention).multiplications / 2);
  }
}

TEST(Accounting, PyramidsByNameHaveTheirOwnKeysUnlessEcoFormerCounts) {
  for (const std::string network : {"pvtv2-b0", "pvtv2-b2", "twins-svt-small"}) {
    expect_equal(count(network).total(), count(network + " native=true").total());
    expect_equal(count(network + " convention=ecoformer").total(),
                 count(network + " convention=ecoformer native=false").total());
    EXPECT_THAT(subject(network).label, Not(HasSubstr("without")));
    EXPECT_THAT(subject(network + " convention=ecoformer").label,
                HasSubstr("without " + std::string(network[0] == 't' ? "windows and " : "") +
                          "spatial reduction"));
  }
  // The authors print 0.57 G multiplications for PVTv2-B0 at 224 × 224.
  EXPECT_NEAR(static_cast<double>(count("pvtv2-b0").total().multiplications), 0.578e9, 0.005e9);
}

TEST(Accounting, ReportsWhichPairsOfCausalNetworksAreCounted) {
  EXPECT_THAT(subject("gpt2").architecture.note,
              HasSubstr("N x N pairs of tokens, though no token sees later ones, and the head"));
  EXPECT_THAT(subject("gpt2 mechanism=linear").architecture.note, Not(HasSubstr("pairs")));
  EXPECT_THAT(subject("deit-tiny").architecture.note, Not(HasSubstr("pairs")));
}

TEST(Accounting, WindowsOfATextHaveOneDimension) {
  EXPECT_THAT(subject("gpt2 mechanism=daft-conv").label, HasSubstr("daft-conv (dimensions=1)"));
  expect_equal(count("gpt2 mechanism=daft-conv").total(),
               count("gpt2 mechanism=daft-conv dimensions=1").total());
  EXPECT_LT(count("gpt2 mechanism=daft-conv").total().multiplications,
            count("gpt2 mechanism=daft-conv dimensions=2").total().multiplications);
  EXPECT_THAT(subject("deit-small mechanism=daft-conv").label, Not(HasSubstr("dimensions")));
}

TEST(Accounting, FastformerWindowsDifferByLayer) {
  const auto additions = [](const std::string& text, std::int64_t layer) {
    const NetworkCost network = count(text);
    for (const PartCost& part : network.parts) {
      if (part.layer != layer) continue;
      for (const ComponentCost& component : part.components) {
        if (component.count.component == "global query") return component.count.additions;
      }
    }
    return std::int64_t{0};
  };
  // The last layer sees all tokens and therefore subtracts nothing.
  EXPECT_GT(additions("fastformer-lm", 0), additions("fastformer-lm", 5));
  EXPECT_EQ(additions("fastformer-lm window=0", 0), additions("fastformer-lm", 5));
}

TEST(Accounting, LoadedModelsCountAsTheirArchitecture) {
  ModelSpec spec;  // DeiT-T, the default of ModelSpec
  spec.labels.assign(1000, "");
  EnergyRequest request;
  request.spec = spec;
  request.label = "mine";
  const EnergySubject mine = resolve(request);
  const NetworkCost ours = count_operations(mine.architecture, mine.options);
  expect_equal(ours.total(), count("deit-tiny").total());

  request.settings["classes"] = std::int64_t{10};
  request.tokens = 50;
  const EnergySubject fewer = resolve(request);
  expect_equal(count_operations(fewer.architecture, fewer.options).total(),
               count("deit-tiny tokens=50 classes=10").total());
}

/// Number of learned parameters of a model, according to the accounting.
std::int64_t parameters_of(const EnergyRequest& request) {
  const EnergySubject subject = resolve(request);
  std::int64_t sum = 0;
  for (const ParameterCount& part : count_parameters(subject.architecture, subject.options)) {
    sum += part.parameters;
  }
  return sum;
}

/// Elements of a checkpoint's tensors.
std::int64_t elements_of(const NamedShapes& shapes) {
  std::int64_t sum = 0;
  for (const auto& [name, shape] : shapes) sum += element_count(shape);
  return sum;
}

TEST(Accounting, AModelWithoutLabelsHasItsHead) {
  // timm's DeiT-T has 5,717,416 parameters and no names for its 1000 classes.
  const TemporaryFolder folder;
  const NamedShapes shapes = timm_shapes(
      {.width = 192, .layers = 12, .image = 224, .patch = 16, .classes = 1000, .mlp_width = 768});
  ASSERT_EQ(elements_of(shapes), 5'717'416);
  write_hashed_safetensors(folder / "deit.safetensors", shapes);
  const EnergyRequest request = energy_request_of(*load_model(folder / "deit.safetensors"));
  EXPECT_EQ(parameters_of(request), 5'717'416);
  EXPECT_TRUE(resolve(request).architecture.note.empty());
}

TEST(Accounting, CountsASeparateHeadButNotATiedOne) {
  const TemporaryFolder folder;
  write_hashed_safetensors(folder / "labml.safetensors", labml_aft_shapes({}));
  const auto model = load_model(folder / "labml.safetensors");
  EXPECT_FALSE(weight_extents(*model).tied_head);
  // Masks are not learned, and no run reaches positions past the biases: neither is counted.
  const TextExtents extents;
  const std::int64_t unused = extents.layers * extents.context * extents.context +
                              (extents.positions - extents.context) * extents.width;
  EXPECT_EQ(parameters_of(energy_request_of(*model)), elements_of(labml_aft_shapes({})) - unused);
  write_hashed_safetensors(folder / "fastformer.safetensors", fastformer_shapes({}));
  const auto classifier = load_model(folder / "fastformer.safetensors");
  EXPECT_GT(weight_extents(*classifier).pooling, 0);
  EXPECT_EQ(parameters_of(energy_request_of(*classifier)), elements_of(fastformer_shapes({})));
}

TEST(Accounting, AdderLayersHaveTheirLayerNorms) {
  // A block of DeiT-T has LayerNorms of Q, K, V, the heads' output, the projection and the two
  // layers of the MLP.
  const auto norms = [](const std::string& text) {
    const EnergySubject s = subject(text);
    for (const ParameterCount& part : count_parameters(s.architecture, s.options)) {
      if (part.component == "normalisation") return part.parameters;
    }
    return std::int64_t{0};
  };
  const std::int64_t own = 2 * (5 * 192 + 768 + 192);
  EXPECT_EQ(norms("deit-tiny mechanism=adder arithmetic=adder layers=1"),
            norms("deit-tiny layers=1") + own);
  const auto additions = [](const std::string& text) {
    return count(text).total_of(ComponentGroup::normalisation).multiplications;
  };
  // The complete accounting counts three products per element.
  EXPECT_EQ(additions("deit-tiny mechanism=adder arithmetic=adder layers=1"),
            additions("deit-tiny layers=1") + 3 * 197 * (6 * 192 + 768));
}

TEST(Accounting, CountsSingleMultiplicativeLayersInTheTotal) {
  ModelSpec spec;
  spec.labels.assign(1000, "");
  spec.mechanism = {"adder", {}};
  spec.arithmetic = Arithmetic::adder;
  spec.multiplicative_layers = {3};
  EnergyRequest request;
  request.spec = spec;
  request.label = "mine";
  request.convention = CostConvention::adder;
  const EnergySubject mine = resolve(request);
  const NetworkCost mixed = count_operations(mine.architecture, mine.options);
  const NetworkCost plain = count("deit-tiny convention=adder");
  const auto of_layer = [](const NetworkCost& network, std::int64_t index) {
    OperationCount sum;
    for (const PartCost& part : network.parts) {
      if (part.layer != index) continue;
      for (const ComponentCost& component : part.components) accumulate(sum, component.count);
    }
    return sum;
  };
  expect_equal(of_layer(mixed, 3), of_layer(plain, 3));
  EXPECT_LT(of_layer(mixed, 2).multiplications, of_layer(plain, 2).multiplications);
  EXPECT_EQ(mechanism_of(spec, 3).name, "softmax");
  EXPECT_EQ(mechanism_of(spec, 2).name, "adder");
}

TEST(Accounting, RefusesImpossibleRequests) {
  using testing::HasSubstr;
  EXPECT_THAT(refusal("deit-huge"), HasSubstr("deit-tiny, deit-small, deit-base, pvtv2-b0"));
  EXPECT_THAT(refusal("deit-tiny mechanism=soften"), HasSubstr("softmax, adder, additive, hash"));
  EXPECT_THAT(refusal("deit-tiny convention=mine"), HasSubstr("adder, ecoformer, complete"));
  EXPECT_THAT(refusal("deit-tiny bits=3"), HasSubstr("arithmetic, channels"));
  EXPECT_THAT(refusal("deit-tiny heads=5"), HasSubstr("a divisor of 192"));
  EXPECT_THAT(refusal("deit-tiny image=225"), HasSubstr("a multiple of 16"));
  EXPECT_THAT(refusal("deit-tiny tokens=1"), HasSubstr("class tokens"));
  EXPECT_THAT(refusal("deit-tiny layers=0"), HasSubstr("from 1"));
  EXPECT_THAT(refusal("deit-tiny layers=many"), HasSubstr("'many'"));
  EXPECT_THAT(refusal("pvtv2-b0 heads=2"), HasSubstr("several stages"));
  EXPECT_THAT(refusal("pvtv2-b0 tokens=100"), HasSubstr("a multiple of 64"));
  EXPECT_THAT(refusal("deit-tiny arithmetic=shift"), HasSubstr("multiplicative, adder"));
  EXPECT_THAT(refusal("deit-tiny mechanism=hash bits=0"), HasSubstr("from 1"));
  EXPECT_THAT(refusal("deit-tiny mechanism=daft-conv conv_heads=5"), HasSubstr("a divisor of 192"));
  EXPECT_THAT(refusal("deit-tiny tokens=9000000000"), HasSubstr("2^63 - 1"));
  EXPECT_THAT(refusal("deit-tiny layers=10001"), HasSubstr("to 10000"));
  EXPECT_THAT(refusal("deit-tiny mlp_width=9223372036854775807"), HasSubstr("2^63 - 1"));
  EXPECT_THAT(refusal("deit-tiny constants=fp64"), HasSubstr("fp32, fp16, int32, int8"));
}

TEST(EnergyRequests, AreTheCommandsTheyPrint) {
  EXPECT_EQ(command_line(parse_energy_request(
                "deit-base mechanism=hash convention=ecoformer tokens=64 bits=8 classes=10")),
            "attnscope energy deit-base --mechanism hash --convention ecoformer --tokens 64 "
            "--set bits=8 --set classes=10");
}

TEST(EnergyRequests, KeepTheTypesOfSettings) {
  const EnergyRequest request =
      parse_energy_request("deit-tiny bits=8 mechanism=hash qkv_bias=no arithmetic=own");
  EXPECT_EQ(request.mechanism, (MechanismChoice{"hash", {{"bits", std::int64_t{8}}}}));
  EXPECT_EQ(request.settings.at("qkv_bias"), ParameterValue(false));
  EXPECT_FALSE(resolve(request).architecture.query_key_value_biases);
  // Values set by a program are validated like values typed by a user.
  EnergyRequest wrong = request;
  wrong.settings["layers"] = std::int64_t{0};
  EXPECT_THROW(static_cast<void>(resolve(wrong)), Error);
  wrong = request;
  wrong.settings["depth"] = std::int64_t{2};
  EXPECT_THROW(static_cast<void>(resolve(wrong)), Error);
  wrong = request;
  wrong.mechanism.parameters["bits"] = std::string("many");
  EXPECT_THROW(static_cast<void>(resolve(wrong)), Error);
}

TEST(EnergyRequests, SetOnlyParametersOfTheChosenMechanism) {
  EnergyRequest own;
  own.architecture = "deit-tiny";
  EXPECT_THROW(set(own, "bits", "8"), Error);  // softmax has no parameter `bits`
  own.mechanism.name = "hash";
  set(own, "bits", "8");
  EXPECT_EQ(own.mechanism.parameters.at("bits"), ParameterValue(std::int64_t{8}));
}

TEST(NamedNetworks, AreFoundByNameAndTitleInAnyCase) {
  for (const NamedNetwork& network : named_architectures()) {
    EXPECT_EQ(find_named_architecture(network.name), &network);
    EXPECT_EQ(find_named_architecture(network.title), &network);
  }
  EXPECT_EQ(find_named_architecture("deit-t"), find_named_architecture("deit-tiny"));
  EXPECT_EQ(find_named_architecture("DeiT"), nullptr);
}

}  // namespace
}  // namespace attnscope
