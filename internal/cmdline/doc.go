// Package cmdline is the grammar of the program's own command line: flags anywhere among the
// arguments, what was meant by a word that is none, the text of --help, and what a shell may
// complete. It declares no command, and knows none but by what it is given.
package cmdline
