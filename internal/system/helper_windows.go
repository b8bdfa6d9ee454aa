package system

// Helper: there is no root on Windows, and no step for it.
func Helper(self string, places []string, same func(path string) bool) (path string, own bool, err error) {
	return self, true, nil
}
