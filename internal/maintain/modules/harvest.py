#!/usr/bin/env python3
"""data/modules.tsv: which modules a distribution brings, as the RECORD of its wheel lists its files.
usage: harvest.py data/modules.tsv FOLDER...   (site-packages, or any folder with *.dist-info below it)
What the folders hold is added to what the file has; a later version of a distribution replaces an earlier one."""
import csv, os, re, sys

PLAIN = {'nvidia', 'tests', 'test', 'testing', 'docs', 'doc', 'examples', 'example', 'scripts', 'tools', 'benchmarks', 'benchmark', 'src', 'utils', 'build', 'config', 'data', 'models', 'samples'}
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
    target, known = sys.argv[1], {}
    if os.path.exists(target):
        with open(target, encoding='utf-8') as f: known = dict(l.rstrip('\n').split('\t') for l in f if '\t' in l)
    for folder in sys.argv[2:]:
        for d, _, files in os.walk(folder):
            m = re.match(r'(.+)-([^-]+)\.dist-info$', os.path.basename(d))
            if not m or 'RECORD' not in files: continue
            name = re.sub(r'[-_.]+', '-', m[1]).lower()
            found = modules(os.path.join(d, 'RECORD'))
            if not found: continue
            for k in [k for k in known if k.split('==')[0] == name]: del known[k]
            known[f'{name}=={m[2]}'] = ' '.join(sorted(found))
    known['python'] = ' '.join(sorted(set(known.get('python', '').split()) | set(sys.stdlib_module_names)))
    with open(target, 'w', encoding='utf-8') as f: f.write(HEAD + ''.join(f'{k}\t{v}\n' for k, v in sorted(known.items())))
main()
