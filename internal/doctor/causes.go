package doctor

import "slices"

// reasons says which cause brings about the symptoms of which others: mend the
// first, and the others go away. It is what makes a finding the root of others.
// Where two could be each other's reason, the better proven one wins.
var reasons = map[string][]string{
	"gpu_not_nvidia":     {"driver_missing", "torch_cpu_wheel", "torch_cpu_conda", "env_cuda_visible_devices", "code_device_placement", "wsl_driver", "gpu_hw_fault", "torch_rocm_on_nvidia_or_reverse"},
	"gpu_hw_fault":       {"driver_missing", "env_cuda_visible_devices", "cuda_init_unknown_999", "driver_bug_or_branch", "nccl_config", "gpu_exclusive_mode", "oom", "device_permissions"},
	"driver_missing":     {"env_cuda_visible_devices", "torch_cpu_conda", "cuda_init_unknown_999", "container_no_gpu", "gpu_hw_fault", "code_device_placement", "lib_selects_wrong_cuda", "gpu_not_nvidia", "missing_runtime_lib"},
	"driver_too_old":     {"env_cuda_visible_devices", "cuda_init_unknown_999", "code_device_placement", "missing_runtime_lib", "driver_missing", "expectation_misread", "lib_selects_wrong_cuda", "container_no_gpu"},
	"wsl_driver":         {"driver_missing", "env_cuda_visible_devices", "container_no_gpu", "missing_runtime_lib", "driver_too_old", "cuda_init_unknown_999", "driver_library_mismatch", "gpu_hw_fault", "device_permissions", "gpu_exclusive_mode", "driver_bug_or_branch", "cuda_compat_lib_shadow", "expectation_misread"},
	"container_no_gpu":   {"driver_missing", "env_cuda_visible_devices", "torch_cpu_conda", "device_permissions", "missing_runtime_lib", "code_device_placement", "gpu_hw_fault", "gpu_not_nvidia", "lib_selects_wrong_cuda"},
	"device_permissions": {"driver_missing", "env_cuda_visible_devices", "cuda_init_unknown_999", "rocm_setup", "gpu_not_nvidia", "container_no_gpu"},

	"driver_library_mismatch": {"driver_missing", "env_cuda_visible_devices", "cuda_init_unknown_999", "container_no_gpu", "code_device_placement"},
	"driver_bug_or_branch":    {"cuda_init_unknown_999", "gpu_exclusive_mode", "env_cuda_visible_devices", "driver_missing", "gpu_hw_fault", "nccl_config", "nccl_p2p_topology", "oom", "fabric_manager"},
	"cuda_init_unknown_999":   {"env_cuda_visible_devices", "code_device_placement", "driver_missing"},
	"cuda_compat_lib_shadow":  {"driver_library_mismatch", "env_cuda_visible_devices", "cuda_init_unknown_999", "driver_missing", "ld_path_shadowing", "driver_too_old", "container_no_gpu"},
	"fabric_manager":          {"nccl_config", "env_cuda_visible_devices", "cuda_init_unknown_999", "nccl_p2p_topology", "driver_bug_or_branch"},
	"mig_config":              {"code_device_placement", "env_cuda_visible_devices", "driver_missing", "nccl_config"},

	"env_cuda_visible_devices": {"code_device_placement", "gpu_exclusive_mode", "driver_missing"},
	"gpu_exclusive_mode":       {"env_cuda_visible_devices"},
	"gpu_busy_memory":          {"oom"},
	"jetson_wrong_wheel":       {"torch_cpu_wheel", "no_wheel_for_platform", "driver_missing", "env_cuda_visible_devices", "missing_runtime_lib", "gpu_too_new_for_wheel", "gpu_too_old_for_wheel", "torchvision_mismatch", "no_wheel_for_python", "extension_abi_mismatch"},

	"torch_cpu_wheel":                 {"lib_selects_wrong_cuda", "extension_abi_mismatch", "code_device_placement", "env_cuda_visible_devices", "torchvision_mismatch", "toolkit_mismatch_build", "expectation_misread", "driver_missing", "dataloader_bottleneck", "no_wheel_for_platform"},
	"torch_cpu_conda":                 {"torch_cpu_wheel", "lib_selects_wrong_cuda", "extension_abi_mismatch", "code_device_placement", "env_cuda_visible_devices", "torchvision_mismatch", "toolkit_mismatch_build", "expectation_misread", "resolver_index_config"},
	"torch_replaced":                  {"torch_cpu_wheel", "torchvision_mismatch", "extension_abi_mismatch", "gpu_too_new_for_wheel", "torch_duplicate_install", "lib_selects_wrong_cuda", "driver_too_old", "code_device_placement"},
	"torch_rocm_on_nvidia_or_reverse": {"torch_cpu_wheel", "driver_missing", "missing_runtime_lib", "torchvision_mismatch", "env_cuda_visible_devices", "code_device_placement", "gpu_not_nvidia", "rocm_setup"},
	"torch_duplicate_install":         {"torchvision_mismatch", "torch_replaced", "ld_path_shadowing", "missing_runtime_lib", "extension_abi_mismatch", "expectation_misread"},
	"resolver_index_config":           {"torch_cpu_wheel", "no_wheel_for_python", "no_wheel_for_platform", "torchvision_mismatch"},
	"no_wheel_for_platform":           {"no_wheel_for_python", "torch_cpu_wheel", "glibc_or_libstdcxx_too_old"},
	"no_wheel_for_python":             {"no_wheel_for_platform", "resolver_index_config"},
	"broken_wheel_release":            {"missing_runtime_lib", "windows_dll_load", "extension_abi_mismatch", "ld_path_shadowing", "nvidia_pip_lib_mismatch", "torchvision_mismatch"},

	"glibc_or_libstdcxx_too_old": {"missing_runtime_lib", "no_wheel_for_python", "extension_abi_mismatch", "no_wheel_for_platform"},
	"ld_path_shadowing":          {"nvidia_pip_lib_mismatch", "oom", "missing_runtime_lib", "extension_abi_mismatch", "broken_wheel_release", "driver_library_mismatch"},
	"nvidia_pip_lib_mismatch":    {"oom", "missing_runtime_lib", "ld_path_shadowing"},
	"lib_selects_wrong_cuda":     {"missing_runtime_lib", "expectation_misread"},
	"missing_runtime_lib":        {"lib_selects_wrong_cuda", "windows_dll_load"},
	"extension_abi_mismatch":     {"torch_replaced", "lib_selects_wrong_cuda"},
	"toolkit_mismatch_build":     {"expectation_misread", "extension_abi_mismatch"},

	"gpu_too_new_for_wheel":   {"oom", "extension_abi_mismatch", "expectation_misread", "toolkit_mismatch_build"},
	"gpu_too_old_for_wheel":   {"gpu_too_new_for_wheel", "oom", "extension_abi_mismatch", "driver_missing", "driver_bug_or_branch", "gpu_too_old_for_feature"},
	"gpu_too_old_for_feature": {"extension_abi_mismatch"},
	"rocm_unsupported_gfx":    {"rocm_setup", "gpu_too_new_for_wheel", "env_cuda_visible_devices", "device_permissions"},
	"rocm_setup":              {"env_cuda_visible_devices", "driver_missing", "gpu_not_nvidia", "missing_runtime_lib"},
	"apple_mps_requirement":   {"gpu_not_nvidia", "torch_cpu_wheel", "code_device_placement"},
	"intel_xpu_setup":         {"gpu_not_nvidia", "torch_cpu_wheel", "env_cuda_visible_devices", "missing_runtime_lib", "code_device_placement"},

	"nccl_config":       {"code_device_placement"},
	"nccl_p2p_topology": {"nccl_config"},
}

// explains reports whether mending a makes b's symptoms go away.
func explains(a, b *finding) bool {
	if a.Check == b.Check {
		return false
	}
	if slices.Contains(a.over, b.Check) {
		return true
	}
	if slices.Contains(b.over, a.Check) {
		return false // what a finding says of a check goes before what its cause says
	}
	if a.Cause == b.Cause {
		return a.weight > b.weight || a.weight == b.weight && a.order < b.order
	}
	if b.Cause == "none" {
		return a.weight >= strong
	}
	for _, c := range reasons[a.Cause] {
		if c == b.Cause {
			return a.weight >= weak && a.weight+margin >= b.weight && !(mutual(a, b) && a.weight <= b.weight)
		}
	}
	return false
}

// mutual reports whether either of two causes may bring about the other.
func mutual(a, b *finding) bool {
	for _, c := range reasons[b.Cause] {
		if c == a.Cause {
			return true
		}
	}
	return false
}
