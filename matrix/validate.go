package matrix

func (m *Matrix) validate() []Fault { return nil }
