package verdict

import (
	"cmp"
	"slices"
	"strings"

	"envfix/internal/say"
	"envfix/internal/xslices"
)

// installed reports whether a place is in a library, which is not the user's to
// change.
func installed(place string) bool {
	return strings.Contains(place, "-packages/") || strings.Contains(place, "-packages\\")
}

// A framework is a library that runs the loop for its users, who set things in its
// words.
type framework struct {
	name    string
	call    string            // that takes the loader's arguments; "" the user's own DataLoader
	words   map[string]string // its words for a DataLoader's; "" it has none
	batch   string            // where the size of the batch is set
	inLoop  bool              // on a CPU it takes no workers
	precise []string          // its words for matrix products on tensor cores
}

// frameworks lists them, those that others build upon last. Sources: the
// signatures of transformers.TrainingArguments, ultralytics' cfg/default.yaml,
// lightning.pytorch.Trainer, timm.data.create_loader, accelerate.Accelerator.
var frameworks = []framework{
	{
		name:    "ultralytics",
		call:    "model.train(",
		words:   map[string]string{"num_workers": "workers"},
		batch:   "model.train(batch=…): ",
		inLoop:  true, // engine/trainer.py: self.args.workers = 0 for cpu and mps
		precise: []string{"model.train(amp=True)"},
	},
	{
		name: "transformers",
		call: "TrainingArguments(",
		words: map[string]string{"num_workers": "dataloader_num_workers", "pin_memory": "dataloader_pin_memory",
			"persistent_workers": "dataloader_persistent_workers", "prefetch_factor": "dataloader_prefetch_factor"},
		batch:   "TrainingArguments(per_device_train_batch_size=…): ",
		precise: []string{"TrainingArguments(bf16=True)", "TrainingArguments(tf32=True)"},
	},
	{name: "lightning", precise: []string{"Trainer(precision=\"bf16-mixed\")", "torch.set_float32_matmul_precision(\"high\")"}},
	{name: "timm", call: "create_loader(",
		words: map[string]string{"num_workers": "num_workers", "persistent_workers": "persistent_workers", "pin_memory": "pin_memory"}},
	{name: "accelerate", precise: []string{"Accelerator(mixed_precision=\"bf16\")", "torch.set_float32_matmul_precision(\"high\")"}},
}

// framework is the library that runs this job's loop, or made its loader.
func (f *facts) framework() (framework, bool) {
	return xslices.Find(frameworks, func(w framework) bool {
		return slices.ContainsFunc(f.probe().Via, func(via string) bool { return strings.TrimPrefix(via, "pytorch_") == w.name }) ||
			w.call != "" && strings.Contains(f.loader().Where, "-packages/"+w.name+"/")
	})
}

// placeOf is where a library's call is that makes the loader: of transformers its settings are.
func placeOf(l Loader, transformers bool) string {
	if !transformers {
		return say.With(", at ", l.Own, "")
	}
	return cmp.Or(say.With(", at ", l.Setting, ""), say.With(", reached from ", l.Own, ""))
}

// setLoader says how to give the loader other arguments, in the words of the
// library that makes it, at the user's own line.
func (f *facts) setLoader(l Loader, args ...[2]string) []string {
	if why := l.bars("; then DataLoader(…, " + joined(args) + ")"); why != "" {
		return []string{why}
	}
	if l.Changes { // workers that stay would keep the data set as it was
		args = xslices.Filter(args, func(a [2]string) bool { return a[0] != "persistent_workers" })
	}
	w, known := f.framework()
	if !installed(l.Where) || !known || w.call == "" {
		fix := rewrite(l, args...)
		if installed(l.Where) && l.Own != "" {
			fix[0] += ", reached from " + l.Own
		}
		return fix
	}
	var flags []string
	for _, a := range args {
		if name := w.words[a[0]]; name != "" {
			flags = append(flags, name+"="+a[1])
		}
	}
	out := w.call + "…, " + strings.Join(flags, ", ") + ")" + placeOf(l, w.name == "transformers")
	if w.inLoop && f.noGPU && l.Workers == 0 {
		return []string{w.name + " loads within the loop on a CPU, whatever " + w.words["num_workers"] + "= says; on a GPU: " + out}
	}
	return []string{out}
}

// bars says what more workers would break, and what to do before them.
func (l Loader) bars(then string) string {
	switch {
	case l.Stream && l.Files == 1:
		return "the data set is a stream of one file, which one worker reads: store it in several"
	case l.Stream && !l.Divided:
		return "the data set is a stream, and each worker would read all of it: divide it first, by torch.utils.data.get_worker_info() or split_dataset_by_node"
	case l.Held != "":
		return "the data set holds an open " + l.Held + ", which forked workers would share: open it in the worker, at its first sample" + then
	case l.Anew:
		return "workers run the script's body again here: put that below if __name__ == \"__main__\":, and keep lambdas out of the data set" + then
	}
	return ""
}

// mixed says how to use the tensor cores.
func (f *facts) mixed() []string {
	if w, known := f.framework(); known && len(w.precise) > 0 {
		return w.precise
	}
	return []string{"torch.set_float32_matmul_precision(\"high\")", "with torch.autocast(\"cuda\", torch.bfloat16):"}
}
