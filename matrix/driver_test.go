package matrix

import (
	"strings"
	"testing"

	"envfix/internal/version"
)

// A branch alone means a release of it that exists; a whole number stays.
func TestWholeDriver(t *testing.T) {
	m := &Matrix{Branches: []Branch{
		{Number: 620, Latest: version.MustDotted("620.70.06")},
		{Number: 580, Latest: version.MustDotted("580.178.04"), LatestWindows: version.MustDotted("582.78")},
		{Number: 470, Latest: version.MustDotted("470.256.02"), LatestWindows: version.MustDotted("475.14")},
	}}
	for _, c := range []struct {
		driver, want, err string
		windows           bool
	}{
		{driver: "580", want: "580.178.04"},
		{driver: "580.95.05", want: "580.95.05"},
		{driver: "580.00", want: "580.00"},
		{driver: "580", windows: true, want: "582.78"},
		{driver: "581", windows: true, want: "581"},
		{driver: "583", windows: true, want: "583", err: "no driver branch 583 is known; there are 580, 470"},
		{driver: "620", windows: true, want: "620", err: "no driver branch 620"},
		{driver: "600", want: "600", err: "no driver branch 600 is known; there are 620, 580, 470"},
	} {
		got, err := m.WholeDriver(version.MustDotted(c.driver), c.windows)
		if got.String() != c.want || (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%+v: %s, %v", c, got, err)
		}
	}
}
