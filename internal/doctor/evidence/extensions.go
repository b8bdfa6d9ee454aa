package evidence

import (
	"slices"
	"strings"

	"envfix/internal/lazy"
)

// extensionsByModule are the packages of compiled modules that people meet.
var ExtensionsByModule = map[string]string{
	"flash_attn_2_cuda": "flash-attn", "flash_attn": "flash-attn", "flashattn_hopper_cuda": "flash-attn", "xformers": "xformers",
	"vllm": "vllm", "mamba_ssm": "mamba-ssm", "selective_scan_cuda": "mamba-ssm", "causal_conv1d_cuda": "causal-conv1d",
	"causal_conv1d": "causal-conv1d", "torch_scatter": "torch-scatter", "torch_sparse": "torch-sparse", "torch_cluster": "torch-cluster",
	"torch_spline_conv": "torch-spline-conv", "pyg_lib": "pyg-lib", "torchvision": "torchvision", "torchaudio": "torchaudio",
	"apex_C": "apex", "amp_C": "apex", "deepspeed": "deepspeed", "detectron2": "detectron2", "mmcv": "mmcv", "torchcodec": "torchcodec",
	"bitsandbytes": "bitsandbytes", "sageattention": "sageattention", "auto_gptq": "auto-gptq", "exllamav2_ext": "exllamav2",
	"pytorch3d": "pytorch3d", "spconv": "spconv", "natten": "natten", "transformer_engine_extensions": "transformer-engine", "transformer_engine_torch": "transformer-engine", "gsplat": "gsplat", "nvdiffrast": "nvdiffrast",
}

// Named is the package of the compiled module that the evidence names.
func (e Extension) Named(evidence []string) string {
	for _, s := range evidence {
		for _, m := range moduleFile().FindAllStringSubmatch(s, 4) {
			for _, part := range slices.Backward(strings.FieldsFunc(m[1], func(r rune) bool { return r == '/' || r == '\\' })) {
				if p := ExtensionsByModule[part]; p != "" {
					return p
				}
			}
		}
	}
	return ""
}

// moduleFile is the path of a compiled module without its tag and ending.
var moduleFile = lazy.Regexp(`([\w./\\+-]*?\w+)(?:\.cpython-\w+|\.cp\d+-\w+|\.abi3)?[\w.-]*\.(?:so|pyd|dll)\b`)
