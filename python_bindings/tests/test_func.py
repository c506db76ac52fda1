# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Funcs: definitions, updates, several values, reductions."""

import calotype as ct
import pytest

x, y = ct.vars("x y")


def test_definition_and_coordinates():
    f = ct.Func("f")
    f[x, y] = x + 10 * y
    b = f.realize([4, 3])
    assert [b[i, 2] for i in range(4)] == [20, 21, 22, 23]
    assert f.args()[0].name() == "x" and f.dimensions() == 2 and f.type() == ct.Int(32)
    scalar = ct.Func()
    scalar[()] = 7
    assert scalar.realize()[()] == 7


def test_updates_in_place():
    f = ct.Func("f")
    f[x] += 1
    f[x] *= 6
    f[x] -= 2
    f[x] /= 2
    assert list(f.realize([3])) == [2, 2, 2]
    assert f.num_update_definitions() == 4


def test_an_undefined_func_plus_a_value_is_an_update():
    f = ct.Func("f")
    f[x] = f[x] + 1
    assert list(f.realize([2])) == [1, 1]
    g = ct.Func("g")
    with pytest.raises(ct.CompileError, match="called before it is defined"):
        g[x] = 1 + g[x]
    h = ct.Func("h")
    with pytest.raises(ct.CompileError, match="assigned to another place"):
        h[0] = h[x] + 1
    with pytest.raises(ct.CompileError, match=r"func h\S* is called before it is defined.* of func k"):
        ct.Func("k")[x] = h[x] + 1


def test_the_sum_of_an_update_is_an_expression_too():
    f = ct.Func("f")
    f[x] = x
    left = f[x]
    left += 5
    left += 1
    f[x] = left
    assert list(f.realize([3])) == [6, 7, 8]


def test_several_values():
    f = ct.Func("f")
    f[x] = (x, ct.f32(x) / 2)
    f[x][1] += 1.0
    f[x] += (10, 0.5)
    a, b = f.realize([2])
    assert list(a) == [10, 11] and list(b) == [1.5, 2.0]
    g = ct.Func("g")
    g[x] = f[x][0] + 1
    assert list(g.realize([2])) == [11, 12]
    first, second = f[x]
    assert first.index() == 0 and second.index() == 1
    h = ct.Func("h")
    h[x] = f[x]
    assert len(h.realize([2])) == 2


def test_definitions_are_tuples_of_values():
    one, two = ct.funcs("one two")
    one[x] = x
    one[x] += 1
    two[x] = (x, x)
    two[x] += (1, 2)
    assert [type(f.values()) for f in (one, two)] == [tuple, tuple]
    assert [len(v) for v in (one.values(), one.update_values(), two.values(), two.update_values(0))] == [1, 1, 2, 2]


def test_a_class_that_stands_for_several_values():
    class Complex:
        def __init__(self, real, imag):
            self.parts = (real, imag)

        def __len__(self):
            return 2

        def __getitem__(self, i):
            return self.parts[i]

    f = ct.Func("f")
    f[x] = Complex(ct.f32(x), ct.f32(-x))
    assert f.outputs() == 2


def test_a_domain_stands_for_its_variables_as_coordinates():
    r = ct.RDom([(0, 4), (0, 3)])
    image = ct.Buffer(ct.Int(32), [4, 3])
    image.fill(2)
    f, total = ct.funcs("f total")
    f[x, y] = x + 10 * y
    f[r] += image[r]
    total[()] = 0
    total[()] += f[r]
    assert total.realize([])[()] == sum(u + 10 * v + 2 for u in range(4) for v in range(3))
    with pytest.raises(ct.CompileError, match="2 coordinates, it has 1 dimensions"):
        total[ct.ImageParam(ct.Int(32), 1)[r]]
    with pytest.raises(ct.CompileError, match="of 2 dimensions is used as an RVar"):
        f[x, r]


def test_reductions():
    f = ct.Func("f")
    f[x] = x * x
    r = ct.RDom([(0, 10)], "r")
    total = ct.Func("total")
    total[()] = 0
    total[()] += f[r]
    assert total.realize()[()] == 285
    assert ct.evaluate(ct.sum(f[r])) == 285
    assert ct.evaluate(ct.maximum(f[r])) == 81
    assert ct.evaluate(ct.argmax(f[r])) == (9, 81)
    with pytest.raises(KeyError):
        r[1]
    r2 = ct.RDom([(0, 4), (0, 3)])
    assert [v.name() for v in r2] == [r2.x.name(), r2.y.name()]


def test_domains_as_in_cpp():
    p = ct.Param(ct.Int(32), "p", 3)
    r = ct.RDom(1, 4, 0, p + 2, "r")
    assert [str(e) for e in (r.x, r.x.min(), r.x.extent())] == ["r$x", "1", "4"]
    assert [str(e) for e in (r.y, r.y.min(), r.y.extent())] == ["r$y", "0", "p + 2"]
    assert ct.RDom(0, 3, name="s").x.name() == "s$x"
    f = ct.Func("f")
    f[x] = ct.sum(x + ct.RDom(0, p))
    assert list(f.realize([2])) == [3, 6]
    refused = {
        "an RDom is given 3 numbers, must be pairs of min and extent": lambda: ct.RDom(0, 3, 1),
        "an RDom is given two names": lambda: ct.RDom(0, 3, "a", name="b"),
    }
    for text, use in refused.items():
        with pytest.raises(ct.CallError, match=text):
            use()


def test_predicated_domain():
    r = ct.RDom([(0, 10), (0, 10)])
    r.where(r.x < r.y)
    f = ct.Func()
    f[x, y] = 0
    f[r.x, r.y] += 1
    b = f.realize([10, 10])
    assert all(b[i, j] == (i < j) for i in range(10) for j in range(10))


def test_implicit_variables():
    f, g = ct.funcs("f g")
    f[x, y] = x + 10 * y
    g[ct._] = f[ct._] + 1
    assert g.realize([2, 2])[1, 1] == 12


def test_typed_funcs():
    f = ct.Func(ct.Int(32), 2, "f")
    assert f.type() == ct.Int(32) and f.dimensions() == 2 and not f.defined()
    with pytest.raises(ct.CompileError, match="declared with 2 dimensions but defined with 1"):
        f[x] = 1
    with pytest.raises(ct.CompileError, match="but defined with type .int32, int32."):
        ct.Func([ct.Int(32), ct.Float(32)], 1, "g")[x] = (1, 2)


@pytest.mark.parametrize(
    "name,expected",
    [
        ("repeat_edge", [0, 0, 0, 1, 2, 2, 2]),
        ("repeat_image", [1, 2, 0, 1, 2, 0, 1]),
        ("mirror_image", [1, 0, 0, 1, 2, 2, 1]),
        ("mirror_interior", [2, 1, 0, 1, 2, 1, 0]),
    ],
)
def test_boundary_conditions(name, expected):
    source = ct.Buffer(ct.Int(32), [3])
    for i in range(3):
        source[i] = i
    condition = getattr(ct.BoundaryConditions, name)
    f = ct.Func("f")
    f[x] = condition(source)[x - 2]
    assert list(f.realize([7])) == expected
    g, h = ct.funcs("g h")
    g[x] = x
    h[x] = condition(g, [(0, 3)])[x - 2]
    assert list(h.realize([7])) == expected
    with pytest.raises(ct.CompileError, match="needs bounds"):
        condition(g)


def test_constant_exterior():
    source = ct.Buffer(ct.UInt(8), [2])
    source.fill(7)
    f = ct.Func("f")
    f[x] = ct.BoundaryConditions.constant_exterior(source, 9)[x - 1]
    assert list(f.realize([4])) == [9, 7, 7, 9]


def test_requirements_and_require():
    delta = ct.Param(ct.Int(32), "delta")
    f = ct.Func("f")
    f[x] = x + delta
    p = ct.Pipeline([f])
    p.add_requirement(delta > 0, "delta must be positive, is", delta)
    delta.set(1)
    assert list(p.realize([2])) == [1, 2]
    delta.set(-3)
    with pytest.raises(ct.RuntimeError, match="delta must be positive, is -3"):
        p.realize([2])


def test_coordinates_are_checked_where_they_are_written():
    f = ct.Func("f")
    f[x, y] = x
    with pytest.raises(ct.CompileError, match="coordinate 1 of a call to func f.* float32"):
        f[x, y / 2.0]
    with pytest.raises(ct.CompileError, match="'a' .str. is no coordinate"):
        f["a", y]


def test_numbers_take_the_types_of_what_they_update():
    image = ct.Buffer(bytearray(b"abca"))
    counts, i, r = ct.Func("counts"), ct.Var("i"), ct.RDom([(0, 4)])
    counts[i] = ct.u32(0)
    counts[image[r]] += 1
    counts[5] = 7
    assert [counts.realize([100])[k] for k in (5, 97)] == [7, 2]
    exact = ct.Func("exact")
    exact[x] = ct.f64(x)
    exact[x] += 0.1
    exact[x] = exact[x] * 3
    assert exact.realize([2])[1] == (1 + 0.1) * 3
    pair = ct.Func("pair")
    pair[x] = (ct.u8(x), ct.f64(x))
    pair[x] += (1, 0.1)
    first, second = pair.realize([2])
    assert first[1] == 2 and second[1] == 1.1
    small = ct.Func("small")
    small[x] = ct.u8(x)
    with pytest.raises(ct.CompileError, match="constant 300 does not fit in the uint8"):
        small[x] += 300


def test_what_has_coordinates_is_not_iterated():
    f, image = ct.Func("f"), ct.ImageParam(ct.UInt(8), 1)
    f[x] = x
    for grid in (f, image):
        for use in (list, tuple, lambda g: 3 in g, lambda g: [*g]):
            with pytest.raises(TypeError, match="not iterable|not a container|not a.* iterable"):
                use(grid)
    with pytest.raises(ct.CompileError, match="one"):
        list(f[x])


def test_text_of_a_func_at_coordinates():
    f, g = ct.Func("shown_at"), ct.Func("unknown_at")
    f[x] = x
    assert repr(f[x + 1]).endswith(".FuncRef shown_at(x + 1)>")
    assert repr(g[x]).endswith(".FuncRef unknown_at[...]>")
    several = ct.Func("shown_tuple")
    several[x] = (x, x + 2)
    assert repr(several[x][1]).endswith(".FuncTupleElementRef shown_tuple(x).1>")
    f[x] += 1
    assert repr(f.update()).endswith(".Stage 'shown_at.update(0)'>")
    image = ct.ImageParam(ct.UInt(8), 2, "of_rows")
    shown = ".Dimension min: of_rows.min.1, extent: of_rows.extent.1, stride: of_rows.stride.1>"
    assert repr(image.dim(1)).endswith(shown)


def test_bounds_of_a_domain_are_integers():
    for bound, type in ((2.5, "float32"), (2**40, "int64")):
        text = f"a bound of reduction domain .* has type {type}, must fit in int32"
        with pytest.raises(ct.CompileError, match=text):
            ct.RDom([(0, bound)])
    assert ct.RDom([(0, ct.i64(7))]).x.extent() is not None
    r = ct.RDom([(2 / 2, 6 / 2)], "halves")
    assert repr(r).endswith(".RDom halves$x: [1, 3]>")


def test_coordinates_as_a_list():
    x, y = ct.vars("x y")
    f, g, image = ct.Func("f"), ct.Func("g"), ct.ImageParam(ct.Int(32), 2)
    f[[x, y]] = x + 10 * y
    f[[x, 0]] += image[[x, 1]]
    g[[]] = f[[1, 0]]
    buffer = ct.Buffer(ct.Int(32), [2, 2])
    buffer.fill(0)
    buffer[[1, 1]] = 5
    image.set(buffer)
    assert buffer[[1, 1]] == 5 and g.realize()[[]] == 6
    h = ct.Func("h")
    h[x] = buffer[[x, 1]]
    assert h.realize([2])[1] == 5
    with pytest.raises(ct.CompileError, match="is no coordinate"):
        f[[[x], y]]


def test_coordinates_that_are_no_integers_are_errors_of_python_too():
    f, image, b = ct.Func("f"), ct.ImageParam(ct.UInt(8), 2, "image"), ct.Buffer(ct.UInt(8), [4, 4], "b")
    f[x, y] = x + y
    half = ct.f32(x) / 2
    for thing in (f, image, b):
        for wrong in (1.5, half):
            with pytest.raises(ct.CallError, match="coordinate 1 of a call to .* has type float32, must fit in int32"):
                thing[x, wrong]
            with pytest.raises(TypeError):
                thing[wrong, y]
    for wrong in ((1.5, 0), (0, half)):
        with pytest.raises(ct.CallError, match="coordinate . of a call to .* has type float32, must fit in int32"):
            f[wrong] = 1
    for thing in (image, b):
        with pytest.raises(ct.CallError, match="called with 1 coordinates, it has 2 dimensions"):
            thing[x]
    with pytest.raises(TypeError):
        b[1.5, 0]
    with pytest.raises(TypeError):
        b[1.5, 0] = 1


def test_a_func_of_a_value():
    numpy = pytest.importorskip("numpy")
    for value, expected in ((3, 3), (2.5, 2.5), (ct.Expr(4), 4), (numpy.uint8(200), 200), (True, True)):
        assert ct.Func(value).realize()[()] == expected
    with pytest.raises(ct.CompileError):
        ct.Func(x)
    with pytest.raises(TypeError):
        ct.Func(None)


def test_texts_are_no_elements_of_a_tuple():
    for values in (["a", 1], (1, "a"), ("a",)):
        f = ct.Func("f")
        with pytest.raises(ct.CallError, match="^'a' .str. is no expression"):
            f[x] = values
        assert not f.defined()


@pytest.mark.parametrize(
    "given, text",
    [
        ([3, 2.5], "^size 1 of a realization is 2.5 .float., must be an int$"),
        ([3, None], "^size 1 of a realization is None .NoneType., must be an int$"),
        ([3, ct.Buffer(int, [3])], "^size 1 of a realization is <.*Buffer.*> .Buffer., must be an int$"),
        ([ct.Buffer(int, [3]), 3], "^output 1 of a realization is 3 .int., must be a Buffer or an array$"),
        ([2.5, 3], "^2.5 .float. is no size, which is an int, and no Buffer$"),
    ],
)
def test_what_is_wrong_in_a_list_of_sizes_is_said(given, text):
    f = ct.Func("f")
    f[x, y] = x
    with pytest.raises(ct.CallError, match=text):
        f.realize(given)


def test_what_stands_where_a_list_is_wanted_is_said():
    f = ct.Func("f")
    f[x] = x
    with pytest.raises(ct.CallError, match="<.*Func 'f.*> .Func. is no list of pairs of min and extent"):
        ct.RDom(f)
    with pytest.raises(TypeError, match="Type int32> .Type. is no array: beside a type .* a list of sizes"):
        ct.Buffer(ct.Int(32), "ab")
