package places

import (
	"envfix/internal/doctor/evidence"
)

// noRuntimeGPU: on Colab, Kaggle and their like a notebook has no GPU until one is
// chosen, and the torch that is there has CUDA.
func noRuntimeGPU(e *evidence.Evidence, out *evidence.Findings) {
	said, ok := e.None()
	if !ok || e.Place.Colab.IsZero() || len(e.Machine.GPUs) > 0 && e.Listed || e.Machine.Driver != nil ||
		e.Torch.NoCUDA || e.Torch.Label == "cpu" {
		return
	}
	if _, driver := e.Has("torch-driver-too-old"); driver {
		return // there is one, and so there is a GPU
	}
	if _, masked := e.Machine.Env["CUDA_VISIBLE_DEVICES"]; masked || e.Clue("cvd-set-in-script") {
		return
	}
	out.Find("HW001", evidence.Likely, said, e.Place.Colab).
		Says("the notebook's runtime has no GPU").
		Do(
			"Colab: Runtime, Change runtime type, Hardware accelerator: a GPU",
			"Kaggle: Settings, Accelerator: a GPU",
			"else there is none free for this account now",
		)
}
