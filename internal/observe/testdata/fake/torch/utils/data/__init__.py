from .dataloader import DataLoader  # noqa: F401


def get_worker_info():
    return None
