//go:build linux && cgo

package main

/*
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

// Go's runtime opens /dev/null in the place of a standard output that is closed, and
// ends with a dump of its registers where `ulimit -v` leaves it no room. Both are
// looked at before it begins.
static int closed;
static struct rlimit limit;

enum { MB = 1 << 20 };
// Measured with go1.26 on x86-64: the runtime reserves 512 MB of addresses, and another
// 512 MB where it can. From 880 MB on it begins without the second. Between 1180 MB and
// 1430 MB it takes the second and has nothing left: the limit is lower until it has begun.
static const rlim_t least = 880ull * MB, first = 1100ull * MB, second = 1430ull * MB;

__attribute__((constructor)) static void look(void) {
	closed = fcntl(STDOUT_FILENO, F_GETFD) == -1 && errno == EBADF;
	if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) {
		limit.rlim_cur = 0;
		return;
	}
	if (limit.rlim_cur < least) {
		dprintf(STDERR_FILENO,
			"envfix: error: `ulimit -v %llu` leaves no room to begin: %llu are needed, of addresses and not of memory\n\n"
			"hint: `ulimit -v unlimited` lifts it; what a process may use is better limited by a cgroup\n",
			(unsigned long long)limit.rlim_cur / 1024, (unsigned long long)least / 1024);
		_exit(1);
	}
#ifdef __GLIBC__
	mallopt(M_ARENA_MAX, 1); // each thread would reserve 64 MB for itself
#endif
	if (limit.rlim_cur > first && limit.rlim_cur < second) {
		struct rlimit lower = {first, limit.rlim_max};
		setrlimit(RLIMIT_AS, &lower);
	}
}

static void give_back(void) {
	if (limit.rlim_cur != 0)
		setrlimit(RLIMIT_AS, &limit);
}

static int was_closed(void) { return closed; }
*/
import "C"

// limitBack gives back what the start had taken, for this process and its children.
func limitBack() { C.give_back() }

// noOutput reports whether there was no standard output when the program began.
func noOutput() bool { return C.was_closed() != 0 }
