package verdict

// A Process is one process of the job: what /proc said of it and, where the
// probe reached it, what it did.
type Process struct {
	PID      int     `json:"pid"`
	Parent   int     `json:"ppid,omitempty"`
	Name     string  `json:"name"`
	Command  string  `json:"command,omitempty"`
	User     string  `json:"user,omitempty"`
	Worker   bool    `json:"worker,omitempty"` // of a DataLoader: a Python below one that trains, which loads and does not train
	CPU      float64 `json:"cpu_s"`            // CPU seconds while it was watched
	Wall     float64 `json:"wall_s"`           // seconds it was watched
	LoopCPU  float64 `json:"loop_cpu_s,omitempty"`
	LoopWall float64 `json:"loop_wall_s,omitempty"` // both since the training loop was warm
	Delay    float64 `json:"delay_s,omitempty"`     // seconds it was ready and waited for a CPU, since the loop was warm
	RSS      int64   `json:"rss,omitempty"`         // at most
	Samples  int     `json:"samples,omitempty"`
	Blocked  int     `json:"blocked,omitempty"` // samples in uninterruptible sleep: disk or network file system
	Mount    string  `json:"mount,omitempty"`   // the network file system it has files open on
	GPUFiles bool    `json:"gpu_files,omitempty"`
	Read     float64 `json:"read_mib,omitempty"` // from storage, while it was watched
	Missed   string  `json:"missed,omitempty"`   // why the probe did not reach it
	Torch    string  `json:"torch,omitempty"`    // cpu, cuda or hip: the libtorch it has mapped
	Probe    *Probe  `json:"probe,omitempty"`    // nil: the probe did not reach it
}

// A Probe is what the inside lane saw of one process.
type Probe struct {
	Version  string           `json:"version,omitempty"` // of torch
	CUDA     string           `json:"cuda,omitempty"`    // that torch was built with; "" none
	HIP      string           `json:"hip,omitempty"`
	XPU      bool             `json:"xpu,omitempty"`
	Prefix   string           `json:"prefix,omitempty" most:"1024"` // sys.prefix: the environment of its Python
	CUDAInit bool             `json:"cuda_init,omitempty"`
	SaidNo   bool             `json:"said_no,omitempty"` // torch.cuda.is_available() told the job False
	Visible  *string          `json:"cuda_visible_devices,omitempty"`
	Rank     *int             `json:"rank,omitempty"`
	World    int              `json:"world,omitempty"`
	Params   map[string]int64 `json:"params,omitempty"`   // "device/dtype" → parameters of the optimizer
	Matrices int64            `json:"matrices,omitempty"` // of these parameters, those of matrices: linear layers and embeddings
	Matmul   string           `json:"matmul,omitempty"`   // the precision of products of 32-bit matrices: highest, high or medium
	Compiled bool             `json:"compiled,omitempty"`
	Page     Page             `json:"page,omitzero"`
	Loaders  []Loader         `json:"loaders,omitempty"`
	Batch    *Tensor          `json:"batch,omitempty"` // the first tensor of a batch
	Tensors  int              `json:"batch_tensors,omitempty"`
	Burst    *Burst           `json:"burst,omitempty"`
	Parallel []string         `json:"parallel,omitempty"` // DataParallel, DistributedDataParallel
	Devices  int              `json:"parallel_devices,omitempty"`
	Crash    *Crash           `json:"crash,omitempty"`
	OOMs     int              `json:"ooms,omitempty"`          // out-of-memory errors that the allocator counted
	Retries  int              `json:"alloc_retries,omitempty"` // times it emptied its cache to make room
	Try      *Try             `json:"try,omitempty"`
	Via      []string         `json:"via,omitempty"`          // the packages between the script and the optimizer's step, from inside
	Where    *Where           `json:"where,omitempty"`        // what ran in the loader when it was looked at
	Made     int              `json:"loaders_made,omitempty"` // DataLoaders in all; Loaders holds the first
	Deep     []string         `json:"deep,omitempty"`         // the slowest of a torch.profiler burst: kernels, or operators of the CPU
	Kernels  bool             `json:"deep_kernels,omitempty"` // Deep holds what ran on a GPU
	Error    string           `json:"error,omitempty"`
}

// What counts as a step where no optimizer steps.
const (
	EachBatch    = "batch"
	EachBackward = "backward pass"
)

// A Page is the probe's page of counters at its last reading. Counters marked
// "warm" leave out the first three steps, or of steps of seconds the first.
type Page struct {
	Unit      string  `json:"unit,omitempty"` // what counts as a step; "" the optimizer's
	Steps     uint64  `json:"steps,omitempty"`
	Batches   uint64  `json:"batches,omitempty"`
	Epochs    uint64  `json:"epochs,omitempty"`     // that began
	Warm      uint64  `json:"warm_steps,omitempty"` // steps that are measured
	WarmAt    float64 `json:"warm_at,omitempty"`    // seconds since the job's start
	LastAt    float64 `json:"last_at,omitempty"`
	Step      float64 `json:"step_s,omitempty"` // warm: seconds between optimizer steps, in all
	Load      float64 `json:"load_s,omitempty"` // warm: seconds in the loader's next, first and last of an epoch apart
	Edge      float64 `json:"edge_s,omitempty"` // seconds at the edges of epochs: workers start and stop
	LoadCPU   float64 `json:"load_cpu_s,omitempty"`
	LoadSeen  float64 `json:"load_seen_s,omitempty"` // of this loading time LoadCPU was measured
	LoadMax   float64 `json:"load_max_s,omitempty"`  // the longest single wait
	LoadP50   float64 `json:"load_p50_s,omitempty"`  // median wait, from power-of-two buckets
	LoadP90   float64 `json:"load_p90_s,omitempty"`  // a tenth of the waits is longer
	StepP50   float64 `json:"step_p50_s,omitempty"`  // median step
	First     float64 `json:"first_s,omitempty"`     // seconds from the first batch to where Warm begins
	Waiting   float64 `json:"waiting_s,omitempty"`   // seconds in the loader when last seen, if it was there
	FirstWait bool    `json:"first_wait,omitempty"`  // that wait is an epoch's first
}

// A Loader is a DataLoader's configuration and the line that made it.
type Loader struct {
	Workers    int    `json:"workers"`
	Pin        bool   `json:"pin_memory,omitempty"`
	Batch      int    `json:"batch_size,omitempty"`
	Persistent bool   `json:"persistent,omitempty"`
	Prefetch   int    `json:"prefetch,omitempty"`
	Data       int64  `json:"data,omitempty"`    // tells its data set from another's
	Trains     bool   `json:"trains,omitempty"`  // training steps used its data
	Stream     bool   `json:"stream,omitempty"`  // an IterableDataset
	Divided    bool   `json:"divided,omitempty"` // that asks which worker it is in
	Files      int    `json:"files,omitempty"`   // that it is stored in; 0 unknown
	Held       string `json:"held,omitempty"`    // what its data set holds open: a file or a connection, which processes cannot share
	Anew       bool   `json:"anew,omitempty"`    // its workers would run the script's body again: they are not forked
	Changes    bool   `json:"changes,omitempty"` // the job changes its data set between epochs
	Where      string `json:"where,omitempty"`   // file:line
	Source     string `json:"source,omitempty"`
	Own        string `json:"own,omitempty"`     // file:line of the job's own code that led there, where Where is a library's
	Setting    string `json:"setting,omitempty"` // file:line of the call that sets a library's loader
}

// A Tensor is a shape with its type.
type Tensor struct {
	Shape []int  `json:"shape"`
	Type  string `json:"dtype,omitempty"`
}

// Bytes is the tensor's size.
func (t Tensor) Bytes() int64 {
	n := int64(4)
	switch t.Type {
	case "torch.float64", "torch.int64":
		n = 8
	case "torch.float16", "torch.bfloat16", "torch.int16":
		n = 2
	case "torch.uint8", "torch.int8", "torch.bool":
		n = 1
	}
	for _, d := range t.Shape {
		n *= int64(d)
	}
	return n
}

// A Burst is what a few steps under closer watch showed, in sums over Steps.
type Burst struct {
	Steps    int    `json:"steps"`
	Passes   int    `json:"passes,omitempty"`   // forward and backward; more than Steps where gradients are accumulated
	Copies   int    `json:"copies"`             // moves of CPU tensors to a device
	CopyAt   string `json:"copy_at,omitempty"`  // file:line of most of them
	CopyOwn  string `json:"copy_own,omitempty"` // of the job's own code that led there
	Syncs    int    `json:"syncs"`              // reads of a value that wait for the device
	SyncAt   string `json:"sync_at,omitempty"`
	SyncOwn  string `json:"sync_own,omitempty"`
	OnCPU    bool   `json:"on_cpu,omitempty"` // counted on CPU tensors, for no device is there: what they would be
	Autocast int    `json:"autocast"`
	Calls    int    `json:"calls,omitempty"` // of a model: what most of its modules were called
}

// perStep is how often a model is run forward and backward before the optimizer
// steps: once, unless gradients are accumulated.
func (b Burst) perStep() float64 {
	if b.Steps == 0 {
		return 1
	}
	return max(1, float64(b.Passes)/float64(b.Steps))
}

// LoopParts are the parts of a loop, in their order: of the DataLoader the wait,
// its samples, batches and sampler; data is input of another kind, python work of
// the job's own that is no tensor's.
var LoopParts = []string{"load", "item", "collate", "sampler", "data", "copy", "forward", "backward", "optimizer", "saving", "logging", "metrics",
	"evaluation", "compile", "sync", "python", "gc", "between"}

// A Part is what a part of a step takes as Python sees it, in seconds a step: work
// that a GPU does later is not in it.
type Part struct {
	Name    string  `json:"name"`
	Seconds float64 `json:"s"`
}

// A Where is what a process did when its stack was looked at: of Looks microseconds
// it was for Seen at something, in what tells as much as Count looks of one length. In an
// old recording both are looks.
type Where struct {
	Seen      int            `json:"seen"`
	Looks     int            `json:"looks"`
	Count     int            `json:"count,omitempty"`
	Parts     map[string]int `json:"parts,omitempty"`    // Seen by part of the loop
	GCTimes   int            `json:"gc_times,omitempty"` // that took a millisecond and more
	GC        int            `json:"gc_us,omitempty"`    // of the processor's time in these, measured
	GCAt      string         `json:"gc_at,omitempty"`    // file:line of most of it
	Compiles  int            `json:"compiles,omitempty"`
	CompileS  float64        `json:"compile_s,omitempty"`  // seconds of all these, by dynamo's own metrics
	CompileAt string         `json:"compile_at,omitempty"` // what was compiled last
	Reason    string         `json:"reason,omitempty"`     // why it was compiled again
	Top       []Spot         `json:"top"`
}

// A Spot is a place in the loop, and how long it was seen.
type Spot struct {
	At   string `json:"at,omitempty"`   // file:line of the job's own
	Func string `json:"func,omitempty"` // of the job's own
	Call string `json:"call,omitempty"` // what it calls of a library
	Part string `json:"part,omitempty"` // of LoopParts
	N    int    `json:"n"`
}

// A Crash is an exception that ended the job.
type Crash struct {
	Type string `json:"type"`
	Text string `json:"text" most:"1500"`
}

// A Try compares the loader alone with a copy of it that has other arguments, over
// the same samples.
type Try struct {
	Args     string  `json:"args"`
	Steps    int     `json:"steps"`    // batches that were compared
	Before   float64 `json:"before_s"` // a batch
	After    float64 `json:"after_s"`
	LoadB    float64 `json:"load_before_s"` // the same
	LoadA    float64 `json:"load_after_s"`
	RateB    float64 `json:"samples_before"` // a second
	RateA    float64 `json:"samples_after"`
	Compared int     `json:"compared"`           // samples
	Repeated int     `json:"repeated,omitempty"` // of a stream, that came again with the other arguments alone
	Differ   int     `json:"differ,omitempty"`   // that did not come with them
	Error    string  `json:"error,omitempty"`
}
