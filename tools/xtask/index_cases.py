"""Lists of indices and NumPy's results: the data of tests/cpu/indexing_numpy.rs, written by `cargo xtask golden`.

One case per line: `op|shape of x|items|shape of the values|shape of the result|elements of the result`. The elements of
x are 0, 1, 2 .., and the values are 1000, 1001 .., all int64, in C order. Items are separated by spaces: Python's
slices, `...`, `NewAxis`, arrays of indices `i(2,2)=0,1,2,0`, and masks `m(2,3)=101100`. The result of `set` and `add_at`
is the changed array.
"""

import random
import sys

import numpy as np

DICE = random.Random(20261122)


def shape_text(shape):
    return ",".join(map(str, shape))


def item_text(item):
    if item is Ellipsis:
        return "..."
    if item is None:
        return "NewAxis"
    if isinstance(item, slice):
        parts = [item.start, item.stop] + ([] if item.step is None else [item.step])
        return ":".join("" if part is None else str(part) for part in parts)
    if isinstance(item, int):
        return str(item)
    elements = item.ravel()
    if item.dtype == bool:
        return f"m({shape_text(item.shape)})=" + "".join("01"[int(flag)] for flag in elements)
    return f"i({shape_text(item.shape)})=" + ",".join(map(str, elements))


def counting(shape, first=0):
    count = int(np.prod(shape, dtype=np.int64))
    return np.arange(first, first + count, dtype=np.int64).reshape(shape)


def case(op, shape, items, values_shape):
    x, values, index = counting(shape), counting(values_shape, 1000), tuple(items)
    if op == "get":
        x = x[index]
    elif op == "set":
        x[index] = values
    else:
        np.add.at(x, index, values)
    fields = [op, shape_text(shape), " ".join(map(item_text, items)), shape_text(values_shape)]
    return "|".join(fields + [shape_text(x.shape), ",".join(map(str, x.ravel()))])


def named():
    """Cases that are easily implemented wrongly: mixtures of arrays, numbers, slices and new axes."""
    all_, i, ii = slice(None), np.array([1, 0]), np.array([[1, 0], [0, 0]])
    m = np.array([[True, False, True], [False, True, True]])
    return [
        (all_, i, i), (i, all_, i), (0, all_, i), (all_, 0, i), (m,), (m, 2), (i, slice(1, None, 2), None, i),
        (Ellipsis, ii), (i, 0), (None, i, all_, 0), (np.array(True), all_, i), (all_, i, Ellipsis, i),
    ]  # fmt: skip


def number():
    return DICE.choice([None, None, None, *range(-4, 5)])


def indices(length, shape):
    flat = [DICE.randrange(-length, length) for _ in range(int(np.prod(shape, dtype=np.int64)))]
    return np.array(flat, np.int64).reshape(shape)


def items_for(shape):
    """A random list for an array of this shape. Its index arrays may be impossible to broadcast."""
    items, axis, common = [], 0, [DICE.choice([0, 1, 2, 2, 3, 3, 3]) for _ in range(DICE.choice([0, 1, 1, 2]))]
    rest = DICE.random() < 0.3
    while axis < len(shape) and DICE.random() < 0.95:
        length, what = shape[axis], DICE.random()
        if what < 0.1:
            items.append(None)
        elif what < 0.2 and rest:
            # the items after `...` select the last axes
            items.append(Ellipsis)
            rest, axis = False, DICE.randrange(axis, len(shape) + 1)
        elif what < 0.4:
            items.append(slice(number(), number(), DICE.choice([None, 1, 2, -1, -2])))
            axis += 1
        elif what < 0.5 and length:
            items.append(DICE.randrange(-length, length))
            axis += 1
        elif what < 0.93 and (length or 0 in common):
            # an index array may have axes of length 1, or lack leading axes
            own = [DICE.choice([n, n, n, n, 1]) for n in common[DICE.choice([0, 0, 0, len(common)]) :]]
            if length or 0 in own:
                items.append(indices(max(length, 1), own))
                axis += 1
        elif what >= 0.93:
            end = DICE.randrange(axis, len(shape) + 1)
            count = int(np.prod(shape[axis:end], dtype=np.int64))
            items.append(np.array([DICE.random() < 0.5 for _ in range(count)], bool).reshape(shape[axis:end]))
            axis = end
    return items


def values_for(shape, op):
    """A shape that broadcasts to this one."""
    own = [DICE.choice([n, n, n, 1]) for n in shape[DICE.randrange(len(shape) + 1) if DICE.random() < 0.5 else 0 :]]
    # values with more axes than the selection are legal for `set`, but np.add.at of NumPy 2.4 crashes
    return [1] * DICE.choice([0, 0, 0, 1]) + own if op == "set" and shape and len(own) == len(shape) else own


def at_random(op):
    while True:
        shape = [DICE.choice([0, 1, 2, 3, 3, 4, 4, 5, 5, 5]) for _ in range(DICE.choice([0, 1, 2, 2, 3, 3, 3, 4]))]
        items = items_for(shape)
        try:
            part = counting(shape)[tuple(items)].shape
            text = case(op, shape, items, values_for(part, op) if op != "get" else [])
        except (IndexError, ValueError, TypeError):
            continue
        # prefers lists with several arrays, and excludes long results
        arrays = sum(isinstance(item, np.ndarray) for item in items)
        if len(text) < 800 and DICE.random() < [0.05, 0.3, 1, 1, 1][min(arrays, 4)] * (1 if part and 0 not in part else 0.3):
            return text


def main():
    lines = [case("get", (2, 3, 4), items, []) for items in named()]
    lines += [at_random(op) for _ in range(70) for op in ("get", "set", "add_at")]
    with open(sys.argv[1], "w", encoding="ascii", newline="\n") as out:
        out.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
