package modules

import (
	"fmt"
	"testing"
)

// Of several that bring a module the plainest is the likeliest; a name says nothing.
func TestBrought(t *testing.T) {
	for dotted, want := range map[string]string{"PIL.Image": "PIL [pillow]", "os.path": "os [python]", "torch.utils.tensorboard.SummaryWriter": "torch.utils.tensorboard [tensorboard]", "torch.utils.data": "torch [torch]", "cuda.bindings.driver": "cuda.bindings [cuda-bindings]", "cuda.nothing": "cuda []", "pkg_resources": "pkg_resources [setuptools<=81.0.0]"} {
		if m, names := Brought(dotted); fmt.Sprint(m, " ", names) != want {
			t.Errorf("%s: %s %v", dotted, m, names)
		}
	}
}
