def _str(t):
    return "".join(str(i * i) for i in range(100000))
