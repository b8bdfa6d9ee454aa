package evidence

// A Rule is one thing to look at. The checks that follow from a message or a clue alone
// have no rule: their entry in the data is one.
type Rule struct {
	Checks []string // that its findings carry
	Needs  string   // in words, for tests and readers

	Find  func(*Evidence) Findings        // from the facts; the order of rules decides nothing
	After func(*Evidence, Found) Findings // from the facts and what all others found; nil: Find
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

// A Proof is how much a finding is worth believing.
type Proof int

// The proofs, the weakest first.
const (
	Trifle  Proof = 15 // worth knowing
	Weak    Proof = 25 // a symptom's usual reason, a vague word
	Hint    Proof = 40 // several weak ones, or one fact that usually means it
	Strong  Proof = 55 // a message that names its cause, or clear words
	Message Proof = 60
	Likely  Proof = 70 // a message and a fact together
	Proven  Proof = 85 // facts that leave no other
)

func (p Proof) confidence() Confidence {
	switch {
	case p >= Likely:
		return High
	case p >= Strong:
		return Medium
	}
	return Low
}
