package observe

func ownerID(string) (int, bool) { return 0, false }
