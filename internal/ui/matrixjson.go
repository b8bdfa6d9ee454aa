package ui

import (
	"envfix/internal/text"
	"envfix/internal/version"
	"envfix/matrix"
)

// The JSON of `envfix matrix show`.
type (
	releaseJSON struct {
		Torch      version.Python            `json:"torch"`
		Date       string                    `json:"date"`
		Companions map[string]version.Python `json:"companions"`
		Source     string                    `json:"source"`
		Builds     []buildJSON               `json:"builds"`
	}
	buildJSON struct {
		Build        string            `json:"build"`
		OS           string            `json:"os"`
		Arch         string            `json:"arch"`
		CUDA         version.Dotted    `json:"cuda"`
		CuDNN        version.Dotted    `json:"cudnn"`
		NCCL         version.Dotted    `json:"nccl"`
		Triton       version.Python    `json:"triton"`
		Libraries    map[string]string `json:"libraries"`
		Cubins       []string          `json:"cubins"`
		PTX          []string          `json:"ptx"`
		Runs         string            `json:"runs,omitempty"` // on the GPU asked for: native or PTX
		Driver       driverJSON        `json:"driver"`
		PythonMin    version.Python    `json:"python_min"`
		PythonMax    version.Python    `json:"python_max"`
		FreeThreaded []string          `json:"free_threaded"`
		Glibc        version.Dotted    `json:"glibc"`
		MacOS        version.Dotted    `json:"macos"`
		Index        string            `json:"index"`
		Default      bool              `json:"default"`
		Status       matrix.Status     `json:"status"`
		Proof        matrix.Proof      `json:"proof"`
		Source       string            `json:"source"`
		Citation     string            `json:"citation"`
		Notes        string            `json:"notes,omitempty"`
	}
	driverJSON struct {
		Linux   version.Dotted `json:"linux"`
		Windows version.Dotted `json:"windows"`
	}
)

func MatrixShow(m *matrix.Matrix, list []ShownRelease) any {
	answer := MatrixShowAnswer{1, map[string]string{"version": m.Version, "date": m.Date, "sha256": m.SHA256}, []releaseJSON{}}
	for _, r := range list {
		out := releaseJSON{Torch: r.Torch, Date: r.Date, Companions: r.Companions, Source: r.Source, Builds: []buildJSON{}}
		for _, b := range r.Builds {
			out.Builds = append(out.Builds, buildJSON{
				Build: b.Label, OS: b.OS, Arch: b.Arch, CUDA: b.CUDA, CuDNN: b.CuDNN, NCCL: b.NCCL, Triton: b.Triton, Libraries: b.Pins,
				Cubins: CodeWords("sm_", b.Native), PTX: CodeWords("compute_", b.PTX), Runs: b.Runs, Driver: driverJSON{b.Floor.Linux, b.Floor.Windows},
				PythonMin: b.PythonMin, PythonMax: b.PythonMax, FreeThreaded: append([]string{}, b.FreeThreaded...), Glibc: b.Glibc, MacOS: b.MacOSMin,
				Index: b.Index, Default: b.Default, Status: b.Status, Proof: b.Proof, Source: b.Source, Citation: b.Citation, Notes: b.Notes,
			})
		}
		answer.Releases = append(answer.Releases, out)
	}
	return answer
}

func CodeWords(prefix string, codes []matrix.Code) []string {
	return append([]string{}, text.Each(codes, func(c matrix.Code) string { return prefix + c.SM.Code() + c.Suffix })...)
}

// A MatrixShowAnswer is the JSON of `envfix matrix show`.
type MatrixShowAnswer struct {
	Format   int               `json:"format"`
	Matrix   map[string]string `json:"matrix"`
	Releases []releaseJSON     `json:"releases"`
}
