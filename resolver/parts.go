package resolver

// The parts of a question, each a room of its own: what it asks of another, it asks by
// name. They hold nothing of their own.
type (
	chooser    struct{ p *problem } // decides: which GPUs, which driver, which build
	vendors    struct{ p *problem } // builds that others than PyTorch publish
	frameworks struct{ p *problem } // what computes without torch
	advice     struct{ p *problem } // what else could be done, and why not
	naming     struct{ p *problem } // whether what is asked for exists
	packages   struct{ a *attempt } // the packages that go with a build
	fits       struct{ a *attempt } // the builds of frameworks that go with one
	remarks    struct{ a *attempt } // what whoever takes a build has to know
)

func (s *problem) chooser() chooser       { return chooser{s} }
func (s *problem) vendors() vendors       { return vendors{s} }
func (s *problem) frameworks() frameworks { return frameworks{s} }
func (s *problem) advice() advice         { return advice{s} }
func (s *problem) naming() naming         { return naming{s} }
func (q *attempt) packages() packages     { return packages{q} }
func (q *attempt) fits() fits             { return fits{q} }
func (q *attempt) remarks() remarks       { return remarks{q} }
