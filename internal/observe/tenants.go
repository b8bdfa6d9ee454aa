package observe

import (
	"cmp"
	"fmt"
	"os"
	"slices"

	"envfix/internal/machine"
	"envfix/internal/observe/verdict"
)

func tenantOf(pid int) verdict.Tenant {
	dir := fmt.Sprintf("/proc/%d", pid)
	t := verdict.Tenant{PID: pid}
	if uid, ok := ownerID(dir); ok {
		t.User = userName(uid)
	}
	if b, err := os.ReadFile(dir + "/comm"); err == nil {
		t.Name = machine.Clip(string(b), 40)
	}
	return t
}

func sortTenants(list []verdict.Tenant) {
	slices.SortFunc(list, func(a, b verdict.Tenant) int {
		return cmp.Or(cmp.Compare(b.Memory, a.Memory), cmp.Compare(a.PID, b.PID))
	})
}
