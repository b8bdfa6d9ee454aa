package installers

import "errors"

// Projects are not the web page's: it asks for no such plan, and the parser of TOML
// would be a tenth of what it loads.
var errProject = errors.New("a project's file is written by `envfix apply`, not here")

func (b *builder) project() error { return errProject }

func (b *builder) pixi() error { return errProject }
