package observe

import "testing"

// TestSlept: how long the loop slept between two looks is the kernel's to tell; a look
// itself finds it awake where it has just let the GIL go.
func TestSlept(t *testing.T) {
	r := runProbed(t, `
import time, torch, _envfix_look as K
K.end()
def since(act):
    K.slept(0)
    t = time.monotonic_ns()
    act()
    dt = (time.monotonic_ns() - t) // 1000
    return K.slept(dt) / dt
def spin():
    while time.thread_time_ns() < end: pass
end = time.thread_time_ns() + 10**8
print(since(lambda: time.sleep(0.2)) > 0.5, since(spin) < 0.5)
`)
	if r.stdout != "True True\n" || r.stderr != "" {
		t.Errorf("%s%s", r.stdout, r.stderr)
	}
}
