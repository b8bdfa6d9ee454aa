package installers

import "errors"

// Projects are not the web page's: it asks for no such plan, and the parser of TOML
// would be a tenth of what it loads.
var errProject = errors.New("a project's file is written by `envfix apply`, not here")

func (pixi) steps(*builder) error { return errProject }

func (poetry) steps(*builder) error { return errProject }

func (project) leavesAll(*builder, int) string { return "" }

func edit(*builder) {}

func amend(*builder, wheelTool) {} // the page has no environment in use
