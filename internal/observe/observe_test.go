package observe

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"envfix/internal/nvmlchild"
	"envfix/internal/observe/verdict"
	"envfix/internal/proc"

	"github.com/google/go-cmp/cmp"
)

func TestCgroup(t *testing.T) {
	root := t.TempDir()
	put := func(name, text string) {
		p := filepath.Join(root, name)
		os.MkdirAll(filepath.Dir(p), 0o777)
		if err := os.WriteFile(p, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	put("cpu.max", "max 100000\n")
	put("a/cpu.max", "150000 100000\n") // the tightest one holds, wherever it is
	put("a/b/cpu.max", "400000 100000\n")
	put("a/cpu.stat", "usage_usec 5\nnr_periods 100\nnr_throttled 64\n")
	put("a/b/cpu.stat", "usage_usec 5\nnr_periods 0\nnr_throttled 0\n")
	put("a/b/memory.max", "max\n")
	put("a/memory.max", "34359738368\n")
	put("a/b/memory.events", "low 0\noom 1\noom_kill 2\n")
	var c cgroup
	c.upward(root, "/a/b")
	want := cgroup{quota: 1.5, periods: 100, refused: 64, memory: 32768, kills: 2, killsIn: filepath.Join(root, "a/b"), known: true}
	if diff := cmp.Diff(want, c, cmp.AllowUnexported(cgroup{})); diff != "" {
		t.Error(diff)
	}
	put("v1/cpu.cfs_quota_us", "200000\n")
	put("v1/cpu.cfs_period_us", "100000\n")
	c = cgroup{}
	c.upward(root, "/v1/../../../v1")
	if c.quota != 2 {
		t.Errorf("quota of version 1: %v", c.quota)
	}
	if n := killsOf(root); n[filepath.Join(root, "a/b")] != 2 || n[root] != 0 || len(n) != 4 {
		t.Errorf("killed before the job: %v", n)
	}
	put("memory/cgroup.procs", "") // where memory is a hierarchy of version 1, its groups alone
	if n := killsOf(root); len(n) != 1 {
		t.Errorf("killed before the job, version 1: %v", n)
	}
	for i := range mostGroups {
		put("memory/"+strconv.Itoa(i)+"/cgroup.procs", "")
	}
	if n := killsOf(root); n != nil {
		t.Errorf("%d groups were read", len(n))
	}
}

func TestMounts(t *testing.T) {
	b := []byte(`36 35 98:0 / / rw,noatime master:1 - ext4 /dev/root rw
37 36 0:50 / /mnt/my\040data rw - nfs4 server:/x rw
38 36 0:51 / /sshfs rw - fuse.sshfs u@h:/ rw
broken
`)
	m := parseMounts(b)
	if diff := cmp.Diff([]mount{{"/mnt/my data", "nfs4"}, {"/sshfs", "fuse.sshfs"}}, m, cmp.AllowUnexported(mount{})); diff != "" {
		t.Error(diff)
	}
	for path, want := range map[string]string{"/mnt/my data/a": "/mnt/my data (nfs4)", "/mnt/my database": "", "/home": ""} {
		if got := onNetwork(path, m); got != want {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
}

// TestHostileEvents: what a job writes into its probe's file is outside text.
func TestHostileEvents(t *testing.T) {
	lines := []string{
		`{"version":"2.15\u001b[31m","cuda":"13.2","cuda_visible_devices":"0\n1"}`,
		`not json`, `[1,2]`, `{"version":5}`,
		`{"loader":{"workers":2,"where":"/etc/passwd:1","batch_size":-4}}`,
		`{"crash":{"type":"E\u202e","text":"` + strings.Repeat("x", 5000) + `"}}`,
		`{"params":{"cpu/torch.float32":-5,"cuda:0/torch.float32":7,"x\u001b[0m":1},"rank":3,"via":["` + strings.Repeat("y", 900) + `"]}`,
	}
	p := parseEvents([]byte(strings.Join(lines, "\n")))
	if diff := cmp.Diff([]string{"2.15", "0 1", "E"}, []string{p.Version, *p.Visible, p.Crash.Type}); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]int{1500, longest}, []int{len([]rune(p.Crash.Text)), len([]rune(p.Via[0]))}); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(map[string]int64{"cpu/torch.float32": 0, "cuda:0/torch.float32": 7, "x": 1}, p.Params); diff != "" || *p.Rank != 3 || p.Loaders[0].Batch != 0 {
		t.Errorf("%s %+v", diff, p)
	}
	many := parseEvents(bytes.Repeat([]byte(`{"loader":{}}`+"\n"), 5000))
	if len(many.Loaders) > mostEvents {
		t.Errorf("%d loaders", len(many.Loaders))
	}
}

func FuzzEvents(f *testing.F) {
	f.Add([]byte(`{"burst":{"steps":5,"copies":3}}` + "\n" + `{"where":{"seen":4,"count":50,"parts":{"python":3}}}`))
	f.Add([]byte(`{"deep":["a"],"params":{"\u0000":1},"page":{"warm_steps":1,"step_s":1e308}}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		tr := &verdict.Trace{Format: 1, Seconds: 10, Processes: []verdict.Process{{PID: 1, Probe: parseEvents(b)}}}
		if _, err := json.Marshal(verdict.Judge(tr)); err != nil {
			t.Fatal(err)
		}
	})
}

func TestMedian(t *testing.T) {
	counts := make([]uint64, 64)
	if got := quantile(counts, 0.5); got != 0 {
		t.Errorf("of nothing: %v", got)
	}
	counts[20], counts[30] = 10, 3 // around 1 ms, and 1 s
	if got := quantile(counts, 0.5); got < 0.0005 || got > 0.001 {
		t.Errorf("got %v, want about 0.8 ms", got)
	}
}

// TestEncode: a recording of days and hundreds of processes stays below 1 MB
// and judges as before.
func TestEncode(t *testing.T) {
	tr := &verdict.Trace{Format: 1, Seconds: 1e5, GPUs: make([]verdict.GPU, 8), Host: verdict.Host{CPUs: 8}}
	for i := range 20000 {
		f := verdict.Frame{At: float64(i) * 5, Span: 5, GPUs: make([]verdict.GPUFrame, 8)}
		for g := range f.GPUs {
			f.GPUs[g] = frameOf(nvmlchild.Reading{Utils: []float64{95, 97}, Used: 20000, Clock: 1900, Power: 512.25, Temp: 61, Rx: -1, SMBusy: -1}, nvmlchild.SampledGPU{Clock: 1980})
		}
		tr.Frames = append(tr.Frames, f)
	}
	for i := range 900 {
		tr.Processes = append(tr.Processes, verdict.Process{PID: i + 1, Name: "python", Command: strings.Repeat("long ", 30), Wall: 1e5, CPU: 1})
	}
	data, err := Encode(tr)
	if err != nil {
		t.Fatal(err)
	}
	if len(data) > 1<<20 {
		t.Errorf("%d bytes", len(data))
	}
	again, err := Decode(data)
	if err != nil {
		t.Fatal(err)
	}
	a, b := verdict.Judge(tr), verdict.Judge(again)
	if diff := cmp.Diff([]any{a.Verdict, a.Confidence, a.Evidence}, []any{b.Verdict, b.Confidence, b.Evidence}); diff != "" {
		t.Error(diff)
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(`{"format":1,"seconds":3,"gpus":[{"index":0}],"frames":[{"t":0,"d":1,"g":[{"n":3,"u":200}]}],"processes":[{"pid":1,"probe":{"page":{"steps":5}}}]}`))
	f.Add([]byte("0,0,93,46,20000,143771,1980,1980,600000,60,0,5,5,16,16,4242"))
	f.Fuzz(func(t *testing.T, b []byte) {
		tr, err := Decode(b)
		if err != nil {
			return
		}
		r := verdict.Judge(tr)
		if strings.ContainsAny(r.Text, "\x1b\n\r") {
			t.Errorf("%q", r.Text)
		}
		if _, err := json.Marshal(r); err != nil {
			t.Fatal(err)
		}
	})
}

// TestReadings: what the child says becomes frames; a process list is used only
// where its numbers are ours.
func TestReadings(t *testing.T) {
	util := []float64{97}
	for _, host := range []bool{true, false} {
		g := &gpuLane{host: host, started: time.Now(), tenants: map[[2]int]verdict.Tenant{}}
		ours := func(pid int) bool { return pid == 7 }
		var f verdict.Frame
		g.take(nvmlchild.SampleLine{GPUs: []nvmlchild.SampledGPU{{Index: 0, Name: "x\x1b[0m", Memory: 80000, Clock: 1980, MaxGen: 5, MaxWidth: 16, Processes: true}}}, ours, &f)
		g.take(nvmlchild.SampleLine{Readings: []nvmlchild.Reading{{Utils: util, Used: 500, Clock: 1980, Gen: 5, Width: 16, Rx: -1, SMBusy: -1, Tensor: -1, Procs: [][2]int64{{999, 400}}}}}, ours, &f)
		g.take(nvmlchild.SampleLine{Readings: []nvmlchild.Reading{{Used: 900, Rx: 50, SMBusy: -1, Tensor: -1}, {}}}, ours, &f) // a GPU too many: not ours
		out := g.finish()
		if len(out) != 1 || *out[0].Before != 500 || out[0].Name != "x" || out[0].Attributed != host || len(out[0].Tenants) != map[bool]int{true: 1, false: 0}[host] {
			t.Errorf("host %t: %+v", host, out)
		}
		if x := f.GPUs[0]; x.N != 1 || x.High != 1 || x.Theirs != map[bool]int64{true: 400, false: 0}[host] || x.RxN != 0 || x.Link != 1 {
			t.Errorf("host %t: %+v", host, x)
		}
	}
}

// TestDescendants finds this process and a child of its own.
func TestDescendants(t *testing.T) {
	if _, err := os.Stat("/proc/self/stat"); err != nil {
		t.Skip("no /proc here")
	}
	if got := proc.Self.Descendants(os.Getpid(), true, mostProcesses); !slices.Contains(got, os.Getpid()) {
		t.Errorf("%v", got)
	}
	w := newWatcher(os.Getpid(), false, nil, nil)
	if cpu, rss := w.look(time.Now()); cpu < 0 || rss <= 0 {
		t.Errorf("cpu %v rss %v", cpu, rss)
	}
	if p := w.finish(); len(p) == 0 || p[0].PID != os.Getpid() || p[0].Command == "" || p[0].User == "" {
		t.Errorf("%+v", p)
	}
}

func TestMarkWorkers(t *testing.T) {
	all := []verdict.Process{
		{PID: 1, Name: "bash"}, {PID: 2, Parent: 1, Name: "python", Probe: &verdict.Probe{Loaders: []verdict.Loader{{Workers: 2}}, Page: verdict.Page{Steps: 5}}},
		{PID: 3, Parent: 2, Name: "pt_data_worker"}, {PID: 4, Parent: 2, Name: "python"}, {PID: 5, Parent: 2, Name: "python", Command: "python -c from multiprocessing.resource_tracker import main"},
		{PID: 6, Parent: 2, Name: "python", Probe: &verdict.Probe{Page: verdict.Page{Steps: 9}}}, {PID: 7, Parent: 1, Name: "python"}, {PID: 8, Parent: 2, Name: "ffmpeg"},
		{PID: 9, Parent: 2, Name: "python", Command: "python -c from multiprocessing.forkserver import main"},
		{PID: 10, Parent: 9, Name: "python", Command: "python -c from multiprocessing.forkserver import main", Probe: &verdict.Probe{Loaders: []verdict.Loader{{Workers: 2}}}},
	}
	markWorkers(all)
	var got []int
	for _, p := range all {
		if p.Worker {
			got = append(got, p.PID)
		}
	}
	if diff := cmp.Diff([]int{3, 4, 10}, got); diff != "" {
		t.Error(diff)
	}
}

// TestLane: the folders are this user's alone, a place that cannot be written or
// that others may write is passed over, and what PYTHONPATH names stays when the
// run is over.
func TestLane(t *testing.T) {
	dir, open := t.TempDir(), t.TempDir()
	if err := os.Chmod(open, 0o777); err != nil {
		t.Fatal(err)
	}
	if l, err := newLane(Options{State: open}); err == nil {
		t.Errorf("a folder that everybody may write was taken: %+v", l)
	}
	if l, err := newLane(Options{}); err == nil || err.Error() != "no home directory is known" {
		t.Errorf("%+v, %v", l, err)
	}
	o := Options{Env: []string{"XDG_RUNTIME_DIR=/proc", "TMPDIR=" + open, "PYTHONPATH=/a:/b"}, State: filepath.Join(dir, "envfix")}
	l, err := newLane(o)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range []string{l.dir, l.code} {
		if st, err := os.Stat(d); err != nil || st.Mode().Perm() != 0o700 || filepath.Dir(d) != o.State {
			t.Errorf("%s: %v %v", d, st.Mode(), err)
		}
	}
	env := l.environment([]string{"A=1", "PYTHONPATH=/a:/b", "ENVFIX_PROBE_TRY=old"}, Options{Try: "num_workers=4"})
	want := []string{"A=1", fmt.Sprintf("PYTHONPATH=%s:/a:/b", l.code), "ENVFIX_PROBE_DIR=" + l.dir, "ENVFIX_PROBE_TRY=num_workers=4"}
	if diff := cmp.Diff(want, env); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff("PYTHONPATH="+l.code, l.environment([]string{"PYTHONPATH="}, Options{})[0]); diff != "" {
		t.Error(diff) // an empty entry would add the working directory
	}
	site := filepath.Join(l.code, "sitecustomize.py")
	if err := os.WriteFile(site, []byte("half"), 0o600); err != nil {
		t.Fatal(err)
	}
	again, err := newLane(o)
	if err != nil || again.code != l.code || again.dir == l.dir {
		t.Errorf("%+v, %v", again, err)
	}
	if have, err := os.ReadFile(site); err != nil || !bytes.Equal(have, sources()["sitecustomize.py"]) {
		t.Errorf("a damaged file stayed: %q, %v", have, err)
	}
	l.remove()
	again.remove()
	if list, _ := os.ReadDir(o.State); len(list) != 1 || list[0].Name() != filepath.Base(l.code) {
		t.Errorf("left behind: %v", list)
	}
}

// sixteen is a watcher of this process and 15 more that are read through
// descriptors of their own, each with a page.
func sixteen(t testing.TB) (w *watcher, pages string) {
	if _, err := os.Stat("/proc/self/stat"); err != nil {
		t.Skip("no /proc here")
	}
	dir := t.TempDir()
	data := make([]byte, pageSize)
	copy(data, []byte{0x45, 0x4E, 0x56, 0x46, 0x49, 0x58, 0x32})
	w = newWatcher(os.Getpid(), false, nil, nil)
	for i := range 15 {
		p := *w.procs[os.Getpid()]
		page := filepath.Join(dir, fmt.Sprintf("p%d.page", i+1))
		if err := os.WriteFile(page, data, 0o600); err != nil {
			t.Fatal(err)
		}
		p.stat, p.sched, p.shared, p.paged = proc.Open("/proc/self/stat", true), proc.Open("/proc/self/schedstat", true), proc.Open(page, true), true
		t.Cleanup(p.close)
		w.procs[-1-i] = &p
		w.order = append(w.order, -1-i)
	}
	return w, dir
}

// TestLookAllocates: a look at 16 processes and their pages, five of which make
// a second, leaves nothing behind for the collector.
func TestLookAllocates(t *testing.T) {
	w, _ := sixteen(t)
	w.seconds = 1 << 30 // without the slower looks of every second
	if n := testing.AllocsPerRun(20, func() { w.look(w.begun) }); n > 0 {
		t.Errorf("%.0f allocations", n)
	}
	if p := w.procs[-1]; p.Samples < 20 || p.page[wMagic] != magic {
		t.Errorf("it did not look: %+v", p.Process)
	}
}

// TestLoopEnds: a process's loop ends with its last step, whatever it does after, and
// so does its wait for a CPU, whenever in a second that step is.
func TestLoopEnds(t *testing.T) {
	w, pages := sixteen(t)
	p, sched := w.procs[-1], filepath.Join(pages, "schedstat")
	p.sched.Close()
	steps := func(n byte) {
		if err := os.WriteFile(sched, []byte("0 "+strconv.Itoa(int(n))+"000000000 1\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		p.sched = proc.Open(sched, false)
		f, err := os.OpenFile(filepath.Join(pages, "p1.page"), os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		for word, v := range map[int64]byte{wSteps: n, wWarm: min(n, 3)} {
			if _, err := f.WriteAt([]byte{v}, 8*word); err != nil {
				t.Fatal(err)
			}
		}
	}
	var walls []float64
	for i, n := range []byte{2, 4, 9, 9, 20, 20} {
		steps(n)
		w.look(w.begun.Add(time.Duration(20000+125*i) * time.Millisecond))
		if i > 0 {
			walls = append(walls, p.LoopWall, p.Delay)
		}
	}
	if diff := cmp.Diff([]float64{0, 0, 0.125, 5, 0.125, 5, 0.375, 16, 0.375, 16}, walls); diff != "" { // warm at the second look
		t.Error(diff)
	}
}

// BenchmarkLook is one look at 16 processes, five of which make a second: 1 ms
// is 0.5 % of a core.
func BenchmarkLook(b *testing.B) {
	w, _ := sixteen(b)
	w.seconds = 1 << 30
	b.ReportAllocs()
	for b.Loop() {
		w.look(w.begun)
	}
}

func BenchmarkPage(b *testing.B) {
	path := filepath.Join(b.TempDir(), "p1.page")
	data := make([]byte, pageSize)
	copy(data, []byte{0x45, 0x4E, 0x56, 0x46, 0x49, 0x58, 0x32})
	if err := os.WriteFile(path, data, 0o600); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, ok := readPage(path); !ok {
			b.Fatal("not a page")
		}
	}
}
