#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Makes coefficients.h: for each kernel the polynomial of least largest relative error, found by
Remez exchange, of the lowest degree whose error is below the bound of the type.

    python3 coefficients.py > coefficients.h        (needs mpmath)
"""
import mpmath as mp

mp.mp.dps = 60


def remez(g, weight, low, high, degree, rounds=12):
    """The polynomial p of that degree that minimises max |weight * (p - g)|, and that maximum."""
    n = degree + 2
    nodes = [(low + high) / 2 - (high - low) / 2 * mp.cos(mp.pi * i / (n - 1)) for i in range(n)]
    grid = [low + (high - low) * (1 - mp.cos(mp.pi * i / 600)) / 2 for i in range(601)]
    values = [(x, g(x), weight(x)) for x in grid]
    for _ in range(rounds):
        rows = mp.matrix(n, n)
        right = mp.matrix(n, 1)
        for i, x in enumerate(nodes):
            for k in range(degree + 1):
                rows[i, k] = x ** k
            rows[i, degree + 1] = (-1) ** i / weight(x)
            right[i] = g(x)
        solution = mp.lu_solve(rows, right)
        coefficients = [solution[k] for k in range(degree + 1)]
        errors = [(w * (mp.polyval(coefficients[::-1], x) - y), x) for x, y, w in values]
        extrema, run = [], [errors[0]]
        for e in errors[1:]:
            if (e[0] >= 0) == (run[0][0] >= 0):
                run.append(e)
            else:
                extrema.append(max(run, key=lambda t: abs(t[0])))
                run = [e]
        extrema.append(max(run, key=lambda t: abs(t[0])))
        while len(extrema) > n:
            extrema.pop(0 if abs(extrema[0][0]) < abs(extrema[-1][0]) else -1)
        if len(extrema) < n:
            break
        nodes = [x for _, x in extrema]
    return coefficients, max(abs(e[0]) for e in errors)


tiny = mp.mpf(10) ** -12
root = mp.sqrt


def odd(f):
    """Kernel f(x) = x + x^3 P(x^2)."""
    return (lambda z: (f(root(z)) - root(z)) / (root(z) * z), lambda z: root(z) * z / f(root(z)))


def log_kernel(z):
    s = root(z)
    return (mp.log((1 + s) / (1 - s)) / s - 2) / z


def log1p_kernel(f):
    return f / 3 - mp.mpf(1) / 2 if abs(f) < tiny else (mp.log(1 + f) - f) / f ** 2


def eighth_root(x):
    return mp.erfc(x) ** (mp.mpf(1) / 8)


def exp2_kernel(r):
    return ((mp.mpf(2) ** r - 1) / r - mp.log(2)) / r


kernels = {
    # name: (meaning, function, weight, low, high, bits of the types)
    "exp": ("exp(r) = 1 + r + r^2 P(r)", lambda r: (mp.exp(r) - 1 - r) / r ** 2,
            lambda r: r ** 2 / mp.exp(r), mp.mpf("-0.3467"), mp.mpf("0.34671"), (32, 64)),
    "log": ("log(1 + f) = f + f^2 P(f)", log1p_kernel,
            lambda f: abs(f if abs(f) < tiny else f ** 2 / mp.log(1 + f)), mp.mpf("-0.25"),
            mp.mpf("0.5"), (32,)),
    "log ": ("log((1 + s) / (1 - s)) = 2 s + s^3 P(s^2)", log_kernel, lambda z: z / 2, tiny,
             mp.mpf("0.02945"), (64,)),
    "exp2_": ("2^r = 1 + r (log(2) + r P(r))", exp2_kernel, lambda r: r ** 2 / mp.mpf(2) ** r,
              mp.mpf("-0.501"), mp.mpf("0.5011"), (32, 64)),
    "log2_": ("log2((1 + s) / (1 - s)) = 2 s / log(2) + s^3 P(s^2)",
              lambda z: log_kernel(z) / mp.log(2), lambda z: z * mp.log(2) / 2, tiny,
              mp.mpf("0.0401"), (32,)),
    "log2_ ": ("log2((1 + s) / (1 - s)) = 2 s / log(2) + s^3 P(s^2)",
               lambda z: log_kernel(z) / mp.log(2), lambda z: z * mp.log(2) / 2, tiny,
               mp.mpf("0.02945"), (64,)),
    "sin": ("sin(r) = r + r^3 P(r^2)", *odd(mp.sin), tiny, mp.mpf("0.617"), (32, 64)),
    "cos": ("cos(r) = 1 - r^2 / 2 + r^4 P(r^2)",
            lambda z: (mp.cos(root(z)) - 1 + z / 2) / z ** 2,
            lambda z: z ** 2 / mp.cos(root(z)), tiny * 1000, mp.mpf("0.617"), (32, 64)),
    "atan": ("atan(t) = t + t^3 P(t^2)", *odd(mp.atan), tiny, mp.mpf("0.17158"), (32, 64)),
    "asin": ("asin(x) = x + x^3 P(x^2)", *odd(mp.asin), tiny, mp.mpf("0.25"), (32, 64)),
    "tanh": ("tanh(x) = x + x^3 P(x^2)", *odd(mp.tanh), tiny, mp.mpf("0.3907"), (32, 64)),
    "sinh": ("sinh(x) = x + x^3 P(x^2)", *odd(mp.sinh), tiny, mp.mpf("1"), (32, 64)),
    "erf": ("erf(x) = x P(x^2) for |x| <= 1", lambda z: mp.erf(root(z)) / root(z),
            lambda z: root(z) / mp.erf(root(z)), tiny, mp.mpf("1"), (32, 64)),
    "erfc": ("erf(x) = 1 - (1 + x P(x))^8 for 1 <= x <= 3.95", lambda x: (eighth_root(x) - 1) / x,
             lambda x: 8 * eighth_root(x) ** 7 * x, mp.mpf("1"), mp.mpf("3.95"), (32,)),
    "erfc ": ("log(erfc(x)) = P(x) for 1 <= x <= 6", lambda x: mp.log(mp.erfc(x)), mp.erfc,
              mp.mpf("1"), mp.mpf("6"), (64,)),
}

# Bits more than a result has, where its error is multiplied by an exponent; fewer where the result is
# subtracted from 1.
more_bits = {"log2_": 8, "erfc": -1}


def table(name, bits, meaning, g, weight, low, high):
    bound = mp.mpf(2) ** (-(27 if bits == 32 else 57) - more_bits.get(name, 0))
    degree = 2
    while True:
        coefficients, error = remez(g, weight, low, high, degree)
        if error < bound:
            break
        degree += 1
    print(f"// {meaning}; relative error below 2^{int(mp.ceil(mp.log(error, 2)))}")
    print(f"inline constexpr double {name}{bits}[] = {{")
    for c in coefficients:
        print(f"    {mp.nstr(c, 20)},")
    print("};\n")


print("// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception")
print("// Polynomials P of the kernels of math.cpp, lowest power first. Made by coefficients.py.")
print("#pragma once\n\nnamespace calotype::internal::coefficients {\n")
for key, (text, f, w, a, b, widths) in kernels.items():
    for width in widths:
        table(key.strip(), width, text, f, w, a, b)
print("}  // namespace calotype::internal::coefficients")
