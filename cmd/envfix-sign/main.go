// Envfix-sign makes signed releases of the compatibility data, for the
// maintainers of the data: envfix matrix update takes them.
//
//	envfix-sign keygen NAME            writes NAME.key (secret) and NAME.pub
//	envfix-sign release KEY DATA OUT   writes a release of the directory DATA to OUT
//	envfix-sign add KEY FILE           adds a signature to a file of a release
//
// A password for the secret key is read from the terminal, or from the file
// that ENVFIX_SIGN_PASSWORD names. Keys and signatures are minisign's.
package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"envfix/internal/say"
	"envfix/internal/update"
	"envfix/internal/version"
	"envfix/matrix"

	"aead.dev/minisign"
	"golang.org/x/term"
)

const usage = `usage: envfix-sign keygen NAME
       envfix-sign release [DAYS] KEY DATA OUT   (good for DAYS, 180)
       envfix-sign add KEY FILE`

func main() {
	if err := run(os.Args[1:], time.Now().UTC()); err != nil {
		fmt.Fprintln(os.Stderr, "envfix-sign: error:", err)
		os.Exit(1)
	}
}

func run(args []string, now time.Time) error {
	switch {
	case len(args) == 2 && args[0] == "keygen":
		return keygen(args[1])
	case len(args) == 4 && args[0] == "release":
		return release(args[1:], 180, now)
	case len(args) == 5 && args[0] == "release":
		days, err := strconv.Atoi(args[1])
		if err != nil || days < 1 || days > 400 {
			return fmt.Errorf("%q is no number of days between 1 and 400", args[1])
		}
		return release(args[2:], days, now)
	case len(args) == 3 && args[0] == "add":
		key, err := readKey(args[1])
		if err != nil {
			return err
		}
		return sign(key, args[2])
	}
	return errors.New(usage)
}

// keygen writes a new pair of keys. The secret one has a password unless the
// password is empty.
func keygen(name string) error {
	public, private, err := minisign.GenerateKey(nil)
	if err != nil {
		return err
	}
	password, err := readPassword("password for the new key (empty: none): ")
	if err != nil {
		return err
	}
	text, err := private.MarshalText()
	if err == nil && password != "" {
		text, err = minisign.EncryptKey(password, private)
	}
	if err != nil {
		return err
	}
	if err := create(name+".key", append(text, '\n'), 0o600); err != nil {
		return err
	}
	pub, err := public.MarshalText()
	if err != nil {
		return err
	}
	fmt.Printf("%s %s\n", public, filepath.Base(name))
	return create(name+".pub", append(pub, '\n'), 0o644)
}

// create writes a file that must not be there yet.
func create(name string, b []byte, mode fs.FileMode) error {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = f.Write(b)
	return errors.Join(err, f.Close())
}

// release copies the data, writes the manifest and signs it. OUT must not be
// there yet.
func release(args []string, days int, now time.Time) error {
	keyFile, in, out := args[0], args[1], args[2]
	data := os.DirFS(in)
	m, err := matrix.Load(data)
	if err != nil {
		return fmt.Errorf("the data is not in order (`envfix matrix check %s`):\n%w", in, err)
	}
	manifest, err := update.NewManifest(data)
	if err != nil {
		return err
	}
	if manifest.Version, err = version.ParseDotted(m.Version); err != nil {
		return err
	}
	manifest.Created = now.Format(time.DateOnly)
	manifest.Expires = now.AddDate(0, 0, days).Format(time.DateOnly)
	text := manifest.Encode()
	if _, err := update.ParseManifest(text); err != nil {
		return err
	}
	key, err := readKey(keyFile)
	if err != nil {
		return err
	}
	if err := os.Mkdir(out, 0o755); err != nil {
		return err
	}
	if err := os.Mkdir(filepath.Join(out, "torch"), 0o755); err != nil {
		return err
	}
	for _, f := range manifest.Files {
		b, err := fs.ReadFile(data, f.Name)
		if err != nil {
			return err
		}
		if err := create(filepath.Join(out, filepath.FromSlash(f.Name)), b, 0o644); err != nil {
			return err
		}
	}
	if err := create(filepath.Join(out, update.ManifestName), text, 0o644); err != nil {
		return err
	}
	fmt.Printf("matrix %s, %d files, good until %s\n", m.Version, len(manifest.Files), manifest.Expires)
	return sign(key, filepath.Join(out, update.ManifestName))
}

// sign writes FILE.minisig, or the next of FILE.2.minisig … where others signed
// before.
func sign(key minisign.PrivateKey, file string) error {
	b, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	s := minisign.SignWithComments(key, b, "envfix "+filepath.Base(file), "signature of envfix's compatibility data")
	for n := 1; n <= 5; n++ {
		name := say.Either(n > 1, fmt.Sprintf("%s.%d.minisig", file, n), file+".minisig")
		err := create(name, s, 0o644)
		if !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	return fmt.Errorf("%s has five signatures already", file)
}

func readKey(file string) (minisign.PrivateKey, error) {
	var key minisign.PrivateKey
	b, err := os.ReadFile(file)
	if err != nil {
		return key, err
	}
	if !minisign.IsEncrypted(b) {
		return key, key.UnmarshalText(b)
	}
	password, err := readPassword("password of " + file + ": ")
	if err != nil {
		return key, err
	}
	return minisign.DecryptKey(password, b)
}

func readPassword(prompt string) (string, error) {
	if file := os.Getenv("ENVFIX_SIGN_PASSWORD"); file != "" {
		b, err := os.ReadFile(file)
		return strings.TrimRight(string(b), "\r\n"), err
	}
	if !term.IsTerminal(int(os.Stdin.Fd())) {
		return "", errors.New("no terminal to ask for a password; name a file with it in ENVFIX_SIGN_PASSWORD")
	}
	fmt.Fprint(os.Stderr, prompt)
	b, err := term.ReadPassword(int(os.Stdin.Fd()))
	fmt.Fprintln(os.Stderr)
	return string(b), err
}
