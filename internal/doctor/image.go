package doctor

import (
	"fmt"
	"strings"

	"envfix/internal/lazy"
	"envfix/resolver"
)

// bases are images into which whoever uses them installs torch.
var bases = lazy.Regexp(`^(?:docker\.io/)?(?:library|continuumio|condaforge|mambaorg|jupyter|quay\.io/jupyter)/|\bnvidia/cuda\b`)

// image is the image that the program runs from, where it brings its own torch: somebody
// else built it, and nobody here installed torch.
func (e *exam) image() string {
	if e.Containers.Image.Base != "" || !e.Did.PipTorch.IsZero() {
		return ""
	}
	for _, w := range e.Containers.Workloads {
		if w.Image != "" && !bases().MatchString(w.Image) {
			return w.Image
		}
	}
	return ""
}

// imageFix is how to come by another torch in an image of somebody else: what is
// installed into a container is gone with it.
func imageFix(image string, c *resolver.Choice, assumed assumption) []string {
	name, _, _ := strings.Cut(image[strings.LastIndex(image, "/")+1:], ":")
	name = image[:strings.LastIndex(image, "/")+1] + name
	then := "what `pip install` changes in a container is gone with it, and what the image compiled for its own torch fits no other"
	if assumed.gpu {
		return []string{"`nvidia-smi --query-gpu=name,compute_cap,driver_version --format=csv` on the host: the GPU and its driver decide which tag of " +
			name + " has a torch for them", then}
	}
	return []string{fmt.Sprintf(
		"another tag of %s, whose torch has code for this GPU and runs on its driver, as torch %s (%s) does", name, c.Torch, c.Build), then}
}
