package verdict

import (
	"fmt"
	"slices"

	"envfix/internal/say"
)

func (s GPUFrame) tensor() num { return ratio(s.Tensor, s.GPMN) }

// powerShare is the used GPUs' mean power over their limit.
func (f *facts) powerShare() num {
	total, n := 0.0, 0
	for _, i := range f.used {
		if s, g := f.gpus[i], f.t.GPUs[i]; s.PowerN > 0 && g.PowerLimit > 0 {
			total, n = total+s.Power/float64(s.PowerN)/g.PowerLimit, n+1
		}
	}
	return ratio(total, n)
}

// slowed finds a used GPU of which more than a tenth of the active samples
// were slowed for a reason. GpuIdle is no slowing, and a power cap at full
// clocks is normal: the collector counts only samples below 90 % of the clock.
func (f *facts) slowed(of func(GPUFrame) int) (gpu int, part, clock float64, ok bool) {
	for _, i := range f.used {
		s := f.gpus[i]
		if s.Active == 0 {
			continue
		}
		part, clock = float64(of(s))/float64(s.Active), s.Clock/float64(s.Active)
		if part > 0.1 {
			return i, part, clock, true
		}
	}
	return 0, 0, 0, false
}

// clockWords name a clock; the highest is known, or no sample is an active one.
func clockWords(g GPU, clock float64) string {
	return fmt.Sprintf("clock %.0f of %d MHz", clock*float64(g.Clock), g.Clock)
}

// thermal: the GPU slows down to cool.
func thermal(f *facts) *Finding {
	i, part, clock, ok := f.slowed(func(g GPUFrame) int { return g.Hot })
	if !ok {
		return nil
	}
	g, temp := f.t.GPUs[i], f.gpus[i].Temp
	return f.finding(Thermal, high, numbers{"gpu": g.Index, "temperature_c": temp, "throttled_share": round(part), "clock_share": round(clock)},
		fmt.Sprintf("GPU %d is hot (%d °C): %s for %s of the run", g.Index, temp, clockWords(g, clock), pct(part)),
		"airflow, dust, room temperature", "a lower power limit holds the clock steady: nvidia-smi -pl WATTS")
}

// powerCap: the GPU slows down to stay below its power limit.
func powerCap(f *facts) *Finding {
	i, part, clock, ok := f.slowed(func(g GPUFrame) int { return g.Capped })
	ok = ok && (f.t.GPUs[i].PowerDefault == 0 || f.t.GPUs[i].PowerLimit < 0.99*f.t.GPUs[i].PowerDefault) // else the card works as it was made to
	at, brake, slow, braked := f.slowed(func(g GPUFrame) int { return g.Brake })
	if !ok {
		i, part, clock = at, brake, slow
	}
	if !ok && !braked {
		return nil
	}
	g := f.t.GPUs[i]
	x := f.finding(PowerCap, medium, numbers{"gpu": g.Index, "capped_share": round(part), "clock_share": round(clock)},
		fmt.Sprintf("GPU %d is held by its power limit %s of the run: %s, about %s lost", g.Index, pct(part), clockWords(g, clock), pct(1-clock)),
		"nvidia-smi -q -d POWER shows the limits; nvidia-smi -pl WATTS sets one").
		also(g.PowerLimit > 0, "", numbers{"power_limit_w": g.PowerLimit}).
		also(g.PowerDefault > 0, fmt.Sprintf("; it is %.0f of %.0f W", g.PowerLimit, g.PowerDefault), nil).
		also(braked, "; the power brake is on", numbers{"power_brake_share": round(brake)})
	if braked {
		x.Fix = []string{"the power supply or its cables cannot feed the card"}
	}
	return x
}

// pcieLink: the link to the GPU is narrower than both ends can. Only active
// samples count, for an idle link rests at Gen1.
func pcieLink(f *facts) *Finding {
	for _, i := range f.used {
		s, g := f.gpus[i], f.t.GPUs[i]
		if s.LinkN == 0 || s.Link/float64(s.LinkN) > 0.5 {
			continue
		}
		part := s.Link / float64(s.LinkN)
		x := f.finding(PCIeLink, medium, numbers{"gpu": g.Index, "link_share": round(part)},
			fmt.Sprintf("GPU %d's PCIe link runs at %s of its best under load", g.Index, pct(part)),
			"reseat the card or its riser, and look at the slot's setting in the firmware").
			also(g.Link != "", fmt.Sprintf(" (best %s)", g.Link), numbers{"max_link": g.Link})
		if rx := ratio(s.Rx, s.RxN); rx.ok && g.LinkMBs > 0 {
			load := rx.v / g.LinkMBs
			x.Evidence["link_load"] = round(load)
			if load < 0.2 && copiesEachStep(f) == nil {
				continue // a slow link that nobody needs costs nothing
			}
			x.also(true, fmt.Sprintf(", and carries %s of what it can", pct(min(load, 1))), nil).Confidence = high
		}
		return x
	}
	return nil
}

// dataParallel: one process drives all GPUs and gathers on the first.
func dataParallel(f *facts) *Finding {
	n := max(f.probe().Devices, f.visibleCount())
	if n < 2 || !slices.Contains(f.probe().Parallel, "DataParallel") {
		return nil
	}
	return f.finding(DataParallel, high, numbers{"devices": n}, "torch.nn.DataParallel: one Python process feeds all GPUs, and GPU 0 gathers",
		"torchrun --nproc_per_node=N …, with torch.nn.parallel.DistributedDataParallel")
}

// fp32NoTensorCores: 32-bit matrix products, and neither TF32 nor autocast. A
// network of convolutions is left out: cuDNN takes TF32 for those by default
// (torch.backends.cudnn.allow_tf32).
func fp32NoTensorCores(f *facts) *Finding {
	p := f.probe()
	b, seen := f.burst()
	all, _, fp32 := p.params()
	if !seen || b.Autocast > 0 || p.Matmul != "highest" || all == 0 || float64(fp32) < 0.9*float64(all) {
		return nil
	}
	if len(f.used) == 0 || !f.util.ok || f.util.v <= utilLow {
		return nil // no GPU computes, or it has time to spare: faster products would not help yet
	}
	old := func(i int) bool { return f.t.GPUs[i].SM.Major < 8 } // or unknown: the study abstains then
	te := f.mean(GPUFrame.tensor)
	if slices.ContainsFunc(f.used, old) || p.Matrices > 0 && 2*p.Matrices < all || te.ok && te.v >= 5 {
		return nil
	}
	return f.finding(FP32NoTensorCores, say.Either(te.ok, high, medium), numbers{"parameters_fp32": fp32, "matmul_precision": p.Matmul},
		"matrix products in full 32-bit floats: without tensor cores", f.mixed()...).
		also(te.ok, fmt.Sprintf(" (%.0f %% active)", te.v), numbers{"tensor_active": round(te.v)})
}
