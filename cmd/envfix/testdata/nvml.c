/* A stand-in for libnvidia-ml.so.1, so that tests go through the real dlopen.
 * Its behaviour comes from the environment; one build serves every test:
 *
 *   FAKE_NVML_GPUS     "NAME,MAJOR,MINOR[,BUS[,PCI[,MIB[,MIG PROFILE …]]]];…", such as
 *                      "NVIDIA H100 80GB HBM3,9,0,00000000:3B:00.0,233010de,81559;NVIDIA L4,8,9"
 *   FAKE_NVML_DRIVER   what nvmlSystemGetDriverVersion says
 *   FAKE_NVML_VERSION  what nvmlSystemGetNVMLVersion says; "" is 12.DRIVER
 *   FAKE_NVML_INIT     what nvmlInit_v2 returns: 9 driver not loaded, 18 mismatch …
 *   FAKE_NVML_HANG     set: nvmlInit_v2 never returns
 *   FAKE_NVML_CRASH    set: nvmlInit_v2 ends the process by a signal
 *   FAKE_NVML_TALK     set: printed on stdout, as a toolkit's stub library does
 *   FAKE_NVML_USE      what the GPUs are doing: "KEY=VALUE,KEY=VALUE;…", a list for each
 *                      GPU; a key that is not there is answered with "not supported".
 *                      used (MiB), proc and gproc (PID:MiB+PID:MiB, MiB "-": not available;
 *                      "none": an empty list), mode, persistence, display, ecc, volatile,
 *                      aggregate, remapped (CORR:UNC:PENDING:FAILED), retiring, reasons (hex),
 *                      busy, temp, clock, maxclock, limit, normal (watts), lost (what asking
 *                      for the GPU returns), hang and crash (asking for the compute mode)
 *
 * -DOLD leaves out what libraries of old drivers lack. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct {
	char bus_legacy[16];
	unsigned domain, bus, device, id, subsystem;
	char bus_id[32];
} pci_info; /* nvmlPciInfo_t, v3 */

typedef struct { unsigned long long total, free, used; } memory;

static const char *var(const char *name) { const char *v = getenv(name); return v ? v : ""; }

/* field copies the i-th field of the d-th GPU; a missing one is "". */
static void field(int d, int i, char *out, size_t size) {
	const char *p = var("FAKE_NVML_GPUS"), *end;
	out[0] = 0;
	for (; d > 0 && p; d--) if ((p = strchr(p, ';'))) p++;
	for (; i > 0 && p; i--) {
		p += strcspn(p, ",;");
		p = *p == ',' ? p + 1 : NULL;
	}
	if (!p) return;
	end = p + strcspn(p, ",;");
	snprintf(out, size, "%.*s", (int)(end - p), p);
}

static int number(int d, int i, int base) { char b[64]; field(d, i, b, sizeof b); return (int)strtoul(b, NULL, base); }

/* A handle is 1 + GPU, and a slice's 1000 * (1 + slice) more. */
static int gpu(void *h) { return (int)((long)h % 1000) - 1; }
static int slice(void *h) { return (int)((long)h / 1000) - 1; }

int nvmlInit_v2(void) {
	if (*var("FAKE_NVML_TALK")) { puts(var("FAKE_NVML_TALK")); fflush(stdout); }
	if (*var("FAKE_NVML_CRASH")) *(volatile int *)8 = 1;
	if (*var("FAKE_NVML_HANG")) for (;;) pause();
	return atoi(var("FAKE_NVML_INIT"));
}
int nvmlShutdown(void) { return 0; }
const char *nvmlErrorString(int r) {
	return r == 9 ? "Driver Not Loaded" : r == 18 ? "Driver/library version mismatch" : r ? "Unknown Error" : "Success";
}
int nvmlSystemGetDriverVersion(char *b, unsigned n) { snprintf(b, n, "%s", var("FAKE_NVML_DRIVER")); return 0; }
int nvmlSystemGetNVMLVersion(char *b, unsigned n) {
	if (*var("FAKE_NVML_VERSION")) snprintf(b, n, "%s", var("FAKE_NVML_VERSION"));
	else snprintf(b, n, "12.%s", var("FAKE_NVML_DRIVER"));
	return 0;
}
/* Asking this starts libcuda on a real machine: envfix must not. */
int nvmlSystemGetCudaDriverVersion_v2(int *v) { (void)v; abort(); }
int nvmlSystemGetCudaDriverVersion(int *v) { (void)v; abort(); }

int nvmlDeviceGetCount_v2(unsigned *n) {
	const char *p = var("FAKE_NVML_GPUS");
	for (*n = *p ? 1 : 0; *p; p++) *n += *p == ';';
	return 0;
}
/* use copies a value of FAKE_NVML_USE; 0 where there is none. */
static int use(void *h, const char *key, char *out, size_t size) {
	const char *p = var("FAKE_NVML_USE"), *end, *eq;
	int d = gpu(h);
	for (; d > 0 && p; d--) if ((p = strchr(p, ';'))) p++;
	while (p && *p && *p != ';') {
		end = p + strcspn(p, ",;");
		eq = memchr(p, '=', end - p);
		if (eq && (size_t)(eq - p) == strlen(key) && !strncmp(p, key, eq - p)) {
			snprintf(out, size, "%.*s", (int)(end - eq - 1), eq + 1);
			return 1;
		}
		p = *end == ',' ? end + 1 : NULL;
	}
	return 0;
}
static int use_number(void *h, const char *key, unsigned *out) {
	char b[64];
	if (!use(h, key, b, sizeof b)) return 3;
	*out = strtoul(b, NULL, 10);
	return 0;
}
int nvmlDeviceGetHandleByIndex_v2(unsigned i, void **h) {
	unsigned lost;
	*h = (void *)(long)(i + 1);
	return use_number(*h, "lost", &lost) == 0 ? (int)lost : 0;
}
int nvmlDeviceGetCudaComputeCapability(void *h, int *major, int *minor) {
	*major = number(gpu(h), 1, 10); *minor = number(gpu(h), 2, 10);
	return *major ? 0 : 3;
}
int nvmlDeviceGetPciInfo_v3(void *h, pci_info *p) {
	memset(p, 0, sizeof *p);
	field(gpu(h), 3, p->bus_id, sizeof p->bus_id);
	if (!p->bus_id[0]) return 3;
	p->id = number(gpu(h), 4, 16);
	return 0;
}
int nvmlDeviceGetMemoryInfo(void *h, memory *m) {
	int mib = number(gpu(h), 5, 10);
	if (!mib) return 3;
	memset(m, 0, sizeof *m);
	m->total = (unsigned long long)mib << 20;
	return 0;
}
int nvmlDeviceGetName(void *h, char *b, unsigned n) {
	char name[128], profile[64];
	field(gpu(h), 0, name, sizeof name);
	if (slice(h) < 0) { snprintf(b, n, "%s", name); return 0; }
	field(gpu(h), 6 + slice(h), profile, sizeof profile);
	snprintf(b, n, "%.90s MIG %s", name, profile);
	return 0;
}

#ifndef OLD
typedef struct { unsigned version; unsigned long long total, reserved, free, used; } memory_v2;
typedef struct { unsigned pid; unsigned long long used; unsigned instance, part; } process; /* nvmlProcessInfo_t */
typedef struct { unsigned gpu, memory; } rates;

int nvmlDeviceGetMemoryInfo_v2(void *h, memory_v2 *m) {
	unsigned used;
	if (use_number(h, "used", &used)) return 3;
	m->total = (unsigned long long)number(gpu(h), 5, 10) << 20;
	m->used = (unsigned long long)used << 20;
	return 0;
}
static int processes(void *h, const char *key, unsigned *n, process *list) {
	char b[512], *p = b;
	unsigned room = *n, have = 0;
	if (!use(h, key, b, sizeof b)) return 3;
	for (*n = 0; p && *p && strcmp(b, "none"); p = strchr(p, '+') ? strchr(p, '+') + 1 : NULL) {
		char *mib = p + strcspn(p, ":") + 1;
		if (have < room) {
			memset(&list[have], 0, sizeof list[have]);
			list[have].pid = strtoul(p, NULL, 10);
			list[have].used = *mib == '-' ? ~0ULL : strtoull(mib, NULL, 10) << 20;
		}
		have++;
	}
	*n = have;
	return have > room ? 7 : 0;
}
int nvmlDeviceGetComputeRunningProcesses_v3(void *h, unsigned *n, process *l) { return processes(h, "proc", n, l); }
int nvmlDeviceGetGraphicsRunningProcesses_v3(void *h, unsigned *n, process *l) { return processes(h, "gproc", n, l); }
int nvmlDeviceGetComputeMode(void *h, unsigned *v) {
	char b[8];
	if (use(h, "crash", b, sizeof b)) *(volatile int *)8 = 1;
	if (use(h, "hang", b, sizeof b)) for (;;) pause();
	return use_number(h, "mode", v);
}
int nvmlDeviceGetPersistenceMode(void *h, unsigned *v) { return use_number(h, "persistence", v); }
int nvmlDeviceGetDisplayActive(void *h, unsigned *v) { return use_number(h, "display", v); }
int nvmlDeviceGetRetiredPagesPendingStatus(void *h, unsigned *v) { return use_number(h, "retiring", v); }
int nvmlDeviceGetEccMode(void *h, unsigned *now, unsigned *pending) { int r = use_number(h, "ecc", now); *pending = *now; return r; }
int nvmlDeviceGetTotalEccErrors(void *h, unsigned type, unsigned counter, unsigned long long *n) {
	unsigned v = 0;
	int r = use_number(h, counter ? "aggregate" : "volatile", &v);
	*n = v;
	return type == 1 ? r : 3;
}
int nvmlDeviceGetRemappedRows(void *h, unsigned *corr, unsigned *unc, unsigned *pending, unsigned *failed) {
	char b[64];
	if (!use(h, "remapped", b, sizeof b)) return 3;
	return sscanf(b, "%u:%u:%u:%u", corr, unc, pending, failed) == 4 ? 0 : 999;
}
int nvmlDeviceGetCurrentClocksEventReasons(void *h, unsigned long long *v) {
	char b[64];
	if (!use(h, "reasons", b, sizeof b)) return 3;
	*v = strtoull(b, NULL, 16);
	return 0;
}
int nvmlDeviceGetUtilizationRates(void *h, rates *r) { r->memory = 0; return use_number(h, "busy", &r->gpu); }
int nvmlDeviceGetTemperature(void *h, unsigned sensor, unsigned *v) { (void)sensor; return use_number(h, "temp", v); }
int nvmlDeviceGetClockInfo(void *h, unsigned type, unsigned *v) { (void)type; return use_number(h, "clock", v); }
int nvmlDeviceGetMaxClockInfo(void *h, unsigned type, unsigned *v) { (void)type; return use_number(h, "maxclock", v); }
static int milliwatts(void *h, const char *key, unsigned *v) { int r = use_number(h, key, v); *v *= 1000; return r; }
int nvmlDeviceGetEnforcedPowerLimit(void *h, unsigned *v) { return milliwatts(h, "limit", v); }
int nvmlDeviceGetPowerManagementDefaultLimit(void *h, unsigned *v) { return milliwatts(h, "normal", v); }

int nvmlDeviceGetUUID(void *h, char *b, unsigned n) {
	if (slice(h) < 0) snprintf(b, n, "GPU-00000000-0000-0000-0000-%012d", gpu(h) + 1);
	else snprintf(b, n, "MIG-00000000-0000-0000-%04d-%012d", slice(h) + 1, gpu(h) + 1);
	return 0;
}
int nvmlDeviceGetMigMode(void *h, unsigned *now, unsigned *pending) {
	char b[64];
	field(gpu(h), 6, b, sizeof b);
	*now = *pending = b[0] != 0;
	return 0;
}
int nvmlDeviceGetMaxMigDeviceCount(void *h, unsigned *n) { (void)h; *n = 7; return 0; }
int nvmlDeviceGetMigDeviceHandleByIndex(void *h, unsigned i, void **out) {
	char b[64];
	field(gpu(h), 6 + (int)i, b, sizeof b);
	if (!b[0] || !strcmp(b, "none")) return 6;
	*out = (void *)((long)h + 1000L * (i + 1));
	return 0;
}
#endif
