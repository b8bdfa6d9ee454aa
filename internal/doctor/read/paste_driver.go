package read

import (
	"strings"

	"envfix/internal/lazy"
	"envfix/internal/machine"
	"envfix/internal/version"
)

// driverReaders read nvidia-smi of every generation, the kernel's view, lspci,
// and what people write about GPUs and drivers.
var driverReaders = []reader{
	{`(?:NVIDIA )?driver version\s*[:=]+\s*(\d{3,4}\.\d+(?:\.\d+)*)|` +
		`KMD version\s*:\s*(\d{3,4}\.\d+(?:\.\d+)*)`, takes((*Reader).driver)},
	{`(?:nvidia[- ])?driver(?: version)?[ :=(]+v?(\d{3}\.\d{2,3}(?:\.\d{2})?)\b|\bdrivers? (?:is|` +
		`are)(?: [^\d.]{0,40})?[ :(]v?(\d{3}\.\d{2,3}(?:\.\d{2})?)\b`, takes((*Reader).driver)},
	{`(?:Treibers?|pilotes?|controlador|драйвер\S{0,3}|驱动(?:版本)?|` +
		`ドライバー?)\W{0,3}(?:NVIDIA )?v?(\d{3}\.\d{2,3}(?:\.\d{2})?)`, takes((*Reader).driver)},
	{`\b(?:driver|nvidia-smi)\b[^?]*\?`, func(r *Reader, _ []string, _ Evidence) { r.asked = r.line }},
	{`^(?:@\S+ )?v?(\d{3}\.\d{2,3}(?:\.\d{2})?)[\s,.?!]*(?:\w+ ?){0,3}[\s,.?!]*$`, func(r *Reader, m []string, s Evidence) {
		if r.asked > 0 && r.line-r.asked <= inAnswer {
			r.driver(m[1], s)
		}
	}},
	{`CUDA(?: UMD)? Version\s*:\s*(\d+\.\d+)`, takes((*Reader).smiCUDA)},
	{`nvidia-smi\b.{0,40}CUDA(?: version)?\W{0,3}(\d+\.\d+)|CUDA(?: version)? ?(?:of |in |shown by |` +
		`from )?\(?nvidia-smi\)?\W{0,3}(\d+\.\d+)|CUDA (\d+\.\d+) ?\(?(?:by|from|in|` +
		`per) nvidia-smi`, takes((*Reader).smiCUDA)},
	{`NVRM version:.{0,60}Kernel Module\S*(?: for \S+)?\s+(\d{3}\.\d+(?:\.\d+)?)|` +
		`kernel module(?: version)?(?: is)?[ :]+(\d{3}\.\d{2,3}(?:\.\d+)?)`, takes((*Reader).loaded)},
	{`nvidia-x11-(\d{3}\.\d+(?:\.\d+)?)-\d\S*(-bin/|\.ko\b)`, func(r *Reader, m []string, s Evidence) { // NixOS: the store's path names the version
		if strings.HasPrefix(m[2], "-bin") {
			r.driver(m[1], s)
		} else {
			r.loaded(m[1], s)
		}
	}},
	{packagedExpr, takes((*Reader).packaged)},
	{`(\S*)\blibcuda\.so\.(\d{3}\.\d{2,3}(?:\.\d{2})?)\b`, func(r *Reader, m []string, s Evidence) { // the driver's own, as it is on the disk
		if !strings.Contains(m[1], "compat") {
			r.packaged(m[2], s)
		}
	}},
	{`^nvidia(?:-\w+)?(?:/|, )[\d.]+, (\d+\.\d+\S*), \w+: installed`, func(r *Reader, m []string, s Evidence) {
		if k := &r.c.Place.Kernels; len(k.Built) < 16 {
			k.Built, k.BuiltAt = append(k.Built, m[1]), s
		}
	}},
	{`(?:^|[$#>] ?)uname -r\b(?:\W+(\d+\.\d+\.\S+))?`, func(r *Reader, m []string, s Evidence) {
		if r.wait = "uname"; m[1] != "" {
			r.variable(r.wait, m[1], s)
			r.wait = ""
		}
	}},
	{`^(?:\S*[$#%❯»>] )?(?:sudo )?cat /sys/module/nvidia/version\s*$`, waits("module")},
	{`NVML library version\s*:\s*(\d+\.\d+(?:\.\d+)?)|\bii\s+(?:libnvidia-\S+|nvidia-smi|nvidia-utils\S*|` +
		`libcuda1)\s+(?:\d:)?(\d{3}\.\d+(?:\.\d+)?)|user ?space(?: libraries|` +
		` driver)?[ :]+(\d{3}\.\d+(?:\.\d+)?)`, takes((*Reader).driver)},
	{`^\|\s+(\d+)\s+(\S.*?)\s+(?:On|Off|WDDM|TCC|MCDM|N/A|` +
		`ERR!)\s*\|\s*[0-9A-F]{4,8}:[0-9A-F]{2}:`, func(r *Reader, m []string, s Evidence) { r.addGPU(m[2], s) }},
	{`GPU \d+\s*(?:-\s*\d+)?\s*:\s*(\S.*?)(?:\s*\(UUID.*)?$`, takes((*Reader).addGPU)},
	{`GPU models and configuration\s*:\s*(\S.*)?$`, func(r *Reader, m []string, s Evidence) {
		if m[1] != "" && !strings.HasPrefix(m[1], "GPU ") {
			r.addGPU(m[1], s)
		}
	}},
	{
		`^\|?\s*(?:\d+%|N/A|ERR!).{0,60}\|\s*(\d+)MiB\s*/\s*(\d+)MiB`,
		func(r *Reader, m []string, s Evidence) { r.row(m[1], m[2], s) },
	},
	{`\b(?:box|machine|node|server|system|host|pc|workstation|computer|laptop)\b.{0,12}\b(?:has|have|` +
		`with)\b (?:only )?(one|two|three|four|eight|\d{1,2}) (?:\w+ )?GPUs?\b|\b(single)[ -]GPU\b|only (one|two|` +
		`\d) GPUs?\b|\bnvidia-smi(?: -L)? (?:shows|lists|sees) (\d{1,2}) GPUs\b`, func(r *Reader, m []string, s Evidence) {
		words := map[string]int{"one": 1, "single": 1, "two": 2, "three": 3, "four": 4, "eight": 8}
		said := strings.ToLower(m[1] + m[2] + m[3] + m[4])
		if n := max(words[said], Atoi(said)); n > 0 && r.c.Says.GPUs == 0 {
			r.c.Says.GPUs = n
		}
	}},
	{CudaInWords, says(func(c *Case) *Evidence { return &c.Says.CUDA })},
	{`No running processes found`, says(func(c *Case) *Evidence { return &c.From.NoProcesses })},
	{
		`(?:^|[^|].*\D)(\d{4,6}) ?MiB ?/ ?(\d{4,6}) ?MiB`,
		func(r *Reader, m []string, s Evidence) { r.used(m[1], m[2], s) },
	},
	{`(?:VGA compatible controller|3D controller|Display controller)[^:]*:\s*(.*)`, takes((*Reader).pci)},
	{`PCI ID: ?(10de:[0-9a-f]{4})\b`, func(r *Reader, m []string, s Evidence) { r.pciID(strings.ToLower(m[1]), s) }},
	{`NVIDIA (\d{3}\.\d+(?:\.\d+)?) driver release`, takes((*Reader).driver)},
	{`Kernel driver in use:\s*(\S+)`, func(r *Reader, m []string, s Evidence) {
		if n := len(r.c.Machine.GPUs); n > 0 && r.c.Machine.GPUs[n-1].KernelDriver == "" {
			r.c.Machine.GPUs[n-1].KernelDriver = m[1]
		}
	}},
	{`^\s*(?:GPUs?|Graphics(?: card)?|Card|Device|Chipset(?: Model)?)\s*[:=]\s*(\S.{1,70})`, takes((*Reader).named)},
	{`[ (:,-](?:T4|P4|L4|A2)\b`, func(r *Reader, m []string, s Evidence) { r.onlyGPU(m[0][1:], s) }},
	{`\b(?:an?|my|the|with|on|to|have|has|got) ((?:[345]0[5-9]0|20[6-8]0|10[5-8]0|16[56]0)(?: ?Ti|` +
		` super)?)\b`, takes((*Reader).onlyGPU)},
	{`\b(AMD|Intel) (?:GPUs?|graphics|card|series|\d{3} series)\b|\b(?:on|using|with) (AMD)(?: on)?(?: windows| linux|[.,]|$)`, func(r *Reader, m []string, s Evidence) { r.onlyGPU(m[1]+m[2]+" GPU", s) }},
	{nameExpr, func(r *Reader, m []string, s Evidence) { r.names(m[0], s) }},
	{`^(?:[^;]|; )*\b(gfx\d{2,4}[a-f]?)(?:$|[^\w;]|; |;$)`, func(r *Reader, m []string, s Evidence) { r.gfx(strings.ToLower(m[1]), s) }},
	{`GPU ?: ?sm_(\d+)|(?:compute|cuda) capability(?: version)?[^\w>]{0,4}(?:is |of |=> ?)?(?:only )?(\d{1,2}\.\d)\b|` +
		`(?:uses|has|is) cuda version ([23]\.\d)\b`, func(r *Reader, m []string, s Evidence) {
		if v, err := machine.ParseSM(m[1] + m[2] + m[3]); err == nil && !strings.Contains(s.Text, "at least") &&
			!strings.Contains(s.Text, "below") && !strings.Contains(s.Text, "require") {
			r.capability("", v, s)
		}
	}},
}

// packagedExpr finds the driver's version in lists of installed packages (dpkg,
// rpm, pacman) and in what apt and dpkg say of an upgrade: there the new one.
const packagedExpr = `\b(?:nvidia-(?:driver|utils|open|dkms|compute-utils|firmware|headless\S*|kernel-(?:common|` +
	`source)\S*|smi)|libnvidia-(?:compute|ml|cfg1|gl|decode)|libcuda1|xorg-x11-drv-nvidia(?:-cuda)?)(?:-(?:cuda|` +
	`libs|cuda-libs|\d{3}|open|server|dkms))*(?::amd64|` +
	`\.x86_64)?[ (-]+(?:\d:)?(?:\d{3}\.[\w.:~+-]+, )?(\d{3}\.\d+(?:\.\d+)?)(?:-|\b)`

// nameExpr finds the names of GPUs in running text.
const nameExpr = `\b(?:(?:NVIDIA )?(?:GeForce )?(?:RTX|GTX|GT) ?(?:PRO )?(?:A)?\d{3,4}(?:0)?[MD]?(?: ?Ti| SUPER|` +
	` Laptop GPU| Ada| Max-Q)*|Tesla[ _][A-Z]\d{1,4}\w*|Quadro \w+(?: \d{3,4}\w*)?|(?:(?:GeForce )?GTX )?TITAN (?:X|V|Xp|RTX|Black)\b|` +
	`(?:GeForce )?(?:MX ?\d{3}|9[0-4]0MX?)\b|(?:NVIDIA )?(?:A10G?|A16|A30|A40|A[2456]000|A[45]500|A100|A800|H20|` +
	`H100|H200|H800|B100|B200|B300|GB10|GH200|GB200|GB300|L40S?|L20|V100S?|P40|P100|K20|K40|K80|M40|` +
	`M60)\b(?:[ -](?:PCIe|SXM\d?|NVL|80GB|40GB)\S*)*|(?:AMD )?(?:Radeon )?(?:RX|R[579]|` +
	`PRO W) ?\d{3,5}\w*(?: XTX?| GRE| OEM)*|[5-9]\d[05]0 ?XTX?\b|AMD \d{3,4}(?: XTX?| GRE| series)\b|Strix (?:Halo|Point)\b|Ryzen AI Max\+? ?395\b|Radeon (?:\(TM\) )?(?:VII|8[05]\dS\b|[678]\d{2}M\b|` +
	`Pro WX \d{4}\b|Pro|Graphics|Vega|W\d{4}\w*)\b[\w ]{0,12}|Instinct MI\d+\w*|MI ?\d{2,3}[AX]?\b|Intel Arc \w+|Arc A\d{3}\w?|` +
	`Arc B\d{3}|Intel(?:\(R\)|\x{ae}|'s)? (?:UHD|HD|Iris|Xe)\b[\w ]{0,20}|Apple M\d(?: (?:Pro|Max|Ultra))?|M[1-5] (?:Pro|` +
	`Max|Ultra|Mac)\w*|(?:NVIDIA )?(?:Jetson|DGX Spark)(?: (?:AGX|Xavier|Orin|Nano|TX[12]|NX|Thor))*)`

// onlyGPU takes a name that says little, where no other is known.
func (r *Reader) onlyGPU(name string, s Evidence) {
	if !r.c.Listed && len(r.c.Machine.GPUs) == 0 {
		r.c.Machine.GPUs = append(r.c.Machine.GPUs, newGPU(name, 0))
		r.say(&r.c.From.GPU, s)
	}
}

func (r *Reader) driver(v string, s Evidence) {
	d, err := version.ParseDotted(v)
	if err != nil || d.Major() < 300 || d.Major() > 999 {
		return
	}
	if at := r.c.Machine.Driver; at != nil && !at.Version.IsZero() && !strings.Contains(s.Text, "NVRM") {
		return // the first one named
	}
	driverOf(&r.c.Machine).Version = d
	r.say(&r.c.From.Driver, s)
}

// packaged notes the version of a driver package that is installed. It is the
// library's where nothing else says; a removed package says nothing.
func (r *Reader) packaged(v string, s Evidence) {
	if d, err := version.ParseDotted(v); err == nil && d.Major() >= 300 && r.c.DriverPackage.IsZero() &&
		!removed().MatchString(s.Text) {
		r.c.DriverPackage = d
		r.say(&r.c.From.Package, s)
	}
}

// removed finds the lines of packages that are not installed, or not any more.
var removed = lazy.Regexp(`(?i)^\s*(rc|un|pn|pi)\s|\bRemov|\bPurge|Depends|candidate|available|` +
	`apt(-get)? install|\bstatus not-installed`)

func (r *Reader) loaded(v string, s Evidence) {
	if d, err := version.ParseDotted(v); err == nil {
		driverOf(&r.c.Machine).LoadedVersion = d
		r.say(&r.c.From.Module, s)
	}
}

func driverOf(m *machine.Machine) *machine.Driver {
	if m.Driver == nil {
		m.Driver = &machine.Driver{}
	}
	return m.Driver
}

func (r *Reader) smiCUDA(v string, s Evidence) {
	if d, err := version.ParseDotted(v); err == nil && r.c.SMI.CUDA.IsZero() && d.Major() >= 7 && d.Major() < 20 {
		r.c.SMI = SMI{d, s}
	}
}
