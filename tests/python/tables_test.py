"""Tests of the tables that Python and the command line share, of models by their names on the hub,
and of gradients."""

import csv
import io
import json
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import threading
import unittest

import numpy as np

import attnscope

SOURCE = pathlib.Path(__file__).resolve().parents[2]
SAMPLES = SOURCE / "sample_data"
MODEL = SAMPLES / "models" / "fashion-softmax.h5"
WORDS = SAMPLES / "models" / "shakespeare-softmax.h5"
IMAGE = SAMPLES / "inputs" / "08_bag.png"
MIXTURE = SOURCE / "tests" / "data" / "models" / "gguf" / "mixtral.gguf"
TWELVE = SAMPLES / "inputs" / "twelve.npz"
PROGRAM = os.environ.get("ATTNSCOPE_PROGRAM", "")


def printed(*arguments):
    """What the command line prints."""
    return subprocess.run([PROGRAM, *map(str, arguments)], check=True, capture_output=True,
                          text=True).stdout


def printed_json(*arguments):
    return json.loads(printed(*arguments, "--format", "json"))


def rows_of(report):
    return json.loads(report.to_json())


@unittest.skipUnless(PROGRAM, "the command line is not there to compare with")
class CommandLineTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.model = attnscope.open(MODEL)
        cls.trace = cls.model.run(IMAGE)

    def check_rows(self, report, expected, without=()):
        found = rows_of(report)
        kept = [{key: value for key, value in row.items() if key not in without}
                for row in expected]
        self.assertEqual(found, kept)

    def test_chosen_heads(self):
        for name, choice in (("spectrum", {"heads": [0, 2]}), ("spectrum", {"heads": 1}),
                             ("spectrum", {"heads": 1, "baselines": True, "layers": 5}),
                             ("spectrum", {"heads": 1, "at_entropy": 0.8, "layers": 5}),
                             ("heads", {"heads": [0, 2], "layers": [1, 3]}),
                             ("heads", {"heads": 1, "at_entropy": 0.8, "layers": 5})):
            with self.subTest(name, **choice):
                words = []
                for key, value in choice.items():
                    words.append("--" + key.replace("_", "-"))
                    if isinstance(value, list):
                        words.append(",".join(map(str, value)))
                    elif value is not True:
                        words.append(value)
                report = getattr(attnscope, name)(self.trace, **choice)
                expected = printed(name, MODEL, "--input", IMAGE, *words, "--csv")
                found = report.to_csv()
                if name == "heads":  # the command line names the model and the input of each row
                    found = list(csv.DictReader(io.StringIO(found)))
                    named = {"model": MODEL.stem, "input": IMAGE.name}
                    found = [{**named, **row} for row in found]
                    expected = list(csv.DictReader(io.StringIO(expected)))
                self.assertEqual(found, expected)
        with self.assertRaisesRegex(attnscope.UsageError, "no layer has this head"):
            attnscope.heads(self.trace, heads=3)
        with self.assertRaisesRegex(attnscope.UsageError, "per layer, not per head"):
            attnscope.spectrum(self.trace, of="tokens", heads=0)

    def test_every_channel(self):
        file = MODEL.with_name("fashion-daft-conv.h5")
        trace = attnscope.open(file).run(IMAGE)
        report = attnscope.spectrum(trace, channel="all", layers=0, heads=1)
        self.assertEqual(report["channel"].tolist(), list(range(len(report))))
        self.assertGreater(len(report), 1)
        self.assertEqual(report.to_csv(),
                         printed("spectrum", file, "--input", IMAGE, "--channel", "all",
                                 "--layers", 0, "--heads", 1, "--csv"))
        for settings, words in (({"channel": 3}, "one channel, or their mean"),
                                ({"channel": "all", "of": "scores"}, "unchanged maps"),
                                ({"channel": "all", "baselines": True}, "one channel")):
            with self.assertRaisesRegex(attnscope.UsageError, words):
                attnscope.spectrum(trace, **settings)

    def test_frequencies(self):
        for of in ("filter-response", "amplitude"):
            report = attnscope.frequencies(self.trace, of=of)
            run = ["frequencies", MODEL, "--input", IMAGE, "--of", of]
            self.check_rows(report, printed_json(*run)["models"][0]["rows"])
            self.assertIn(printed(*run).split("\n\n")[1], repr(report))
        traces = [self.model.run(f"{TWELVE}#{index}") for index in range(12)]
        report = attnscope.frequencies(traces, of="amplitude")
        run = ["frequencies", MODEL, "--dataset", TWELVE, "--count", 0, "--of", "amplitude"]
        self.check_rows(report, printed_json(*run)["models"][0]["rows"])
        self.assertIn("means over 12 inputs", repr(report))
        with self.assertRaisesRegex(attnscope.UsageError, "no trace was given"):
            attnscope.frequencies([])
        with self.assertRaisesRegex(attnscope.UsageError, "no rotary positions"):
            attnscope.frequencies(self.trace, of="rotary-use")

    def test_stacked_spectrum(self):
        traces = [self.model.run(f"{TWELVE}#{index}") for index in range(12)]
        report = attnscope.spectrum(traces, of="keys", stacked=True, share="energy", heads=1)
        expected = printed_json("spectrum", MODEL, "--dataset", TWELVE, "--of", "keys",
                                "--stacked", "--share", "energy", "--heads", 1)["maps"]
        self.assertEqual([row["equivalent_rank"] for row in report],
                         [row["equivalent_rank"] for row in expected])
        self.assertEqual(len(report), 6)
        with self.assertRaisesRegex(attnscope.UsageError, "column per channel"):
            attnscope.spectrum(traces, stacked=True)

    def test_mixing(self):
        for by, flags in (("norms", {}), ("alti", {"rollout": True})):
            report = attnscope.mixing(self.trace, by=by, **flags)
            words = ["--rollout"] if flags else []
            expected = printed_json("mixing", MODEL, "--input", IMAGE, "--by", by, *words)["mixing"]
            self.check_rows(report, expected, ("model", "status"))
            text = printed("mixing", MODEL, "--input", IMAGE, "--by", by, *words)
            self.assertIn(text.split("\n", 1)[1].rstrip("\n"), repr(report))

    def test_groups(self):
        named = {"top": "(0,0)-(2,6)", "class": [0], "others": "rest"}
        words = ["groups", MODEL, "--input", IMAGE, "--groups",
                 'top=(0,0)-(2,6),class=0,others=rest', "--from", "class"]
        expected = printed_json(*words)["subjects"][0]
        report = attnscope.groups(self.trace, named, of="class")
        self.check_rows(report, expected["groups"])
        self.check_rows(report.parts["heads"], expected["heads"])
        for row in expected["heads"]:
            np.testing.assert_allclose(np.sum(row["shares"], axis=1), 1, atol=1e-6)
        with self.assertRaisesRegex(attnscope.UsageError, "only a text has words"):
            attnscope.groups(self.trace, "words")

    def test_experts(self):
        trace = attnscope.open(MIXTURE).run([1, 5, 9])
        expected = printed_json("experts", MIXTURE, "--input", "ids:1,5,9")["models"][0]
        report = attnscope.experts(trace)
        self.check_rows(report, expected["tokens"])
        self.check_rows(report.parts["layers"], expected["layers"])
        for row in expected["tokens"]:
            self.assertAlmostEqual(sum(one["weight"] for one in row["chosen"]), 1, 6)
        with self.assertRaisesRegex(attnscope.UsageError, "no experts were recorded"):
            attnscope.experts(self.trace)

    def test_lens(self):
        report = attnscope.lens(self.trace, target="Bag")
        run = ["lens", MODEL, "--input", IMAGE, "--target", "Bag"]
        self.check_rows(report, printed_json(*run)["models"][0]["cells"])
        self.assertIn(printed(*run).split("\n", 1)[1].rstrip("\n"), repr(report))
        csv = printed(*run, "--format", "csv").splitlines()
        self.assertEqual(report.to_csv().splitlines(), [line.split(",", 1)[1] for line in csv])

    def test_lens_of_a_text(self):
        trace = attnscope.open(WORDS).run("text:To be, or not")
        run = ["lens", WORDS, "--input", "text:To be, or not"]
        self.check_rows(attnscope.lens(trace), printed_json(*run)["models"][0]["cells"])
        self.check_rows(attnscope.lens(trace, place=2),
                        printed_json(*run, "--place", 2)["models"][0]["cells"])
        expected = printed_json(*run, "--by-head")["models"][0]
        report = attnscope.lens(trace, by_head=True)
        self.check_rows(report.parts["layers"], expected["layers"])
        self.assertAlmostEqual(np.nansum(report["logit"]), expected["logit"], places=6)

    def test_energy(self):
        report = attnscope.energy("deit-tiny", mechanism="adder", by_layer=True)
        run = ["energy", "deit-tiny", "--mechanism", "adder", "--by-layer"]
        self.assertEqual(report.to_csv(), printed(*run, "--csv").split("\n", 1)[1])
        expected = printed_json(*run)
        self.check_rows(report, expected["components"] + [
            {"part": "all", "group": "total", "component": report[-1]["component"],
             **expected["total"]}])
        self.assertEqual(dict(zip(report.parts["parameters"]["component"],
                                  report.parts["parameters"]["parameters"]))["total"],
                         expected["parameters"]["total"])
        self.assertEqual(repr(attnscope.energy("deit-tiny")),
                         printed("energy", "deit-tiny").rstrip("\n"))
        table = attnscope.energy(paper="adder:1")
        self.check_rows(table, printed_json("energy", "--paper", "adder:1"))
        of_file = attnscope.energy(self.model)
        self.assertEqual(of_file.to_csv(), printed("energy", MODEL, "--csv").split("\n", 1)[1])

    def test_truncate(self):
        report = attnscope.truncate(self.model, TWELVE, ranks=[1, 16], count=4, baselines=True)
        run = ["truncate", MODEL, "--dataset", TWELVE, "--ranks", "1,16", "--count", 4,
               "--baselines"]
        expected = printed_json(*run)["series"]
        self.assertEqual(rows_of(report.parts["series"]), expected)
        found = rows_of(report)
        self.assertEqual([{key: row[key] for key in expected[0]["outcomes"][0]} for row in found],
                         expected[0]["outcomes"])
        text = printed(*run)
        for line in repr(report).splitlines():
            self.assertIn(line, text)
        self.assertEqual(report.parts["series"].to_csv(), printed(*run, "--csv"))

    def test_ablate(self):
        report = attnscope.ablate(self.model, TWELVE, by="mechanism", other="hash,bits=8",
                                  each="layer", layers=[0, 2], count=3)
        run = ["ablate", MODEL, "--dataset", TWELVE, "--by", "mechanism", "--other", "hash,bits=8",
               "--each", "layer", "--layers", "0,2", "--count", 3]
        self.assertEqual(rows_of(report.parts["series"]), printed_json(*run)["series"])
        answers = attnscope.ablate(self.model, input=IMAGE, answers=2)
        run = ["ablate", MODEL, "--input", IMAGE, "--answers", 2]
        self.check_rows(answers, printed_json(*run)["series"][0]["answers"])

    def test_sweep(self):
        with tempfile.TemporaryDirectory() as folder:
            run = ["sweep", MODEL, "--dataset", TWELVE, "--count", 2, "--identity", "both",
                   "--baselines", "--out", pathlib.Path(folder) / "a.h5"]
            expected = printed_json(*run)["series"]
            report = attnscope.sweep(self.model, TWELVE, pathlib.Path(folder) / "b.h5", count=2,
                                     identity="both", baselines=True)
            layers = [layer for series in expected for layer in series["layers"]]
            found = [{key: row[key] for key in layers[0]} for row in rows_of(report)]
            self.assertEqual(found, layers)
            self.assertEqual((pathlib.Path(folder) / "a.h5").read_bytes(),
                             (pathlib.Path(folder) / "b.h5").read_bytes())


class NumbersTest(unittest.TestCase):
    """The same numbers by NumPy."""

    @classmethod
    def setUpClass(cls):
        cls.model = attnscope.open(MODEL)
        cls.trace = cls.model.run(IMAGE)

    def test_shares_of_mixing(self):
        report = attnscope.mixing(self.trace, layers=1)
        matrix = np.array(report[0]["matrix"])
        self.assertEqual((len(report), matrix.shape), (1, (197, 197)))
        shares = matrix / matrix.sum(1, keepdims=True)
        self.assertAlmostEqual(report[0]["own_share"], np.diag(shares).mean(), places=9)
        self.assertEqual(report[0]["strongest"][0]["key"], int(shares.mean(0).argmax()))
        with self.assertRaisesRegex(ValueError, "over all heads"):
            attnscope.mixing(self.trace, heads=0)
        with self.assertRaisesRegex(ValueError, "no such layer"):
            attnscope.mixing(self.trace, layers=6)
        with self.assertRaisesRegex(ValueError, "measure of mixing"):
            attnscope.mixing(self.trace, by="norm")

    def test_the_lens_ends_at_the_answer(self):
        report = attnscope.lens(self.trace, top=10)
        logits = self.trace.logits.astype(float)
        share = np.exp(logits - logits.max())
        share /= share.sum()
        last = report[-1]
        self.assertEqual(last["likeliest"][0]["index"], int(logits.argmax()))
        self.assertAlmostEqual(last["likeliest"][0]["probability"], share.max(), places=5)
        self.assertAlmostEqual(last["entropy"], -(share * np.log2(share)).sum(), places=4)
        self.assertAlmostEqual(last["divergence"], 0, places=6)

    def test_parts_sum_to_the_logit(self):
        report = attnscope.lens(self.trace, by_head=True)
        self.assertAlmostEqual(np.nansum(report["logit"]), self.trace.logits.max(), places=3)
        self.assertEqual(len(attnscope.lens(self.trace, by_head=True, heads=0)), 2 + 6 * 3)

    def test_operations_of_attention(self):
        sums = attnscope.energy("deit-tiny", convention="adder").parts["sums"]
        total = [row for row in sums if row["group"] == "total"][0]
        both = sum(row["multiplications"] for row in sums if row["group"] != "total")
        self.assertLessEqual(both, total["multiplications"])
        with self.assertRaisesRegex(ValueError, "either a network or a published table"):
            attnscope.energy()

    def test_a_full_rank_changes_nothing(self):
        report = attnscope.truncate(self.model, TWELVE, ranks=197, count=3)
        self.assertEqual(report["accuracy"][0], report["accuracy"][1])
        self.assertAlmostEqual(report["divergence"][1], 0, places=6)
        right = np.load(TWELVE)
        self.assertEqual(report["predicted"].tolist(), [3, 3], str(right.files))

    def test_studies_refuse_what_does_not_fit(self):
        for call, words in ((lambda: attnscope.truncate(self.model), "data set of images, or a text"),
                            (lambda: attnscope.truncate("vit.h5", TWELVE), "runs models"),
                            (lambda: attnscope.truncate(self.model, TWELVE, cut="half"), "unknown"),
                            (lambda: attnscope.ablate(self.model, TWELVE, by="head"), "missing"),
                            (lambda: attnscope.sweep(self.model, TWELVE, "out.csv"), "HDF5"),
                            (lambda: attnscope.train("x", only="a"), "only a study")):
            with self.assertRaisesRegex(ValueError, words):
                call()

    def test_an_interrupted_sweep_ends(self):
        with tempfile.TemporaryDirectory() as folder:
            out = pathlib.Path(folder) / "sweep.h5"
            timer = threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT))
            timer.start()
            with self.assertRaises(KeyboardInterrupt):
                attnscope.sweep(self.model, TWELVE, out, baselines=True, head_numbers=True)
            timer.join()
            self.assertFalse(out.exists())


class TrainTest(unittest.TestCase):
    def test_a_run_and_its_tests(self):
        rng = np.random.default_rng(3)
        with tempfile.TemporaryDirectory() as place:
            folder = pathlib.Path(place)
            labels = np.arange(48) % 2
            images = rng.integers(0, 99, size=(48, 12, 12)).astype(np.uint8)
            images[labels == 1, :6] += 150
            np.savez(folder / "set.npz", images=images, labels=labels)
            report = attnscope.train(folder / "run", dataset=str(folder / "set.npz"),
                                     test_dataset=str(folder / "set.npz"), patch=4, width=16,
                                     model_heads=2, depth=1, batch=8, steps=6, probes=1,
                                     warm_up=2, checkpoints=3)
            self.assertEqual(report["step"].tolist()[-1], 6)
            self.assertIn("6 steps", report.heading)
            self.assertEqual(len(report[-1]["layers"]), 1)
            self.assertAlmostEqual(report[-1]["mean_rank"], report[-1]["layers"][0]["mean_rank"])
            model = attnscope.open(folder / "run" / "step-000006.h5")
            self.assertEqual(model.layers, 1)
            with self.assertRaisesRegex(ValueError, "keeps the recipe"):
                attnscope.train(folder / "run", resume=True, steps=9)
            again = attnscope.train(folder / "run", resume=True)
            self.assertEqual(again.to_csv(), report.to_csv())
        self.assertIn("steps", [name for name, *_ in attnscope.recipe_settings()])


class HubTest(unittest.TestCase):
    def test_a_model_of_the_cache_opens_by_its_name(self):
        with tempfile.TemporaryDirectory() as cache:
            before = os.environ.get("HF_HUB_CACHE")
            os.environ["HF_HUB_CACHE"] = cache
            try:
                model = pathlib.Path(cache) / "models--org--fashion"
                (model / "snapshots" / "abc").mkdir(parents=True)
                (model / "refs").mkdir()
                (model / "refs" / "main").write_text("abc")
                shutil.copy(MODEL, model / "snapshots" / "abc" / "model.h5")
                for name in ("org/fashion", "org/fashion@main", "org/fashion@abc"):
                    self.assertEqual(attnscope.open(name).layers, 6)
                with self.assertRaisesRegex(OSError, "hf download org/missing") as raised:
                    attnscope.open("org/missing")
                self.assertIn(cache, raised.exception.expected)
                with self.assertRaisesRegex(OSError, "--revision v2"):
                    attnscope.open("org/fashion@v2")
                if PROGRAM:
                    text = printed("weights", "org/fashion@main@softmax")
                    self.assertIn("W_OV", text)
            finally:
                os.environ.pop("HF_HUB_CACHE")
                if before is not None:
                    os.environ["HF_HUB_CACHE"] = before


class GradientTest(unittest.TestCase):
    def setUp(self):
        rng = np.random.default_rng(21)
        self.q, self.k, self.v, self.d = rng.normal(size=(4, 2, 6, 8)).astype(np.float32)

    def check(self, name, naive, **settings):
        """Gradients against autograd of `naive`, a function of float64 tensors [heads, N, d]."""
        try:
            import torch
        except ImportError:
            self.skipTest("PyTorch is missing")
        tensors = settings.pop("tensors", None)
        leaves = [torch.tensor(one, dtype=torch.float64, requires_grad=True)
                  for one in (self.q, self.k, self.v)]
        own = {key: torch.tensor(value, dtype=torch.float64, requires_grad=True)
               for key, value in (tensors or {}).items()}
        output = naive(*leaves, **own) if own else naive(*leaves)
        (output * torch.tensor(self.d, dtype=torch.float64)).sum().backward()
        kernel = getattr(attnscope.kernels, name)
        forward = kernel(self.q, self.k, self.v, tensors=tensors, map=False, **settings).output
        np.testing.assert_allclose(forward, output.detach().numpy(), atol=1e-5)
        found = kernel.gradient(self.q, self.k, self.v, self.d, tensors=tensors, **settings)
        for one, leaf in zip(found[:3], leaves):
            np.testing.assert_allclose(one, leaf.grad.numpy(), atol=1e-5)
        for key, leaf in own.items():
            np.testing.assert_allclose(found.tensors[key].reshape(leaf.shape), leaf.grad.numpy(),
                                       atol=1e-5)

    def test_softmax(self):
        self.check("softmax", lambda q, k, v: (q @ k.mT / 8 ** 0.5).softmax(-1) @ v)

    def test_causal_softmax(self):
        hidden = np.triu(np.full((6, 6), -np.inf), 1)

        def naive(q, k, v):
            return (q @ k.mT / 8 ** 0.5 + q.new_tensor(hidden)).softmax(-1) @ v

        self.check("softmax", naive, causal=True)

    def test_adder_with_identity(self):
        def naive(q, k, v):
            distances = (q[:, :, None] - k[:, None]).abs().sum(-1)
            weights = (-distances / (2 * 8 * (1 - 2 / np.pi)) ** 0.5).softmax(-1)
            return (weights + q.new_tensor(np.eye(6))) @ v

        self.check("adder", naive, identity=True)

    def test_talking_heads_and_their_tensors(self):
        rng = np.random.default_rng(22)
        tensors = {name: rng.normal(size=shape).astype(np.float32)
                   for name, shape in (("proj_l", (2, 2)), ("proj_l_bias", (2,)),
                                       ("proj_w", (2, 2)), ("proj_w_bias", (2,)))}

        def naive(q, k, v, proj_l, proj_l_bias, proj_w, proj_w_bias):
            logits = np_einsum("gh,hij->gij", proj_l, q @ k.mT / 8 ** 0.5)
            weights = (logits + proj_l_bias[:, None, None]).softmax(-1)
            weights = np_einsum("gh,hij->gij", proj_w, weights) + proj_w_bias[:, None, None]
            return weights @ v

        try:
            from torch import einsum as np_einsum
        except ImportError:
            self.skipTest("PyTorch is missing")
        self.check("talking_heads", naive, tensors=tensors)

    def test_every_trained_mechanism_by_differences(self):
        # Mechanisms without learned tensors and codes: the gradient of codes is not that of a function.
        for name in ("softmax", "adder", "linear", "cosformer", "performer", "additive", "agent",
                     "rala", "mlla", "gla", "mamba2", "gated_delta", "kda", "nystrom"):
            kernel = getattr(attnscope.kernels, name)
            found = kernel.gradient(self.q, self.k, self.v, self.d)
            rng = np.random.default_rng(23)
            for part, array in enumerate((self.q, self.k, self.v)):
                step = rng.normal(size=array.shape).astype(np.float32) * 1e-3
                sums = []
                for sign in (1, -1):
                    arrays = [self.q, self.k, self.v]
                    arrays[part] = array + sign * step
                    output = kernel(*arrays, map=False).output.astype(float)
                    sums.append((output * self.d).sum())
                with self.subTest(name, part=part):
                    expected = (found[part].astype(float) * step).sum()
                    self.assertAlmostEqual(sums[0] - sums[1], 2 * expected, delta=2e-4)

    def test_batches_and_arrays_that_do_not_fit(self):
        gradient = attnscope.kernels.softmax.gradient
        batch = gradient(*(np.stack([one, one]) for one in (self.q, self.k, self.v, self.d)))
        single = gradient(self.q[0], self.k[0], self.v[0], self.d[0])
        np.testing.assert_array_equal(batch.k[1, 0], single.k)
        self.assertFalse(hasattr(attnscope.kernels.reformer, "gradient"))
        with self.assertRaisesRegex(ValueError, "gradient of each output"):
            gradient(self.q, self.k, self.v, self.d[:, :3])
        with self.assertRaisesRegex(ValueError, "same heads"):
            gradient(self.q, self.k[:1], self.v, self.d)
        with self.assertRaisesRegex(ValueError, "tensor that is missing"):
            attnscope.kernels.talking_heads.gradient(self.q, self.k, self.v, self.d)


if __name__ == "__main__":
    unittest.main()
