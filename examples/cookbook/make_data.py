"""Makes `data/NAME.npz`, the inputs of the programs, and `tests/data/NAME.npz`, smaller inputs with the results of the
programs in Python.

    PYTHONPATH=src python make_data.py [NAME..]

Needs NumPy, SciPy, FINUFFT and PyTorch.
"""
import sys

import numpy as np

import cg_sense
import deconvolution
import dbscan
import fourier_shell_correlation
import gaussian_process
import gray_scott
import kalman_filter
import kuramoto_sivashinsky
import lattice_boltzmann
import particle_filter
import registration
import schroedinger
import tomography


def grid(*sizes):
    return np.meshgrid(*[np.linspace(-1, 1, n) for n in sizes], indexing="ij")


def spots(rng, n, count, width):
    """An image with round spots."""
    y, x = grid(n, n)
    places = rng.uniform(-0.8, 0.8, (count, 2))
    return sum(np.exp(-((y - a) ** 2 + (x - b) ** 2) / width**2) for a, b in places)


def phantom(n):
    y, x = grid(n, n)
    image = 1.0 * ((y / 0.9) ** 2 + (x / 0.7) ** 2 < 1)
    image -= 0.6 * ((y / 0.8) ** 2 + (x / 0.6) ** 2 < 1)
    image += 0.3 * (((y - 0.3) / 0.3) ** 2 + ((x + 0.2) / 0.15) ** 2 < 1)
    image += 0.5 * ((y + 0.35) ** 2 + (x - 0.15) ** 2 < 0.15**2)
    return image


def deconvolution_data(rng, is_small):
    n = 24 if is_small else 96
    y, x = grid(n, n)
    psf = np.exp(-(y**2 + x**2) / (2 * (4 / n) ** 2))
    psf = np.roll(psf / psf.sum(), (n % 2 == 0, n % 2 == 0), (0, 1))
    true = 200 * spots(rng, n, 25, 3 / n) + 5
    blurred = np.fft.irfft2(np.fft.rfft2(true) * np.fft.rfft2(np.fft.ifftshift(psf)), s=true.shape)
    image = rng.poisson(np.maximum(blurred, 0)).astype(float)
    steps = 5 if is_small else 60
    found = deconvolution.richardson_lucy(image, psf, steps)
    return dict(image=image, psf=psf, steps=steps), dict(found=found)


def registration_data(rng, is_small):
    n, shift = (20, np.array([2.3, -1.6])) if is_small else (96, np.array([-7.36, 12.58]))
    reference = spots(rng, n, 12, 0.2)
    moved = registration.shifted(reference, shift) + 0.02 * rng.standard_normal((n, n))
    found = registration.shift_between(reference, moved, 50)
    return dict(reference=reference, moved=moved, upsampling=50), dict(
        shift=found, registered=registration.shifted(moved, -np.array(found)))


def kalman_filter_data(rng, is_small):
    times = 12 if is_small else 100
    model = np.eye(4) + np.diag([1.0, 1.0], 2)
    observed = np.eye(2, 4)
    noise = 0.02 * np.array([[0.25, 0, 0.5, 0], [0, 0.25, 0, 0.5], [0.5, 0, 1, 0], [0, 0.5, 0, 1]])
    x, positions = np.array([0, 0, 0.5, 1.0]), []
    for _ in range(times):
        x = model @ x + rng.multivariate_normal(np.zeros(4), noise)
        positions.append(observed @ x + 2 * rng.standard_normal(2))
    positions = np.stack(positions)
    states, deviations = kalman_filter.kalman_filter(positions, model, observed, noise, 4 * np.eye(2))
    return dict(positions=positions, model=model, observed=observed, model_noise=noise, position_noise=4 * np.eye(2)), dict(
        states=states, deviations=deviations)


def particle_filter_data(rng, is_small):
    times, n = (8, 50) if is_small else (60, 400)
    x, states, observations = 0.0, [], []
    for t in range(times):
        x = x / 2 + 25 * x / (1 + x**2) + 8 * np.cos(1.2 * t) + np.sqrt(10) * rng.standard_normal()
        states.append(x)
        observations.append(x**2 / 20 + rng.standard_normal())
    observations = np.array(observations)
    particles = 2 * rng.standard_normal(n)
    noise, offsets = np.sqrt(10) * rng.standard_normal((times, n)), rng.uniform(size=times)
    means = particle_filter.particle_filter(observations, particles, noise, offsets)
    return dict(states=np.array(states), observations=observations, particles=particles, noise=noise, offsets=offsets), dict(means=means)


def lattice_boltzmann_data(rng, is_small):
    rows, columns, steps = (12, 20, 6) if is_small else (80, 240, 8000)
    y, x = np.mgrid[:rows, :columns]
    obstacle = (y - 0.46 * rows) ** 2 + (x - columns / 5) ** 2 < (rows / 9) ** 2
    velocity = lattice_boltzmann.flow(obstacle, 0.1, 0.01, steps) if is_small else None
    return dict(obstacle=obstacle, speed=0.1, viscosity=0.01, steps=steps), dict(velocity=velocity)


def kuramoto_sivashinsky_data(rng, is_small):
    n, length, steps, every = (32, 22.0, 20, 5) if is_small else (256, 32 * np.pi, 600, 2)
    x = length * np.arange(n) / n
    u = np.cos(2 * np.pi * x / length) * (1 + np.sin(2 * np.pi * x / length))
    states = kuramoto_sivashinsky.kuramoto_sivashinsky(u, length, 0.25, steps, every)
    return dict(u=u, length=length, dt=0.25, steps=steps, every=every), dict(states=states)


def gpt_data(rng, is_small):
    import torch

    import gpt

    text = " ".join(["one two three four five six seven eight nine ten eleven twelve"] * 40)
    letters = sorted(set(text))
    numbers = np.array([letters.index(c) for c in text])
    width, heads, layers, length, batch, steps = (8, 2, 1, 6, 2, 3) if is_small else (32, 4, 2, 32, 8, 150)

    def normal(*shape):
        return rng.standard_normal(shape) * 0.5 / np.sqrt(width)

    p = {"tokens": normal(len(letters), width), "positions": normal(length, width)}
    p["blocks"] = [
        {"qkv": normal(width, 3 * width), "out": normal(width, width), "up": normal(width, 4 * width),
         "up_bias": np.zeros(4 * width), "down": normal(4 * width, width)}
        for _ in range(layers)
    ]
    data = {"tokens": p["tokens"], "positions": p["positions"]}
    data |= {f"blocks.{i}.{name}": array for i, block in enumerate(p["blocks"]) for name, array in block.items()}
    starts = rng.integers(0, len(numbers) - length - 1, (steps, batch))
    batches = np.stack([[numbers[s : s + length + 1] for s in row] for row in starts])

    def tensors(arrays):
        return {name: torch.tensor(array) for name, array in arrays.items()}

    blocks = [gpt.Block(**tensors(block)) for block in p.pop("blocks")]
    losses = gpt.train(gpt.Gpt(**tensors(p), blocks=blocks), torch.tensor(batches), heads, 0.01)
    return data | dict(batches=batches, heads=heads, rate=0.01), dict(losses=np.array(losses))


def cg_sense_data(rng, is_small):
    n, n_coils, spokes = (16, 2, 10) if is_small else (48, 4, 14)
    y, x = grid(n, n)
    angles = np.pi * np.arange(n_coils) * 2 / n_coils
    coils = np.stack([np.exp(-((y - np.sin(a)) ** 2 + (x - np.cos(a)) ** 2) + 0.5j * y * a) for a in angles])
    radius, angle = np.meshgrid(np.linspace(-np.pi, np.pi, 2 * n, endpoint=False), np.pi * np.arange(spokes) / spokes)
    ky, kx = (radius * np.sin(angle)).ravel(), (radius * np.cos(angle)).ravel()
    density = np.maximum(np.abs(radius), np.pi / n).ravel() / ky.size
    image = phantom(n) * np.exp(0.3j * x)
    signals = cg_sense.finufft.nufft2d2(ky, kx, coils * image, eps=1e-9, isign=-1)
    signals += 0.5 * (rng.standard_normal(signals.shape) + 1j * rng.standard_normal(signals.shape))
    steps = 4 if is_small else 15
    found = cg_sense.cg_sense(signals, ky, kx, coils, density, steps)
    return dict(signals=signals, ky=ky, kx=kx, density=density, coils=coils, steps=steps), dict(real=found.real, imag=found.imag)


def gaussian_process_data(rng, is_small):
    n, m = (15, 5) if is_small else (60, 200)
    x = np.sort(rng.uniform(-4, 4, n))[:, None]
    y = np.sin(2 * x) * np.exp(-(x**2) / 8) + 0.1 * rng.standard_normal((n, 1))
    new = np.linspace(-6, 6, m)[:, None]
    p, mean, deviation = gaussian_process.fit_and_predict(x, y, new)
    return dict(x=x, y=y, new=new), dict(p=p, mean=mean, deviation=deviation)


def dbscan_data(rng, is_small):
    n = 20 if is_small else 300
    angle = np.pi * rng.uniform(size=n)
    moons = np.concatenate([np.stack([np.cos(angle), np.sin(angle)], 1), np.stack([1 - np.cos(angle), 0.5 - np.sin(angle)], 1)])
    points = np.concatenate([moons + 0.06 * rng.standard_normal(moons.shape), rng.uniform([-1.5, -1], [2.5, 1.5], (n // 4, 2))])
    radius, least = (0.3, 3) if is_small else (0.13, 6)
    return dict(points=points, radius=radius, min_points=least), dict(labels=dbscan.dbscan(points, radius, least))


def fourier_shell_correlation_data(rng, is_small):
    n = 8 if is_small else 24
    z, y, x = grid(n, n, n)
    particle = sum(np.exp(-((z - a) ** 2 + (y - b) ** 2 + (x - c) ** 2) / 0.02) for a, b, c in rng.uniform(-0.6, 0.6, (30, 3)))
    first, second = particle + 0.5 * rng.standard_normal((2, n, n, n))
    found = fourier_shell_correlation.fourier_shell_correlation(first, second)
    return dict(first=first, second=second), dict(found=found)


def gray_scott_data(rng, is_small):
    n, steps = (16, 5) if is_small else (128, 5000)
    u, v = np.ones((n, n)), np.zeros((n, n))
    for y, x in rng.integers(0, n, (12, 2)):
        u[y : y + n // 12, x : x + n // 12], v[y : y + n // 12, x : x + n // 12] = 0.5, 0.25
    found = gray_scott.gray_scott(u, v, 0.037, 0.06, steps)
    return dict(u=u, v=v, feed=0.037, kill=0.06, steps=steps), dict(u_found=found[0], v_found=found[1])


def tomography_data(rng, is_small):
    from scipy.ndimage import rotate

    width, count = (16, 6) if is_small else (96, 120)
    angles = np.pi * np.arange(count) / count
    image = phantom(width)
    sums = np.stack([rotate(image, np.degrees(a), reshape=False, order=1).sum(axis=0) for a in angles])
    return dict(sums=sums, angles=angles), dict(image=tomography.back_projection(sums, angles))


def schroedinger_data(rng, is_small):
    n, steps = (16, 4) if is_small else (96, 250)
    dx = 20 / n
    y, x = np.meshgrid(dx * (np.arange(n) - n / 2), dx * (np.arange(n) - n / 2), indexing="ij")
    psi = np.exp(-((x + 5) ** 2 + y**2) / 2 + 5j * x)
    slits = (np.abs(np.abs(y) - 1.2) < 0.5) | (np.abs(x) > 0.3)
    potential = np.where(slits, 0.0, 200.0)
    return dict(psi=psi, potential=potential, dx=dx, dt=0.008, steps=steps), dict(
        density=schroedinger.schroedinger(psi, potential, dx, 0.008, steps))


if __name__ == "__main__":
    for name, make in list(globals().items()):
        name, is_data = name.removesuffix("_data"), name.endswith("_data")
        if is_data and name in (sys.argv[1:] or [name]):
            inputs, _ = make(np.random.default_rng(1), is_small=False)
            np.savez_compressed(f"data/{name}.npz", **inputs)
            inputs, results = make(np.random.default_rng(1), is_small=True)
            np.savez_compressed(f"tests/data/{name}.npz", **inputs, **results)
