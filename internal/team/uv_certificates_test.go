package team

import (
	"slices"
	"testing"
)

// A company's certificates reach pip, which brings uv, and uv, by whichever name they
// are given: pip --isolated does not read PIP_CERT.
func TestCertificatesReachBoth(t *testing.T) {
	for _, name := range []string{"PIP_CERT", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "SSL_CERT_FILE"} {
		env := UVEnvironment([]string{name + "=/etc/company.pem"}, "")
		for _, want := range []string{"REQUESTS_CA_BUNDLE=/etc/company.pem", "SSL_CERT_FILE=/etc/company.pem"} {
			if !slices.Contains(env, want) {
				t.Errorf("%s: no %s in %q", name, want, env)
			}
		}
	}
	if env := UVEnvironment([]string{"SSL_CERT_FILE=/own.pem", "PIP_CERT=/pip.pem"}, ""); !slices.Contains(env, "SSL_CERT_FILE=/own.pem") {
		t.Errorf("%q", env)
	}
}
