"""A build backend without requirements: NAME.py beside it becomes a wheel."""
import base64, hashlib, os, tomllib, zipfile

def _build(folder, editable):
    with open("pyproject.toml", "rb") as f:
        project = tomllib.load(f)["project"]
    name, version = project["name"], project["version"]
    info = f"{name}-{version}.dist-info"
    files = {f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
             + "".join(f"Requires-Dist: {d}\n" for d in project.get("dependencies", [])),
             f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: inplace\nRoot-Is-Purelib: true\nTag: py3-none-any\n"}
    if editable:
        files[f"{name}.pth"] = os.getcwd() + "\n"
    else:
        files[f"{name}.py"] = open(f"{name}.py").read()
    record = ""
    for path, text in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=").decode()
        record += f"{path},sha256={digest},{len(text.encode())}\n"
    files[f"{info}/RECORD"] = record + f"{info}/RECORD,,\n"
    wheel = f"{name}-{version}-py3-none-any.whl"
    with zipfile.ZipFile(os.path.join(folder, wheel), "w") as z:
        for path, text in files.items():
            z.writestr(path, text)
    return wheel

def build_wheel(folder, settings=None, metadata=None):
    return _build(folder, False)

def build_editable(folder, settings=None, metadata=None):
    return _build(folder, True)
