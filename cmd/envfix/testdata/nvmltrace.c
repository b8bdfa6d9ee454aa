/* A stand-in for libnvidia-ml.so.1 that plays samples from FAKE_NVML_TRACE, the
 * CSV that verdict.ReadCSV reads. Every nvmlDeviceGetCount moves on by one
 * moment, so that no test depends on the clock; the last moment stays.
 * A utilisation of 999 is not supported. FAKE_NVML_CC: see below. */
#include <stdio.h>
#include <stdlib.h>

enum { FIELDS = 15, ROWS = 4096 };
static unsigned row[ROWS][FIELDS];
static int rows, gpus, moment = -1;

int nvmlInit_v2(void) {
	const char *name = getenv("FAKE_NVML_TRACE");
	FILE *f = name ? fopen(name, "r") : NULL;
	char line[512];
	if (!f) return 9; /* driver not loaded */
	while (rows < ROWS && fgets(line, sizeof line, f)) {
		unsigned *r = row[rows];
		if (sscanf(line, "%u,%u,%u,%u,%u,%u,%u,%u,%u,%u,%x,%u,%u,%u,%u", r, r + 1, r + 2, r + 3, r + 4, r + 5, r + 6, r + 7, r + 8, r + 9, r + 10, r + 11, r + 12, r + 13, r + 14) != FIELDS) continue;
		if ((int)r[1] >= gpus) gpus = r[1] + 1;
		rows++;
	}
	fclose(f);
	return rows ? 0 : 9;
}
int nvmlShutdown(void) { return 0; }
const char *nvmlErrorString(int r) { return r ? "Error" : "Success"; }
int nvmlDeviceGetCount_v2(unsigned *n) { moment++; *n = gpus; return 0; }
int nvmlDeviceGetHandleByIndex_v2(unsigned i, void **d) { *d = (void *)(long)(i + 1); return (int)i < gpus ? 0 : 2; }

static unsigned at(void *d, int field) {
	int seen = 0, last = 0;
	for (int i = 0; i < rows && seen <= moment; i++)
		if (row[i][1] == (unsigned)((long)d - 1)) { last = i; seen++; }
	return row[last][field];
}
int nvmlDeviceGetName(void *d, char *s, unsigned n) { snprintf(s, n, "Stand-in %ld", (long)d - 1); return 0; }
int nvmlDeviceGetUtilizationRates(void *d, unsigned *u) { u[0] = at(d, 2); u[1] = at(d, 3); return u[0] == 999 ? 3 : 0; }
int nvmlDeviceGetMemoryInfo(void *d, unsigned long long *m) {
	m[0] = (unsigned long long)at(d, 5) << 20;
	m[2] = (unsigned long long)at(d, 4) << 20;
	m[1] = m[0] - m[2];
	return 0;
}
/* FAKE_NVML_CC=9.0 gives the GPUs a compute capability; without it theirs is unknown. */
int nvmlDeviceGetCudaComputeCapability(void *d, int *major, int *minor) {
	const char *cc = getenv("FAKE_NVML_CC");
	(void)d;
	return cc && sscanf(cc, "%d.%d", major, minor) == 2 ? 0 : 3;
}
int nvmlDeviceGetClockInfo(void *d, int kind, unsigned *c) { (void)kind; *c = at(d, 6); return 0; }
int nvmlDeviceGetMaxClockInfo(void *d, int kind, unsigned *c) { (void)kind; *c = at(d, 7); return 0; }
int nvmlDeviceGetPowerUsage(void *d, unsigned *w) { *w = at(d, 8); return 0; }
int nvmlDeviceGetTemperature(void *d, int kind, unsigned *t) { (void)kind; *t = at(d, 9); return 0; }
int nvmlDeviceGetCurrentClocksThrottleReasons(void *d, unsigned long long *r) { *r = at(d, 10); return 0; }
int nvmlDeviceGetCurrPcieLinkGeneration(void *d, unsigned *g) { *g = at(d, 11); return 0; }
int nvmlDeviceGetMaxPcieLinkGeneration(void *d, unsigned *g) { *g = at(d, 12); return 0; }
int nvmlDeviceGetCurrPcieLinkWidth(void *d, unsigned *w) { *w = at(d, 13); return 0; }
int nvmlDeviceGetMaxPcieLinkWidth(void *d, unsigned *w) { *w = at(d, 14); return 0; }
