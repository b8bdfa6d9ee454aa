package observe

import (
	"cmp"
	"slices"

	"envfix/internal/observe/verdict"
	"envfix/internal/proc"
	"envfix/internal/text"
)

func tenantOf(pid int) verdict.Tenant {
	p := proc.Self.Of(pid)
	t := verdict.Tenant{PID: pid}
	if uid, ok := proc.Owner(string(p)); ok {
		t.User = userName(uid)
	}
	t.Name = text.Clip(p.Name(), 40)
	return t
}

func sortTenants(list []verdict.Tenant) {
	slices.SortFunc(list, func(a, b verdict.Tenant) int {
		return cmp.Or(cmp.Compare(b.Memory, a.Memory), cmp.Compare(a.PID, b.PID))
	})
}
