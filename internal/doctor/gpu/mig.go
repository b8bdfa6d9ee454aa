package gpu

import (
	"slices"
	"strings"

	"envfix/internal/doctor/evidence"
)

// otherInstance: the variable names an instance that is not there. Names of the form
// MIG-GPU-…/1/0 are those of drivers before 470.
func otherInstance(e *evidence.Evidence, out *evidence.Findings) {
	v, _, _ := strings.Cut(e.Machine.Env["CUDA_VISIBLE_DEVICES"], ",")
	if !strings.HasPrefix(v, "MIG-") || len(e.Instances) == 0 || slices.Contains(e.Instances, v) {
		return
	}
	out.Find("ACC006", evidence.Proven, e.From.Env["CUDA_VISIBLE_DEVICES"], e.From.Instances).
		Says("CUDA_VISIBLE_DEVICES names a MIG instance that is not there (%s)", v).
		Do("`export CUDA_VISIBLE_DEVICES=" + e.Instances[0] + "`: as `nvidia-smi -L` names it")
}
