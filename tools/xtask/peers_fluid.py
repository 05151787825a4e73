"""The plume of `examples/fluid` in Phi-ML: run by `cargo xtask peers examples fluid`.

    peers_fluid.py numpy|torch THREADS OURS OUT

The script starts from OURS/start.npz, a checkpoint of the example, makes as many steps as the example, and writes the
smoke to OUT/smoke.npy and the velocity to OUT/velocity.npy. Unlike the example, it makes no picture.
"""

import sys
import time

import numpy as np
from phiml import math
from phiml.math import channel, extrapolation, spatial

RATE, BUOYANCY, STEPS = 0.2, 0.06, 200


def stepper(shape, dt):
    """Returns a function that makes one step as in the example: it advects smoke and velocity, adds smoke, makes the
    smoke rise, and removes the divergence by the pressure."""
    size = spatial(y=shape[0], x=shape[1])
    cells = math.meshgrid(size)
    middle = (cells + 0.5) / math.wrap(shape, channel(vector="y,x"))
    source = RATE * math.exp(-math.sum((middle - math.wrap((0.12, 0.5), channel(vector="y,x"))) ** 2, "vector") / (2 * 0.03**2))
    waves = math.fftfreq(size)
    # the highest frequency of an even length has no real derivative
    waves = 2 * np.pi * math.where(waves == -0.5, 0.0, waves)
    inverse = math.safe_div(1.0, math.sum(waves**2, "vector"))
    up = math.wrap((1.0, 0.0), channel(vector="y,x"))

    def step(velocity, smoke):
        places = cells - dt * velocity
        smoke = math.grid_sample(smoke, places, extrapolation.PERIODIC)
        velocity = math.grid_sample(velocity, places, extrapolation.PERIODIC)
        smoke = math.minimum(smoke + dt * source, 1.0)
        velocity += up * (dt * BUOYANCY * (smoke - math.mean(smoke)))
        spectrum = math.fft(velocity)
        pressure = math.sum(waves * spectrum, "vector") * inverse
        return math.real(math.ifft(spectrum - waves * pressure)), smoke

    return step


def main(library, _threads, ours, out):
    math.use(library)
    start = time.perf_counter()
    file = np.load(f"{ours}/start.npz")
    math.set_global_precision(8 * file["density"].itemsize)
    velocity = math.tensor(np.stack([file["velocity_0"], file["velocity_1"]], -1), spatial("y,x"), channel(vector="y,x"))
    smoke = math.tensor(file["density"], spatial("y,x"))
    step = stepper(file["density"].shape, file["dt"].item())
    if library == "torch":
        step = math.jit_compile(step)
    for _ in range(STEPS):
        velocity, smoke = step(velocity, smoke)
    velocity, smoke = velocity.numpy("y,x,vector"), smoke.numpy("y,x")
    print("work", time.perf_counter() - start, sep="\t")
    np.save(f"{out}/velocity.npy", velocity)
    np.save(f"{out}/smoke.npy", smoke)


if __name__ == "__main__":
    main(*sys.argv[1:])
