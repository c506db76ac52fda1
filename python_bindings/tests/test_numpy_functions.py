# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""numpy's functions of expressions that the language has no function for, against numpy's own values."""

import calotype as ct
import pytest

np = pytest.importorskip("numpy")
x = ct.Var("x")

EDGES = [0.0, np.inf, -np.inf, np.nan, 1, -1, 1e-7, -1e-7, 88.5, -88.5, 8, -27, -0.9999999, 1e-4, -3.5, 6e4]


def values(dtype):
    random = np.random.default_rng(1)
    tiny, usual = random.normal(size=(2, 120)) * [[1e-4], [10]]
    return np.concatenate([EDGES, tiny, usual]).astype(dtype)


def computed(function, *arrays):
    f = ct.Func("f")
    f[x] = function(*(ct.Buffer(a)[x] for a in arrays))
    f.vectorize(x, 8, ct.TailStrategy.GuardWithIf)
    found = f.realize([len(arrays[0])])
    return [np.asarray(b) for b in (found if isinstance(found, tuple) else [found])]


def assert_near(found, expected, ulps):
    expected = expected.astype(found.dtype)
    with np.errstate(all="ignore"):
        near = np.abs(found - expected) <= ulps * np.spacing(np.abs(expected))
    assert np.all(near | (found == expected) | (np.isnan(found) & np.isnan(expected)))


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("name", ["cbrt", "log1p", "expm1", "modf"])
def test_functions_of_one_float(name, dtype):
    a = values(dtype)
    with np.errstate(all="ignore"):
        expected = getattr(np, name)(a)
    for f, e in zip(computed(getattr(np, name), a), expected if name == "modf" else [expected]):
        assert f.dtype == dtype
        assert_near(f, e, 3)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("name", ["fmax", "fmin", "copysign", "heaviside", "fmod", "logaddexp", "logaddexp2"])
def test_functions_of_two_floats(name, dtype):
    a = values(dtype)
    b = np.random.default_rng(2).permutation(a)
    if name == "fmod":  # of large quotients the language's remainder is inexact
        a, b = np.array([5.5, -5.5, 7, -7, 1, -0.25], dtype), np.array([2, 2, -2.5, 2.5, np.inf, 3], dtype)
    if name.startswith("log"):  # next to 0 the sum has fewer digits than its terms
        a, b = np.abs(a), np.abs(b)
    with np.errstate(all="ignore"):
        expected = getattr(np, name)(a, b)
    assert_near(computed(getattr(np, name), a, b)[0], expected, 4)


@pytest.mark.parametrize("dtype", [np.uint8, np.int16, np.int32])
def test_functions_of_integers(dtype):
    random = np.random.default_rng(3)
    a, b = random.integers(1, 100, (2, 64)).astype(dtype)
    if np.dtype(dtype).kind == "i":
        a *= random.choice([-1, 1], 64).astype(dtype)
    for name in ("fmod", "fmax", "fmin"):
        (found,) = computed(getattr(np, name), a, b)
        assert found.dtype == dtype and np.array_equal(found, getattr(np, name)(a, b)), name
    assert np.array_equal(computed(np.divmod, a, b), np.divmod(a, b))
    assert np.array_equal(computed(np.signbit, a)[0], a < 0)
    assert np.allclose(computed(np.cbrt, a)[0], np.cbrt(a.astype(np.float32)))
    assert computed(np.float_power, a, b)[0].dtype == np.float64


def test_bits():
    a = np.array([0.0, -0.0, 1, -2, np.inf, -np.inf], np.float32)
    assert np.array_equal(computed(np.signbit, a)[0], np.signbit(a))
    if hasattr(np, "bitwise_count"):  # from numpy 2 on
        i = np.array([0, 1, -1, 127, -128], np.int8)
        assert np.array_equal(computed(np.bitwise_count, i)[0], np.bitwise_count(i))


def test_arrays_of_expressions_and_numbers():
    e = ct.expr_array([1.5, -2.25])
    part, whole = np.modf(e)
    assert part.shape == whole.shape == (2,) and isinstance(part[0], ct.Expr)
    assert np.cbrt(e).shape == np.fmod(e, [1.0, 2.0]).shape == (2,)
    assert np.fmod(ct.u8(7), 3).type() == np.fmod(7, ct.u8(4)).type() == ct.UInt(8)
    half = ct.f16(1)
    assert np.heaviside(half, 0.5).type() == np.copysign(half, -1.0).type() == (half + 0.5).type()
    with pytest.raises(TypeError, match="numpy.nextafter has no counterpart"):
        np.nextafter(ct.f32(1), 2)
