// PyTorch files, written by tests/data/checkpoint/make_pytorch.py.
#include <fstream>
#include <gtest/gtest.h>

#include "core/checkpoint/checkpoint.h"
#include "tests/core/checkpoint/formats/stored_values.h"
#include "tests/support/refusal.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/zip_writer.h"

namespace attnscope {
namespace {

using namespace std::string_literals;
using Floats = std::vector<float>;

Checkpoint open(const std::string& name) {
  return open_checkpoint(test_data("checkpoint/" + name));
}

class Pytorch : public testing::TestWithParam<const char*> {};

TEST_P(Pytorch, ReadsEveryKindOfTensor) {
  const Checkpoint checkpoint = open(GetParam());
  EXPECT_EQ(checkpoint.format(), "pytorch");
  const std::pair<const char*, DType> reals[] = {{"torch.float64", DType::f64},
                                                 {"torch.float32", DType::f32},
                                                 {"torch.float16", DType::f16},
                                                 {"torch.bfloat16", DType::bf16}};
  for (const auto& [name, dtype] : reals) {
    EXPECT_EQ(checkpoint.at(name).dtype, dtype);
    EXPECT_EQ(floats(checkpoint, name), ramp()) << name;
  }
  const std::pair<const char*, DType> integers[] = {{"torch.int64", DType::i64},
                                                    {"torch.int32", DType::i32},
                                                    {"torch.int16", DType::i16},
                                                    {"torch.int8", DType::i8}};
  for (const auto& [name, dtype] : integers) {
    EXPECT_EQ(checkpoint.at(name).dtype, dtype);
    EXPECT_EQ(floats(checkpoint, name), (Floats{-2, -1, 0, 1, 2, 3})) << name;
  }
  EXPECT_EQ(floats(checkpoint, "torch.uint8"), (Floats{250, 251, 252, 253, 254, 255}));
  EXPECT_EQ(floats(checkpoint, "torch.bool"), (Floats{1, 0, 1}));
  EXPECT_EQ(floats(checkpoint, "scalar"), Floats{2.5F});
  EXPECT_EQ(checkpoint.at("scalar").shape, Shape{});
  EXPECT_EQ(checkpoint.at("empty").shape, (Shape{0, 4}));
  EXPECT_EQ(floats(checkpoint, "parameter"), ramp());
  EXPECT_EQ(checkpoint.metadata().at("steps"), "7");
  EXPECT_EQ(checkpoint.tensors()[0].name, "torch.float64");
}

TEST_P(Pytorch, ReadsViewsAndSharedStorage) {
  const Checkpoint checkpoint = open(GetParam());
  EXPECT_EQ(floats(checkpoint, "transposed"), ramp());
  EXPECT_FALSE(checkpoint.at("transposed").view().is_contiguous());
  const Floats every_second = floats(checkpoint, "every_second");
  ASSERT_EQ(every_second.size(), 12U);
  for (std::size_t i = 0; i < 12; ++i) {
    EXPECT_EQ(every_second[i], static_cast<float>(2 * i + 1));
  }
  EXPECT_EQ(floats(checkpoint, "tail"), (Floats{20, 21, 22, 23}));
  EXPECT_EQ(floats(checkpoint, "tied").size(), 24U);
  EXPECT_EQ(floats(checkpoint, "expanded"), (Floats{1, 2, 1, 2, 1, 2}));
}

INSTANTIATE_TEST_SUITE_P(Containers, Pytorch,
                         testing::Values("zip.pt", "legacy.pt", "deflated.pt", "protocol3.pt",
                                         "protocol4.pt", "protocol5.pt", "legacy_protocol4.pt",
                                         "dumped3.pkl", "dumped4.pkl"));

TEST(PytorchStateDict, IsFoundUnderItsUsualNames) {
  for (const char* key : {"model", "state_dict", "model_state_dict", "net"}) {
    const Checkpoint checkpoint = open(std::string("under_") + key + ".pth");
    ASSERT_EQ(checkpoint.tensors().size(), 2U) << key;
    EXPECT_EQ(floats(checkpoint, "module.head.weight"), ramp());
    EXPECT_EQ(checkpoint.metadata().at("state dict"), key);
    EXPECT_EQ(checkpoint.metadata().at("epoch"), "3");
    EXPECT_EQ(checkpoint.metadata().at("arch"), "deit_tiny");
    EXPECT_EQ(checkpoint.metadata().at("accuracy"), "0.5");
    EXPECT_EQ(checkpoint.metadata().at("args.lr"), "0.001");
    EXPECT_EQ(checkpoint.metadata().at("args.device"), "cpu");
  }
}

TEST(PytorchStateDict, MayContainNumPyNumbers) {
  for (const char* name : {"numpy_numbers2.pt", "numpy_numbers4.pt"}) {
    const Checkpoint checkpoint = open(name);
    EXPECT_EQ(floats(checkpoint, "module.head.weight"), ramp()) << name;
    EXPECT_EQ(checkpoint.metadata().at("best"), "-0.7") << name;
    EXPECT_EQ(checkpoint.metadata().at("step"), "300") << name;
  }
}

TEST(PytorchStateDict, MayBeNestedOrASingleTensor) {
  const Checkpoint nested = open("nested.pt");
  for (const char* name : {"encoder.w", "encoder.more.0", "pair.0", "pair.1.0"}) {
    EXPECT_EQ(floats(nested, name), ramp()) << name;
  }
  EXPECT_EQ(floats(open("tensor.pt"), "tensor"), ramp());
}

TEST(PytorchStateDict, MayBeAModuleOfAnyClass) {
  const Checkpoint state = open("unknown_module_state.pt");
  for (const char* file : {"unknown_module.pt", "dumped_module.pkl"}) {
    const Checkpoint module = open(file);
    ASSERT_EQ(module.tensors().size(), state.tensors().size()) << file;
    for (std::size_t i = 0; i < state.tensors().size(); ++i) {
      const std::string& name = state.tensors()[i].name;
      EXPECT_EQ(module.tensors()[i].name, name);
      EXPECT_EQ(floats(module, name), floats(state, name)) << name;
    }
  }
  EXPECT_EQ(open("module.pt").tensors().size(), 2U);
}

TEST(PytorchStateDict, DumpedByPickleIsRefusedWhereItsElementsAreBroken) {
  const TemporaryFolder folder;
  std::ifstream stream(test_data("checkpoint/dumped_module.pkl"), std::ios::binary);
  const std::string whole{std::istreambuf_iterator<char>(stream), {}};
  const auto refused = [&](const std::string& from, const std::string& to) {
    std::string changed = whole;
    changed.replace(changed.find(from), from.size(), to);
    try {
      (void)open_checkpoint(folder.write("changed.pkl", changed));
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string("no error");
  };
  ASSERT_EQ(refused("little_endian", "little_endian"), "no error");
  // The changes affect the container's magic number, a function's name and the type of a storage.
  EXPECT_NE(refused("\x6C\xFC\x9C\x46", "\x6C\xFC\x9C\x47").find("torch.save did not write"),
            std::string::npos);
  EXPECT_NE(refused("_load_from_bytes", "_load_from_bites").find("changed.pkl"), std::string::npos);
  EXPECT_NE(refused("FloatStorage", "DoubleStorage").find("changed.pkl"), std::string::npos);
}

TEST(PytorchStateDict, ToleratesObjectsOfAnyClassNextToIt) {
  const Checkpoint checkpoint = open("opaque_beside.pt");
  ASSERT_EQ(checkpoint.tensors().size(), 2U);
  EXPECT_EQ(floats(checkpoint, "module.head.weight"), ramp());
  EXPECT_EQ(checkpoint.metadata().at("state dict"), "model_state");
  EXPECT_EQ(checkpoint.metadata().at("path"), "pathlib.PosixPath");
  EXPECT_EQ(checkpoint.metadata().at("config"), "__main__.Config");
  EXPECT_EQ(checkpoint.metadata().at("config.n_head"), "3");
  EXPECT_EQ(checkpoint.metadata().at("config.act"), "gelu");
  EXPECT_EQ(floats(open("numpy_array.pt"), "module.head.weight"), ramp());
}

TEST(PytorchStateDict, MayBeSharded) {
  const TemporaryFolder folder;
  (void)folder.write("one.bin", read_bytes(test_data("checkpoint/zip.pt")));
  (void)folder.write("two.bin", read_bytes(test_data("checkpoint/nested.pt")));
  const auto index = folder.write("pytorch_model.bin.index.json",
                                  R"({"weight_map":{"tail":"one.bin","encoder.w":"two.bin"}})");
  const Checkpoint checkpoint = open_checkpoint(index);
  EXPECT_EQ(checkpoint.tensors().size(), 2U);
  EXPECT_EQ(floats(checkpoint, "tail"), (Floats{20, 21, 22, 23}));
  EXPECT_EQ(floats(checkpoint, "encoder.w"), ramp());
}

TEST(TorchScript, WeightsOfAProgramAreRead) {
  const Checkpoint checkpoint = open_checkpoint(test_data("checkpoint/scripted.pt"));
  ASSERT_EQ(checkpoint.tensors().size(), 2U);
  EXPECT_EQ(checkpoint.at("weight").shape, (Shape{2, 2}));
  EXPECT_EQ(checkpoint.at("bias").shape, (Shape{2}));
  EXPECT_EQ(checkpoint.metadata().count("training"), 0U);
}

TEST(PytorchRefusal, NamesTheGlobalAndRunsNothing) {
  const std::filesystem::path trace = "/tmp/attnscope-was-here";
  std::filesystem::remove(trace);
  expect_refused("evil_zip.pt", ErrorKind::unsupported, "'posix.system'");
  expect_refused("evil_legacy.pt", ErrorKind::unsupported, "'__builtin__.eval'");
  expect_refused("evil_protocol4.pt", ErrorKind::unsupported, "'builtins.exec'");
  expect_refused("quantized.pt", ErrorKind::unsupported, "_rebuild_qtensor");
  expect_refused("sparse.pt", ErrorKind::unsupported, "sparse");
  expect_refused("complex.pt", ErrorKind::unsupported, "ComplexFloatStorage");
  EXPECT_FALSE(std::filesystem::exists(trace));
}

TEST(PytorchRefusal, DistinguishesOtherFiles) {
  expect_refused("plain_pickle.pth", ErrorKind::not_this_format, "not one that torch.save wrote");
  const TemporaryFolder folder;
  const auto zip = folder.write("a.pt", zip_bytes({stored_member("word/document.xml", "<x/>")}));
  expect_refusal([&] { return open_checkpoint(zip); }, ErrorKind::not_this_format, "data.pkl", zip);
  const auto text = folder.write("a.pth", "hello");
  expect_refusal([&] { return open_checkpoint(text); }, ErrorKind::not_this_format, "torch.save",
                 text);
}

TEST(PytorchRefusal, RefusesFilesCutOffAnywhere) {
  for (const char* name : {"zip.pt", "legacy.pt", "deflated.pt"}) {
    expect_damaged_when_cut_off(name, 4, 13);
  }
}

TEST(PytorchChecksum, AFlippedBitIsRefused) {
  const TemporaryFolder folder;
  const ZipMember pickle = stored_member(
      "a/data.pkl",
      "\x80\x02}(U\x01wctorch._utils\n_rebuild_tensor_v2\n((U\x07storagectorch\nFloatStorage\n"
      "U\x01"
      "0U\x03"
      "cpuK\x02tQK\x00K\x02\x85K\x01\x85\x89NtRu."s);
  ZipMember elements = stored_member("a/data/0", "\0\0\x80\x3F\0\0\0\x40"s);
  EXPECT_EQ(floats(open_checkpoint(folder.write("a.pt", zip_bytes({pickle, elements}))), "w"),
            (Floats{1, 2}));
  elements.data[2] ^= 1;
  const Checkpoint flipped = open_checkpoint(folder.write("a.pt", zip_bytes({pickle, elements})));
  expect_refusal([&] { return flipped.at("w").view(); }, ErrorKind::damaged,
                 "a/data/0: the zip entry's checksum does not fit", "");
  ZipMember broken = pickle;
  broken.data[6] = 'v';  // renames the tensor
  const auto file = folder.write("a.pt", zip_bytes({broken, elements}));
  expect_refusal([&] { return open_checkpoint(file); }, ErrorKind::damaged, "checksum", file);
}

/// Pickles written by hand that no real program writes.
class HostilePickle : public testing::Test {
 protected:
  std::filesystem::path write(const std::string& pickle, const std::string& storage = "") const {
    return folder_.write("a.pt", zip_bytes({stored_member("a/data.pkl", "\x80\x02" + pickle),
                                            stored_member("a/data/0", storage)}));
  }
  void expect_refused(const std::string& pickle, ErrorKind kind, const std::string& part,
                      const std::string& storage = "") const {
    const auto file = write(pickle, storage);
    expect_refusal([&] { return open_checkpoint(file); }, kind, part, file);
  }
  static std::string text(const std::string& characters) {
    return 'U' + std::string(1, static_cast<char>(characters.size())) + characters;
  }
  static std::string integer(std::uint32_t value) {
    std::string bytes = "J";
    for (int shift = 0; shift < 32; shift += 8) bytes += static_cast<char>(value >> shift);
    return bytes;
  }
  static std::string storage(std::uint32_t elements) {
    return "(" + text("storage") + "ctorch\nFloatStorage\n" + text("0") + text("cpu") +
           integer(elements) + "tQ";
  }
  /// A tensor over storage 0. `shape` and `strides` are pickled tuples.
  static std::string tensor(std::uint32_t elements, std::uint32_t offset, const std::string& shape,
                            const std::string& strides) {
    return "ctorch._utils\n_rebuild_tensor_v2\n(" + storage(elements) + integer(offset) + shape +
           strides + "\x89Nt" + "R";
  }
  static std::string named(const std::string& name, const std::string& value) {
    return "}(" + text(name) + value + "u.";
  }
  const std::string eight_bytes_ = std::string("\0\0\x80\x3F\0\0\0\x40", 8);  // 1 and 2 as float32
  TemporaryFolder folder_;
};

TEST_F(HostilePickle, TheHandWrittenFormIsReadable) {
  const auto file =
      write(named("w", tensor(2, 0, integer(2) + "\x85", integer(1) + "\x85")), eight_bytes_);
  EXPECT_EQ(floats(open_checkpoint(file), "w"), (Floats{1, 2}));
}

TEST_F(HostilePickle, RefusesTensorsBeyondTheirStorage) {
  const std::string one = integer(1) + "\x85", two = integer(2) + "\x85";
  expect_refused(named("w", tensor(2, 1, two, one)), ErrorKind::damaged, "beyond", eight_bytes_);
  expect_refused(named("w", tensor(2, 0, two, two)), ErrorKind::damaged, "beyond", eight_bytes_);
  const std::string huge = integer(0x7FFFFFFF);
  expect_refused(named("w", tensor(2, 0, "(" + huge + huge + "t", "(" + huge + huge + "t")),
                 ErrorKind::damaged, "beyond", eight_bytes_);
  expect_refused(named("w", tensor(2, 0xFFFFFFFF, two, one)), ErrorKind::damaged, "impossible",
                 eight_bytes_);
  expect_refused(
      named("w", tensor(2, 0, "(" + huge + huge + "t", "(" + integer(0) + integer(0) + "t")),
      ErrorKind::damaged, "too often", eight_bytes_);
  expect_refused(named("w", tensor(2, 0, two, ")")), ErrorKind::damaged, "strides", eight_bytes_);
  expect_refused(named("w", tensor(3, 0, two, one)), ErrorKind::damaged, "differs from that",
                 eight_bytes_);
}

TEST_F(HostilePickle, RefusesDuplicateNames) {
  const std::string value = tensor(2, 0, integer(2) + "\x85", integer(1) + "\x85");
  expect_refused("}(" + text("w") + value + text("w") + value + "u.", ErrorKind::damaged,
                 "same name", eight_bytes_);
}

TEST_F(HostilePickle, RefusesContainersThatHoldThemselves) {
  expect_refused("}q\x01" + text("a") + "h\x01s.", ErrorKind::damaged, "nested");
  // Twenty levels each hold the level below ten times, which gives 10^20 names.
  std::string layers = tensor(2, 0, integer(2) + "\x85", integer(1) + "\x85") + "q\x01";
  for (int level = 0; level < 20; ++level) {
    layers += "(";
    for (int copy = 0; copy < 10; ++copy) layers += "h\x01";
    layers += "lq\x01";
  }
  expect_refused(layers + ".", ErrorKind::damaged, "too many", eight_bytes_);
}

TEST_F(HostilePickle, RefusesCopiesThatMultiply) {
  std::string pickle = "(";
  for (int item = 0; item < 100'000; ++item) pickle += 'N';
  pickle +=
      "lq\x01"
      "0";
  for (int copy = 0; copy < 10'000; ++copy) pickle += "cbuiltins\nset\nh\x01\x85R0";
  expect_refused(pickle + "N.", ErrorKind::unsupported,
                 "copies: reading the pickle takes too much");
}

TEST_F(HostilePickle, MemoryIsLinearInItsBytes) {
  // One dictionary of attributes is given to many objects: copies of it would turn 220 kB into half
  // a gigabyte.
  std::string pickle = "}(";
  for (int item = 0; item < 40'000; ++item) pickle += "K\x01N";
  pickle +=
      "uq\x01"
      "0";
  for (int copy = 0; copy < 800; ++copy)
    pickle +=
        "cargparse\nNamespace\n)\x81h\x01"
        "b0";
  expect_refused(pickle + "N.", ErrorKind::unsupported,
                 "copies: reading the pickle takes too much");
  // A long key names one storage after the other.
  std::string keys = "X" + integer(60'000).substr(1) + std::string(60'000, 'k') +
                     "q\x01"
                     "0";
  for (int copy = 0; copy < 4'000; ++copy) {
    keys +=
        "(" + text("storage") + "ctorch\nFloatStorage\nh\x01" + text("cpu") + integer(1) + "tQ0";
  }
  expect_refused(keys + "N.", ErrorKind::unsupported, "copies: reading the pickle takes too much");
}

TEST_F(HostilePickle, IgnoresAMillionNumbersNextToTheWeights) {
  const std::string weight = tensor(2, 0, integer(2) + "\x85", integer(1) + "\x85");
  std::string numbers = "(";
  for (int item = 0; item < 1'000'000; ++item) numbers += "K\x07";
  numbers += "l";
  const auto file = write("}(" + text("w") + weight + text("x") + numbers + "u.", eight_bytes_);
  EXPECT_EQ(floats(open_checkpoint(file), "w"), (Floats{1, 2}));
}

TEST_F(HostilePickle, RefusesPicklesThatAreNotData) {
  expect_refused("", ErrorKind::damaged, "truncated");
  expect_refused(".", ErrorKind::damaged, "stack");
  expect_refused("0", ErrorKind::damaged, "stack");
  expect_refused("h\x07", ErrorKind::damaged, "not stored");
  expect_refused("ios\nsystem\n.", ErrorKind::unsupported, "opcode 105");
  expect_refused("\x82\x01.", ErrorKind::unsupported, "opcode 130");
  expect_refused("K\x01K\x02R.", ErrorKind::damaged, "not callable");
  expect_refused("cos\nsystem\n.", ErrorKind::unsupported, "'os.system'");
  expect_refused("ctorch\nFloatStorage\n)R.", ErrorKind::unsupported, "calls");
  expect_refused("ctorch._utils\n_rebuild_tensor_v2\n)R.", ErrorKind::damaged, "not a storage");
  expect_refused("NQ.", ErrorKind::damaged, "not a storage");
  expect_refused(
      "X\xFF\xFF\xFF\x7F"
      "a.",
      ErrorKind::damaged, "truncated");
}

TEST_F(HostilePickle, UnknownObjectsAreOnlyNames) {
  const std::string weight = tensor(2, 0, integer(2) + "\x85", integer(1) + "\x85");
  const auto beside = [&](const std::string& value) {
    return open_checkpoint(
        write("}(" + text("w") + weight + text("x") + value + "u.", eight_bytes_));
  };
  for (const char* value : {"cmine\nThing\n", "cmine\nThing\n)R", "cmine\nThing\n)\x81}b",
                            "cmine\nThing\n)R)R", "cmine\nThing\n)}\x92",
                            "cmine\nThing\n)R(K\x01K\x02"
                            "e",
                            "cmine\nThing\n)RK\x01K\x02s",
                            "cmine\nThing\n)RK\x05"
                            "b",
                            "cbuiltins\ngetattr\n(cmine\nThing\nU\x01"
                            "atR"}) {
    const Checkpoint checkpoint = beside(value);
    EXPECT_EQ(checkpoint.tensors().size(), 1U) << value;
    EXPECT_EQ(floats(checkpoint, "w"), (Floats{1, 2})) << value;
  }
  // The legacy container names the class of a module together with its source text.
  EXPECT_EQ(beside("(" + text("module") + "cmine\nBlock\n" + text("a.py") + text("code") + "tQ)R")
                .tensors()
                .size(),
            1U);
}

TEST_F(HostilePickle, RefusesTensorsMadeByUnknownFunctions) {
  const std::string weight = tensor(2, 0, integer(2) + "\x85", integer(1) + "\x85");
  expect_refused(named("w", "cmine\nmake\n(" + weight + "tR"), ErrorKind::unsupported,
                 "w: the tensor is made by 'mine.make'", eight_bytes_);
  expect_refused(named("w", "cmine\nmake\n((" + storage(2) + "ltR"), ErrorKind::unsupported,
                 "'mine.make'", eight_bytes_);
  expect_refused(
      named("w", "ctorch._utils\n_rebuild_parameter\n(cmine\nmake\n(" + weight + "tR\x89NtR"),
      ErrorKind::unsupported, "'mine.make'", eight_bytes_);
}

TEST_F(HostilePickle, RefusesModulesThatHoldThemselves) {
  expect_refused("cmine\nBlock\n)\x81q\x01}(" + text("_parameters") + "}" + text("_buffers") + "}" +
                     text("_modules") + "}(" + text("a") + "h\x01uub.",
                 ErrorKind::damaged, "nested");
}

TEST_F(HostilePickle, ErrorsCarryNoControlSequences) {
  const auto file = write("cos\n\x1B[31mred\n.");
  const Error error = refusal_of([&] { (void)open_checkpoint(file); });
  EXPECT_EQ(std::string(error.what()).find('\x1B'), std::string::npos);
}

}  // namespace
}  // namespace attnscope
