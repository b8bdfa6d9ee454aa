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
int nvmlDeviceGetHandleByIndex_v2(unsigned i, void **h) { *h = (void *)(long)(i + 1); return 0; }
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
