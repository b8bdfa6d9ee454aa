package matrix

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func deviceTable(t testing.TB) *DeviceTable {
	t.Helper()
	table := Devices()
	return table
}

// answer is what envfix decides with, in one line.
func answer(devices []Device) string {
	var out []string
	for _, d := range devices {
		text := d.Vendor
		switch {
		case d.SM.IsZero() && d.GFX != "":
			text += " " + d.GFX
		case d.SM.IsZero() && d.Vendor == "intel":
			text += fmt.Sprintf(" xpu=%v", d.XPU)
		case !d.SM.IsZero():
			text = d.SM.String()
			if d.LastBranch > 0 {
				text += fmt.Sprintf(" to %d", d.LastBranch)
			}
			if len(d.Modules) == 1 {
				text += " " + d.Modules[0]
			}
		}
		out = append(out, text)
	}
	return strings.Join(out, ", ")
}

func TestLookupName(t *testing.T) {
	table := deviceTable(t)
	got := map[string]string{}
	want := map[string]string{}
	for line := range strings.Lines(names) {
		if expect, list, ok := strings.Cut(strings.TrimSpace(line), ": "); ok {
			for _, n := range strings.Split(list, "; ") {
				want[n] = expect
				got[n] = answer(table.LookupName(n))
			}
		}
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error("(-want +got)\n" + d)
	}
}

// names are what people and drivers call GPUs, by the answer.
const names = `
12.0 open: RTX 5090; RTX5090; GeForceRTX5090; RTX5070TiLaptopGPU; rtx 5090; 5090; NVIDIA GeForce RTX 5090; GeForce RTX 5090 Laptop; NVIDIA GeForce RTX 5090 Laptop GPU; RTX 5080; RTX 5070 Ti; RTX 5070; RTX 5060; RTX 5050; RTX PRO 6000 Blackwell; RTX PRO 6000; NVIDIA RTX PRO 6000 Blackwell Server Edition; RTX PRO 6000 Blackwell Max-Q; RTX PRO 5000 Blackwell; RTX 6000D
12.1 open: GB10; NVIDIA GB10; DGX Spark
11.0: Thor; Jetson Thor
11.0 open: Jetson AGX Thor
10.3 open: B300; B300 SXM6; GB300; NVIDIA B300 SXM6 AC
10.0 open: B200; GB200 NVL72; GB200; B100; NVIDIA B200
9.0 open: GH200; GH200 Grace Hopper; Grace Hopper GH200 Superchip; GH200 480GB; NVIDIA GH200 480GB; Grace Hopper
9.0: H100; H100 80GB HBM3; NVIDIA H100 80GB HBM3; H100 PCIe; H100-SXM5-80GB; NVIDIA H100 NVL; H200; NVIDIA H200; H20; H800
8.9: RTX 4090; NVIDIA Corporation AD107M [GeForce RTX 4060 Max-Q / Mobile] (rev a1); NVIDIA L40S-48Q; L4 24GB; 4090; RTX 4090 D; RTX 4090 48GB; RTX 4080 Super; RTX 4070 Ti Super; RTX 4070 Ti SUPER; RTX 4060; GeForce RTX 4060 Laptop; RTX 4060 Mobile; RTX 4060 Ti 16GB; L4; NVIDIA L4; L40; L40S; L20; RTX 6000 Ada; RTX 6000 Ada Generation; RTX 4000 Ada; RTX 2000 Ada; RTX 5000 Ada
8.7: Orin; Jetson Orin; Jetson AGX Orin; Jetson Orin Nano; Jetson Orin NX
8.6: RTX 3090; RTX 3060 LHR; NVIDIA A10-24Q; RTX 3090 Ti; 3090; RTX3060Ti; RTX 3060 12GB; RTX 3050; RTX 3080 Laptop; A10; A10G; NVIDIA A10G; A40; A16; A2; RTX A6000; A6000; RTX A4000; A5000
8.0: A100; GRID A100-40C; NVIDIA A100-SXM4-80GB; A100-SXM4-40GB; A100 80GB PCIe; NVIDIA A100-SXM4-40GB MIG 1g.5gb; A30; A800; CMP 170HX
7.5: T4; Tesla T4 (UUID: GPU-0f); GeForce MX 450; Tesla T4; NVIDIA T4; T4G; RTX 2080 Ti; 2080ti; RTX 2060; RTX 2070 Super; GTX 1650; GTX 1660 Ti; GTX 1660 SUPER; TITAN RTX; Quadro RTX 6000; RTX 8000; RTX 5000; Quadro RTX 4000; MX450; T1000
7.2: Xavier; Jetson AGX Xavier; Jetson Xavier NX
7.0 to 580 proprietary: V100; GRID V100D-8Q; Tesla V100; TeslaV100; V100 32GB; Tesla V100-SXM2-32GB; V100-PCIE-16GB; V100S; Titan V; NVIDIA TITAN V; Quadro GV100
6.2: Jetson TX2
6.1 to 580 proprietary: 1080 Ti; NVIDIA Corporation GP102 [GeForce GTX 1080 Ti] (rev a1); GTX 1080 Ti; NVIDIA GeForce GTX 1080 Ti; GeForce GTX 1080 Ti; GTX1080Ti; gtx 1080; GTX 1070; GTX 1060; GTX 1060 6GB; GeForce GTX 1050; GTX 1050 Ti; P40; Tesla P4; Titan Xp; TITAN X (Pascal); Quadro P2000; MX150; MX350; P6000
6.0 to 580 proprietary: P100; Tesla P100; Tesla P100-PCIE-16GB; Quadro GP100
5.3: Jetson Nano; Jetson TX1
5.2 to 580 proprietary: GTX 970; GTX TITAN X Maxwell; GTX 980 Ti; GTX 960; M60; M40; Quadro M4000; GeForce GTX TITAN X
5.0 to 580 proprietary: 940MX; Quadro K620; K2200; Tesla M10
3.7 to 470 proprietary: K80; Tesla K80
3.5 to 470 proprietary: K40; K40c; Tesla K40c; K20; GTX 780 Ti; GTX TITAN Black
3.0 to 470 proprietary: GTX 680; GTX 660 Ti; GTX 770
2.1 to 390 proprietary: GTX 670M
2.0 to 390 proprietary: GTX 480; GTX 580
1.1 to 340 proprietary: GeForce 8800 GT
6.1 to 580 proprietary: GT 1030
5.0 to 580 proprietary: GTX 750 Ti
3.5 to 470 proprietary: GT 710
3.5 to 470 proprietary, 3.0 to 470 proprietary, 2.1 to 390 proprietary: GT 730
amd gfx1100: RX 7900 XTX; Radeon RX 7900 XTX; AMD Radeon RX 7900 XTX; 7900 XTX; RX 7900 GRE; Radeon Pro W7900; W7900
amd gfx942: MI300X; AMD Instinct MI300X
amd gfx1031: RX 6700 XT
amd gfx1151: Strix Halo; Radeon 8060S
amd: Radeon R7 370; AMD Radeon Graphics; AMD Radeon HD 7970
intel xpu=true: Arc A770; Arc 140V; Intel Arc A770 Graphics; Arc B580; Data Center GPU Max 1550; Max 1100
intel xpu=false: Iris Xe; Intel Iris Xe Graphics; UHD 770; Intel UHD Graphics 630; Flex 170
apple: Apple M3; M1 Pro; Apple M2 Ultra
`

func TestLookupNameUnknown(t *testing.T) {
	table := deviceTable(t)
	for _, n := range []string{"", "RTX 5099", "GTX 9999", "banana", "RTX", "NVIDIA", "GeForce", "GPU", "Laptop", "12GB", "Ti", "\x1b[31m", strings.Repeat("A", 1<<16)} {
		if d := table.LookupName(n); d != nil {
			t.Errorf("%q: %s", n, answer(d))
		}
	}
}

func TestNearest(t *testing.T) {
	table := deviceTable(t)
	for typo, want := range map[string]string{
		"RTX 5099": "NVIDIA GeForce RTX 5090", "GTX 1080 TT": "NVIDIA GeForce GTX 1080 Ti", "RTX 50900": "NVIDIA GeForce RTX 5090"} {
		got := table.Nearest(typo, 3)
		if len(got) != 3 || got[0] != want {
			t.Errorf("%q: %q, want %q first", typo, got, want)
		}
	}
}

func TestLookupPCI(t *testing.T) {
	table := deviceTable(t)
	for _, c := range []struct{ id, sub, name, answer string }{
		{"10de:1db5", "", "Tesla V100-SXM2-32GB", "7.0 to 580 proprietary"},
		{"10DE:1DB5", "10de:1249", "Tesla V100-SXM2-32GB", "7.0 to 580 proprietary"},
		{"10de:1b06", "1458:3752", "NVIDIA GeForce GTX 1080 Ti", "6.1 to 580 proprietary"},
		{"10de:1c81", "", "NVIDIA GeForce GTX 1050", "6.1 to 580 proprietary"},
		{"10de:28a0", "", "NVIDIA GeForce RTX 4060 Laptop GPU", "8.9"},
		{"10de:2b85", "", "NVIDIA GeForce RTX 5090", "12.0 open"},
		{"10de:2901", "", "NVIDIA B200", "10.0 open"}, // only there with a subsystem
		{"10de:2342", "", "NVIDIA GH200 120GB", "9.0 open"},
		{"10de:2330", "10de:16c1", "NVIDIA H100 80GB HBM3", "9.0"},
		{"10de:0020", "", "RIVA TNT", "nvidia"},
		{"8086:56a0", "", "Arc A770", "intel xpu=true"},
		{"8086:9a49", "", "Iris Xe Graphics", "intel xpu=false"},
	} {
		d, ok := table.LookupPCI(c.id, c.sub)
		if !ok || d.Name != c.name || answer([]Device{d}) != c.answer {
			t.Errorf("%s %s: %q %q, want %q %q", c.id, c.sub, d.Name, answer([]Device{d}), c.name, c.answer)
		}
	}
	for _, id := range []string{"", "10de:ffff", "1002:744c", "chip", "10de:1db5\t", strings.Repeat("1", 9)} {
		if d, ok := table.LookupPCI(id, ""); ok {
			t.Errorf("%q: %v", id, d)
		}
	}
}

func FuzzLookupName(f *testing.F) {
	f.Add("NVIDIA GeForce RTX 4090 Laptop GPU")
	table := deviceTable(f)
	f.Fuzz(func(t *testing.T, name string) {
		table.LookupName(name)
		table.LookupPCI(name, name)
	})
}

func BenchmarkDevices(b *testing.B) {
	for _, c := range []struct {
		name string
		ask  func(*DeviceTable)
	}{
		{"pci", func(t *DeviceTable) { t.LookupPCI("10de:1db5", "") }},
		{"name", func(t *DeviceTable) { t.LookupName("V100") }},
		{"nearest", func(t *DeviceTable) { t.Nearest("RTX 5099", 3) }},
	} {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				table := Devices()
				c.ask(table)
			}
		})
	}
}
