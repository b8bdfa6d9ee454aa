package read

import "envfix/internal/machine"

// A Usage is the memory in use on one GPU, as nvidia-smi shows it.
type Usage struct {
	GPU   int   // -1 unknown
	Bytes int64 // used
	Total int64 // 0 unknown
	At    Evidence
}

// memory reads the numbers of the line where it holds any.
func (r *Reader) memory(s Evidence) {
	o := machine.ParseOutOfMemory(r.whole)
	if n := len(r.c.Memory); o.Total <= 0 || n > 0 && r.c.Memory[n-1].At.Line == s.Line || n >= 8 {
		return
	}
	ours := max(o.Reserved, o.Allocated+max(0, o.Unallocated)) // a container's process is told to hold none
	r.c.Memory = append(r.c.Memory, Allocation{Total: o.Total, Free: o.Free, Tried: o.Tried, Ours: ours, Others: o.Others, Holders: o.Holders, At: s})
}
