#!/usr/bin/python3
"""Sounds, and the spectrum that Whisper's features are: whistle.wav, a rising tone in noise of 0.5 s; quiet_stereo.wav, two
channels at another rate; whistle_mel.npz, what PyTorch's STFT and mel bands written anew make of the first, followed by
silence up to 0.6 s.

    python3 make_sounds.py

From openai/whisper, whisper/audio.py; bands as librosa.filters.mel(sr=16000, n_fft=400, n_mels=…).
"""

import pathlib
import wave

import numpy as np
import torch

HERE = pathlib.Path(__file__).parent
RATE, WINDOW, HOP = 16000, 400, 160


def write(name, channels, rate):
    with wave.open(str(HERE / name), "wb") as file:
        file.setnchannels(len(channels))
        file.setsampwidth(2)
        file.setframerate(rate)
        file.writeframes(np.stack(channels, -1).astype("<i2").tobytes())


def mel_of(hertz):
    return np.where(hertz < 1000, hertz * 3 / 200, 15 + 27 * np.log(np.maximum(hertz, 1) / 1000) / np.log(6.4))


def bands(count):
    """[count, WINDOW / 2 + 1]: np.interp over the corners of each triangle, divided by half its width."""
    table = np.arange(0, 8000.01, 0.01)
    corners = np.interp(np.linspace(0, mel_of(8000.0), count + 2), mel_of(table), table)
    bins = np.arange(WINDOW // 2 + 1) * RATE / WINDOW
    return np.stack([np.interp(bins, [low, middle, high], [0, 1, 0]) * 2 / (high - low)
                     for low, middle, high in zip(corners, corners[1:], corners[2:])])


def spectrum(samples, frames, count):
    samples = torch.from_numpy(np.pad(samples, (0, frames * HOP - len(samples))))
    window = torch.hann_window(WINDOW, dtype=torch.float64)
    powers = torch.stft(samples, WINDOW, HOP, window=window, return_complex=True)[:, :-1].abs() ** 2
    logarithms = torch.from_numpy(bands(count)).matmul(powers).clamp(min=1e-10).log10()
    return ((torch.maximum(logarithms, logarithms.max() - 8) + 4) / 4).numpy().astype(np.float32)


def main():
    time = np.arange(RATE // 2) / RATE
    noise = np.random.default_rng(0).uniform(-1, 1, len(time))
    sound = 9000 * np.sin(2 * np.pi * (200 * time + 5000 * time**2)) + 400 * noise
    write("whistle.wav", [sound], RATE)
    write("quiet_stereo.wav", [np.arange(100), -3 * np.arange(100)], 8000)
    samples = sound.astype("<i2") / 32768
    np.savez_compressed(HERE / "whistle_mel.npz", **{f"mel_{n}": spectrum(samples, 60, n) for n in (80, 128)})


if __name__ == "__main__":
    main()
