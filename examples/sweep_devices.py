"""How the arithmetic of every device errs, over many shapes: a sweep on all cores, a table, and a picture.

    python examples/sweep_devices.py [SHAPES] [ADDRESS]

For each device and shape, a product of fp16 matrices with sums in fp32 is computed as the device does it, bit for bit,
beside the exact one. SHAPES: how many for each device, 200 by default; ADDRESS: of a farm, such as dask://host:8786.
The picture, errors.svg, needs matplotlib.
"""

import sys

import numpy as np

import coopmat as cm

LONGEST = 4096


def devices():
    """The architectures that multiply fp16."""
    return [one.architecture for one in cm.devices() if one.name.startswith("sim:") and (
        one.description.any_combination or any(row.atype == "fp16" and row.ctype == "fp32"
                                               for row in one.matrix_combinations))]


def error_of(configuration):
    """The largest error of a product, beside the sum of the magnitudes that were added."""
    architecture, m, n, k = configuration
    rng = np.random.default_rng((m, n, k))
    a, b = rng.standard_normal((m, k)).astype(np.float16), rng.standard_normal((k, n)).astype(np.float16)
    found = cm.matrix_multiply_accumulate(a, b, np.zeros((m, n), np.float32), a_type="fp16", b_type="fp16",
                                          c_type="fp32", architecture=architecture)
    wide_a, wide_b = a.astype(np.float64), b.astype(np.float64)
    return float((np.abs(found - wide_a @ wide_b) / (np.abs(wide_a) @ np.abs(wide_b))).max())


def shapes(count):
    """Random shapes, K from 8 to LONGEST."""
    rng = np.random.default_rng(0)
    depths = np.exp2(rng.uniform(3, np.log2(LONGEST), count)).astype(int)
    return [(*map(int, rng.integers(1, 33, 2)), int(k)) for k in depths]


def draw(errors):
    """errors.svg: the error of each device against K."""
    try:
        from matplotlib import pyplot
    except ImportError:
        print("matplotlib is not here: no picture")
        return
    figure, axes = pyplot.subplots(figsize=(9, 5))
    for architecture, points in errors.items():
        points = sorted(points)
        axes.loglog([k for k, _ in points], [max(error, 1e-9) for _, error in points], ".", label=architecture, ms=3)
    axes.set(xlabel="K", ylabel="largest error / sum of magnitudes", title="fp16 products, sums in fp32")
    axes.legend(fontsize=7, ncols=2)
    figure.savefig("errors.svg")
    print("errors.svg written")


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    on = sys.argv[2] if len(sys.argv) > 2 else "local"
    errors = {}
    for outcome in cm.sweep(error_of, [(one, *shape) for one in devices() for shape in shapes(count)], on=on):
        architecture, _, _, k = outcome.configuration
        if outcome.error is None:
            errors.setdefault(architecture, []).append((k, outcome.value))
        else:
            print(architecture, outcome.error)
    print(f"{'device':<22}{'median error':>14}{'largest':>12}")
    for architecture, points in sorted(errors.items()):
        values = [error for _, error in points]
        print(f"{architecture:<22}{np.median(values):14.2e}{max(values):12.2e}")
    draw(errors)


if __name__ == "__main__":
    main()
