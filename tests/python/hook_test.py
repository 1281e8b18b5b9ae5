"""Tests of attnscope.hook against PyTorch. They need no extension module."""

import copy
import io
import math
import pathlib
import sys
import threading
import types
import unittest

import numpy as np

try:
    import torch
    from torch import nn
    import torch.nn.functional as F

    import shaped_models
except ImportError:
    torch = None

try:
    import attnscope
    from attnscope.hook import hook
except ImportError:  # the pure Python part by itself
    attnscope = None
    package = pathlib.Path(__file__).resolve().parents[2] / "python" / "attnscope"
    alone = types.ModuleType("attnscope_alone")
    alone.__path__ = [str(package)]
    sys.modules["attnscope_alone"] = alone
    from attnscope_alone.hook import hook


def plain_attention(query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, scale=None):
    """F.scaled_dot_product_attention, for versions of PyTorch that lack it."""
    factor = 1 / math.sqrt(query.shape[-1]) if scale is None else scale
    scores = query @ key.transpose(-2, -1) * factor
    if is_causal:
        seen = torch.ones(scores.shape[-2:], dtype=torch.bool).tril()
        scores = scores.masked_fill(~seen, -math.inf)
    if attn_mask is not None:
        scores = (scores.masked_fill(~attn_mask, -math.inf) if attn_mask.dtype == torch.bool
                  else scores + attn_mask)
    return F.dropout(torch.softmax(scores, -1), dropout_p) @ value


class HookCase(unittest.TestCase):
    def setUp(self):
        torch.manual_seed(7)
        if not hasattr(F, "scaled_dot_product_attention"):
            F.scaled_dot_product_attention = plain_attention
            self.addCleanup(lambda: delattr(F, "scaled_dot_product_attention"))

    def same_with_hook(self, model, *inputs, **settings):
        """Checks that outputs, gradients and random numbers are equal to the bit; the recorder."""
        def run():
            torch.manual_seed(3)
            model.zero_grad()
            output = model(*inputs)
            output = output[0] if isinstance(output, tuple) else output
            gradients = []
            if output.requires_grad:
                output.square().sum().backward()
                gradients = [one.grad.clone() for one in model.parameters() if one.grad is not None]
            return [output.detach().clone(), *gradients, torch.rand(3)]

        before = run()
        with hook(model, **settings) as recorder:
            during = run()
        after = run()
        for one, two, three in zip(before, during, after):
            self.assertTrue(torch.equal(one, two))
            self.assertTrue(torch.equal(one, three))
        return recorder


@unittest.skipIf(torch is None, "PyTorch is not installed")
class HookTest(HookCase):
    def test_multihead_attention_has_its_own_weights(self):
        for settings in ({}, {"bias": False}, {"add_bias_kv": True}, {"add_zero_attn": True},
                         {"kdim": 12, "vdim": 10}):
            for batch_first in (False, True):
                with self.subTest(batch_first=batch_first, **settings):
                    module = nn.MultiheadAttention(16, 4, batch_first=batch_first, **settings)
                    if settings.get("add_bias_kv"):
                        nn.init.normal_(module.bias_k)
                    q = torch.randn(2, 2 + 3 * batch_first, 16)
                    k = torch.randn(*q.shape[:-1], settings.get("kdim", 16))
                    v = torch.randn(*q.shape[:-1], settings.get("vdim", 16))
                    recorder = self.same_with_hook(module, q, k, v, item=1)
                    weights = module(q, k, v, average_attn_weights=False)[1]
                    np.testing.assert_allclose(recorder.calls[0].map, weights[1].detach(),
                                               atol=1e-6)

    def test_masks_of_multihead_attention(self):
        module = nn.MultiheadAttention(16, 4, batch_first=True)
        x = torch.randn(2, 5, 16)
        hidden = torch.ones(5, 5, dtype=torch.bool).triu(1)
        padding = torch.tensor([[False] * 5, [False] * 3 + [True] * 2])
        per_head = torch.randn(8, 5, 5)
        for mask, key_padding in ((hidden, None), (None, padding), (hidden, padding),
                                  (per_head, None)):
            with hook(module, item=1) as recorder:
                weights = module(x, x, x, attn_mask=mask, key_padding_mask=key_padding,
                                 average_attn_weights=False)[1]
            np.testing.assert_allclose(recorder.calls[0].map, weights[1].detach(), atol=1e-6)
            self.assertEqual(recorder.calls[0].causal, mask is hidden)

    def test_a_module_without_a_batch(self):
        module = nn.MultiheadAttention(16, 4)
        x = torch.randn(5, 16)
        recorder = self.same_with_hook(module, x, x, x)
        weights = module(x, x, x, average_attn_weights=False)[1]
        np.testing.assert_allclose(recorder.calls[0].map, weights.detach(), atol=1e-6)

    def test_encoder_in_training_and_fused(self):
        for norm_first in (False, True):
            layer = nn.TransformerEncoderLayer(16, 4, 32, dropout=0.1, batch_first=True,
                                               norm_first=norm_first)
            model = nn.TransformerEncoder(layer, 3)
            x = torch.randn(2, 6, 16)
            recorder = self.same_with_hook(model, x, item=1)
            self.assertEqual([call.layer for call in recorder.calls], [0, 1, 2])
            model.eval()
            slow = self.same_with_hook(model, x, item=1)  # with gradients: no fast path
            with torch.no_grad():
                recorder = self.same_with_hook(model, x, item=1)
            self.assertEqual({call.name for call in recorder.calls}, {"TransformerEncoderLayer"})
            for fused, plain in zip(recorder.calls, slow.calls):
                np.testing.assert_allclose(fused.map, plain.map, atol=1e-5)

    def test_fused_encoder_with_padding(self):
        layer = nn.TransformerEncoderLayer(16, 4, 32, batch_first=True)
        model = nn.TransformerEncoder(layer, 2).eval()
        x = torch.randn(2, 6, 16)
        padding = torch.tensor([[False] * 6, [False] * 4 + [True] * 2])
        with torch.no_grad():
            expected = model(x, src_key_padding_mask=padding)
            with hook(model, item=1) as recorder:
                found = model(x, src_key_padding_mask=padding)
        self.assertTrue(torch.equal(expected, found))
        self.assertEqual(len(recorder.calls), 2)
        np.testing.assert_allclose(recorder.calls[0].map[:, :, :4].sum(-1), 1, atol=1e-5)

    def test_scaled_dot_product_attention(self):
        class Block(nn.Module):
            def __init__(self, **named):
                super().__init__()
                self.qkv, self.named = nn.Linear(12, 36), named

            def forward(self, x):
                q, k, v = self.qkv(x).reshape(*x.shape[:-1], 3, 3, 4).permute(2, 0, 3, 1, 4)
                return F.scaled_dot_product_attention(q, k, v, **self.named)

        x = torch.randn(2, 5, 12)
        masks = torch.rand(2, 1, 5, 5) > 0.3
        masks[..., 0] = True
        for named in ({}, {"is_causal": True}, {"scale": 0.3}, {"attn_mask": masks},
                      {"attn_mask": torch.randn(5, 5)}, {"dropout_p": 0.5}):
            with self.subTest(**named):
                block = Block(**named)
                recorder = self.same_with_hook(block, x, item=1, vectors=True)
                call = recorder.calls[0]
                if not named.get("dropout_p"):
                    np.testing.assert_allclose(call.map @ call.v, block(x)[1].detach(), atol=1e-6)
                self.assertEqual(call.causal, bool(named.get("is_causal")))
                self.assertAlmostEqual(call.scale, named.get("scale", 0.5))

    def test_grouped_queries_repeat_their_keys(self):
        q, k, v = torch.randn(4, 5, 8), torch.randn(2, 5, 8), torch.randn(2, 5, 8)
        with hook() as recorder:
            try:
                F.scaled_dot_product_attention(q, k, v, enable_gqa=True)
            except (TypeError, RuntimeError):
                pass  # older versions of PyTorch have no grouped queries
        scores = q @ k.repeat_interleave(2, 0).transpose(-2, -1) / math.sqrt(8)
        np.testing.assert_allclose(recorder.calls[0].map, scores.softmax(-1), atol=1e-6)

    def test_layers_steps_and_memory(self):
        layer = nn.TransformerEncoderLayer(16, 4, 32, batch_first=True)
        model = nn.TransformerEncoder(layer, 3)
        x = torch.randn(1, 6, 16)
        one = 4 * 6 * 6 * 4  # bytes of a map
        with hook(model, layers=[0, 2], every=3, steps=2) as recorder:
            for _ in range(10):
                model(x)
        self.assertEqual(recorder.steps, [6, 9])
        self.assertEqual([(call.step, call.layer) for call in recorder.calls],
                         [(6, 0), (6, 2), (9, 0), (9, 2)])
        with hook(model, steps=5, most_bytes=4 * one) as recorder:
            for _ in range(3):
                model(x)
        self.assertEqual(recorder.steps, [2])
        with hook(model, most_bytes=2 * one) as recorder:
            model(x)
        self.assertEqual((len(recorder.calls), recorder.dropped), (2, 1))
        with hook(model) as recorder:  # another model's attention is not recorded
            nn.TransformerEncoder(layer, 1)(x)
        self.assertEqual(recorder.calls, [])

    @unittest.skipIf(attnscope is None, "the package is not built")
    def test_a_step_is_a_trace(self):
        layer = nn.TransformerEncoderLayer(16, 4, 32, batch_first=True)
        model = nn.TransformerEncoder(layer, 3)
        with hook(model, vectors=True) as recorder:
            model(torch.randn(1, 6, 16), mask=torch.ones(6, 6, dtype=torch.bool).triu(1))
        trace = recorder.trace(tokens=list("attend"))
        self.assertTrue(trace.causal)
        self.assertEqual(trace.tokens, list("attend"))
        for shown, call in zip(trace.maps, recorder.calls):
            np.testing.assert_array_equal(shown, call.map)
        np.testing.assert_array_equal(trace.v[2], recorder.calls[2].v)
        self.assertEqual(len(attnscope.spectrum(trace)), 12)
        self.assertEqual(len(attnscope.heads(trace, at_entropy=0.5)), 12)
        scores = attnscope.spectrum(trace, of="scores")[5]["singular_values"]
        q, k = recorder.calls[1].q[1], recorder.calls[1].k[1]
        np.testing.assert_allclose(scores[:4], np.linalg.svd(q @ k.T / 2, compute_uv=False)[:4],
                                   rtol=1e-4)

    def test_everything_is_restored(self):
        forward, layer = nn.MultiheadAttention.forward, torch._transformer_encoder_layer_fwd
        module = nn.MultiheadAttention(16, 4)
        with self.assertRaises(ZeroDivisionError):
            with hook(module):
                raise ZeroDivisionError
        self.assertIs(nn.MultiheadAttention.forward, forward)
        self.assertIs(torch._transformer_encoder_layer_fwd, layer)
        self.assertNotIn("forward", vars(module))

    def test_wrong_settings_are_named(self):
        with self.assertRaisesRegex(ValueError, "every must be at least 1"):
            hook(None, every=0)
        with self.assertRaisesRegex(ValueError, "no attention was recorded"):
            hook(None).trace()

    def test_half_precision_and_autocast(self):
        module = nn.MultiheadAttention(16, 4, batch_first=True).to(torch.bfloat16)
        x = torch.randn(1, 5, 16, dtype=torch.bfloat16)
        self.assertEqual(self.same_with_hook(module, x, x, x).calls[0].map.dtype, np.float32)
        module = nn.MultiheadAttention(16, 4, batch_first=True)
        with torch.autocast("cpu", dtype=torch.bfloat16):
            self.same_with_hook(module, x.float(), x.float(), x.float())


def exact_maps(attention, x, mask=0.0):
    """softmax(q kᵀ · scale + mask) of an attention module in float64, [batch, heads, N, M]."""
    with torch.no_grad():
        q, k, _ = attention.vectors(x)
    q, k = (one.double().numpy() for one in (q, k))
    k = np.repeat(k, q.shape[1] // k.shape[1], axis=1)
    scores = q @ k.swapaxes(-1, -2) / math.sqrt(q.shape[-1]) + mask
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    return weights / weights.sum(-1, keepdims=True)


def inputs_of(model, modules, *inputs):
    """The first input of each module in a forward pass of the model."""
    seen = []
    handles = [one.register_forward_pre_hook(lambda _, given: seen.append(given[0].detach()))
               for one in modules]
    with torch.no_grad():
        model(*inputs)
    for handle in handles:
        handle.remove()
    return seen


@unittest.skipIf(torch is None, "PyTorch is not installed")
class ShapedModelsTest(HookCase):
    """Modules with the structure and the calls of timm and of Hugging Face's transformers."""

    def test_timm_fused_and_unfused(self):
        x = torch.randn(2, 7, 12)
        for fused in (True, False):
            with self.subTest(fused=fused):
                model = shaped_models.PatchTransformer(fused)
                recorder = self.same_with_hook(model, x, item=1)
                attentions = [block.attn for block in model.blocks]
                self.assertEqual([call.layer for call in recorder.calls], [0, 1, 2])
                inputs = inputs_of(model, attentions, x)
                for call, attention, given in zip(recorder.calls, attentions, inputs):
                    self.assertEqual((call.map.dtype, call.causal), (np.float32, False))
                    np.testing.assert_allclose(call.map, exact_maps(attention, given)[1], atol=1e-5)

    def test_timm_with_dropout_in_training(self):
        for fused in (True, False):
            with self.subTest(fused=fused):
                model = shaped_models.PatchTransformer(fused, drop=0.3)
                recorder = self.same_with_hook(model, torch.randn(2, 7, 12))
                for call in recorder.calls:  # before dropout: rows sum to one
                    np.testing.assert_allclose(call.map.sum(-1), 1, atol=1e-5)

    def test_hugging_face_attention_functions(self):
        ids = torch.randint(11, (2, 6))
        later = np.triu(np.full((6, 6), -np.inf), 1)
        for name in shaped_models.ATTENTIONS:
            with self.subTest(name):
                model = shaped_models.TextTransformer(name)
                recorder = self.same_with_hook(model, ids, item=1)
                attentions = [layer.self_attn for layer in model.layers]
                self.assertEqual(len(recorder.calls), 3)
                inputs = inputs_of(model, attentions, ids)
                for call, attention, given in zip(recorder.calls, attentions, inputs):
                    self.assertTrue(call.causal)
                    expected = exact_maps(attention, given, later)[1]
                    np.testing.assert_allclose(call.map, expected, atol=1e-5)

    def test_hugging_face_padding(self):
        ids = torch.randint(11, (2, 6))
        padding = torch.tensor([[False] * 6, [True] * 2 + [False] * 4])
        hidden = np.triu(np.full((6, 6), -np.inf), 1)
        hidden[:, :2] = -np.inf
        for name in ("sdpa", "eager"):
            with self.subTest(name):
                model = shaped_models.TextTransformer(name, depth=1)
                recorder = self.same_with_hook(model, ids, padding, item=1)
                attention = model.layers[0].self_attn
                given, = inputs_of(model, [attention], ids, padding)
                expected = exact_maps(attention, given, hidden + np.zeros((6, 6)))[1][:, 2:]
                np.testing.assert_allclose(recorder.calls[0].map[:, 2:], expected, atol=1e-5)

    def test_half_precision(self):
        model = shaped_models.TextTransformer("eager").to(torch.bfloat16)
        recorder = self.same_with_hook(model, torch.randint(11, (1, 6)))
        self.assertEqual(recorder.calls[0].map.dtype, np.float32)

    def test_layers_steps_and_memory_of_softmax(self):
        model = shaped_models.TextTransformer("eager")
        ids = torch.randint(11, (1, 6))
        with hook(model, layers=[0, 2], every=2, steps=2) as recorder:
            for _ in range(4):
                model(ids)
        self.assertEqual([(call.step, call.layer) for call in recorder.calls],
                         [(0, 0), (0, 2), (2, 0), (2, 2)])
        with hook(model, most_bytes=2 * 4 * 6 * 6 * 4) as recorder:
            model(ids)
        self.assertEqual((len(recorder.calls), recorder.dropped), (2, 1))

    @unittest.skipIf(attnscope is None, "the package is not built")
    def test_a_step_of_softmax_is_a_trace_without_vectors(self):
        model = shaped_models.TextTransformer("eager")
        with hook(model, vectors=True) as recorder:
            model(torch.randint(11, (1, 6)))
        trace = recorder.trace()
        self.assertTrue(trace.causal)
        self.assertIsNone(trace.q[0])
        self.assertIsNone(recorder.calls[0].scale)
        np.testing.assert_array_equal(trace.maps[1], recorder.calls[1].map)

    def test_chosen_modules(self):
        class Mixer(nn.Module):  # attention by another name
            def forward(self, x):
                return (x @ x.transpose(-2, -1)).softmax(-1) @ x

        model = nn.Sequential(Mixer(), nn.Identity(), Mixer())
        x = torch.randn(1, 2, 5, 4)
        with hook(model) as recorder:
            model(x)
        self.assertEqual(recorder.calls, [])
        for modules, count in ((["0"], 1), (["0", "2"], 2), (["*"], 2), ("[02]", 2), ([], 0)):
            with self.subTest(modules=modules):
                recorder = self.same_with_hook(model, x, modules=modules)
                self.assertEqual(len(recorder.calls), count)
        np.testing.assert_allclose(
            self.same_with_hook(model, x, modules=["0"]).calls[0].map,
            (x @ x.transpose(-2, -1)).softmax(-1)[0], atol=1e-6)
        with self.assertRaisesRegex(ValueError, "no such module"):
            hook(model, modules=["3"]).__enter__()
        with self.assertRaisesRegex(ValueError, "those of a model"):
            hook(modules=["0"])

    def test_other_softmax_is_not_recorded(self):
        class GatedAttention(nn.Module):
            def forward(self, x):
                gate = x.mean(-1).softmax(-1)  # three axes
                over_queries = (x @ x.transpose(-2, -1)).softmax(-2)
                return over_queries @ x * gate[..., None]

        recorder = self.same_with_hook(GatedAttention(), torch.randn(1, 2, 5, 4))
        self.assertEqual(recorder.calls, [])

    def test_everything_of_softmax_is_restored(self):
        names = ((torch, "softmax"), (F, "softmax"), (torch.Tensor, "softmax"),
                 (shaped_models, "imported_softmax"), (shaped_models.TextAttention, "forward"),
                 (shaped_models.TextTransformer, "forward"))
        before = [(name in vars(owner), getattr(owner, name)) for owner, name in names]
        model = shaped_models.TextTransformer("imported")
        with self.assertRaises(ZeroDivisionError):
            with hook(model):
                self.assertIsNot(getattr(*names[3]), before[3][1])
                raise ZeroDivisionError
        for (owner, name), (was_own, function) in zip(names, before):
            self.assertEqual(name in vars(owner), was_own)
            self.assertIs(getattr(owner, name), function)

    def test_copies_and_saved_models_keep_their_own_weights(self):
        model = shaped_models.TextTransformer("eager")
        ids = torch.randint(11, (1, 6))
        with hook(model) as recorder:
            other = copy.deepcopy(model)
            nn.init.zeros_(other.lm_head.weight)
            nn.init.ones_(other.lm_head.bias)
            self.assertTrue(torch.equal(other(ids), torch.ones(1, 6, 11)))
            self.assertEqual(recorder.calls, [])  # the copy is another model
            torch.save(model, io.BytesIO())

    def test_scripted_modules_run_as_they_are(self):
        model = nn.Sequential(torch.jit.script(nn.Softmax(-1)), nn.Identity())
        self.assertEqual(self.same_with_hook(model, torch.randn(1, 2, 3, 3)).calls, [])

    def test_other_threads_are_not_recorded(self):
        model = shaped_models.TextTransformer("eager")
        ids = torch.randint(11, (1, 6))
        with hook(model) as recorder:
            thread = threading.Thread(target=model, args=(ids,))
            thread.start()
            thread.join()
            self.assertEqual(recorder.calls, [])
            model(ids)
        self.assertEqual([call.step for call in recorder.calls], [0, 0, 0])


if __name__ == "__main__":
    unittest.main()
