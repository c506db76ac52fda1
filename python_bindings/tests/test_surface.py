# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Python has what the public headers of C++ have."""

import pathlib
import sys

import calotype as ct
import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
import cpp_names  # noqa: E402

SOURCES = pathlib.Path(__file__).parents[2] / "src"

HEADERS = """
    driver/callable.h driver/compiler_stack.h driver/module.h driver/plugin.h
    ir/concise_casts.h ir/language/bits.h ir/language/fast_divide.h ir/language/fixed_point.h
    ir/language/hints.h ir/language/math.h ir/type.h
    lang/boundary_conditions.h lang/buffer.h lang/buffer_views.h lang/derivative/derivative.h
    lang/dimension.h lang/evaluate.h lang/extern.h lang/extern_device.h lang/func.h lang/func_ref.h
    lang/image_param.h lang/inline_reductions.h lang/param.h lang/pipeline.h lang/rdom.h
    lang/realization.h lang/schedule/autoscheduler.h lang/schedule/func_directives.h
    lang/schedule/gpu_directives.h lang/schedule/loop_directives.h lang/stage.h lang/text/serialize.h
    lang/tuple.h lang/var.h
    linkables/linkable.h pipeline/loop_level.h pipeline/target_queries.h target/target.h
""".split()

# Base classes in C++ whose members the classes that users name have in Python.
HEIRS = {
    "FuncDirectives": ["Func"],
    "GpuDirectives": ["Func", "Stage"],
    "LoopDirectives": ["Func", "Stage"],
}

# A Python program has other means for these: its own tuples, functions and types, __call__ and
# __getitem__; or they are about C++ alone: templates, views of the compiler's own data.
NOT_IN_PYTHON = {
    "": "FuncDirectives GpuDirectives LoopDirectives HandleType ImplicitVar Tuple Realization "
    "CustomLoweringPass delete_lowering_pass ExternDeviceArgument ExternDeviceArguments LinkableContents "
    "LinkedDeclaration PipelineContents PipelineDriverState is_reduction_variable lambda "
    "compile_module_to_llvm_module linkable_description same_linkable parse_type to_string type_of",
    "Buffer": "as begin end can_convert_from data get static_calotype_type static_dimensions",
    "EvictionKey": "key",
    "Callable": "FullCallCheckInfo call_argv_fast device_modules",
    "Func": "add_custom_lowering_pass clear_custom_lowering_passes custom_lowering_passes function "
    "get_schedule jit_handlers",
    "FuncRef": "function",
    "FuncTupleElementRef": "function",
    "Linkable": "data",
    "LoopLevel": "copy func_name get_stage_index identity is_rvar lock var_name",
    "Module": "any_strict_float set_any_strict_float compile_to_object_bytes functions "
    "get_conceptual_stmt get_function_by_name lowered set_conceptual_code_stmt",
    "Param": "static_type",
    "Pipeline": "RealizationArg add_custom_lowering_pass clear_custom_lowering_passes contents "
    "custom_lowering_passes get_jit_externs jit_handlers requirements source",
    "RDom": "domain",
    "RVar": "domain",
    "Stage": "definition edit function get_schedule stage_to_schedule",
    "Target": "arch_to_name os_to_name get_features_bitset get_arm_v8_lower_bound "
    "get_d3d12compute_capability_lower_bound get_vulkan_capability_lower_bound "
    "sme_streaming_vector_bits sme_svl_feature_from_bits unsupported_part",
    "Type": "can_overflow can_overflow_int imax imin umax to_abi",
}

names = cpp_names.names_in(SOURCES, *HEADERS) if SOURCES.exists() else {}
left_out_classes = {name for text in NOT_IN_PYTHON.values() for name in text.split()}
owners = sorted(set(names) - left_out_classes | set(HEIRS))


def has(owner, name):
    return hasattr(owner, name) or hasattr(owner, name + "_")


@pytest.mark.skipif(not names, reason="the headers are not there")
@pytest.mark.parametrize("scope", [o for o in owners if o in names])
def test_python_has_the_names_of_cpp(scope):
    left_out = set(NOT_IN_PYTHON.get(scope, "").split())
    for heir in HEIRS.get(scope, [scope]):
        owner = getattr(ct, heir) if heir else ct
        lacking = {n for n in names[scope].keys() - left_out if not has(owner, n)}
        assert not lacking, f"{heir or 'calotype'} lacks {sorted(lacking)}"
        present = {n for n in left_out if has(owner, n)}
        assert not present, f"{heir or 'calotype'} has {sorted(present)} by now"


@pytest.mark.skipif(not names, reason="the headers are not there")
def test_the_headers_are_read():
    assert len(names[""]) > 100
    assert {"vectorize", "gpu_tile", "specialize"} <= names["LoopDirectives"].keys() | names["GpuDirectives"]
    assert {"realize", "compile_jit", "update", "lambda"} <= names["Func"].keys() | names[""]


def test_names_that_are_alike_are_suggested():
    with pytest.raises(AttributeError, match="module 'calotype' has no attribute 'Funk'") as e:
        ct.Funk  # noqa: B018
    assert (e.value.name, e.value.obj) == ("Funk", ct)
