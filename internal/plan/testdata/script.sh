#!/bin/sh
# envfix plan sha256:60169ad8f95c03c5d7c352780ecc3035213eb0bcb414a6861f0fd95b406f89b6
# fix_driver: torch 2.14.1, build cu126, Python 3.12
# warning: a name: $(touch pwned) # and a line
set -eu
from=${1:-1} # the step to begin with, after one that is done by hand
target="my env's/.venv"
gen=$PWD/.envfix/gens/$(date +%Y%m%d%H%M%S)
mkdir -p "$PWD/.envfix/gens"
tools=${XDG_STATE_HOME:-"$HOME/.local/state"}/envfix/tools
mkdir -p "$tools"
root() { if [ "$(id -u)" -eq 0 ]; then env "$@"; else sudo env "$@"; fi; }
# a bundle of certificates counts for every installer, whichever variable names it
bundle=${SSL_CERT_FILE:-${REQUESTS_CA_BUNDLE:-${CURL_CA_BUNDLE:-${PIP_CERT:-}}}}
[ -z "$bundle" ] || export SSL_CERT_FILE="${SSL_CERT_FILE:-$bundle}" REQUESTS_CA_BUNDLE="${REQUESTS_CA_BUNDLE:-$bundle}"
user() {
  env -i HOME="$HOME" PATH="$PATH" LANG="${LANG-C.UTF-8}" TERM="${TERM-dumb}" \
    ${HTTPS_PROXY:+"HTTPS_PROXY=$HTTPS_PROXY"} ${https_proxy:+"https_proxy=$https_proxy"} \
    ${HTTP_PROXY:+"HTTP_PROXY=$HTTP_PROXY"} ${http_proxy:+"http_proxy=$http_proxy"} \
    ${ALL_PROXY:+"ALL_PROXY=$ALL_PROXY"} ${all_proxy:+"all_proxy=$all_proxy"} \
    ${NO_PROXY:+"NO_PROXY=$NO_PROXY"} ${no_proxy:+"no_proxy=$no_proxy"} \
    ${SSL_CERT_FILE:+"SSL_CERT_FILE=$SSL_CERT_FILE"} ${SSL_CERT_DIR:+"SSL_CERT_DIR=$SSL_CERT_DIR"} \
    ${REQUESTS_CA_BUNDLE:+"REQUESTS_CA_BUNDLE=$REQUESTS_CA_BUNDLE"} ${CURL_CA_BUNDLE:+"CURL_CA_BUNDLE=$CURL_CA_BUNDLE"} \
    ${UV_SYSTEM_CERTS:+"UV_SYSTEM_CERTS=$UV_SYSTEM_CERTS"} ${UV_NATIVE_TLS:+"UV_NATIVE_TLS=$UV_NATIVE_TLS"} \
    ${UV_CACHE_DIR:+"UV_CACHE_DIR=$UV_CACHE_DIR"} ${UV_PYTHON_INSTALL_DIR:+"UV_PYTHON_INSTALL_DIR=$UV_PYTHON_INSTALL_DIR"} \
    ${UV_PYTHON_INSTALL_MIRROR:+"UV_PYTHON_INSTALL_MIRROR=$UV_PYTHON_INSTALL_MIRROR"} ${CONDA_PKGS_DIRS:+"CONDA_PKGS_DIRS=$CONDA_PKGS_DIRS"} \
    "$@"
}
uv=$(command -v uv || true)
if [ -z "$uv" ] || ! user "$uv" --version >/dev/null 2>&1; then uv=$tools/uv/bin/uv; fi
if [ ! -x "$uv" ]; then
  if ! python3 -c 'import venv, ensurepip' 2>/dev/null; then
    if command -v apt-get >/dev/null; then
      root DEBIAN_FRONTEND=noninteractive apt-get update
      root DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends python3 python3-venv
    elif command -v dnf >/dev/null; then
      root dnf install -y python3 python3-pip
    else
      echo 'install uv (docs.astral.sh/uv), or a Python 3 with venv and pip, first' >&2
      exit 1
    fi
  fi
  user python3 -m venv "$tools"/uv
  user PIP_CONFIG_FILE=/dev/null "$tools"/uv/bin/python -I -m pip install --isolated --disable-pip-version-check --no-input --only-binary :all: uv
fi

# none is here
if [ "$from" -le 1 ]; then
echo 'step 1 of 8: install the driver'
root DEBIAN_FRONTEND=noninteractive apt-get install -y nvidia-driver-580-open
fi

# the module must be loaded
if [ "$from" -le 2 ]; then
echo 'step 2 of 8: reboot'
echo 'then run this script again with the argument 3'
exit 7
fi

# w
if [ "$from" -le 3 ]; then
echo 'step 3 of 8: make `it`'
user "$uv" venv "$gen"
fi

# w
if [ "$from" -le 4 ]; then
echo 'step 4 of 8: install'
user "$uv" pip install --python "$gen"/bin/python torch==2.14.1+cu126 "x ; python_version < '3.13'" '$(touch pwned)' 'a
b' ''
fi

# w
if [ "$from" -le 5 ]; then
echo 'step 5 of 8: block'
printf '%s\n' '# >>> envfix envfix >>>' "x='1'" '# <<< envfix envfix <<<' >>"$gen"/bin/activate
fi

# w
if [ "$from" -le 6 ]; then
echo 'step 6 of 8: write'
printf %s 'one
'\''two'\''
' >'a file'
chmod 600 'a file'
fi

# w
if [ "$from" -le 7 ]; then
echo 'step 7 of 8: verify'
user CUDA_VISIBLE_DEVICES=GPU-1,GPU-2 "$gen"/bin/python -I -c 'import torch, torchvision; assert torch.__version__ == "2.14.1+cu126", torch.__version__; assert torch.version.cuda == "12.6", torch.version.cuda; assert torch.cuda.device_count() == 2, torch.cuda.device_count(); devices = ["cuda:" + str(i) for i in range(torch.cuda.device_count())]; ones = [torch.ones(64, 64, device=d) for d in devices]; wrong = [str(x.device) for x in ones if (x @ x).sum().item() != 64 ** 3]; assert not wrong, wrong; print("torch", torch.__version__, "computes on", ", ".join(devices) or "the CPU; it sees no GPU here")'
fi

# w
if [ "$from" -le 8 ]; then
echo 'step 8 of 8: switch'
if [ -e "$target" ] && [ ! -L "$target" ]; then mv "$target" "$target.before"; fi
ln -sfn "$gen" "$target.next"
mv -T "$target.next" "$target" 2>/dev/null || { rm -f "$target"; mv "$target.next" "$target"; }
fi
echo 'my env'\''s/.venv is ready: `. "my env'\''s/.venv/bin/activate"` puts it into use'
