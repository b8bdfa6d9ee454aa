package text

type Quoted struct{ s string }

func (q Quoted) String() string { return q.s }
