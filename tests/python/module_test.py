"""Tests of the package attnscope, with the models of sample_data."""

import gc
import importlib.util
import os
import pathlib
import signal
import sys
import tempfile
import threading
import time
import unittest
from unittest import mock

import numpy as np

import attnscope

SAMPLES = pathlib.Path(__file__).resolve().parents[2] / "sample_data"
MODEL = SAMPLES / "models" / "fashion-softmax.h5"
IMAGE = SAMPLES / "inputs" / "08_bag.png"


def softmax(scores):
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    return weights / weights.sum(-1, keepdims=True)


def equivalent_rank(values, threshold):
    share = np.cumsum(values) / values.sum()
    return int(np.argmax(share >= threshold)) + 1


class GenerateTest(unittest.TestCase):
    def test_a_text_is_continued_by_the_likeliest_tokens(self):
        model = attnscope.open(SAMPLES / "models" / "shakespeare-softmax.h5")
        made = model.generate("text:To be", tokens=4, alternatives=2)
        self.assertEqual(len(made), 4)
        self.assertEqual(made.heading, "".join(made["text"]))
        logits = model.run("text:To be").logits
        self.assertEqual(made[0]["token"], int(np.argmax(logits)))
        drawn = [model.generate("text:To be", tokens=9, temperature=1, seed=seed).heading
                 for seed in (1, 1, 2)]
        self.assertEqual(drawn[0], drawn[1])
        self.assertNotEqual(drawn[0], drawn[2])

    def test_a_model_of_images_is_refused(self):
        with self.assertRaisesRegex(attnscope.UsageError, "does not predict the next token"):
            attnscope.open(MODEL).generate("text:To be")


class RunTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.model = attnscope.open(MODEL)
        cls.trace = cls.model.run(IMAGE)

    def test_a_model_says_what_it_is(self):
        self.assertEqual((self.model.layers, self.model.heads), (6, 3))
        self.assertEqual(self.model.mechanism, "softmax")
        self.assertEqual(self.model.status, "known")
        self.assertIn("6 layers of 3 heads", repr(self.model))
        self.assertEqual(self.model.labels[0], "T-shirt/top")

    def test_maps_are_views_that_keep_their_trace_alive(self):
        first, again = self.trace.maps[0], self.trace.maps[0]
        self.assertEqual((first.shape, first.dtype), ((3, 197, 197), np.float32))
        self.assertTrue(np.shares_memory(first, again))
        self.assertFalse(first.flags.owndata)
        self.assertFalse(first.flags.writeable)
        view = self.model.run(IMAGE).maps[2]
        gc.collect()
        np.testing.assert_array_equal(view, self.trace.maps[2])

    def test_maps_are_softmax_of_the_recorded_queries_and_keys(self):
        q, k = self.trace.q[1].astype(float), self.trace.k[1].astype(float)
        scores = q @ k.transpose(0, 2, 1) / np.sqrt(q.shape[-1])
        np.testing.assert_allclose(self.trace.maps[1], softmax(scores), atol=1e-5)

    def test_layers_are_a_sequence(self):
        self.assertEqual(len(self.trace.maps), 6)
        self.assertEqual(len(list(self.trace.maps)), 6)
        np.testing.assert_array_equal(self.trace.maps[-1], self.trace.maps[5])
        with self.assertRaises(IndexError):
            self.trace.maps[6]

    def test_a_trace_has_tokens_answer_and_labels(self):
        self.assertEqual(self.trace.tokens[:2], ["class", "(0, 0)"])
        self.assertEqual(self.trace.logits.shape, (10,))
        self.assertEqual(self.trace.labels[int(self.trace.logits.argmax())], "Bag")
        self.assertEqual(self.trace.image.dtype, np.uint8)
        self.assertIsNone(self.trace.token_logits)

    def test_pictures_as_arrays_are_inputs(self):
        again = self.model.run(self.trace.image)
        np.testing.assert_array_equal(again.logits, self.trace.logits)

    def test_a_state_dict_in_memory(self):
        rng = np.random.default_rng(12)
        width, shapes = 12, {"cls_token": (1, 1, 12), "pos_embed": (1, 5, 12),
                             "patch_embed.proj.weight": (12, 3, 4, 4), "patch_embed.proj.bias": (12,),
                             "norm.weight": (12,), "norm.bias": (12,), "head.weight": (7, 12),
                             "head.bias": (7,)}
        for layer in range(2):
            for name, shape in (("norm1.weight", (width,)), ("norm1.bias", (width,)),
                                ("attn.qkv.weight", (36, width)), ("attn.qkv.bias", (36,)),
                                ("attn.proj.weight", (width, width)), ("attn.proj.bias", (width,)),
                                ("norm2.weight", (width,)), ("norm2.bias", (width,)),
                                ("mlp.fc1.weight", (48, width)), ("mlp.fc1.bias", (48,)),
                                ("mlp.fc2.weight", (width, 48)), ("mlp.fc2.bias", (width,))):
                shapes[f"blocks.{layer}.{name}"] = shape
        weights = {name: rng.normal(size=shape).astype(np.float32)
                   for name, shape in shapes.items()}
        picture = rng.integers(0, 256, size=(8, 8, 3)).astype(np.uint8)
        for like in (None, "timm-vit"):
            model = attnscope.open(weights, heads=3, like=like, name="mine")
            self.assertEqual((model.name, model.layers, model.heads), ("mine", 2, 3))
            trace = model.run(picture)
            self.assertEqual(trace.maps[1].shape, (3, 5, 5))
            np.testing.assert_allclose(trace.maps[1].sum(-1), 1, rtol=1e-5)
        before = trace.logits.copy()
        weights["head.weight"] *= 0  # the model has its own
        np.testing.assert_array_equal(model.run(picture).logits, before)
        with self.assertRaises(attnscope.Error):
            attnscope.open({"weight": np.ones((2, 2), dtype=complex)})

    def test_another_mechanism_with_identity(self):
        with_identity = self.model.run(IMAGE, "adder", identity=True)
        without = self.model.run(IMAGE, "adder", identity=False)
        self.assertTrue(with_identity.identity)
        self.assertFalse(with_identity.mechanism_trained)
        difference = with_identity.maps[0] - without.maps[0]  # the first layer has the same input
        np.testing.assert_allclose(difference, np.broadcast_to(np.eye(197), (3, 197, 197)),
                                   atol=1e-6)

    def test_a_function_changes_maps(self):
        def even(layer, head, weights):
            weights[:] = 1 / weights.shape[1]

        changed = self.model.run(IMAGE, change=even)
        np.testing.assert_allclose(changed.maps[0], 1 / 197, rtol=1e-6)
        same = self.model.run(IMAGE, change=lambda layer, head, weights: weights.copy())
        np.testing.assert_allclose(same.logits, self.trace.logits, atol=1e-5)
        with self.assertRaises(KeyError):
            self.model.run(IMAGE, change=lambda *_: {}["missing"])
        with self.assertRaisesRegex(ValueError, "must keep its shape"):
            self.model.run(IMAGE, change=lambda *_: np.zeros((2, 2)))

    def test_a_trace_is_saved_and_opened(self):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "trace.h5"
            self.trace.save(file)
            opened = attnscope.open_trace(file)
            np.testing.assert_array_equal(opened.maps[3], self.trace.maps[3])
            self.assertEqual(opened.tokens, self.trace.tokens)

    def test_relevance_and_weights(self):
        report = attnscope.relevance(self.trace, "Bag")
        self.assertEqual(len(report), 197)
        np.testing.assert_array_equal(report["relevance"],
                                      attnscope.relevance(self.trace)["relevance"])
        self.assertIn("Bag", report.heading)
        with self.assertRaises(ValueError):
            attnscope.relevance(attnscope.maps(np.ones((3, 3))))
        report = attnscope.weights(self.model, of="qk")
        self.assertEqual((len(report), len(report[0]["singular_values"])), (18, 16))
        self.assertTrue(np.all(np.abs(report["directionality"]) <= 1))
        self.assertIn("symmetry", str(report))
        pairs = attnscope.weights(self.model, of="v-composition")
        self.assertEqual(len(pairs), 15 * 9)
        self.assertTrue(np.all(np.diff(pairs["composition"]) <= 0))
        difference = attnscope.weights(self.model, of="matrices", minus=self.model)
        self.assertEqual(len(difference), 36)
        np.testing.assert_array_equal(difference["relative_norm"], np.zeros(36))
        with self.assertRaises(ValueError):
            attnscope.weights(self.model, minus=self.model)

    def test_errors_have_the_words_of_the_command_line(self):
        with self.assertRaises(attnscope.UsageError) as raised:
            self.model.run(IMAGE, "addr")
        self.assertIsInstance(raised.exception, ValueError)
        self.assertEqual(raised.exception.kind, "usage")
        self.assertTrue(str(raised.exception).startswith("unknown mechanism 'addr'"))
        with self.assertRaises(OSError) as raised:
            attnscope.open("/nonexistent")
        self.assertEqual(raised.exception.kind, "io")
        self.assertEqual(str(raised.exception),
                         "/nonexistent: cannot be read: No such file or directory")
        self.assertEqual(raised.exception.file, "/nonexistent")
        with self.assertRaises(attnscope.FileError):
            attnscope.open(IMAGE)
        with self.assertRaisesRegex(ValueError, r"expected above 0, at most 1, found 2"):
            attnscope.spectrum(self.trace, threshold=2)


class SpectrumTest(unittest.TestCase):
    def test_values_and_ranks_of_any_array(self):
        maps = np.random.default_rng(1).random((2, 3, 7, 5))
        report = attnscope.spectrum(maps, threshold=0.8)
        self.assertEqual(len(report), 6)
        for row in report:
            expected = np.linalg.svd(maps[row["layer"], row["head"]], compute_uv=False)
            np.testing.assert_allclose(row["singular_values"], expected, rtol=1e-10)
            self.assertEqual(row["equivalent_rank"], equivalent_rank(expected, 0.8))
            share = expected / expected.sum()
            self.assertAlmostEqual(row["effective_rank"], np.exp(-(share * np.log(share)).sum()))

    def test_ranks_by_squares_and_of_queries(self):
        maps = np.random.default_rng(11).random((1, 2, 7, 7))
        for row in attnscope.spectrum(maps, threshold=0.8, share="energy"):
            values = np.linalg.svd(maps[row["layer"], row["head"]], compute_uv=False)
            self.assertEqual(row["equivalent_rank"], equivalent_rank(values ** 2, 0.8))
        with self.assertRaisesRegex(ValueError, "known: values, energy"):
            attnscope.spectrum(maps, share="cubes")
        rng = np.random.default_rng(12)
        q, k, v = (rng.normal(size=(1, 2, 7, 3)).astype(np.float32) for _ in range(3))
        trace = attnscope.maps(softmax(q @ k.swapaxes(-1, -2)), q=q, k=k, v=v)
        for name, vectors in (("queries", q), ("keys", k)):
            for row in attnscope.spectrum(trace, of=name):
                expected = np.linalg.svd(vectors[0, row["head"]], compute_uv=False)
                np.testing.assert_allclose(row["singular_values"], expected, rtol=1e-5)

    def test_views_with_identity_and_without_the_mean_row(self):
        one = softmax(np.random.default_rng(2).normal(size=(6, 6)))
        values = attnscope.spectrum(one, identity=True)[0]["singular_values"]
        np.testing.assert_allclose(values, np.linalg.svd(one + np.eye(6), compute_uv=False))
        values = attnscope.spectrum(one, centred=True)[0]["singular_values"]
        np.testing.assert_allclose(values, np.linalg.svd(one - one.mean(0), compute_uv=False),
                                   atol=1e-12)
        both = attnscope.spectrum(one, identity="both")
        self.assertEqual(both["identity"].tolist(), [False, True])

    def test_a_report_is_a_table(self):
        report = attnscope.spectrum(np.random.default_rng(3).random((2, 4, 4)))
        self.assertEqual(report["head"].tolist(), [0, 1])
        self.assertEqual(report["head"].dtype, np.int64)
        self.assertEqual(report["stable_rank"].dtype, np.float64)
        self.assertIn("equivalent", repr(report))
        self.assertTrue(report.to_csv().startswith("input,layer,head"))
        self.assertIn("<table>", report._repr_html_())
        self.assertEqual(len(report.parts["means"]), 2)
        self.assertEqual(report[-1], report.rows[1])
        with self.assertRaises(KeyError):
            report["missing"]
        with self.assertRaises(IndexError):
            report[2]

    @unittest.skipIf(importlib.util.find_spec("pandas") is None, "pandas is not installed")
    def test_a_report_is_a_data_frame(self):
        report = attnscope.spectrum(np.random.default_rng(3).random((2, 4, 4)))
        frame = report.to_pandas()
        self.assertEqual(list(frame.columns), report.columns)
        self.assertEqual(frame["layer"].tolist(), [0, 0])
        self.assertEqual(frame["stable_rank"].tolist(), report["stable_rank"].tolist())
        self.assertEqual(frame["singular_values"][1], report[1]["singular_values"])

    def test_a_missing_pandas_is_named(self):
        report = attnscope.spectrum(np.eye(3))
        with mock.patch.dict(sys.modules, {"pandas": None}):
            with self.assertRaisesRegex(ImportError, "pandas"):
                report.to_pandas()

    def test_maps_that_are_not_finite_have_no_ranks(self):
        maps = np.ones((2, 3, 3))
        maps[1, 0, 0] = np.nan
        report = attnscope.spectrum(maps)
        self.assertEqual(report["state"], ["ready", "NaN or Inf in the map"])
        self.assertIsNone(report[1]["equivalent_rank"])

    def test_arrays_that_are_no_maps_are_refused(self):
        for wrong in (np.ones(3), np.ones((0, 3)), 1.0):
            with self.assertRaisesRegex(ValueError, "array of maps"):
                attnscope.spectrum(wrong)


class AnalysesTest(unittest.TestCase):
    def test_entropy_of_heads(self):
        maps = softmax(np.random.default_rng(4).normal(size=(2, 3, 8, 8)))
        report = attnscope.heads(attnscope.maps(maps, mechanism="softmax"))
        expected = -(maps * np.log(maps)).sum(-1).mean(-1)
        np.testing.assert_allclose(report["entropy"], expected.ravel(), rtol=1e-6)
        self.assertIn("ln a_ij", report.formulas["entropy"])

    def test_a_comparison_with_itself_and_another(self):
        rng = np.random.default_rng(5)
        one, other = softmax(rng.normal(size=(2, 3, 8, 8))), softmax(rng.normal(size=(2, 3, 8, 8)))
        report = attnscope.compare(one, one)
        np.testing.assert_allclose(report["js_divergence_bits"], 0, atol=1e-12)
        middle = (one + other) / 2
        divergence = (one * np.log2(one / middle) + other * np.log2(other / middle)).sum(-1) / 2
        np.testing.assert_allclose(attnscope.compare(one, other)["js_divergence_bits"],
                                   divergence.mean(-1).ravel(), rtol=1e-6)

    def test_components_sum_to_the_map(self):
        maps = softmax(np.random.default_rng(13).normal(size=(2, 3, 6, 5)))
        report = attnscope.components(maps, layers=1, count=5)
        self.assertEqual(report["head"].tolist(), [0, 1, 2])
        found = report[2]["components"]
        total = sum(one["sigma"] * np.outer(one["queries"], one["keys"]) for one in found)
        np.testing.assert_allclose(total, maps[1, 2], atol=1e-9)

    def test_rollout(self):
        maps = softmax(np.random.default_rng(6).normal(size=(3, 2, 5, 5)))
        expected = np.eye(5)
        for layer in maps:
            expected = (layer.mean(0) / 2 + np.eye(5) / 2) @ expected
        np.testing.assert_allclose(attnscope.rollout(maps), expected, atol=1e-6)

    def test_traces_of_arrays_have_tokens_grids_and_vectors(self):
        maps = softmax(np.zeros((1, 2, 5, 5)))
        vectors = np.random.default_rng(7).normal(size=(1, 2, 5, 4))
        trace = attnscope.maps(maps, grid=(2, 2), q=vectors, k=vectors, v=vectors, name="mine",
                               image=np.zeros((8, 8, 3)), input="picture", mechanism="softmax")
        self.assertEqual(trace.tokens[:2], ["class", "(0, 0)"])
        np.testing.assert_allclose(trace.q[0], vectors[0], rtol=1e-6)
        self.assertEqual((trace.image.shape, trace.label), ((8, 8, 3), "mine"))
        words = attnscope.maps(maps, tokens=["to", "be", "or", "not", "to"])
        self.assertEqual(words.tokens[3], "not")
        with self.assertRaisesRegex(ValueError, "number of texts"):
            attnscope.maps(maps, tokens=["to"])
        with self.assertRaisesRegex(ValueError, "grid does not fit"):
            attnscope.maps(maps, grid=(2, 3))
        with self.assertRaisesRegex(ValueError, "vectors do not fit"):
            attnscope.maps(maps, q=vectors[..., :3, :])

    def test_figures_as_data(self):
        maps = softmax(np.random.default_rng(8).normal(size=(2, 3, 8, 8)))
        figure = attnscope.figure("cumulative-spectrum", maps, threshold=0.8)
        self.assertIn("0.8", figure.caption)
        self.assertIn("cumulative-spectrum", [name for name, *_ in attnscope.figures()])
        with tempfile.TemporaryDirectory() as folder:
            for suffix in ("csv", "json", "tex", "h5", "npz"):
                file = pathlib.Path(folder) / f"figure.{suffix}"
                figure.save(file)
                self.assertGreater(file.stat().st_size, 100)
            with self.assertRaisesRegex(ValueError, "cannot be written in this format"):
                figure.save(pathlib.Path(folder) / "figure.gif")
        with self.assertRaisesRegex(ValueError, "threshold"):
            attnscope.figure("cumulative-spectrum", maps, threshold=3)


class KernelsTest(unittest.TestCase):
    def setUp(self):
        rng = np.random.default_rng(9)
        self.q, self.k, self.v = rng.normal(size=(3, 4, 32, 8)).astype(np.float32)

    def test_softmax(self):
        output, weights = attnscope.kernels.softmax(self.q, self.k, self.v)
        expected = softmax(self.q @ self.k.transpose(0, 2, 1) / np.sqrt(8))
        np.testing.assert_allclose(weights, expected, atol=1e-6)
        np.testing.assert_allclose(output, expected @ self.v, atol=1e-5)
        weights = attnscope.kernels.softmax(self.q, self.k, self.v, causal=True, scale=1).map
        scores = np.where(np.tril(np.ones((32, 32))), self.q @ self.k.transpose(0, 2, 1), -np.inf)
        np.testing.assert_allclose(weights, softmax(scores), atol=1e-6)

    def test_identity_of_adder_attention(self):
        plain = attnscope.kernels.adder(self.q, self.k, self.v, output=False)
        added = attnscope.kernels.adder(self.q, self.k, self.v, identity=True)
        self.assertIsNone(plain.output)
        np.testing.assert_allclose(added.map - plain.map, np.broadcast_to(np.eye(32), (4, 32, 32)),
                                   atol=1e-6)

    def test_every_mechanism_runs_and_is_described(self):
        for mechanism in attnscope.kernels.mechanisms():
            kernel = getattr(attnscope.kernels, mechanism["name"].replace("-", "_"))
            with self.subTest(mechanism["name"]):
                self.assertIn(mechanism["source"], kernel.__doc__)
                settings = {"conv_heads": 8} if "conv_heads" in kernel.__doc__ else {}
                output, weights = kernel(self.q, self.k, self.v, **settings)
                self.assertEqual((output.shape, weights.shape), ((4, 32, 8), (4, 32, 32)))
                if not mechanism["name"].startswith("daft"):  # a map for each channel
                    np.testing.assert_allclose(output, weights @ self.v, atol=1e-4)

    def test_axes(self):
        batch = attnscope.kernels.softmax(*(np.stack([one, one]) for one in (self.q, self.k, self.v)))
        single = attnscope.kernels.softmax(self.q[0], self.k[0], self.v[0])
        self.assertEqual((batch.map.shape, single.map.shape), ((2, 4, 32, 32), (32, 32)))
        np.testing.assert_array_equal(batch.output[1, 0], single.output)
        self.assertTrue(single.output.flags.writeable)
        grouped = attnscope.kernels.softmax(self.q, self.k[:2], self.v[:2])
        repeated = attnscope.kernels.softmax(self.q, self.k[[0, 0, 1, 1]], self.v[[0, 0, 1, 1]])
        np.testing.assert_allclose(grouped.output, repeated.output, atol=1e-6)

    def test_arrays_that_do_not_fit_are_refused(self):
        q, k, v = self.q, self.k, self.v
        for wrong, words in (((q, k[:, :, :4], v), "channels of keys"), ((q, k, v[:, :9]), "value"),
                             ((q, k[:3], v[:3]), "must divide"), ((q[0], k, v), "same axes"),
                             ((q[:, :0], k, v), "at least one"), ((q[0, 0],) * 3, "same axes")):
            with self.assertRaisesRegex(ValueError, words):
                attnscope.kernels.softmax(*wrong)
        with self.assertRaisesRegex(ValueError, "unknown parameter"):
            attnscope.kernels.softmax(q, k, v, bits=3)


class ThreadsTest(unittest.TestCase):
    LONG = np.random.default_rng(10).random((40, 1, 400, 400))

    def longest_pause(self):
        """The longest time in which this thread did not run while another computed, as a share."""
        done, ticks = threading.Event(), []

        def compute():
            attnscope.spectrum(self.LONG)
            done.set()

        thread = threading.Thread(target=compute)
        start = time.monotonic()
        thread.start()
        while not done.is_set():
            ticks.append(time.monotonic())
            time.sleep(0.001)
        thread.join()
        return max(np.diff([start, *ticks])) / (time.monotonic() - start)

    def test_other_threads_run_meanwhile(self):
        # On a busy machine this thread may pause for other reasons, but not each time.
        self.assertTrue(any(self.longest_pause() < 0.5 for _ in range(20)))

    def test_openblas_keeps_its_threads(self):
        import ctypes
        try:
            blas = ctypes.CDLL("libopenblas.so.0")
        except OSError:
            self.skipTest("OpenBLAS has another name")
        before = blas.openblas_get_num_threads()
        self.addCleanup(blas.openblas_set_num_threads, before)
        blas.openblas_set_num_threads(2)
        attnscope.spectrum(np.eye(5))
        attnscope.kernels.softmax(*np.ones((3, 2, 4, 4)))
        self.assertEqual(blas.openblas_get_num_threads(), 2)

    def test_interrupts_end_long_calls(self):
        timer = threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT))
        long = np.random.default_rng(11).random((60, 1, 800, 800))
        timer.start()
        with self.assertRaises(KeyboardInterrupt):
            attnscope.spectrum(long)
        timer.join()

    def test_progress_is_shown_and_may_end_the_call(self):
        seen = []
        attnscope.spectrum(self.LONG, progress=lambda fraction, what: seen.append(fraction))
        self.assertEqual(seen, sorted(seen))
        self.assertTrue(seen and all(0 <= fraction <= 1 for fraction in seen))

        def stop(fraction, what):
            raise RuntimeError("enough")

        with self.assertRaisesRegex(RuntimeError, "enough"):
            attnscope.spectrum(self.LONG, progress=stop)
        with self.assertRaisesRegex(ValueError, "progress"):
            attnscope.spectrum(self.LONG, progress=3)


if __name__ == "__main__":
    unittest.main()
