package pyproject

import (
	"slices"
	"testing"
)

func TestImports(t *testing.T) {
	source := `"""import not_this"""
import os, numpy as np; import torch.nn.functional as F
from google.protobuf import message, text_format as t
from PIL import (
    Image,  # import nor_this
    ImageDraw as D,
)
from . import own
from .own import thing
from .. import up
from everything import *
try:
    import apex
    if deep: from xformers.ops import memory
except ImportError:
    apex = None
else:
    import after
if TYPE_CHECKING:
    import typed
def check():
    try:
        import demanded
        demanded.use()
    except ImportError as err:
        raise ValueError("install it") from err
try:
    import tolerated
except ImportError: tolerated = None
except OSError: raise
try: import at_once
except ImportError: raise
def later():
    import lazily
    yield from other
text = f'import no {x}'
table = {"a": 1, "from": 2}
lambda: x
`
	var plain, guarded []string
	for _, i := range Imports([]byte(source)) {
		if i.Guarded {
			guarded = append(guarded, i.Module)
		} else {
			plain = append(plain, i.Module)
		}
	}
	if want := []string{"os", "numpy", "torch.nn.functional", "google.protobuf.message", "google.protobuf.text_format", "PIL.Image", "PIL.ImageDraw",
		"everything", "after", "demanded", "at_once", "lazily"}; !slices.Equal(plain, want) {
		t.Errorf("%q", plain)
	}
	if want := []string{"apex", "xformers.ops.memory", "typed", "tolerated"}; !slices.Equal(guarded, want) {
		t.Errorf("guarded %q", guarded)
	}
	Imports([]byte("import\nfrom\nfrom x\nimport ,\nfrom x import (\nimport a.\n"))
}
