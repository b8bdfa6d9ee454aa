package doctor

// hostedRules look at notebook services, where the GPU is a setting.
var hostedRules = []rule{
	{[]string{"HW001"}, "a notebook service, and no GPU at all", (*exam).noRuntimeGPU},
}

// noRuntimeGPU: on Colab, Kaggle and their like a notebook has no GPU until one is
// chosen, and the torch that is there has CUDA.
func (e *exam) noRuntimeGPU() {
	said, ok := e.has(noDevice...)
	if !ok && e.unavailable() {
		said, ok = e.Torch.AvailableAt, true
	}
	if !ok || e.Place.Colab.IsZero() || len(e.Machine.GPUs) > 0 && e.Listed || e.Machine.Driver != nil ||
		e.Torch.NoCUDA || e.Torch.Label == "cpu" {
		return
	}
	if _, driver := e.has("torch-driver-too-old"); driver {
		return // there is one, and so there is a GPU
	}
	if _, masked := e.Machine.Env["CUDA_VISIBLE_DEVICES"]; masked || e.clue("cvd-set-in-script") {
		return
	}
	e.find("HW001", likely, said, e.Place.Colab).
		says("the notebook's runtime has no GPU").
		fix(
			"Colab: Runtime, Change runtime type, Hardware accelerator: a GPU",
			"Kaggle: Settings, Accelerator: a GPU",
			"else there is none free for this account now",
		).
		explains("DRV001", "DRV002", "ACC001", "PY001", "CODE006")
}
