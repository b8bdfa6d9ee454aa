package read

import (
	"envfix/internal/lazy"
)

// versionReaders read versions as people write them down: of Windows, of a Jetson's
// system, of a driver by its branch alone.
var versionReaders = []reader{
	{`\b(?:Windows\b.{0,24}|Version |build(?: number)?:? *)(?:10\.0\.)?((?:1[0-9]|2[0-9])\d{3})\.\d{1,5}\b`,
		func(r *Reader, m []string, s Evidence) { // Microsoft Windows [Version 10.0.19042.1052]
			if r.c.Place.WindowsBuild == 0 {
				r.c.Place.WindowsBuild = Atoi(m[1])
				r.say(&r.c.Place.WindowsBuildAt, s)
			}
		}},
	{`\bR(3[2-9]) \(release\)|\bL4T\b\W{0,6}(?:Release|version)?\W{0,8}R?(3[2-9])\b|\bJetPack\W{0,6}(?:SDK|version)?\W{0,8}([4-7])\b`,
		func(r *Reader, m []string, s Evidence) {
			release := map[string]string{"4": "32", "5": "35", "6": "36", "7": "38"}[m[3]]
			if r.c.Machine.Platform.L4T == "" {
				r.c.Machine.Platform.L4T = m[1] + m[2] + release
				r.say(&r.c.Place.L4TAt, s)
			}
		}},
	{branchExpr, func(r *Reader, m []string, s Evidence) {
		if n := Atoi(m[1] + m[2]); r.c.Says.Branch == 0 && n >= 340 && !wantedBranch().MatchString(s.Text) {
			r.c.Says.Branch = n
			r.say(&r.c.Says.BranchAt, s)
		}
	}},
	{smiInside, says(func(c *Case) *Evidence { return &c.Says.SMIInside })},
	{`(?:installed|have|has|got|reinstalled|安装了?|已安装)\b.{0,40}(?:vc_?redist|Visual C\+\+ Redist|VC\+\+ ?(?:redist|runtime))|` +
		`(?:vc_?redist|Visual C\+\+ Redist)\w*.{0,40}\b(?:is|are|was|already) (?:\w+ )?installed`,
		says(func(c *Case) *Evidence { return &c.Did.Redistributable })},
}

// branchExpr finds a driver that is named by its branch: "nvidia driver 390", "nvidia-410".
const branchExpr = `\b(?:nvid[ie]a|geforce)[- ]drivers?(?: version)?(?: is| of|:| =)? ?v?-?([3-6]\d{2})\b(?:[^.\d-]|\.\W|\.?$)|` +
	`(?:^|[^/\w-])nvidia-([3-6]\d{2})\b(?:[^.\d-]|\.\W|\.?$)`

// wantedBranch finds the lines where a branch is asked for, or what somebody tried.
var wantedBranch = lazy.Regexp(`(?i)requir|\bneeds?\b|newer|later|at least|minimum|>=|should|must|updat|upgrad|` +
	`install |downgrad|\btry|\btried|support|docker run|depends|[a-z]+_driver_\d`)

// smiInside is how people say that nvidia-smi works within the container.
const smiInside = `\bnvidia-smi\b[^.]{0,40}\b(?:works?|worked|fine|runs|ran|shows|success\w*|ok|correct\w*)\b[^.]{0,30}\b(?:in|inside|within)\b[^.]{0,20}\bcontainer|` +
	`\b(?:in|inside|within|from) (?:the |my |a |this )?(?:docker |running )?containers?\b[^.]{0,40}\bnvidia-smi\b[^.]{0,40}\b(?:works?|worked|fine|shows?|runs|lists?|displays?|success\w*|ok|correct\w*)|` +
	`\bcontainers?\b[^.]{0,30}\b(?:sees?|lists?|shows?|finds?) (?:\w+ ){0,2}GPUs?\b[^.]{0,16}\bnvidia-smi\b|(?:docker|容器) ?(?:里|内|中)\S{0,6} ?nvidia-smi ?\S{0,4}(?:正常|可以)`

// JetPack is the generation of a Jetson's system; 0 unknown.
func (c *Case) JetPack() int {
	l4t := c.Machine.Platform.L4T
	return map[string]int{"32": 4, "34": 5, "35": 5, "36": 6, "38": 7, "39": 7}[l4t[:min(2, len(l4t))]]
}
