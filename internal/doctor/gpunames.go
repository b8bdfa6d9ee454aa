package doctor

import (
	"regexp"

	"envfix/internal/machine"
)

// series are the capabilities that a GPU's name gives away when it is cut,
// shortened or written from memory. The device table knows more; a name that is
// sold with several chips (GT 730, GTX 860M) is left out here.
// Source: NVIDIA's list of CUDA GPUs, facts of devices.yaml.
var series = []struct {
	name *regexp.Regexp
	sm   machine.SM
}{
	{regexp.MustCompile(`(?i)\b(RTX|GeForce)( PRO)? ?50[5-9]0|\bRTX PRO [2-6]\d00|\b50[6-9]0( Ti)?\b`), machine.SM{Major: 12, Minor: 0}},
	{regexp.MustCompile(`(?i)\b(GB10|DGX Spark)\b`), machine.SM{Major: 12, Minor: 1}},
	{regexp.MustCompile(`(?i)\b(B300|GB300)\b`), machine.SM{Major: 10, Minor: 3}},
	{regexp.MustCompile(`(?i)\b(B100|B200|GB200)\b`), machine.SM{Major: 10, Minor: 0}},
	{regexp.MustCompile(`(?i)\bThor\b`), machine.SM{Major: 11, Minor: 0}},
	{regexp.MustCompile(`(?i)\b(H100|H200|H800|H20|GH200)\b`), machine.SM{Major: 9, Minor: 0}},
	{regexp.MustCompile(`(?i)\bRTX ?40[5-9]0|\bRTX [2-6]\d00 Ada|\b(L4|L40S?|L20)\b`), machine.SM{Major: 8, Minor: 9}},
	{regexp.MustCompile(`(?i)\bOrin\b`), machine.SM{Major: 8, Minor: 7}},
	{regexp.MustCompile(`(?i)\bRTX ?30[5-9]0|\bRTX ?A[2-6]\d00|\b(A10G?|A16|A40|A2)\b`), machine.SM{Major: 8, Minor: 6}},
	{regexp.MustCompile(`(?i)\b(A100|A30|A800)\b`), machine.SM{Major: 8, Minor: 0}},
	{regexp.MustCompile(`(?i)\bRTX ?20[6-8]0|\bGTX ?16[5-6]0|\bTITAN RTX|\bQuadro RTX|\bT4\b|\bT\d{3,4}\b`), machine.SM{Major: 7, Minor: 5}},
	{regexp.MustCompile(`(?i)\bXavier\b`), machine.SM{Major: 7, Minor: 2}},
	{regexp.MustCompile(`(?i)\bV100S?\b|\bTITAN V\b`), machine.SM{Major: 7, Minor: 0}},
	{regexp.MustCompile(`(?i)\bTX2\b`), machine.SM{Major: 6, Minor: 2}},
	{regexp.MustCompile(`(?i)\bGTX ?10[5-8]0|\bGT ?1030|\bMX1[135]0|\b(P4|P40)\b|\bTITAN X[Pp]\b|\bQuadro P\d{3,4}`), machine.SM{Major: 6, Minor: 1}},
	{regexp.MustCompile(`(?i)\b(P100|GP100)\b`), machine.SM{Major: 6, Minor: 0}},
	{regexp.MustCompile(`(?i)\b(Jetson Nano|TX1|Tegra X1)\b`), machine.SM{Major: 5, Minor: 3}},
	{regexp.MustCompile(`(?i)\bGTX ?9[5-8]0|\b(M40|M60)\b`), machine.SM{Major: 5, Minor: 2}},
	{regexp.MustCompile(`(?i)\bGTX ?750|\bM10\b|\b9[34]0MX?\b`), machine.SM{Major: 5, Minor: 0}},
	{regexp.MustCompile(`(?i)\bK80\b`), machine.SM{Major: 3, Minor: 7}},
	{regexp.MustCompile(`(?i)\bGTX ?7[78]0|\b(K20|K40)\w?\b|\bTITAN Black\b`), machine.SM{Major: 3, Minor: 5}},
	{regexp.MustCompile(`(?i)\bGTX ?(6[5-9]0|760)(?: |$|M|T)|\bK[12]0?00M?\b`), machine.SM{Major: 3, Minor: 0}},
	{regexp.MustCompile(`(?i)\bGTX ?[45]\d0\b`), machine.SM{Major: 2, Minor: 0}},
}

func capabilityOf(name string) machine.SM {
	for _, s := range series {
		if s.name.MatchString(name) {
			return s.sm
		}
	}
	return machine.SM{}
}
