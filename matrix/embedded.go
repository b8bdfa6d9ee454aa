package matrix

// Embedded returns the matrix that the program was built with.
func Embedded() (*Matrix, error) { return &Matrix{}, nil }
