package apply

func diskQuota(error) string { return "" }
