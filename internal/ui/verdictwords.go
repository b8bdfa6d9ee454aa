package ui

import (
	"slices"
	"strings"

	"envfix/internal/observe/verdict"
)

// verdictNames says in a few words what each verdict means, in the order in which
// the help lists them: first what keeps a job off the GPU, then what makes it wait.
var verdictNames = [][2]string{
	{verdict.Healthy, "nothing holds the job back"},
	{verdict.CPUBuild, "this torch has no CUDA in it"},
	{verdict.ModelOnCPU, "the model computes on the CPU"},
	{verdict.CUDAUnusable, "CUDA does not start"},
	{verdict.NoGPU, "there is no GPU to use"},
	{verdict.WrongGPU, "a slower GPU is used than is there"},
	{verdict.OneGPUOfN, "one of several GPUs is used"},
	{verdict.NotTraining, "no steps of a training were seen"},
	{verdict.LoaderBound, "the loop waits for its data"},
	{verdict.StalledLoader, "the DataLoader stands still"},
	{verdict.WorkersOverQuota, "more workers than processors"},
	{verdict.WorkerRespawn, "the workers start anew for each epoch"},
	{verdict.ShmTooSmall, "too little shared memory"},
	{verdict.CopiesEachStep, "data is copied to the GPU in every step"},
	{verdict.SyncBound, "the loop waits for the GPU in every step"},
	{verdict.PythonBound, "Python on the loop's thread takes the time"},
	{verdict.GCBound, "Python's garbage collector takes the time"},
	{verdict.CheckpointBound, "saving checkpoints takes the time"},
	{verdict.LoggingBound, "logging takes the time"},
	{verdict.EvalBound, "evaluation takes the time"},
	{verdict.MetricBound, "computing metrics takes the time"},
	{verdict.Recompiles, "torch.compile compiles again and again"},
	{verdict.TinyBatch, "the batch is too small for the GPU"},
	{verdict.FP32NoTensorCores, "the tensor cores are not used"},
	{verdict.MemoryButIdle, "memory is held and nothing computes"},
	{verdict.CompileWarmup, "torch.compile takes the time"},
	{verdict.DataParallel, "DataParallel holds the GPUs back"},
	{verdict.DDPSkew, "one rank comes late, the others wait"},
	{verdict.OtherProcess, "another process uses the GPU"},
	{verdict.OOM, "the GPU's memory is full"},
	{verdict.Died, "a signal ended the job"},
	{verdict.HostOOM, "main memory ran out"},
	{verdict.Thermal, "the GPU is too hot and slows down"},
	{verdict.PowerCap, "the GPU runs against its power limit"},
	{verdict.PCIeLink, "the way to the GPU is narrow"},
}

// verdictTitle is what a verdict means; of an id that is not known, the id in words.
func verdictTitle(id string) string {
	if i := slices.IndexFunc(verdictNames, func(n [2]string) bool { return n[0] == id }); i >= 0 {
		return verdictNames[i][1]
	}
	return strings.ReplaceAll(Clean(id), "_", " ")
}

// Verdicts lists what `envfix run` may say, for its help.
func Verdicts() string { return Columns(verdictNames, 2) }
