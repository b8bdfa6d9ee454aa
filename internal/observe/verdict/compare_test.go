package verdict

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestCompare(t *testing.T) {
	sick, well := job(), job()
	load(sick, 0, 20)
	lead(sick).Page.Load = 80
	before, after := Judge(sick), Judge(well)
	c := Compare(before, after)
	if diff := cmp.Diff([][]string{{LoaderBound}, {}, {}}, [][]string{c.Gone, c.Stayed, c.New}); diff != "" {
		t.Error(diff)
	}
	again := Compare(before, before)
	if diff := cmp.Diff([][]string{{}, {LoaderBound}, {}}, [][]string{again.Gone, again.Stayed, again.New}); diff != "" {
		t.Error(diff)
	}
	if before.IdleHours == nil || after.IdleHours == nil || *before.IdleHours <= *after.IdleHours || len(c.Changes) < 3 || c.Changes[0].Name != "steps_per_s" {
		t.Errorf("%+v", c)
	}
}
