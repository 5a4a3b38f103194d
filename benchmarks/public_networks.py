"""Small networks trained on public images, for maps of other people's images: code, a seed and a data set that a package ships."""

from __future__ import annotations

import numpy as np
import torch
from noisygd_delete_lab.maps import OrientedGradients

GRADIENTS = OrientedGradients((28, 28))


def trained(inputs: np.ndarray, labels: np.ndarray, *, hidden: tuple[int, ...], epochs: int) -> torch.nn.Module:
    """Hidden layers with tanh under a softmax that is thrown away; the same on every run of one version of torch."""
    torch.set_num_threads(1)
    torch.manual_seed(0)
    layers: list[torch.nn.Module] = []
    width = inputs.shape[1]
    for size in hidden:
        layers += [torch.nn.Linear(width, size), torch.nn.Tanh()]
        width = size
    body = torch.nn.Sequential(*layers)
    network = torch.nn.Sequential(body, torch.nn.Dropout(0.2), torch.nn.Linear(width, 10)).train()
    steps = torch.optim.Adam(network.parameters(), 1e-3, weight_decay=1e-5)
    rows, classes = torch.as_tensor(inputs.astype(np.float32)), torch.as_tensor(labels.astype(np.int64))
    for _ in range(epochs):
        for part in torch.randperm(len(rows)).split(128):
            steps.zero_grad()
            error = torch.nn.functional.cross_entropy(network(rows[part]), classes[part], label_smoothing=0.05)
            torch.autograd.backward(error)
            steps.step()
    # centred by the mean of the public images: what all records have in common takes up length and says nothing
    centre = torch.nn.BatchNorm1d(width, affine=False, momentum=None)
    with torch.no_grad():
        centre(body(rows))
    return torch.nn.Sequential(body, centre).eval()


def of_digits(copies: int = 10) -> torch.nn.Module:
    """On scikit-learn's 1,797 digits, drawn larger and bent `copies` times each; reads the gradients of 28 × 28 pixels."""
    from scipy import ndimage
    from sklearn.datasets import load_digits

    rng = np.random.default_rng(0)
    pixels, labels = load_digits(return_X_y=True)
    drawn, middle = [], np.array([13.5, 13.5])
    for image in pixels.reshape(-1, 8, 8) / 16:
        field = np.zeros((28, 28))
        field[1:26, 1:26] = ndimage.zoom(np.pad(image, 1), 2.5, order=3)
        centre = np.array(ndimage.center_of_mass(np.clip(field, 0, 1)))
        for _ in range(copies):
            turn, slant = rng.uniform(-0.2, 0.2), rng.uniform(-0.35, 0.35)
            size = np.diag([1 / rng.uniform(0.85, 1.1), 1 / rng.uniform(0.9, 1.5)])
            turned = np.array([[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]])
            bend = turned @ np.array([[1, 0], [slant, 1]]) @ size
            moved = ndimage.affine_transform(field, bend, centre - bend @ (middle + rng.uniform(-0.7, 0.7, 2)), order=1)
            ink = (moved - rng.uniform(0.45, 0.75)) * rng.uniform(2.5, 5) + 0.5  # a pen thinner than eight pixels show
            drawn.append(np.clip(ink, 0, 1) * (moved > 0.05))
    inputs = GRADIENTS.features(np.array(drawn))
    return trained(inputs, np.repeat(labels, copies), hidden=(256, 128), epochs=8)


def of_mnist(images: np.ndarray, labels: np.ndarray) -> torch.nn.Module:
    """On images of 28 × 28 pixels cut to their ink and brought to 8 × 8; reads 8 × 8 pixels of norm 1."""
    small = np.array([shrunk(image) for image in images.reshape(-1, 28, 28)])
    small = small / np.linalg.norm(small, axis=1, keepdims=True)
    return trained(small, labels, hidden=(256, 128), epochs=15)


def shrunk(image: np.ndarray) -> np.ndarray:
    """The ink of an image, as high as eight rows, in the middle of 8 × 8 pixels."""
    down, across = np.flatnonzero(image.max(axis=1) > 50), np.flatnonzero(image.max(axis=0) > 50)
    ink = torch.as_tensor(image[down[0] : down[-1] + 1, across[0] : across[-1] + 1].astype(np.float32))
    width = min(8, max(2, round(8 * ink.shape[1] / ink.shape[0])))
    shape = (8, width)
    made = torch.nn.functional.interpolate(ink[None, None], shape, mode="area")[0, 0].numpy()
    left = (8 - width) // 2
    return np.pad(made, ((0, 0), (left, 8 - width - left))).ravel()
