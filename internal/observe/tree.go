package observe

import (
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"envfix/internal/observe/verdict"
	"envfix/internal/proc"
	"envfix/internal/text"
)

// watchClosely is how many seconds new processes are looked for at every look:
// short jobs live and die between two whole seconds.
const watchClosely = 10

// mostKept is how many processes have their files kept open, four each: a
// process may have 1024 files open where nobody allows more.
const mostKept = 128

// tree finds new processes: the children of all that are known, and those that
// have left the tree and have a page. Children of other threads than the main
// one are looked for only when that is asked: a process has many, and most start
// none.
func (w *watcher) tree(allThreads bool) {
	if w.root == 0 {
		return
	}
	w.add(w.root)
	if p := w.procs[w.root]; p != nil && !p.gone && !p.kids.Exists() {
		for _, pid := range proc.Self.Descendants(w.root, allThreads, mostProcesses) { // a kernel that lists no children
			w.add(pid)
		}
	}
	for i := 0; i < len(w.order); i++ { // add appends to it
		p := w.procs[w.order[i]]
		switch {
		case p.gone:
		case allThreads && p.threads > 1:
			kids, _ := proc.Self.Of(p.PID).Children(true)
			for _, pid := range kids {
				w.add(pid)
			}
		default:
			w.addChildren(p)
		}
	}
	if allThreads {
		w.pages = 0 // the folder's time is coarse: two pages may share it
	}
	w.openPages()
}

// addChildren reads the list of a main thread's children.
func (w *watcher) addChildren(p *watched) {
	b, ok := p.kids.Read(w.list[:])
	if !ok {
		return
	}
	if len(b) == len(w.list) { // longer than the buffer
		kids, _ := proc.Self.Of(p.PID).Children(false)
		for _, pid := range kids {
			w.add(pid)
		}
		return
	}
	for len(b) > 0 {
		var word []byte
		word, b = proc.Field(b)
		if n, ok := proc.Number(word); ok {
			w.add(int(n))
		}
	}
}

// openPages looks for pages that probes have begun since the last time.
func (w *watcher) openPages() {
	if w.lane == nil || !w.lane.changed(&w.pages) {
		return
	}
	for pid, path := range w.lane.files("page") {
		w.add(pid) // a process that left the tree, or was not seen in it yet
		if p := w.procs[pid]; p != nil && !p.gone && !p.paged {
			p.shared = proc.Open(path, p.stat.Kept())
			p.paged = true
		}
	}
}

// add begins to watch a process.
func (w *watcher) add(pid int) {
	p := w.procs[pid]
	if p != nil && !p.gone || p == nil && len(w.procs) >= mostProcesses {
		return
	}
	dir, keep := string(proc.Self.Of(pid)), len(w.procs) < mostKept
	st := proc.Open(dir+"/stat", keep)
	b, ok := st.Read(w.buf[:])
	s, err := proc.ParseStat(b)
	ended := s.State == 'Z' || p != nil && s.Start == p.start // its parent has yet to take note
	if !ok || err != nil || ended {
		st.Close()
		return
	}
	if p == nil {
		p = &watched{}
		w.order = append(w.order, pid)
	}
	now := time.Now()
	*p = watched{Process: verdict.Process{PID: pid, Parent: s.Parent, User: w.owner(dir)}, threads: s.Threads,
		stat: st, sched: proc.Open(dir+"/schedstat", keep), kids: proc.Open(dir+"/task/"+strconv.Itoa(pid)+"/children", keep),
		start: s.Start, seen: now, born: now}
	if age := sinceBoot() - float64(s.Start)/proc.Ticks; age > 0 {
		p.born = now.Add(-time.Duration(age * float64(time.Second)))
	}
	p.lastCPU = s.CPU
	p.rename(s.Name, w.secrets)
	if !w.own {
		p.firstCPU, p.firstDelay = s.CPU, p.delay(w.buf[:])
	}
	w.procs[pid], w.pages = p, 0
}

// rename takes a process's name, and with it the command: cleaned, short and without credentials.
func (p *watched) rename(name []byte, secrets []string) {
	p.rawName = string(name)
	p.Name, p.Command = text.Clip(p.rawName, 40), text.Clip(strings.TrimSpace(strings.Join(text.RedactArgv(proc.Self.Of(p.PID).Args(), secrets...), " ")), 160)
}

// owner is the name of the user of a process's folder.
func (w *watcher) owner(dir string) string {
	uid, ok := proc.Owner(dir)
	if !ok {
		return ""
	}
	name, known := w.owners[uid]
	if !known {
		name = userName(uid)
		w.owners[uid] = name
	}
	return name
}

func userName(uid int) string {
	if name, ok := proc.Self.UserName(uid); ok {
		return text.Clip(name, 32)
	}
	return strconv.Itoa(uid)
}

// gpuDevices reports whether this machine has devices by which a process would
// be seen to use a GPU.
func gpuDevices() bool {
	return slices.ContainsFunc([]string{"/dev/nvidiactl", "/dev/nvidia0", "/dev/kfd", "/dev/dxg"}, func(name string) bool {
		_, err := os.Stat(name)
		return err == nil
	})
}
