package proc

// Owner knows no owners where files have no user's number.
func Owner(string) (uid int, ok bool) { return 0, false }
