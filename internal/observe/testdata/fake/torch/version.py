cuda, hip, xpu = "13.2", None, None
