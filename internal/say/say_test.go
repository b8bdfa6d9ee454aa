package say_test

import (
	"testing"

	"envfix/internal/say"
)

func TestParts(t *testing.T) {
	gpu, driver := "V100", ""
	got := gpu + say.With(", driver ", driver, "") + say.With(" (", "7.0", ")") + say.If(driver == "", ", without one") + say.Either(gpu == "", " none", ".")
	if got := say.List(", ", say.Counted([]string{"T4", "V100", "T4", ""})...); got != "2 × T4, V100" {
		t.Errorf("counted %q", got)
	}
	if want := "V100 (7.0), without one."; got != want {
		t.Errorf("said %q, want %q", got, want)
	}
}

func TestClock(t *testing.T) {
	for seconds, want := range map[int]string{0: "0:00", 102: "1:42", 3599: "59:59", 4000: "1:06:40"} {
		if got := say.Clock(seconds); got != want {
			t.Errorf("%d: %s, want %s", seconds, got, want)
		}
	}
}
