#!/usr/bin/env python3
"""data/modules.tsv: which modules a distribution brings, as the RECORD of its wheel lists its files.
usage: harvest.py data/modules.tsv FOLDER...   (site-packages, or any folder with *.dist-info below it)
What the folders hold is added to what the file has. What the latest version of a distribution brings no more stands in a
row NAME<=VERSION of the last that was read and brings it."""
import csv, os, re, sys

PLAIN = {'bin', 'nvidia', 'tests', 'test', 'testing', 'docs', 'doc', 'examples', 'example', 'scripts', 'tools', 'benchmarks', 'benchmark', 'src', 'utils', 'build', 'config', 'data', 'models', 'samples'}
OPENS = {'tensorboard': {'torch.utils.tensorboard'}}  # modules of others that import it, and whose own distribution does not require it
HEAD = '# Which modules distributions bring, by the files that their wheels list. Written by internal/maintain/modules/harvest.py, not by hand.\n'

def modules(record):
    """The importable names at the top of a wheel; below a folder that is no package, what lies in it."""
    with open(record, newline='', encoding='utf-8') as f: paths = [row[0].split('/') for row in csv.reader(f) if row]
    files = {tuple(p) for p in paths if (p[0].isidentifier() or len(p) == 1) and p[0] not in PLAIN and re.search(r'\.(py|so|pyd)$', p[-1])}
    out = set()
    for p in files:
        depth = 1
        for depth in range(1, min(len(p), 4)):
            if p[:depth] + ('__init__.py',) in files or not all(x.isidentifier() for x in p[:depth]): break
        name = '.'.join(p[:depth]) if len(p) > depth else '.'.join(p[:-1] + (p[-1].split('.')[0],))
        if all(x.isidentifier() for x in name.split('.')) and not name.endswith('__init__') and not p[0].startswith('_'): out.add(name)
    return out

def main():
    target, python, read = sys.argv[1], set(sys.stdlib_module_names), {}
    if os.path.exists(target):
        with open(target, encoding='utf-8') as f: rows = [l.rstrip('\n').split('\t') for l in f if '\t' in l]
        for k, v in rows:
            if k == 'python': python |= set(v.split()); continue
            name, version = re.split('[<=]=', k)
            read.setdefault(name, {})[version] = set(v.split()) - PLAIN
    for folder in sys.argv[2:]:
        for d, _, files in os.walk(folder):
            m = re.match(r'(.+)-([^-]+)\.dist-info$', os.path.basename(d))
            if m and 'RECORD' in files: read.setdefault(re.sub(r'[-_.]+', '-', m[1]).lower(), {})[m[2]] = modules(os.path.join(d, 'RECORD'))
    out = ['python\t' + ' '.join(sorted(python))]
    shared = {m.split('.')[0] for versions in read.values() for names in versions.values() for m in names if '.' in m}
    for name, versions in read.items():
        seen = set()
        for version in sorted(versions, key=lambda v: [int(n) for n in re.findall(r'\d+', v)], reverse=True):
            new = (versions[version] | OPENS.get(name, set())) - seen - (shared if seen else set())  # an old wheel brought the whole of what is shared today
            if new: out.append(f"{name}{'<=' if seen else '=='}{version}\t{' '.join(sorted(new))}")
            seen |= new
    with open(target, 'w', encoding='utf-8') as f: f.write(HEAD + ''.join(row + '\n' for row in sorted(out)))
main()
