package matrix

func readCommands(r *rowReader, rows rowsFunc, m *Matrix) {}
