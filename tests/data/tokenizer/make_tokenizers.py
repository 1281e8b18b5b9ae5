#!/usr/bin/python3
"""Small tokenizers of every kind, and what Hugging Face's library makes of awkward texts with them.

    python3 make_tokenizers.py        writes one NAME.json a tokenizer beside this file

Needs node with the package tokenizers (npm install tokenizers, 0.23.2 was used), found through
NODE_PATH. Vocabularies are made here, from the texts themselves: byte pairs by counting, pieces by
frequency.
"""

import base64
import collections
import json
import math
import pathlib
import struct
import subprocess

HERE = pathlib.Path(__file__).parent

TEXTS = [
    "Hello, world! The quick brown fox's jumps; it'll, they've, WE'RE, I'M.",
    "", " ", "  two  spaces \n\n and\tlines\r\n ", "x" * 120,
    "Ünïcödé naïve café résumé Straße İstanbul ΟΔΥΣΣΕΥΣ ﬁne",
    "e\u0301 a\u0308 n\u0303 \u1e9b\u0323 \u0958", "今日は天気。東京", "你好,中文English混合123",
    "한국어 텍스트", "مرحبا بالعالم ١٢٣", "हिन्दी क्षत्रिय", "👩‍👩‍👧 👍🏽 🇩🇪 🥑", "1234567890 3.14 ½ Ⅷ ²",
    "def f(x):\n    return x**2  # y\n", "a\u00a0b\u2003c\u3000d\u200be\ufeff\x01\x7f\ufffd",
    "<s>in</s> <mask> x<mask>y  <mask>  Added added_token pre-fixadded", "ａｂｃ１２３ ﾊﾝｶｸ ㍿", "▁marked Ġspace",
    "foo.bar!?...--__ (x)[y]{z}", "don't 'S 'LL", "mixed עברית and English", "the theme of them then",
    "CamelCase snake_case kebab-case", "…‚„“”–", "\u0301alone", "\U0001d54f\U00020000",
]
PAIRS = [(TEXTS[0], TEXTS[20]), ("the fox", ""), ("added_token", "<mask> the"), (TEXTS[7], TEXTS[5])]


def byte_signs():
    own = [*range(33, 127), *range(161, 173), *range(174, 256)]
    signs = {b: chr(b) for b in own}
    for b in range(256):
        signs.setdefault(b, chr(256 + len(signs) - len(own)))
    return signs


SIGNS = byte_signs()


def as_signs(text):
    return "".join(SIGNS[b] for b in text.encode())


def byte_pairs(words, alphabet, count, suffix=""):
    """Vocabulary and merges, the most frequent pair first."""
    parts = collections.Counter()
    for word in words:
        if word:
            parts[tuple(word[:-1]) + (word[-1] + suffix,)] += 1
    symbols = list(dict.fromkeys([*alphabet, *(s for word in parts for s in word)]))
    merges = []
    for _ in range(count):
        pairs = collections.Counter()
        for word, n in parts.items():
            for pair in zip(word, word[1:]):
                pairs[pair] += n
        if not pairs:
            break
        best = max(sorted(pairs), key=lambda pair: pairs[pair])
        merges.append(list(best))
        symbols.append("".join(best))
        joined = collections.Counter()
        for word, n in parts.items():
            new, i = [], 0
            while i < len(word):
                both = word[i:i + 2] == best
                new.append("".join(best) if both else word[i])
                i += 2 if both else 1
            joined[tuple(new)] += n
        parts = joined
    return list(dict.fromkeys(symbols)), merges


def numbered(tokens):
    return {token: i for i, token in enumerate(dict.fromkeys(tokens))}


def added(token, number, **flags):
    usual = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
    return {"id": number, "content": token, **usual, **flags}


def tokenizer(model, normalizer=None, pre_tokenizer=None, post_processor=None, decoder=None, tokens=()):
    return {"version": "1.0", "truncation": None, "padding": None, "added_tokens": list(tokens), "normalizer": normalizer,
            "pre_tokenizer": pre_tokenizer, "post_processor": post_processor, "decoder": decoder, "model": model}


def bpe(vocabulary, merges, **settings):
    usual = {"dropout": None, "unk_token": None, "continuing_subword_prefix": None, "end_of_word_suffix": None,
             "fuse_unk": False, "byte_fallback": False, "ignore_merges": False}
    return {"type": "BPE", **usual, **settings, "vocab": vocabulary, "merges": merges}


def template(single, pair, special):
    def slots(text):
        result = []
        for part in text.split():
            name, _, kind = part.partition(":")
            inside = {"id": name.strip("$"), "type_id": int(kind or 0)}
            result.append({"Sequence" if name.startswith("$") else "SpecialToken": inside})
        return result
    tokens = {name: {"id": name, "ids": [number], "tokens": [name]} for name, number in special.items()}
    return {"type": "TemplateProcessing", "single": slots(single), "pair": slots(pair), "special_tokens": tokens}


def charsmap(table):
    """SentencePiece's normalisation as a double array: texts of one or more characters to others."""
    texts, places = b"", {}
    for source, target in table.items():
        places[source.encode()] = len(texts)
        texts += target.encode() + b"\0"
    units, used = [0], {0}
    offsets = {}

    def place(prefix, node):
        labels = sorted({key[len(prefix)] for key in places if key.startswith(prefix) and len(key) > len(prefix)})
        leaf = prefix in places
        children = ([0] if leaf else []) + labels
        base = 1
        while any((base ^ label) in used or (base ^ label) == 0 for label in children) or (base ^ node) >= 1 << 21:
            base += 1
        for label in children:
            used.add(base ^ label)
        while len(units) <= max(base ^ label for label in children):
            units.append(0)
        units[node] |= ((base ^ node) << 10) | (256 if leaf else 0)
        if leaf:
            units[base] = (1 << 31) | places[prefix]
        for label in labels:
            units[base ^ label] = label
            place(prefix + bytes([label]), base ^ label)

    place(b"", 0)
    units.extend([0] * (256 + -len(units) % 256))  # no byte leads outside
    trie = struct.pack(f"<{len(units)}I", *units)
    return base64.b64encode(struct.pack("<I", len(trie)) + trie + texts).decode()


ALL = "\n".join(TEXTS)
WORDS = ALL.replace("\n", " ").split(" ")
BYTES, BYTE_MERGES = byte_pairs([as_signs(" " + w) for w in WORDS], SIGNS.values(), 150)
BYTE_LEVEL = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
LLAMA3 = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"


def split(pattern, behavior, invert=False, kind="Regex"):
    return {"type": "Split", "pattern": {kind: pattern}, "behavior": behavior, "invert": invert}


def gpt2():
    vocabulary = numbered([*BYTES, "<mask>"])
    mask = added("<mask>", vocabulary["<mask>"], lstrip=True)
    return tokenizer(bpe(vocabulary, [" ".join(m) for m in BYTE_MERGES]), None, BYTE_LEVEL, BYTE_LEVEL, BYTE_LEVEL, [mask])


def roberta():
    vocabulary = numbered(["<s>", "<pad>", "</s>", "<unk>", *BYTES, "<mask>"])
    tokens = [added(t, vocabulary[t], normalized=True) for t in ("<s>", "<pad>", "</s>", "<unk>")]
    tokens.append(added("<mask>", vocabulary["<mask>"], lstrip=True))
    processor = {"type": "RobertaProcessing", "sep": ["</s>", 2], "cls": ["<s>", 0], "trim_offsets": True, "add_prefix_space": True}
    return tokenizer(bpe(vocabulary, BYTE_MERGES), None, {**BYTE_LEVEL, "add_prefix_space": True}, processor, BYTE_LEVEL, tokens)


def llama3():
    vocabulary = numbered([*BYTES, as_signs(" theme"), as_signs(" fox"), as_signs("don")])
    begin = added("<s>", len(vocabulary))
    word = added("added_token", len(vocabulary) + 1, special=False, single_word=True, normalized=True)
    sequence = {"type": "Sequence", "pretokenizers": [split(LLAMA3, "Isolated"), {**BYTE_LEVEL, "use_regex": False}]}
    processor = {"type": "Sequence", "processors": [BYTE_LEVEL, template("<s> $A", "<s> $A <s>:1 $B:1", {"<s>": begin["id"]})]}
    return tokenizer(bpe(vocabulary, BYTE_MERGES, ignore_merges=True), {"type": "NFC"}, sequence, processor, BYTE_LEVEL, [begin, word])


def llama2():
    characters = sorted(set("▁" + ALL.replace(" ", "▁")))[:90]
    words = ["▁" + w for w in WORDS if all(c in characters for c in w)]
    symbols, merges = byte_pairs(words, characters, 60)
    vocabulary = numbered(["<unk>", "<s>", "</s>", *(f"<0x{b:02X}>" for b in range(256)), *symbols])
    normalizer = {"type": "Sequence", "normalizers": [{"type": "Prepend", "prepend": "▁"},
                                                      {"type": "Replace", "pattern": {"String": " "}, "content": "▁"}]}
    decoder = {"type": "Sequence", "decoders": [{"type": "Replace", "pattern": {"String": "▁"}, "content": " "},
                                                {"type": "ByteFallback"}, {"type": "Fuse"},
                                                {"type": "Strip", "content": " ", "start": 1, "stop": 0}]}
    tokens = [added(t, i) for i, t in enumerate(("<unk>", "<s>", "</s>"))]
    return tokenizer(bpe(vocabulary, merges, unk_token="<unk>", fuse_unk=True, byte_fallback=True), normalizer, None,
                     template("<s> $A", "<s> $A <s>:1 $B:1", {"<s>": 1}), decoder, tokens)


def clip():
    words = [as_signs(w.lower()) for w in WORDS]
    symbols, merges = byte_pairs(words, [*SIGNS.values(), *(s + "</w>" for s in SIGNS.values())], 80, "</w>")
    vocabulary = numbered([*symbols, "<s>", "</s>"])
    pattern = r"<s>|</s>|'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+"
    normalizer = {"type": "Sequence", "normalizers": [{"type": "NFC"}, {"type": "Replace", "pattern": {"Regex": r"\s+"}, "content": " "}, {"type": "Lowercase"}]}
    sequence = {"type": "Sequence", "pretokenizers": [split(pattern, "Removed", True), {**BYTE_LEVEL, "use_regex": False}]}
    processor = {"type": "RobertaProcessing", "sep": ["</s>", vocabulary["</s>"]], "cls": ["<s>", vocabulary["<s>"]], "trim_offsets": False, "add_prefix_space": False}
    return tokenizer(bpe(vocabulary, merges, end_of_word_suffix="</w>", unk_token="</s>", continuing_subword_prefix=""), normalizer, sequence, processor, BYTE_LEVEL,
                     [added("<s>", vocabulary["<s>"], normalized=True), added("</s>", vocabulary["</s>"])])


def starcoder():
    sequence = {"type": "Sequence", "pretokenizers": [{"type": "Digits", "individual_digits": True}, BYTE_LEVEL]}
    return tokenizer(bpe(numbered(BYTES), BYTE_MERGES), None, sequence, None, BYTE_LEVEL)


def falcon():
    sequence = {"type": "Sequence", "pretokenizers": [{"type": "Punctuation", "behavior": "Contiguous"}, BYTE_LEVEL,
                                                      {"type": "Digits", "individual_digits": False}, split("[0-9][0-9][0-9]", "Isolated")]}
    return tokenizer(bpe(numbered(BYTES), BYTE_MERGES), None, sequence, None, BYTE_LEVEL)


def pieces_of_words(words, prefix):
    counts = collections.Counter()
    for word in words:
        for i in range(len(word)):
            for j in range(i + 1, min(len(word), i + 5) + 1):
                counts[(prefix if i else "") + word[i:j]] += 1
    keep = [p for p, n in counts.most_common(700) if n > 1 or len(p.removeprefix(prefix)) == 1]
    return keep


def bert(lowercase):
    words = [w.lower() if lowercase else w for w in WORDS if w.isalnum()]
    vocabulary = numbered(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "<mask>", *".,!?;:'()[]{}-_#*", *pieces_of_words(words, "##")])
    normalizer = {"type": "BertNormalizer", "clean_text": True, "handle_chinese_chars": True, "strip_accents": None, "lowercase": lowercase}
    tokens = [added(t, vocabulary[t]) for t in ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "<mask>")]
    special = {"[CLS]": 2, "[SEP]": 3}
    processor = template("[CLS] $A [SEP]", "[CLS] $A [SEP] $B:1 [SEP]:1", special)
    if not lowercase:
        processor = {"type": "BertProcessing", "sep": ["[SEP]", 3], "cls": ["[CLS]", 2]}
    model = {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##", "max_input_chars_per_word": 100, "vocab": vocabulary}
    return tokenizer(model, normalizer, {"type": "BertPreTokenizer"}, processor, {"type": "WordPiece", "prefix": "##", "cleanup": True}, tokens)


def unigram_pieces(first):
    counts = collections.Counter()
    for word in WORDS:
        word = "▁" + word
        for i in range(len(word)):
            for j in range(i + 1, min(len(word), i + 6) + 1):
                counts[word[i:j]] += j - i
    kept = [(p, n) for p, n in counts.most_common(600) if n > len(p) or p.isascii() or p == "▁"]
    total = sum(n for _, n in kept)
    return [[t, 0.0] for t in first] + [[p, math.log(n / total)] for p, n in kept]


CHARSMAP = charsmap({"ﬁ": "fi", "ａ": "a", "ｂ": "b", "１": "1", "\u3000": " ", "\u00a0": " ", "\t": " ", "\n": " ", "½": "1/2",
                     "e\u0301": "é", "\u200b": "", "㍿": "株式会社", "…": "..."})


def xlm_r():
    pieces = unigram_pieces(["<s>", "<pad>", "</s>", "<unk>"]) + [["<mask>", 0.0]]
    tokens = [added("<s>", 0), added("<pad>", 1), added("</s>", 2), added("<unk>", 3), added("<mask>", len(pieces) - 1, lstrip=True)]
    normalizer = {"type": "Sequence", "normalizers": [{"type": "Precompiled", "precompiled_charsmap": CHARSMAP},
                                                      {"type": "Replace", "pattern": {"Regex": " {2,}"}, "content": " "}]}
    metaspace = {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": True}
    pre = {"type": "Sequence", "pretokenizers": [{"type": "WhitespaceSplit"}, metaspace]}
    return tokenizer({"type": "Unigram", "unk_id": 3, "vocab": pieces, "byte_fallback": False}, normalizer, pre,
                     template("<s> $A </s>", "<s> $A </s> </s> $B </s>", {"<s>": 0, "</s>": 2}), metaspace, tokens)


def t5():
    pieces = unigram_pieces(["<pad>", "</s>", "<unk>"])
    normalizer = {"type": "Sequence", "normalizers": [{"type": "Nmt"}, {"type": "NFKC"}, {"type": "Strip", "strip_left": False, "strip_right": True}]}
    metaspace = {"type": "Metaspace", "replacement": "▁", "add_prefix_space": True}
    return tokenizer({"type": "Unigram", "unk_id": 2, "vocab": pieces}, normalizer, metaspace,
                     template("$A </s>", "$A </s> $B </s>", {"</s>": 1}), metaspace, [added("</s>", 1)])


def gemma():
    pieces = unigram_pieces(["<unk>"]) + [[f"<0x{b:02X}>", -20.0] for b in range(256)]
    metaspace = {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "first", "split": False}
    word = added("added_token", len(pieces), special=False, rstrip=True)
    return tokenizer({"type": "Unigram", "unk_id": 0, "vocab": pieces, "byte_fallback": True}, {"type": "Replace", "pattern": {"String": " "}, "content": "▁"},
                     metaspace, None, metaspace, [added("<s>", len(pieces) + 1), word][::-1])


def albert():
    pieces = unigram_pieces(["<unk>", "[CLS]", "[SEP]"])
    normalizer = {"type": "Sequence", "normalizers": [{"type": "NFKD"}, {"type": "StripAccents"}, {"type": "Lowercase"}, {"type": "Strip", "strip_left": True, "strip_right": True}]}
    metaspace = {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "never", "split": True}
    return tokenizer({"type": "Unigram", "unk_id": 0, "vocab": pieces}, normalizer, metaspace,
                     template("[CLS] $A [SEP]", "[CLS] $A [SEP] $B:1 [SEP]:1", {"[CLS]": 1, "[SEP]": 2}), metaspace)


def word_level(pre_tokenizer, normalizer=None):
    words = [w for text in TEXTS for w in text.replace("\n", " ").split()]
    pieces = [p for w in words for p in (w, w.lower(), *w.split("'"), *w.split("_"), *w.split("-"), *w)]
    return tokenizer({"type": "WordLevel", "unk_token": "<unk>", "vocab": numbered(["<unk>", *pieces])}, normalizer, pre_tokenizer)


MAKERS = {
    "gpt2": gpt2, "roberta": roberta, "llama3": llama3, "llama2": llama2, "clip": clip, "starcoder": starcoder, "falcon": falcon,
    "bert_uncased": lambda: bert(True), "bert_cased": lambda: bert(False), "xlm_r": xlm_r, "t5": t5, "gemma": gemma, "albert": albert,
    "words_whitespace": lambda: word_level({"type": "Whitespace"}, {"type": "NFD"}),
    "words_removed": lambda: word_level(split("'", "Removed", kind="String")),
    "words_previous": lambda: word_level(split("[_ -]", "MergedWithPrevious")),
    "words_next": lambda: word_level(split("[_ -]", "MergedWithNext")),
    "words_contiguous": lambda: word_level(split(r"\w", "Contiguous")),
    "words_delimiter": lambda: word_level({"type": "CharDelimiterSplit", "delimiter": " "}),
    "words_characters": lambda: word_level(split("", "Isolated")),
    "words_punctuation": lambda: word_level({"type": "Sequence", "pretokenizers": [{"type": "WhitespaceSplit"}, {"type": "Punctuation", "behavior": "Isolated"}]}),
}

NODE = """
const {Tokenizer} = require("tokenizers");
const input = JSON.parse(require("fs").readFileSync(0));
(async () => {
  const results = {};
  for (const [name, {tokenizer, inputs}] of Object.entries(input)) {
    const made = Tokenizer.fromString(JSON.stringify(tokenizer));
    results[name] = [];
    for (const texts of inputs) {
      const e = await made.encode(...texts);
      results[name].push({texts, ids: e.getIds(), types: e.getTypeIds()});
    }
  }
  console.log(JSON.stringify(results));
})();
"""


def main():
    inputs = [[t] for t in TEXTS] + [list(p) for p in PAIRS]
    made = {name: {"tokenizer": maker(), "inputs": inputs} for name, maker in MAKERS.items()}
    answer = subprocess.run(["node", "-e", NODE], input=json.dumps(made), capture_output=True, text=True, check=True)
    for name, lines in json.loads(answer.stdout).items():
        with open(HERE / f"{name}.json", "w", encoding="utf-8") as file:
            json.dump({"tokenizer": made[name]["tokenizer"], "inputs": lines}, file, ensure_ascii=False, separators=(",", ":"))
            file.write("\n")


if __name__ == "__main__":
    main()
