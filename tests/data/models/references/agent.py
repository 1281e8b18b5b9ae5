"""Agent attention in DeiT, with its authors' names: LeapLabTHU/Agent-Attention, agent_transformer/models/agent_deit.py.

A map is what the layer adds up of the patches' values, A + T: agents collect values, queries collect from agents, and a
depthwise convolution T adds the values of neighbouring patches, in each channel. The map of a head has the mean of its
channels.
"""

import torch
import torch.nn.functional as F

from make_families import ACTIVATIONS, IMAGE, heads_of


def convolution_map(kernels, side, prefix):
    """T of each channel, [channels, N, N], for kernels [channels, 1, k, k]: what the convolution makes of images that
    are 1 at one patch."""
    patches = side * side
    images = torch.eye(patches).double().reshape(patches, 1, side, side).expand(-1, len(kernels), -1, -1)
    made = F.conv2d(images, kernels, padding=kernels.shape[-1] // 2, groups=len(kernels))
    return F.pad(made.flatten(2).permute(1, 2, 0), (prefix, 0, prefix, 0))


def agent_attention(w, x, maps, b, heads, agents, window):
    width, k = x.shape[1], agents
    q, key, v = (heads_of(part, heads) for part in w.linear(x, b + "qkv", 3 * width).chunk(3, -1))
    of_patches = q[:, 1:].transpose(1, 2).unflatten(-1, (window, window))
    agent = F.adaptive_avg_pool2d(of_patches, round(k**0.5)).flatten(2).transpose(1, 2)

    def coarse(name):
        table = w(b + name, heads, k, 7, 7)
        return F.interpolate(table, (window, window), mode="bilinear").flatten(2)

    scale = q.shape[-1] ** -0.5
    of_keys = coarse("an_bias") + (w(b + "ah_bias", 1, heads, k, window, 1) + w(b + "aw_bias", 1, heads, k, 1, window))[
        0].flatten(2)
    of_keys = torch.cat([w(b + "ac_bias", 1, heads, k, 1)[0], of_keys], -1)
    of_agents = coarse("na_bias").transpose(1, 2) + (
        w(b + "ha_bias", 1, heads, window, 1, k) + w(b + "wa_bias", 1, heads, 1, window, k))[0].flatten(1, 2)
    of_agents = torch.cat([w(b + "ca_bias", 1, heads, 1, k)[0], of_agents], 1)
    collected = (scale * agent @ key.transpose(1, 2) + of_keys).softmax(-1)
    weights = (scale * q @ agent.transpose(1, 2) + of_agents).softmax(-1) @ collected

    kernels = w(b + "dwc.weight", width, 1, 3, 3)
    near = convolution_map(kernels, window, 1)
    maps.append(weights + near.unflatten(0, (heads, -1)).mean(1))
    image = v[:, 1:].transpose(1, 2).reshape(1, width, window, window)
    term = F.conv2d(image, kernels, w(b + "dwc.bias", width), padding=1, groups=width)[0].flatten(1).T
    output = (weights @ v).transpose(0, 1).flatten(1)
    return w.linear(torch.cat([output[:1], output[1:] + term]), b + "proj", width)


def agent_deit(w, image, maps, *, width=48, heads=4, patch=8, agents=(9, 9), classes=7):
    x = torch.cat([w("cls_token", 1, 1, width)[0], w.patches(image, "patch_embed.proj", width, patch)])
    x = x + w("pos_embed", 1, len(x), width)[0]
    for i, count in enumerate(agents):
        b = f"blocks.{i}."
        x = x + agent_attention(w, w.norm(x, b + "norm1", 1e-6), maps, b + "attn.", heads, count,
                                image.shape[-1] // patch)
        h = ACTIVATIONS["gelu"](w.linear(w.norm(x, b + "norm2", 1e-6), b + "mlp.fc1", 2 * width))
        x = x + w.linear(h, b + "mlp.fc2", width)
    return w.linear(w.norm(x, "norm", 1e-6)[0], "head", classes)


CASES = {
    "agent_deit": (
        "Agent-DeiT", agent_deit, {}, IMAGE, None, {}, None, "blocks.1.attn.dwc.bias", "blocks.0.attn.q_norm.weight",
    ),
    "agent_deit_of_one_head": (
        "Agent-DeiT", agent_deit, dict(width=12, heads=1, patch=4, agents=(4, 9, 16)), IMAGE, None, {}, None,
        "blocks.2.attn.an_bias", "dist_token",
    ),
}
