#!/usr/bin/env python3
"""Writes data/catalogue.txt: what programs print when something is wrong, read from their packages.
usage: harvest.py CATALOGUE WORK [--only NAME,…] [--source NAME=FILE_OR_FOLDER@VERSION …]
Packages come from the installer's default index and Go's by their own clients, or from folders that are given, into the folder WORK, where they stay. What
cannot be had keeps its rows and their date. A row holds the one literal piece that a message is recognised by:
no comment, no documentation; of closed libraries the names and numbers of their enumerations alone."""
import argparse, ast, datetime, errno, io, json, os, re, subprocess, sys, tarfile, urllib.request, zipfile
from collections import Counter

HOLE = '\0'
PIECE = 60 # characters of a message that are kept
SYSTEM = {os.strerror(n).lower() for n in errno.errorcode} # no program's own words
# name: (where from, which file, licence, what is read of it)
PY, C, LIB, SH = 'py', 'c', 'lib', 'sh'
SOURCES = {
    'cuda-runtime': ('pip:nvidia-cuda-runtime', 'x86_64.*whl', 'names and numbers', r'enum:driver_types\.h:cudaError\w+'),
    'cuda-driver': ('pip:nvidia-cuda-runtime', 'x86_64.*whl', 'names and numbers', r'enum:/cuda\.h:CUDA_ERROR_\w+'),
    'nvml': ('go:github.com/NVIDIA/go-nvml@v0.13.4-0', '', 'names and numbers', r'enum:nvml/nvml\.h:NVML_ERROR_\w+'),
    'nvidia-ml-py': ('pip:nvidia-ml-py', 'whl', 'BSD-3-Clause', PY),
    'cublas': ('pip:nvidia-cublas-cu12', 'win_amd64.whl', 'names and numbers', r'enum:cublas_api\.h:CUBLAS_STATUS_\w+'),
    'cudnn': ('pip:nvidia-cudnn-cu12', 'win_amd64.whl', 'names and numbers', r'enum:cudnn_graph\w*\.h:CUDNN_STATUS_\w+'),
    'cufft': ('pip:nvidia-cufft-cu12', 'win_amd64.whl', 'names and numbers', r'enum:cufft\.h:CUFFT_(?!FORWARD|INVERSE|COMPATIBILITY|[RCDZ]2)[A-Z_]+'),
    'cusolver': ('pip:nvidia-cusolver-cu12', 'win_amd64.whl', 'names and numbers', r'enum:cusolver_common\.h:CUSOLVER_STATUS_\w+'),
    'cusparse': ('pip:nvidia-cusparse-cu12', 'win_amd64.whl', 'names and numbers', r'enum:cusparse\.h:CUSPARSE_STATUS_\w+'),
    'curand': ('pip:nvidia-curand-cu12', 'win_amd64.whl', 'names and numbers', r'enum:curand\.h:CURAND_STATUS_\w+'),
    'nvrtc': ('pip:nvidia-cuda-nvrtc-cu12', 'x86_64.*whl', 'names and numbers', r'enum:nvrtc\.h:NVRTC_ERROR_\w+'),
    'nvjitlink': ('pip:nvidia-nvjitlink-cu12', 'x86_64.*whl', 'names and numbers', r'enum:nvJitLink\.h:NVJITLINK_ERROR_\w+'),
    'nccl': ('pip:nvidia-nccl-cu12', 'x86_64.*whl', 'Apache-2.0', r'enum:nccl\.h:nccl(?:Unhandled|System|Internal|Invalid|Remote|Timeout)\w*'),
    'nccl-library': ('pip:nvidia-nccl-cu12', 'x86_64.*whl', 'Apache-2.0', LIB),
    'torch': ('pip:torch', 'cp312-cp312-manylinux.*x86_64.*whl', 'BSD-3-Clause', PY + C + LIB),
    'torchvision': ('pip:torchvision', 'manylinux.*x86_64.*whl', 'BSD-3-Clause', PY + LIB),
    'torchaudio': ('pip:torchaudio', 'cp312.*macosx.*whl', 'BSD-2-Clause', PY),
    'triton': ('pip:triton', 'cp312.*manylinux.*x86_64.*whl', 'MIT', PY),
    'transformers': ('pip:transformers', 'whl', 'Apache-2.0', PY),
    'accelerate': ('pip:accelerate', 'whl', 'Apache-2.0', PY),
    'diffusers': ('pip:diffusers', 'whl', 'Apache-2.0', PY),
    'peft': ('pip:peft', 'whl', 'Apache-2.0', PY),
    'bitsandbytes': ('pip:bitsandbytes', 'manylinux.*x86_64.*whl', 'MIT', PY + LIB),
    'xformers': ('pip:xformers', 'tar.gz', 'BSD-3-Clause', PY + C),
    'flash-attn': ('pip:flash-attn', 'tar.gz', 'BSD-3-Clause', PY + C),
    'vllm': ('pip:vllm', 'tar.gz', 'Apache-2.0', PY + C),
    'sglang': ('pip:sglang', 'whl', 'Apache-2.0', PY),
    'deepspeed': ('pip:deepspeed', 'tar.gz', 'Apache-2.0', PY + C),
    'jax': ('pip:jax', 'whl', 'Apache-2.0', PY),
    'tensorflow': ('pip:tensorflow', 'cp312.*manylinux.*x86_64.*whl', 'Apache-2.0', PY + LIB),
    'keras': ('pip:keras', 'whl', 'Apache-2.0', PY),
    'onnxruntime': ('pip:onnxruntime-gpu', 'cp312.*x86_64.*whl', 'MIT', PY + LIB),
    'cupy': ('pip:cupy', 'tar.gz', 'MIT', PY + C),
    'numba': ('pip:numba', 'tar.gz', 'BSD-2-Clause', PY),
    'numba-cuda': ('pip:numba-cuda', 'tar.gz', 'BSD-2-Clause', PY),
    'ctranslate2': ('pip:ctranslate2', 'cp312.*manylinux.*x86_64.*whl', 'MIT', PY + LIB),
    'huggingface-hub': ('pip:huggingface_hub', 'whl', 'Apache-2.0', PY),
    'safetensors': ('pip:safetensors', 'manylinux.*x86_64.*whl', 'Apache-2.0', PY),
    'optimum': ('pip:optimum', 'whl', 'Apache-2.0', PY),
    'trl': ('pip:trl', 'whl', 'Apache-2.0', PY),
    'gptqmodel': ('pip:gptqmodel', 'tar.gz', 'Apache-2.0', PY + C),
    'lightning': ('pip:lightning', 'whl', 'Apache-2.0', PY),
    'pip': ('pip:pip', 'whl', 'MIT', PY),
    'uv': ('pip:uv', 'tar.gz', 'MIT OR Apache-2.0', C),
    'nvidia-container-toolkit': ('go:github.com/NVIDIA/nvidia-container-toolkit@latest', '', 'Apache-2.0', C),
    'k8s-device-plugin': ('go:github.com/NVIDIA/k8s-device-plugin@latest', '', 'Apache-2.0', C),
    'dkms': ('given', '', 'GPL-2.0-or-later', SH),
    'slurm': ('given', '', 'GPL-2.0-or-later', C),
    'conda': ('given', '', 'BSD-3-Clause', PY),
    'mamba': ('given', '', 'BSD-3-Clause', C),
    'hip': ('given', '', 'MIT', C),
    'level-zero': ('given', '', 'MIT', r'enum:ze_api\.h:ZE_RESULT_(?:EX[PT]_)?(?:ERROR|WARNING)_\w+'),
    'torch-macos': ('pip:torch', 'cp312.*macosx.*arm64.whl', 'BSD-3-Clause', LIB),
}
SKIP = re.compile(r'(^|/)(tests?|testing|_vendor|vendor|third_party|examples?|benchmarks?|docs?|conformance|auto_docstring)(/|_|\.)|/test_|_test\.')
# where a message begins to speak of an address: a hole, as each installation has its own
ADDRESS = re.compile(r'\b(?:https?://)?(?:[\w-]+\.)+(?:org|com|io|dev|net|ai|co)\b\S*')
LOUD = {'warning': 'w', 'warning_once': 'w', 'warning_advice': 'w', 'warn': 'w', 'warn_once': 'w', 'error': 'e', 'critical': 'e', 'exception': 'e', 'fatal': 'e'}
MACRO = re.compile(r'\b(?:(TORCH_CHECK\w*|STD_TORCH_CHECK\w*|TORCH_INTERNAL_ASSERT\w*|AT_ASSERTM?|XFORMERS_CHECK|FLASHINFER_CHECK|ENFORCE\w*|ORT_ENFORCE|NCCLCHECK)|'
                   r'(AT_ERROR|C10_THROW_ERROR|ORT_THROW|TORCH_WARN\w*|runtime_error|invalid_argument|logic_error|out_of_range|Errorf|errors\.New|Wrapf?|'
                   r'klog\.(?:Error|Warning|Fatal)\w*|(?:logger|log|logrus)\.(?:Error|Warn|Fatal)\w*|LOG_(?:ERROR|WARNING)|Log\w*(?:Error|Warning)|\w+_error|bail!|anyhow!|warn_user\w*!|error)|'
                   r'LOG\((?:ERROR|WARNING|FATAL)\))\s*([(<])')
STRING = re.compile(r'"((?:[^"\\\n]|\\.)*)"')
FORMAT = re.compile(r'%[-+ #0]*[\d*]*(?:\.[\d*]+)?(?:[hlLzjt]*[a-zA-Z]|\(\w+\)\d*[a-z])')
FAULT = re.compile(r"\b(expected|must|should|can ?not|can't|couldn't|could not|fail(ed|s|ure)?|invalid|unsupported|only supports?|not (supported|implemented|found|available|permitted|allowed)|"
                   r"unable|error|out of|missing|requires|required|does(n't| not)|is not|isn't|are not|was not|mismatch\w*|illegal|unknown|exceed\w*|denied|refused|unexpected\w*|timed? ?out|no such)\b", re.I)

def text_of(n, names):
    """The literal pieces of an expression, a hole for each part that is none."""
    if isinstance(n, ast.Constant): return n.value if isinstance(n.value, str) else HOLE
    if isinstance(n, ast.JoinedStr): return ''.join(text_of(v, names) for v in n.values)
    if isinstance(n, ast.BinOp) and isinstance(n.op, ast.Add): return text_of(n.left, names) + text_of(n.right, names)
    if isinstance(n, ast.BinOp) and isinstance(n.op, ast.Mod): return FORMAT.sub(HOLE, text_of(n.left, names))
    if isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute):
        if n.func.attr == 'format': return re.sub(r'\{[^{}]*\}', HOLE, text_of(n.func.value, names))
        if n.func.attr in ('strip', 'lstrip', 'rstrip'): return text_of(n.func.value, names)
    if isinstance(n, ast.Call) and n.args and isinstance(n.func, ast.Name) and n.func.id in ('_', 'dedent', 'dals', 'str'): return text_of(n.args[0], names)
    if isinstance(n, ast.Name): return names.get(n.id, HOLE)
    return HOLE

def python(source):
    """(level, kind, text) of what a module raises, logs from warning up, or asserts."""
    tree = ast.parse(source)
    def walk(node, names, owner=''):
        names = dict(names)
        for n in ast.iter_child_nodes(node):
            if isinstance(n, ast.Assign) and len(n.targets) == 1 and isinstance(n.targets[0], ast.Name):
                t = text_of(n.value, names)
                if t.strip(HOLE): names[n.targets[0].id] = t
            if isinstance(n, ast.Assert) and n.msg: yield 'e', 'AssertionError', text_of(n.msg, names)
            if isinstance(n, ast.Call): yield from called(n, names, owner)
            if isinstance(n, ast.Raise) and isinstance(n.exc, ast.Call): yield from called(n.exc, names, ast.unparse(n.exc.func).split('.')[-1])
            faulty = isinstance(n, ast.ClassDef) and re.search(r'Error|Exception|Warning', ' '.join([n.name, *map(ast.unparse, n.bases)]))
            yield from walk(n, names, n.name if faulty else owner)
    def called(n, names, owner):
        f = n.func
        name = f.attr if isinstance(f, ast.Attribute) else f.id if isinstance(f, ast.Name) else ''
        args = [a for a in n.args] + [k.value for k in n.keywords if k.arg in ('msg', 'message', 'reason')]
        if name == '__init__': name = owner # an exception that makes its text itself
        if (name == owner or re.search(r'(Error|Exception|Warning|Exit|Failure|Unsupported\w*|Unavailable)$', name)) and name[:1].isupper(): level, kind = 'e', name
        elif name == 'exit': level, kind = 'e', 'SystemExit'
        elif name in LOUD and (isinstance(f, ast.Attribute) or name.startswith('warn')): level, kind = LOUD[name], 'Warning' if LOUD[name] == 'w' else '-'
        else: return
        for a in args:
            t = text_of(a, names)
            if name in (*LOUD, owner): t = FORMAT.sub(HOLE, t)
            if len(t.replace(HOLE, '')) > 8: yield level, kind, t; return
    module = {}
    yield from walk(tree, module)

def native(source):
    """The same of C, C++, CUDA, Go and Rust: the literals of a macro or call that reports."""
    for m in MACRO.finditer(source):
        at, depth, first, out, hole = m.end(), 1, bool(m.group(1)), '', True
        if m.group(3) == '<': depth = 0
        while at < len(source) and at < m.end() + 2000:
            c = source[at]
            if c == '"':
                s = STRING.match(source, at)
                if not s: break
                if not first: out += s.group(1); hole = False
                at = s.end(); continue
            if c == ';' and depth <= 0 or c == ')' and depth == 1 and m.group(3) == '(': break
            depth += (c in '([{') - (c in ')]}')
            if c == ',' and depth == 1 and first: first = False; out = ''; hole = True
            elif not c.isspace() and c not in '<,' and not hole and not first: out += HOLE; hole = True
            at += 1
        if m.group(3) == '<' and not (m.group(0).startswith('LOG')): continue
        out = re.sub(r'\{[\w:?.]*\}', HOLE, FORMAT.sub(HOLE, out.encode().decode('unicode_escape', 'ignore') if '\\' in out else out))
        yield ('w' if 'WARN' in m.group(0).upper() else 'e'), '-', out
    for m in re.finditer(r'#\[error\("((?:[^"\\]|\\.)*)"', source): yield 'e', '-', re.sub(r'\{[^{}]*\}', HOLE, m.group(1))

def shell(source):
    for m in re.finditer(r'\b(die \d+|error|warn|deprecated)\s+\$?"((?:[^"\\]|\\.)*)"((?:\s+\\\n\s*\$?"(?:[^"\\]|\\.)*")*)', source):
        whole = '\n'.join([m.group(2), *STRING.findall(m.group(3))]) # each is a line
        yield 'w' if m.group(1) == 'warn' else 'e', '-', re.sub(r'\\?(?:\$\{[^}]*\}|\$\w+|\$\([^)]*\))', HOLE, whole)

def library(raw):
    """Sentences of a compiled library that speak of a fault."""
    for m in re.finditer(rb'[\x20-\x7e\n]{20,400}', raw):
        t = m.group().decode()
        if re.match(r'[A-Za-z_"\'`\[(]', t) and len(re.findall(r'\b[A-Za-z]{2,}\b', t)) >= 4 and FAULT.search(t) and not re.search(r'INTERNAL ASSERT|/Users/|\.cpp\b|::|[;{}]\n|\) ?->|^\W*//|Args:|</?\w+>|__\w+__\(|@\w+\(', t) and t.count('\n') < 3:
            yield 'e', '-', re.sub(r'\{[\w:.]*\}', HOLE, FORMAT.sub(HOLE, t))

def rows(level, kind, text):
    """The rows of one message: of each of its lines the longest literal piece, where it says enough to be known by."""
    for line in text.split('\n')[:4]:
        line = re.sub(r'[^\x20-\x7e\0]+', HOLE, ADDRESS.sub(HOLE, re.sub(r'\s+', ' ', line)))
        piece = max((p.strip() for p in line.split(HOLE)), key=len)
        if len(piece) >= 16 and len(re.findall(r"[A-Za-z][A-Za-z']+", piece))  >= 3 and piece.lower().rstrip('.') not in SYSTEM: yield level, kind, piece[:PIECE].strip()

def index(name):
    from pip._internal.models.index import PyPI
    ask = urllib.request.Request(f'{PyPI.simple_url}/{name}/', headers={'Accept': 'application/vnd.pypi.simple.v1+json'})
    return json.load(urllib.request.urlopen(ask, timeout=120))['files']

def fetch(where, want, work):
    """A package's file or folder below work, and its version."""
    kind, _, name = where.partition(':')
    if kind == 'pip':
        from pip._vendor.packaging.version import Version
        release = lambda f: Version(re.match(re.escape(name).replace(r'\-', '[-_.]') + r'-(\d[^-]*?)(?:-|\.tar\.gz$)', f['filename'], re.I).group(1))
        good = [f for f in index(name) if re.search(want + '$', f['filename']) and not f.get('yanked') and re.match(r'[\w.-]+?-\d', f['filename'])]
        newest = max((f for f in good if not release(f).is_prerelease), key=release)
        path = os.path.join(work, newest['filename'])
        if not os.path.exists(path):
            urllib.request.urlretrieve(newest['url'], path + '.part'); os.rename(path + '.part', path)
        return path, str(release(newest))
    if kind == 'go':
        got = json.loads(subprocess.run(['go', 'mod', 'download', '-json', name], check=True, capture_output=True, cwd=work).stdout)
        return got['Dir'], got['Version'].lstrip('v')
    raise ValueError('its folder is to be given')

def files(path):
    """(name, read) of the files of an archive or folder."""
    if os.path.isdir(path):
        for d, _, names in os.walk(path):
            for n in names:
                f = os.path.join(d, n)
                if not os.path.islink(f): yield os.path.relpath(f, path), lambda f=f: open(f, 'rb').read()
    elif path.endswith('.tar.gz'):
        with tarfile.open(path) as t:
            for m in t:
                if m.isfile(): yield m.name.partition('/')[2], lambda m=m: t.extractfile(m).read()
    else:
        with zipfile.ZipFile(path) as z:
            for n in z.namelist(): yield n, lambda n=n: z.read(n)

def enumeration(spec, path):
    _, where, names = spec.split(':', 2)
    found = {}
    for name, read in files(path):
        if not re.search(where, '/' + name): continue
        at = -1
        for m in re.finditer(r'^\s*(' + names + r')\s*(?:=\s*(-?\w+))?\s*,?\s*(?:/[/*].*)?$', read().decode('utf-8', 'replace'), re.M):
            try: at = int(m.group(2), 0) if m.group(2) else at + 1
            except ValueError: continue
            if at: found.setdefault((os.path.basename(name), m.group(1)), at)
    if where.startswith('nvml'):  # as pynvml names them
        for (place, name), n in list(found.items()): found['pynvml.py', 'NVMLError_' + name[11:].title().replace('_', '')] = n
    return [(place, 'c', str(n), name) for (place, name), n in sorted(found.items(), key=lambda r: (r[0][0], r[1]))]

def messages(what, path):
    out = []
    for name, read in files(path):
        if SKIP.search(name): continue
        ext = os.path.splitext(name)[1]
        if ext == '.py' and PY in what: how, binary = python, False
        elif ext in ('.h', '.hpp', '.cuh', '.cu', '.cpp', '.cc', '.go', '.rs', '.c', '.pyx', '.pxi') and C in what.replace(PY, ''): how, binary = native, False
        elif LIB in what and re.search(r'(libtorch_(?:cpu|cuda|cuda_linalg|python)|libc10(?:_cuda)?|libbitsandbytes_cuda\d+|libtensorflow_framework|libonnxruntime|onnxruntime_providers\w*|libslurm\w*|libnccl|libctranslate2|image)\b.*\.(so|dylib|dll)', name): how, binary = library, True
        elif what == SH and '/sbin/' in '/' + name: how, binary = shell, False
        else: continue
        raw = read()
        try:
            for m in how(raw if binary else raw.decode('utf-8', 'replace')): out += [(name, *r) for r in rows(*m)]
        except (SyntaxError, RecursionError) as e: print(f'  {name}: {e}', file=sys.stderr)
    return out

def block(name, version, licence, date, found):
    lines, seen, at = [f'@{name} {version} {date} {licence}'], set(), None
    for place, level, kind, text in found if found[0][1] == 'c' else sorted(found, key=lambda r: r[0]):
        if text in seen: continue
        seen.add(text)
        if place != at: lines.append('>' + place); at = place
        lines.append(f'{level}\t{kind}\t{text}')
    return lines

def main():
    a = argparse.ArgumentParser(); a.add_argument('catalogue'); a.add_argument('work'); a.add_argument('--only', default=''); a.add_argument('--source', action='append', default=[])
    a = a.parse_args(); given = dict(s.split('=', 1) for s in a.source)
    kept, without = {}, {}
    if os.path.exists(a.catalogue):
        for part in re.split(r'^(?=@)', open(a.catalogue).read(), flags=re.M)[1:]: kept[part[1:].split(' ')[0]] = [l for l in part.rstrip('\n').split('\n') if l[0] != '#']
    for name, (where, want, licence, what) in SOURCES.items():
        if a.only and name not in a.only.split(','): continue
        try:
            path, version = given[name].split('@') if name in given else fetch(where, want, a.work)
            found = enumeration(what, path) if what.startswith('enum') else messages(what, path)
            if not found: raise ValueError('nothing found')
        except Exception as e: print(f'{name}: not read, {type(e).__name__}: {e}', file=sys.stderr); without[name] = datetime.date.today().isoformat(); continue
        kept[name] = block(name, version, licence, datetime.date.today().isoformat(), found)
        print(f'{name} {version}: {len(found)}', file=sys.stderr)
    with open(a.catalogue, 'w') as f:
        f.write('# What programs print when something is wrong. Written by internal/maintain/messages/harvest.py, not by hand.\n'
                '# @program version date licence; >file; then rows: level (e error, w warning, c a code), kind of exception or number, the piece of the text that it is recognised by.\n')
        for name in SOURCES:
            if name in without: f.write(f'# {name} could not be had on {without[name]}' + (', the rows are older\n' if name in kept else '\n'))
            if name in kept: f.write('\n'.join(kept[name]) + '\n')
main()
