package machine

import (
	"strings"
	"testing"
)

// TestLent: who lends the machine, and the way to a GPU there, by its variable or by what
// its firmware says.
func TestLent(t *testing.T) {
	for _, c := range []struct{ variable, product, name, way string }{
		{"KAGGLE_KERNEL_RUN_TYPE", "", "Kaggle notebook", "Accelerator"},
		{"SAGEMAKER_SPACE_NAME", "Amazon EC2 ml.t3.medium", "SageMaker space", "ml.g"},
		{"LSB_JOBID", "", "job of LSF", "-gpu"},
		{"CIRCLECI", "", "CircleCI job", "resource_class"},
		{"CI", "", "job of a CI", "--gpu NAME"},
		{"", "Amazon EC2 t3.large", "instance of Amazon EC2", "change its type"},
		{"", "Google Compute Engine", "instance of Google Cloud", "machine type"},
		{"", "Microsoft Azure", "virtual machine of Azure", "resize"},
		{"", "", "", ""},
	} {
		m := Machine{Platform: Platform{Product: c.product}, Env: map[string]string{c.variable: "1"}}
		name, way := m.Lent()
		if name != c.name || !strings.Contains(way, c.way) {
			t.Errorf("%s %s: %q, %q", c.variable, c.product, name, way)
		}
		if c.variable != "" && !IsHost(c.variable) {
			t.Errorf("%s is not read", c.variable)
		}
	}
}
