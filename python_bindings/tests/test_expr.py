# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Expressions: types of operands, conversions, operators, what a bool of one says."""

import math
import warnings

import calotype as ct
import pytest


def value(e):
    return ct.evaluate(e)


def test_numbers_become_constants():
    assert ct.Expr(1).type() == ct.Int(32)
    assert ct.Expr(2**31).type() == ct.Int(64)
    assert ct.Expr(2**63).type() == ct.UInt(64)
    assert ct.Expr(1.5).type() == ct.Float(32)
    assert ct.Expr(True).type() == ct.Bool()
    with pytest.raises(ct.CompileError, match="does not fit in uint64"):
        ct.Expr(2**64)
    assert value(ct.f32(2**70)) == 2.0**70 and value(ct.f64(-(10**30))) == -1e30
    with pytest.raises(OverflowError):
        ct.f64(10**400)


def test_numbers_take_the_type_of_the_other_operand():
    u8, f64 = ct.u8(3), ct.f64(2.0)
    assert (u8 + 2).type() == ct.UInt(8)
    assert (2 + u8).type() == ct.UInt(8)
    assert (f64 * 0.1).type() == ct.Float(64)
    assert value(f64 * 0.1) == 0.2
    assert (ct.u32(0) + 0xFFFFFFFF).type() == ct.UInt(32)
    assert (ct.i32(0) + 2**31).type() == ct.Int(64)
    with pytest.raises(ct.CompileError, match="300 does not fit in the uint8"):
        u8 + 300


def test_fast_sine_and_cosine_take_all_numbers():
    assert abs(value(ct.fast_sin(ct.i32(2))) - 0.909297) < 1e-5
    assert abs(value(ct.fast_cos(ct.f64(2.0))) + 0.416147) < 1e-5
    assert ct.fast_cos(ct.f64(2.0)).type() == ct.Float(64)


def test_numpy_scalars_keep_a_type_that_was_chosen():
    numpy = pytest.importorskip("numpy")
    assert ct.Expr(numpy.uint8(3)).type() == ct.UInt(8)
    assert ct.Expr(numpy.float16(0.1)).type() == ct.Float(16)
    assert (ct.u8(0) + numpy.int32(3)).type() == ct.Int(32)
    assert ct.cast(numpy.uint16, ct.Var()).type() == ct.UInt(16)
    assert ct.cast(numpy.dtype("float32"), ct.Var()).type() == ct.Float(32)


def test_classes_that_have_a_dtype_are_types():
    """As jax.numpy.uint16."""
    numpy = pytest.importorskip("numpy")
    scalar = type("scalar", (), {"dtype": numpy.dtype("uint16")})
    assert ct.cast(scalar, ct.Var()).type() == ct.UInt(16)
    with pytest.raises(TypeError, match="cast"):
        ct.cast(type("other", (), {"dtype": "uint16"}), ct.Var())


def test_numpy_scalars_of_the_default_types_are_as_numbers_of_python():
    numpy = pytest.importorskip("numpy")
    x, y = ct.vars("x y")
    three, half = numpy.arange(4)[3], numpy.sqrt(0.25)
    assert (x + three).type() == (three * x).type() == ct.Expr(three).type() == ct.Int(32)
    assert (ct.u8(x) + three).type() == ct.UInt(8)
    assert (ct.f32(x) * half).type() == (half - ct.f32(x)).type() == ct.Expr(half).type() == ct.Float(32)
    assert (ct.f32(x) * numpy.array(0.5)).type() == ct.Float(32)
    assert (ct.f64(x) * half).type() == ct.Float(64)
    assert ct.Expr(numpy.int64(2**40)).type() == ct.Int(64)
    assert ct.select(x > 0, ct.f32(x), half).type() == ct.Float(32)
    f = ct.Func("f")
    f[x, y] = x + 10 * y
    g = ct.Func("g")
    g[x, y] = f[x * three, y + three]
    g[three, y] += half < 1
    assert g.realize([4, numpy.int64(2)])[three, 1] == 50
    with pytest.raises(ct.CompileError, match="300 does not fit in the uint8"):
        ct.u8(x) + numpy.int64(300)


def test_numpy_scalars_are_the_same_on_both_sides():
    numpy = pytest.importorskip("numpy")
    x = ct.Var()
    d, u = ct.f64(x), ct.u8(x)
    assert str(numpy.float64(0.1) * d) == str(0.1 * d)
    assert str(numpy.int64(3) * u) == str(3 * u)
    assert str(numpy.float64(0.1) + ct.f32(x)) == str(0.1 + ct.f32(x))
    for chosen in (numpy.int8(-3), numpy.uint16(60000), numpy.array(-3, numpy.int8)):
        constant = ct.Expr(chosen)
        assert str(chosen * u) == str(constant * u)
        assert str(chosen < u) == str(constant < u) and str(u == chosen) == str(u == constant)
        (of_array,) = numpy.array([chosen]) - u
        assert str(of_array) == str(constant - u)


def test_functions_of_python():
    e = ct.f32(ct.Var("x"))
    for made, expected in [
        (math.floor(e), ct.floor(e)),
        (math.ceil(e), ct.ceil(e)),
        (round(e), ct.round(e)),
        (divmod(e, 2)[0], e // 2),
        (divmod(e, 2)[1], e % 2),
        (divmod(2, e)[1], 2 % e),
    ]:
        assert str(made) == str(expected)
    for function in (float, int, lambda e: round(e, 2)):
        with pytest.raises(TypeError, match="argument must be a .*not '(calotype._core.)?Expr'|__round__.*incompatible"):
            function(e)


def test_a_float_that_float32_changes_visibly_is_warned_of():
    x = ct.Var()
    with pytest.warns(RuntimeWarning, match="0.12345678901234568 is rounded to float32"):
        x + 0.12345678901234568
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        x + 0.1
        ct.f64(0.12345678901234568)
    with pytest.raises(ct.CompileError, match="does not fit in float32"):
        x + 1e300


@pytest.mark.parametrize("a,b", [(7, 2), (-7, 2), (7, -2), (-7, -2)])
def test_integer_operators(a, b):
    x, y = ct.Expr(a), ct.Expr(b)
    quotient = (a - a % abs(b)) // b
    assert value(x + y) == a + b and value(x - y) == a - b and value(x * y) == a * b
    assert value(x / y) == quotient == value(x // y)
    assert value(x % y) == a % abs(b)
    assert value(x & y) == a & b and value(x | y) == a | b and value(x ^ y) == a ^ b
    assert value(-x) == -a and value(~x) == ~a and value(abs(x)) == abs(a)
    assert [value(x < y), value(x <= y), value(x > y), value(x >= y), value(x == y)] == [
        a < b,
        a <= b,
        a > b,
        a >= b,
        a == b,
    ]
    assert value(x != y) is (a != b)


def test_operators_with_numbers_on_the_left():
    x = ct.Expr(3)
    assert [value(e) for e in (10 - x, 10 * x, 10 // x, 10 % x, 1 << x, 2**x)] == [7, 30, 3, 1, 8, 8]
    assert value(7.5 // ct.Expr(2.0)) == 3.0


def test_shifts_by_numbers_keep_the_type():
    numpy = pytest.importorskip("numpy")
    x = ct.Expr(ct.u8(200))
    for e in (x << 1, x >> 1, ct.rounding_shift_left(x, 1), ct.rounding_shift_right(x, 1)):
        assert e.type() == ct.UInt(8)
    assert [value(x << 1), value(x >> 3), value(x << numpy.int64(1))] == [144, 25, 144]
    assert ct.widening_shift_left(x, 1).type() == ct.UInt(16)
    assert (x << ct.Expr(1)).type() == ct.UInt(32)
    for shift in (lambda: x << 8, lambda: x >> 2**40, lambda: x << 2**70):
        with pytest.raises(ct.CompileError, match="by 8, must be less than 8|is too far to shift"):
            shift()


def test_bools_combine():
    a, b = ct.Expr(True), ct.Expr(False)
    assert value(a & b) is False and value(a | b) is True
    assert value(~a) is False and value(ct.logical_not(b)) is True


def test_bool_of_an_expression_raises_with_a_hint():
    x, y = ct.vars("x y")
    for wrong in (lambda: x == 0 and y == 0, lambda: not (x > y), lambda: 0 < x < 10):
        with pytest.raises(ValueError, match="cannot be converted to a bool.*a & b"):
            wrong()


def test_wrong_operands():
    x = ct.Var("x")
    with pytest.raises(TypeError, match="for .: '(calotype._core.)?Var' and 'str'"):
        x + "text"
    with pytest.raises(TypeError, match="for .: '(calotype._core.)?Var' and 'NoneType'"):
        x + None


def test_min_max_select_mux():
    x = ct.Expr(5)
    assert value(ct.max(x, 3, 9)) == 9 and value(ct.min(x, 3, 9)) == 3
    assert ct.max(ct.u8(3), 4).type() == ct.UInt(8)
    assert value(ct.select(x > 3, 1, x > 2, 2, 3)) == 1
    assert value(ct.select(x > 7, (1, 2.0), (3, 4.0))) == (3, 4.0)
    assert value(ct.mux(x - 4, [10, 11, 12])) == 11
    pair = ct.Func()
    pair[ct.Var("v")] = (3, 2.0)
    pair.compute_inline()
    chosen = ct.Func()
    chosen[ct.Var("v")] = ct.select(ct.Var("v") > 7, (1, 4.0), pair[ct.Var("v")])
    assert [b[5] for b in chosen.realize([9])] == [3, 2.0]
    with pytest.raises(ct.CompileError, match="select has 2 arguments"):
        ct.select(x > 3, 1)
    with pytest.raises(ct.CompileError, match="stands beside"):
        ct.select((x < 3, x < 4), (x, x), x < 5, (x, x), (x, x))


def test_functions():
    assert value(ct.u8_sat(300)) == 255 and value(ct.u8(300)) == 44
    assert value(ct.sqrt(ct.f32(16.0))) == 4.0
    assert value(ct.clamp(ct.Expr(11), 0, 10)) == 10
    assert value(ct.lerp(ct.u8(0), ct.u8(100), ct.u8(255))) == 100
    assert value(ct.popcount(ct.u8(7))) == 3
    assert value(ct.absd(ct.u8(3), ct.u8(5))) == 2
    assert value(ct.saturating_add(ct.u8(250), ct.u8(10))) == 255
    assert value(ct.reinterpret(ct.UInt(32), ct.f32(1.0))) == 0x3F800000


def test_ranges():
    r = ct.Range(ct.u8(3), 5)
    assert r.min.type() == ct.UInt(8) and r.extent.type() == ct.Int(32)
    assert ct.Range(6 / 2, 5).min.type() == ct.Int(32)
    with pytest.raises(ct.CompileError, match="a Range from a min of type uint8 and an extent of type float32"):
        ct.Range(ct.u8(3), 0.5)
    with pytest.raises(ct.CompileError, match="is no pair of min and extent"):
        ct.Range((1, 2, 3))


def test_text_of_expressions():
    x = ct.Var("x")
    assert str(x + 1) == "x + 1"
    assert repr(x + 1).endswith(".Expr of type int32: x + 1>")
    assert repr(x).endswith(".Var 'x'>")
    assert repr(ct.Int(8, 4)).endswith(".Type int8x4>")


def test_functions_of_numpy():
    numpy = pytest.importorskip("numpy")
    x, y = ct.vars("x y")
    e, b = ct.f32(x), x > y
    for function, expected in [
        (lambda: numpy.sqrt(e), ct.sqrt(e)),
        (lambda: numpy.sin(x), ct.sin(x)),
        (lambda: numpy.arctan2(e, 2.0), ct.atan2(e, 2.0)),
        (lambda: numpy.maximum(e, 0), ct.max(e, 0)),
        (lambda: numpy.minimum(numpy.uint8(3), ct.u8(x)), ct.min(ct.u8(3), ct.u8(x))),
        (lambda: numpy.rint(e), ct.round(e)),
        (lambda: numpy.square(e), e * e),
        (lambda: numpy.add(e, 1), e + 1),
        (lambda: numpy.abs(e), ct.abs(e)),
        (lambda: numpy.less(numpy.float32(1), e), ct.f32(1) < e),
        (lambda: numpy.float32(2) * e, ct.f32(2) * e),
        (lambda: e - numpy.float64(2), e - 2),
        (lambda: numpy.float32(1) <= e, ct.f32(1) <= e),
        (lambda: numpy.logical_and(b, numpy.logical_not(b)), b & ~b),
        (lambda: numpy.isnan(e), ct.is_nan(e)),
        (lambda: numpy.logical_xor(b, b), b != b),
        (lambda: numpy.sign(x), ct.select(x > 0, 1, x < 0, -1, 0)),
        (lambda: numpy.deg2rad(e), e * ct.f32(math.pi / 180)),
        (lambda: numpy.degrees(ct.f64(x)), ct.f64(x) * (180 / math.pi)),
        (lambda: e * numpy.array(e), e * e),
    ]:
        assert isinstance(function(), ct.Expr)
        assert str(function()) == str(expected)
    for name in ("gcd", "ldexp", "frexp", "nextafter", "spacing"):
        with pytest.raises(TypeError, match=f"numpy.{name} has no counterpart for expressions"):
            getattr(numpy, name)(*[x] * getattr(numpy, name).nin)


def test_functions_of_numpy_of_arrays_of_expressions():
    """numpy asks the elements of such an array for a method of the function's name."""
    numpy = pytest.importorskip("numpy")
    x = ct.Var("x")
    several = numpy.arange(1, 4) * x
    names = "arccos arccosh arcsin arcsinh arctan arctanh cos cosh deg2rad degrees exp fabs log rad2deg radians rint"
    for name in (names + " sin sinh sqrt tan tanh floor ceil absolute").split():
        function = getattr(numpy, name)
        assert [str(e) for e in function(several)] == [str(function(e)) for e in several], name
    for values in (several, numpy.array([x, ct.RDom([(0, 3)]).x, ct.f32(x), ct.Param(ct.Float(32), "p")])):
        assert [str(e) for e in numpy.sqrt(values)] == [str(ct.sqrt(e)) for e in values]
        for binary in (numpy.hypot, numpy.arctan2):
            assert [str(e) for e in binary(values, 2.0)] == [str(binary(e, 2.0)) for e in values]


def test_arrays_of_expressions_choose_and_compare():
    """numpy's own functions of arrays of objects ask them for their values, which expressions do not have."""
    numpy = pytest.importorskip("numpy")
    x = ct.Var("x")
    made = numpy.array([1, 2, 3], numpy.float32) * ct.f32(x)
    written = ct.expr_array([x, 3, numpy.uint8(2)])
    assert [str(e.type()) for e in written] == ["int32", "int32", "uint8"]
    for a in (made, written, ct.expr_array([[x, 1], [2, 3]]), numpy.concatenate([made, written])):
        e = list(a.flat)
        for result, expected in [
            (numpy.maximum(a, 1), [ct.max(i, 1) for i in e]),
            (numpy.trunc(a), [ct.trunc(i) for i in e]),
            (numpy.isfinite(a + 0.5), [ct.is_finite(i + 0.5) for i in e]),
            (numpy.clip(a, 0, 3), [ct.min(ct.max(i, 0), 3) for i in e]),
            (a.clip(0, 3), [ct.min(ct.max(i, 0), 3) for i in e]),
            (a > 1, [i > 1 for i in e]),
            (numpy.where(a > 1, a, 0), [ct.select(i > 1, i, 0) for i in e]),
            (numpy.select([a > 1, a > 0], [a, 2 * a], 7), [ct.select(i > 1, i, i > 0, 2 * i, 7) for i in e]),
            (numpy.logical_and(a, x > 0), [(i != 0) & (x > 0) for i in e]),
            (numpy.round(a, 1), [ct.round(i * ct.f32(10)) / 10 for i in e]),
            ([a.ravel()[:2].max()], [ct.max(e[0], e[1])]),
            ([(a.ravel()[:2] > 0).any()], [(e[0] > 0) | (e[1] > 0)]),
        ]:
            assert [str(i) for i in numpy.ravel(result)] == [str(i) for i in expected]
    into, plain = made.copy(), numpy.empty(3, object)
    into += 1
    assert str(into[1]) == str(made[1] + 1)
    numpy.add(made, 1, out=plain)
    assert type(plain) is numpy.ndarray and str(plain[1]) == str(made[1] + 1)
    f = ct.Func("f")
    f[x] = made.var()
    assert list(f.realize([3])) == pytest.approx([numpy.var([x, 2 * x, 3 * x]) for x in range(3)])


def test_values_of_funcs_in_arrays_of_numpy():
    numpy = pytest.importorskip("numpy")
    x, f, pair = ct.Var("x"), ct.Func("f"), ct.Func("pair")
    f[x] = x * x
    pair[x] = (x, 2 * x)
    for made, expected in [
        (numpy.array([f[x], 1]), [ct.Expr(f[x]), 1]),
        (numpy.array([[f[x], 2], [1, f[x + 1]]]), [ct.Expr(f[x]), 2, 1, ct.Expr(f[x + 1])]),
        (numpy.array([f[x], x], object), [ct.Expr(f[x]), x]),
        (numpy.asarray(pair[x]), [ct.Expr(pair[x][0]), ct.Expr(pair[x][1])]),
        (numpy.dot([1, 2], [f[x], f[x + 1]]), [1 * f[x] + 2 * f[x + 1]]),
        (numpy.sum([f[x], f[x + 1]]), [f[x] + f[x + 1]]),
        (ct.expr_array([f[x], 1]) > 2, [f[x] > 2, ct.Expr(1) > 2]),
        (numpy.maximum(f[x], [1, x]), [ct.max(f[x], 1), ct.max(f[x], x)]),
        (numpy.where(f[x] > 2, [f[x], 1], 2), [ct.select(f[x] > 2, f[x], 2), ct.select(f[x] > 2, ct.Expr(1), 2)]),
    ]:
        assert [str(ct.Expr(e)) for e in numpy.ravel(made)] == [str(ct.Expr(e)) for e in expected]
    assert numpy.asarray(f[x]).shape == () and numpy.asarray(pair[x]).shape == (2,)
    with pytest.raises(TypeError, match="float"):
        numpy.asarray(f[x], float)
    g = ct.Func("g")
    g[x] = numpy.linalg.norm(numpy.array([f[x], f[x + 1]]))
    assert g.realize([3])[2] == pytest.approx((4**2 + 9**2) ** 0.5)


def test_functions_of_numpy_have_its_values():
    """No function of numpy gives an expression back as it is because it does not know it."""
    numpy = pytest.importorskip("numpy")
    x = ct.Var("x")
    for kind in (ct.Float(32), ct.Float(64)):
        image = ct.ImageParam(kind, 1, "image")
        values = numpy.array([numpy.nan, numpy.inf, -numpy.inf, 0.3, 2, 3, 8, 1000], str(kind))
        image.set(values)
        for function in (
            numpy.nan_to_num,
            lambda a: numpy.nan_to_num(a, nan=2, posinf=3, neginf=4),
            lambda a: numpy.log2(numpy.abs(a)),
            lambda a: numpy.log10(numpy.abs(a)),
            numpy.sign,
            lambda a: numpy.exp2(numpy.clip(numpy.nan_to_num(a), 0, 9)),
            lambda a: numpy.round(numpy.clip(numpy.nan_to_num(a), -5, 5) / 3, 1),
        ):
            f = ct.Func("f")
            f[x] = ct.strict_float(function(image[x]))
            numpy.testing.assert_allclose(numpy.asarray(f.realize([8])), function(values), rtol=1e-6)
    f = ct.Func("f")
    f[x] = (ct.i32(numpy.logical_and(x, 2)), numpy.where(x > 1, x, 0.5))
    both, chosen = f.realize([4])
    assert list(both) == [0, 1, 1, 1] and list(chosen) == [0.5, 0.5, 2, 3]
    f = ct.Func("f")
    f[x] = numpy.hypot(ct.u8(x), ct.u8(200))
    assert list(f.realize([201])) == pytest.approx([numpy.hypot(i, 200) for i in range(201)])
    with pytest.raises(TypeError, match="numpy.where of an expression must be given the values to choose from"):
        numpy.where(x > 1)


def test_functions_of_numpy_that_choose():
    numpy = pytest.importorskip("numpy")
    x, y = ct.vars("x y")
    e = ct.f32(x)
    for made, expected in [
        (numpy.where(x > y, e, 2.0), ct.select(x > y, e, 2.0)),
        (numpy.clip(e, 1, 5), ct.min(ct.max(e, 1), 5)),
        (numpy.clip(e, None, numpy.float32(5)), ct.min(e, ct.f32(5))),
        (numpy.clip(x, y, 5), ct.min(ct.max(x, y), 5)),
        (numpy.round(e), ct.round(e)),
        (numpy.select([x > 1, x > 0], [e, 2 * e], 7), ct.select(x > 1, e, x > 0, 2 * e, 7)),
        (numpy.select([x > 1], [y]), ct.select(x > 1, y, 0)),
    ]:
        assert str(made) == str(expected)
    with pytest.raises(ValueError, match="numpy.select has 1 conditions and 2 values"):
        numpy.select([x > 1], [e, e])
    chosen = numpy.where(x > 1, numpy.arange(3), x)
    assert [str(c) for c in chosen] == [str(ct.select(x > 1, i, x)) for i in range(3)]
    # What they do not choose is left to numpy.
    assert [str(c) for c in numpy.ravel(e)] == [str(e)] and numpy.shape(e) == ()


def test_polynomials_of_numpy():
    numpy = pytest.importorskip("numpy")
    x, f = ct.Var("x"), ct.Func("f")
    f[x] = numpy.polyval([1.0, 2.0, 3.0], ct.f32(x))
    assert list(f.realize([4])) == [3, 6, 11, 18]
    with pytest.raises(ct.CompileError, match="None .NoneType. is no expression"):
        x * numpy.array(None)


def test_arrays_of_expressions():
    numpy = pytest.importorskip("numpy")
    x, y = ct.vars("x y")
    weights = numpy.array([1.0, 2.0, 3.0])
    for products in (weights * ct.f32(x), ct.f32(x) * weights):
        assert products.shape == (3,)
        total = ct.Func("total")
        total[x] = products.sum()
        assert total.realize([3])[2] == 12
    grid = numpy.multiply.outer(weights, numpy.array([x, y], object))
    assert grid.shape == (3, 2)
    assert [str(e) for e in numpy.maximum(numpy.arange(2), x)] == [str(ct.max(i, x)) for i in (0, 1)]


def test_bounds_of_narrow_types():
    """Each side of a range is an integer of its own type, and sums of them do not wrap."""
    first, count = ct.Param(ct.UInt(8), "first", 100), ct.Param(ct.UInt(8), "count", 200)
    wide = ct.Param(ct.Int(32), "wide", 200)
    x, source = ct.Var("x"), ct.Func("source")
    source[x] = x
    for region in ([ct.Range(first, 200)], [ct.Range(first, count)], [ct.Range(first, wide)], [(first, wide)]):
        f = ct.Func()
        f[x] = ct.maximum(source[x + ct.RDom(region)])
        assert f.realize([1])[0] == 299
        at = ct.BoundaryConditions.repeat_edge(source, region).realize([400])
        assert (at[99], at[150], at[299], at[350]) == (100, 150, 299, 299)
        out = ct.BoundaryConditions.constant_exterior(source, -1, region).realize([400])
        assert (out[99], out[150], out[299], out[300]) == (-1, 150, 299, -1)
    for min, extent in ((0, 2.5), (first, 0.5), ("a", 3), (x > 3, 0.1)):
        text = "a Range from a min of .* and an extent of .*, must be of scalar integers|incompatible"
        with pytest.raises((ct.CompileError, TypeError), match=text):
            ct.Range(min, extent)


class DtypeOfTorch:
    """What tells one, of a library that need not be there."""

    itemsize = 2

    def __init__(self, name):
        self.name = name

    def to_complex(self):
        raise NotImplementedError

    def __str__(self):
        return "torch." + self.name


def test_names_of_types_are_types():
    x = ct.Var("x")
    assert ct.ImageParam("uint8", 2).type() == ct.UInt(8)
    assert ct.Param("float32", "gain", 2.5).get() == 2.5
    assert ct.cast("int16", x).type() == ct.Int(16)
    assert ct.Buffer("bool", [3]).type() == ct.Bool()
    assert ct.Func("float64", 1, "f").types() == [ct.Float(64)]
    assert ct.Func(["int8", ct.UInt(8)], 1, "f").types() == [ct.Int(8), ct.UInt(8)]
    assert ct.Argument("a", ct.ArgumentKind.InputScalar, "bfloat16", 0).type == ct.BFloat(16)
    for use in (lambda: ct.ImageParam("flaot32", 1), lambda: ct.cast("", x), lambda: ct.Buffer("f4", [2])):
        with pytest.raises(ct.CompileError, match="is no type: names are as 'uint8', 'float32' or 'bool'"):
            use()


def test_types_of_numpy_that_are_none():
    numpy, x = pytest.importorskip("numpy"), ct.Var("x")
    for t in (numpy.object_, numpy.datetime64, numpy.str_, numpy.void, numpy.complex64, numpy.dtype("M8[s]")):
        with pytest.raises(ct.CompileError, match="there is no element type like"):
            ct.cast(t, x)
    assert ct.Type(numpy.longlong) == ct.Int(64)


def test_dtypes_of_torch_are_types():
    for name, t in (("uint8", ct.UInt(8)), ("bfloat16", ct.BFloat(16)), ("float64", ct.Float(64)), ("bool", ct.Bool())):
        assert ct.ImageParam(DtypeOfTorch(name), 2).type() == t
        assert ct.cast(DtypeOfTorch(name), 1).type() == t
    with pytest.raises(ct.CompileError, match="there is no element type like torch.complex64"):
        ct.ImageParam(DtypeOfTorch("complex64"), 2)
    torch = pytest.importorskip("torch")
    assert ct.Param(torch.int16).type() == ct.Int(16)


def test_a_text_is_no_expression():
    """But of messages and of Expr itself; else it would be a handle, which errors then speak of."""
    x = ct.Var("x")
    image, r = ct.ImageParam(ct.Float(32), 1, "image"), ct.RDom([(0, 3)])
    uses = [
        lambda: ct.BoundaryConditions.constant_exterior(image, "7"),
        lambda: ct.BoundaryConditions.repeat_edge(image, [("7", 3)]),
        lambda: image.dim(0).set_extent("7"),
        lambda: image.dim(0).set_stride("7"),
        lambda: ct.RDom([("7", 3)]),
        lambda: ct.select("7", 1, 2),
        lambda: ct.mux(x, ["7", "8"]),
        lambda: ct.scatter("7", 1),
        lambda: ct.gather(1, "7"),
        lambda: (x + r).hypot("7"),
    ]
    for use in uses:
        with pytest.raises(ct.CallError, match=r"^'7' \(str\) is no expression"):
            use()
    assert str(ct.require(x > 0, x, "x is", x, "in all")).count('"in all"') == 1
    assert '"value"' in str(ct.print(x, "value"))
