package verdict

// A View is the machine's GPUs and who uses them, over the last second.
type View struct {
	Format    int           `json:"format"`
	Time      string        `json:"time"` // RFC 3339
	GPUs      []GPUView     `json:"gpus"`
	Processes []ProcessView `json:"processes"`
	Verdict   string        `json:"verdict,omitempty"` // of the job that is watched with --pid, so far
	Text      string        `json:"text,omitempty"`
	Notes     []string      `json:"notes,omitempty"`
}

// A GPUView is one GPU. A missing number is not measurable here.
type GPUView struct {
	Index       int      `json:"index"`
	Name        string   `json:"name,omitempty"`
	Util        *float64 `json:"util,omitempty"` // percent
	MemoryUsed  int64    `json:"memory_used_mib"`
	MemoryTotal int64    `json:"memory_total_mib"`
	Power       *float64 `json:"power_w,omitempty"`
	Temperature *int     `json:"temperature_c,omitempty"`
	Clock       *float64 `json:"clock_share,omitempty"`
	Slowed      string   `json:"slowed,omitempty"` // heat, power
}

// A ProcessView is one process that uses a GPU or PyTorch.
type ProcessView struct {
	PID      int      `json:"pid"`
	User     string   `json:"user,omitempty"`
	GPUs     []int    `json:"gpus"`
	Memory   int64    `json:"gpu_memory_mib"`
	CPU      float64  `json:"cpu"` // cores
	RSS      int64    `json:"rss_mib"`
	Waits    string   `json:"waits_for"`
	StepsPer *float64 `json:"steps_per_s,omitempty"`
	Command  string   `json:"command"`
}
