package proc

// A File reads nothing on Windows, which has no /proc.
type File struct{}

// Open opens nothing.
func Open(string, bool) File { return File{} }

// Read reads nothing.
func (p *File) Read([]byte) ([]byte, bool) { return nil, false }

// Exists is false.
func (p *File) Exists() bool { return false }

// Kept is false.
func (p *File) Kept() bool { return false }

// Close does nothing.
func (p *File) Close() {}
