// Interpreter of pickle opcodes, which Python's Lib/pickletools.py documents. It supports the
// opcodes of protocols 2 to 5 that data need, but not INST and OBJ of older protocols, EXT, and
// out-of-band buffers.
#include "core/checkpoint/formats/pickle.h"

#include <bit>
#include <cstring>
#include <utility>

#include "core/error.h"

namespace attnscope {

namespace {

// Memory allowed for the objects of a pickle. Each byte may create one object with its entries on
// the stack and in the memo; a checkpoint of ten thousand tensors has 200,000 objects.
constexpr BudgetRates rates{.always = 32 << 20, .a_byte = 192, .most = 512 << 20};
constexpr std::size_t memo_bytes = 56;
static_assert(sizeof(PickleNode) + 2 * sizeof(PickleNode*) <= rates.a_byte);

Error broken_pickle(const std::string& what) {
  return Error(ErrorKind::damaged, "the pickle is broken: " + what);
}

}  // namespace

PickleReader::PickleReader(std::span<const std::byte> bytes, std::size_t start)
    : bytes_(bytes), start_(start), budget_("reading the pickle", bytes.size(), rates) {}

PickleNode& PickleReader::make(Kind kind) {
  budget_.spend(sizeof(PickleNode) + sizeof(PickleNode*), "objects");
  nodes_.emplace_back();
  nodes_.back().kind = kind;
  return nodes_.back();
}

std::uint64_t PickleReader::number(std::size_t width) {
  if (width > bytes_.size() - position_) throw broken_pickle("it is truncated");
  std::uint64_t number = 0;
  std::memcpy(&number, bytes_.data() + position_, width);
  position_ += width;
  return number;
}

std::string PickleReader::text(std::uint64_t size) {
  if (size > bytes_.size() - position_) throw broken_pickle("it is truncated");
  const auto* start = reinterpret_cast<const char*>(bytes_.data()) + position_;
  position_ += size;
  budget_.spend(size, "texts");
  return {start, static_cast<std::size_t>(size)};
}

std::string PickleReader::line() {
  const auto* start = reinterpret_cast<const char*>(bytes_.data()) + position_;
  const void* end = std::memchr(start, '\n', bytes_.size() - position_);
  if (end == nullptr) throw broken_pickle("a line does not end");
  std::string line = text(static_cast<std::uint64_t>(static_cast<const char*>(end) - start));
  ++position_;
  return line;
}

void PickleReader::push_text(Kind kind, std::string text) {
  PickleNode& node = make(kind);
  node.text = std::move(text);
  push(node);
}

void PickleReader::push_bytes(std::uint64_t size) {
  constexpr std::uint64_t few = 4096;
  const std::size_t place = start_ + position_;
  if (size <= few) {
    push_text(Kind::bytes, text(size));
  } else {
    if (size > bytes_.size() - position_) throw broken_pickle("it is truncated");
    position_ += size;
    push_text(Kind::bytes, {});
  }
  top().place = place;
  top().integer = static_cast<std::int64_t>(size);
}

void PickleReader::push_integer(std::int64_t integer, Kind kind) {
  PickleNode& node = make(kind);
  node.integer = integer;
  push(node);
}

void PickleReader::push_long(std::uint64_t size) {
  std::string digits = text(size);
  if (size > 8) return push_text(Kind::large_integer, std::move(digits));
  const bool negative = !digits.empty() && (digits.back() & 0x80) != 0;
  std::uint64_t integer = negative ? ~std::uint64_t{0} : 0;
  std::memcpy(&integer, digits.data(), digits.size());
  push_integer(std::bit_cast<std::int64_t>(integer));
}

void PickleReader::push_real() {
  std::uint64_t bits = 0;  // the only big-endian number of the format
  for (int byte = 0; byte < 8; ++byte) bits = bits << 8 | number(1);
  PickleNode& node = make(Kind::real);
  node.real = std::bit_cast<double>(bits);
  push(node);
}

PickleNode& PickleReader::pop() {
  PickleNode& node = top();
  stack_.pop_back();
  return node;
}

PickleNode& PickleReader::top() {
  if (stack_.size() <= (marks_.empty() ? 0 : marks_.back()))
    throw broken_pickle("its stack is empty");
  return *stack_.back();
}

std::vector<PickleNode*> PickleReader::pop_to_mark() {
  if (marks_.empty()) throw broken_pickle("a mark is missing");
  const auto start = stack_.begin() + static_cast<std::ptrdiff_t>(marks_.back());
  std::vector<PickleNode*> items(start, stack_.end());
  stack_.erase(start, stack_.end());
  marks_.pop_back();
  return items;
}

void PickleReader::push_collected(Kind kind, std::vector<PickleNode*> items) {
  if (kind == Kind::dict && items.size() % 2 != 0) throw broken_pickle("a key has no value");
  PickleNode& node = make(kind);
  node.items = std::move(items);
  push(node);
}

void PickleReader::append(std::vector<PickleNode*> items) {
  PickleNode& target = top();
  // An instance of an unknown list type, whose items are ignored.
  if (target.kind == Kind::opaque) return;
  if (target.kind != Kind::list && target.kind != Kind::set) {
    throw broken_pickle("an item is appended to a value that is not a list");
  }
  target.items.insert(target.items.end(), items.begin(), items.end());
}

void PickleReader::set_items(std::vector<PickleNode*> items) {
  PickleNode& target = top();
  if ((target.kind != Kind::dict && target.kind != Kind::opaque) || items.size() % 2 != 0) {
    throw broken_pickle("an item is set in a value that is not a dictionary");
  }
  target.items.insert(target.items.end(), items.begin(), items.end());
}

void PickleReader::recall(std::uint64_t place) {
  const auto found = memo_.find(place);
  if (found == memo_.end()) throw broken_pickle("it refers to an object that it has not stored");
  budget_.spend(sizeof(PickleNode*), "objects");
  push(*found->second);
}

void PickleReader::remember(std::uint64_t place) {
  budget_.spend(memo_bytes, "objects");
  memo_[place] = &top();
}

void PickleReader::global(const std::string& module, const std::string& name) {
  std::string full = module + "." + name;
  if (PickleGlobals::runs_something(full)) {
    throw Error(ErrorKind::unsupported,
                "the pickle names '" + full +
                    "', which would run something in Python; nothing was executed")
        .remedy(
            "do not load the file in Python unless you trust it; to save only weights: "
            "torch.save(model.state_dict(), FILE)");
  }
  push_text(Kind::global, std::move(full));
}

void PickleReader::charge(std::size_t count) {
  budget_.spend(count * sizeof(PickleNode*), "copies");
}

void PickleReader::build() {
  const PickleNode& state = pop();
  PickleNode& target = top();
  const auto take = [&](const PickleNode& attributes) {
    charge(attributes.items.size());
    target.items.insert(target.items.end(), attributes.items.begin(), attributes.items.end());
  };
  if (target.kind == Kind::record && state.kind == Kind::dict) return take(state);
  if (target.kind == Kind::opaque) {
    // The state is a dictionary or (dictionary, slots). Classes may use any other form, which is
    // ignored.
    if (state.kind == Kind::dict) take(state);
    for (const PickleNode* part : state.items) {
      if (state.kind == Kind::tuple && part->kind == Kind::dict) take(*part);
    }
    return;
  }
  // Attributes of an OrderedDict (a state dict's _metadata), a tensor or a number type do not
  // affect the weights.
  if (target.kind == Kind::dict || target.kind == Kind::tensor || target.kind == Kind::record) {
    return;
  }
  throw broken_pickle("a state is set on an object that takes none");
}

bool PickleReader::push_constant(unsigned opcode) {
  switch (opcode) {
    case 'N':
      push(make(Kind::none));
      return true;
    case 0x88:  // NEWTRUE
      push_integer(1, Kind::boolean);
      return true;
    case 0x89:  // NEWFALSE
      push_integer(0, Kind::boolean);
      return true;
    case '}':
      push(make(Kind::dict));
      return true;
    case ']':
      push(make(Kind::list));
      return true;
    case ')':
      push(make(Kind::tuple));
      return true;
    case 0x8F:  // EMPTY_SET
      push(make(Kind::set));
      return true;
    default:
      return false;
  }
}

bool PickleReader::push_scalar(unsigned opcode) {
  switch (opcode) {
    case 'K':  // BININT1
      push_integer(static_cast<std::int64_t>(number(1)));
      return true;
    case 'M':  // BININT2
      push_integer(static_cast<std::int64_t>(number(2)));
      return true;
    case 'J':  // BININT
      push_integer(static_cast<std::int32_t>(static_cast<std::uint32_t>(number(4))));
      return true;
    case 0x8A:  // LONG1
      push_long(number(1));
      return true;
    case 0x8B:  // LONG4
      push_long(number(4));
      return true;
    case 'G':  // BINFLOAT
      push_real();
      return true;
    case 0x8C:  // SHORT_BINUNICODE
    case 'U':   // SHORT_BINSTRING
      push_text(Kind::text, text(number(1)));
      return true;
    case 'X':  // BINUNICODE
    case 'T':  // BINSTRING
      push_text(Kind::text, text(number(4)));
      return true;
    case 0x8D:  // BINUNICODE8
      push_text(Kind::text, text(number(8)));
      return true;
    case 'C':  // SHORT_BINBYTES
      push_bytes(number(1));
      return true;
    case 'B':  // BINBYTES
      push_bytes(number(4));
      return true;
    case 0x8E:  // BINBYTES8
    case 0x96:  // BYTEARRAY8
      push_bytes(number(8));
      return true;
    default:
      return false;
  }
}

bool PickleReader::change_container(unsigned opcode) {
  const auto last = [this](std::size_t count) {
    std::vector<PickleNode*> items(count);
    while (count > 0) items[--count] = &pop();
    return items;
  };
  switch (opcode) {
    case 't':
      push_collected(Kind::tuple, pop_to_mark());
      return true;
    case 0x85:  // TUPLE1
    case 0x86:  // TUPLE2
    case 0x87:  // TUPLE3
      push_collected(Kind::tuple, last(opcode - 0x84));
      return true;
    case 'l':
      push_collected(Kind::list, pop_to_mark());
      return true;
    case 'd':
      push_collected(Kind::dict, pop_to_mark());
      return true;
    case 0x91:  // FROZENSET
      push_collected(Kind::set, pop_to_mark());
      return true;
    case 'a':
      append(last(1));
      return true;
    case 'e':   // APPENDS
    case 0x90:  // ADDITEMS
      append(pop_to_mark());
      return true;
    case 's':
      set_items(last(2));
      return true;
    case 'u':
      set_items(pop_to_mark());
      return true;
    default:
      return false;
  }
}

bool PickleReader::step(unsigned opcode) {
  if (push_constant(opcode) || push_scalar(opcode) || change_container(opcode)) return true;
  switch (opcode) {
    case 0x80: {  // PROTO
      const std::uint64_t protocol = number(1);
      if (protocol < 2 || protocol > 5) {
        throw Error(ErrorKind::unsupported, "the pickle protocol is not supported")
            .expected("2 to 5")
            .found(std::to_string(protocol));
      }
      break;
    }
    case 0x95:  // FRAME: number of bytes to read ahead
      (void)number(8);
      break;
    case '.':
      return false;
    case '(':
      marks_.push_back(stack_.size());
      break;
    case '0':
      (void)pop();
      break;
    case '1':
      (void)pop_to_mark();
      break;
    case '2':
      push(top());
      break;
    case 'q':
      remember(number(1));
      break;
    case 'r':
      remember(number(4));
      break;
    case 0x94:  // MEMOIZE
      remember(memo_.size());
      break;
    case 'h':
      recall(number(1));
      break;
    case 'j':
      recall(number(4));
      break;
    case 'c': {
      const std::string module = line();
      global(module, line());
      break;
    }
    case 0x93: {  // STACK_GLOBAL
      const PickleNode& name = pop();
      const PickleNode& module = pop();
      if (module.kind != Kind::text || name.kind != Kind::text)
        throw broken_pickle("a global has no name");
      global(module.text, name.text);
      break;
    }
    case 'R':     // REDUCE
    case 0x81: {  // NEWOBJ
      PickleNode& arguments = pop();
      PickleNode& callee = pop();
      push(PickleGlobals::build(*this, callee, arguments));
      break;
    }
    case 0x92: {    // NEWOBJ_EX
      (void)pop();  // keyword arguments
      PickleNode& arguments = pop();
      PickleNode& callee = pop();
      push(PickleGlobals::build(*this, callee, arguments));
      break;
    }
    case 'b':
      build();
      break;
    case 'Q': {  // BINPERSID
      const PickleNode& id = pop();
      push(PickleGlobals::persistent(*this, id));
      break;
    }
    default:
      throw Error(ErrorKind::unsupported, "the pickle's opcode is not supported")
          .found("opcode " + std::to_string(opcode) + " at byte " + std::to_string(position_ - 1))
          .remedy("save only the weights: torch.save(model.state_dict(), FILE)");
  }
  return true;
}

const PickleNode& PickleReader::read() {
  stack_.clear();
  marks_.clear();
  memo_.clear();
  while (step(static_cast<unsigned>(number(1)))) {
  }
  return pop();
}

}  // namespace attnscope
