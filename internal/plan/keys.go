package plan

// Keyring is where the key of NVIDIA's repository for apt is kept, by the name
// that NVIDIA's own package cuda-keyring gives it: a machine that has one keeps one.
const Keyring = "/usr/share/keyrings/cuda-archive-keyring.gpg"

// SigningKeys are the keys that sign NVIDIA's package repositories: the file's
// name in each repository, without .pub, and the OpenPGP fingerprint that it must
// have. They are code and not data: root's half believes nothing that an update
// of the matrix could change.
//
// Source: the gpgkey lines of the repositories' own .repo files, and the key
// table of NVIDIA/cuda-repo-management; the fingerprints as several projects that
// pin them publish them.
var SigningKeys = map[string]string{
	"D42D0685": "610C7B14E068A878070DA4E99CD0A493D42D0685", // RHEL 8 and 9, Amazon Linux 2023, SLES 15, openSUSE Leap 15, Fedora up to 42
	"73CD9B30": "129994480EC63D2789BC98E490DFED2F73CD9B30", // Fedora 44
	"3A8B5622": "CF65941A859D4B4E6870F188736A284B3A8B5622", // SLES 16, openSUSE Leap 16
	"3BF863CC": "EB693B3035CD5710E231E123A4B469963BF863CC", // Debian 11 and 12, Ubuntu up to 24.04
	"8793F200": "02182E60104FCDC26EAE1B8597A5D4CB8793F200", // Debian 13
}
