"""Forms on which our verdict is not nvcc's, with the reason."""

# nvcc takes them, we do not.
REFUSED = {
    "inline_ptx_string_constraint": 'clang has no constraint "C"; a string in the template of `asm` does the same',
    "structured_binding_and_if_constexpr": "clang checks a branch that depends on no type, as C++ allows",
    "macro_of_one_token": "the tokens of one launch come from two macros, so they are nowhere in the text",
    "shared_decltype": "the name is a reference's, which has no members of a type",
    "shared_constructed_in_a_macro": "the declaration is nowhere in the text",
}

# nvcc takes them; ours compile, and the program ends with an error.
FAILS_LATER = {
    "device_function_declared_apart": "clang takes the definition for another function's, of the host",
}

_FLAG = "nvcc takes it with a flag, which we need not be given"
_LIBRARY = "our constexpr functions are the device's, too, as with nvcc's --expt-relaxed-constexpr"
_HARMLESS = "it means the same here as elsewhere in C++"
# nvcc refuses them, we do not.
TAKEN = {
    "constant_initialized_by_constexpr": _HARMLESS,
    "device_variable_of_class_type": _HARMLESS,
    "device_lambda": _FLAG,
    "extended_lambda_without_the_flag": _FLAG,
    "host_lambda_of_a_kernel_argument": _FLAG,
    "shared_named_without_capture": _FLAG,
    "std_array_and_limits": _LIBRARY,
    "constexpr_function_called_from_device": _LIBRARY,
    "constexpr_function_called_with_values_from_device": _LIBRARY,
    "dynamic_cast_in_device_code": "a cast that fails is found when the device code is assembled",
    "static_kernel_as_a_member": _HARMLESS,
    "shared_constructed_at_namespace_scope": "it is not constructed, as one in a function is not",
    "address_of_constexpr_host_variable": "a constant table is the device's, too",
    "store_to_constant": "memory of constants is found to be written when the device code is assembled",
    "wrong_ptx": "it is found when the device code is assembled",
    "overloads_that_differ_in_side": "clang has such overloads",
    "static_assert_of_the_device_side": "the host's function is not the device's",
}
