package evidence

// A Rule is one thing to look at. The checks that follow from a message or a clue alone
// have no rule: their entry in the data is one.
type Rule struct {
	Checks  []string // that its findings carry
	OnFiles bool     // it is asked only where the environment's files are here (Files)

	Find  func(*Evidence, *Findings)        // from the facts; the order of rules decides nothing
	After func(*Evidence, Found, *Findings) // from the facts and what all others found; nil: Find
}

// A Confidence is how sure a finding is.
type Confidence int

// The confidences: a symptom alone, a message that names its cause, facts that
// leave no other.
const (
	Low Confidence = iota
	Medium
	High
)

func (c Confidence) String() string { return []string{"low", "medium", "high"}[c] }

// MarshalText writes low, medium or high.
func (c Confidence) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// A Proof is how much a finding is worth believing: what kind of proof it has, and within
// the kind how specific it is. The greater is the better one.
type Proof int

// The kinds of proof, the weakest first.
const (
	Trifle Proof = 3*iota + 1 // worth knowing
	Weak                      // a symptom's usual reason, a vague word
	Hint                      // several weak ones, or one fact that usually means it
	Strong                    // clear words, or a message that names its cause
	Likely                    // a message and a fact together
	Proven                    // facts that leave no other
)

// Message is the proof of a message that names its cause, which is more exact than words.
const Message = Strong + 1

// Exact is the same kind, of a finding that says more than others of it; Loose of one that
// says less.
func (p Proof) Exact() Proof { return p.kind()*3 + 2 }

// Loose is the same kind of proof where others are more specific.
func (p Proof) Loose() Proof { return p.kind() * 3 }

func (p Proof) kind() Proof { return p / 3 }

// Less is the same proof of the next weaker kind.
func (p Proof) Less() Proof { return p - 3 }

// FarBelow reports whether the kind is more than one weaker than another's.
func (p Proof) FarBelow(o Proof) bool { return p.kind()+1 < o.kind() }

func (p Proof) confidence() Confidence {
	switch {
	case p >= Likely:
		return High
	case p >= Strong:
		return Medium
	}
	return Low
}
