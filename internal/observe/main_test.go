package observe

import (
	"os"
	"testing"

	"envfix/internal/testenv"
)

func TestMain(m *testing.M) {
	testenv.Clean()
	os.Exit(m.Run())
}
