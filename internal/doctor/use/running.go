package use

import (
	"path"
	"strings"

	"envfix/internal/doctor/evidence"
	"envfix/internal/lazy"
	"envfix/internal/xslices"
)

// ownLibrary are the libraries whose loss means something to torch.
var ownLibrary = lazy.Regexp(`^(_C\.|lib(torch|c10|caffe2|cuda|cudnn|cublas|nccl|cusparse|cusolver|cufft|curand|nvrtc|nvJitLink|nvidia-))`)

// replacedUnder: an installer replaced libraries while the process ran. What it
// loads from now on is of the other version.
func replacedUnder(e *evidence.Evidence, out *evidence.Findings) {
	r := e.Running
	if r == nil {
		return
	}
	gone := xslices.Filter(r.Gone, func(f string) bool {
		return ownLibrary().MatchString(path.Base(f)) && !strings.HasPrefix(path.Base(f), "libcuda.so")
	})
	if len(gone) == 0 {
		return
	}
	out.Find("PY034", evidence.Proven, evidence.Fact("mapped and gone: %s", gone[0])).
		Says("%d libraries that process %d runs with were replaced or removed while it ran, %s first",
			len(gone), r.PID, path.Base(gone[0]))
}
