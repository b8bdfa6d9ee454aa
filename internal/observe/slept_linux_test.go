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

// TestAwake: a thread waits that asks for no processor, whatever the call on top is named;
// a loop's queueing for one is shared between what it sleeps for and what it runs.
func TestAwake(t *testing.T) {
	r := runProbed(t, `
import queue, threading, time, torch, _envfix_look as K
K.end()
known = {1: 2}
def ask():
    while True: known.get(1)
def rest(): queue.SimpleQueue().get()
for f in (ask, rest): threading.Thread(target=f, daemon=True, name=f.__name__).start()
def twice():
    K.look()
    time.sleep(0.5)
    K.look()
looker = threading.Thread(target=twice)
looker.start()
looker.join()
print(*(t.name for t in threading.enumerate() if t.ident in K.L["idle"]))
K.since = lambda task: [20, 960]
print(K.slept(1000))
`)
	if r.stdout != "rest\n500\n" || r.stderr != "" {
		t.Errorf("%s%s", r.stdout, r.stderr)
	}
}
