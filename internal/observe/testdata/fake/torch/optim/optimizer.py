_hooks = []


class _Handle:
    def __init__(self, hook):
        self.hook = hook

    def remove(self):
        if self.hook in _hooks:
            _hooks.remove(self.hook)


def register_optimizer_step_post_hook(hook):
    _hooks.append(hook)
    return _Handle(hook)


class Optimizer:
    def __init__(self, params):
        self.param_groups = [{"params": list(params)}]

    def step(self):
        for h in list(_hooks):
            h(self, (), {})
