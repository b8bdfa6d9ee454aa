# Makes wheels of packages that an environment holds, from their files alone: no index
# is asked for anything by its name. Each file must have the hash that it was installed
# with (RECORD, PEP 376), else nothing is made. Arguments: the environment, a new
# directory, NAME==VERSION and so on. It runs with -S: nothing of any site begins first.
import base64, csv, glob, hashlib, os, re, stat, sys, zipfile

INSTALLERS_OWN = ("RECORD", "INSTALLER", "REQUESTED", "direct_url.json", "uv_cache.json", "uv_build.json", "RECORD.jws", "RECORD.p7s")


def normal(name):
    return re.sub(r"[-_.]+", "-", name).lower()


def text(path):
    try:
        with open(path, encoding="utf-8") as f:
            return f.read()
    except FileNotFoundError:
        return ""


def field(metadata, name):
    head = metadata.split("\n\n", 1)[0]
    found = re.search("^%s: *(.*?) *$" % name, head, re.M | re.I)
    return found.group(1) if found else ""


def programs(info):
    """The names of the programs that an installer makes by itself."""
    names, wanted = set(), False
    for line in text(info + "/entry_points.txt").splitlines():
        if line.startswith("["):
            wanted = line.strip() in ("[console_scripts]", "[gui_scripts]")
        elif wanted and "=" in line:
            names.add(line.split("=")[0].strip())
    return names


def filename(info):
    tags = re.findall(r"^Tag: (\S+)-(\S+)-(\S+)\s*$", text(info + "/WHEEL"), re.M)
    if not tags:
        raise ValueError("no file says which wheel it was")
    parts = [".".join(dict.fromkeys(t[i] for t in tags)) for i in range(3)]
    return "-".join([os.path.basename(info)[: -len(".dist-info")]] + parts) + ".whl"


def place(path, site, prefix, own, stem):
    """Where a file of RECORD belongs in the wheel; None: the installer makes it again."""
    if os.path.isabs(path):
        raise ValueError("it has a file outside of the environment")
    if not path.startswith("../"):
        return path
    path = os.path.relpath(os.path.normpath(os.path.join(site, path)), prefix)
    if path.startswith("../"):
        raise ValueError("it has a file outside of the environment")
    folder, name = os.path.split(path)
    if folder == "bin":
        return None if name in own else stem + ".data/scripts/" + name
    return stem + ".data/data/" + path


def relocatable(line, prefix):
    """The first line of a Python program without the interpreter's path."""
    for place in {prefix, os.path.realpath(prefix)}:
        if line.startswith(b"#!" + os.fsencode(place) + b"/bin/python"):
            return b"#!python\n"
    return line


def digest(algorithm, data=b""):
    return hashlib.new(algorithm, data) if algorithm in ("sha256", "sha384", "sha512") else None


def coded(hashed):
    return base64.urlsafe_b64encode(hashed.digest()).rstrip(b"=").decode()


def add(wheel, source, name, want, prefix):
    """Puts a file into the wheel, and returns its row of RECORD."""
    if os.path.islink(source):
        raise ValueError("it has a link in place of a file")
    algorithm, _, expected = want.partition("=")
    have = digest(algorithm)
    if have is None:
        raise ValueError("its list of files has no hash for %s" % name)
    put, size = hashlib.sha256(), 0
    entry = zipfile.ZipInfo(name)
    entry.external_attr = (stat.S_IMODE(os.stat(source).st_mode) | stat.S_IFREG) << 16
    with open(source, "rb") as f, wheel.open(entry, "w", force_zip64=True) as out:
        first = "/scripts/" in name and ".data/" in name
        while True:
            block = f.readline() if first else f.read(1 << 20)
            if not block:
                break
            have.update(block)
            block = relocatable(block, prefix) if first else block
            first = False
            put.update(block)
            size += len(block)
            out.write(block)
    if coded(have) != expected.rstrip("="):
        raise ValueError("%s is not what was installed" % name)
    return [name, "sha256=" + coded(put), str(size)]


def pack(info, prefix, to):
    site, own, rows = os.path.dirname(info), programs(info), []
    stem = os.path.basename(info)[: -len(".dist-info")]
    record = list(csv.reader(text(info + "/RECORD").splitlines()))
    if not record:
        raise ValueError("it has no list of its files")
    with zipfile.ZipFile(os.path.join(to, filename(info)), "w") as wheel:
        for row in record:
            path, want = os.path.normpath(row[0]), row[1]
            if os.path.dirname(path) == stem + ".dist-info" and os.path.basename(path) in INSTALLERS_OWN:
                continue
            if "__pycache__/" in path:  # an installer compiles again, also what a wheel brought (numpy 1.26)
                continue
            name = place(path, site, prefix, own, stem)
            if name:
                rows.append(add(wheel, os.path.join(site, path), name, want, prefix))
        rows.append([stem + ".dist-info/RECORD", "", ""])
        lines = ",".join
        quoted = lambda s: '"%s"' % s.replace('"', '""') if set(s) & set(',"\r\n') else s
        wheel.writestr(stem + ".dist-info/RECORD", "".join(lines(map(quoted, r)) + "\n" for r in rows))


def main(prefix, to, wanted):
    prefix = os.path.abspath(prefix)
    os.makedirs(to)
    found, wrong = {}, []
    for info in sorted(glob.glob(glob.escape(prefix) + "/lib*/python*/site-packages/*.dist-info")):
        metadata = text(info + "/METADATA")
        found.setdefault((normal(field(metadata, "Name")), field(metadata, "Version")), info)
    for want in wanted:
        name, _, version = want.partition("==")
        try:
            if (name, version) not in found:
                raise ValueError("it is not there any more")
            pack(found[name, version], prefix, to)
        except (OSError, ValueError) as e:
            wrong.append("%s: %s" % (want, e))
    with open(os.path.join(to, "requirements.txt"), "w") as f:
        f.write("".join(w + "\n" for w in wanted))
    if wrong:
        sys.exit("cannot be copied\n" + "\n".join(wrong))


main(sys.argv[1], sys.argv[2], sys.argv[3:])
