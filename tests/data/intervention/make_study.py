#!/usr/bin/python3
"""Made-up answers to twelve images and to nine chunks of a text, and what NumPy says of them.

    python3 make_study.py > study.json

Errors of texts are by bootstrap: 1000 resamples of the chunks with MT19937, seed 0, drawn as
floor(u n / 2^32).
"""

import json

import numpy as np

LN2 = np.log(2)


def mt19937(seed):
    """32-bit numbers as std::mt19937 has them."""
    return np.random.RandomState(seed)


def ratios(case, picked, column):
    rows = {name: np.asarray(case[name]) for name in case}
    predicted = rows["predicted"][picked].sum()
    correct = rows["correct"][picked]
    finite = predicted - rows["not_finite"][picked, column].sum()
    bits = rows["nats"][picked, column].sum() / LN2
    characters = rows["characters"][picked].sum()
    return np.array([correct[:, column].sum() / predicted,
                     (correct[:, column] - correct[:, 0]).sum() / predicted,
                     rows["divergence"][picked, column].sum() / finite,
                     bits / finite,
                     bits / characters if characters and finite == predicted else np.nan])


def of_text(case, column):
    n = len(case["predicted"])
    values = ratios(case, np.arange(n), column)
    random = mt19937(0)
    samples = []
    for _ in range(1000):
        u = random.randint(0, 2**32, size=n, dtype=np.uint32).astype(np.uint64)
        samples.append(ratios(case, ((u * n) >> 32).astype(int), column))
    errors = np.std(samples, axis=0)
    return named(values, errors)


def named(values, errors):
    names = ["accuracy", "accuracy_change", "divergence", "bits_per_token", "bits_per_character"]
    found = {}
    for name, value, error in zip(names, values, errors):
        if np.isfinite(value):
            found[name], found[name + "_error"] = float(value), float(error)
    return found


def of_images(case, column):
    n = len(case["predicted"])
    values = ratios(case, np.arange(n), column)
    finite = np.asarray(case["not_finite"])[:, column] == 0
    mean_error = lambda x: np.std(x[finite]) / np.sqrt(finite.sum() - 1)
    correct = np.asarray(case["correct"])
    change = correct[:, column] - correct[:, 0]
    p = values[0]
    errors = [np.sqrt(p * (1 - p) / n), np.sqrt((change**2).sum() - change.sum() ** 2 / n) / n,
              mean_error(np.asarray(case["divergence"])[:, column]),
              mean_error(np.asarray(case["nats"])[:, column] / LN2), np.nan]
    return named(values, errors)


def made(seed, n, text):
    r = np.random.RandomState(seed)
    predicted = r.randint(20, 60, n) if text else np.ones(n, int)
    correct = np.stack([r.binomial(predicted, 0.7), r.binomial(predicted, 0.5)], 1)
    nats = np.round(predicted[:, None] * r.uniform(0.2, 2, (n, 2)), 4)
    divergence = np.round(predicted[:, None] * r.uniform(0, 1, (n, 2)) * [0, 1], 4)
    not_finite = np.zeros((n, 2), int)
    if not text:
        not_finite[3, 1], correct[3, 1], nats[3, 1], divergence[3, 1] = 1, 0, 0, 0
    return {"predicted": predicted.tolist(),
            "characters": (predicted * 4 if text else predicted * 0).tolist(),
            "correct": correct.tolist(), "not_finite": not_finite.tolist(),
            "nats": nats.tolist(), "divergence": divergence.tolist()}


def main():
    cases = {}
    for name, of, case in [("images", of_images, made(1, 12, False)),
                           ("text", of_text, made(2, 9, True))]:
        outcomes = [of(case, column) for column in range(2)]
        flat = {key: np.asarray(value).ravel().tolist() for key, value in case.items()}
        cases[name] = {**flat, "outcomes": outcomes}
    print(json.dumps(cases, indent=1))


main()
